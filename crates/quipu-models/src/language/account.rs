//! Usage and cost of language models per day and user, and the limits on them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use quipu_core::id::UserId;
use quipu_engine::ports::{Clock, ModelError, ModelWatch, Usage};
use serde::{Deserialize, Serialize};

use super::ladder::JsonMode;

/// The name for requests without a user.
const NOBODY: &str = "";

/// Prices of a model, in any currency.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Prices {
    /// Price of a million prompt tokens.
    pub input_per_million: f64,
    /// Price of a million answer tokens.
    pub output_per_million: f64,
}

impl Prices {
    /// The cost of `usage`.
    pub fn of(&self, usage: &Usage) -> f64 {
        (usage.input_tokens as f64 * self.input_per_million + usage.output_tokens as f64 * self.output_per_million)
            / 1e6
    }
}

/// Limits of one user for a day (UTC). `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Allowance {
    /// Tokens of prompts and answers together.
    pub tokens_per_day: Option<u64>,
    /// Money, in the currency of the prices.
    pub money_per_day: Option<f64>,
}

/// Usage and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// Requests that reached the server.
    pub requests: u64,
    /// Tokens of prompts.
    pub input_tokens: u64,
    /// Tokens of answers.
    pub output_tokens: u64,
    /// Cost, in the currency of the prices.
    pub money: f64,
}

/// Today's usage and each endpoint's JSON mode, for all models of a process. Optionally stored in a file.
pub struct ModelUsage {
    clock: Arc<dyn Clock>,
    path: Option<PathBuf>,
    pages: Mutex<Pages>,
    watch: OnceLock<Arc<dyn ModelWatch>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Pages {
    /// The day (UTC) of the figures.
    #[serde(default)]
    day: String,
    /// By name of the model's role, then by user.
    #[serde(default)]
    spent: BTreeMap<String, BTreeMap<String, Spent>>,
    /// The JSON mode by base URL and model.
    #[serde(default)]
    rungs: BTreeMap<String, JsonMode>,
    /// Upper bounds reserved for running requests. They count as spent until the requests end.
    #[serde(skip)]
    promised: BTreeMap<(String, String), Spent>,
}

/// Maximum number of endpoints whose JSON mode is recorded.
const RUNGS_MAX: usize = 64;

impl ModelUsage {
    /// Usage that is not stored.
    #[must_use]
    pub fn in_memory(clock: Arc<dyn Clock>) -> Self {
        Self { clock, path: None, pages: Mutex::default(), watch: OnceLock::new() }
    }

    /// Usage stored in a file. An unreadable file counts as empty, since it holds only the figures of today.
    #[must_use]
    pub fn in_file(clock: Arc<dyn Clock>, path: &Path) -> Self {
        let pages = fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { clock, path: Some(path.to_owned()), pages: Mutex::new(pages), watch: OnceLock::new() }
    }

    /// Today's usage of all users under a name of the settings.
    #[must_use]
    pub fn spent(&self, name: &str) -> Spent {
        let pages = self.today();
        pages.spent.get(name).into_iter().flat_map(BTreeMap::values).fold(Spent::default(), |all, one| all.and(one))
    }

    /// Today's usage of one user under a name of the settings.
    #[must_use]
    pub fn spent_by(&self, name: &str, user: Option<&UserId>) -> Spent {
        let pages = self.today();
        pages.spent.get(name).and_then(|users| users.get(account(user))).copied().unwrap_or_default()
    }

    /// Reports every request to `watch` from now on. Only the first call has an effect.
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
        // The map holds only sums, which a panic in another thread leaves valid.
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.day != day {
            pages.day = day;
            pages.spent.clear();
            // A server that was upgraded may support a stricter mode.
            pages.rungs.clear();
        }
        pages
    }

    /// Reserves the maximum cost of a request.
    ///
    /// # Errors
    /// `OverBudget` if that could exceed what is left today.
    pub(super) fn promise(&self, purse: &SpendBudget<'_>, most: &Usage) -> Result<(), ModelError> {
        let key = (purse.name.to_owned(), account(purse.user).to_owned());
        let mut pages = self.today();
        let spent = pages.spent.get(&key.0).and_then(|users| users.get(&key.1)).copied().unwrap_or_default();
        let promised = pages.promised.get(&key).copied().unwrap_or_default();
        let wanted = purse.cost(most);
        let all = spent.and(&promised).and(&wanted);
        let whose = purse.user.map_or_else(|| "requests without a user".to_owned(), |user| format!("user {user}"));
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

    /// Releases a reservation and records the actual usage.
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

    /// Figures that cannot be written stay in memory.
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

/// The user who is charged, the name of the role, and its prices.
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
