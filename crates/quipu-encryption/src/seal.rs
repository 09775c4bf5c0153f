//! The sealed forms of changes and blobs.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use quipu_core::event::ChangeRef;
use quipu_core::id::UserId;
use quipu_core::ledger::{Salt, SealedChange};
use quipu_engine::ports::{Entropy, StoreError, UserKeyId, VectorKey};
use zeroize::Zeroizing;

use crate::pieces::{self, NONCE_BYTES, Secret};

const KEY_ID_BYTES: usize = 8;

/// First byte of a sealed change. The payload of a change is a JSON object, so it never starts like this.
const CHANGE_FORM: u8 = 1;
/// First bytes of a sealed blob.
const BLOB_FORM: &[u8; 8] = b"qpseal02";
/// First bytes of a blob that earlier versions sealed as one piece.
const BLOB_FORM_WHOLE: &[u8; 8] = b"qpseal01";

/// Which parts of a change a sealed change holds: its second byte, inside the seal.
const PAYLOAD_ONLY: u8 = 0;
const SALT_AND_PAYLOAD: u8 = 1;
const SALT_ONLY: u8 = 2;

/// Seals with a nonce. The additional data is the form and every part, each preceded by its length.
///
/// # Errors
/// `Unavailable` for a message that is too long for the cipher, which no limit admits.
pub(crate) fn encrypt(
    key: &Secret,
    nonce: &[u8; NONCE_BYTES],
    bound: &[&[u8]],
    plain: &[u8],
) -> Result<Vec<u8>, StoreError> {
    let aad = joined(bound);
    let sealed =
        XChaCha20Poly1305::new((&**key).into()).encrypt(&XNonce::from(*nonce), Payload { msg: plain, aad: &aad });
    sealed.map_err(|_| {
        StoreError::Unavailable(format!("{} bytes are too many to be sealed. Nothing was changed", plain.len()))
    })
}

/// Opens what [`encrypt`] sealed with the same key, nonce and parts.
pub(crate) fn decrypt(
    key: &Secret,
    nonce: &[u8; NONCE_BYTES],
    bound: &[&[u8]],
    sealed: &[u8],
) -> Option<Zeroizing<Vec<u8>>> {
    let aad = joined(bound);
    let opened =
        XChaCha20Poly1305::new((&**key).into()).decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: &aad });
    opened.ok().map(Zeroizing::new)
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    let mut all = Vec::new();
    for part in parts {
        all.extend_from_slice(&(part.len() as u64).to_le_bytes());
        all.extend_from_slice(part);
    }
    all
}

/// A user's key.
pub(crate) struct UserKey {
    pub(crate) id: UserKeyId,
    pub(crate) user: UserId,
    pub(crate) secret: Secret,
}

/// What a blob is, which its seal is bound to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BlobKind<'a> {
    Snapshot { seq: u64 },
    Projection { name: &'a str, seq: u64, tag: &'a str },
    Vector { tag: &'a str, stored: &'a VectorKey },
}

/// The key that sealed a change; `None` if the change is not sealed.
pub(crate) fn key_of_change(change: &SealedChange) -> Option<UserKeyId> {
    let (bytes, salt) = (change.bytes.as_ref()?, change.salt.as_ref()?);
    (bytes.first() == Some(&CHANGE_FORM)).then(|| first_8(salt))
}

/// The key that sealed a blob; `None` if the blob is not sealed.
pub(crate) fn key_of_blob(blob: &[u8]) -> Option<UserKeyId> {
    let rest = blob.strip_prefix(BLOB_FORM).or_else(|| blob.strip_prefix(BLOB_FORM_WHOLE))?;
    rest.first_chunk::<KEY_ID_BYTES>().copied()
}

fn first_8(salt: &Salt) -> UserKeyId {
    let mut id = [0; KEY_ID_BYTES];
    id.copy_from_slice(&salt[..KEY_ID_BYTES]);
    id
}

