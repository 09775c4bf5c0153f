//! Detects whether a memory holds conversations among people or with an assistant. The features of a relevant passage
//! differ between the two.

use crate::recall::index::passage_index::NONE;

/// Speaker statistics of the conversations of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::recall) struct Talk {
    /// By session.
    sessions: Vec<SpeakerCount>,
    passages: usize,
    /// Number of passages of sessions among people.
    among_people: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SpeakerCount {
    author: u32,
    has_several_authors: bool,
    has_reply: bool,
    passages: usize,
}

impl SpeakerCount {
    fn among_people(&self) -> usize {
        if self.has_several_authors && !self.has_reply { self.passages } else { 0 }
    }
}

impl Talk {
    /// Adds the next passage. Sessions are numbered in the order of their first passage.
    pub(in crate::recall) fn add(&mut self, session: u32, author: u32, is_reply: bool) {
        self.passages += 1;
        if session == NONE {
            return;
        }
        let at = session as usize;
        if at >= self.sessions.len() {
            let new = SpeakerCount { author, has_several_authors: false, has_reply: false, passages: 0 };
            self.sessions.resize(at + 1, new);
        }
        let one = &mut self.sessions[at];
        self.among_people -= one.among_people();
        if one.passages == 0 {
            one.author = author;
        }
        one.has_several_authors |= one.author != author;
        one.has_reply |= is_reply;
        one.passages += 1;
        self.among_people += one.among_people();
    }

    /// Returns true if most passages are of sessions among people, without an assistant.
    pub(in crate::recall) fn is_among_people(&self) -> bool {
        2 * self.among_people > self.passages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assistant_or_a_single_voice_makes_no_talk_among_people() {
        let of = |passages: &[(u32, u32, bool)]| {
            let mut talk = Talk::default();
            passages.iter().for_each(|&(session, author, is_reply)| talk.add(session, author, is_reply));
            talk.is_among_people()
        };
        assert!(!of(&[]));
        assert!(of(&[(0, 1, false), (0, 2, false)]));
        assert!(!of(&[(0, NONE, false), (0, NONE, true)]));
        assert!(!of(&[(0, 1, false), (1, 2, false)]), "two sessions of one voice each");
        assert!(!of(&[(NONE, 1, false), (NONE, 2, false)]), "entries of no conversation");
        assert!(!of(&[(0, 1, false), (0, 2, false), (1, NONE, false), (1, NONE, true)]), "not more than half");
        assert!(of(&[(0, 1, false), (0, 2, false), (0, 1, false), (1, NONE, false), (1, NONE, true)]));
    }
}
