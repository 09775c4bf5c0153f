//! Validates the operations of a model.
//!
//! An operation is accepted if its quote occurs in a new message of a person; its value, names and numbers were
//! mentioned; the item it refers to was shown; and it does not present pasted text or an instruction as the user's
//! word. The checks are independent of the language, except for denials, which only lead to a review.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::grounding::{self, Vocabulary};
use super::{
    CheckedReply, Kind, KnownItem, ModelClaim, ModelReply, ModelTask, Op, Operation, RefusedOperation, Speaker, Window,
    WindowView,
};
use crate::extract::split::{MASK, mask};
use crate::extract::{FactCandidate, Stance, TaskCandidate, TaskKind, TaskNews, USER};
use crate::guard;
use crate::id::ItemId;
use crate::predicate::{Predicates, normal, slug};

/// Maximum length of a value and of a sentence, in bytes.
const VALUE_BYTES_MAX: usize = 160;
const SENTENCE_BYTES_MAX: usize = 320;
/// Minimum share of a value's words that must have been mentioned.
const VALUE_SAID_MIN: f64 = 0.5;
/// Minimum share of the words of a sentence that has no word of its value.
const SENTENCE_SAID_MIN: f64 = 2.0 / 3.0;
/// Maximum number of operations accepted per window.
const OPERATIONS_MAX: usize = 200;
/// Dates farther from the message than this are treated as errors.
const YEARS_BEFORE_MAX: i16 = 120;
const YEARS_AFTER_MAX: i16 = 30;
/// Confidence of a claim in the user's own words.
const CONFIDENCE: f64 = 0.9;
/// Refusal of a value with names or numbers of its own.
const NOT_SAID: &str = "its value was not said";
/// Default predicates by kind.
const EVENT: &str = "did";
const PLAN: &str = "plans";
const RULE: &str = "constraint";
const PREFERENCE: &str = "prefers";

/// Groups an answer by the sources it quotes and gives a reason for every operation that is rejected.
pub fn check(window: &Window, predicates: &Predicates, answer: &ModelReply) -> CheckedReply {
    let mut taken = CheckedReply::new();
    let new = || window.messages.iter().filter(|message| message.is_new && message.speaker != Speaker::Assistant);
    let Some(first) = new().next() else { return taken };
    let said = window.messages.iter().map(|message| message.text.as_str());
    let known = window.known.iter().map(|item| item.text.as_str());
    let judge = Judge { window, predicates, vocabulary: Vocabulary::of(said.chain(known)) };
    for operation in answer.operations.iter().take(OPERATIONS_MAX) {
        let quoted = new().find(|message| message.mark == operation.message);
        let at = taken.entry(quoted.unwrap_or(first).source).or_default();
        match judge.operation(operation, quoted) {
            Ok(AcceptedOperation::Claim(claim)) => at.claims.push(*claim),
            Ok(AcceptedOperation::Task(task)) => {
                at.task_claims.extend(judge.given_up(operation, &task));
                at.task_claims.push(*task);
            }
            Err((span, reason)) => at.refused.push(RefusedOperation {
                said: said_of(operation),
                relation: if operation.relation.is_empty() {
                    "operation".to_owned()
                } else {
                    slug(&operation.relation)
                },
                span,
                reason: reason.to_owned(),
            }),
        }
    }
    misread(window, answer, &mut taken);
    taken
}

/// Collects the items of rules that the model rejects, unless an operation refers to them.
fn misread(window: &Window, answer: &ModelReply, taken: &mut CheckedReply) {
    let judged: BTreeMap<&str, bool> = answer.readings.iter().map(|one| (one.id.as_str(), one.right)).collect();
    let used: Vec<&str> = answer.operations.iter().map(|one| one.id.as_str()).collect();
    for item in &window.known {
        let Some(message) =
            item.read_in.as_deref().and_then(|mark| window.messages.iter().find(|one| one.mark == mark))
        else {
            continue;
        };
        let wrong = judged.get(item.mark.as_str()).is_some_and(|right| !right);
        if wrong && !used.contains(&item.mark.as_str()) {
            taken.entry(message.source).or_default().misread.push(item.id);
        }
    }
}

