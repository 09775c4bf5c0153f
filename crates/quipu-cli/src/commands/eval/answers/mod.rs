//! Answers, end to end: the pack of a question is given to a model, and what it answers is judged by the benchmark's rule.

mod chosen;
mod kept;
mod prompts;
mod report;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quipu_engine::ports::{CompletionRequest, LanguageModel, ModelError};
use quipu_engine::{Engine, Error, Result};
use quipu_models::language::{ModelUsage, RemoteModel};

use super::corpus::{Corpus, EvalQuestion, Kind, PreparedMemory};
use super::{heard, packed};
use crate::app;
use crate::output::Printer;
use crate::settings::{ModelRole, Settings};
use quipu::system::SystemEntropy;

use kept::{AnswerFolder, Reply, RunIs, Step};

/// What is measured, and by whom.
pub(super) struct AnswersOptions<'a> {
    pub(super) file: &'a Path,
    pub(super) kind: Option<Kind>,
    /// A role of the settings, or a model's name at the endpoint of `[models.chat]`.
    pub(super) model: &'a str,
    /// The same, at that of `[models.judge]`.
    pub(super) judge: Option<&'a str>,
    pub(super) questions: usize,
    pub(super) tokens: usize,
    pub(super) parallel: usize,
    pub(super) words_only: bool,
    pub(super) out: &'a Path,
}

pub(super) fn answers(settings: &Settings, printer: &Printer, wanted: &AnswersOptions<'_>) -> Result<()> {
    let corpus = Corpus::open(wanted.file, wanted.kind, &[])?;
    let kind = corpus.kind;
    if kind == Kind::Assistant {
        return Err(Error::Invalid("answers are judged by the rules of LoCoMo and BEAM only".to_owned()));
    }
    let is_wanted = |asked: &EvalQuestion| match kind {
        Kind::Beam => !asked.rubric.is_empty(),
        _ => asked.answer.is_some(),
    };
    let chosen = chosen::chosen(&corpus.told, is_wanted, chosen::SEED, wanted.questions);
    let ids: BTreeSet<String> = chosen.iter().map(|&(at, place)| corpus.told[at].asked[place].id.clone()).collect();
    let corpus = corpus.of_questions(|asked| ids.contains(&asked.id));
    let book = app::book(&settings.data_dir, settings);
    let judge = wanted.judge.or_else(|| has(settings, ModelRole::Judge).then(|| ModelRole::Judge.as_str()));
    let models = Models {
        model: model(settings, &book, wanted.model, ModelRole::Chat)?,
        judge: match judge {
            Some(name) => model(settings, &book, name, ModelRole::Judge)?,
            None => model(settings, &book, wanted.model, ModelRole::Chat)?,
        },
    };
    let kept = AnswerFolder::open(wanted.out, &run_is(&corpus, wanted, &models)?)?;
    let is_open = |asked: &EvalQuestion| Step::ALL.iter().any(|step| kept.get(&asked.id, *step).is_none());
    let open = corpus.of_questions(is_open);
    if !open.told.is_empty() {
        let (_folder, engine) = super::scratch(settings)?;
        let subjects = open.tell(&engine, printer, wanted.words_only)?;
        Run { kind, engine: &engine, models: &models, kept: &kept, tokens: wanted.tokens, printer }
            .ask_all(&subjects, wanted.parallel)?;
    }
    let asked: Vec<&EvalQuestion> = corpus.told.iter().flat_map(|told| &told.asked).collect();
    let about = report::About {
        kind,
        memory: heard::reading(wanted.words_only),
        model: models.model.id().to_owned(),
        judge: models.judge.id().to_owned(),
        tokens: wanted.tokens,
    };
    let report = report::Report::of(about, &asked, &kept)?;
    printer.report(&report, report::in_words)
}

/// What the folder is of.
fn run_is(corpus: &Corpus, wanted: &AnswersOptions<'_>, models: &Models) -> Result<RunIs> {
    let bytes = std::fs::read(wanted.file)
        .map_err(|error| Error::NotFound(format!("cannot read {}: {error}", wanted.file.display())))?;
    let (answer, judge) = prompts::instructions(corpus.kind);
    Ok(RunIs {
        kind: corpus.kind.as_str().to_owned(),
        file: blake3::hash(&bytes).to_hex().to_string(),
        memory: heard::reading(wanted.words_only).to_owned(),
        model: models.model.id().to_owned(),
        judge: models.judge.id().to_owned(),
        tokens: wanted.tokens,
        prompts: blake3::hash(format!("{answer}\0{judge}").as_bytes()).to_hex().to_string(),
    })
}

struct Models {
    model: Arc<RemoteModel>,
    judge: Arc<RemoteModel>,
}

fn has(settings: &Settings, role: ModelRole) -> bool {
    settings.models.iter().any(|set| set.role == role)
}

