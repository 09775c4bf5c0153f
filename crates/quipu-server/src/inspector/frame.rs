//! The frame of every page: access checks, form and query fields, the call of the handler, and the layout.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use askama::Template;
use axum::extract::{Extension, RawPathParams, Request, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{Html, IntoResponse, Response};
use quipu_core::id::{Seq, UserId};
use quipu_engine::ports::Scope;
use quipu_engine::versions::{VersionExpression, When};
use quipu_engine::{Announced, Engine, Error, LogOptions, MemoryRef};

use super::assets::{NAMES, Names};
use super::fields::Fields;
use super::received::{ReceivedFile, ReceivedForm};
use super::sign_in::{cookie, has_desk, put_cookie, see_other, token};
use super::{security, shown};
use crate::app::App;
use crate::http::{Caller, Fault, RequestContext, collect_up_to};
use crate::word_caches::Gone;

/// The cookie that stores the theme.
const THEME: &str = "quipu_theme";
const YEAR: std::time::Duration = std::time::Duration::from_secs(365 * 24 * 60 * 60);

/// What a handler returns.
pub(super) enum PageResult {
    Page(String),
    /// A redirect, after a form was processed.
    See(String),
    /// A file to download.
    File {
        name: String,
        kind: &'static str,
        body: String,
    },
}

type Verb = fn(&PageContext<'_>) -> Result<PageResult, Fault>;

/// One page, or the action of a form.
pub(crate) struct Page {
    pub(super) method: Method,
    pub(super) path: &'static str,
    scope: Scope,
    verb: Verb,
    /// True for a form that uploads a file.
    has_file: bool,
}

impl Page {
    pub(super) fn get(path: &'static str, scope: Scope, verb: Verb) -> Self {
        Self { method: Method::GET, path, scope, verb, has_file: false }
    }

    pub(super) fn post(path: &'static str, scope: Scope, verb: Verb) -> Self {
        Self { method: Method::POST, path, scope, verb, has_file: false }
    }

    /// The form uploads a file.
    pub(super) fn with_file(self) -> Self {
        Self { has_file: true, ..self }
    }
}

/// Light, dark, or the browser's preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Theme {
    Auto,
    Light,
    Dark,
}

impl Theme {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        match cookie(headers, THEME).as_deref() {
            Some("light") => Self::Light,
            Some("dark") => Self::Dark,
            _ => Self::Auto,
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme that the switch selects next.
    pub(super) fn next(self) -> &'static str {
        match self {
            Self::Auto => "dark",
            Self::Dark => "light",
            Self::Light => "auto",
        }
    }
}

/// A request for a page, with everything a handler may use.
pub(super) struct PageContext<'a> {
    pub(super) app: &'a Arc<App>,
    pub(super) engine: &'a Engine,
    caller: &'a Caller,
    path: &'a BTreeMap<String, String>,
    /// Fields of the query string.
    pub(super) asked: Fields,
    /// Fields of the form.
    pub(super) sent: Fields,
    /// The file of the form.
    pub(super) file: Option<ReceivedFile>,
    theme: Theme,
    token: String,
    signed_in: bool,
    here: String,
    /// The host name of the request; one of this server's own.
    pub(super) host: String,
}