impl UserKey {
    /// What a seal is bound to.
    fn bound<'a>(&'a self, kind: &'a str, parts: &'a [Vec<u8>]) -> Vec<&'a [u8]> {
        let all: [&[u8]; 4] = [b"quipu sealed v1", kind.as_bytes(), self.user.as_str().as_bytes(), &self.id];
        all.into_iter().chain(parts.iter().map(Vec::as_slice)).collect()
    }

    /// Seals a change: the salt holds the key's id and the nonce, the bytes the sealed salt and payload. An erased change
    /// stays as it is.
    pub(crate) fn seal_change(
        &self,
        at: ChangeRef,
        change: &SealedChange,
        entropy: &dyn Entropy,
    ) -> Result<SealedChange, StoreError> {
        let (part, size) = match (&change.bytes, &change.salt) {
            (None, None) => return Ok(change.clone()),
            (Some(bytes), None) => (PAYLOAD_ONLY, bytes.len()),
            (Some(bytes), Some(_)) => (SALT_AND_PAYLOAD, bytes.len()),
            (None, Some(_)) => (SALT_ONLY, 0),
        };
        let mut plain = Zeroizing::new(Vec::with_capacity(1 + size_of::<Salt>() + size));
        plain.push(part);
        plain.extend_from_slice(change.salt.as_ref().map_or(&[], |salt| salt.as_slice()));
        plain.extend_from_slice(change.bytes.as_deref().unwrap_or_default());
        let nonce = fresh_nonce(entropy);
        let mut salt: Salt = [0; 32];
        salt[..KEY_ID_BYTES].copy_from_slice(&self.id);
        salt[KEY_ID_BYTES..].copy_from_slice(&nonce);
        let mut bytes = vec![CHANGE_FORM];
        bytes.extend(self.encrypt(&nonce, "change", &place_of(at), &plain)?);
        Ok(SealedChange { bytes: Some(bytes), salt: Some(salt) })
    }

    /// Opens a sealed change; `None` if it was not sealed with this key for this place, or was changed since.
    pub(crate) fn open_change(&self, at: ChangeRef, sealed: &SealedChange) -> Option<SealedChange> {
        let (bytes, salt) = (sealed.bytes.as_ref()?, sealed.salt.as_ref()?);
        let nonce = salt[KEY_ID_BYTES..].try_into().ok()?;
        let plain = self.decrypt(nonce, "change", &place_of(at), bytes.strip_prefix(&[CHANGE_FORM])?)?;
        let (part, rest) = plain.split_first()?;
        let salted = || rest.split_first_chunk::<32>();
        Some(match *part {
            PAYLOAD_ONLY => SealedChange { bytes: Some(rest.to_vec()), salt: None },
            SALT_AND_PAYLOAD => {
                let (salt, bytes) = salted()?;
                SealedChange { bytes: Some(bytes.to_vec()), salt: Some(*salt) }
            }
            SALT_ONLY => SealedChange { bytes: None, salt: Some(*salted()?.0) },
            _ => return None,
        })
    }

    /// Seals a blob, in [pieces](crate::pieces).
    pub(crate) fn seal_blob(
        &self,
        kind: BlobKind<'_>,
        bytes: &[u8],
        entropy: &dyn Entropy,
    ) -> Result<Vec<u8>, StoreError> {
        let nonce = fresh_nonce(entropy);
        let (name, parts) = kind.bound();
        let head = [BLOB_FORM.as_slice(), &self.id, &nonce].concat();
        pieces::seal(&self.secret, &nonce, &joined(&self.bound(name, &parts)), head, bytes)
    }

    /// Opens a sealed blob; `None` if it is none of this key and kind, or was changed since.
    pub(crate) fn open_blob(&self, kind: BlobKind<'_>, sealed: &[u8]) -> Option<Vec<u8>> {
        let (form, rest) = sealed.split_first_chunk::<8>()?;
        let (id, rest) = rest.split_first_chunk::<KEY_ID_BYTES>()?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_BYTES>()?;
        let (name, parts) = kind.bound();
        if *id != self.id {
            return None;
        }
        match form {
            BLOB_FORM => pieces::open(&self.secret, nonce, &joined(&self.bound(name, &parts)), rest),
            BLOB_FORM_WHOLE => self.decrypt(nonce, name, &parts, rest).map(|plain| plain.to_vec()),
            _ => None,
        }
    }

    /// The name under which a vector is stored. The vector's own key is a hash of the text, against which a guess could be
    /// tested.
    pub(crate) fn vector_name(&self, key: &VectorKey) -> VectorKey {
        let secret = Zeroizing::new(blake3::derive_key("quipu sealed vector names v1", self.secret.as_slice()));
        let mut name: VectorKey = [0; 16];
        name.copy_from_slice(&blake3::keyed_hash(&secret, key).as_bytes()[..16]);
        name
    }

    fn encrypt(
        &self,
        nonce: &[u8; NONCE_BYTES],
        kind: &str,
        parts: &[Vec<u8>],
        plain: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        encrypt(&self.secret, nonce, &self.bound(kind, parts), plain)
    }

    fn decrypt(
        &self,
        nonce: &[u8; NONCE_BYTES],
        kind: &str,
        parts: &[Vec<u8>],
        sealed: &[u8],
    ) -> Option<Zeroizing<Vec<u8>>> {
        decrypt(&self.secret, nonce, &self.bound(kind, parts), sealed)
    }
}

