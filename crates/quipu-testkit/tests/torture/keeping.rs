//! Operations on whole ledgers: copies, verification, plain files.

use std::fs;

use quipu_core::id::UserId;
use quipu_engine::backup::{backup, restore};
use quipu_engine::bundle::{bundle, import_bundle, verify_bundle};
use quipu_engine::erase::delete_user;
use quipu_engine::{
    Error, RememberOptions, Result, Utterance, VaultOptions, files, rebuild, remember, snapshot, verify,
};

use crate::changing::gone;
use crate::verb::{Verb, verb};
use crate::worker::Worker;
use crate::world::user;

pub(crate) const VERBS: &[Verb] = &[
    verb("verify", 8, |w| {
        let user = w.user();
        let report = verify(w.engine, &user, &[], &mut |_| {})?;
        assert!(report.is_intact(), "{user}: {report:?}");
        Ok(())
    }),
    verb("rebuild", 8, |w| {
        let user = w.user();
        rebuild(w.engine, &user, &mut |_| {}).map(drop)
    }),
    verb("snapshot", 8, |w| {
        let user = w.user();
        snapshot(w.engine, &user).map(drop)
    }),
    verb("backup::backup", 4, |w| {
        let user = w.user();
        let folder = w.world.path(&w.word());
        let done = backup(w.engine, &[user], &folder);
        let _ = fs::remove_dir_all(folder);
        done.map(drop)
    }),
    verb("backup::restore", 4, restores),
    verb("bundle::bundle", 4, |w| {
        let user = w.user();
        bundle(w.engine, &user, &w.world.signer).map(drop)
    }),
    verb("bundle::verify_bundle", 3, |w| {
        let user = w.user();
        let text = bundle(w.engine, &user, &w.world.signer)?;
        let verdict = verify_bundle(&text, None, &w.world.signer, &[])?;
        assert!(verdict.is_intact(), "{user}: {verdict:?}");
        Ok(())
    }),
    verb("bundle::import_bundle", 3, |w| {
        let user = speak(w)?;
        let text = bundle(w.engine, &user, &w.world.signer)?;
        gone(delete_user(w.engine, &user))?;
        import_bundle(w.engine, &text, None, &w.world.signer, false, &mut |_| {}).map(drop)
    }),
    verb("files::level", 6, |w| {
        let user = w.user();
        files::level(w.engine, &user, VaultOptions { look: w.dice.once_in(2), dry_run: false }).map(drop)
    }),
    verb("files::rebuild", 3, |w| {
        let user = w.user();
        files::rebuild(w.engine, &user, VaultOptions::default()).map(drop)
    }),
    verb("files::verify", 3, |w| {
        let user = w.user();
        files::verify(w.engine, &user).map(drop)
    }),
    verb("files::restore", 4, restores_files),
];

/// Records a text of a user whose ledger may be restored to an older state.
fn speak(w: &mut Worker<'_>) -> Result<UserId> {
    let user = w.spare();
    say(w, &user)?;
    Ok(user)
}

fn say(w: &mut Worker<'_>, user: &UserId) -> Result<()> {
    let said = Utterance::of_user(format!("I am back at {}.", w.word()));
    remember(w.engine, user, &said, &RememberOptions::default()).map(drop)
}

fn restores(w: &mut Worker<'_>) -> Result<()> {
    let user = speak(w)?;
    let folder = w.world.path(&w.word());
    let done = backup(w.engine, std::slice::from_ref(&user), &folder)
        .and_then(|_| restore(w.engine, &folder, None, w.dice.once_in(2)));
    let _ = fs::remove_dir_all(folder);
    alone(w, done.map(drop))
}

/// Restores a ledger from its plain files, either over the existing one or after deleting the user and moving the
/// files.
fn restores_files(w: &mut Worker<'_>) -> Result<()> {
    let user = user(&format!("filed-{}", w.number));
    say(w, &user)?;
    files::level(w.engine, &user, VaultOptions::default())?;
    if w.dice.once_in(2) {
        let options = files::RestoreOptions { replace: true, ..files::RestoreOptions::default() };
        return alone(w, files::restore(w.engine, &user, options, &mut |_| {}).map(drop));
    }
    let (place, aside) = (w.world.path("data/vault").join(user.as_str()), w.world.path(&w.word()));
    fs::rename(&place, &aside).expect("the files are there");
    gone(delete_user(w.engine, &user))?;
    fs::rename(&aside, &place).expect("the files went with the user");
    files::restore(w.engine, &user, files::RestoreOptions::default(), &mut |_| {}).map(drop)
}

/// Maps a failure because of the other engine to a refusal: replacing a ledger needs the folder exclusively.
fn alone(w: &Worker<'_>, done: Result<()>) -> Result<()> {
    match done {
        Err(Error::Unavailable(why)) if w.world.engines.len() > 1 && why.contains("cannot replace a ledger") => {
            Err(Error::Refused(why))
        }
        done => done,
    }
}