impl PageContext<'_> {
    /// A parameter of the path.
    pub(super) fn part(&self, name: &str) -> Result<&str, Fault> {
        self.path.get(name).map(String::as_str).ok_or_else(|| Error::Bug(format!("the path has no {name}")).into())
    }

    /// The user in the path, if the caller may see that user. Handlers have no other way to get a user.
    pub(super) fn user(&self) -> Result<UserId, Fault> {
        let user = UserId::parse(self.part("user_id")?).map_err(|refusal| Fault::invalid(refusal.to_string()))?;
        self.caller.must_be(&user)?;
        Ok(user)
    }

    /// Runs a destructive operation on the version whose preview the user saw, and drops the content from this
    /// server's caches.
    pub(super) fn destroying<'u, T>(
        &self,
        user: &'u UserId,
        (announced, gone): (Announced, Gone),
        operation: impl FnOnce(MemoryRef<'u>) -> Result<T, Error>,
    ) -> Result<T, Fault> {
        let version = match announced {
            Announced::Confirmed(version) => version,
            Announced::Unconfirmed(announcement) => return Err(Fault::unconfirmed(announcement, "")),
            Announced::Stale(announcement) => {
                return Err(Fault::outdated(announcement, "; go back and look at the page again"));
            }
        };
        let done = operation(MemoryRef::of(user).at_version(version));
        // Also after an error: an erasure that is already recorded can fail later, at the plain files.
        if done.is_ok() || gone == Gone::Erased {
            self.app.word_caches.forget(user, gone);
        }
        Ok(done?)
    }

    /// The current time.
    pub(super) fn now(&self) -> jiff::Timestamp {
        self.app.clock.now()
    }

    pub(super) fn must_see_all(&self) -> Result<(), Fault> {
        self.caller.must_see_all()
    }

    /// The only user the caller may see, if the caller is restricted to one.
    pub(super) fn bound(&self) -> Option<&UserId> {
        self.caller.bound()
    }

    /// True if the caller has this scope.
    pub(super) fn may(&self, scope: Scope) -> bool {
        self.caller.must(scope).is_ok()
    }

    /// The requested version, and how the request named it. Defaults to now.
    pub(super) fn at(&self) -> Result<(When, Option<&str>), Fault> {
        let named = self.asked.get("at").filter(|at| !at.eq_ignore_ascii_case("now"));
        Ok((named.map_or(Ok(When::Now), |typed| self.version(typed))?, named))
    }

    /// Parses a version.
    pub(super) fn version(&self, typed: &str) -> Result<When, Fault> {
        Ok(parsed::<VersionExpression>(typed)?.at(self.engine)?)
    }

    /// A required field of the form.
    pub(super) fn needs(&self, name: &str, missing: &str) -> Result<&str, Fault> {
        self.sent.get(name).ok_or_else(|| Fault::invalid(missing.to_owned()))
    }

    /// A number from the query string, within bounds.
    pub(super) fn number(&self, name: &str, usual: usize, most: usize) -> usize {
        self.asked.get(name).and_then(|text| text.parse().ok()).unwrap_or(usual).min(most)
    }

    /// The frame of a page about no user.
    pub(super) fn frame(&self, title: &str, place: &'static str) -> Frame {
        Frame {
            title: title.to_owned(),
            place,
            assets: &NAMES,
            theme: self.theme,
            token: self.token.clone(),
            signed_in: self.signed_in,
            may: May {
                read: self.may(Scope::Read),
                write: self.may(Scope::Write),
                review: self.may(Scope::Review),
                admin: self.may(Scope::Admin),
                all: self.caller.bound().is_none(),
            },
            here: self.here.clone(),
            user: String::new(),
            base: String::new(),
            version: 0,
            waiting: 0,
            query: String::new(),
            done: None,
            live: None,
        }
    }

    /// The frame of a page about a user.
    pub(super) fn frame_of(&self, user: &UserId, title: &str, place: &'static str) -> Result<Frame, Fault> {
        let done = self.asked.get("done").and_then(|seq| seq.parse::<Seq>().ok());
        let waiting = if self.may(Scope::Review) { quipu_engine::waiting(self.engine, user)? } else { 0 };
        Ok(Frame {
            user: user.to_string(),
            base: base(user),
            version: quipu_engine::versions::version(self.engine, user)?,
            waiting,
            done: done.map(|seq| self.done(user, seq)).transpose()?.flatten(),
            ..self.frame(title, place)
        })
    }

    /// The event that was just recorded, as the ledger describes it.
    fn done(&self, user: &UserId, seq: Seq) -> Result<Option<RecordedAction>, Fault> {
        let options = LogOptions { before: seq.checked_add(1), limit: 1, reference: None };
        let found = quipu_engine::log::log(self.engine, user, &options)?.into_iter().find(|entry| entry.seq == seq);
        let of = |name: &str| self.asked.get(name).unwrap_or_default().to_owned();
        let (review, after) = (of("review"), of("after"));
        Ok(found.map(|entry| RecordedAction {
            seq,
            summary: entry.summary.clone(),
            review,
            after,
            final_: entry.summary.starts_with("erased"),
            counts: entry.standing == quipu_engine::log::EventStatus::Counts,
        }))
    }
}

