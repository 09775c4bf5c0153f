//! Seals blobs in pieces, so that several threads open a large one.
//!
//! Each piece is sealed with a nonce and additional data of its own, which name its number and the number of pieces. So no
//! piece can be left out, repeated or moved.

use std::num::NonZeroUsize;
use std::thread;

use chacha20poly1305::aead::AeadInOut;
use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::{KeyInit, Tag, XChaCha20Poly1305, XNonce};
use quipu_engine::ports::StoreError;
use zeroize::Zeroizing;

pub(crate) const KEY_BYTES: usize = 32;
pub(crate) const NONCE_BYTES: usize = 24;

/// The bytes of a key, cleared when dropped.
pub(crate) type Secret = Zeroizing<[u8; KEY_BYTES]>;

/// Size of a piece, except the last one.
const PIECE_BYTES: usize = 1 << 20;
const TAG_BYTES: usize = 16;
const SEALED_BYTES: usize = PIECE_BYTES + TAG_BYTES;
/// Threads that work on one blob.
const THREADS_MAX: usize = 4;

/// What all pieces of a blob have in common.
struct Seal<'a> {
    cipher: XChaCha20Poly1305,
    nonce: &'a [u8; NONCE_BYTES],
    bound: &'a [u8],
    count: u64,
}

impl<'a> Seal<'a> {
    fn new(key: &Secret, nonce: &'a [u8; NONCE_BYTES], bound: &'a [u8], count: usize) -> Self {
        Self { cipher: XChaCha20Poly1305::new((&**key).into()), nonce, bound, count: count as u64 }
    }

    /// The nonce of a piece. The nonce of the blob is random, and the numbers of pieces change its last bytes only.
    fn nonce(&self, number: u64) -> XNonce {
        let mut nonce = *self.nonce;
        nonce.iter_mut().rev().zip(number.to_le_bytes()).for_each(|(byte, part)| *byte ^= part);
        XNonce::from(nonce)
    }

    fn additional(&self, number: u64) -> Vec<u8> {
        [self.bound, &number.to_le_bytes(), &self.count.to_le_bytes()].concat()
    }

    fn encrypt(&self, number: u64, plain: &[u8], sealed: &mut [u8]) -> Option<()> {
        let (body, tag) = sealed.split_at_mut_checked(plain.len())?;
        let buffer = InOutBuf::new(plain, body).ok()?;
        let made = self.cipher.encrypt_inout_detached(&self.nonce(number), &self.additional(number), buffer).ok()?;
        tag.copy_from_slice(&made);
        Some(())
    }

    fn decrypt(&self, number: u64, sealed: &[u8], plain: &mut [u8]) -> Option<()> {
        let (body, tag) = sealed.split_at_checked(plain.len())?;
        let tag: Tag = <[u8; TAG_BYTES]>::try_from(tag).ok()?.into();
        let buffer = InOutBuf::new(body, plain).ok()?;
        self.cipher.decrypt_inout_detached(&self.nonce(number), &self.additional(number), buffer, &tag).ok()
    }
}

/// Appends the sealed pieces of `plain` to `head`.
///
/// # Errors
/// `Unavailable` for a piece that is too long for the cipher, which none is.
pub(crate) fn seal(
    key: &Secret,
    nonce: &[u8; NONCE_BYTES],
    bound: &[u8],
    head: Vec<u8>,
    plain: &[u8],
) -> Result<Vec<u8>, StoreError> {
    let count = plain.len().div_ceil(PIECE_BYTES).max(1);
    let (seal, at) = (Seal::new(key, nonce, bound, count), head.len());
    let mut sealed = head;
    sealed.resize(at + plain.len() + count * TAG_BYTES, 0);
    let work = paired(plain, PIECE_BYTES, &mut sealed[at..], SEALED_BYTES);
    let done = spread(work, &|number, plain, sealed| seal.encrypt(number, plain, sealed));
    done.map(|()| sealed).ok_or_else(|| {
        StoreError::Unavailable(format!("{} bytes could not be sealed. Nothing was changed", plain.len()))
    })
}

/// Opens the pieces that [`seal`] made with the same key, nonce and additional data; `None` if they were changed since.
pub(crate) fn open(key: &Secret, nonce: &[u8; NONCE_BYTES], bound: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let count = sealed.len().div_ceil(SEALED_BYTES).max(1);
    let seal = Seal::new(key, nonce, bound, count);
    let mut plain = vec![0; sealed.len().checked_sub(count * TAG_BYTES)?];
    let work = paired(sealed, SEALED_BYTES, &mut plain, PIECE_BYTES);
    // Nothing of a blob is returned unless every piece is whole.
    spread(work, &|number, sealed, plain| seal.decrypt(number, sealed, plain)).map(|()| plain)
}

