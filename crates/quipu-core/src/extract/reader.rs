//! Reads one text, sentence by sentence and clause by clause.

use std::ops::Range;

use regex::Captures;

use super::claim::{Claims, Clause, Match};
use super::language::{RuleScope, VerbMark};
use super::language_rules::{LanguageRules, RuleSet};
use super::persons::ClausePerson;
use super::split::{mask, trim};
use super::standing::settle;
use super::verb::Marks;
use super::{Extraction, FactCandidate, PassedOver, Reading, TaskKind, USER};
use crate::limit::{CANDIDATES_PER_SOURCE_MAX, SENTENCE_BYTES_MAX};

/// Reasons to skip a sentence whose presuppositions still hold.
const PRESUPPOSES: [&str; 3] = ["reported", "question", "hypothetical"];
const JOINED_MAX: usize = 8;

pub(super) struct Reader<'a> {
    pub(super) rules: &'a LanguageRules,
    pub(super) reading: &'a Reading<'a>,
    pub(super) out: Extraction,
    pub(super) met: Vec<ClausePerson>,
    /// True if the text is a summary about the user; a sentence without a subject is about them.
    summary: bool,
    /// True if missing capitals carry no information.
    casual: bool,
    /// True if several lines begin with a bullet.
    list: bool,
    /// True for a relative clause about the last person named: "my cousin Anna, who grew up in Ulm".
    relative: bool,
    /// True if the last clause with a subject is about somebody else.
    pub(super) about_another: bool,
    another_before: bool,
}

#[derive(Default)]
struct PrecedingClause {
    who: Option<ClausePerson>,
    governs: bool,
    passed: bool,
    first: bool,
    /// True if its verb is a form of "be", so that its last words describe its subject.
    is: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(rules: &'a LanguageRules, reading: &'a Reading<'a>, casual: bool) -> Self {
        Self {
            rules,
            reading,
            out: Extraction::default(),
            met: Vec::new(),
            summary: reading.speaker == USER && !casual,
            casual,
            list: false,
            relative: false,
            about_another: false,
            another_before: false,
        }
    }

    pub(super) fn read(mut self) -> Extraction {
        let (text, hidden) = mask(self.reading.text);
        self.out.passed_over = hidden;
        let sentences = self.rules.splitter.sentences(&text);
        self.list = sentences.iter().filter(|sentence| is_item(&text, sentence)).nth(1).is_some();
        let mut before = 0..0;
        for sentence in sentences {
            let colon = usize::from(text[sentence.end..].starts_with(':'));
            let aside = self.aside(&text[sentence.start..sentence.end + colon], &[RuleScope::After]);
            let is_full = self.out.facts.len() + self.out.tasks.len() >= CANDIDATES_PER_SOURCE_MAX;
            if let Some(reason) = aside.map(|(why, _)| why).or(is_full.then(|| "too many claims".to_owned())) {
                self.pass(trim(&text, sentence.start..text.len()), &reason);
                break;
            }
            if sentence.len() <= SENTENCE_BYTES_MAX {
                self.sentence(&text, sentence.clone(), before);
            } else {
                self.pass(sentence.clone(), "too long");
            }
            before = sentence;
        }
        settle(&mut self.out.facts);
        self.out.passed_over.sort_by_key(|passed| (passed.span.start, passed.span.end));
        self.out
    }

