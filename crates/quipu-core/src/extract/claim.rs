//! Turns the match of a rule into candidates.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use regex::Captures;

use super::language::{News, RuleRequirement, StanceName, VerbMark};
use super::language_rules::{LanguageRules, Rule};
use super::object::{Object, is_edge, to_end_of_number};
use super::persons::ClausePerson;
use super::rules::time_words::Role;
use super::verb::Marks;
use super::when::{NamedTime, Often};
use super::{FactCandidate, Stance, TaskCandidate, TaskKind, TaskNews};
use crate::item::fact::{PRECISION, WEEK};

/// Time roles for starts, for ends, and for any time.
const SINCE: [Role; 2] = [Role::Since, Role::From];
const ENDS: [Role; 2] = [Role::Until, Role::To];
const ANY: [Role; 6] = [Role::At, Role::Until, Role::To, Role::By, Role::Since, Role::From];

/// Pattern groups that are not qualifiers.
const NOT_QUALIFIERS: [&str; 8] = ["object", "owner", "whose", "relation", "approach", "outcome", "not", "name"];

/// Years before which an unknown person counts as historical.
const YEARS_KNOWN_MAX: i16 = 90;
/// Maximum length of the beginning of a clause that is searched for a day, in bytes.
const DAY_BYTES_MAX: usize = 40;
/// Assumed year of a text without a date.
const YEAR_NOW: i16 = 2020;

/// A clause with its times and frequency.
#[derive(Debug)]
pub(super) struct Clause<'a> {
    /// The masked text of the clause.
    pub(super) text: &'a str,
    /// Byte range in the source.
    pub(super) span: Range<usize>,
    pub(super) said_at: Option<Timestamp>,
    pub(super) times: Vec<NamedTime>,
    pub(super) often: Option<Often>,
    /// True if missing capitals carry no information.
    pub(super) casual: bool,
    /// True if the clause describes an arrangement, so that its date is in the future.
    pub(super) is_arranged: bool,
    /// True if it tells of a change that has not happened, so that its date is in the future.
    pub(super) is_intended: bool,
    /// True if it tells of such a change and a time ahead that may be no date: "after Christmas".
    pub(super) is_put_off: bool,
}

/// A match of a rule in a clause.
#[derive(Debug)]
pub(super) struct Match<'a> {
    pub(super) rule: &'a Rule,
    pub(super) groups: &'a Captures<'a>,
    /// Offset of the matched text in the clause.
    pub(super) offset: usize,
    /// End of the matched text in the clause.
    pub(super) end: usize,
    pub(super) who: &'a ClausePerson,
    pub(super) marks: &'a Marks,
    /// Title of the problem mentioned before.
    pub(super) problem: Option<&'a str>,
}

/// Candidates produced by a match.
#[derive(Debug, Default)]
pub(super) struct Claims {
    pub(super) facts: Vec<FactCandidate>,
    pub(super) tasks: Vec<TaskCandidate>,
}

impl Claims {
    pub(super) fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.tasks.is_empty()
    }
}

