//! The data file of a language, as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::extract::TaskKind;
use crate::extract::plain::PlainWords;
use crate::extract::rules::time_words::{Frequency, TimeVocabulary};
use crate::extract::standing::StandingText;
use crate::extract::statement::StatementWords;
use crate::extract::updates::UpdateText;

/// All that is known of a language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Language {
    #[expect(dead_code, reason = "it names the file for people")]
    pub(in crate::extract) language: String,
    /// `{name}` in a pattern stands for this.
    pub(in crate::extract) macros: BTreeMap<String, String>,
    /// Word lists; `{name}` in a pattern stands for any of the words.
    pub(in crate::extract) lists: BTreeMap<String, Vec<String>>,
    /// Word to word: relation to predicate, verb to gerund, number word to number …
    pub(in crate::extract) tables: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(in crate::extract) plain: PlainWords,
    pub(in crate::extract) split: Split,
    pub(in crate::extract) lead: ClauseLead,
    /// What is no claim, in order.
    pub(in crate::extract) asides: Vec<Aside>,
    pub(in crate::extract) subject: ClauseSubject,
    /// Words before the verb and what they do.
    pub(in crate::extract) before_verb: Vec<BeforeVerb>,
    pub(in crate::extract) times: TimeVocabulary,
    pub(in crate::extract) frequencies: Vec<Frequency>,
    pub(in crate::extract) object: ObjectWords,
    /// Kinds of objects by name.
    pub(in crate::extract) objects: BTreeMap<String, ObjectKind>,
    pub(in crate::extract) persons: Persons,
    pub(in crate::extract) correction: Correction,
    /// What a claim of one kind says besides.
    #[serde(default)]
    pub(in crate::extract) also: Vec<Also>,
    pub(in crate::extract) rules: Vec<RuleText>,
    #[serde(default)]
    pub(in crate::extract) statement: StatementWords,
    #[serde(default)]
    pub(in crate::extract) updates: Vec<UpdateText>,
    #[serde(default)]
    pub(in crate::extract) standing: Vec<StandingText>,
}

/// Where sentences and clauses end.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Split {
    /// Words before a full stop that does not end a sentence.
    pub(in crate::extract) abbreviations: Vec<String>,
    /// What stands between two clauses; the group `cut` is what is dropped.
    pub(in crate::extract) clauses: Vec<String>,
    /// What stands between a clause and a verb without a subject of its own.
    pub(in crate::extract) verbs: String,
    /// The end of words that were cut in the middle of something else.
    pub(in crate::extract) cut: String,
    /// What follows a number with a full stop that ends no sentence.
    pub(in crate::extract) ordinal: String,
    /// Words that are no clause yet: "last week my dad", before "and I …".
    pub(in crate::extract) unfinished: String,
    /// What is cut before a clause about whoever the clause before it ends with.
    pub(in crate::extract) relative: String,
    /// A question at the end of a sentence that began as a claim.
    pub(in crate::extract) question_tail: String,
}

/// What a clause begins with and can do without.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct ClauseLead {
    pub(in crate::extract) pattern: String,
}

/// A mark of what is no claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Aside {
    pub(in crate::extract) reason: String,
    pub(in crate::extract) over: RuleScope,
    pub(in crate::extract) pattern: String,
    /// But not with these words: "if I ask for a recipe, never …" is a rule.
    #[serde(default)]
    pub(in crate::extract) unless: Option<String>,
}

/// How much a mark, or a rule, covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum RuleScope {
    /// The sentence.
    Sentence,
    /// The sentence and the one before it.
    Before,
    /// The sentence and all that comes after it: a story, a text to work on.
    After,
    /// The sentence, even if it is no claim itself: what it says in passing of somebody it names.
    Passing,
    /// A line of a list.
    Item,
    /// The clause.
    Clause,
    /// The verb and what follows it.
    Verb,
}

/// Who a clause is about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct ClauseSubject {
    /// The groups say who: `first`, `second`, `user`, `pronoun`, `relation` with `owner` and `name`, `name`.
    pub(in crate::extract) patterns: Vec<String>,
    /// Capitalised words that are no names.
    pub(in crate::extract) not_names: String,
    /// What may stand before the speaker's "I" in a clause: "after two failed attempts", "when I was a kid".
    pub(in crate::extract) opening: String,
    /// The speaker after such an opening, with the space before.
    pub(in crate::extract) inner: String,
    /// A sentence that begins with a pronoun and says later whom it means: "she sings, my aunt".
    pub(in crate::extract) after: String,
    /// A verb that can stand without a subject: the user in a flat summary.
    pub(in crate::extract) elided_third: String,
    /// A verb that can stand without a subject: the speaker in a diary.
    pub(in crate::extract) elided_first: String,
    /// A verb in the bare form, which may belong to an infinitive before it.
    pub(in crate::extract) bare: String,
    /// A clause whose verb governs what is joined to it.
    pub(in crate::extract) governs: String,
    /// Before the object of a rule that looks anywhere in a clause: it is denied.
    pub(in crate::extract) denies: String,
    /// The speaker's own words for themself: without one, a clause about somebody else says nothing of the speaker.
    pub(in crate::extract) own: String,
    /// At the end of a negated clause: it did hold once.
    pub(in crate::extract) any_more: String,
    /// A subject that is neither the speaker nor named.
    pub(in crate::extract) another: String,
    /// A clause in the past tense is about what is over.
    pub(in crate::extract) formerly: String,
}

