//! Operations that read.

use quipu_core::source::Role;
use quipu_engine::erase::EraseTarget;
use quipu_engine::export::{ExportFormat, export};
use quipu_engine::log::{LogOptions, erasures, growth};
use quipu_engine::memories::{memories, memories_from, memory, told_of};
use quipu_engine::versions::{EventRef, When, position_of, version};
use quipu_engine::{
    ContextOptions, EntryPoint, Error, FactOptions, ListOptions, RecallOptions, RememberOptions, ReplyContextOptions,
    Result, ReviewsAsked, SessionContextOptions, Utterance, agent_files, announce_deletion, announce_erasure, blame,
    conflicts, context, core_at, diff, doctor, entered, episodes, episodes_about, erasure_epoch, facts, files,
    first_foreign, gauges, get, history, judged_context, list, log, look, notes, origins, recall, recorded_at,
    remember, reply_context, reproduce, review_page, reviews, schema, session, session_artifacts, session_context,
    session_snapshots, sessions, show, status, tasks, tenets, texts_kept, users, users_entered, versions_of, waiting,
    why, words,
};

use crate::verb::{Verb, verb};
use crate::worker::{Worker, none};

pub(crate) const VERBS: &[Verb] = &[
    verb("recall", 120, recalls),
    verb("context", 50, |w| {
        let user = w.user();
        let at = w.when(&user)?;
        context(w.engine, &user, &ContextOptions { at, ..ContextOptions::of("Where do I live?") }).map(drop)
    }),
    verb("judged_context", 20, |w| {
        let user = w.user();
        judged_context(w.engine, &user, &ContextOptions::of("What do I like?")).map(drop)
    }),
    verb("reply_context", 40, |w| {
        let user = w.user();
        let session = Some(w.session());
        let options = ReplyContextOptions { session, ..ReplyContextOptions::of("What about my sister?") };
        reply_context(w.engine, &user, &options).map(drop)
    }),
    verb("session_context", 20, |w| {
        let (user, session) = (w.user(), w.session());
        session_context(w.engine, &user, &SessionContextOptions::of(&session)).map(drop)
    }),
    verb("reproduce", 8, reproduces),
    verb("facts", 15, |w| {
        let user = w.user();
        let at = Some(w.when(&user)?);
        facts(w.engine, &user, &FactOptions { at, all: true, ..FactOptions::default() }).map(drop)
    }),
    verb("tasks", 5, |w| {
        let user = w.user();
        tasks(w.engine, &user, None, true).map(drop)
    }),
    verb("episodes", 5, |w| {
        let user = w.user();
        episodes(w.engine, &user, None).map(drop)
    }),
    verb("episodes_about", 5, |w| {
        let user = w.user();
        episodes_about(w.engine, &user, None, &["home".to_owned()], &[], 3).map(drop)
    }),
    verb("notes", 5, |w| {
        let user = w.user();
        notes(w.engine, &user, None).map(drop)
    }),
    verb("tenets", 5, |w| {
        let user = w.user();
        tenets(w.engine, &user, None, true).map(drop)
    }),
    verb("conflicts", 5, |w| {
        let user = w.user();
        conflicts(w.engine, &user).map(drop)
    }),
    verb("history", 8, |w| {
        let user = w.user();
        let fact = w.fact(&user)?;
        history(w.engine, &user, &fact.to_string()).map(drop)
    }),
    verb("look", 8, |w| {
        let user = w.user();
        let fact = w.fact(&user)?;
        look(w.engine, &user, &fact.to_string(), When::Now).map(drop)
    }),
    verb("get", 12, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        get(w.engine, &user, &item.to_string(), When::Now).map(drop)
    }),
    verb("words", 5, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        words(w.engine, &user, item).map(drop)
    }),
    verb("why", 10, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        let why = why(w.engine, &user, &item.to_string())?;
        assert!(why.intact, "{user}: {why:?}");
        Ok(())
    }),
    verb("versions_of", 5, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        versions_of(w.engine, &user, &item.to_string()).map(drop)
    }),
    verb("list", 25, |w| {
        let user = w.user();
        let at = w.when(&user)?;
        list(w.engine, &user, &ListOptions { at, session: None, kind: None, offset: 0, limit: 100 }).map(drop)
    }),
    verb("log", 15, |w| {
        let user = w.user();
        log(w.engine, &user, &LogOptions { before: None, limit: 50, reference: None }).map(drop)
    }),
    verb("log::erasures", 4, |w| {
        let user = w.user();
        erasures(w.engine, &user, None, 10).map(drop)
    }),
    verb("log::growth", 4, |w| {
        let user = w.user();
        growth(w.engine, &user, 10).map(drop)
    }),
    verb("origins", 6, |w| {
        let user = w.user();
        origins(w.engine, &user).map(drop)
    }),
    verb("blame", 8, |w| {
        let (user, pointer) = (w.user(), format!("/uncategorized/sleep_note_{}", w.dice.below(8)));
        blame(w.engine, &user, &pointer).map(drop)
    }),
    verb("diff", 8, |w| {
        let user = w.user();
        let (from, to) = (w.when(&user)?, w.when(&user)?);
        diff(w.engine, &user, from, to).map(drop)
    }),
    verb("show", 10, |w| {
        let user = w.user();
        let seq = w.seq(&user)?;
        show(w.engine, &user, EventRef::Seq(seq)).map(drop)
    }),
    verb("core_at", 10, |w| {
        let user = w.user();
        let at = w.when(&user)?;
        core_at(w.engine, &user, at).map(drop)
    }),
    verb("schema", 4, |w| {
        let user = w.user();
        schema(w.engine, &user, When::Now).map(drop)
    }),
    verb("versions::position_of", 6, |w| {
        let user = w.user();
        position_of(w.engine, &user, When::Now).map(drop)
    }),
    verb("versions::version", 8, |w| {
        let user = w.user();
        version(w.engine, &user).map(drop)
    }),
    verb("recorded_at", 6, |w| {
        let user = w.user();
        recorded_at(w.engine, &user, "needle0x1").map(drop)
    }),
    verb("status", 15, |w| {
        let user = w.user();
        status(w.engine, &user).map(drop)
    }),
    verb("users", 4, |w| users(w.engine).map(drop)),
    verb("gauges", 4, |w| {
        gauges(w.engine);
        Ok(())
    }),
    verb("doctor", 1, |w| {
        doctor(w.engine);
        Ok(())
    }),
    verb("sessions", 6, |w| {
        let user = w.user();
        sessions(w.engine, &user, When::Now).map(drop)
    }),
    verb("session", 6, |w| {
        let (user, name) = (w.user(), w.session());
        session(w.engine, &user, &name, When::Now).map(drop)
    }),
    verb("session_artifacts", 4, finds_code),
    verb("session_snapshots", 4, |w| {
        let (user, name) = (w.user(), w.session());
        session_snapshots(w.engine, &user, &name).map(drop)
    }),
    verb("reviews", 6, |w| {
        let user = w.user();
        reviews(w.engine, &user, false).map(drop)
    }),
    verb("review_page", 6, |w| {
        let user = w.user();
        review_page(w.engine, &user, &ReviewsAsked { limit: 10, ..ReviewsAsked::default() }).map(drop)
    }),
    verb("waiting", 4, |w| {
        let user = w.user();
        waiting(w.engine, &user).map(drop)
    }),
    verb("memories::memories", 6, |w| {
        let user = w.user();
        memories(w.engine, &user).map(drop)
    }),
    verb("memories::memory", 6, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        memory(w.engine, &user, &item.to_string()).map(drop)
    }),
    verb("memories::told_of", 4, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        told_of(w.engine, &user, &[item]).map(drop)
    }),
    verb("memories::memories_from", 4, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        memories_from(w.engine, &user, &[item]).map(drop)
    }),
    verb("agent_files::shelf", 6, |w| {
        let user = w.user();
        agent_files::shelf(w.engine, &user, "notes/").map(drop)
    }),
    verb("export::export", 4, |w| {
        let user = w.user();
        let format = [ExportFormat::Json, ExportFormat::Markdown, ExportFormat::Mem0][w.dice.below(3)];
        export(w.engine, &user, format).map(drop)
    }),
    verb("entered", 4, |w| {
        let user = w.user();
        entered(w.engine, &user, &EntryPoint::new("torture", None)).map(drop)
    }),
    verb("first_foreign", 4, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        first_foreign(w.engine, &user, &[item.to_string()], &EntryPoint::new("torture", None)).map(drop)
    }),
    verb("users_entered", 1, |w| users_entered(w.engine, &EntryPoint::new("torture", None)).map(drop)),
    verb("announce_deletion", 4, |w| {
        let user = w.user();
        announce_deletion(w.engine, &w.world.keys, &user, None).map(drop)
    }),
    verb("announce_erasure", 4, |w| {
        let user = w.user();
        let item = w.item(&user)?;
        announce_erasure(w.engine, &user, &[EraseTarget::Item(item)], None).map(drop)
    }),
    verb("erasure_epoch", 4, |w| {
        let user = w.user();
        erasure_epoch(w.engine, &user).map(drop)
    }),
    verb("texts_kept", 2, |w| {
        let user = w.user();
        texts_kept(w.engine, &user).map(drop)
    }),
    verb("files::glance", 4, |w| {
        let user = w.user();
        files::glance(w.engine, &user).map(drop)
    }),
];

