//! The contract of key stores.

use jiff::Timestamp;
use quipu_core::id::UserId;
use quipu_engine::ports::{KeyStore, Scope, StoreError, StoredKey};

fn key(id: &str, seconds: i64, user: Option<&str>) -> StoredKey {
    StoredKey {
        id: id.to_owned(),
        name: format!("the key {id}"),
        digest: [id.len() as u8; 32],
        scopes: vec![Scope::Read, Scope::Admin],
        user: user.map(|user| UserId::parse(user).unwrap()),
        created_at: Timestamp::from_second(seconds).unwrap(),
        revoked_at: None,
    }
}

/// Checks every requirement. `again` is a second handle to the same store, which must see every change at once.
pub fn key_store(store: &dyn KeyStore, again: &dyn KeyStore) {
    assert_eq!(store.find("a").unwrap(), None);
    assert_eq!(store.all().unwrap(), []);
    let (a, b, c) = (key("a", 20, Some("ines")), key("b", 10, None), key("c", 10, None));
    for one in [&a, &c, &b] {
        store.put(one).unwrap();
    }
    assert!(matches!(store.put(&a), Err(StoreError::Exists(_))), "an id names one key");
    assert_eq!(again.find("a").unwrap().as_ref(), Some(&a), "a key comes back as it went in");
    assert_eq!(again.all().unwrap(), [b.clone(), c, a], "oldest first, equals by id");
    let then = Timestamp::from_second(30).unwrap();
    let revoked = again.revoke("b", then).unwrap();
    assert_eq!(revoked, StoredKey { revoked_at: Some(then), ..b });
    assert_eq!(store.find("b").unwrap().as_ref(), Some(&revoked), "what one took back the other sees");
    assert_eq!(store.revoke("b", Timestamp::from_second(40).unwrap()).unwrap(), revoked, "the first time stays");
    assert!(matches!(store.revoke("none", then), Err(StoreError::NotFound(_))));
}