/// The model of a role's table, or one of another name at the endpoint of the usual role, or else of `[models.chat]`.
fn model(settings: &Settings, book: &Arc<ModelUsage>, name: &str, usual: ModelRole) -> Result<Arc<RemoteModel>> {
    let of_role = |role: ModelRole| settings.models.iter().find(|set| set.role == role);
    if let Some(set) = settings.models.iter().find(|set| set.role.as_str() == name) {
        let own = app::model(settings, book, set.role)?;
        return own.ok_or_else(|| Error::Bug(format!("the settings have no {name}")));
    }
    let Some(set) = of_role(usual).or_else(|| of_role(ModelRole::Chat)) else {
        let advice = "set [models.chat] in config.toml, with provider, base_url and model";
        return Err(Error::Invalid(format!("there is no model {name:?}: {advice}")));
    };
    let mut endpoint = set.endpoint.clone();
    endpoint.model = name.to_owned();
    let made = RemoteModel::new(set.role.as_str(), endpoint, book.clone(), Arc::new(SystemEntropy));
    Ok(Arc::new(made.map_err(|error| Error::Invalid(format!("the model {name:?}: {error}")))?))
}

struct Run<'a> {
    kind: Kind,
    engine: &'a Engine,
    models: &'a Models,
    kept: &'a AnswerFolder,
    tokens: usize,
    printer: &'a Printer,
}

impl Run<'_> {
    /// Asks all questions, several at a time. The first fault that asking again may mend ends it; what was answered is kept.
    fn ask_all(&self, subjects: &[PreparedMemory<'_>], parallel: usize) -> Result<()> {
        let all: Vec<(&PreparedMemory<'_>, &EvalQuestion)> =
            subjects.iter().flat_map(|subject| subject.told.asked.iter().map(move |asked| (subject, asked))).collect();
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        let stopped: Mutex<Option<Error>> = Mutex::new(None);
        let is_stopped = || stopped.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        std::thread::scope(|scope| {
            for _ in 0..parallel.min(all.len()) {
                scope.spawn(|| {
                    while !is_stopped()
                        && let Some((subject, asked)) = all.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        match self.ask(subject, asked) {
                            Ok(()) => {
                                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                                self.printer.hint(&format!("{done} of {}: {}", all.len(), asked.id));
                            }
                            Err(error) => {
                                stopped.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                            }
                        }
                    }
                });
            }
        });
        let Some(error) = stopped.into_inner().unwrap_or_else(PoisonError::into_inner) else { return Ok(()) };
        let done = done.into_inner();
        self.printer.hint(&format!("{done} of {} questions are answered and kept; run it again to go on", all.len()));
        Err(error)
    }

    fn ask(&self, subject: &PreparedMemory<'_>, asked: &EvalQuestion) -> Result<()> {
        let answer = match self.kept.get(&asked.id, Step::Answer) {
            Some(answer) => answer,
            None => {
                let size = Some(self.tokens);
                let pack = packed::pack(self.engine, &subject.told.user, subject, &asked.question, size)?;
                let day = subject.now.map_or_else(|| "unknown".to_owned(), |now| now.strftime("%-d %B %Y").to_string());
                let request = prompts::to_answer(self.kind, &pack.text, &day, &asked.question);
                let reply = reply(&self.models.model, &request, (&asked.id, Step::Answer))?;
                let reply = Reply { pack_tokens: Some(pack.tokens), ..reply };
                self.kept.push(reply.clone())?;
                reply
            }
        };
        if self.kept.get(&asked.id, Step::Judge).is_some() {
            return Ok(());
        }
        let request = prompts::to_judge(self.kind, asked, &answer.text);
        self.kept.push(reply(&self.models.judge, &request, (&asked.id, Step::Judge))?)
    }
}

/// Asks a model. That it will not answer is a reply too; anything else that goes wrong may go well another time.
fn reply(model: &RemoteModel, request: &CompletionRequest, (id, step): (&str, Step)) -> Result<Reply> {
    let outcome = model.complete(request, Duration::MAX);
    let mut reply = Reply {
        id: id.to_owned(),
        step,
        system: request.system.clone(),
        prompt: request.messages.iter().map(|message| message.text.as_str()).collect(),
        text: String::new(),
        json: None,
        fault: None,
        pack_tokens: None,
        input_tokens: 0,
        output_tokens: 0,
    };
    match outcome {
        Ok(done) => {
            (reply.text, reply.json) = (done.text, done.json);
            (reply.input_tokens, reply.output_tokens) = (done.usage.input_tokens, done.usage.output_tokens);
        }
        Err(fault @ (ModelError::Refused(_) | ModelError::Malformed(_) | ModelError::Truncated { .. })) => {
            reply.fault = Some(fault.to_string());
        }
        Err(error) => return Err(Error::Unavailable(format!("{}: {error}", model.id()))),
    }
    Ok(reply)
}
