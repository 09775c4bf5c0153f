//! The frame of all API routes: scopes, request parsing, dispatch to an operation, and the response. Each route is a
//! row of a table from which both the router and the OpenAPI document are built.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, RawPathParams, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use quipu_core::calendar::TimeExpression;
use quipu_core::id::{Seq, UserId};
use quipu_core::limit;
use quipu_engine::ports::Scope;
use quipu_engine::versions::{self, VersionExpression, When};
use quipu_engine::{Announced, Engine, EntryPoint, Error, Freshness, MemoryRef};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::caller::{Caller, RequestContext};
use super::super::fault::Fault;
use super::super::pass;
use super::{live, sent};
use crate::app::App;
use crate::word_caches::Gone;

pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;
type Verb = Arc<dyn Fn(&Call<'_>, &ReceivedBody) -> Result<Answered, Fault> + Send + Sync>;

const JSON: &str = "application/json";

/// Bytes and content type of a response.
pub(super) struct Answered {
    pub(super) bytes: Vec<u8>,
    pub(super) kind: &'static str,
}

/// The request as received.
pub(super) struct ReceivedBody {
    pub(super) uri: Uri,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) body: Bytes,
}

/// A route.
pub(crate) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// Summary in the OpenAPI document.
    pub(super) about: &'static str,
    pub(super) scope: Scope,
    /// True if it accepts an `Idempotency-Key`.
    pub(super) is_keyed: bool,
    /// True if it accepts an `If-Match`.
    pub(super) is_conditional: bool,
    /// True if it may require a confirmation token.
    pub(super) is_announced: bool,
    /// True if requests are written to the audit log.
    is_grave: bool,
    /// True if it can stream events.
    is_live: bool,
    /// True if its body may be as large as a proxied one.
    is_large: bool,
    /// Content types of a response other than JSON.
    pub(super) kinds: &'static [&'static str],
    pub(super) query: Option<SchemaOf>,
    pub(super) body: Option<SchemaOf>,
    pub(super) answer: SchemaOf,
    verb: Verb,
}

pub(super) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

pub(super) fn bytes<A: Serialize>(answer: &A) -> Result<Answered, Fault> {
    let written = serde_json::to_vec(answer);
    let bytes = written.map_err(|error| Error::Bug(format!("an answer cannot be written as JSON: {error}")))?;
    Ok(Answered { bytes, kind: JSON })
}

impl Route {
    fn new(
        method: Method,
        path: &'static str,
        about: &'static str,
        scope: Scope,
        answer: SchemaOf,
        verb: Verb,
    ) -> Self {
        let (is_keyed, is_conditional, is_grave, is_live) = (false, false, false, false);
        Self {
            method,
            path,
            about,
            scope,
            is_keyed,
            is_conditional,
            is_announced: false,
            is_grave,
            is_live,
            is_large: false,
            kinds: &[],
            query: None,
            body: None,
            answer,
            verb,
        }
    }

