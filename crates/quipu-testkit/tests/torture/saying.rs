//! Operations that record messages, and their consequences.

use std::fs;

use quipu_core::event::{Actor, SourceKind};
use quipu_core::id::ItemKind;
use quipu_core::item::TruthKind;
use quipu_core::source::Role;
use quipu_engine::agent_files::{self, FileChange, arrange};
use quipu_engine::import::{ImportFormat, ReadOptions};
use quipu_engine::ingest::record_sources;
use quipu_engine::memories::{note_about, take_back};
use quipu_engine::{
    Budget, ConsolidateOptions, EntryPoint, EvolveOptions, ExtractWithModelOptions, IngestOptions, MaintainOptions,
    MemoryRef, MigrateOptions, RememberOptions, Result, SummarizeOptions, Until, Utterance, WriteRequest, compact,
    consolidate, due, end_session, evolve, extract_with_model, flush_hits, ingest, ingest_given, keep_hits, maintain,
    maintain_while, maintained_at, migrate, preview_reread, process, reading_cost, reflect, remember, remember_all,
    reread, set_base_truth, summarize, tell_episodes, unset_base_truth, write,
};
use serde_json::json;

use crate::said::Word;
use crate::verb::{Verb, verb};
use crate::worker::{NEEDLE, Worker};

pub(crate) const VERBS: &[Verb] = &[
    verb("remember", 260, says),
    verb("remember_all", 30, says_several),
    verb("process", 60, processes),
    verb("write", 15, writes),
    verb("migrate", 6, migrates),
    verb("ingest", 6, ingests_a_file),
    verb("ingest_given", 6, ingests_bytes),
    verb("ingest::record_sources", 6, records_sources),
    verb("memories::note_about", 8, notes_about),
    verb("memories::take_back", 6, takes_back),
    verb("agent_files::arrange", 15, arranges),
    verb("set_base_truth", 12, sets_base_truth),
    verb("unset_base_truth", 6, unsets_base_truth),
    verb("consolidate", 6, |w| {
        let (user, session) = (w.user(), w.session());
        consolidate(w.engine, &user, &session).map(drop)
    }),
    verb("end_session", 6, |w| {
        let (user, session) = (w.user(), w.session());
        end_session(w.engine, &user, &session).map(drop)
    }),
    verb("summarize", 12, |w| {
        let user = w.user();
        let session = w.dice.once_in(2).then(|| w.session());
        summarize(w.engine, &user, &SummarizeOptions { session, again: w.dice.once_in(3) }).map(drop)
    }),
    verb("tell_episodes", 8, |w| {
        let user = w.user();
        tell_episodes(w.engine, &user).map(drop)
    }),
    verb("reread", 8, |w| {
        let user = w.user();
        reread(w.engine, &user).map(drop)
    }),
    verb("preview_reread", 4, |w| {
        let user = w.user();
        preview_reread(w.engine, &user).map(drop)
    }),
    verb("extract_with_model", 10, |w| {
        let user = w.user();
        let options =
            ExtractWithModelOptions { from_the_start: w.dice.once_in(4), ..ExtractWithModelOptions::default() };
        extract_with_model(w.engine, &user, &options).map(drop)
    }),
    verb("reading_cost", 6, |w| {
        let user = w.user();
        let options =
            ExtractWithModelOptions { from_the_start: w.dice.once_in(2), ..ExtractWithModelOptions::default() };
        reading_cost(w.engine, &user, &options).map(drop)
    }),
    verb("reflect", 8, |w| {
        let user = w.user();
        reflect(w.engine, &user, &ConsolidateOptions::default()).map(drop)
    }),
    verb("evolve", 8, |w| {
        let user = w.user();
        evolve(w.engine, &user, &EvolveOptions { apply: w.dice.once_in(3), ..EvolveOptions::default() }).map(drop)
    }),
    verb("compact", 8, |w| {
        let user = w.user();
        let memory = w.at(&user)?;
        compact(w.engine, memory, &ConsolidateOptions::default()).map(drop)
    }),
    verb("maintain", 8, |w| {
        let user = w.user();
        let report = maintain(w.engine, &user, &MaintainOptions::default())?;
        w.about = format!("{user} {report:?}");
        assert!(!w.about.contains("a bug in quipu"), "{}", w.about);
        Ok(())
    }),
    verb("maintain_while", 6, |w| {
        let (user, mut pieces) = (w.user(), w.dice.below(6));
        let mut go_on = || {
            pieces = pieces.saturating_sub(1);
            pieces > 0
        };
        maintain_while(w.engine, &user, &MaintainOptions::default(), &mut go_on).map(drop)
    }),
    verb("maintained_at", 4, |w| {
        let user = w.user();
        maintained_at(w.engine, &user).map(drop)
    }),
    verb("due", 8, |w| {
        let user = w.user();
        due(w.engine, &user).map(drop)
    }),
    verb("keep_hits", 8, |w| {
        let user = w.user();
        keep_hits(w.engine, &user)
    }),
    verb("flush_hits", 8, |w| {
        let user = w.user();
        flush_hits(w.engine, &user).map(drop)
    }),
];