    fn sentence(&mut self, text: &str, sentence: Range<usize>, before: Range<usize>) {
        self.another_before = self.about_another;
        let (whole, mut sentence) = (sentence.clone(), sentence);
        if let Some(tail) = self.rules.splitter.question_tail(&text[sentence.clone()]) {
            let asked = sentence.start + tail..sentence.end;
            self.pass(trim(text, asked), "question");
            sentence = trim(text, sentence.start..sentence.start + tail);
        }
        let mut aside = self.aside(&text[sentence.clone()], &[RuleScope::Sentence, RuleScope::Before]);
        aside.take_if(|(reason, over)| *over == RuleScope::Before && reason == "taken_back" && before.is_empty());
        self.standing(text, &whole, aside.as_ref().map(|(reason, _)| reason.as_str()));
        if let Some((reason, over)) = aside {
            if over == RuleScope::Before {
                self.take_back(&before, &reason);
            }
            if PRESUPPOSES.contains(&reason.as_str()) {
                self.in_passing(text, &sentence);
            }
            self.pass(sentence, &reason);
            return;
        }
        let pair = before.start..sentence.end;
        if (self.list && is_item(text, &sentence) && self.whole(text, &sentence, RuleScope::Item))
            || (!before.is_empty() && self.whole(text, &pair, RuleScope::Before))
            || self.whole(text, &sentence, RuleScope::Sentence)
        {
            return;
        }
        if let Some(who) = self.rules.people.named_after(&text[sentence.clone()], self.reading) {
            self.met.clear();
            self.meet(&who);
        }
        for name in self.rules.people.introduced(&text[sentence.clone()]) {
            if self.met.iter().all(|met| met.name != name) {
                self.meet(&ClausePerson::other(name, 0.85));
            }
        }
        let mut state = PrecedingClause { first: true, ..PrecedingClause::default() };
        let mut last = sentence.start..sentence.start;
        for clause in self.rules.splitter.clauses(text, sentence.clone()) {
            self.relative = !state.is && self.rules.splitter.is_relative(&text[last.end..clause.start]);
            if self.relative {
                state.who = self.rules.people.last(&text[last.start..clause.start], last.len(), self.reading);
                state.passed = state.who.is_none();
                if state.passed {
                    self.pass(clause.clone(), "somebody");
                    (state.first, last) = (false, clause);
                    continue;
                }
            }
            self.clause(text, clause.clone(), &sentence, &mut state);
            state.first = false;
            last = clause;
        }
        self.in_passing(text, &sentence);
    }

    /// Returns the reason why a text is not a claim, if any.
    fn aside(&self, text: &str, over: &[RuleScope]) -> Option<(String, RuleScope)> {
        let mut all = self.rules.asides.iter().filter(|mark| over.contains(&mark.over));
        all.find(|mark| mark.is_in(text)).map(|mark| (mark.reason.clone(), mark.over))
    }

    fn pass(&mut self, span: Range<usize>, reason: &str) {
        if !span.is_empty() {
            self.out.passed_over.push(PassedOver { span, reason: reason.to_owned() });
        }
    }

    /// Drops the claims of a sentence that turns out not to be one.
    fn take_back(&mut self, sentence: &Range<usize>, reason: &str) {
        let inside = |span: &Range<usize>| sentence.contains(&span.start);
        let count = self.out.facts.len() + self.out.tasks.len();
        self.out.facts.retain(|fact| !inside(&fact.span));
        self.out.tasks.retain(|task| !inside(&task.span));
        if self.out.facts.len() + self.out.tasks.len() < count {
            self.pass(sentence.clone(), reason);
        }
    }

    fn clause(&mut self, text: &str, range: Range<usize>, sentence: &Range<usize>, before: &mut PrecedingClause) {
        let words = &text[range.clone()];
        if let Some((reason, _)) = self.aside(words, &[RuleScope::Clause]) {
            self.pass(range, &reason);
            (before.passed, before.who) = (true, None);
            return;
        }
        let open = &text[sentence.start..range.end];
        let (rules, said_at, casual) = (self.rules, self.reading.said_at, self.casual);
        if let Some(last) = self.claim_before(range.start) {
            if let Some(fact) = rules.corrections.meant(words, &range, &self.out.facts[last], &rules.objects) {
                self.out.facts.remove(last);
                self.out.facts.push(fact);
                return;
            }
            if rules.corrections.since.is_match(words) {
                rules.measure(text, range, said_at, casual).since(&mut self.out.facts[last]);
                return;
            }
        }
        if let Some(task) = self.out.tasks.last_mut().filter(|task| task.due.is_none())
            && rules.corrections.due.is_match(words)
        {
            task.due = rules.measure(text, range, said_at, casual).due();
            return;
        }
        self.update(text, &range);
        for tie in self.ties(words) {
            self.tie(&tie, &range, words, open);
            self.meet(&ClausePerson { relation: Some(tie.relation), ..ClausePerson::other(tie.name, 0.85) });
        }
        if self.whole(text, &range, RuleScope::Clause) {
            before.who = Some(ClausePerson::speaker(self.reading));
            return;
        }
        let clause = self.measure(text, range);
        let body = self.lead_end(&clause);
        let Some((who, verb)) = self.who(&clause, body, before) else { return };
        self.about_another = !who.first;
        self.meet(&who);
        before.passed = false;
        let (marks, after) = self.rules.before_verbs.read(&clause.text[verb..]);
        // "I'm reading about a man who …" ends with another person.
        before.is = marks.be() && !is_gerund(&clause.text[verb + after..]);
        self.verbs(&clause, verb, who, open, before);
    }

