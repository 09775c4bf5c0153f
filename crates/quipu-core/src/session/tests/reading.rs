//! Tests the rule-based summariser: original sentences, classified.

use super::super::{KnownEntry, ProposedEntry, RuleBook};
use crate::id::{ItemId, ItemKind};
use crate::item::{Depth, TruthKind};
use crate::limit;

fn known(entries: &[(TruthKind, &str)]) -> Vec<KnownEntry> {
    let known = |(bits, (kind, text)): (usize, &(TruthKind, &str))| KnownEntry {
        id: ItemId { kind: ItemKind::Truth, bits: bits as u64 },
        kind: *kind,
        text: (*text).to_owned(),
    };
    entries.iter().enumerate().map(known).collect()
}

fn entries(all: &[ProposedEntry]) -> Vec<(TruthKind, &str)> {
    all.iter().map(|entry| (entry.kind(), entry.text())).collect()
}

#[test]
fn sentences_of_the_user_are_sorted() {
    use TruthKind::{Constraint, Decision, Exception, Fact, Goal, Preference, Question, Task};
    for (sentence, kind) in [
        ("Never deploy on a Friday.", Some(Exception)),
        ("Please never share my address.", Some(Exception)),
        ("Under no circumstances delete the backups.", Some(Exception)),
        ("Don't ever call my boss.", Some(Exception)),
        ("You must not use unsafe code.", Some(Exception)),
        ("The agent must never send mail.", Some(Exception)),
        ("I am allergic to peanuts, so never suggest anything with them.", Some(Exception)),
        ("It is a small house and never mention the price to Ana.", Some(Exception)),
        ("I am busy and never cook.", None),
        ("They came late, never offered to help.", None),
        ("Never mind.", None),
        ("I never liked tea.", None),
        ("Is it never cold there?", None),
        ("The report must fit on one page.", Some(Constraint)),
        ("We cannot use Java.", Some(Constraint)),
        ("Don't change the public API.", Some(Constraint)),
        ("The budget is 500 euros.", Some(Constraint)),
        ("My budget for the trip to Lisbon in May is 300 euros.", Some(Constraint)),
        ("My daughter is allergic to nuts.", Some(Constraint)),
        ("Is she allergic to nuts?", None),
        ("The budget talks in May went on for hours.", None),
        ("I don't know.", None),
        ("I can't wait!", None),
        ("Let's go with Postgres.", Some(Decision)),
        ("We decided to drop the cache.", Some(Decision)),
        ("Should we use Redis?", None),
        ("Open question: who signs it?", Some(Question)),
        ("I'm not sure whether to use gRPC.", Some(Question)),
        ("We still need to write the tests.", Some(Task)),
        ("Remind me to call Ana.", Some(Task)),
        ("The goal is a release in May.", Some(Goal)),
        ("I want to learn Italian.", Some(Goal)),
        ("I prefer tabs over spaces.", Some(Preference)),
        ("We use Python 3.12.", Some(Fact)),
        ("Python version: 3.12", Some(Fact)),
        ("My dog is called Rex.", Some(Fact)),
        ("Nice weather today.", None),
        ("Thanks!", None),
    ] {
        let proposal = RuleBook::english().propose(sentence, "", Depth::Medium, &[]);
        let found = entries(&proposal.base_truth_diff.add);
        assert_eq!(found, kind.map(|kind| (kind, sentence)).into_iter().collect::<Vec<_>>(), "{sentence}");
        let short = RuleBook::english().propose(sentence, "", Depth::Short, &[]);
        assert!(short.base_truth_diff.is_empty(), "{sentence}");
    }
}

#[test]
fn an_assistant_decides_and_asks_but_does_not_bind() {
    let reply = "We'll use SQLite. You must never write to it. It is still unclear who backs it up.";
    let diff = RuleBook::english().propose("Which store?", reply, Depth::Medium, &[]).base_truth_diff;
    assert_eq!(
        entries(&diff.add),
        [(TruthKind::Decision, "We'll use SQLite."), (TruthKind::Question, "It is still unclear who backs it up.")]
    );
}

