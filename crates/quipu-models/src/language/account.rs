//! What a day's questions cost, by user, and how much they may.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use quipu_core::id::UserId;
use quipu_engine::ports::{Clock, ModelError, ModelWatch, Usage};
use serde::{Deserialize, Serialize};

use super::ladder::JsonMode;

/// Under this name stands what nobody in particular asked for.
const NOBODY: &str = "";

/// What a model costs, in any currency.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prices {
    /// A million tokens of a prompt.
    pub input_per_million: f64,
    /// A million tokens of an answer.
    pub output_per_million: f64,
}

impl Prices {
    /// What so many tokens cost.
    pub fn of(&self, usage: &Usage) -> f64 {
        (usage.input_tokens as f64 * self.input_per_million + usage.output_tokens as f64 * self.output_per_million)
            / 1e6
    }
}

/// What one user may spend in a day of UTC; without a number there is no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Allowance {
    /// Tokens, of prompts and answers together.
    pub tokens_per_day: Option<u64>,
    /// Money, in the currency of the prices.
    pub money_per_day: Option<f64>,
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests that reached a server.
    pub requests: u64,
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of answers.
    pub output_tokens: u64,
    /// Money.
    pub money: f64,
}

/// What was spent today and how endpoints take a schema, for all models of a process; kept in a file if it has one.
pub struct ModelUsage {
    clock: Arc<dyn Clock>,
    path: Option<PathBuf>,
    pages: Mutex<Pages>,
    watch: OnceLock<Arc<dyn ModelWatch>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Pages {
    /// The day of UTC the rest is about.
    #[serde(default)]
    day: String,
    /// By role of the model, then by user.
    #[serde(default)]
    spent: BTreeMap<String, BTreeMap<String, Spent>>,
    /// By base address and model.
    #[serde(default)]
    rungs: BTreeMap<String, JsonMode>,
    /// What was promised to requests that are under way: counted as spent until they are done.
    #[serde(skip)]
    promised: BTreeMap<(String, String), Spent>,
}

/// Most endpoints whose rung is kept.
const RUNGS_MAX: usize = 64;

impl ModelUsage {
    /// One that is forgotten with the process.
    #[must_use]
    pub fn in_memory(clock: Arc<dyn Clock>) -> Self {
        Self { clock, path: None, pages: Mutex::default(), watch: OnceLock::new() }
    }

    /// One that is kept in a file. A file that cannot be read counts as empty: it holds nothing but today's figures.
    #[must_use]
    pub fn in_file(clock: Arc<dyn Clock>, path: &Path) -> Self {
        let pages = fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { clock, path: Some(path.to_owned()), pages: Mutex::new(pages), watch: OnceLock::new() }
    }

    /// What was spent today under a name of settings, by everybody.
    #[must_use]
    pub fn spent(&self, name: &str) -> Spent {
        let pages = self.today();
        pages.spent.get(name).into_iter().flat_map(BTreeMap::values).fold(Spent::default(), |all, one| all.and(one))
    }

    /// What a user spent today under a name of settings.
    #[must_use]
    pub fn spent_by(&self, name: &str, user: Option<&UserId>) -> Spent {
        let pages = self.today();
        pages.spent.get(name).and_then(|users| users.get(account(user))).copied().unwrap_or_default()
    }

    /// Lets somebody count every question from now on. There is one who counts: the first.
    pub fn watched_by(&self, watch: Arc<dyn ModelWatch>) {
        let _ = self.watch.set(watch);
    }

    pub(super) fn watch(&self) -> Option<&dyn ModelWatch> {
        self.watch.get().map(AsRef::as_ref)
    }

    pub(super) fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    fn today(&self) -> MutexGuard<'_, Pages> {
        let day = self.clock.now().to_string().chars().take(10).collect::<String>();
        // Sums only: a panic elsewhere leaves them as they were.
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.day != day {
            pages.day = day;
            pages.spent.clear();
            // A server that was renewed may take more than it did.
            pages.rungs.clear();
        }
        pages
    }