    pub(super) fn measure<'t>(&self, text: &'t str, range: Range<usize>) -> Clause<'t> {
        self.rules.measure(text, range, self.reading.said_at, self.casual)
    }

    /// Applies the rules for a whole sentence or clause. Returns true if one of them matched exclusively.
    pub(super) fn whole(&mut self, text: &str, range: &Range<usize>, reach: RuleScope) -> bool {
        let rules = self.rules;
        let set = match reach {
            RuleScope::Sentence => &rules.sentence_rules,
            RuleScope::Before => &rules.pair_rules,
            RuleScope::Passing => &rules.passing_rules,
            RuleScope::Item => &rules.item_rules,
            _ => &rules.clause_rules,
        };
        let found = set.patterns.all(&text[range.clone()]);
        if found.is_empty() {
            return false;
        }
        let clause = self.measure(text, range.clone());
        let open = &text[range.clone()];
        let mut read = false;
        for (at, groups) in found {
            let owner = groups.name("owner").map(|owner| owner.as_str());
            let Some(owner) = rules.people.owner(owner, self.reading) else { continue };
            let relation = groups.name("whose").map(|whose| whose.as_str());
            let unowned = relation.is_none() && groups.name("owner").is_none();
            let value = groups.name("object").or_else(|| groups.get(0)).map_or(0..0, |found| found.range());
            let is_own = |words: &str| rules.own.is_match(words);
            let goes_on = self.another_before && groups.name("relation").is_none() && !is_own(clause.text);
            let theirs =
                || rules.speaks_of_another(&clause.text[..value.start]) && !is_own(&clause.text[value.clone()]);
            if unowned && reach != RuleScope::Before && (goes_on || theirs()) {
                continue;
            }
            if reach == RuleScope::Clause
                && ((unowned && self.relative)
                    || self.is_denied(set, at, &groups, clause.text)
                    || (unowned && self.is_of_another(set, at, &groups, &clause)))
            {
                continue;
            }
            let first = owner == self.reading.speaker || owner == USER;
            let who = match relation {
                Some(relation) => ClausePerson {
                    name: self.named(relation, open).unwrap_or_else(|| rules.people.nameless(&owner, relation)),
                    first: false,
                    sure: 0.9,
                    ..ClausePerson::speaker(self.reading)
                },
                None => ClausePerson { name: owner, first, ..ClausePerson::speaker(self.reading) },
            };
            let marks = self.end_marks(&clause, Marks::default());
            let (claims, more) = self.apply(&clause, set, at, &groups, (0, clause.text.len()), &who, &marks, open);
            let some = !claims.is_empty();
            self.keep(claims);
            // "My dog is called Bruno. Allergic to chicken." continues about the dog.
            if some && reach != RuleScope::Passing {
                self.about_another = groups.name("relation").is_some();
            }
            read |= some && !more;
            if read {
                break;
            }
        }
        read
    }

    /// The name of the speaker's relation if the same words state it: "Lena, my wife, is a midwife".
    fn named(&self, relation: &str, words: &str) -> Option<String> {
        let is =
            |met: &&ClausePerson| met.relation.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(relation));
        self.met.iter().find(is).map(|met| &met.name).filter(|name| words.contains(name.as_str())).cloned()
    }

    /// Returns true if a "not" precedes the object of a rule that may match anywhere in a clause.
    fn is_denied(&self, set: &RuleSet, at: usize, groups: &Captures<'_>, clause: &str) -> bool {
        let anywhere = set.rule(at).is_some_and(|rule| rule.text.more);
        let end = groups.name("object").or_else(|| groups.get(0)).map_or(0, |found| found.start());
        anywhere && self.rules.denies.is_match(&clause[..end])
    }

    /// Returns true if a rule without an owner would attribute another person's claim to the speaker.
    fn is_of_another(&self, set: &RuleSet, at: usize, groups: &Captures<'_>, clause: &Clause<'_>) -> bool {
        let anywhere = set.rule(at).is_some_and(|rule| rule.text.more);
        let body = self.lead_end(clause);
        let subject = || match anywhere {
            true => self.who(clause, body, &PrecedingClause::default()),
            false => {
                let first = self.rules.people.subject(&clause.text[body..], self.reading, &self.met);
                first.map(|(who, end)| (who, body + end))
            }
        };
        // The "my" of "my brother" does not count, and in "Gluten's the enemy" the subject is the value.
        let value = groups.name("object").map_or(clause.text.len(), |object| object.start());
        subject().is_some_and(|(who, verb)| {
            !who.first && (anywhere || value != body) && !self.rules.own.is_match(&clause.text[verb..])
        })
    }

    /// Start of the main clause: after "well,", "last Friday", "twice a week".
    pub(super) fn lead_end(&self, clause: &Clause<'_>) -> usize {
        let mut at = 0;
        loop {
            let rest = &clause.text[at..];
            let skipped = rest.len() - rest.trim_start_matches([' ', ',', ':', '.']).len();
            let here = at + skipped;
            let lead = self.rules.lead.find(&clause.text[here..]).map_or(here, |lead| here + lead.end());
            let spans = clause.times.iter().map(|named| &named.range);
            let spans = spans.chain(clause.often.iter().map(|often| &often.range));
            let timed = spans.filter(|span| span.start == here).map(|span| span.end).max().unwrap_or(here);
            let next = lead.max(timed);
            if next <= here {
                return here.min(clause.text.len());
            }
            at = next;
        }
    }

    /// The subject of the clause and the position of its verb.
    fn who(&self, clause: &Clause<'_>, body: usize, before: &PrecedingClause) -> Option<(ClausePerson, usize)> {
        let words = &clause.text[body..];
        if let Some((who, end)) = self.rules.people.subject(words, self.reading, &self.met) {
            return Some((who, body + end));
        }
        if before.passed {
            return None;
        }
        if let Some((who, end)) = self.rules.people.inner(words, self.reading) {
            return Some((who, body + end));
        }
        let (marks, verb) = self.rules.before_verbs.read(words);
        if let Some(who) = before.who.as_ref().filter(|_| !before.first) {
            return self.joins(&words[verb..], who, before.governs, &marks).then(|| (who.clone(), body));
        }
        // "My dog is old. Allergic to chicken too." is still about the dog.
        if !self.another_before && self.rules.elided_first.is_match(words) {
            return Some((ClausePerson { sure: 0.85, ..ClausePerson::speaker(self.reading) }, body));
        }
        let flat = before.first && self.summary && self.rules.elided_third.is_match(words);
        flat.then(|| (ClausePerson::user(0.9), body))
    }

    /// Returns true if a verb without a subject can belong to the preceding subject.
    fn joins(&self, verb: &str, who: &ClausePerson, governs: bool, marks: &Marks) -> bool {
        if !self.is_verb(verb, marks) {
            return false;
        }
        let bare = self.rules.bare.is_match(verb) && !marks.be() && !marks.has(VerbMark::Perfect);
        let gerund = is_gerund(verb) && !marks.be();
        if gerund || (governs && bare) {
            return false;
        }
        who.first || !bare || marks.has(VerbMark::Negated)
    }

    fn verbs(
        &mut self,
        clause: &Clause<'_>,
        start: usize,
        who: ClausePerson,
        open: &str,
        before: &mut PrecedingClause,
    ) {
        let mut start = start;
        let mut governs = before.governs && before.who.as_ref() == Some(&who) && !before.first;
        for _ in 0..JOINED_MAX {
            let rest = &clause.text[start..];
            governs |= self.rules.governs.is_match(rest);
            let joint = self.rules.splitter.joints(rest).into_iter().find(|joint| {
                let (marks, verb) = self.rules.before_verbs.read(&rest[joint.end..]);
                let verb = &rest[joint.end + verb..];
                joint.start > 0 && self.is_verb(verb, &marks) && self.may_join(verb, &who, &marks)
            });
            let end = joint.as_ref().map_or(clause.text.len(), |joint| start + joint.start);
            let governed = self.rules.governs.is_match(&clause.text[start..end]);
            self.verb(clause, start..end, &who, open);
            let Some(joint) = joint else { break };
            let after = &clause.text[start + joint.end..];
            let (marks, verb) = self.rules.before_verbs.read(after);
            if !self.joins(&after[verb..], &who, governed, &marks) {
                break;
            }
            start += joint.end;
        }
        before.governs = governs;
        before.who = Some(who);
    }

    fn is_verb(&self, verb: &str, marks: &Marks) -> bool {
        self.rules.verb_rules.patterns.which(verb).any(|at| self.fits(at, verb, marks, false))
    }

    /// A verb in the bare form agrees with "I", not with "she".
    fn may_join(&self, verb: &str, who: &ClausePerson, marks: &Marks) -> bool {
        who.first || !self.rules.bare.is_match(verb) || marks.be() || marks.has(VerbMark::Negated)
    }

    fn verb(&mut self, clause: &Clause<'_>, range: Range<usize>, who: &ClausePerson, open: &str) {
        let rules = self.rules;
        let words = &clause.text[range.clone()];
        let (marks, verb) = rules.before_verbs.read(words);
        let marks = self.end_marks(clause, marks);
        let words = &words[verb..];
        let plural = who.first || who.second || who.name.ends_with('s');
        if !plural
            && !marks.be()
            && !marks.has(VerbMark::Negated)
            && !marks.has(VerbMark::Held)
            && rules.bare.is_match(words)
        {
            return;
        }
        for (at, groups) in rules.verb_rules.patterns.all(words) {
            if !self.fits(at, words, &marks, who.first && who.sure < 1.0) {
                continue;
            }
            let place = (range.start + verb, range.end);
            let (claims, more) = self.apply(clause, &rules.verb_rules, at, &groups, place, who, &marks, open);
            let some = !claims.is_empty();
            self.keep(claims);
            if some && !more {
                break;
            }
        }
    }

    /// Checks that a form of "be" precedes the verb exactly when the rule requires it.
    fn fits(&self, at: usize, verb: &str, marks: &Marks, elided: bool) -> bool {
        let set = &self.rules.verb_rules;
        let Some(rule) = set.rule(at) else { return false };
        if rule.text.be { marks.be() || (elided && !rule.text.be_said) } else { !marks.be() || is_gerund(verb) }
    }

    /// A negation followed by "any more" marks an ending; "previously" marks a past state.
    fn end_marks(&self, clause: &Clause<'_>, mut marks: Marks) -> Marks {
        if marks.has(VerbMark::Negated) && self.rules.any_more.is_match(clause.text) {
            marks.set(VerbMark::Ended);
        }
        if self.rules.formerly.is_match(clause.text) {
            marks.set(VerbMark::Held);
        }
        marks
    }

    #[expect(clippy::too_many_arguments, reason = "they are the parts of one match")]
    fn apply(
        &self,
        clause: &Clause<'_>,
        set: &RuleSet,
        at: usize,
        groups: &Captures<'_>,
        place: (usize, usize),
        who: &ClausePerson,
        marks: &Marks,
        open: &str,
    ) -> (Claims, bool) {
        let Some(rule) = set.rule(at) else {
            return (Claims::default(), true);
        };
        let (offset, end) = place;
        let problem = self.out.tasks.iter().rev().find(|task| task.kind == TaskKind::Problem);
        let problem = problem.map(|task| task.title.as_str());
        let found = Match { rule, groups, offset, end, who, marks, problem };
        let mut claims = self.rules.claims(clause, &found);
        let rest = &clause.text[offset..end];
        let single = rule.text.single;
        self.rules.corrections.settle(&mut claims.facts, open, rest, single, &self.rules.objects);
        let besides: Vec<FactCandidate> = claims.facts.iter().filter_map(|fact| self.besides(clause, fact)).collect();
        claims.facts.extend(besides);
        (claims, rule.text.more)
    }
}

fn is_gerund(verb: &str) -> bool {
    verb.split_whitespace().next().is_some_and(|word| word.ends_with("ing"))
}

/// Returns true if a sentence is the first of a bulleted line.
fn is_item(text: &str, sentence: &Range<usize>) -> bool {
    let before = &text[..sentence.start];
    let line = before.rfind('\n').map_or(before, |at| &before[at + 1..]).trim();
    !line.is_empty() && line.chars().all(|c| "-*•+–[]☐ ".contains(c))
}
