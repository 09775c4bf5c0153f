//! Removes the marks that ChatGPT leaves in texts for its own pages: citations, lists of links and images.

/// Begin, separation and end of a mark.
const MARK: [char; 3] = ['\u{e200}', '\u{e202}', '\u{e201}'];

/// Names of marks, as they stand in a text that has lost the characters around them.
const NAMES: [&str; 4] = ["cite", "filecite", "navlist", "video"];

/// The text without marks. Of a mark with a name in it, such as that of a place, the name stays.
pub(super) fn without_marks(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK[0]) {
        clean.push_str(&rest[..at]);
        let inside = &rest[at + MARK[0].len_utf8()..];
        let end = inside.find(MARK[2]).filter(|end| !inside[..*end].contains('\n'));
        let Some(end) = end else {
            // It is cut: only its begin goes.
            rest = inside;
            continue;
        };
        clean.push_str(&named(&inside[..end]));
        rest = &inside[end + MARK[2].len_utf8()..];
    }
    clean.push_str(rest);
    without_bare(&without_sources(&clean)).replace(['\u{e200}', '\u{e201}', '\u{e202}', '\u{e203}', '\u{e204}'], "")
}

/// The name in `entity["city","Lisbon",…]`; nothing for other marks.
fn named(mark: &str) -> String {
    let Some(list) = mark.strip_prefix("entity").map(|list| list.trim_start_matches(MARK[1])) else {
        return String::new();
    };
    let list: Vec<serde_json::Value> = serde_json::from_str(list).unwrap_or_default();
    list.get(1).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

/// Removes `citeturn0search1turn2view3`, with the blank before it.
fn without_bare(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(at) = text[from..].find("turn").map(|at| from + at) {
        let before = NAMES.iter().filter(|name| text[from..at].ends_with(*name)).max_by_key(|name| name.len());
        let start = before.map(|name| at - name.len());
        let fits = |start: usize| !text[..start].ends_with(|c: char| c.is_ascii_alphanumeric());
        match (start.filter(|start| fits(*start)), turns(&text[at..])) {
            (Some(start), length @ 1..) => {
                clean.push_str(text[from..start].trim_end_matches(' '));
                from = at + length;
            }
            _ => {
                clean.push_str(&text[from..at + 4]);
                from = at + 4;
            }
        }
    }
    clean.push_str(&text[from..]);
    clean
}

/// The length of `turn0search1turn2view3` at the start; 0 if there is none.
fn turns(text: &str) -> usize {
    let mut length = 0;
    while let Some(rest) = text[length..].strip_prefix("turn") {
        let first = rest.bytes().take_while(u8::is_ascii_digit).count();
        let word = rest[first..].bytes().take_while(u8::is_ascii_lowercase).count();
        // The next mark begins with a word too.
        let word = rest[first..first + word].find("turn").unwrap_or(word);
        let last = rest[first + word..].bytes().take_while(u8::is_ascii_digit).count();
        if first == 0 || word == 0 || last == 0 {
            break;
        }
        length += 4 + first + word + last;
    }
    length
}

/// Removes `【12†source】`.
fn without_sources(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('【') {
        let inside = &rest[at + '【'.len_utf8()..];
        let end = inside.find('】').filter(|end| inside[..*end].contains('†') && !inside[..*end].contains('\n'));
        match end {
            Some(end) => {
                clean.push_str(&rest[..at]);
                rest = &inside[end + '】'.len_utf8()..];
            }
            None => {
                clean.push_str(&rest[..at + '【'.len_utf8()]);
                rest = inside;
            }
        }
    }
    clean + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_and_words_stay() {
        for (raw, expected) in [
            ("It opens at nine. \u{e200}cite\u{e202}turn0search1\u{e202}turn0search3\u{e201}", "It opens at nine. "),
            ("It opens at nine. citeturn0search1turn0search3", "It opens at nine."),
            ("at nine citeturn0search1, at ten filecite turn0file2", "at nine, at ten filecite turn0file2"),
            ("see fileciteturn0file2.", "see."),
            ("a trip to \u{e200}entity\u{e202}[\"city\",\"Lisbon\",\"Portugal\"]\u{e201}!", "a trip to Lisbon!"),
            ("\u{e200}image_group\u{e202}{\"query\":[\"x\"]}\u{e201}Here.", "Here."),
            ("open since May【12†source】.", "open since May."),
            ("【note】 stays, a【b", "【note】 stays, a【b"),
            (
                "I excite turn by turn; my turn0 is a turn; recite turns",
                "I excite turn by turn; my turn0 is a turn; recite turns",
            ),
            ("cut \u{e200}cite\u{e202}turn0", "cut citeturn0"),
            ("plain", "plain"),
            ("", ""),
        ] {
            assert_eq!(without_marks(raw), expected, "{raw:?}");
        }
    }
}