    /// Sets aside what a request may cost at most.
    ///
    /// # Errors
    /// `OverBudget` if it could be more than is left today.
    pub(super) fn promise(&self, purse: &SpendBudget<'_>, most: &Usage) -> Result<(), ModelError> {
        let key = (purse.name.to_owned(), account(purse.user).to_owned());
        let mut pages = self.today();
        let spent = pages.spent.get(&key.0).and_then(|users| users.get(&key.1)).copied().unwrap_or_default();
        let promised = pages.promised.get(&key).copied().unwrap_or_default();
        let wanted = purse.cost(most);
        let all = spent.and(&promised).and(&wanted);
        let whose = purse.user.map_or_else(|| "nobody in particular".to_owned(), |user| format!("user {user}"));
        if let Some(most) = purse.allowance.tokens_per_day
            && all.input_tokens + all.output_tokens > most
        {
            let used = spent.input_tokens + spent.output_tokens;
            return Err(ModelError::OverBudget(format!("{used} of {most} tokens a day are used for {whose}")));
        }
        if let Some(most) = purse.allowance.money_per_day
            && all.money > most
        {
            return Err(ModelError::OverBudget(format!("{:.4} of {most} a day are used for {whose}", spent.money)));
        }
        pages.promised.insert(key, promised.and(&wanted));
        Ok(())
    }

    /// Takes a promise back and writes down what it came to.
    pub(super) fn settle(&self, purse: &SpendBudget<'_>, most: &Usage, used: Option<&Usage>) {
        let key = (purse.name.to_owned(), account(purse.user).to_owned());
        let mut pages = self.today();
        let left = pages.promised.get(&key).copied().unwrap_or_default().without(&purse.cost(most));
        if left.requests == 0 {
            pages.promised.remove(&key)
        } else {
            pages.promised.insert(key.clone(), left)
        };
        if let Some(used) = used {
            let spent = pages.spent.entry(key.0).or_default().entry(key.1).or_default();
            *spent = spent.and(&purse.cost(used));
            self.save(&pages);
        }
    }

    pub(super) fn rung(&self, endpoint: &str) -> Option<JsonMode> {
        self.today().rungs.get(endpoint).copied()
    }

    pub(super) fn set_rung(&self, endpoint: &str, rung: JsonMode) {
        let mut pages = self.today();
        if pages.rungs.len() >= RUNGS_MAX && !pages.rungs.contains_key(endpoint) {
            pages.rungs.pop_first();
        }
        if pages.rungs.insert(endpoint.to_owned(), rung) != Some(rung) {
            self.save(&pages);
        }
    }

    /// Figures that cannot be written are still held while the process lives.
    fn save(&self, pages: &Pages) {
        let Some(path) = &self.path else { return };
        let Ok(bytes) = serde_json::to_vec_pretty(pages) else { return };
        let beside = path.with_extension("new");
        let written = fs::File::create(&beside).and_then(|mut file| file.write_all(&bytes));
        if written.is_ok() {
            let _ = fs::rename(&beside, path);
        }
    }
}

fn account(user: Option<&UserId>) -> &str {
    user.map_or(NOBODY, UserId::as_str)
}

/// Who pays for a request, under which name, at which prices.
pub(super) struct SpendBudget<'a> {
    pub(super) name: &'a str,
    pub(super) user: Option<&'a UserId>,
    pub(super) prices: Prices,
    pub(super) allowance: Allowance,
}

impl SpendBudget<'_> {
    fn cost(&self, usage: &Usage) -> Spent {
        Spent {
            requests: 1,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            money: self.prices.of(usage),
        }
    }
}

impl Spent {
    fn and(&self, other: &Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            money: self.money + other.money,
        }
    }

    fn without(&self, other: &Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            money: (self.money - other.money).max(0.0),
        }
    }
}
