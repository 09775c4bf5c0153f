//! Files of the memory tool: paths, listings, numbered lines, edits, and the tool's messages.

use std::collections::{BTreeMap, BTreeSet};

/// The root directory.
pub(super) const ROOT: &str = "/memories";
/// Width of a line number.
const NUMBER_WIDTH: usize = 6;
/// Maximum number of lines of a file that can be viewed.
const LINES_MAX: usize = 999_999;
/// Number of lines shown before and after a change.
const AROUND: usize = 2;

/// File contents by absolute path.
pub(super) type Files = BTreeMap<String, String>;

/// The result of a command, or the error message for the model.
pub(super) type Outcome<T> = Result<T, String>;

/// Normalizes a path; an error if it leads outside the root.
pub(super) fn path(given: &str) -> Outcome<String> {
    let outside = || format!("Path must start with {ROOT}, got: {given}");
    let rest = given.strip_prefix(ROOT).ok_or_else(outside)?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(outside());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or_else(|| format!("Path {given} would escape {ROOT} directory"))?),
            part => parts.push(part),
        }
    }
    Ok(parts.into_iter().fold(ROOT.to_owned(), |whole, part| whole + "/" + part))
}

/// True if there are files below the path.
pub(super) fn is_folder(files: &Files, path: &str) -> bool {
    path == ROOT || below(files, path).next().is_some()
}

/// The files below a path.
pub(super) fn below<'a>(files: &'a Files, path: &str) -> impl Iterator<Item = (&'a String, &'a String)> {
    let within = format!("{path}/");
    files.iter().filter(move |(name, _)| name.starts_with(&within))
}

/// The content of an existing file, for a command that changes it.
pub(super) fn content<'a>(files: &'a Files, path: &str, given: &str) -> Outcome<&'a str> {
    match files.get(path) {
        Some(content) => Ok(content),
        None if is_folder(files, path) => Err(format!("The path {given} is not a file.")),
        None => Err(format!("The path {given} does not exist. Please provide a valid path.")),
    }
}

/// A listing of a directory two levels deep, or the lines of a file.
pub(super) fn view(files: &Files, given: &str, range: Option<(i64, i64)>) -> Outcome<String> {
    let path = path(given)?;
    if let Some(content) = files.get(&path) {
        return numbered(content, given, range);
    }
    if !is_folder(files, &path) {
        return Err(format!("The path {given} does not exist. Please provide a valid path."));
    }
    let mut lines = vec![format!("{}\t{given}", size(below(files, &path).map(|(_, text)| text.len()).sum()))];
    list(files, &path, &format!("{given}/"), 1, &mut lines);
    let head = format!("Here're the files and directories up to 2 levels deep in {given}, excluding hidden items:");
    Ok(format!("{head}\n{}", lines.join("\n")))
}

fn list(files: &Files, path: &str, shown: &str, depth: usize, lines: &mut Vec<String>) {
    let first = |name: &str| name[path.len() + 1..].split('/').next().unwrap_or_default().to_owned();
    let names: BTreeSet<String> = below(files, path).map(|(name, _)| first(name)).collect();
    for name in names.iter().filter(|name| !name.starts_with('.')) {
        let whole = format!("{path}/{name}");
        match files.get(&whole) {
            Some(text) => lines.push(format!("{}\t{shown}{name}", size(text.len()))),
            None => {
                let bytes = below(files, &whole).map(|(_, text)| text.len()).sum();
                lines.push(format!("{}\t{shown}{name}/", size(bytes)));
                if depth < 2 {
                    list(files, &whole, &format!("{shown}{name}/"), depth + 1, lines);
                }
            }
        }
    }
}

fn size(bytes: usize) -> String {
    if bytes == 0 {
        return "0B".to_owned();
    }
    let step = (bytes.ilog2() / 10).min(3);
    let size = bytes as f64 / 1024_f64.powi(step as i32);
    let unit = ["B", "K", "M", "G"][step as usize];
    if size.fract() == 0.0 { format!("{size:.0}{unit}") } else { format!("{size:.1}{unit}") }
}