enum AcceptedOperation {
    Claim(Box<ModelClaim>),
    Task(Box<ModelTask>),
}

type Refusal = (Range<usize>, &'static str);

struct Judge<'a> {
    window: &'a Window,
    predicates: &'a Predicates,
    vocabulary: Vocabulary,
}

impl Judge<'_> {
    fn operation(&self, operation: &Operation, quoted: Option<&WindowView>) -> Result<AcceptedOperation, Refusal> {
        let nowhere = |reason| (0..0, reason);
        let message = quoted.ok_or(nowhere("it cites no new message of a person"))?;
        let span = grounding::place(&message.text, &operation.quote)
            .ok_or(nowhere("its quote does not occur in the message"))?;
        let refuse = |reason| (span.clone(), reason);
        if is_pasted(&message.text, &span) {
            return Err(refuse("its quote is part of quoted or pasted text"));
        }
        let is_rule = operation.kind == Kind::Rule;
        let instructs = guard::looks_like_instructions(&operation.sentence)
            || guard::looks_like_instructions(&operation.value)
            || (!is_rule && guard::looks_like_instructions(&message.text[span.clone()]));
        if instructs && !(is_rule && message.speaker == Speaker::User) {
            return Err(refuse("it reads like an instruction"));
        }
        let target = self.target(operation).map_err(refuse)?;
        let is_task = matches!(operation.kind, Kind::Task | Kind::Goal | Kind::Problem)
            || matches!(operation.op, Op::Tried | Op::Done | Op::Dropped);
        match target.filter(|item| item.claim.is_some()) {
            None if is_task || target.is_some() => {
                let changed = matches!(operation.op, Op::Update | Op::Correct) && !operation.value.trim().is_empty();
                self.task(operation, message, &span, target.filter(|_| !changed)).map_err(refuse)
            }
            _ => self.claim(operation, message, &span, target).map_err(refuse),
        }
    }

    /// Drops a task that became another one, since titles do not change.
    fn given_up(&self, operation: &Operation, task: &ModelTask) -> Option<ModelTask> {
        let held = self.window.known.iter().find(|item| item.mark == operation.id && item.claim.is_none())?;
        let is_other = matches!(operation.op, Op::Update | Op::Correct) && task.target.is_none();
        let candidate =
            TaskCandidate { title: held.text.clone(), news: TaskNews::Dropped, due: None, ..task.candidate.clone() };
        is_other.then_some(ModelTask { candidate, target: Some(held.id) })
    }

    fn target(&self, operation: &Operation) -> Result<Option<&KnownItem>, &'static str> {
        if operation.id.is_empty() {
            return Ok(None);
        }
        let found = self.window.known.iter().find(|item| item.mark == operation.id);
        match found {
            None if operation.op == Op::Add => Ok(None),
            None => Err("it names an item that was not shown"),
            found => Ok(found),
        }
    }

    fn claim(
        &self,
        operation: &Operation,
        message: &WindowView,
        span: &Range<usize>,
        target: Option<&KnownItem>,
    ) -> Result<AcceptedOperation, &'static str> {
        let held = target.and_then(|item| item.claim.as_ref());
        let needs_target = matches!(operation.op, Op::Update | Op::Correct | Op::Confirm);
        if needs_target && held.is_none() && operation.value.trim().is_empty() {
            return Err("it names no item and no value");
        }
        let subject = self.subject(operation, message, held)?;
        let relation = self.relation(operation, held);
        let keeps = matches!(operation.op, Op::End | Op::Confirm);
        let value = match (held, operation.value.trim()) {
            (Some(held), value) if keeps || value.is_empty() => held[2].clone(),
            (_, value) => value.trim_end_matches(['.', ',', '!']).to_owned(),
        };
        let sentence = operation.sentence.trim();
        let is_said = self.grounded(&value, sentence, operation, message, keeps && held.is_some())?;
        let [from, to] = self.dates(operation, message, span);
        let stance = match (operation.op, held) {
            (Op::End | Op::Dropped | Op::Done, _) => Stance::Ended,
            (Op::Update, Some(_)) => Stance::Changed,
            (Op::Correct, held) => Stance::Corrects { not: held.map(|held| held[2].clone()) },
            _ if to.is_some_and(|to| message.said_at.is_some_and(|said| to <= said)) => Stance::Held,
            _ => Stance::Holds,
        };
        let claims = matches!(stance, Stance::Holds | Stance::Changed | Stance::Corrects { .. });
        let turned = claims
            && !keeps
            && operation.kind != Kind::Rule
            && grounding::denied(&message.text, span, &value)
            && !grounding::denies(sentence)
            && !is_denying(&relation);
        let mut qualifiers = BTreeMap::new();
        if let Some(since) = Some(operation.from.trim()).filter(|since| from.is_some() && since.len() < 10) {
            qualifiers.insert("since".to_owned(), since.to_owned());
        }
        let role = slug(&operation.relation);
        if self.predicates.get(&relation).roles.contains(&role) {
            let name = if relation == "pet" { "species" } else { "relation" };
            qualifiers.insert(name.to_owned(), role.replace('_', " "));
        }
        let candidate = FactCandidate {
            subject,
            predicate: relation,
            object: value,
            span: span.clone(),
            stance,
            valid_from: from.filter(|_| claims || to.is_some()),
            valid_to: to,
            confidence: CONFIDENCE,
            qualifiers,
        };
        Ok(AcceptedOperation::Claim(Box::new(ModelClaim {
            candidate,
            sentence: sentence.trim_end_matches('.').to_owned(),
            fact_type: operation.kind.fact_type(),
            is_metric: operation.kind == Kind::Metric,
            target: target.filter(|item| item.claim.is_some()).map(|item| item.id),
            doubt: match (turned, is_said) {
                (true, _) => Some("the words before it may deny it".to_owned()),
                (false, false) => Some("it is worded differently from the messages".to_owned()),
                (false, true) => None,
            },
        })))
    }

    fn subject(
        &self,
        operation: &Operation,
        message: &WindowView,
        held: Option<&[String; 3]>,
    ) -> Result<String, &'static str> {
        let about = operation.about.trim();
        if about.is_empty() {
            return Ok(held.map_or_else(|| USER.to_owned(), |held| held[0].clone()));
        }
        let is_speaker = match &message.speaker {
            Speaker::User => [USER, "the user", "i", "me"].contains(&normal(about).as_str()),
            Speaker::Person(name) => normal(about) == normal(name),
            Speaker::Assistant => false,
        };
        if is_speaker {
            return Ok(match &message.speaker {
                Speaker::Person(name) => name.clone(),
                _ => USER.to_owned(),
            });
        }
        if normal(about) == USER {
            return Err("somebody else says this about the user");
        }
        // "My mum" may be called the mother.
        let is_role = self.predicates.of_role(&slug(about)).is_some();
        if about.len() > VALUE_BYTES_MAX || (!is_role && self.vocabulary.share_said(about) < VALUE_SAID_MIN) {
            return Err("its subject was not mentioned");
        }
        Ok(about.to_owned())
    }

    fn relation(&self, operation: &Operation, held: Option<&[String; 3]>) -> String {
        let named = slug(&operation.relation);
        match (held, operation.kind) {
            (Some(held), _) if named.is_empty() || matches!(operation.op, Op::End | Op::Confirm | Op::Correct) => {
                held[1].clone()
            }
            (_, Kind::Event) if named.is_empty() => EVENT.to_owned(),
            (_, Kind::Plan) if named.is_empty() => PLAN.to_owned(),
            (_, Kind::Rule) if named.is_empty() => RULE.to_owned(),
            (_, Kind::Preference) if named.is_empty() => PREFERENCE.to_owned(),
            _ if named.is_empty() => "is".to_owned(),
            _ if self.predicates.has(&named) => named,
            _ => self.predicates.of_role(&named).map_or(named.clone(), str::to_owned),
        }
    }

    /// Fails unless the content was mentioned; returns false if the value is paraphrased, or the sentence
    /// says something else.
    fn grounded(
        &self,
        value: &str,
        sentence: &str,
        operation: &Operation,
        message: &WindowView,
        is_held: bool,
    ) -> Result<bool, &'static str> {
        let usable =
            |text: &str, most: usize| !text.is_empty() && text.len() <= most && !text.chars().any(char::is_control);
        if !usable(value, VALUE_BYTES_MAX) {
            return Err("it has no value of a usable length");
        }
        let is_said = is_held || self.vocabulary.share_said(value) >= VALUE_SAID_MIN;
        if sentence.is_empty() && is_held {
            return Ok(true);
        }
        if !usable(sentence, SENTENCE_BYTES_MAX) {
            return Err("it has no sentence of a usable length");
        }
        let dates = [operation.from.as_str(), operation.to.as_str()].join("-");
        let day = message.said_at.map(|at| at.to_zoned(TimeZone::UTC).date());
        let is_known =
            |word: &str| word == USER || is_of_date(word, &dates, day) || operation.about.to_lowercase().contains(word);
        let invented = |text: &str| self.vocabulary.invented(text, &is_known).is_some();
        match invented(sentence) || invented(&format!("x {value}")) {
            true if is_said => Err("a name or a number in it was not said"),
            true => Err(NOT_SAID),
            // A sentence about something else than its value would be shown in the value's place.
            false => Ok(is_said
                && (is_held
                    || grounding::has_word_of(sentence, value)
                    || self.vocabulary.share_said(&sentence.replacen("User", "", 1)) >= SENTENCE_SAID_MIN)),
        }
    }

    /// The dates of an operation. If its quote contains exactly one date that can be resolved and the model's date
    /// disagrees, the quoted date is used.
    fn dates(&self, operation: &Operation, message: &WindowView, span: &Range<usize>) -> [Option<Timestamp>; 2] {
        let [mut from, mut to] = [&operation.from, &operation.to].map(|date| date_near(date, message.said_at));
        let mut named = message.dates.iter().filter(|one| span.start <= one.range.start && one.range.end <= span.end);
        let (Some(spoken), None) = (named.next(), named.next()) else { return [from, to] };
        let written = match (&mut from, &mut to) {
            (Some(from), None) => from,
            (None, Some(to)) => to,
            _ => return [from, to],
        };
        let day = written.to_zoned(TimeZone::UTC).date();
        let is_coarse = [&spoken.back, &spoken.ahead].into_iter().any(|days| is_coarse_of(operation, days));
        let is_ahead = matches!(operation.kind, Kind::Plan | Kind::Task | Kind::Goal);
        if !spoken.may_be(day, is_ahead) && !is_coarse {
            let is_ahead = is_ahead || message.said_at.is_some_and(|said| *written > said);
            let days = if is_ahead { &spoken.ahead } else { &spoken.back };
            if let Ok(counted) = days.start().to_zoned(TimeZone::UTC) {
                *written = counted.timestamp();
            }
        }
        [from, to]
    }

    fn task(
        &self,
        operation: &Operation,
        message: &WindowView,
        span: &Range<usize>,
        target: Option<&KnownItem>,
    ) -> Result<AcceptedOperation, &'static str> {
        if message.speaker != Speaker::User {
            return Err("only the user's own tasks are kept");
        }
        let title = match (operation.op, target) {
            (Op::Tried, Some(held)) => held.text.as_str(),
            (_, Some(held)) if operation.value.trim().is_empty() => held.text.as_str(),
            _ if operation.value.trim().is_empty() => operation.sentence.trim(),
            _ => operation.value.trim(),
        };
        if target.is_none() || operation.op == Op::Tried {
            let said = if operation.op == Op::Tried { operation.value.trim() } else { title };
            if !self.grounded(said, said, operation, message, false)? {
                return Err(NOT_SAID);
            }
        }
        let kind = match operation.kind {
            Kind::Goal => TaskKind::Goal,
            Kind::Problem => TaskKind::Problem,
            _ => TaskKind::Task,
        };
        let news = match operation.op {
            Op::Tried => TaskNews::Tried {
                approach: operation.value.trim().to_owned(),
                outcome: Some(operation.outcome.trim())
                    .filter(|outcome| self.vocabulary.share_said(outcome) >= VALUE_SAID_MIN)
                    .unwrap_or_default()
                    .to_owned(),
                successful: None,
            },
            Op::Done => TaskNews::Done,
            Op::End if kind == TaskKind::Problem => TaskNews::Done,
            Op::End | Op::Dropped => TaskNews::Dropped,
            _ => TaskNews::Opened,
        };
        if news != TaskNews::Opened && target.is_none() && operation.op != Op::Tried {
            return Err("it ends a task that was not shown");
        }
        let [from, to] = self.dates(operation, message, span);
        let due = from.or(to);
        let candidate = TaskCandidate {
            kind,
            title: title.trim_end_matches(['.', ',', '!']).to_owned(),
            span: span.clone(),
            due: due.filter(|_| news == TaskNews::Opened && kind != TaskKind::Problem),
            news,
            confidence: CONFIDENCE,
        };
        Ok(AcceptedOperation::Task(Box::new(ModelTask { candidate, target: target.map(|item| item.id) })))
    }
}

