//! Reads documents in a process of its own, with limits on memory and processor time: whatever a document does to the
//! libraries that read it, only that process ends.

use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};

use clap::{Args, ValueEnum};
use quipu_engine::ports::{Document, DocumentKind, DocumentReader};
use quipu_engine::{Error, Result};

/// Memory of the process in bytes.
#[cfg(unix)]
const MEMORY_BYTES_MAX: u64 = 3 << 30;

/// Processor time of the process in seconds.
#[cfg(unix)]
const PROCESSOR_SECONDS_MAX: u64 = 120;

/// Longest answer of the process in bytes.
const ANSWER_BYTES_MAX: u64 = 512 << 20;

/// The hidden command that the process runs.
const COMMAND: &str = "read-document";

#[derive(Debug, Args)]
pub(crate) struct ReadDocumentArgs {
    /// The format
    #[arg(value_enum)]
    format: FormatArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    Html,
    Docx,
    Epub,
    Pdf,
    Mbox,
}

impl FormatArg {
    fn of(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Html => Self::Html,
            DocumentKind::Docx => Self::Docx,
            DocumentKind::Epub => Self::Epub,
            DocumentKind::Pdf => Self::Pdf,
            DocumentKind::Mbox => Self::Mbox,
        }
    }

    fn kind(self) -> DocumentKind {
        match self {
            Self::Html => DocumentKind::Html,
            Self::Docx => DocumentKind::Docx,
            Self::Epub => DocumentKind::Epub,
            Self::Pdf => DocumentKind::Pdf,
            Self::Mbox => DocumentKind::Mbox,
        }
    }
}

/// Reads documents with this program in another process.
pub(crate) struct DocumentProcess;

impl DocumentReader for DocumentProcess {
    fn read(&self, kind: DocumentKind, bytes: &[u8]) -> std::result::Result<Document, String> {
        let program =
            std::env::current_exe().map_err(|error| format!("cannot find the path of this program: {error}"))?;
        let format =
            FormatArg::of(kind).to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        let mut command = Command::new(program);
        command.args([COMMAND, &format]).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().map_err(|error| format!("cannot start a process to read it: {error}"))?;
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
        let mut answer = Vec::new();
        let read = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A process that ends early does not read all of it; its answer says why.
                let _ = stdin.map(|mut stdin| stdin.write_all(bytes));
            });
            stdout.map(|stdout| stdout.take(ANSWER_BYTES_MAX + 1).read_to_end(&mut answer))
        });
        if answer.len() as u64 > ANSWER_BYTES_MAX {
            let _ = process.kill();
        }
        let status = process.wait().map_err(|error| format!("the process that reads it is lost: {error}"))?;
        if let Some(Err(error)) = read {
            return Err(format!("the process that reads it cannot be heard: {error}"));
        }
        if answer.len() as u64 > ANSWER_BYTES_MAX {
            return Err("it has more text than a document should; split it".to_owned());
        }
        if status.code().is_some_and(|code| code != 0) {
            return Err(format!("the process that reads it ended before it could ({status})"));
        }
        if !status.success() {
            return Err(format!(
                "the process that read it ended ({status}), as it takes too much memory or time; it may be damaged, or made \
                 to do so. Open it in its program and save it again, or split it"
            ));
        }
        let answer: std::result::Result<Document, String> =
            serde_json::from_slice(&answer).map_err(|error| format!("its text cannot be understood: {error}"))?;
        answer
    }
}

/// The other process: reads a document from standard input, and writes its text, or what is wrong with it, to standard
/// output.
pub(crate) fn run(args: &ReadDocumentArgs) -> Result<ExitCode> {
    let wrong = |error: std::io::Error| Error::Unavailable(error.to_string());
    limit().map_err(wrong)?;
    let mut bytes = Vec::new();
    let most = quipu_core::limit::IMPORT_DOCUMENT_BYTES_MAX + 1;
    std::io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(wrong)?;
    let document = quipu_documents::read(args.format.kind(), &bytes);
    let answer = serde_json::to_vec(&document).map_err(|error| Error::Bug(error.to_string()))?;
    std::io::stdout().lock().write_all(&answer).map_err(wrong)?;
    Ok(ExitCode::SUCCESS)
}

/// Limits this process; it cannot lift them again.
#[cfg(unix)]
fn limit() -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let at_most = |limit: u64| Rlimit { current: Some(limit), maximum: Some(limit) };
    // macOS refuses a limit below what every process has mapped.
    #[cfg(not(target_os = "macos"))]
    setrlimit(Resource::As, at_most(MEMORY_BYTES_MAX))?;
    setrlimit(Resource::Cpu, at_most(PROCESSOR_SECONDS_MAX))?;
    // It writes no file and leaves no image of its memory.
    setrlimit(Resource::Fsize, at_most(0))?;
    setrlimit(Resource::Core, at_most(0))?;
    Ok(())
}

/// Without such limits, only panics and ends of the process are contained.
#[cfg(not(unix))]
fn limit() -> std::io::Result<()> {
    Ok(())
}