impl Clause<'_> {
    /// Ranges of times and frequencies, which are not part of an object.
    fn others(&self, offset: usize) -> Vec<Range<usize>> {
        let times = self.times.iter().map(|named| named.range.clone());
        let all = times.chain(self.often.iter().map(|often| often.range.clone()));
        all.filter(|range| range.start >= offset).collect()
    }

    /// Sets the start of a fact's validity to the time named in the clause.
    pub(super) fn since(&self, fact: &mut FactCandidate) {
        let lasting = || {
            let named = self.times.iter().find(|named| named.lasts)?;
            Some((named, named.start(self.said_at, false)?))
        };
        if let Some((named, time)) = self.time(&SINCE, false).or_else(lasting) {
            fact.valid_from = Some(time);
            if SINCE.contains(&named.role) {
                fact.qualifiers.insert("since".to_owned(), named.text.clone());
            }
        }
    }

    /// The day named in the clause, resolved to the future if `ahead`.
    pub(super) fn named_day(&self, ahead: bool) -> Option<Timestamp> {
        self.time(&ANY, ahead).map(|(_, time)| time)
    }

    /// The due date named in the clause.
    pub(super) fn due(&self) -> Option<Timestamp> {
        let (named, time) = self.time(&[Role::By, Role::At, Role::Until, Role::To], true)?;
        // "This year" is due at its end, not at its beginning.
        let is_begun = self.said_at.is_some_and(|said| time < said);
        let end = || named.days(self.said_at)?.ahead.end().at(0, 0, 0, 0).to_zoned(TimeZone::UTC).ok();
        Some(if is_begun { end().map_or(time, |day| day.timestamp()) } else { time })
    }

    /// The first time with one of the roles, resolved.
    fn time(&self, roles: &[Role], ahead: bool) -> Option<(&NamedTime, Timestamp)> {
        let mut fitting = self.times.iter().filter(|named| roles.contains(&named.role) && !named.lasts && !named.vague);
        fitting.find_map(|named| {
            let is_arranged = self.is_arranged && named.role == Role::At && named.names_a_day();
            let is_intended = self.is_intended && !matches!(named.role, Role::Since);
            Some((named, named.start(self.said_at, ahead || is_arranged || is_intended)?))
        })
    }

    /// The end of an "until" time, if it is in the future.
    fn until(&self) -> Option<Timestamp> {
        let named = self.times.iter().find(|named| named.role == Role::Until && !named.lasts && !named.vague)?;
        let last = *named.days(self.said_at)?.ahead.end();
        let end = last.at(23, 59, 59, 0).to_zoned(TimeZone::UTC).ok()?.timestamp();
        self.said_at.is_some_and(|said| end > said).then_some(end)
    }
}