fn numbered(content: &str, given: &str, range: Option<(i64, i64)>) -> Outcome<String> {
    let lines: Vec<&str> = content.split('\n').collect();
    if lines.len() > LINES_MAX {
        return Err(format!("File {given} exceeds maximum line limit of 999,999 lines."));
    }
    let (from, to) = match range {
        None => (0, lines.len()),
        Some((first, last)) => {
            let from = usize::try_from(first.max(1) - 1).unwrap_or(usize::MAX).min(lines.len());
            // As with slices, -1 is the end; other negative numbers count from it.
            let to = match last {
                -1 => lines.len(),
                last if last < 0 => {
                    lines.len().saturating_sub(usize::try_from(last.unsigned_abs()).unwrap_or(usize::MAX))
                }
                last => usize::try_from(last).unwrap_or(usize::MAX).min(lines.len()),
            };
            (from, to.max(from))
        }
    };
    let shown = shown(&lines, from, to);
    Ok(format!("Here's the content of {given} with line numbers:\n{shown}"))
}

fn shown(lines: &[&str], from: usize, to: usize) -> String {
    let line = |(at, line): (usize, &&str)| format!("{:>NUMBER_WIDTH$}\t{line}", from + at + 1);
    lines[from..to].iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Replaces a text that must occur exactly once; returns the new content and the message.
pub(super) fn replaced(content: &str, given: &str, old: &str, new: &str) -> Outcome<(String, String)> {
    let line_of = |at: usize| content[..at].matches('\n').count();
    let places: Vec<usize> = match old {
        "" => Vec::new(),
        // Occurrences may overlap.
        old => content.char_indices().map(|(at, _)| at).filter(|&at| content[at..].starts_with(old)).collect(),
    };
    let at = match places.as_slice() {
        [] => {
            let told = format!("No replacement was performed, old_str `{old}` did not appear verbatim in {given}.");
            return Err(told);
        }
        [at] => *at,
        many => {
            let lines: Vec<String> = many.iter().map(|&at| (line_of(at) + 1).to_string()).collect();
            return Err(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
                lines.join(", ")
            ));
        }
    };
    let text = format!("{}{new}{}", &content[..at], &content[at + old.len()..]);
    let lines: Vec<&str> = text.split('\n').collect();
    let line = line_of(at);
    let snippet = shown(&lines, line.saturating_sub(AROUND), (line + AROUND + 1).min(lines.len()));
    let said = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
    let told = format!("{said}\n{snippet}");
    Ok((text, told))
}

/// Inserts a text after a line.
pub(super) fn inserted(content: &str, line: i64, text: &str) -> Outcome<String> {
    let mut lines: Vec<&str> = content.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let wrong = || {
        let most = lines.len();
        format!("Invalid `insert_line` parameter: {line}. It should be within the range [0, {most}].")
    };
    let at = usize::try_from(line).ok().filter(|at| *at <= lines.len()).ok_or_else(wrong)?;
    lines.insert(at, text.trim_end_matches('\n'));
    let mut whole = lines.join("\n");
    if !whole.ends_with('\n') {
        whole.push('\n');
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leads_out() {
        let escapes = |given: &str| Err(format!("Path {given} would escape /memories directory"));
        let outside = |given: &str| Err(format!("Path must start with /memories, got: {given}"));
        for (given, expected) in [
            ("/memories", Ok("/memories".to_owned())),
            ("/memories/", Ok("/memories".to_owned())),
            ("/memories/a//b/./c.md", Ok("/memories/a/b/c.md".to_owned())),
            ("/memories/a/../b", Ok("/memories/b".to_owned())),
            ("/memories/..", escapes("/memories/..")),
            ("/memories/a/../../etc/passwd", escapes("/memories/a/../../etc/passwd")),
            ("/memories/../memories/a", escapes("/memories/../memories/a")),
            ("/memoriesa", outside("/memoriesa")),
            ("/etc/passwd", outside("/etc/passwd")),
            ("memories/a", outside("memories/a")),
            ("", outside("")),
        ] {
            assert_eq!(path(given), expected, "{given}");
        }
    }

    #[test]
    fn sizes_are_short() {
        let all = [0, 1, 1023, 1024, 1536, 5 << 20, 3 << 30].map(size);
        assert_eq!(all, ["0B", "1B", "1023B", "1K", "1.5K", "5M", "3G"]);
    }

    #[test]
    fn overlapping_places_are_several() {
        let told = replaced("aaa", "/memories/x", "aa", "b").err().unwrap_or_default();
        assert!(told.contains("in lines: 1, 1."), "{told}");
        assert!(replaced("aaa", "/memories/x", "", "b").is_err());
    }
}
