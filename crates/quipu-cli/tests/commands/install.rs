//! `quipu install` and `uninstall`: only Quipu's own entry is touched, and it can be taken out again to the byte.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A home of its own.
struct Home(tempfile::TempDir);

const CLIENTS: [(&str, &str); 5] = [
    ("claude-desktop", ".config/Claude/claude_desktop_config.json"),
    ("claude-code", ".claude.json"),
    ("cursor", ".cursor/mcp.json"),
    ("codex", ".codex/config.toml"),
    ("vscode", ".config/Code/User/mcp.json"),
];

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn run(&self, args: &[&str]) -> Output {
        let home = self.path("");
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.args(args).env_clear().env("TZ", "UTC").env("HOME", &home).env("XDG_CONFIG_HOME", home.join(".config"));
        command.output().unwrap()
    }

    /// What a command that must go well prints, with the home left out.
    fn shown(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        let home = self.path("").display().to_string();
        String::from_utf8(output.stdout).unwrap().replace(home.trim_end_matches('/'), "~")
    }

    fn install(&self, client: &str, more: &[&str]) -> String {
        let mut args = vec!["install", client, "--program", "/opt/quipu"];
        args.extend(more);
        self.shown(&args)
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A file with neighbours, comments where the client allows them, and an odd way of writing.
fn settings(client: &str) -> &'static str {
    match client {
        "claude-desktop" => {
            "{\n    \"globalShortcut\": \"\",\n    \"mcpServers\": {\n        \"files\": {\"command\": \"npx\", \"args\": [\"-y\", \"files\"]}\n    }\n}"
        }
        "claude-code" => {
            "{\"numStartups\":7,\"mcpServers\":{},\"projects\":{\"/work\":{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}}}\n"
        }
        "cursor" => {
            "{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { \"url\": \"http://a\" }, // trailing\r\n\t},\r\n}\r\n"
        }
        "codex" => {
            "# my settings\nmodel = \"o9\"   # the good one\n\n[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"files\"]\n\n[tui]\nnotifications = true\n"
        }
        "vscode" => "{\n  // servers of mine\n  \"inputs\": [],\n}\n",
        other => panic!("{other}"),
    }
}