impl LanguageRules {
    /// Builds a clause with the times and the frequency it names.
    pub(super) fn measure<'t>(
        &self,
        text: &'t str,
        span: Range<usize>,
        said_at: Option<Timestamp>,
        casual: bool,
    ) -> Clause<'t> {
        let words = &text[span.clone()];
        let (times, often) = (self.when.times(words), self.when.often(words));
        let times = match &often {
            // "every Friday" does not name a particular Friday.
            Some(often) => times.into_iter().filter(|named| !often.range.contains(&(named.range.end - 1))).collect(),
            None => times,
        };
        let (is_arranged, is_intended) = (self.when.is_arranged(words), self.when.is_intended(words));
        let is_put_off = is_intended && self.when.is_someday(words);
        Clause { text: words, span, said_at, times, often, casual, is_arranged, is_intended, is_put_off }
    }

    /// The day ahead that follows a clause and says nothing else: "they want me earlier, monday 23rd 10am". With `within`
    /// it must be in the same sentence.
    pub(super) fn day_at(&self, text: &str, at: usize, within: bool, said_at: Option<Timestamp>) -> Option<Timestamp> {
        let rest = &text[at..text.floor_char_boundary(at + DAY_BYTES_MAX)];
        let skipped = rest.find(|c: char| c.is_alphanumeric())?;
        if rest[..skipped].contains(|c: char| c == '\n' || (within && ".!?…".contains(c))) {
            return None;
        }
        let clause = self.measure(text, at + skipped..at + rest.len(), said_at, false);
        let is_day = |named: &&NamedTime| {
            let after = clause.text[named.range.end..].trim_start();
            let is_alone = after.strip_prefix("at ").unwrap_or(after).chars().next().is_none_or(|c| !c.is_alphabetic());
            named.range.start == 0 && named.role == Role::At && !named.lasts && !named.vague && is_alone
        };
        clause.times.iter().find(is_day)?.start(said_at, true)
    }

    /// Builds the candidates of a match; none if the rule's conditions do not hold.
    pub(super) fn claims(&self, clause: &Clause<'_>, found: &Match<'_>) -> Claims {
        let rule = &found.rule.text;
        // "You love it" may be a guess rather than a claim.
        let guess = found.who.second && !rule.single;
        // A place of birth of an unknown person usually comes from a book.
        let unknown = !found.who.first && !found.who.second && found.who.relation.is_none();
        let stranger = unknown && (rule.past == "holds" || self.is_of_old(clause));
        let idle = found.rule.unless.as_ref().is_some_and(|unless| unless.is_match(clause.text));
        if guess || stranger || idle || (!rule.third && !found.who.first) {
            return Claims::default();
        }
        let on = |named: &NamedTime| named.role == Role::At || (rule.ahead && named.role != Role::By);
        let dated = clause.times.iter().any(|named| on(named) && !named.lasts && !named.vague);
        let past = |said_at| clause.time(&[Role::At], true).is_some_and(|(_, time)| is_over(time, said_at));
        match rule.needs {
            Some(RuleRequirement::Date) if !dated || (rule.ahead && clause.said_at.is_some_and(past)) => {
                return Claims::default();
            }
            Some(RuleRequirement::Frequency) if clause.often.is_none() => return Claims::default(),
            _ => {}
        }
        match rule.task {
            Some(kind) => Claims { tasks: self.tasks(clause, found, kind), ..Claims::default() },
            None => Claims { facts: self.facts(clause, found), ..Claims::default() },
        }
    }

    /// Returns true if the clause names a year too long ago for an acquaintance.
    fn is_of_old(&self, clause: &Clause<'_>) -> bool {
        let years = clause.times.iter().filter_map(|named| named.start(clause.said_at, false));
        let said = clause.said_at.map_or(YEAR_NOW, |time| time.to_zoned(TimeZone::UTC).year());
        years.map(|time| time.to_zoned(TimeZone::UTC).year()).any(|year| said - year > YEARS_KNOWN_MAX)
    }

    fn facts(&self, clause: &Clause<'_>, found: &Match<'_>) -> Vec<FactCandidate> {
        let rule = &found.rule.text;
        let Some((predicate, stance)) = self.stance(clause, found) else { return Vec::new() };
        let mut facts = Vec::new();
        let (valid_from, valid_to) = match self.with_own_times(clause, found) {
            Some(part) => stretch(&part, found, &stance),
            None => stretch(clause, found, &stance),
        };
        for object in self.objects_of(clause, found) {
            let Some(predicate) = self.predicate(found, &predicate, &object) else { continue };
            let changes = matches!(stance, Stance::Ended | Stance::Changed | Stance::Denied);
            if changes && clause.is_put_off && valid_from.is_none() && valid_to.is_none() {
                continue;
            }
            let mut qualifiers = self.qualifiers(clause, found, &object, &stance);
            let is_from = |named: &NamedTime| named.start(clause.said_at, rule.ahead) == valid_from;
            if valid_from.is_some() && clause.times.iter().any(|named| named.is_a_week() && is_from(named)) {
                qualifiers.insert(PRECISION.to_owned(), WEEK.to_owned());
            }
            facts.push(FactCandidate {
                subject: found.who.name.clone(),
                qualifiers,
                predicate,
                object: object.text,
                span: clause.span.clone(),
                stance: stance.clone(),
                valid_from,
                valid_to,
                confidence: rule.confidence.min(found.who.sure),
            });
        }
        facts
    }

    /// The clause with the times that belong to the object, where others are of another part: in "I left Tesco in March
    /// and joined Lidl in April" only April is of Lidl.
    fn with_own_times<'t>(&self, clause: &Clause<'t>, found: &Match<'_>) -> Option<Clause<'t>> {
        if clause.times.len() < 2 {
            return None;
        }
        let object = found.groups.name("object").or_else(|| found.groups.get(0))?.range();
        let (start, end) = (object.start + found.offset, object.end + found.offset);
        let joints = self.splitter.joints(clause.text);
        let is_apart = |named: &NamedTime| {
            let is_after = |joint: &Range<usize>| end <= joint.start && joint.end <= named.range.start;
            let is_before = |joint: &Range<usize>| named.range.end <= joint.start && joint.end <= start;
            joints.iter().any(|joint| is_after(joint) || is_before(joint))
        };
        let (others, own): (Vec<NamedTime>, Vec<NamedTime>) = clause.times.iter().cloned().partition(is_apart);
        let is_some = !own.is_empty() && !others.is_empty();
        is_some.then(|| Clause { times: own, span: clause.span.clone(), often: clause.often.clone(), ..*clause })
    }

    fn objects_of(&self, clause: &Clause<'_>, found: &Match<'_>) -> Vec<Object> {
        let rule = &found.rule.text;
        if let Some(value) = &rule.value {
            return vec![Object { text: value.clone(), raw: value.clone() }];
        }
        let Some(object) = found.groups.name("object") else { return Vec::new() };
        let end = to_end_of_number(clause.text, (object.end() + found.offset).min(found.end));
        let range = object.start() + found.offset..end;
        self.objects.read(&rule.object, clause.text, range, &clause.others(found.offset), clause.casual)
    }

    /// The predicate and stance of a claim.
    fn stance(&self, clause: &Clause<'_>, found: &Match<'_>) -> Option<(String, Stance)> {
        let (rule, marks) = (&found.rule.text, found.marks);
        let same = rule.predicate.clone();
        if marks.has(VerbMark::Ended) {
            return match rule.ended.as_deref() {
                None => Some((same, Stance::Ended)),
                Some("none") => None,
                Some(other) => Some((other.to_owned(), Stance::Changed)),
            };
        }
        if marks.has(VerbMark::Negated) {
            return match rule.negated.as_str() {
                "denied" => Some((same, Stance::Denied)),
                "none" => None,
                other => Some((other.to_owned(), Stance::Holds)),
            };
        }
        if rule.only_negated {
            return None;
        }
        let lasts = clause.times.iter().any(|named| SINCE.contains(&named.role) || named.lasts);
        let past = marks.has(VerbMark::Held) || marks.has(VerbMark::PastBe);
        let stance = match rule.stance {
            StanceName::Holds if past && rule.past == "none" => return None,
            StanceName::Holds if past && rule.past == "held" => Stance::Held,
            StanceName::Holds if marks.has(VerbMark::Recent) => Stance::Changed,
            StanceName::Holds => Stance::Holds,
            StanceName::Held if marks.has(VerbMark::Perfect) && lasts => Stance::Holds,
            StanceName::Held => Stance::Held,
            StanceName::Changed => Stance::Changed,
            StanceName::Ended => Stance::Ended,
            StanceName::Denied => Stance::Denied,
        };
        Some((same, stance))
    }

    /// The predicate for this object, by the named relation or by the list that contains it.
    fn predicate(&self, found: &Match<'_>, predicate: &str, object: &Object) -> Option<String> {
        if predicate == "{relation}" {
            let relation = found.groups.name("relation")?.as_str();
            return self.objects.told(&self.relations, relation).map(str::to_owned);
        }
        let rule = &found.rule.text;
        // The predicate of a negation has its own variant for food: likes → dislikes, likes_food → dislikes_food.
        let listed = rule.by_list.iter().find(|(list, _)| self.objects.is_in(list, &object.text));
        match listed {
            Some((_, named)) if predicate == rule.predicate => Some(named.clone()),
            Some((_, named)) => named.strip_prefix(&rule.predicate).map(|end| format!("{predicate}{end}")),
            None => Some(predicate.to_owned()),
        }
    }

    fn qualifiers(
        &self,
        clause: &Clause<'_>,
        found: &Match<'_>,
        object: &Object,
        stance: &Stance,
    ) -> BTreeMap<String, String> {
        let rule = &found.rule.text;
        let mut qualifiers = rule.qualifiers.clone();
        for name in found.rule.groups.iter().filter(|name| !NOT_QUALIFIERS.contains(&name.as_str())) {
            if let Some(value) = found.groups.name(name) {
                qualifiers.insert(name.clone(), value.as_str().trim().to_owned());
            }
        }
        for (name, table) in &rule.told_by {
            let last = object.text.split_whitespace().last().unwrap_or_default();
            let told = self.objects.told(table, &object.text).or_else(|| self.objects.told(table, last));
            if let Some(value) = told {
                qualifiers.insert(name.clone(), value.to_owned());
            }
        }
        if let Some(relation) = found.groups.name("relation") {
            self.relation_qualifiers(&mut qualifiers, relation.as_str());
        }
        if let Some(often) = &clause.often {
            qualifiers.insert("frequency".to_owned(), often.value.clone());
        }
        let at = |named: &&NamedTime| named.role == Role::At && !named.vague && !named.lasts;
        if let (Some(name), Some(date)) = (&rule.dated_as, clause.times.iter().find(at)) {
            qualifiers.insert(name.clone(), date.text.clone());
        }
        if matches!(stance, Stance::Holds | Stance::Changed)
            && let Some(since) = clause.times.iter().find(|named| SINCE.contains(&named.role) && !named.vague)
        {
            qualifiers.insert("since".to_owned(), since.text.clone());
        }
        qualifiers
    }

    /// Adds the kind of relative or the species of an animal.
    pub(super) fn relation_qualifiers(&self, qualifiers: &mut BTreeMap<String, String>, relation: &str) {
        let relation = relation.to_lowercase();
        let one = relation.strip_suffix('s').filter(|one| self.objects.told(&self.relations, one).is_some());
        let one = one.unwrap_or(&relation);
        match self.objects.told(&self.species, one) {
            Some(species) => qualifiers.insert("species".to_owned(), species.to_owned()),
            None => qualifiers.insert("relation".to_owned(), one.to_owned()),
        };
    }

    fn tasks(&self, clause: &Clause<'_>, found: &Match<'_>, kind: TaskKind) -> Vec<TaskCandidate> {
        let rule = &found.rule.text;
        let over = found.marks.has(VerbMark::Ended) || found.marks.has(VerbMark::Negated);
        if over && rule.negated == "none" {
            return Vec::new();
        }
        let group = |name: &str| found.groups.name(name).map(|found| found.as_str().trim());
        if group("approach").is_some_and(|approach| self.objects.points(approach)) {
            return Vec::new();
        }
        let tried = |successful: Option<bool>| TaskNews::Tried {
            approach: group("approach").unwrap_or_default().trim_matches(is_edge).to_owned(),
            outcome: group("outcome").unwrap_or_default().trim_matches(is_edge).to_owned(),
            successful,
        };
        let news = match rule.news {
            News::Opened if over => TaskNews::Dropped,
            News::Opened => TaskNews::Opened,
            News::Done => TaskNews::Done,
            News::Dropped => TaskNews::Dropped,
            News::Tried => tried(None),
            News::Helped => tried(Some(!found.marks.has(VerbMark::Negated))),
            News::Failed => tried(Some(false)),
        };
        let due = clause.due().filter(|_| news == TaskNews::Opened && kind != TaskKind::Problem);
        let confidence = rule.confidence.min(found.who.sure);
        let of = |title: Object| TaskCandidate {
            kind,
            title: title.text,
            span: clause.span.clone(),
            news: news.clone(),
            due,
            confidence,
        };
        if found.groups.name("object").is_none() && rule.value.is_none() {
            // "I tried magnesium, but it didn't help": the title is the problem mentioned before, or else the attempt.
            let title = found.problem.or(group("approach")).unwrap_or_default().trim_matches(is_edge);
            let title = Object { text: title.to_owned(), raw: title.to_owned() };
            return if title.text.is_empty() { Vec::new() } else { vec![of(title)] };
        }
        self.objects_of(clause, found).into_iter().map(of).collect()
    }
}

