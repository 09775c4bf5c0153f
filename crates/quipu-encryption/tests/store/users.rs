//! Deleting users, backups, moves.

use quipu_encryption::EncryptedStore;
use quipu_engine::move_ledgers::move_ledger;
use quipu_engine::ports::{Head, LedgerStore, StoreError, UserKeyState, UserKeyStore};
use quipu_testkit::{MemoryStore, MemoryUserKeys};

use crate::{Place, at, contains, everything, filled, me};

#[test]
fn deleting_a_user_destroys_the_keys() {
    let place = Place::default();
    let store = place.process(1);
    let (_, events) = filled(&store);
    let before = place.raw();
    let backup = tempfile::tempdir().unwrap();
    let copy = store.open(&me(), false).unwrap().backup(&backup.path().join("copy")).unwrap();
    assert!(store.cleaned().contains(&"user keys"));
    assert!(store.destruction().unwrap().contains("unreadable in backups"));
    store.remove(&me(), Some(3)).unwrap();
    assert_eq!(place.key_count(), 0);
    assert!(!place.opens(&before));
    let told = store.restore(&me(), &copy.path, false).unwrap_err();
    assert!(matches!(&told, StoreError::Unavailable(text) if text.contains("key was destroyed")), "{told}");
    assert_eq!(store.users().unwrap(), []);
    assert_eq!(place.key_count(), 0, "a restore that failed leaves no key");
    // A user of the same name starts with a new key.
    store.open(&me(), true).unwrap().append(0, &events).unwrap();
    assert_eq!(everything(place.process(2).open(&me(), false).unwrap().as_mut()).unwrap(), events);
}

