//! The contract of stores of users' keys.

use jiff::Timestamp;
use quipu_core::id::{EventId, UserId};
use quipu_engine::ports::{StoreError, UserKeyId, UserKeyState, UserKeyStore, WrappedKey};

use super::{me, other};

fn key(user: &UserId, id: u8, made_at: i64) -> WrappedKey {
    WrappedKey {
        user: user.clone(),
        id: [id; 8],
        state: UserKeyState::Active,
        retired_by: Vec::new(),
        made_at: Timestamp::from_microsecond(made_at).unwrap(),
        master: [200 + id; 8],
        wrapped: vec![id; 72],
    }
}

fn ids(keys: &dyn UserKeyStore, user: &UserId) -> Vec<UserKeyId> {
    keys.of_user(user).unwrap().into_iter().map(|key| key.id).collect()
}

/// Checks every requirement on an empty store that is opened twice. Panics at the first failure.
pub fn user_key_store(keys: &dyn UserKeyStore, again: &dyn UserKeyStore) {
    let (later, first, of_other) = (key(&me(), 1, 20), key(&me(), 2, 10), key(&other(), 1, 5));
    for stored in [&later, &first, &of_other] {
        keys.put(stored, None).unwrap();
    }
    assert!(matches!(again.put(&later, None), Err(StoreError::Exists(_))));
    assert_eq!(again.of_user(&me()).unwrap(), [first.clone(), later.clone()], "in order of time");
    assert_eq!(again.users(None).unwrap(), [me(), other()]);
    assert_eq!(again.users(Some(UserKeyState::Retired)).unwrap(), []);
    retires(keys, again);
    rewraps(keys, again);
    destroys(keys, again);
    assert_eq!(again.of_user(&other()).unwrap(), [of_other], "keys of another user with the same id stay as they are");
}

fn retires(keys: &dyn UserKeyStore, again: &dyn UserKeyStore) {
    again.mark(&me(), &[[2; 8], [99; 8]], UserKeyState::Building).unwrap();
    let event = EventId::from_bytes([7; 16]);
    let next = key(&me(), 3, 30);
    keys.put(&next, Some(event)).unwrap();
    let states: Vec<(UserKeyId, UserKeyState, Vec<EventId>)> =
        again.of_user(&me()).unwrap().into_iter().map(|key| (key.id, key.state, key.retired_by)).collect();
    let expected = [
        ([2; 8], UserKeyState::Building, vec![event]),
        ([1; 8], UserKeyState::Retired, vec![event]),
        ([3; 8], UserKeyState::Active, vec![]),
    ];
    assert_eq!(states, expected);
    assert_eq!(again.users(Some(UserKeyState::Retired)).unwrap(), [me()]);
    // A key that could not be stored retires nothing.
    assert!(matches!(again.put(&key(&me(), 1, 40), Some(event)), Err(StoreError::Exists(_))));
    assert_eq!(again.of_user(&me()).unwrap()[2].state, UserKeyState::Active);
    again.mark(&me(), &[[1; 8]], UserKeyState::Leaving).unwrap();
    let marked = &keys.of_user(&me()).unwrap()[1];
    assert_eq!((marked.state, marked.retired_by.clone()), (UserKeyState::Leaving, vec![event]), "the event stays");
    // Nothing takes a retirement back: a second attempt adds its event, and a retired key does not become active.
    let second = EventId::from_bytes([8; 16]);
    keys.put(&key(&me(), 4, 40), Some(second)).unwrap();
    again.mark(&me(), &[[1; 8], [2; 8], [4; 8]], UserKeyState::Active).unwrap();
    let states: Vec<(UserKeyState, Vec<EventId>)> =
        keys.of_user(&me()).unwrap().into_iter().map(|key| (key.state, key.retired_by)).collect();
    let retired = |events: &[EventId]| (UserKeyState::Retired, events.to_vec());
    let expected =
        [retired(&[event, second]), retired(&[event, second]), retired(&[second]), (UserKeyState::Active, vec![])];
    assert_eq!(states, expected);
    keys.destroy(&me(), &[[4; 8]]).unwrap();
}

fn rewraps(keys: &dyn UserKeyStore, again: &dyn UserKeyStore) {
    let before = again.of_user(&me()).unwrap()[2].clone();
    assert!(again.rewrap(&before, [9; 8], &[9; 72]).unwrap());
    let after = WrappedKey { master: [9; 8], wrapped: vec![9; 72], ..before.clone() };
    assert_eq!(keys.of_user(&me()).unwrap()[2], after);
    assert!(!keys.rewrap(&before, [8; 8], &[8; 72]).unwrap(), "another process was faster");
    assert_eq!(keys.of_user(&me()).unwrap()[2], after);
}

fn destroys(keys: &dyn UserKeyStore, again: &dyn UserKeyStore) {
    keys.destroy(&me(), &[[1; 8], [3; 8], [99; 8]]).unwrap();
    assert_eq!(ids(again, &me()), [[2; 8]]);
    again.destroy(&me(), &[[2; 8], [1; 8]]).unwrap();
    assert_eq!(ids(keys, &me()), [[0; 8]; 0]);
    assert_eq!(keys.users(None).unwrap(), [other()]);
    keys.destroy(&me(), &[]).unwrap();
}
