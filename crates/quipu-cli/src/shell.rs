//! Command lines for people to paste into a shell.

use std::path::Path;

use crate::global::Global;

/// The start of a command line for the same memory as this one, with what only its flags say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPrefix(Vec<String>);

impl CommandPrefix {
    /// The program and the data folder. Flags whose values are in the environment are left out, as it stays.
    pub(crate) fn new(global: &Global) -> Self {
        let in_environment = std::env::var_os("QUIPU_DATA_DIR");
        let folder = global.data_dir.as_deref().filter(|folder| Some(folder.as_os_str()) != in_environment.as_deref());
        Self::of_folder(folder)
    }

    fn of_folder(folder: Option<&Path>) -> Self {
        let mut words = vec!["quipu".to_owned()];
        if let Some(folder) = folder {
            words.extend(["--data-dir".to_owned(), folder.display().to_string()]);
        }
        Self(words)
    }

    /// The same for a user.
    pub(crate) fn user(&self, user: &str) -> Self {
        Self(self.0.iter().map(String::as_str).chain(["-u", user]).map(str::to_owned).collect())
    }

    /// The command line with these arguments, each quoted if the shell needs it.
    pub(crate) fn with(&self, words: &[&str]) -> String {
        let all = self.0.iter().map(String::as_str).chain(words.iter().copied());
        all.map(quoted).collect::<Vec<_>>().join(" ")
    }
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    // No argument of a program contains NUL.
    shlex::try_quote(word).map_or_else(|_| format!("{word:?}"), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_a_shell_as_they_were() {
        let words = ["revert", "--source", "whatsapp:Ana's \"trip\" $HOME `id` & more; *.txt", "", "-", "ünï", "a\\b"];
        let line = CommandPrefix::of_folder(Some(Path::new("/tmp/my memory"))).user("ana@example.org").with(&words);
        let before = ["quipu", "--data-dir", "/tmp/my memory", "-u", "ana@example.org"];
        let expected: Vec<&str> = before.into_iter().chain(words).collect();
        assert_eq!(
            shlex::split(&line).as_deref(),
            Some(expected.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice())
        );
        if cfg!(unix) {
            let script = format!("quipu() {{ for word in \"$@\"; do printf '%s\\n' \"$word\"; done; }}\n{line}");
            let output = std::process::Command::new("sh").args(["-c", &script]).output();
            let shown = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
            assert_eq!(shown.lines().collect::<Vec<_>>(), expected[1..]);
        }
    }

    #[test]
    fn plain_words_are_not_quoted() {
        assert_eq!(CommandPrefix::of_folder(None).with(&["revert", "3"]), "quipu revert 3");
        assert_eq!(
            CommandPrefix::of_folder(None).user("me").with(&["revert", "--source", "chatgpt:export.zip"]),
            "quipu -u me revert --source chatgpt:export.zip"
        );
    }
}