    /// A GET route with query parameters.
    pub(super) fn get<Q, A>(path: &'static str, about: &'static str, verb: fn(&Call<'_>, Q) -> Result<A, Fault>) -> Self
    where
        Q: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema + 'static,
    {
        let run: Verb = Arc::new(move |call, sent| bytes(&verb(call, sent::query(sent)?)?));
        Self { query: Some(schema::<Q>), ..Self::new(Method::GET, path, about, Scope::Read, schema::<A>, run) }
    }

    /// A route with query parameters whose response may be other than JSON.
    pub(super) fn of_query<Q>(
        method: Method,
        path: &'static str,
        about: &'static str,
        kinds: &'static [&'static str],
        answer: SchemaOf,
        verb: fn(&Call<'_>, Q) -> Result<Answered, Fault>,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + 'static,
    {
        let run: Verb = Arc::new(move |call, sent| verb(call, sent::query(sent)?));
        let scope = if method == Method::GET { Scope::Read } else { Scope::Write };
        Self { query: Some(schema::<Q>), kinds, ..Self::new(method, path, about, scope, answer, run) }
    }

    /// A route with query parameters and a body.
    pub(super) fn of_both<Q, B, A>(
        method: Method,
        path: &'static str,
        about: &'static str,
        verb: fn(&Call<'_>, Q, B) -> Result<A, Fault>,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + 'static,
        B: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema + 'static,
    {
        let run: Verb = Arc::new(move |call, sent| {
            let (query, body) = sent::query_and_body(sent)?;
            bytes(&verb(call, query, body)?)
        });
        let (query, body): (Option<SchemaOf>, Option<SchemaOf>) = (Some(schema::<Q>), Some(schema::<B>));
        Self { query, body, ..Self::new(method, path, about, Scope::Write, schema::<A>, run) }
    }

    /// A route with a body.
    pub(super) fn of_body<B, A>(
        method: Method,
        path: &'static str,
        about: &'static str,
        verb: fn(&Call<'_>, B) -> Result<A, Fault>,
    ) -> Self
    where
        B: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema + 'static,
    {
        let run: Verb = Arc::new(move |call, sent| bytes(&verb(call, sent::body(sent)?)?));
        Self { body: Some(schema::<B>), ..Self::new(method, path, about, Scope::Write, schema::<A>, run) }
    }

    /// A POST route with a body.
    pub(super) fn post<B, A>(
        path: &'static str,
        about: &'static str,
        verb: fn(&Call<'_>, B) -> Result<A, Fault>,
    ) -> Self
    where
        B: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema + 'static,
    {
        Self::of_body(Method::POST, path, about, verb)
    }

    /// A DELETE route without parameters.
    pub(super) fn delete<A>(path: &'static str, about: &'static str, verb: fn(&Call<'_>) -> Result<A, Fault>) -> Self
    where
        A: Serialize + JsonSchema + 'static,
    {
        let run: Verb = Arc::new(move |call, sent| {
            sent::nothing(sent)?;
            bytes(&verb(call)?)
        });
        Self { is_grave: true, ..Self::new(Method::DELETE, path, about, Scope::Admin, schema::<A>, run) }
    }

    /// Sets the required scope.
    pub(super) fn needs(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Accepts an `Idempotency-Key`.
    pub(super) fn keyed(self) -> Self {
        Self { is_keyed: true, ..self }
    }

    /// Accepts an `If-Match`.
    pub(super) fn conditional(self) -> Self {
        Self { is_conditional: true, ..self }
    }

    /// May require a confirmation token.
    pub(super) fn announced(self) -> Self {
        Self { is_announced: true, ..self }
    }

    /// Accepts a large body.
    pub(super) fn large(self) -> Self {
        Self { is_large: true, ..self }
    }

    /// Can stream events.
    pub(super) fn live(self) -> Self {
        Self { is_live: true, ..self }
    }

    /// True if it reads or writes memories, so that a request may say how current they must be.
    pub(super) fn uses_memory(&self) -> bool {
        !self.path.starts_with("/keys")
    }

    /// True if it can stream events.
    pub(super) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Writes requests to the audit log.
    pub(super) fn grave(self) -> Self {
        Self { is_grave: true, ..self }
    }
}

/// A request being answered, as an operation sees it.
pub(super) struct Call<'a> {
    pub(super) app: &'a Arc<App>,
    pub(super) engine: &'a Engine,
    caller: &'a Caller,
    path: &'a BTreeMap<String, String>,
    pub(super) idempotency_key: Option<String>,
    expected: Option<Seq>,
    has_min_version: bool,
}

impl Call<'_> {
    /// A path parameter.
    pub(super) fn part(&self, name: &str) -> Result<&str, Fault> {
        self.path.get(name).map(String::as_str).ok_or_else(|| Error::Bug(format!("the path has no {name}")).into())
    }

    /// The user in the path, if the caller may access this user.
    pub(super) fn user(&self) -> Result<UserId, Fault> {
        self.reached(self.user_named(self.part("user_id")?, "user_id")?)
    }

    /// A user whose memory has reached the version that the request requires. Not every operation opens the memory, so it is
    /// checked here.
    fn reached(&self, user: UserId) -> Result<UserId, Fault> {
        if self.has_min_version {
            versions::version(self.engine, &user)?;
        }
        Ok(user)
    }

    /// A user named elsewhere in the request, if the caller may access this user. All access to users goes through this
    /// check.
    pub(super) fn user_named(&self, name: &str, param: &str) -> Result<UserId, Fault> {
        let user = UserId::parse(name).map_err(|refusal| Fault::invalid(refusal.to_string()).at(param))?;
        self.caller.must_be(&user)?;
        Ok(user)
    }

    /// The user of a request that may omit it: the named one, else the key's, else the server's default.
    pub(super) fn own_user(&self, named: Option<&str>) -> Result<UserId, Fault> {
        if let Some(named) = named {
            return self.reached(self.user_named(named, "user_id")?);
        }
        let own = self.caller.bound().or(self.app.options.user.as_ref());
        self.reached(own.cloned().ok_or_else(|| Fault::invalid("no user: give user_id").at("user_id"))?)
    }

    /// Rejects callers without this scope.
    pub(super) fn must(&self, scope: Scope) -> Result<(), Fault> {
        self.caller.must(scope)
    }

    /// The user the caller is restricted to, if any.
    pub(super) fn bound(&self) -> Option<&UserId> {
        self.caller.bound()
    }

    pub(super) fn must_see_all(&self) -> Result<(), Fault> {
        self.caller.must_see_all()
    }

    /// The public id of the caller's key, if there is one.
    pub(super) fn key_id(&self) -> Option<&str> {
        self.caller.key_id()
    }

    /// The entry point recorded for writes through a compatibility interface.
    pub(super) fn entry(&self, interface: &'static str) -> EntryPoint {
        EntryPoint::new(interface, self.caller.key_id())
    }

    /// Runs a destructive operation on the version that was confirmed and that the request requires. `how` says where
    /// the token goes. Also drops the words of the user that this server caches.
    pub(super) fn destroying<'u, T>(
        &self,
        user: &'u UserId,
        (announced, gone): (Announced, Gone),
        how: &str,
        operation: impl FnOnce(MemoryRef<'u>) -> Result<T, Error>,
    ) -> Result<T, Fault> {
        let version = match announced {
            Announced::Confirmed(version) => version,
            Announced::Unconfirmed(announcement) => return Err(Fault::unconfirmed(announcement, how)),
            Announced::Stale(announcement) => return Err(Fault::outdated(announcement, how)),
        };
        // If the two versions differ, one of them is not the current one.
        let done = operation(MemoryRef::of(user).at_version(self.expected.or(version)));
        // Also after an error: a recorded erasure can still fail in the plain files.
        if done.is_ok() || gone == Gone::Erased {
            self.app.word_caches.forget(user, gone);
        }
        Ok(done?)
    }

    /// Rejects the request unless the memory is at the required version.
    pub(super) fn must_be_at(&self, version: Seq) -> Result<(), Fault> {
        match self.expected {
            Some(expected) if expected != version => Err(Error::Stale(format!(
                "the memory is at version {version}, not at {expected}. Nothing was changed; read it again and decide again"
            ))
            .into()),
            _ => Ok(()),
        }
    }

    /// Runs an operation that appends, under the precondition of the request.
    pub(super) fn writing<'u, T>(
        &self,
        user: &'u UserId,
        operation: impl FnOnce(MemoryRef<'u>) -> Result<T, Error>,
    ) -> Result<T, Fault> {
        Ok(operation(MemoryRef::of(user).at_version(self.expected))?)
    }

    /// Parses a version; defaults to now.
    pub(super) fn when(&self, text: Option<&str>, param: &str) -> Result<When, Fault> {
        let Some(text) = text else { return Ok(When::Now) };
        let version = parsed::<VersionExpression>(text, param)?.at(self.engine);
        version.map_err(|error| Fault::invalid(error.to_string()).at(param))
    }

    /// The time that an optional time as typed means now, with days as they are stored: when something holds.
    pub(super) fn time(&self, typed: Option<TimeExpression>, param: &str) -> Result<Option<Timestamp>, Fault> {
        self.engine.time_of(typed).map_err(|error| Fault::invalid(error.to_string()).at(param))
    }
}

/// Parses a value; an error names the parameter.
pub(super) fn parsed<T: FromStr>(text: &str, param: &str) -> Result<T, Fault>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| Fault::invalid(error.to_string()).at(param))
}

/// Answers a request on a route.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Extension(route): Extension<Arc<Route>>,
    Extension(met): Extension<RequestContext>,
    params: RawPathParams,
    request: Request,
) -> Response {
    let path: BTreeMap<String, String> =
        params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let outcome = run(&app, &route, &met, path, request).await;
    if route.is_grave {
        let status = outcome.as_ref().map_or_else(|fault| fault.status.as_u16(), |_| 200);
        let (key, request_id) = (met.caller.name(), met.request_id.as_str());
        tracing::info!(method = %route.method, route = route.path, key, request_id, status, "privileged request");
    }
    match outcome {
        Ok(response) => response,
        Err(fault) => fault.answer(None, Some(&met.request_id)),
    }
}

async fn run(
    app: &Arc<App>,
    route: &Arc<Route>,
    met: &RequestContext,
    path: BTreeMap<String, String>,
    request: Request,
) -> Result<Response, Fault> {
    let (parts, body) = request.into_parts();
    met.caller.must(route.scope)?;
    let (idempotency_key, expected) = conditions(route, &parts.headers)?;
    let freshness = sent::freshness(&parts.headers, route.uses_memory())?;
    if let Some(user) = path.get("user_id") {
        // Checked first: a caller who may not access a user learns nothing about that user.
        let user = UserId::parse(user).map_err(|refusal| Fault::invalid(refusal.to_string()).at("user_id"))?;
        met.caller.must_be(&user)?;
    }
    let headers = parts.headers.clone();
    let bounds = &app.options.bounds;
    let bytes_max = if route.is_large { bounds.body_bytes_max } else { bounds.api_body_bytes_max };
    let sent = collect(app, parts, body, bytes_max).await?;
    let left_at = if route.is_live { live::left_at(&headers)? } else { None };
    if route.is_live && live::is_wanted(&headers) {
        if freshness != Freshness::default() {
            return Err(Fault::invalid(format!(
                "a stream takes no {} and no {}",
                sent::MIN_VERSION,
                sent::MAX_STALENESS
            ))
            .at(sent::MIN_VERSION));
        }
        let asked: LiveQuery = sent::query(&sent)?;
        let user = path.get("user_id").map(|user| UserId::parse(user));
        let user = user.ok_or_else(|| Error::Bug("a live path names no user".to_owned()))?;
        let user = user.map_err(|refusal| Fault::invalid(refusal.to_string()).at("user_id"))?;
        return live::events(app, user, left_at.or(asked.after).unwrap_or(0)).await;
    }
    let slot = tokio::time::timeout(bounds.verb_waits, app.verbs.clone().acquire_owned()).await;
    let slot = slot.ok().and_then(Result::ok).ok_or_else(|| Fault::busy(bounds.verb_waits))?;
    let (app, route, caller) = (app.clone(), route.clone(), met.caller.clone());
    let work = tokio::task::spawn_blocking(move || {
        let _slot = slot;
        let engine = app.engine.requiring(freshness);
        let has_min_version = freshness.min_version.is_some();
        let (app, engine, caller, path) = (&app, &engine, &caller, &path);
        let call = Call { app, engine, caller, path, idempotency_key, expected, has_min_version };
        (route.verb)(&call, &sent)
    });
    let answer = work.await.map_err(|_| Error::Bug("an operation stopped without an answer".to_owned()))??;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static(answer.kind))], answer.bytes).into_response())
}

/// Start position of an event stream.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LiveQuery {
    after: Option<Seq>,
}

