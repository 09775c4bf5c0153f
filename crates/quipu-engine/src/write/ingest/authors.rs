//! Whose words the messages of an import are.

use std::collections::BTreeSet;

use quipu_core::id::UserId;
use quipu_core::source::{Role, Source};

use super::Run;
use crate::error::{Error, Result};
use crate::process::understand;
use crate::transfer::import::{Batch, ImportFormat};

/// Most authors that a report lists.
const AUTHORS_MAX: usize = 50;
/// Most authors that an error lists.
const AUTHORS_NAMED_MAX: usize = 8;

impl Run<'_> {
    pub(super) fn note_authors(&mut self, batch: &Batch) {
        let people = self.authors.entry(batch.conversation.clone()).or_default();
        for author in batch.sources.iter().filter_map(person) {
            if people.insert(author.to_owned())
                && self.report.authors.len() < AUTHORS_MAX
                && !self.report.authors.iter().any(|known| known == author)
            {
                self.report.authors.push(author.to_owned());
            }
        }
    }

    /// The author in a conversation whose messages are the user's own words; `None` if they all are, or none is.
    ///
    /// # Errors
    /// `Invalid` if several people wrote in it and nothing says which of them is the user.
    pub(super) fn own_author(&self, user: &UserId, conversation: &str) -> Result<Option<String>> {
        if !self.options.own_words {
            return Ok(None);
        }
        if let Some(me) = &self.options.me {
            // Of several chats, the user may have written in some only: they are judged at the end.
            let has_several = self.authors.get(conversation).is_some_and(|people| people.len() > 1);
            if self.format == ImportFormat::WhatsApp && has_several {
                self.must_have_written()?;
            }
            return Ok(Some(me.clone()));
        }
        let Some(people) = self.authors.get(conversation).filter(|people| people.len() > 1) else { return Ok(None) };
        let is_user = |author: &&String| match self.engine.open(user) {
            Ok(open) => understand::is_user(&open.read().memory, author),
            Err(_) => understand::is_name_of(user, author),
        };
        let known: Vec<&String> = people.iter().filter(is_user).collect();
        if let [own] = known.as_slice() {
            return Ok(Some((*own).clone()));
        }
        let names = named(people);
        Err(Error::Invalid(format!(
            "{conversation} is by {names}: say which of them is the user (`--me NAME`, `me` over HTTP), so that nobody else's words \
             count as the user's"
        )))
    }

    /// # Errors
    /// `Invalid` if the author who is said to be the user wrote nothing: then no words would count as the user's.
    pub(super) fn must_have_written(&self) -> Result<()> {
        let Some(me) = &self.options.me else { return Ok(()) };
        let people: BTreeSet<String> = self.authors.values().flatten().cloned().collect();
        if people.is_empty() || people.contains(me) {
            return Ok(());
        }
        let (names, reference) = (named(&people), &self.report.reference);
        let undo = match self.recorded > 0 {
            true => format!(
                ". What was recorded counts as nobody's own words: `quipu revert --source {reference}` takes it back"
            ),
            false => String::new(),
        };
        Err(Error::Invalid(format!("nobody in it is called {me:?}: it is by {names}{undo}")))
    }

    /// The name by which the memory knows its user, if it is not the name of this author.
    pub(super) fn other_name(&self, user: &UserId, own: &str) -> Option<String> {
        let open = self.engine.open(user).ok()?;
        let state = open.read();
        let is_known = understand::is_user(&state.memory, own);
        state.memory.signed().filter(|_| !is_known).map(str::to_owned)
    }
}

/// Names, as far as an error lists them.
fn named(people: &BTreeSet<String>) -> String {
    let names: Vec<&str> = people.iter().take(AUTHORS_NAMED_MAX).map(String::as_str).collect();
    let more = if people.len() > names.len() { " and others" } else { "" };
    format!("{}{more}", names.join(", "))
}

/// The person who wrote a source, if it has a name.
pub(super) fn person(source: &Source) -> Option<&str> {
    source.author.as_deref().filter(|_| source.role == Role::User)
}

pub(super) fn sign(source: &mut Source, name: &str) {
    let follows = source.id == source.content_id();
    source.author = Some(name.into());
    if follows {
        source.id = source.content_id();
    }
}
