//! The class `Memory`.

use std::path::PathBuf;
use std::str::FromStr;

use jiff::Timestamp;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pythonize::pythonize;
use quipu::core::calendar::TimeExpression;
use quipu::core::id::ItemKind;
use quipu::core::source::Role;
use quipu::engine::revert::{RevertOptions, Selection};
use quipu::engine::versions::{EventRef, VersionExpression, When};
use quipu::engine::{RememberOptions, facts, remember, revert};
use quipu::{ContextOptions, EraseTarget, Error, FactOptions, OpenOptions, RecallOptions, Result, Utterance};
use serde::Serialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as NameError, StrDeserializer};

use crate::errors::raised;

/// One user's memory in a folder. See the stubs (`_native.pyi`) for what its methods take and return.
#[pyclass(frozen, module = "quipu_embedded")]
pub(crate) struct Memory(quipu::Memory);

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (folder, *, user = "me"))]
    fn open(py: Python<'_>, folder: PathBuf, user: &str) -> PyResult<Self> {
        let options = OpenOptions { user: user.to_owned(), ..OpenOptions::default() };
        py.detach(|| quipu::Memory::open_with(folder, options)).map(Self).map_err(raised)
    }

    fn of_user(&self, name: &str) -> PyResult<Self> {
        self.0.of_user(name).map(Self).map_err(raised)
    }

    #[getter]
    fn user(&self) -> &str {
        self.0.user().as_str()
    }

    #[pyo3(signature = (text, *, role = "user", name = None, session = None, said_at = None, idempotency_key = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn remember<'py>(
        &self,
        py: Python<'py>,
        text: String,
        role: &str,
        name: Option<String>,
        session: Option<String>,
        said_at: Option<Bound<'py, PyAny>>,
        idempotency_key: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let said = Utterance { role: named::<Role>("role", role)?, author: name, session, ..Utterance::of_user(text) };
        let said = said.at(self.0.engine(), typed("said_at", said_at)?).map_err(raised)?;
        let options = RememberOptions { idempotency_key, ..RememberOptions::default() };
        self.call(py, |memory| remember(memory.engine(), memory.user(), &said, &options))
    }

    #[pyo3(signature = (question, *, limit = 8, session = None, kinds = Vec::new(), at = None, now = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn recall<'py>(
        &self,
        py: Python<'py>,
        question: &str,
        limit: usize,
        session: Option<String>,
        kinds: Vec<String>,
        at: Option<Bound<'py, PyAny>>,
        now: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = RecallOptions {
            k: limit,
            session,
            kinds: kinds.iter().map(|kind| named::<ItemKind>("kinds", kind)).collect::<PyResult<_>>()?,
            at: self.version("at", at)?,
            now: self.moment("now", now)?,
            ..RecallOptions::of(question)
        };
        self.call(py, |memory| memory.recall(options))
    }

    #[pyo3(signature = (request, *, max_tokens = None, session = None, at = None, now = None, cite = false))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]
    fn context<'py>(
        &self,
        py: Python<'py>,
        request: &str,
        max_tokens: Option<usize>,
        session: Option<String>,
        at: Option<Bound<'py, PyAny>>,
        now: Option<Bound<'py, PyAny>>,
        cite: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let shipped = ContextOptions::of(request);
        let options = ContextOptions {
            max_tokens: max_tokens.unwrap_or(shipped.max_tokens),
            session,
            at: self.version("at", at)?,
            now: self.moment("now", now)?,
            cite,
            ..shipped
        };
        self.call(py, |memory| memory.context(options))
    }

    #[pyo3(signature = (*, subject = None, predicate = None, at = None, valid_at = None, all = false))]
    fn facts<'py>(
        &self,
        py: Python<'py>,
        subject: Option<String>,
        predicate: Option<String>,
        at: Option<Bound<'py, PyAny>>,
        valid_at: Option<Bound<'py, PyAny>>,
        all: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = FactOptions {
            at: Some(self.version("at", at)?),
            valid_at: self.0.engine().time_of(typed("valid_at", valid_at)?).map_err(raised)?,
            all,
            subject,
            predicate,
        };
        self.call(py, |memory| facts(memory.engine(), memory.user(), &options))
    }

    fn why<'py>(&self, py: Python<'py>, item: &str) -> PyResult<Bound<'py, PyAny>> {
        self.call(py, |memory| memory.why(item))
    }

    #[pyo3(signature = (event, *, rationale = None))]
    fn revert<'py>(&self, py: Python<'py>, event: u64, rationale: Option<String>) -> PyResult<Bound<'py, PyAny>> {
        let selection = Selection::Events(vec![EventRef::Seq(event)]);
        let options = RevertOptions { rationale, ..RevertOptions::default() };
        self.call(py, |memory| {
            revert::revert(memory.engine(), memory.user(), &selection, &options, &mut |_| {})
                .map(|(receipt, _)| receipt)
        })
    }

    fn erase<'py>(&self, py: Python<'py>, items: Vec<String>, reason: &str) -> PyResult<Bound<'py, PyAny>> {
        let targets: Vec<EraseTarget> = items.iter().map(|item| item.parse()).collect::<Result<_>>().map_err(raised)?;
        self.call(py, |memory| memory.erase(&targets, reason))
    }

    fn __repr__(&self) -> String {
        format!("<quipu_embedded.Memory of {:?}>", self.user())
    }
}

