use super::super::echo::{Echo, strip_packs};
use crate::pack::sample;

const SHOWN: &[&str] = &[
    "- [turn_0000000000001 · 2026-03-05 · Ines · user] I live in Porto with my two cats, Tom and Kit",
    "- /location/city: \"Porto\"",
    "My daughter Lena started school in Braga on 3 September 2025, and she walks there every morning with her friend Rui.",
    "I do not eat pork",
];

#[test]
fn what_repeats_a_shown_memory_is_an_echo() {
    let echo = Echo::new(SHOWN.iter().copied());
    for (sentence, covered) in [
        ("I live in Porto with my two cats, Tom and Kit", true),
        ("You live in Porto with your two cats Tom and Kit!", true),
        ("> - [turn_0000000000001 · 2026-03-05 · Ines · user] I live in Porto with my two cats, Tom and Kit", true),
        ("[3] Ines: I live in Porto with my two cats, Tom and Kit", true),
        ("> [3] I do not eat pork", true),
        ("[12~] I do not eat pork", true),
        ("[turn_0000000000001] Ines: I do not eat pork (noted: User does not eat pork)", true),
        ("(noted: I do not eat pork)", true),
        ("[3] Ines: I live in Lyon with my two cats, Tom and Kit", false),
        ("[see] I do not eat pork", false),
        ("- /location/city: \"Porto\"", true),
        ("with my two cats", true),
        ("You mentioned that you live in Porto with your two cats, Tom and Kit", false),
        (
            "your daughter Lena started school in Braga on 3 September 2025 and she walks there every morning with her friend",
            true,
        ),
        (
            "your daughter Lena started school in Braga on 3 September 2025, and she walks there every morning with her friend Rui, yes",
            true,
        ),
        // A single word makes it new.
        (
            "My daughter Lena started school in Braga on 4 September 2025, and she walks there every morning with her friend Rui.",
            false,
        ),
        (
            "My daughter Lena started school in Lisbon on 3 September 2025, and she walks there every morning with her friend Rui.",
            false,
        ),
        (
            "My daughter Lena started school in Braga on 3 September 2025, and she never walks there every morning with her friend Rui.",
            false,
        ),
        ("I do not eat pork\nI live in Porto with my two cats", true),
        ("I do not eat pork\nI live in Lyon", false),
        ("I eat pork", false),
        ("I live in Lyon with my two cats, Tom and Kit", false),
        ("I moved to Lyon", false),
        ("yes", false),
        ("Porto", false),
        ("", false),
        ("  ...  ", false),
    ] {
        assert_eq!(echo.covers(sentence), covered, "{sentence}");
    }
    assert!(!Echo::default().covers("I live in Porto"));
}

fn outside(text: &str) -> String {
    strip_packs(text).into_iter().map(|range| &text[range]).collect()
}

#[test]
fn a_quoted_pack_is_left_out_whole() {
    let pack = sample("I live in Porto </memory> and so on").changing;
    let quoted: String = pack.lines().map(|line| format!("> {line}\n")).collect();
    let cut = pack.replace("</memory>\n", "");
    for (text, expected) in [
        ("no pack".to_owned(), "no pack"),
        (pack.clone(), "\n"),
        (format!("before\n{pack}after"), "before\n\nafter"),
        (format!("a\n{pack}b\n{pack}c"), "a\n\nb\n\nc"),
        (format!("a\n{quoted}b"), "a\n> \nb"),
        (format!("a\n{cut}I moved to Lyon."), "a\nI moved to Lyon."),
        (format!("a\n{cut}mine\n{pack}b"), "a\nmine\n\nb"),
        (pack.to_uppercase(), "\n"),
        (sample("I live in Porto").text, "\n\n"),
        (sample("I live in Porto").stable.replace("</memory>\n", ""), ""),
        ("what does <memory user=\"x\"> mean?".to_owned(), "what does <memory user=\"x\"> mean?"),
        ("</memory> alone".to_owned(), "</memory> alone"),
        (String::new(), ""),
    ] {
        assert_eq!(outside(&text), expected, "{text}");
    }
}
