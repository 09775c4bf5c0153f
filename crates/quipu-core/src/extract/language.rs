//! The format of a language's data file.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::extract::TaskKind;
use crate::extract::plain::PlainWords;
use crate::extract::rules::time_words::{Frequency, TimeVocabulary};
use crate::extract::standing::StandingText;
use crate::extract::updates::UpdateText;

/// The data of a language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Language {
    #[expect(dead_code, reason = "it names the file for people")]
    pub(in crate::extract) language: String,
    /// Macros, used as `{name}` in patterns.
    pub(in crate::extract) macros: BTreeMap<String, String>,
    /// Word lists; `{name}` in a pattern matches any of the words.
    pub(in crate::extract) lists: BTreeMap<String, Vec<String>>,
    /// Word to word: relation to predicate, verb to gerund, number word to number …
    pub(in crate::extract) tables: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(in crate::extract) plain: PlainWords,
    pub(in crate::extract) split: Split,
    pub(in crate::extract) lead: ClauseLead,
    /// Marks of text that is not a claim, in order.
    pub(in crate::extract) asides: Vec<Aside>,
    pub(in crate::extract) subject: ClauseSubject,
    /// Words before the verb and their meaning.
    pub(in crate::extract) before_verb: Vec<BeforeVerb>,
    pub(in crate::extract) times: TimeVocabulary,
    pub(in crate::extract) frequencies: Vec<Frequency>,
    pub(in crate::extract) object: ObjectWords,
    /// Kinds of objects by name.
    pub(in crate::extract) objects: BTreeMap<String, ObjectKind>,
    pub(in crate::extract) persons: Persons,
    pub(in crate::extract) correction: Correction,
    /// Additional claims implied by a claim.
    #[serde(default)]
    pub(in crate::extract) also: Vec<Also>,
    pub(in crate::extract) rules: Vec<RuleText>,
    #[serde(default)]
    pub(in crate::extract) updates: Vec<UpdateText>,
    #[serde(default)]
    pub(in crate::extract) standing: Vec<StandingText>,
}

/// Boundaries of sentences and clauses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Split {
    /// Words before a full stop that does not end a sentence.
    pub(in crate::extract) abbreviations: Vec<String>,
    /// Separators of clauses; the group `cut` is dropped.
    pub(in crate::extract) clauses: Vec<String>,
    /// Separator of a clause and a verb without a subject of its own.
    pub(in crate::extract) verbs: String,
    /// The end of a truncated phrase.
    pub(in crate::extract) cut: String,
    /// What follows a number whose full stop does not end a sentence.
    pub(in crate::extract) ordinal: String,
    /// Words that do not form a clause on their own: "last week my dad", before "and I …".
    pub(in crate::extract) unfinished: String,
    /// The separator before a relative clause.
    pub(in crate::extract) relative: String,
    /// A question at the end of a sentence that began as a claim.
    pub(in crate::extract) question_tail: String,
    /// A sentence of two instructions; the group `cut` lies between them.
    pub(in crate::extract) instructions: String,
}

/// The removable opening of a clause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct ClauseLead {
    pub(in crate::extract) pattern: String,
}

/// A mark of text that is not a claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Aside {
    pub(in crate::extract) reason: String,
    pub(in crate::extract) over: RuleScope,
    pub(in crate::extract) pattern: String,
    /// Exception: "if I ask for a recipe, never …" is a rule.
    #[serde(default)]
    pub(in crate::extract) unless: Option<String>,
}

/// The text a mark or a rule applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::extract) enum RuleScope {
    /// The sentence.
    Sentence,
    /// The sentence and the preceding one.
    Before,
    /// The sentence and everything after it: a story, a text to work on.
    After,
    /// The sentence, even if it is not a claim itself, for what it says in passing about the people it names.
    Passing,
    /// A line of a list.
    Item,
    /// The clause.
    Clause,
    /// The verb and what follows it.
    Verb,
}