/// Returns true if at least half of a span is code or quoted.
fn is_pasted(text: &str, span: &Range<usize>) -> bool {
    let (masked, _) = mask(text);
    let Some(shown) = masked.get(span.clone()) else { return false };
    let hidden = shown.chars().filter(|c| *c == MASK).count();
    hidden * 2 > shown.len()
}

/// Returns true for predicates with a negative meaning.
fn is_denying(relation: &str) -> bool {
    ["dislike", "avoid", "allerg", "constraint", "not_", "no_", "never", "hate", "ended", "left", "stopped", "former"]
        .iter()
        .any(|part| relation.contains(part))
}

/// Returns true if a word may be a part of a date: a number, or the name of a month or day.
fn is_of_date(word: &str, dates: &str, said: Option<Date>) -> bool {
    if word.chars().any(|c| c.is_ascii_digit()) {
        let number: String = word.chars().filter(char::is_ascii_digit).collect();
        // Half past two in the afternoon is written 14:30.
        let is_hour = |part: &str| part.parse::<u32>().is_ok_and(|hour| hour > 12 && (hour - 12).to_string() == number);
        let named = dates.split(|c: char| !c.is_ascii_digit()).any(|part| {
            !part.is_empty() && (part.trim_start_matches('0') == number.trim_start_matches('0') || is_hour(part))
        });
        let parts = |day: Date| [day.year().to_string(), day.month().to_string(), day.day().to_string()];
        return named || said.is_some_and(|day| parts(day).contains(&number.trim_start_matches('0').to_owned()));
    }
    // A date may be written with names of months and days that were not mentioned.
    dates.len() > 1
}