/// The path prefix of a user's pages.
pub(super) fn base(user: &UserId) -> String {
    format!("/ui/u/{user}")
}

/// Parses a text.
pub(super) fn parsed<T: FromStr>(text: &str) -> Result<T, Fault>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| Fault::invalid(error.to_string()))
}

/// What the caller may do.
pub(super) struct May {
    pub(super) read: bool,
    pub(super) write: bool,
    pub(super) review: bool,
    pub(super) admin: bool,
    /// True if the caller may see all users.
    pub(super) all: bool,
}

/// The action that was just recorded.
pub(super) struct RecordedAction {
    pub(super) seq: Seq,
    pub(super) summary: String,
    /// The review it decided, if it did; then it can be undone in one step.
    pub(super) review: String,
    /// The page of the review queue on which it was decided.
    pub(super) after: String,
    pub(super) final_: bool,
    pub(super) counts: bool,
}

/// The frame around every page.
pub(super) struct Frame {
    pub(super) title: String,
    /// The selected entry of the navigation.
    pub(super) place: &'static str,
    pub(super) assets: &'static Names,
    pub(super) theme: Theme,
    pub(super) token: String,
    pub(super) signed_in: bool,
    pub(super) may: May,
    /// The address of this page.
    pub(super) here: String,
    /// The user whose memory it is; empty on pages about no user.
    pub(super) user: String,
    pub(super) base: String,
    pub(super) version: Seq,
    /// Number of pending reviews.
    pub(super) waiting: usize,
    /// The content of the search field.
    pub(super) query: String,
    pub(super) done: Option<RecordedAction>,
    /// What the page listens to, if it is not the version of the memory.
    pub(super) live: Option<String>,
}

impl Frame {
    /// The event stream that the page listens to.
    pub(super) fn live(&self) -> Option<String> {
        let of_memory = || self.is_live().then(|| format!("{}/live?after={}", self.base, self.version));
        self.live.clone().or_else(of_memory)
    }

    /// True for pages of an existing memory that show what is current, and not the result of a question or of a form.
    fn is_live(&self) -> bool {
        let is_result = ["ask", "search", "pack", "upkeep", "import", "privacy"].contains(&self.place);
        !self.user.is_empty() && self.version > 0 && self.may.read && !is_result
    }
}

/// Renders a template.
pub(super) fn page(template: &impl Template) -> Result<PageResult, Fault> {
    let bug = |error: askama::Error| Error::Bug(format!("cannot render a page: {error}"));
    Ok(PageResult::Page(template.render().map_err(bug)?))
}

#[derive(Template)]
#[template(path = "fault.html")]
struct Broken<'a> {
    f: Frame,
    message: &'a str,
    status: u16,
    request_id: &'a str,
}

pub(super) fn wrong_token() -> Fault {
    Fault::out_of_scope("this form is too old: go back, load the page again, and send it once more").code("token")
}

/// Answers a request for a page.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Extension(page): Extension<Arc<Page>>,
    Extension(met): Extension<RequestContext>,
    params: RawPathParams,
    request: Request,
) -> Response {
    let path: BTreeMap<String, String> =
        params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let headers = request.headers().clone();
    let here = request.uri().path_and_query().map_or("/", |whole| whole.as_str()).to_owned();
    let outcome = run(&app, &page, &met, path, request).await;
    if page.method == Method::POST {
        let status = outcome.as_ref().map_or_else(|fault| fault.status.as_u16(), |_| 200);
        let (key, request_id) = (met.caller.name(), met.request_id.as_str());
        tracing::info!(page = page.path, key, request_id, status, "a form of the inspector was sent");
    }
    match outcome {
        Ok(PageResult::Page(page)) => Html(page).into_response(),
        Ok(PageResult::See(to)) => see_other(&to),
        Ok(PageResult::File { name, kind, body }) => {
            let mut response = ([(CONTENT_TYPE, HeaderValue::from_static(kind))], body).into_response();
            if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")) {
                response.headers_mut().insert(CONTENT_DISPOSITION, value);
            }
            response
        }
        Err(fault) => {
            let empty = BTreeMap::new();
            let desk = desk(&app, &met.caller, &empty, (Fields::default(), ReceivedForm::default()), &headers, here);
            let frame = desk.frame(shown::status(fault.status.as_u16()), "");
            let (message, status) = (fault.message(), fault.status.as_u16());
            match (Broken { f: frame, message, status, request_id: &met.request_id }).render() {
                Ok(page) => (fault.status, Html(page)).into_response(),
                Err(_) => fault.answer(None, Some(&met.request_id)),
            }
        }
    }
}