/// The subject of a clause.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct ClauseSubject {
    /// The groups identify the person: `first`, `second`, `user`, `pronoun`, `relation` with `owner` and `name`,
    /// `name`.
    pub(in crate::extract) patterns: Vec<String>,
    /// Capitalised words that are not names.
    pub(in crate::extract) not_names: String,
    /// What may precede the speaker's "I" in a clause: "after two failed attempts", "when I was a kid".
    pub(in crate::extract) opening: String,
    /// The speaker after such an opening, with the preceding space.
    pub(in crate::extract) inner: String,
    /// A sentence that begins with a pronoun and names the person later: "she sings, my aunt".
    pub(in crate::extract) after: String,
    /// A verb that can lack a subject: the user in a terse summary.
    pub(in crate::extract) elided_third: String,
    /// A verb that can lack a subject: the speaker in a diary.
    pub(in crate::extract) elided_first: String,
    /// A verb in the bare form, which may belong to a preceding infinitive.
    pub(in crate::extract) bare: String,
    /// A clause whose verb governs the verbs joined to it.
    pub(in crate::extract) governs: String,
    /// A denial before the object of a rule that may match anywhere in a clause.
    pub(in crate::extract) denies: String,
    /// First-person words. Without one, a clause about another person says nothing about the speaker.
    pub(in crate::extract) own: String,
    /// End of a negated clause that implies it held once.
    pub(in crate::extract) any_more: String,
    /// A subject that is neither the speaker nor named.
    pub(in crate::extract) another: String,
    /// Marks a clause in the past tense as no longer true.
    pub(in crate::extract) formerly: String,
}

/// Words before a verb.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct BeforeVerb {
    /// The group `next` must follow but is not consumed.
    pub(in crate::extract) pattern: String,
    /// `be`, `past_be`, `perfect`, `negated`, `ended`, `held`, `recent`; empty for no effect.
    #[serde(default)]
    pub(in crate::extract) means: Vec<VerbMark>,
}

/// Effect of the words before a verb.
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

/// Rules for trimming, splitting and rejecting objects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct ObjectWords {
    /// The object ends here.
    pub(in crate::extract) cut: String,
    pub(in crate::extract) lead: String,
    pub(in crate::extract) trail: String,
    /// Separator of several objects.
    pub(in crate::extract) between: String,
    /// A list element that only qualifies the next one: "loud" of "loud, crowded places".
    pub(in crate::extract) qualities: String,
    /// A list element that is not an object: "weirdly".
    pub(in crate::extract) filler: String,
    /// A list element that begins like this is the next verb and ends the list.
    pub(in crate::extract) next_verb: String,
    /// Compounds that must not be split.
    pub(in crate::extract) compounds: Vec<String>,
    /// An object that contains one of these words may continue after a conjunction.
    pub(in crate::extract) joins: String,
    /// Not an object.
    pub(in crate::extract) vague: String,
    /// An attempt that begins with this refers to something said elsewhere.
    pub(in crate::extract) stand_in: String,
    /// `not …` at the end: the corrected value.
    pub(in crate::extract) contrast: String,
}

/// Constraints of a kind of object.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct ObjectKind {
    /// The object is the match of this pattern at its beginning.
    #[serde(default)]
    pub(in crate::extract) shape: Option<String>,
    /// A list is split only before what begins like this.
    #[serde(default)]
    pub(in crate::extract) begins: Option<String>,
    /// The shape for text without capitals.
    #[serde(default)]
    pub(in crate::extract) plain_shape: Option<String>,
    /// Rejects a matching object.
    #[serde(default)]
    pub(in crate::extract) reject: Option<String>,
    /// Rejects an object that begins with this: "the colours" are those in sight.
    #[serde(default)]
    pub(in crate::extract) pointing: Option<String>,
    /// Rejects an object followed by this: "make" is meaningless without the removed "it".
    #[serde(default)]
    pub(in crate::extract) not_before: Option<String>,
    /// An additional cut.
    #[serde(default)]
    pub(in crate::extract) cut: Option<String>,
    /// True if it may list several objects.
    #[serde(default)]
    pub(in crate::extract) several: bool,
    /// True if articles, times and the rest are preserved.
    #[serde(default)]
    pub(in crate::extract) whole: bool,
    /// Name of the table that normalises it.
    #[serde(default)]
    pub(in crate::extract) table: Option<String>,
    /// True if the table must contain it.
    #[serde(default)]
    pub(in crate::extract) in_table: bool,
    /// A list that must contain one of its words.
    #[serde(default)]
    pub(in crate::extract) in_list: Option<String>,
    #[serde(default)]
    pub(in crate::extract) words_max: Option<usize>,
}

