//! One user's memory in one folder.

use std::path::Path;
use std::sync::Arc;

use quipu_core::id::UserId;
use quipu_core::pack::Pack;
use quipu_engine::erase::{EraseTarget, ErasureReceipt};
use quipu_engine::revert::{RevertOptions, Selection};
use quipu_engine::versions::EventRef;
use quipu_engine::{
    ContextOptions, Engine, FactOptions, FactShown, ItemReceipts, RecallOptions, RecallReport, Receipt,
    RememberOptions, Result, Utterance,
};

use crate::options::{OpenOptions, open_engine};

/// One user's memory. Cloning is cheap, and clones share the open folder.
#[derive(Clone)]
pub struct Memory {
    engine: Arc<Engine>,
    user: UserId,
}

impl Memory {
    /// Opens the memory of the user `me` in a folder, which is created if it does not exist.
    ///
    /// # Errors
    /// As [`open_engine`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(folder, OpenOptions::default())
    }

    /// Opens a memory with options.
    ///
    /// ```
    /// # fn main() -> quipu::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// use quipu::{Memory, OpenOptions};
    ///
    /// let ines = Memory::open_with(folder.path(), OpenOptions { user: "ines".to_owned(), ..OpenOptions::default() })?;
    /// let tom = ines.of_user("tom")?; // the same folder, another memory
    /// ines.remember("My sister Ana lives in Lisbon.")?;
    /// assert!(tom.recall("Where does Ana live?")?.hits.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`open_engine`]; `Invalid` if the name of the user is not allowed.
    pub fn open_with(folder: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        let user = UserId::parse(&options.user)?;
        let engine = open_engine(folder.as_ref(), options.components)?;
        Ok(Self { engine: Arc::new(engine), user })
    }

    /// Another user's memory in the same folder.
    ///
    /// # Errors
    /// `Invalid` if the name is not allowed.
    pub fn of_user(&self, name: &str) -> Result<Self> {
        Ok(Self { engine: self.engine.clone(), user: UserId::parse(name)? })
    }

    /// The engine under this memory, for the functions of [`crate::engine`].
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The user whose memory this is.
    pub fn user(&self) -> &UserId {
        &self.user
    }

    /// Records a message and extracts facts, tasks and rules from it. Pass a string for a message that the user sends now,
    /// or an [`Utterance`] to set the speaker, the session or the time.
    ///
    /// Returns once the message is durable and can be recalled.
    ///
    /// # Errors
    /// As [`quipu_engine::remember`].
    pub fn remember(&self, said: impl Into<Utterance>) -> Result<Receipt> {
        quipu_engine::remember(&self.engine, &self.user, &said.into(), &RememberOptions::default())
    }

    /// Finds the items that answer a question, best first. Pass a string, or [`RecallOptions`] for more.
    ///
    /// ```
    /// # fn main() -> quipu::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let memory = quipu::Memory::open(folder.path())?;
    /// use quipu::RecallOptions;
    ///
    /// memory.remember("I am allergic to walnuts.")?;
    /// let found = memory.recall(RecallOptions { k: 3, ..RecallOptions::of("What am I allergic to?") })?;
    /// for hit in &found.hits {
    ///     println!("{:.2}  {}  {}", hit.score, hit.id, hit.text);
    /// }
    /// # assert!(!found.hits.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Returns no hits for a user without recorded events.
    ///
    /// # Errors
    /// As [`quipu_engine::recall`].
    pub fn recall(&self, question: impl Into<RecallOptions>) -> Result<RecallReport> {
        quipu_engine::recall(&self.engine, &self.user, &question.into())
    }

    /// A block of memory for a model's prompt, within a token budget. Pass a string, or [`ContextOptions`] for more.
    ///
    /// # Errors
    /// As [`quipu_engine::context`].
    pub fn context(&self, request: impl Into<ContextOptions>) -> Result<Pack> {
        quipu_engine::context(&self.engine, &self.user, &request.into())
    }

    /// The current facts, most important first, each with the words it was extracted from.
    ///
    /// # Errors
    /// As [`quipu_engine::facts`].
    pub fn facts(&self) -> Result<Vec<FactShown>> {
        quipu_engine::facts(&self.engine, &self.user, &FactOptions::default())
    }

    /// The receipts of an item: the event that recorded it, its evidence, and later changes.
    ///
    /// # Errors
    /// `NotFound` if there is no such item.
    pub fn why(&self, item: &str) -> Result<ItemReceipts> {
        quipu_engine::why(&self.engine, &self.user, item)
    }

    /// Undoes an event, given its position in the ledger ([`Receipt::seq`]). Nothing is deleted: reverting the returned
    /// event redoes it.
    ///
    /// ```
    /// # fn main() -> quipu::Result<()> {
    /// # let folder = tempfile::tempdir().expect("a temporary folder");
    /// # let memory = quipu::Memory::open(folder.path())?;
    /// let said = memory.remember("I live in Porto.")?;
    /// assert_eq!(memory.facts()?.len(), 1);
    /// let undone = memory.revert(said.seq)?;
    /// assert!(memory.facts()?.is_empty());
    /// memory.revert(undone.seq)?;
    /// assert_eq!(memory.facts()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`quipu_engine::revert::revert`].
    pub fn revert(&self, event: u64) -> Result<Receipt> {
        let events = Selection::Events(vec![EventRef::Seq(event)]);
        let reverted =
            quipu_engine::revert::revert(&self.engine, &self.user, &events, &RevertOptions::default(), &mut |_| {})?;
        Ok(reverted.0)
    }

    /// Permanently destroys the content of items, and everything extracted from it. The ledger records the erasure and
    /// still verifies.
    ///
    /// # Errors
    /// As [`quipu_engine::erase::erase`].
    pub fn erase(&self, targets: &[EraseTarget], reason: &str) -> Result<ErasureReceipt> {
        quipu_engine::erase::erase(&self.engine, &self.user, targets, reason, &mut |_| {})
    }
}