/// Words before a verb.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct BeforeVerb {
    /// The group `next` is what must follow.
    pub(in crate::extract) pattern: String,
    /// `be`, `past_be`, `perfect`, `negated`, `ended`, `held`, `recent`; none: nothing.
    #[serde(default)]
    pub(in crate::extract) means: Vec<VerbMark>,
}

/// What the words before a verb do to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum VerbMark {
    Be,
    PastBe,
    Perfect,
    Negated,
    Ended,
    Held,
    Recent,
}

/// What is cut off an object and what cannot be one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct ObjectWords {
    /// From here on it is no longer the object.
    pub(in crate::extract) cut: String,
    pub(in crate::extract) lead: String,
    pub(in crate::extract) trail: String,
    /// Between several objects.
    pub(in crate::extract) between: String,
    /// Stands between several objects and is none: "weirdly".
    pub(in crate::extract) filler: String,
    /// A further object that begins so is the next verb, and the list is over.
    pub(in crate::extract) next_verb: String,
    /// Not to be taken apart.
    pub(in crate::extract) compounds: Vec<String>,
    /// An object with one of these words in it may go on after a conjunction.
    pub(in crate::extract) joins: String,
    /// Not an object.
    pub(in crate::extract) vague: String,
    /// What was tried, if it begins with this, is said elsewhere.
    pub(in crate::extract) stand_in: String,
    /// `not …` at the end: what is corrected.
    pub(in crate::extract) contrast: String,
}

/// What an object must look like.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct ObjectKind {
    /// The object is what this finds at its beginning.
    #[serde(default)]
    pub(in crate::extract) shape: Option<String>,
    /// The shape if the text knows no capitals.
    #[serde(default)]
    pub(in crate::extract) plain_shape: Option<String>,
    /// Not this.
    #[serde(default)]
    pub(in crate::extract) reject: Option<String>,
    /// Not if all of it begins with this: "the colours" are those in sight.
    #[serde(default)]
    pub(in crate::extract) pointing: Option<String>,
    /// Not if this follows: "make" says nothing without the "it" that was cut off.
    #[serde(default)]
    pub(in crate::extract) not_before: Option<String>,
    /// Besides the common cut.
    #[serde(default)]
    pub(in crate::extract) cut: Option<String>,
    /// It may name several.
    #[serde(default)]
    pub(in crate::extract) several: bool,
    /// It is kept with articles, times and all.
    #[serde(default)]
    pub(in crate::extract) whole: bool,
    /// Table of the words it is told by.
    #[serde(default)]
    pub(in crate::extract) table: Option<String>,
    /// It must stand in the table.
    #[serde(default)]
    pub(in crate::extract) in_table: bool,
    /// One of its words must stand in this list.
    #[serde(default)]
    pub(in crate::extract) in_list: Option<String>,
    #[serde(default)]
    pub(in crate::extract) words_max: Option<usize>,
}

/// People in relation to somebody.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Persons {
    /// A named relation anywhere in a clause: groups `owner`, `relation`, `name`.
    pub(in crate::extract) patterns: Vec<String>,
    /// Owners that mean the speaker.
    pub(in crate::extract) mine: String,
    /// The table of relations, and the table of species of pets.
    pub(in crate::extract) relations: String,
    pub(in crate::extract) species: String,
    /// "{owner}'s {relation}": how a person without a name is called.
    pub(in crate::extract) unnamed: String,
    /// A name told of somebody who was not named: "her name is Saskia". Group `name`.
    pub(in crate::extract) introduced: String,
    /// What stands before a name that is a place.
    pub(in crate::extract) place: String,
    /// What follows a person and makes it another: "'s brother Luke". Groups `relation` and `name`.
    pub(in crate::extract) theirs: String,
    /// In the clause of a relation: it is no more.
    pub(in crate::extract) gone: String,
    /// Relations meant by "she", and by "he".
    pub(in crate::extract) she: String,
    pub(in crate::extract) he: String,
}