/// Reads `Idempotency-Key` and `If-Match`; a route that does not support one rejects it.
fn conditions(route: &Route, headers: &HeaderMap) -> Result<(Option<String>, Option<Seq>), Fault> {
    let text = |name: &str| {
        let value = headers.get(name).map(|value| value.to_str().map(str::trim));
        value.transpose().map_err(|_| Fault::invalid(format!("the header {name} is not plain text")).at(name))
    };
    let key = text("idempotency-key")?.map(str::to_owned);
    if let Some(key) = &key {
        if !route.is_keyed {
            return Err(Fault::invalid("this route takes no Idempotency-Key").at("Idempotency-Key"));
        }
        if key.is_empty() || key.len() > limit::NOTE_BYTES_MAX {
            let wrong = format!("an Idempotency-Key has 1 to {} bytes", limit::NOTE_BYTES_MAX);
            return Err(Fault::invalid(wrong).at("Idempotency-Key"));
        }
    }
    let Some(version) = text("if-match")? else { return Ok((key, None)) };
    if !route.is_conditional {
        return Err(Fault::invalid("this route takes no If-Match").at("If-Match"));
    }
    let bare = version.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(version);
    let wrong = || Fault::invalid("If-Match is the version the memory must have, such as \"12\"").at("If-Match");
    Ok((key, Some(bare.parse().map_err(|_| wrong())?)))
}

async fn collect(app: &App, parts: Parts, body: Body, bytes_max: usize) -> Result<ReceivedBody, Fault> {
    if parts.headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(
            Fault::unsupported("Content-Encoding is not supported: send the body unencoded").at("Content-Encoding")
        );
    }
    let body = pass::collect_up_to(&parts, body, bytes_max, app.options.bounds.body_within).await?;
    Ok(ReceivedBody { content_type: parts.headers.get(CONTENT_TYPE).cloned(), uri: parts.uri, body })
}