fn place_of(at: ChangeRef) -> [Vec<u8>; 2] {
    [at.seq.to_le_bytes().to_vec(), at.index.to_le_bytes().to_vec()]
}

impl BlobKind<'_> {
    fn bound(&self) -> (&'static str, Vec<Vec<u8>>) {
        match *self {
            Self::Snapshot { seq } => ("snapshot", vec![seq.to_le_bytes().to_vec()]),
            Self::Projection { name, seq, tag } => {
                ("projection", vec![name.as_bytes().to_vec(), seq.to_le_bytes().to_vec(), tag.as_bytes().to_vec()])
            }
            Self::Vector { tag, stored } => ("vector", vec![tag.as_bytes().to_vec(), stored.to_vec()]),
        }
    }
}

pub(crate) fn fresh_nonce(entropy: &dyn Entropy) -> [u8; NONCE_BYTES] {
    let mut nonce = [0; NONCE_BYTES];
    entropy.fill(&mut nonce);
    nonce
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use quipu_testkit::SeededEntropy;

    fn hex(text: &str) -> Vec<u8> {
        data_encoding::HEXLOWER.decode(text.replace([' ', '\n'], "").as_bytes()).unwrap()
    }

    /// The vector of draft-irtf-cfrg-xchacha-03, A.3.1.
    #[test]
    fn the_cipher_gives_the_known_answer() {
        let key: Secret =
            Zeroizing::new(hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f").try_into().unwrap());
        let nonce: [u8; 24] = hex("404142434445464748494a4b4c4d4e4f5051525354555657").try_into().unwrap();
        let aad = hex("50515253c0c1c2c3c4c5c6c7");
        let plain = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let expected = hex(
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49",
        );
        let cipher = XChaCha20Poly1305::new((&*key).into());
        let sealed = cipher.encrypt(&XNonce::from(nonce), Payload { msg: plain.as_slice(), aad: &aad }).unwrap();
        assert_eq!(sealed, expected);
        // The length of each part is part of what is authenticated, so parts cannot be divided otherwise.
        let sealed = encrypt(&key, &nonce, &[b"ab", b"c"], plain).unwrap();
        assert!(decrypt(&key, &nonce, &[b"a", b"bc"], &sealed).is_none());
        assert_eq!(decrypt(&key, &nonce, &[b"ab", b"c"], &sealed).unwrap().as_slice(), plain);
    }

    fn key(id: u8, user: &str, secret: u8) -> UserKey {
        UserKey { id: [id; 8], user: UserId::parse(user).unwrap(), secret: Zeroizing::new([secret; 32]) }
    }

    fn change(bytes: Option<&[u8]>, salt: Option<Salt>) -> SealedChange {
        SealedChange { bytes: bytes.map(<[u8]>::to_vec), salt }
    }

    const AT: ChangeRef = ChangeRef { seq: 7, index: 2 };

    #[test]
    fn a_change_opens_at_its_own_place_with_its_own_key_only() {
        let entropy = SeededEntropy::new(1);
        let own = key(1, "me", 3);
        let plain = change(Some(b"{\"type\":\"x\"}"), Some([9; 32]));
        let sealed = own.seal_change(AT, &plain, &entropy).unwrap();
        assert_eq!(key_of_change(&sealed), Some([1; 8]));
        assert_eq!(own.open_change(AT, &sealed), Some(plain.clone()));
        for (seq, index) in [(8, 2), (7, 1), (6, 2)] {
            assert_eq!(own.open_change(ChangeRef { seq, index }, &sealed), None);
        }
        for other in [key(1, "me", 4), key(1, "you", 3), key(2, "me", 3)] {
            assert_eq!(other.open_change(AT, &sealed), None);
        }
        // Any bit.
        for bit in 0..sealed.bytes.as_ref().unwrap().len() * 8 {
            let mut flipped = sealed.clone();
            flipped.bytes.as_mut().unwrap()[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(own.open_change(AT, &flipped), None, "bit {bit}");
        }
        let mut flipped = sealed.clone();
        flipped.salt.as_mut().unwrap()[31] ^= 1;
        assert_eq!(own.open_change(AT, &flipped), None);
        // A blob is no change.
        let blob = own.seal_blob(BlobKind::Snapshot { seq: 7 }, b"{}", &entropy).unwrap();
        assert_eq!(own.open_change(AT, &change(Some(&blob), Some([0; 32]))), None);
        let again = own.seal_change(AT, &plain, &entropy).unwrap();
        assert_ne!(again, sealed, "every seal has a nonce of its own");
    }

    #[test]
    fn every_form_of_a_change_comes_back_as_it_was() {
        let entropy = SeededEntropy::new(2);
        let own = key(1, "me", 3);
        for plain in [
            change(None, None),
            change(Some(b"{}"), None),
            change(Some(b""), Some([1; 32])),
            change(None, Some([1; 32])),
            change(Some(&[b'x'; 100_000]), Some([1; 32])),
        ] {
            let sealed = own.seal_change(AT, &plain, &entropy).unwrap();
            if plain.bytes.is_none() && plain.salt.is_none() {
                assert_eq!(sealed, plain);
                continue;
            }
            let size = plain.bytes.as_ref().map_or(0, Vec::len) + plain.salt.map_or(0, |_| 32);
            assert_eq!(sealed.bytes.as_ref().unwrap().len(), size + 18, "the stated cost of a change");
            assert_eq!(own.open_change(AT, &sealed), Some(plain));
        }
        assert_eq!(key_of_change(&change(Some(b"{\"type\":1}"), Some([1; 32]))), None, "a change in the clear");
    }

    #[test]
    fn a_blob_that_was_sealed_as_one_piece_opens() {
        let own = key(1, "me", 3);
        let kind = BlobKind::Snapshot { seq: 7 };
        let nonce = [5; NONCE_BYTES];
        let (name, parts) = kind.bound();
        let body = own.encrypt(&nonce, name, &parts, b"plain").unwrap();
        let blob = [BLOB_FORM_WHOLE.as_slice(), &own.id, &nonce, &body].concat();
        assert_eq!(key_of_blob(&blob), Some(own.id));
        assert_eq!(own.open_blob(BlobKind::Snapshot { seq: 7 }, &blob).as_deref(), Some(b"plain".as_slice()));
        assert_eq!(own.open_blob(BlobKind::Snapshot { seq: 8 }, &blob), None);
        // Its form cannot be passed off as the other one, nor the other as it.
        let as_pieces = [BLOB_FORM.as_slice(), &blob[8..]].concat();
        assert_eq!(own.open_blob(BlobKind::Snapshot { seq: 7 }, &as_pieces), None);
        let sealed = own.seal_blob(BlobKind::Snapshot { seq: 7 }, b"plain", &SeededEntropy::new(6)).unwrap();
        let as_whole = [BLOB_FORM_WHOLE.as_slice(), &sealed[8..]].concat();
        assert_eq!(own.open_blob(BlobKind::Snapshot { seq: 7 }, &as_whole), None);
    }

    #[test]
    fn a_blob_opens_as_what_it_was_sealed_for_only() {
        let entropy = SeededEntropy::new(3);
        let own = key(1, "me", 3);
        let projection = |name, seq, tag| BlobKind::Projection { name, seq, tag };
        let sealed = own.seal_blob(projection("recall", 5, "t"), b"words", &entropy).unwrap();
        assert_eq!(sealed.len(), 5 + 56, "the stated cost of a blob");
        assert_eq!(key_of_blob(&sealed), Some([1; 8]));
        assert_eq!(own.open_blob(projection("recall", 5, "t"), &sealed).as_deref(), Some(b"words".as_slice()));
        for kind in [
            projection("files", 5, "t"),
            projection("recall", 6, "t"),
            projection("recall", 5, "u"),
            BlobKind::Snapshot { seq: 5 },
            BlobKind::Vector { tag: "t", stored: &[0; 16] },
        ] {
            assert_eq!(own.open_blob(kind, &sealed), None, "{kind:?}");
        }
        for other in [key(1, "me", 4), key(1, "you", 3), key(2, "me", 3)] {
            assert_eq!(other.open_blob(projection("recall", 5, "t"), &sealed), None);
        }
        assert_eq!(own.open_blob(projection("recall", 5, "t"), &sealed[..40]), None);
        assert_eq!(key_of_blob(b"qpsnap04 and more"), None);
        assert_eq!(key_of_blob(b"qpseal01"), None);
    }

    #[test]
    fn the_name_of_a_vector_tells_nothing_without_the_key() {
        let own = key(1, "me", 3);
        assert_eq!(own.vector_name(&[1; 16]), own.vector_name(&[1; 16]));
        assert_ne!(own.vector_name(&[1; 16]), own.vector_name(&[2; 16]));
        assert_ne!(own.vector_name(&[1; 16]), key(1, "me", 4).vector_name(&[1; 16]));
    }
}