fn says(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    match w.dice.below(10) {
        0..5 => {
            let options = RememberOptions { durable_only: w.dice.once_in(2), ..RememberOptions::default() };
            w.says(MemoryRef::of(&user), &options)?;
        }
        5 => {
            let memory = w.at(&user)?;
            w.says(memory, &RememberOptions { words_only: true, ..RememberOptions::default() })?;
        }
        6 => says_with_a_key(w)?,
        _ => {
            let said = Utterance { role: Role::Assistant, session: Some(w.session()), ..Utterance::of_user("Noted.") };
            let options = RememberOptions { durable_only: w.dice.once_in(2), ..RememberOptions::default() };
            let receipt = remember(w.engine, &user, &said, &options)?;
            w.acknowledged(&receipt);
        }
    }
    Ok(())
}

/// Sends the same request twice, possibly to two engines: the result is one event.
fn says_with_a_key(w: &mut Worker<'_>) -> Result<()> {
    let (user, word) = (w.user(), w.word());
    // Keys outlast an erasure of the words, so the key must not contain them.
    let key = word.replace(NEEDLE, "key ");
    let options = RememberOptions { idempotency_key: Some(key), ..RememberOptions::default() };
    let said = w.sentence(&word);
    let sent = w.world.said.step();
    let first = remember(w.engine, &user, &said, &options)?;
    let item = *first.items.first().expect("an acknowledged sentence has an item");
    let (user, acknowledged) = (user, w.world.said.step());
    w.world.said.register().kept.push(Word { user: user.clone(), word, item, seq: first.seq, sent, acknowledged });
    let again = remember(w.other, &user, &said, &options)?;
    let deleted = w.world.said.register().deleted.get(&user).is_some_and(|all| all.iter().any(|(_, end)| *end > sent));
    assert!(deleted || !again.replayed || again.event_id == first.event_id, "{first:?} {again:?}");
    if !again.replayed {
        // The user was deleted in between, possibly not acknowledged yet, so the state of the second event is unknown.
        w.world.said.register().kept.retain(|kept| kept.item != item);
    }
    Ok(())
}

fn says_several(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let words: Vec<String> = (0..1 + w.dice.below(4)).map(|_| w.word()).collect();
    let said: Vec<Utterance> = words.iter().map(|word| w.sentence(word)).collect();
    let sent = w.world.said.step();
    let memory = w.at(&user)?;
    let receipts = remember_all(w.engine, memory, &said, ItemKind::Turn, &RememberOptions::default())?;
    let acknowledged = w.world.said.step();
    assert_eq!(receipts.len(), words.len(), "each sentence has a receipt");
    for (word, receipt) in words.into_iter().zip(&receipts) {
        w.acknowledged(receipt);
        let item = *receipt.items.first().expect("an acknowledged sentence has an item");
        w.world.said.register().kept.push(Word {
            user: user.clone(),
            word,
            item,
            seq: receipt.seq,
            sent,
            acknowledged,
        });
    }
    Ok(())
}

fn processes(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let until = [Until::Indexed, Until::Extracted, Until::Everything][w.dice.below(3)];
    let session = w.dice.once_in(2).then(|| w.session());
    let done = process(w.engine, &user, until, &Budget { session, ..Budget::default() })?;
    done.faults().for_each(|fault| w.lags(Some(fault)));
    Ok(())
}

fn writes(w: &mut Worker<'_>) -> Result<()> {
    let (user, word) = (w.user(), w.word());
    let request = json!({
        "facts": [{"predicate": "likes", "object": word}],
        "notes": [{"text": format!("The user speaks of {word}")}],
        "tasks": [{"title": format!("Buy {word}")}],
        "tenets": [{"kind": "value", "text": format!("{word} matters")}],
    });
    let request: WriteRequest = serde_json::from_value(request).expect("a request");
    let memory = w.at(&user)?;
    write(w.engine, memory, &request, SourceKind::UserSaid).map(drop)
}