fn desk<'a>(
    app: &'a Arc<App>,
    caller: &'a Caller,
    path: &'a BTreeMap<String, String>,
    (asked, form): (Fields, ReceivedForm),
    headers: &HeaderMap,
    here: String,
) -> PageContext<'a> {
    PageContext {
        app,
        engine: &app.engine,
        caller,
        path,
        asked,
        sent: form.fields,
        file: form.file,
        theme: Theme::of(headers),
        token: token(app, headers),
        signed_in: has_desk(app, headers),
        here,
        host: headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default().to_owned(),
    }
}

async fn run(
    app: &Arc<App>,
    page: &Arc<Page>,
    met: &RequestContext,
    path: BTreeMap<String, String>,
    request: Request,
) -> Result<PageResult, Fault> {
    met.caller.must(page.scope)?;
    if let Some(user) = path.get("user_id") {
        // Checked before anything is read, so that an unauthorised caller learns nothing about the user.
        let user = UserId::parse(user).map_err(|refusal| Fault::invalid(refusal.to_string()))?;
        met.caller.must_be(&user)?;
    }
    let (parts, body) = request.into_parts();
    let bounds = &app.options.bounds;
    let mut form = ReceivedForm::default();
    if page.method == Method::POST {
        if !security::is_from_own_page(&parts.headers) {
            return Err(Fault::forbidden("forms are accepted from pages of this server only"));
        }
        form = match page.has_file {
            true => ReceivedForm::read_upload(app, &parts, body).await?,
            false => ReceivedForm::read(app, &parts, body).await?,
        };
    }
    let asked = Fields::read(parts.uri.query().unwrap_or_default().as_bytes());
    if page.method == Method::POST && form.fields.get("token") != Some(token(app, &parts.headers).as_str()) {
        return Err(wrong_token());
    }
    let slot = tokio::time::timeout(bounds.verb_waits, app.verbs.clone().acquire_owned()).await;
    let slot = slot.ok().and_then(Result::ok).ok_or_else(|| Fault::busy(bounds.verb_waits))?;
    let (app, page, caller) = (app.clone(), page.clone(), met.caller.clone());
    let work = tokio::task::spawn_blocking(move || {
        let _slot = slot;
        let here = parts.uri.path_and_query().map_or("/", |whole| whole.as_str()).to_owned();
        (page.verb)(&desk(&app, &caller, &path, (asked, form), &parts.headers, here))
    });
    work.await.map_err(|_| Error::Bug("rendering a page was aborted".to_owned()))?
}

/// Stores the theme.
pub(super) async fn theme(
    State(app): State<Arc<App>>,
    Extension(met): Extension<RequestContext>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    if !security::is_from_own_page(&parts.headers) {
        return Fault::forbidden("forms are accepted from pages of this server only")
            .answer(None, Some(&met.request_id));
    }
    let body = match collect_up_to(&parts, body, 4 << 10, app.options.bounds.body_within).await {
        Ok(body) => body,
        Err(fault) => return fault.answer(None, Some(&met.request_id)),
    };
    let form = Fields::read(&body);
    let back = form.get("back").filter(|back| super::is_page(back.split('?').next().unwrap_or_default()));
    let mut response = see_other(back.unwrap_or("/"));
    let word = form.get("theme").filter(|word| ["light", "dark"].contains(word)).unwrap_or("auto");
    put_cookie(&mut response, THEME, word, YEAR, false);
    response
}
