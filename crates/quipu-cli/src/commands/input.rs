//! Reads files, standard input and the terminal.

use std::io::{BufRead, Read};
use std::path::Path;

use quipu_core::ledger::{self, SealedEvent};
use quipu_engine::{Error, Result};

/// Decodes input.
pub(crate) fn utf8(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        Error::Invalid(format!(
            "the input is not UTF-8: byte {} is wrong; convert it first",
            error.utf8_error().valid_up_to()
        ))
    })
}

/// Reads a text file, or standard input for `-`.
pub(crate) fn text_of(path: &Path) -> Result<String> {
    let most = 4 * quipu_core::limit::SOURCE_BYTES_MAX as u64;
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().take(most).read_to_end(&mut bytes)
    } else {
        let unreadable = |error| Error::NotFound(format!("cannot read {}: {error}", path.display()));
        std::fs::File::open(path).map_err(unreadable)?.take(most).read_to_end(&mut bytes)
    }
    .map_err(|error| Error::Unavailable(error.to_string()))?;
    if bytes.len() as u64 == most {
        return Err(Error::Invalid(format!("{} has more than {} bytes; split it", path.display(), most - 1)));
    }
    utf8(bytes)
}

/// Reads a file of sealed events.
pub(crate) fn read_events(path: &Path) -> Result<Vec<SealedEvent>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::NotFound(format!("cannot read {}: {error}", path.display())))?;
    let line = |(number, line): (usize, &str)| {
        ledger::read_line(line)
            .map_err(|error| Error::Invalid(format!("{} line {}: {error}", path.display(), number + 1)))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(line).collect()
}

/// Reads a bundle; `None` if the file is not one.
pub(crate) fn bundle_in(path: &Path) -> Result<Option<String>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::NotFound(format!("cannot read {}: {error}", path.display())))?;
    Ok(quipu_core::ledger::is_bundle(&text).then_some(text))
}

/// Asks a question on the terminal whose usual answer is yes. Only an answer that begins with n declines.
pub(crate) fn confirm_usual(question: &str) -> Result<bool> {
    eprint!("{question} ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).map_err(|error| Error::Unavailable(error.to_string()))?;
    if read == 0 {
        return Err(Error::Invalid("the input ended before the answer; nothing was imported".to_owned()));
    }
    Ok(!answer.trim_start().to_lowercase().starts_with('n'))
}

/// Asks for confirmation on the terminal. Any answer but "yes" declines.
pub(crate) fn confirm(question: &str) -> Result<bool> {
    eprint!("{question} Type yes: ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(|error| Error::Unavailable(error.to_string()))?;
    Ok(answer.trim() == "yes")
}
