//! The data file of a language, as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::TaskKind;
use super::plain::PlainWords;
use super::standing::StandingText;
use super::statement::StatementWords;
use super::time_words::{Frequency, Times};
use super::updates::UpdateText;

/// All that is known of a language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Language {
    #[expect(dead_code, reason = "it names the file for people")]
    pub(super) language: String,
    /// `{name}` in a pattern stands for this.
    pub(super) macros: BTreeMap<String, String>,
    /// Word lists; `{name}` in a pattern stands for any of the words.
    pub(super) lists: BTreeMap<String, Vec<String>>,
    /// Word to word: relation to predicate, verb to gerund, number word to number …
    pub(super) tables: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) plain: PlainWords,
    pub(super) split: Split,
    pub(super) lead: Lead,
    /// What is no claim, in order.
    pub(super) asides: Vec<Aside>,
    pub(super) subject: Subject,
    /// Words before the verb and what they do.
    pub(super) before_verb: Vec<BeforeVerb>,
    pub(super) times: Times,
    pub(super) frequencies: Vec<Frequency>,
    pub(super) object: ObjectWords,
    /// Kinds of objects by name.
    pub(super) objects: BTreeMap<String, ObjectKind>,
    pub(super) persons: Persons,
    pub(super) correction: Correction,
    /// What a claim of one kind says besides.
    #[serde(default)]
    pub(super) also: Vec<Also>,
    pub(super) rules: Vec<RuleText>,
    #[serde(default)]
    pub(super) statement: StatementWords,
    #[serde(default)]
    pub(super) updates: Vec<UpdateText>,
    #[serde(default)]
    pub(super) standing: Vec<StandingText>,
}

/// Where sentences and clauses end.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Split {
    /// Words before a full stop that does not end a sentence.
    pub(super) abbreviations: Vec<String>,
    /// What stands between two clauses; the group `cut` is what is dropped.
    pub(super) clauses: Vec<String>,
    /// What stands between a clause and a verb without a subject of its own.
    pub(super) verbs: String,
    /// The end of words that were cut in the middle of something else.
    pub(super) cut: String,
    /// What follows a number with a full stop that ends no sentence.
    pub(super) ordinal: String,
    /// Words that are no clause yet: "last week my dad", before "and I …".
    pub(super) unfinished: String,
    /// What is cut before a clause about whoever the clause before it ends with.
    pub(super) relative: String,
    /// A question at the end of a sentence that began as a claim.
    pub(super) question_tail: String,
}

/// What a clause begins with and can do without.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lead {
    pub(super) pattern: String,
}

/// A mark of what is no claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Aside {
    pub(super) reason: String,
    pub(super) over: Reach,
    pub(super) pattern: String,
    /// But not with these words: "if I ask for a recipe, never …" is a rule.
    #[serde(default)]
    pub(super) unless: Option<String>,
}

/// How much a mark, or a rule, covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reach {
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
pub(super) struct Subject {
    /// The groups say who: `first`, `second`, `user`, `pronoun`, `relation` with `owner` and `name`, `name`.
    pub(super) patterns: Vec<String>,
    /// Capitalised words that are no names.
    pub(super) not_names: String,
    /// What may stand before the speaker's "I" in a clause: "after two failed attempts", "when I was a kid".
    pub(super) opening: String,
    /// The speaker after such an opening, with the space before.
    pub(super) inner: String,
    /// A sentence that begins with a pronoun and says later whom it means: "she sings, my aunt".
    pub(super) after: String,
    /// A verb that can stand without a subject: the user in a flat summary.
    pub(super) elided_third: String,
    /// A verb that can stand without a subject: the speaker in a diary.
    pub(super) elided_first: String,
    /// A verb in the bare form, which may belong to an infinitive before it.
    pub(super) bare: String,
    /// A clause whose verb governs what is joined to it.
    pub(super) governs: String,
    /// Before the object of a rule that looks anywhere in a clause: it is denied.
    pub(super) denies: String,
    /// The speaker's own words for themself: without one, a clause about somebody else says nothing of the speaker.
    pub(super) own: String,
    /// At the end of a negated clause: it did hold once.
    pub(super) any_more: String,
    /// A subject that is neither the speaker nor named.
    pub(super) another: String,
    /// A clause in the past tense is about what is over.
    pub(super) formerly: String,
}