fn recalls(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let at = w.when(&user)?;
    let query = ["Where do I live?", "What does my sister Ana do?", "What must I do tomorrow?"][w.dice.below(3)];
    recall(w.engine, &user, &RecallOptions { at, explain: w.dice.once_in(8), ..RecallOptions::of(query) }).map(drop)
}

/// Reproduces a pack by its id. Only an erasure or a deletion may change it.
fn reproduces(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let pack = context(w.engine, &user, &ContextOptions::of("Where do I live?"))?;
    match reproduce(w.engine, &user, &pack.id) {
        Err(Error::NotFound(_)) | Ok(_) => Ok(()),
        Err(other) => Err(other),
    }
}

/// Records an exchange with a block of code and searches for the code.
fn finds_code(w: &mut Worker<'_>) -> Result<()> {
    let (user, name, word) = (w.user(), w.session(), w.word());
    for (role, text) in [(Role::User, "Show me how."), (Role::Assistant, "```rust\nfn main() {}\n```")] {
        let said = Utterance { role, session: Some(name.clone()), ..Utterance::of_user(format!("{text}\n{word}")) };
        let receipt = remember(w.engine, &user, &said, &RememberOptions::default())?;
        w.acknowledged(&receipt);
    }
    let known = session(w.engine, &user, &name, When::Now)?;
    let key = known.artifacts.last().map(|one| one.key.clone()).ok_or_else(none)?;
    session_artifacts(w.engine, &user, &name, &key, When::Now).map(drop)
}
