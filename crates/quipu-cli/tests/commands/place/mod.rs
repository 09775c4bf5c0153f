//! Where the command is run: a folder of its own, and nothing of the machine's settings.

use std::process::{Command, Output, Stdio};

/// A folder of its own with settings in it.
pub(crate) struct Place(pub(crate) tempfile::TempDir);

impl Place {
    pub(crate) fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("quipu")).unwrap();
        std::fs::write(folder.path().join("quipu/config.toml"), config).unwrap();
        Self(folder)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command
            .args(args)
            .env_clear()
            .env("TZ", "UTC")
            .env("HOME", self.0.path())
            .env("XDG_CONFIG_HOME", self.0.path());
        command.env("QUIPU_DATA_DIR", self.0.path().join("data")).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }
}