impl Memory {
    /// Calls the engine without the interpreter's lock, and converts the result.
    fn call<'py, T: Serialize + Send>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&quipu::Memory) -> Result<T> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let result = py.detach(|| work(&self.0)).map_err(raised)?;
        Ok(pythonize(py, &result)?)
    }

    /// The moment that a time means.
    fn moment(&self, argument: &str, given: Option<Bound<'_, PyAny>>) -> PyResult<Option<Timestamp>> {
        self.0.engine().moment_of(typed(argument, given)?).map_err(|error| refused(argument, &error))
    }

    /// A version: the number of an event, a `datetime`, or what [`VersionExpression`] parses. `None` is the current one.
    fn version(&self, argument: &str, given: Option<Bound<'_, PyAny>>) -> PyResult<When> {
        let Some(given) = given else { return Ok(When::Now) };
        let read = || match given.extract::<u64>() {
            Ok(seq) => Ok(When::Seq(seq)),
            Err(_) => text_of(argument, &given)?
                .parse()
                .and_then(|version: VersionExpression| version.at(self.0.engine()))
                .map_err(|error| raised(Error::Invalid(format!("{argument}: {error}")))),
        };
        read()
    }
}

fn refused(argument: &str, why: &dyn std::fmt::Display) -> PyErr {
    raised(Error::Invalid(format!("{argument}: {why}")))
}

/// A time: a `datetime` with a time zone, or what [`TimeExpression`] parses.
fn typed(argument: &str, given: Option<Bound<'_, PyAny>>) -> PyResult<Option<TimeExpression>> {
    let parsed = |given| TimeExpression::from_str(&text_of(argument, &given)?).map_err(|why| refused(argument, &why));
    given.map(parsed).transpose()
}

/// The text of a time that was given as a string or a `datetime`.
fn text_of(argument: &str, given: &Bound<'_, PyAny>) -> PyResult<String> {
    if given.is_instance_of::<PyString>() {
        return given.extract();
    }
    let refused = |what: &str| raised(Error::Invalid(format!("{argument}: {given} {what}")));
    let is_aware = given
        .call_method0("utcoffset")
        .map_err(|_| refused("is neither a string nor a datetime"))
        .map(|offset| !offset.is_none())?;
    if !is_aware {
        return Err(refused("has no time zone; use for example datetime.now(timezone.utc)"));
    }
    given.call_method0("isoformat")?.extract()
}

/// A value by its name in JSON.
fn named<'de, T: serde::Deserialize<'de>>(argument: &str, name: &'de str) -> PyResult<T> {
    let deserializer: StrDeserializer<'de, NameError> = name.into_deserializer();
    T::deserialize(deserializer).map_err(|error| raised(Error::Invalid(format!("{argument}: {error}"))))
}
