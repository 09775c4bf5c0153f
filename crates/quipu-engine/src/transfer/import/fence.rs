//! Finds fenced code blocks in Markdown.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use quipu_core::source::Artifact;

/// Returns the fenced blocks of a text as artifacts of kind `code`, named by language, with their start in bytes.
///
/// An unclosed fence extends to the end, as in Markdown. Empty blocks are left out.
pub(super) fn fenced(text: &str) -> Vec<(usize, Artifact)> {
    if !text.contains("```") && !text.contains("~~~") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut open: Option<(usize, Artifact)> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let name = info.split([' ', ',', '\t']).next().filter(|word| !word.is_empty()).map(str::to_owned);
                open = Some((range.start, Artifact { kind: "code".to_owned(), name, text: String::new() }));
            }
            Event::Text(code) => {
                if let Some((_, block)) = &mut open {
                    block.text.push_str(&code);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                found.extend(open.take().filter(|(_, block)| !block.text.trim().is_empty()))
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_found() {
        for (text, expected) in [
            ("no code", vec![]),
            ("see\n```python\nx = 1\n```\nok", vec![(4, Some("python"), "x = 1\n")]),
            ("~~~\na\n~~~\n```js,ignore\nb\n```", vec![(0, None, "a\n"), (10, Some("js"), "b\n")]),
            ("```rust\nlet open = 1;", vec![(0, Some("rust"), "let open = 1;")]),
            ("```\n```", vec![]),
            ("inline ```x``` only", vec![]),
        ] {
            let found = fenced(text);
            let found: Vec<_> =
                found.iter().map(|(at, code)| (*at, code.name.as_deref(), code.text.as_str())).collect();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