/// Words before a verb.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BeforeVerb {
    /// The group `next` is what must follow.
    pub(super) pattern: String,
    /// `be`, `past_be`, `perfect`, `negated`, `ended`, `held`, `recent`; none: nothing.
    #[serde(default)]
    pub(super) means: Vec<Mark>,
}

/// What the words before a verb do to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Mark {
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
pub(super) struct ObjectWords {
    /// From here on it is no longer the object.
    pub(super) cut: String,
    pub(super) lead: String,
    pub(super) trail: String,
    /// Between several objects.
    pub(super) between: String,
    /// Stands between several objects and is none: "weirdly".
    pub(super) filler: String,
    /// A further object that begins so is the next verb, and the list is over.
    pub(super) next_verb: String,
    /// Not to be taken apart.
    pub(super) compounds: Vec<String>,
    /// An object with one of these words in it may go on after a conjunction.
    pub(super) joins: String,
    /// Not an object.
    pub(super) vague: String,
    /// What was tried, if it begins with this, is said elsewhere.
    pub(super) stand_in: String,
    /// `not …` at the end: what is corrected.
    pub(super) contrast: String,
}

/// What an object must look like.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObjectKind {
    /// The object is what this finds at its beginning.
    #[serde(default)]
    pub(super) shape: Option<String>,
    /// The shape if the text knows no capitals.
    #[serde(default)]
    pub(super) plain_shape: Option<String>,
    /// Not this.
    #[serde(default)]
    pub(super) reject: Option<String>,
    /// Not if all of it begins with this: "the colours" are those in sight.
    #[serde(default)]
    pub(super) pointing: Option<String>,
    /// Not if this follows: "make" says nothing without the "it" that was cut off.
    #[serde(default)]
    pub(super) not_before: Option<String>,
    /// Besides the common cut.
    #[serde(default)]
    pub(super) cut: Option<String>,
    /// It may name several.
    #[serde(default)]
    pub(super) several: bool,
    /// It is kept with articles, times and all.
    #[serde(default)]
    pub(super) whole: bool,
    /// Table of the words it is told by.
    #[serde(default)]
    pub(super) table: Option<String>,
    /// It must stand in the table.
    #[serde(default)]
    pub(super) in_table: bool,
    /// One of its words must stand in this list.
    #[serde(default)]
    pub(super) in_list: Option<String>,
    #[serde(default)]
    pub(super) words_max: Option<usize>,
}

/// People in relation to somebody.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Persons {
    /// A named relation anywhere in a clause: groups `owner`, `relation`, `name`.
    pub(super) patterns: Vec<String>,
    /// Owners that mean the speaker.
    pub(super) mine: String,
    /// The table of relations, and the table of species of pets.
    pub(super) relations: String,
    pub(super) species: String,
    /// "{owner}'s {relation}": how a person without a name is called.
    pub(super) unnamed: String,
    /// A name told of somebody who was not named: "her name is Saskia". Group `name`.
    pub(super) introduced: String,
    /// What stands before a name that is a place.
    pub(super) place: String,
    /// What follows a person and makes it another: "'s brother Luke". Groups `relation` and `name`.
    pub(super) theirs: String,
    /// In the clause of a relation: it is no more.
    pub(super) gone: String,
    /// Relations meant by "she", and by "he".
    pub(super) she: String,
    pub(super) he: String,
}