/// A piece: its number, what is read and what is written.
type Piece<'a> = (u64, &'a [u8], &'a mut [u8]);

/// The pieces of a blob. A blob without bytes has one piece.
fn paired<'a>(from: &'a [u8], from_bytes: usize, to: &'a mut [u8], to_bytes: usize) -> Vec<Piece<'a>> {
    if from.is_empty() || to.is_empty() {
        return vec![(0, from, to)];
    }
    (0..)
        .zip(from.chunks(from_bytes))
        .zip(to.chunks_mut(to_bytes))
        .map(|((number, from), to)| (number, from, to))
        .collect()
}

/// What is done with a piece; `None` if it failed.
type Work<'a> = dyn Fn(u64, &[u8], &mut [u8]) -> Option<()> + Sync + 'a;

/// Runs something on every piece, several at a time; `None` if it failed for one.
fn spread(mut pieces: Vec<Piece<'_>>, run: &Work<'_>) -> Option<()> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_MAX);
    let share = pieces.len().div_ceil(threads).max(1);
    let all = |pieces: Vec<Piece<'_>>| pieces.into_iter().try_for_each(|(number, from, to)| run(number, from, to));
    thread::scope(|scope| {
        let mut others = Vec::new();
        while pieces.len() > share {
            let own = pieces.split_off(pieces.len() - share);
            others.push(scope.spawn(move || all(own)));
        }
        let mut done = all(pieces);
        for other in others {
            // A thread that panicked has opened nothing.
            done = done.and(other.join().ok().flatten());
        }
        done
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const NONCE: [u8; NONCE_BYTES] = [7; NONCE_BYTES];

    fn sealed(plain: &[u8]) -> Vec<u8> {
        seal(&Zeroizing::new([3; 32]), &NONCE, b"bound", Vec::new(), plain).unwrap()
    }

    fn opened(sealed: &[u8]) -> Option<Vec<u8>> {
        open(&Zeroizing::new([3; 32]), &NONCE, b"bound", sealed)
    }

    #[test]
    fn every_size_comes_back_as_it_was() {
        for size in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 9 * PIECE_BYTES + 5] {
            let plain: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let sealed = sealed(&plain);
            assert_eq!(sealed.len(), size + TAG_BYTES * size.div_ceil(PIECE_BYTES).max(1), "{size}");
            assert!(opened(&sealed) == Some(plain), "{size}");
        }
    }

    #[test]
    fn a_piece_is_what_the_cipher_makes_of_it() {
        use chacha20poly1305::aead::{Aead, Payload};
        let plain = vec![9; PIECE_BYTES + 10];
        let sealed = sealed(&plain);
        let cipher = XChaCha20Poly1305::new((&[3; 32]).into());
        let mut nonce = NONCE;
        nonce[NONCE_BYTES - 1] ^= 1;
        let aad = [b"bound".as_slice(), &1_u64.to_le_bytes(), &2_u64.to_le_bytes()].concat();
        let second = cipher.encrypt(&XNonce::from(nonce), Payload { msg: &plain[PIECE_BYTES..], aad: &aad }).unwrap();
        assert!(sealed[SEALED_BYTES..] == second);
    }

    #[test]
    fn pieces_cannot_be_left_out_repeated_moved_or_changed() {
        let plain: Vec<u8> = (0..3 * PIECE_BYTES).map(|at| (at / PIECE_BYTES) as u8).collect();
        let whole = sealed(&plain);
        let piece = |number: usize| &whole[number * SEALED_BYTES..][..SEALED_BYTES];
        for pieces in [&[0, 1][..], &[1, 2], &[0, 2], &[0, 2, 1], &[0, 0, 1], &[0, 1, 2, 2], &[1, 0, 2], &[]] {
            let other = pieces.iter().map(|&number| piece(number)).collect::<Vec<_>>().concat();
            assert!(opened(&other).is_none(), "{pieces:?}");
        }
        for at in [0, SEALED_BYTES - 1, SEALED_BYTES, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            assert!(opened(&flipped).is_none(), "{at}");
        }
        assert!(opened(&whole[..whole.len() - 1]).is_none());
        let other_bound = open(&Zeroizing::new([3; 32]), &NONCE, b"other", &whole);
        assert!(other_bound.is_none() && opened(&whole) == Some(plain));
    }
}
