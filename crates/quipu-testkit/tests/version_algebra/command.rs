//! Random commands on memories.

use proptest::prelude::*;

/// One step. Numbers are reduced to the valid range on execution, so that shrinking keeps a history valid.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    Say { user: u8, text: u8, session: u8, key: Option<u8> },
    Set { user: u8, path: u8, value: u8 },
    Unset { user: u8, path: u8 },
    Promote { user: u8, path: u8 },
    Mark { user: u8, event: u8, pinned: Option<bool>, rating: Option<i8> },
    Revert { user: u8, events: Vec<u8> },
    RevertSince { user: u8, version: u8 },
    RevertSession { user: u8, session: u8 },
    Erase { user: u8, events: Vec<u8> },
    Pick { user: u8, events: Vec<u8>, into: u8 },
    Fork { user: u8, at: u8, into: u8 },
    SetTruth { user: u8, session: u8, text: u8, hard: bool },
    UnsetTruth { user: u8, session: u8, place: u8 },
    EndSession { user: u8, session: u8 },
    Ask { user: u8, text: u8 },
    CountHits { user: u8 },
    Travel { user: u8, version: u8 },
    Rebuild { user: u8 },
    Snapshot { user: u8 },
    Reopen,
}

impl Command {
    /// The user it concerns.
    pub(crate) fn user(&self) -> u8 {
        match self {
            Self::Say { user, .. }
            | Self::Set { user, .. }
            | Self::Unset { user, .. }
            | Self::Promote { user, .. }
            | Self::Mark { user, .. }
            | Self::Revert { user, .. }
            | Self::RevertSince { user, .. }
            | Self::RevertSession { user, .. }
            | Self::Erase { user, .. }
            | Self::Pick { user, .. }
            | Self::Fork { user, .. }
            | Self::SetTruth { user, .. }
            | Self::UnsetTruth { user, .. }
            | Self::EndSession { user, .. }
            | Self::Ask { user, .. }
            | Self::CountHits { user }
            | Self::Travel { user, .. }
            | Self::Rebuild { user }
            | Self::Snapshot { user } => *user,
            Self::Reopen => 0,
        }
    }
}

pub(crate) const USERS: [&str; 3] = ["ana", "bea", "cleo"];

/// The first user gets most of the commands, to make long histories.
fn user() -> impl Strategy<Value = u8> {
    prop_oneof![6 => Just(0u8), 2 => Just(1u8), 1 => Just(2u8)]
}

fn some(events: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 1..=events)
}

pub(crate) fn any_command() -> impl Strategy<Value = Command> {
    let key = proptest::option::weighted(0.3, 0..3u8);
    let stars = proptest::option::of(-2..=2i8);
    prop_oneof![
        8 => (user(), any::<u8>(), 0..3u8, key).prop_map(|(user, text, session, key)| Command::Say { user, text, session, key }),
        8 => (user(), any::<u8>(), any::<u8>()).prop_map(|(user, path, value)| Command::Set { user, path, value }),
        3 => (user(), any::<u8>()).prop_map(|(user, path)| Command::Unset { user, path }),
        3 => (user(), any::<u8>()).prop_map(|(user, path)| Command::Promote { user, path }),
        3 => (user(), any::<u8>(), proptest::option::of(any::<bool>()), stars)
            .prop_map(|(user, event, pinned, rating)| Command::Mark { user, event, pinned, rating }),
        7 => (user(), some(3)).prop_map(|(user, events)| Command::Revert { user, events }),
        1 => (user(), any::<u8>()).prop_map(|(user, version)| Command::RevertSince { user, version }),
        1 => (user(), 0..3u8).prop_map(|(user, session)| Command::RevertSession { user, session }),
        2 => (user(), some(2)).prop_map(|(user, events)| Command::Erase { user, events }),
        2 => (user(), some(4), 0..3u8).prop_map(|(user, events, into)| Command::Pick { user, events, into }),
        1 => (user(), any::<u8>(), 0..3u8).prop_map(|(user, at, into)| Command::Fork { user, at, into }),
        4 => (user(), 1..3u8, any::<u8>(), any::<bool>())
            .prop_map(|(user, session, text, hard)| Command::SetTruth { user, session, text, hard }),
        2 => (user(), 1..3u8, any::<u8>()).prop_map(|(user, session, place)| Command::UnsetTruth { user, session, place }),
        1 => (user(), 1..3u8).prop_map(|(user, session)| Command::EndSession { user, session }),
        3 => (user(), any::<u8>()).prop_map(|(user, text)| Command::Ask { user, text }),
        2 => user().prop_map(|user| Command::CountHits { user }),
        2 => (user(), any::<u8>()).prop_map(|(user, version)| Command::Travel { user, version }),
        1 => user().prop_map(|user| Command::Rebuild { user }),
        3 => user().prop_map(|user| Command::Snapshot { user }),
        2 => Just(Command::Reopen),
    ]
}