/// Returns true if the model wrote only the month or year of the named days.
fn is_coarse_of(operation: &Operation, days: &RangeInclusive<Date>) -> bool {
    [&operation.from, &operation.to].iter().any(|written| {
        let written = written.trim();
        matches!(written.len(), 4 | 7) && days.start().to_string().starts_with(written)
    })
}

/// Parses a date of the model: a year, a month, a day, or a day with a time. `None` if it is invalid or implausibly far
/// away.
fn date_near(written: &str, said_at: Option<Timestamp>) -> Option<Timestamp> {
    let written = written.trim();
    let parsed: DateTime = match written.len() {
        4 => format!("{written}-01-01").parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight()),
        7 => format!("{written}-01").parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight()),
        10 => written.parse::<Date>().ok()?.to_datetime(jiff::civil::Time::midnight()),
        _ => written.trim_end_matches('Z').parse().ok()?,
    };
    let at = parsed.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let year = said_at.map(|said| said.to_zoned(TimeZone::UTC).year());
    let near = year.is_none_or(|year| (year - YEARS_BEFORE_MAX..=year + YEARS_AFTER_MAX).contains(&parsed.year()));
    near.then_some(at)
}

fn said_of(operation: &Operation) -> String {
    let text = if operation.sentence.trim().is_empty() { operation.value.trim() } else { operation.sentence.trim() };
    text.chars().take(VALUE_BYTES_MAX).collect()
}

impl Window {
    /// The id of the item with this mark.
    pub fn item(&self, mark: &str) -> Option<ItemId> {
        self.known.iter().find(|item| item.mark == mark).map(|item| item.id)
    }
}
