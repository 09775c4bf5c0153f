//! End-to-end answers: a model gets the pack of each question, and its answer is judged by the benchmark's rule.

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
use quipu_models::language::{Endpoint, ModelUsage, RemoteModel};

use super::corpus::{Corpus, CorpusKind, EvalQuestion, PreparedMemory};
use super::{heard, packed};
use crate::environment::{Environment, Measurement, Output};
use quipu::system::SystemEntropy;

use kept::{AnswerFolder, Reply, RunIs, Step};

/// The default roles in the settings for answering and judging.
const CHAT: &str = "chat";
const JUDGE: &str = "judge";

/// What is measured, with which models.
pub(super) struct AnswersOptions<'a> {
    pub(super) file: &'a Path,
    pub(super) kind: Option<CorpusKind>,
    /// A role in the settings, or a model's name at the endpoint of `[models.chat]`.
    pub(super) model: &'a str,
    /// The same, at the endpoint of `[models.judge]`.
    pub(super) judge: Option<&'a str>,
    pub(super) questions: usize,
    pub(super) tokens: usize,
    pub(super) parallel: usize,
    pub(super) words_only: bool,
    pub(super) out: &'a Path,
}

pub(super) fn answers(
    environment: &dyn Environment,
    output: &dyn Output,
    wanted: &AnswersOptions<'_>,
) -> Result<Measurement> {
    let corpus = Corpus::open(wanted.file, wanted.kind, &[])?;
    let kind = corpus.kind;
    if kind == CorpusKind::Assistant {
        return Err(Error::Invalid("answers are judged by the rules of LoCoMo and BEAM only".to_owned()));
    }
    let is_wanted = |asked: &EvalQuestion| match kind {
        CorpusKind::Beam => !asked.rubric.is_empty(),
        _ => asked.answer.is_some(),
    };
    let chosen = chosen::chosen(&corpus.told, is_wanted, chosen::SEED, wanted.questions);
    let ids: BTreeSet<String> = chosen.iter().map(|&(at, place)| corpus.told[at].asked[place].id.clone()).collect();
    let corpus = corpus.of_questions(|asked| ids.contains(&asked.id));
    let book = environment.model_usage();
    let judge = wanted.judge.or_else(|| environment.endpoint(JUDGE).map(|_| JUDGE));
    let models = Models {
        model: model(environment, &book, wanted.model, CHAT)?,
        judge: match judge {
            Some(name) => model(environment, &book, name, JUDGE)?,
            None => model(environment, &book, wanted.model, CHAT)?,
        },
    };
    let kept = AnswerFolder::open(wanted.out, &run_is(&corpus, wanted, &models)?)?;
    let is_open = |asked: &EvalQuestion| Step::ALL.iter().any(|step| kept.get(&asked.id, *step).is_none());
    let open = corpus.of_questions(is_open);
    if !open.told.is_empty() {
        let (_folder, engine) = super::scratch(environment)?;
        let subjects = open.tell(&engine, output, wanted.words_only)?;
        Run { kind, engine: &engine, models: &models, kept: &kept, tokens: wanted.tokens, output }
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
    Measurement::of(&report, report::in_words)
}

/// Describes the run of the folder.
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

/// The model of a role's table, or a model by name at the endpoint of the default role, or else of `[models.chat]`.
fn model(
    environment: &dyn Environment,
    book: &Arc<ModelUsage>,
    name: &str,
    usual: &'static str,
) -> Result<Arc<RemoteModel>> {
    let make = |role: &str, endpoint: Endpoint, called: &str| {
        let made = RemoteModel::new(role, endpoint, book.clone(), Arc::new(SystemEntropy));
        Ok(Arc::new(made.map_err(|error| Error::Invalid(format!("{called}: {error}")))?))
    };
    if let Some(endpoint) = environment.endpoint(name) {
        return make(name, endpoint, &format!("[models.{name}]"));
    }
    let of_role = |role: &'static str| environment.endpoint(role).map(|endpoint| (role, endpoint));
    let Some((role, endpoint)) = of_role(usual).or_else(|| of_role(CHAT)) else {
        let advice = "set [models.chat] in config.toml, with provider, base_url and model";
        return Err(Error::Invalid(format!("there is no model {name:?}: {advice}")));
    };
    make(role, Endpoint { model: name.to_owned(), ..endpoint }, &format!("the model {name:?}"))
}

struct Run<'a> {
    kind: CorpusKind,
    engine: &'a Engine,
    models: &'a Models,
    kept: &'a AnswerFolder,
    tokens: usize,
    output: &'a dyn Output,
}

impl Run<'_> {
    /// Asks all questions, several at a time. Stops at the first error that a retry may fix; replies so far stay
    /// stored.
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
                                self.output.hint(&format!("{done} of {}: {}", all.len(), asked.id));
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
        self.output.hint(&format!(
            "{done} of {} questions are answered and stored; run the command again to continue",
            all.len()
        ));
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

/// Calls a model. A refusal is a reply too; any other error may succeed when retried.
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