/// Returns true if a day is before `said_at`. A week, month or year that is still in progress is not over, although it
/// began before.
fn is_over(begins: Timestamp, said_at: Timestamp) -> bool {
    let [begins, said] = [begins, said_at].map(|time| time.to_zoned(TimeZone::UTC).date());
    let first = |month: i8| (begins.year(), begins.month(), begins.day()) == (said.year(), month, 1);
    let week = said.iso_week_date().first_of_week().is_ok_and(|monday| monday.date() == begins);
    begins < said && !first(1) && !first(said.month()) && !week
}

/// Start and end of the claim's validity.
fn stretch(clause: &Clause<'_>, found: &Match<'_>, stance: &Stance) -> (Option<Timestamp>, Option<Timestamp>) {
    let (rule, marks) = (&found.rule.text, found.marks);
    let time = |roles: &[Role]| clause.time(roles, rule.ahead).map(|(_, time)| time);
    let length = || {
        let mut lasting = clause.times.iter().filter(|named| named.lasts);
        lasting.find_map(|named| named.start(clause.said_at, false))
    };
    match stance {
        Stance::Holds | Stance::Changed | Stance::Corrects { .. } => {
            let exact =
                rule.stance == StanceName::Changed || rule.ahead || rule.dated || (rule.single && rule.past != "holds");
            // "moved to Friday" means on Friday.
            let at = || time(&[Role::At]).or_else(|| time(&ENDS).filter(|_| rule.ahead));
            let from = time(&SINCE).or_else(|| exact.then(at).flatten());
            let until = clause.until().filter(|_| !rule.ahead && rule.stance == StanceName::Holds);
            (from.or_else(|| length().filter(|_| marks.has(VerbMark::Perfect))), until)
        }
        Stance::Held => (time(&[Role::Since, Role::From, Role::At]), time(&ENDS)),
        Stance::Ended => (None, time(&[Role::At, Role::Until, Role::To, Role::Since, Role::From])),
        Stance::Denied => (None, None),
    }
}