/// Taking something back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Correction {
    /// A clause that begins so says that what follows is right and something else was wrong.
    pub(super) strong: String,
    /// What is said beside a contrast where things have changed: "now at Bolt, not Acme".
    pub(super) change: String,
    /// So does this one, of what holds one value.
    pub(super) weak: String,
    /// The right value of the claim before: groups `object`, `not`.
    pub(super) meant: Vec<String>,
    /// Another value right after a claim: groups as above. It must look like the one it takes the place of.
    pub(super) instead: Vec<String>,
    /// A clause that only says since when the claim before it holds.
    pub(super) since: String,
    /// A clause that only says by when the task before it is due.
    pub(super) due: String,
}

/// A second claim that comes with a first.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Also {
    pub(super) of: Vec<String>,
    /// In the clause of the first.
    pub(super) pattern: String,
    pub(super) predicate: String,
}

/// A rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleText {
    pub(super) id: String,
    #[serde(default = "verb")]
    pub(super) over: Reach,
    pub(super) patterns: Vec<String>,
    /// It says nothing in a clause with these words: "the concert on Saturday was …" is over.
    #[serde(default)]
    pub(super) unless: Option<String>,
    /// A relation; `{relation}` where the table of relations says which.
    #[serde(default)]
    pub(super) predicate: String,
    #[serde(default)]
    pub(super) task: Option<TaskKind>,
    #[serde(default)]
    pub(super) news: News,
    #[serde(default)]
    pub(super) stance: How,
    #[serde(default = "sure")]
    pub(super) confidence: f64,
    /// Kind of the object.
    #[serde(default = "thing")]
    pub(super) object: String,
    /// The object, if it is always the same word.
    #[serde(default)]
    pub(super) value: Option<String>,
    /// The verb follows a form of "be".
    #[serde(default)]
    pub(super) be: bool,
    /// That form must be there, even where a subject is left out.
    #[serde(default)]
    pub(super) be_said: bool,
    /// What it says when it is negated: `denied`, `none`, or another relation that holds then.
    #[serde(default = "denied")]
    pub(super) negated: String,
    /// What it says when it ended: as above.
    #[serde(default)]
    pub(super) ended: Option<String>,
    /// It says something only when it is negated.
    #[serde(default)]
    pub(super) only_negated: bool,
    /// It can be about somebody else than the speaker.
    #[serde(default = "yes")]
    pub(super) third: bool,
    /// The relation if a word of the object stands in a list.
    #[serde(default)]
    pub(super) by_list: BTreeMap<String, String>,
    /// It says something only with a date, or only with a frequency.
    #[serde(default)]
    pub(super) needs: Option<Need>,
    /// Future: a date without a year or a bare weekday lies ahead.
    #[serde(default)]
    pub(super) ahead: bool,
    /// It holds one value at a time, so "actually" corrects it.
    #[serde(default)]
    pub(super) single: bool,
    /// What it says of the past ("was", "used to"): `held`, `none`, or `holds` of what never changes.
    #[serde(default = "held")]
    pub(super) past: String,
    /// A date beside it is when it began or happened.
    #[serde(default)]
    pub(super) dated: bool,
    /// The qualifier that takes such a date as it was said.
    #[serde(default)]
    pub(super) dated_as: Option<String>,
    /// The clause may say more: the rules after this one are tried too.
    #[serde(default)]
    pub(super) more: bool,
    /// Qualifiers that are always the same.
    #[serde(default)]
    pub(super) qualifiers: BTreeMap<String, String>,
    /// Qualifiers told by the object: qualifier to table.
    #[serde(default)]
    pub(super) told_by: BTreeMap<String, String>,
    /// Text to what is read in it.
    #[serde(default)]
    pub(super) examples: BTreeMap<String, Vec<String>>,
}

/// [`super::Stance`] without its values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum How {
    #[default]
    Holds,
    Changed,
    Held,
    Ended,
    Denied,
}

/// [`super::TaskNews`] without its values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum News {
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
pub(super) enum Need {
    Date,
    Frequency,
}

fn verb() -> Reach {
    Reach::Verb
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