/// Taking something back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Correction {
    /// A clause that begins so says that what follows is right and something else was wrong.
    pub(in crate::extract) strong: String,
    /// What is said beside a contrast where things have changed: "now at Bolt, not Acme".
    pub(in crate::extract) change: String,
    /// So does this one, of what holds one value.
    pub(in crate::extract) weak: String,
    /// The right value of the claim before: groups `object`, `not`.
    pub(in crate::extract) meant: Vec<String>,
    /// Another value right after a claim: groups as above. It must look like the one it takes the place of.
    pub(in crate::extract) instead: Vec<String>,
    /// A clause that only says since when the claim before it holds.
    pub(in crate::extract) since: String,
    /// A clause that only says by when the task before it is due.
    pub(in crate::extract) due: String,
}

/// A second claim that comes with a first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Also {
    pub(in crate::extract) of: Vec<String>,
    /// In the clause of the first.
    pub(in crate::extract) pattern: String,
    pub(in crate::extract) predicate: String,
}

/// A rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct RuleText {
    pub(in crate::extract) id: String,
    #[serde(default = "verb")]
    pub(in crate::extract) over: RuleScope,
    pub(in crate::extract) patterns: Vec<String>,
    /// It says nothing in a clause with these words: "the concert on Saturday was …" is over.
    #[serde(default)]
    pub(in crate::extract) unless: Option<String>,
    /// A relation; `{relation}` where the table of relations says which.
    #[serde(default)]
    pub(in crate::extract) predicate: String,
    #[serde(default)]
    pub(in crate::extract) task: Option<TaskKind>,
    #[serde(default)]
    pub(in crate::extract) news: News,
    #[serde(default)]
    pub(in crate::extract) stance: StanceName,
    #[serde(default = "sure")]
    pub(in crate::extract) confidence: f64,
    /// Kind of the object.
    #[serde(default = "thing")]
    pub(in crate::extract) object: String,
    /// The object, if it is always the same word.
    #[serde(default)]
    pub(in crate::extract) value: Option<String>,
    /// The verb follows a form of "be".
    #[serde(default)]
    pub(in crate::extract) be: bool,
    /// That form must be there, even where a subject is left out.
    #[serde(default)]
    pub(in crate::extract) be_said: bool,
    /// What it says when it is negated: `denied`, `none`, or another relation that holds then.
    #[serde(default = "denied")]
    pub(in crate::extract) negated: String,
    /// What it says when it ended: as above.
    #[serde(default)]
    pub(in crate::extract) ended: Option<String>,
    /// It says something only when it is negated.
    #[serde(default)]
    pub(in crate::extract) only_negated: bool,
    /// It can be about somebody else than the speaker.
    #[serde(default = "yes")]
    pub(in crate::extract) third: bool,
    /// The relation if a word of the object stands in a list.
    #[serde(default)]
    pub(in crate::extract) by_list: BTreeMap<String, String>,
    /// It says something only with a date, or only with a frequency.
    #[serde(default)]
    pub(in crate::extract) needs: Option<RuleRequirement>,
    /// Future: a date without a year or a bare weekday lies ahead.
    #[serde(default)]
    pub(in crate::extract) ahead: bool,
    /// It holds one value at a time, so "actually" corrects it.
    #[serde(default)]
    pub(in crate::extract) single: bool,
    /// What it says of the past ("was", "used to"): `held`, `none`, or `holds` of what never changes.
    #[serde(default = "held")]
    pub(in crate::extract) past: String,
    /// A date beside it is when it began or happened.
    #[serde(default)]
    pub(in crate::extract) dated: bool,
    /// The qualifier that takes such a date as it was said.
    #[serde(default)]
    pub(in crate::extract) dated_as: Option<String>,
    /// The clause may say more: the rules after this one are tried too.
    #[serde(default)]
    pub(in crate::extract) more: bool,
    /// Qualifiers that are always the same.
    #[serde(default)]
    pub(in crate::extract) qualifiers: BTreeMap<String, String>,
    /// Qualifiers told by the object: qualifier to table.
    #[serde(default)]
    pub(in crate::extract) told_by: BTreeMap<String, String>,
    /// Text to what is read in it.
    #[serde(default)]
    pub(in crate::extract) examples: BTreeMap<String, Vec<String>>,
}

/// [`crate::extract::Stance`] without its values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum StanceName {
    #[default]
    Holds,
    Changed,
    Held,
    Ended,
    Denied,
}

/// [`crate::extract::TaskNews`] without its values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum News {
    #[default]
    Opened,
    Done,
    Dropped,
    Tried,
    Helped,
    Failed,
}

/// What a rule cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum RuleRequirement {
    Date,
    Frequency,
}

fn verb() -> RuleScope {
    RuleScope::Verb
}

fn sure() -> f64 {
    0.9
}

fn thing() -> String {
    "thing".to_owned()
}

fn denied() -> String {
    "denied".to_owned()
}

fn held() -> String {
    "held".to_owned()
}

fn yes() -> bool {
    true
}