#[test]
fn corrections_take_the_place_of_what_they_correct() {
    use TruthKind::{Decision, Exception, Fact};
    let base = known(&[
        (Fact, "Python version: 3.11"),
        (Fact, "We use PostgreSQL 15."),
        (Decision, "Let's go with a monolith."),
        (Exception, "Never deploy on a Friday."),
    ]);
    for (said, update, remove, add) in [
        ("Python version: 3.12", Some("Python version: 3.12"), None, None),
        ("We use PostgreSQL 16.", Some("We use PostgreSQL 16."), None, None),
        ("We use PostgreSQL 15.", None, None, None),
        ("We use Redis for the cache.", None, None, Some("We use Redis for the cache.")),
        ("Forget about the monolith.", None, Some("Let's go with a monolith."), None),
        ("We no longer use PostgreSQL 15.", None, Some("We use PostgreSQL 15."), None),
        ("Never deploy on a Monday.", None, None, Some("Never deploy on a Monday.")),
        ("Forget never deploy on a Friday.", None, None, None),
    ] {
        let diff = RuleBook::english().propose(said, "", Depth::Medium, &base).base_truth_diff;
        let texts = |all: &[ProposedEntry]| all.iter().map(|one| one.text().to_owned()).collect::<Vec<_>>();
        let of = |text: Option<&str>| text.map(str::to_owned).into_iter().collect::<Vec<_>>();
        assert_eq!((texts(&diff.update), diff.remove, texts(&diff.add)), (of(update), of(remove), of(add)), "{said}");
    }
}

#[test]
fn summaries_are_original_sentences_within_their_bounds() {
    for (user, reply, asked, told) in [
        ("Rename the parser.", "Done, it is called Lexer now.", "Rename the parser.", "Done, it is called Lexer now."),
        ("Hello! Please make it iterative.", "Sure!", "Please make it iterative.", "Sure!"),
        ("```rust\nfn main() {}\n```", "", "Code rust with 1 lines", ""),
    ] {
        let proposal = RuleBook::english().propose(user, reply, Depth::Short, &[]);
        assert_eq!((proposal.user_summary.as_str(), proposal.assistant_summary.as_str()), (asked, told));
    }
    // A constraint at the start of a long message is kept within the limit.
    let chat = "This is one more sentence about nothing at all. ".repeat(30);
    let long = format!("The output must be valid JSON. {chat}");
    let proposal = RuleBook::english().propose(&long, &chat, Depth::Long, &[]);
    assert!(proposal.user_summary.starts_with("The output must be valid JSON."), "{}", proposal.user_summary);
    assert!(proposal.user_summary.split_whitespace().count() <= limit::USER_SUMMARY_WORDS_MAX);
    assert!(proposal.assistant_summary.split_whitespace().count() <= limit::ASSISTANT_SUMMARY_WORDS_MAX);
}

#[test]
fn what_says_the_same_is_proposed_as_one() {
    use TruthKind::{Constraint, Fact};
    let base = known(&[
        (Fact, "We use Rust."),
        (Constraint, "Use Rust only."),
        (Fact, "We use Rust 1.85 on the server."),
        (Fact, "Region: Oslo"),
        (Fact, "region: Bergen"),
        (Fact, "We do not use Rust."),
    ]);
    let merges: Vec<(Vec<u64>, String)> = RuleBook::english()
        .merges(&base)
        .into_iter()
        .map(|merge| (merge.from.iter().map(|id| id.bits).collect(), merge.text))
        .collect();
    assert_eq!(
        merges,
        [(vec![0, 2], "We use Rust 1.85 on the server.".to_owned()), (vec![3, 4], "region: Bergen".to_owned())]
    );
}