#[test]
fn it_is_entered_where_the_client_looks_and_nothing_else_changes() {
    let home = Home::new();
    let mut shown = String::new();
    for (client, place) in CLIENTS {
        let path = home.path(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, settings(client)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let dry = home.install(client, &["--dry-run"]);
        assert!(dry.contains("would be changed") && read(&path) == settings(client), "{client}: {dry}");
        assert!(!home.path(&format!("{place}.before-quipu")).exists(), "{client}");
        shown += &home.install(client, &[]);
        shown += "----\n";
        let entered = read(&path);
        assert_ne!(entered, settings(client));
        for kept in ["// mine", "// trailing", "# the good one", "// servers of mine"] {
            assert_eq!(entered.contains(kept), settings(client).contains(kept), "{client}: {entered}");
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640, "{client}");
        let again = home.install(client, &[]);
        assert!(again.contains("nothing to change") && read(&path) == entered, "{client}: {again}");
        // Another entry of ours takes the place of the first.
        let other = home.install(client, &["-u", "ines", "--toolsets", "graph"]);
        assert!(other.contains("ines") && read(&path).matches("quipu").count() >= 1, "{client}: {other}");
        let dry = home.shown(&["uninstall", client, "--dry-run"]);
        assert!(dry.contains("would be changed"), "{client}: {dry}");
        home.shown(&["uninstall", client]);
        assert_eq!(read(&path), settings(client), "{client}: to the byte");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640, "{client}");
        assert!(!home.path(&format!("{place}.before-quipu")).exists(), "{client}");
        assert!(home.shown(&["uninstall", client]).contains("nothing to change"), "{client}");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn where_there_was_no_file_there_is_none_afterwards() {
    let home = Home::new();
    let mut shown = String::new();
    for (client, place) in CLIENTS {
        let path = home.path(place);
        home.install(client, &[]);
        let mut server = vec!["install", client, "--server", "http://127.0.0.1:7077/"];
        if client == "claude-desktop" {
            let refused = home.run(&[&server[..], &["--key-env", "QUIPU_API_KEY"]].concat());
            assert_eq!(refused.status.code(), Some(2), "it has no place for the name of a variable");
        } else {
            server.extend(["--key-env", "QUIPU_API_KEY"]);
        }
        home.shown(&server);
        shown += &format!("{client}\n{}----\n", read(&path).replace(env!("CARGO_BIN_EXE_quipu"), "/opt/quipu"));
        home.shown(&["uninstall", client]);
        assert!(!path.exists(), "{client}");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn what_was_changed_since_stays() {
    let home = Home::new();
    for (client, place) in CLIENTS {
        let path = home.path(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, settings(client)).unwrap();
        home.install(client, &[]);
        let (from, to) = match client {
            "codex" => ("notifications = true", "notifications = false"),
            "claude-desktop" => ("\"globalShortcut\": \"\"", "\"globalShortcut\": \"F1\""),
            "claude-code" => ("\"numStartups\":7", "\"numStartups\":8"),
            "cursor" => ("http://a", "http://b"),
            _ => ("// servers of mine", "// servers of ours"),
        };
        let changed = read(&path).replace(from, to);
        assert_ne!(changed, read(&path), "{client}");
        std::fs::write(&path, changed).unwrap();
        home.shown(&["uninstall", client]);
        let left = read(&path);
        assert!(left.contains(to) && !left.contains("quipu"), "{client}: {left}");
        assert!(client != "codex" || left == settings(client).replace(from, to), "{client}: {left}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_left_alone() {
    let home = Home::new();
    for (client, text, words) in [
        ("claude-desktop", "{ // a comment\n}", "not JSON"),
        ("claude-desktop", "{\"mcpServers\": {},}", "not JSON"),
        ("claude-desktop", "[]", "not an object"),
        ("claude-desktop", "{\"mcpServers\": []}", "is not an object"),
        ("claude-desktop", "{\"mcpServers\": {}, \"mcpServers\": {}}", "two members"),
        ("claude-desktop", "{\"mcpServers\": {\"quipu\": 1, \"quipu\": 2}}", "twice"),
        ("cursor", "{\"mcpServers\": {", "not JSON"),
        ("vscode", "{'servers': {}}", "not JSON"),
        ("codex", "mcp_servers = 3", "not a table"),
        ("codex", "[mcp_servers", "not TOML"),
        ("claude-code", "\u{feff}nonsense", "not JSON"),
    ] {
        let path = home.path("settings");
        std::fs::write(&path, text).unwrap();
        for args in [&["install", client][..], &["uninstall", client]] {
            let mut args = args.to_vec();
            args.extend(["--config", path.to_str().unwrap()]);
            let refused = home.run(&args);
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(1), "{client} {text}: {said}");
            assert!(said.contains(words) && said.contains("The file is unchanged"), "{client} {text}: {said}");
            assert_eq!(read(&path), text);
        }
    }
    std::fs::write(home.path("settings"), b"{\"a\": \"\xff\"}").unwrap();
    let refused = home.run(&["install", "cursor", "--config", home.path("settings").to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("UTF-8"));
    assert_eq!(home.run(&["install", "emacs"]).status.code(), Some(2));
    assert_eq!(home.run(&["install", "cursor", "--server", "there"]).status.code(), Some(2));
}

#[test]
fn a_store_that_only_the_environment_names_is_refused() {
    let home = Home::new();
    let store = "postgres://me:s3cret@db/memory";
    let run = |more: &[&str]| {
        let folder = home.path("");
        let mut command = Command::new(env!("CARGO_BIN_EXE_quipu"));
        command.args(["install", "cursor"]).args(more).env_clear().env("TZ", "UTC");
        command.env("HOME", &folder).env("XDG_CONFIG_HOME", folder.join(".config")).env("QUIPU_STORE", store);
        command.output().unwrap()
    };
    let refused = run(&[]);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && told.contains("config.toml") && !told.contains("s3cret"), "{told}");
    assert!(!home.path(".cursor/mcp.json").exists());
    // A server has its own store.
    assert!(run(&["--server", "http://127.0.0.1:7077/"]).status.success());
    std::fs::create_dir_all(home.path(".config/quipu")).unwrap();
    std::fs::write(home.path(".config/quipu/config.toml"), format!("store = \"{store}\"\n")).unwrap();
    assert!(run(&["--program", "/opt/quipu"]).status.success());
    assert!(!read(&home.path(".cursor/mcp.json")).contains("s3cret"));
}

#[test]
fn a_link_stays_a_link() {
    let home = Home::new();
    let real = home.path("dotfiles.json");
    std::fs::write(&real, "{}\n").unwrap();
    std::fs::create_dir(home.path(".cursor")).unwrap();
    std::os::unix::fs::symlink(&real, home.path(".cursor/mcp.json")).unwrap();
    home.install("cursor", &[]);
    assert!(read(&real).contains("quipu") && home.path(".cursor/mcp.json").is_symlink());
    home.shown(&["uninstall", "cursor"]);
    assert_eq!(read(&real), "{}\n");
}

#[test]
fn what_is_shown_of_neighbours_is_little_and_json_says_the_same() {
    let home = Home::new();
    let path = home.path(".cursor/mcp.json");
    std::fs::create_dir(home.path(".cursor")).unwrap();
    let secret = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"env\": {\n        \"TOKEN\": \"hush\"\n      },\n      \"command\": \"a\"\n    }\n  }\n}\n";
    std::fs::write(&path, secret).unwrap();
    let shown = home.install("cursor", &["--dry-run"]);
    assert!(!shown.contains("hush") && shown.contains("+"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&home.install("cursor", &["--json"])).unwrap();
    assert_eq!((json["changed"].clone(), json["client"].as_str()), (true.into(), Some("cursor")), "{json}");
}
