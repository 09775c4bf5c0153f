//! Finds the new messages in a request. Clients send the whole conversation again each time.
//!
//! The key of a user's turn is derived from all earlier messages of the user in the session and from its own text.
//! Replies are not part of the key, because clients trim, edit and regenerate them. A repeated request therefore yields
//! the same keys, an edited message a new one, and the same text later in the conversation a new one too.
//!
//! Only messages after the last reply can be new. Earlier ones are recorded already, were sent while memory was off, or
//! are examples inserted by an application; a client's history is not trusted.

use super::wire::{Speaker, WireMessage};

/// A turn of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaidTurn {
    /// Its key; the same if the turn is sent again.
    pub(crate) key: String,
    pub(crate) words: String,
}

/// The new turns of a request: the user's messages after the last reply, oldest first. Empty if there are none.
///
/// `before` is the previous reply, if the upstream stores the conversation and the client sends no history.
pub(crate) fn turns(session: &str, before: Option<&str>, messages: &[WireMessage]) -> Vec<SaidTurn> {
    let Some(last) = messages.iter().rposition(|said| said.speaker == Speaker::User) else { return Vec::new() };
    let interrupts = |said: &WireMessage| matches!(said.speaker, Speaker::Assistant | Speaker::Other);
    let first = messages[..last].iter().rposition(interrupts).map_or(0, |place| place + 1);
    let mut chain = hash(&[session.as_bytes(), before.unwrap_or_default().as_bytes()]);
    let mut turns = Vec::new();
    for (place, said) in messages.iter().enumerate().take(last + 1) {
        if said.speaker != Speaker::User || said.words.is_empty() {
            continue;
        }
        chain = hash(&[chain.as_bytes(), said.words.as_bytes()]);
        if place >= first {
            turns.push(SaidTurn { key: name("turn", &chain), words: said.words.clone() });
        }
    }
    turns
}

/// The key of a reply, derived from its turn and its text.
pub(crate) fn reply_key(turn: &str, words: &str) -> String {
    name("reply", &hash(&[turn.as_bytes(), words.as_bytes()]))
}

fn name(what: &str, hash: &blake3::Hash) -> String {
    format!("proxy:{what}:{}", &hash.to_hex()[..32])
}

fn hash(parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key("quipu proxy turn v1");
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
mod tests {
    use super::*;

    /// A conversation written as `u:words` and `a:words`.
    fn said(lines: &[&str]) -> Vec<WireMessage> {
        let one = |line: &&str| {
            let (who, words) = line.split_once(':').unwrap();
            let speaker = match who {
                "u" => Speaker::User,
                "a" => Speaker::Assistant,
                "s" => Speaker::System,
                _ => Speaker::Other,
            };
            WireMessage { speaker, words: words.to_owned() }
        };
        lines.iter().map(one).collect()
    }

    fn words(lines: &[&str]) -> Vec<String> {
        turns("s", None, &said(lines)).into_iter().map(|turn| turn.words).collect()
    }

    #[test]
    fn only_what_follows_the_last_reply_is_new() {
        let cases: [(&[&str], &[&str]); 9] = [
            (&["u:hi"], &["hi"]),
            (&["s:be kind", "u:hi"], &["hi"]),
            (&["u:hi", "a:hello", "u:I moved"], &["I moved"]),
            (&["u:hi", "a:hello", "u:I moved", "s:by the way", "u:to Porto"], &["I moved", "to Porto"]),
            // A tool's result follows the message that led to it.
            (&["u:weather?", "a:", "t:rain"], &["weather?"]),
            // The request prescribes the beginning of the reply.
            (&["u:hi", "a:hello", "u:a poem", "a:Roses"], &["a poem"]),
            (&["a:hello"], &[]),
            (&["u:hi", "a:hello", "u:"], &[]),
            (&[], &[]),
        ];
        for (lines, expected) in cases {
            assert_eq!(words(lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_turn_is_named_by_what_the_user_said_up_to_it() {
        let key = |session: &str, lines: &[&str]| turns(session, None, &said(lines)).pop().unwrap().key;
        let plain = key("s", &["u:hi", "a:hello", "u:I moved"]);
        for (session, lines, same) in [
            ("s", &["u:hi", "a:hello", "u:I moved"][..], true),
            // The reply was regenerated or edited.
            ("s", &["u:hi", "a:good day", "u:I moved"], true),
            ("s", &["s:be kind", "u:hi", "a:hello", "u:I moved"], true),
            // This message was edited, or an earlier one.
            ("s", &["u:hi", "a:hello", "u:I stayed"], false),
            ("s", &["u:hello", "a:hello", "u:I moved"], false),
            // The same text again later.
            ("s", &["u:hi", "a:hello", "u:I moved", "a:nice", "u:I moved"], false),
            ("t", &["u:hi", "a:hello", "u:I moved"], false),
        ] {
            assert_eq!(key(session, lines) == plain, same, "{session} {lines:?}");
        }
    }
}