fn migrates(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let options = MigrateOptions { dry_run: w.dice.once_in(3), ..MigrateOptions::default() };
    migrate(w.engine, &user, "# About me\n\nI live in Rome.\n\n- I like tea\n", &options).map(drop)
}

fn import(w: &mut Worker<'_>) -> IngestOptions {
    let user = w.user();
    IngestOptions {
        dry_run: w.dice.once_in(4),
        conversation: None,
        extract: true,
        own_words: true,
        me: None,
        into: Some(user.clone()),
        default_user: user,
        read: ReadOptions::default(),
    }
}

fn ingests_a_file(w: &mut Worker<'_>) -> Result<()> {
    let (options, word) = (import(w), w.word());
    let path = w.world.path(&format!("{word}.md"));
    fs::write(&path, format!("# A walk\n\nI met Rui at {word}.\n")).expect("a file can be written");
    let (_, fault) = ingest(w.engine, ImportFormat::Markdown, &path, &options, &mut |_| {});
    fs::remove_file(path).expect("a file can be removed");
    fault.map_or(Ok(()), Err)
}

fn ingests_bytes(w: &mut Worker<'_>) -> Result<()> {
    let (options, word) = (import(w), w.word());
    let line = json!({"messages": [
        {"role": "user", "content": format!("I collect {word}.")},
        {"role": "assistant", "content": "How nice."},
    ]});
    let given = ("chats.jsonl", line.to_string());
    let (_, fault) = ingest_given(w.engine, ImportFormat::OpenAi, (given.0, given.1.as_bytes()), &options, &mut |_| {});
    fault.map_or(Ok(()), Err)
}

fn records_sources(w: &mut Worker<'_>) -> Result<()> {
    use quipu_core::id::ItemId;
    use quipu_core::source::Source;

    let (user, word) = (w.user(), w.word());
    let source = Source {
        id: ItemId { kind: ItemKind::Turn, bits: 0 },
        session: None,
        topic: None,
        role: Role::User,
        author: None,
        said_at: None,
        text: format!("I once saw {word}.").into(),
        artifacts: Vec::new(),
        native_id: None,
    };
    record_sources(w.engine, &user, std::iter::once(vec![source]), "a file").map(drop)
}

fn notes_about(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let item = w.item(&user)?;
    let said = json!({"colour": "green"});
    note_about(w.engine, &user, &item.to_string(), said.as_object().expect("a map")).map(drop)
}

fn takes_back(w: &mut Worker<'_>) -> Result<()> {
    let user = w.user();
    let item = w.item(&user)?;
    take_back(w.engine, &user, &[item.to_string()]).map(drop)
}

fn arranges(w: &mut Worker<'_>) -> Result<()> {
    let (user, name) = (w.user(), format!("notes/{}", w.dice.below(5)));
    let step = match w.dice.below(4) {
        0 => FileChange::Take(name),
        1 => FileChange::Move { from: name, to: format!("notes/{}", w.dice.below(5)), topic: None },
        _ => FileChange::Put { name, text: format!("a page about {}", w.word()), topic: None },
    };
    agent_files::shelf(w.engine, &user, "notes/")?;
    arrange(w.engine, &user, "notes/", &EntryPoint::new("torture", None), &mut |_| Ok(vec![step.clone()])).map(drop)
}

fn sets_base_truth(w: &mut Worker<'_>) -> Result<()> {
    let (user, session, word) = (w.user(), w.session(), w.word());
    let kind = if w.dice.once_in(3) { TruthKind::Exception } else { TruthKind::Goal };
    set_base_truth(w.engine, &user, &session, (kind, &format!("Never forget {word}")), Actor::User).map(drop)
}

fn unsets_base_truth(w: &mut Worker<'_>) -> Result<()> {
    let (user, session) = (w.user(), w.session());
    let known = quipu_engine::session(w.engine, &user, &session, quipu_engine::versions::When::Now)?;
    let truth = w.dice.pick(&known.base_truth).ok_or_else(crate::worker::none)?;
    unset_base_truth(w.engine, &user, &session, &truth.id.to_string(), Actor::User).map(drop)
}