#[test]
fn a_deletion_that_does_not_happen_keeps_the_keys_as_they_were() {
    let place = Place::default();
    let store = place.process(1);
    let (mut sample, events) = filled(&store);
    store.open(&me(), false).unwrap().erase(3, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    let before = place.keys.all();
    assert!(matches!(store.remove(&me(), Some(3)), Err(StoreError::Conflict { .. })));
    assert_eq!(place.keys.all(), before);
    let mut ledger = store.open(&me(), false).unwrap();
    assert_eq!(ledger.finish_erasures().unwrap().unwrap().keys_destroyed, 1);
    assert_eq!(everything(ledger.as_mut()).unwrap()[1..3], events[1..]);
}

#[test]
fn an_interrupted_deletion_is_completed_at_the_next_start_or_by_a_new_user_of_the_name() {
    for starts_again in [true, false] {
        let place = Place::default();
        let store = place.process(1);
        filled(&store);
        let before = place.raw();
        let ids: Vec<_> = place.keys.all().iter().map(|key| key.id).collect();
        place.keys.mark(&me(), &ids, UserKeyState::Leaving).unwrap();
        // A process that ended before its ledger was removed destroys nothing.
        assert_eq!(everything(place.process(2).open(&me(), false).unwrap().as_mut()).unwrap().len(), 3);
        place.inner.remove(&me(), None).unwrap();
        if starts_again {
            place.process(3);
        } else {
            store.open(&me(), true).unwrap();
        }
        assert_eq!(place.key_count(), 0);
        assert!(!place.opens(&before));
    }
}

#[test]
fn a_key_that_a_writer_made_during_the_deletion_is_destroyed_too() {
    let place = Place::default();
    let store = place.process(1);
    let (mut sample, _) = filled(&store);
    // A writer finds no active key, as during a deletion, and makes one.
    let ids: Vec<_> = place.keys.all().iter().map(|key| key.id).collect();
    place.keys.mark(&me(), &ids, UserKeyState::Leaving).unwrap();
    let mut open = place.process(2).open(&me(), false).unwrap();
    open.append(3, &[sample.say("four").unwrap()]).unwrap();
    assert_eq!(place.key_count(), 2);
    store.remove(&me(), None).unwrap();
    assert_eq!(place.key_count(), 0);
    assert!(matches!(open.append(4, &[sample.say("five").unwrap()]), Err(StoreError::Removed(_))));
}

#[test]
fn a_backup_is_sealed_and_one_in_the_clear_is_sealed_when_it_is_restored() {
    let place = Place::default();
    let store = place.process(1);
    let (_, events) = filled(&store);
    let folder = tempfile::tempdir().unwrap();
    let sealed = store.open(&me(), false).unwrap().backup(&folder.path().join("sealed")).unwrap();
    // The file of the store in memory lists bytes as numbers.
    let canary: Vec<String> = b"canary".iter().map(u8::to_string).collect();
    assert!(!contains(&std::fs::read(&sealed.path).unwrap(), &canary.join(",")));
    let plain = MemoryStore::new();
    filled(&plain);
    let clear = plain.open(&me(), false).unwrap().backup(&folder.path().join("clear")).unwrap();
    assert!(contains(&std::fs::read(&clear.path).unwrap(), &canary.join(",")));
    for copy in [sealed, clear] {
        let aside = store.restore(&me(), &copy.path, true).unwrap();
        assert!(aside.is_some());
        assert!(place.raw().iter().all(|event| !contains(event.changes[0].bytes.as_ref().unwrap(), "canary")));
        assert_eq!(everything(store.open(&me(), false).unwrap().as_mut()).unwrap(), events);
        // The copy that was set aside can be restored.
        store.restore(&me(), &aside.unwrap(), true).unwrap();
        assert_eq!(everything(place.process(9).open(&me(), false).unwrap().as_mut()).unwrap(), events);
    }
    // A store without the keys takes neither.
    let off = EncryptedStore::off(Box::new(MemoryStore::new()));
    let told = off.restore(&me(), &folder.path().join("sealed"), false).unwrap_err().to_string();
    assert!(told.contains("encryption is off"), "{told}");
    assert_eq!(off.users().unwrap(), []);
    let elsewhere = crate::encrypted(Box::new(MemoryStore::new()), &MemoryUserKeys::new(), 8);
    let told = elsewhere.restore(&me(), &folder.path().join("sealed"), false).unwrap_err().to_string();
    assert!(told.contains("is not in memory"), "{told}");
    assert_eq!(elsewhere.users().unwrap(), []);
}

#[test]
fn a_move_seals_with_the_keys_of_the_target_and_back_again() {
    let (here, there) = (Place::default(), Place::default());
    let (from, to) = (here.process(1), there.process(2));
    let (mut sample, _) = filled(&from);
    let plain = EncryptedStore::off(Box::new(MemoryStore::new()));
    let head = |store: &dyn LedgerStore| -> Head { store.open(&me(), false).unwrap().head().unwrap() };
    for (source, target) in [(&from, &to), (&to, &plain)] {
        move_ledger(source, target, &me()).unwrap();
        assert_eq!(head(source), head(target));
    }
    let all = |store: &EncryptedStore| everything(store.open(&me(), false).unwrap().as_mut()).unwrap();
    assert_eq!(all(&from), all(&to));
    assert_eq!(all(&from), all(&plain));
    assert!(there.raw() != here.raw() && !here.opens(&there.raw()));
    // A move that goes on appends and erases what the source did since.
    let mut ledger = from.open(&me(), false).unwrap();
    ledger.append(3, &[sample.say("four").unwrap()]).unwrap();
    ledger.erase(4, &[at(1)], &sample.erase(&[at(1)]).unwrap()).unwrap();
    let sealed = there.raw();
    move_ledger(&from, &to, &me()).unwrap();
    assert_eq!(all(&from), all(&to));
    assert!(to.open(&me(), false).unwrap().finish_erasures().unwrap().is_some());
    assert!(!there.opens(&sealed));
    move_ledger(&from, &plain, &me()).unwrap();
    assert_eq!(all(&from), all(&plain));
}

#[test]
fn a_fork_is_sealed_with_the_key_of_its_own_user() {
    let place = Place::default();
    let store = place.process(1);
    let (_, events) = filled(&store);
    let other = quipu_core::id::UserId::parse("fork").unwrap();
    store.build(&other, false, &mut |ledger| ledger.append(0, &events)).unwrap();
    store.remove(&me(), None).unwrap();
    assert_eq!(everything(store.open(&other, false).unwrap().as_mut()).unwrap(), events);
}