/// People and their relations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Persons {
    /// A named relation anywhere in a clause: groups `owner`, `relation`, `name`.
    pub(in crate::extract) patterns: Vec<String>,
    /// Owners that refer to the speaker.
    pub(in crate::extract) mine: String,
    /// Names of the tables of relations and of pet species.
    pub(in crate::extract) relations: String,
    pub(in crate::extract) species: String,
    /// Template for a person without a name: "{owner}'s {relation}".
    pub(in crate::extract) unnamed: String,
    /// The name of a person not named before: "her name is Saskia". Group `name`.
    pub(in crate::extract) introduced: String,
    /// Words that are no part of the name before them: days, nationalities, pronouns.
    pub(in crate::extract) not_family_names: String,
    /// Text before a name that is a place.
    pub(in crate::extract) place: String,
    /// Text after a person that refers to another one: "'s brother Luke". Groups `relation` and `name`.
    pub(in crate::extract) theirs: String,
    /// In the clause of a relation: the person has died or is gone.
    pub(in crate::extract) gone: String,
    /// Relations compatible with "she" and with "he".
    pub(in crate::extract) she: String,
    pub(in crate::extract) he: String,
}

/// Corrections.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Correction {
    /// Start of a clause that states a correction.
    pub(in crate::extract) strong: String,
    /// Words beside a contrast that indicate a change rather than a correction: "now at Bolt, not Acme".
    pub(in crate::extract) change: String,
    /// The same for predicates with a single value.
    pub(in crate::extract) weak: String,
    /// The right value of the preceding claim: groups `object`, `not`.
    pub(in crate::extract) meant: Vec<String>,
    /// Another value directly after a claim: groups as above. Its shape must match the replaced value.
    pub(in crate::extract) instead: Vec<String>,
    /// A clause that only states the start of the preceding claim.
    pub(in crate::extract) since: String,
    /// A clause that only states the due date of the preceding task.
    pub(in crate::extract) due: String,
}

/// A claim implied by another claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::extract) struct Also {
    pub(in crate::extract) of: Vec<String>,
    /// Matched against the clause of the first claim.
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
    /// The rule does not apply to a clause with these words: "the concert on Saturday was …" is over.
    #[serde(default)]
    pub(in crate::extract) unless: Option<String>,
    /// The predicate; `{relation}` takes it from the table of relations.
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
    /// A constant object.
    #[serde(default)]
    pub(in crate::extract) value: Option<String>,
    /// True if the verb follows a form of "be".
    #[serde(default)]
    pub(in crate::extract) be: bool,
    /// True if that form is required even where the subject is omitted.
    #[serde(default)]
    pub(in crate::extract) be_said: bool,
    /// Meaning of a negation: `denied`, `none`, or another predicate that then holds.
    #[serde(default = "denied")]
    pub(in crate::extract) negated: String,
    /// Meaning of an ending: as for `negated`.
    #[serde(default)]
    pub(in crate::extract) ended: Option<String>,
    /// True if the rule applies only to negations.
    #[serde(default)]
    pub(in crate::extract) only_negated: bool,
    /// True if the subject may be someone other than the speaker.
    #[serde(default = "yes")]
    pub(in crate::extract) third: bool,
    /// The predicate if a list contains a word of the object.
    #[serde(default)]
    pub(in crate::extract) by_list: BTreeMap<String, String>,
    /// Requires a date or a frequency.
    #[serde(default)]
    pub(in crate::extract) needs: Option<RuleRequirement>,
    /// True for the future: a date without a year or a bare weekday is resolved forwards.
    #[serde(default)]
    pub(in crate::extract) ahead: bool,
    /// True if the predicate has a single value, so that "actually" corrects it.
    #[serde(default)]
    pub(in crate::extract) single: bool,
    /// Meaning of the past tense ("was", "used to"): `held`, `none`, or `holds` for permanent facts.
    #[serde(default = "held")]
    pub(in crate::extract) past: String,
    /// True if a date beside it is the time at which it began or happened.
    #[serde(default)]
    pub(in crate::extract) dated: bool,
    /// The qualifier that stores such a date as stated.
    #[serde(default)]
    pub(in crate::extract) dated_as: Option<String>,
    /// True if later rules are tried as well.
    #[serde(default)]
    pub(in crate::extract) more: bool,
    /// Constant qualifiers.
    #[serde(default)]
    pub(in crate::extract) qualifiers: BTreeMap<String, String>,
    /// Qualifiers looked up by the object: qualifier to table.
    #[serde(default)]
    pub(in crate::extract) told_by: BTreeMap<String, String>,
    /// Example texts with the expected results.
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

/// A precondition of a rule.
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
