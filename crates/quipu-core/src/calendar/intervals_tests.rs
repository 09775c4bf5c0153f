use jiff::civil::date;

use super::*;
use crate::text::tokens::words;

/// A Wednesday.
const TODAY: (i16, i8, i8) = (2026, 5, 13);

fn read(text: &str) -> String {
    let (year, month, day) = TODAY;
    let found = intervals(text, &words(text), date(year, month, day));
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[test]
fn questions_name_stretches_of_time() {
    for (text, expected) in [
        ("What did I do today?", "2026-05-13"),
        ("What did I do yesterday?", "2026-05-12"),
        ("and the day before yesterday", "2026-05-11"),
        ("what is on tomorrow", "2026-05-14"),
        ("What happened last week?", "2026-05-04 to 2026-05-10"),
        ("this week", "2026-05-11 to 2026-05-17"),
        ("next week", "2026-05-18 to 2026-05-24"),
        ("last weekend", "2026-05-09 to 2026-05-10"),
        ("this weekend", "2026-05-16 to 2026-05-17"),
        ("last month", "2026-04-01 to 2026-04-30"),
        ("last year's trip", "2025-01-01 to 2025-12-31"),
        ("Where was I last spring?", "2025-03-01 to 2025-05-31"),
        ("last summer", "2025-06-01 to 2025-08-31"),
        ("last winter", "2025-12-01 to 2026-02-28"),
        ("this spring", "2026-03-01 to 2026-05-31"),
        ("next winter", "2026-12-01 to 2027-02-28"),
        ("in the autumn", "2025-09-01 to 2025-11-30"),
        ("in spring", "2026-03-01 to 2026-05-31"),
        ("the winter of 2021", "2021-12-01 to 2022-02-28"),
        ("in summer 2022", "2022-06-01 to 2022-08-31"),
        ("last Monday", "2026-05-11"),
        ("last Wednesday", "2026-05-06"),
        ("next Friday", "2026-05-15"),
        ("since Monday", "since 2026-05-11"),
        ("What did I do on Friday?", "2026-05-08"),
        ("What is on Friday?", "2026-05-15"),
        ("my Friday class", ""),
        ("last night", "2026-05-12"),
        ("this morning", "2026-05-13"),
        ("three days ago", "2026-05-10"),
        ("two weeks ago", "2026-04-26 to 2026-05-02"),
        ("a month ago", "2026-03-29 to 2026-04-28"),
        ("a couple of years ago", "2024-01-01 to 2024-12-31"),
        ("5 years ago", "2021-01-01 to 2021-12-31"),
        ("in the past three weeks", "2026-04-22 to 2026-05-13"),
        ("over the last few days", "2026-05-10 to 2026-05-13"),
        ("Have I slept well lately?", "2026-04-13 to 2026-05-13"),
        ("What did we talk about on Friday, May 8th?", "2026-05-08"),
        ("what did I say on Friday 8 May", "2026-05-08"),
        ("Monday November 3rd 2025", "2025-11-03"),
        ("What did I do on the 20th?", "2026-04-20"),
        ("what is on the 20th", "2026-05-20"),
        ("am I free on the 31st?", "2026-05-31"),
        ("notes since the 1st", "since 2026-05-01"),
        ("who lives on the 20th floor", ""),
        ("on the 20th of March", "2026-03-20"),
        ("What do I have on June 5?", "2026-06-05"),
        ("Is anything planned for 3 May?", "2027-05-03"),
        ("Is anything planned in June?", "2026-06-01 to 2026-06-30"),
        ("Is anything planned in May?", "2026-05-01 to 2026-05-31"),
        ("What was planned in June?", "2025-06-01 to 2025-06-30"),
        ("the week of 4 May", "2026-05-04 to 2026-05-10"),
        ("What did I do in the week of May 6th?", "2026-05-04 to 2026-05-10"),
        ("in May 2023", "2023-05-01 to 2023-05-31"),
        ("in June", "2025-06-01 to 2025-06-30"),
        ("last March", "2026-03-01 to 2026-03-31"),
        ("on 8 May 2023", "2023-05-08"),
        ("in 2019", "2019-01-01 to 2019-12-31"),
        ("since March", "since 2026-03-01"),
        ("before 2020", "until 2019-12-31"),
        ("after 8 May 2023", "since 2023-05-09"),
        ("between March and June 2025", "2025-03-01 to 2025-06-30"),
        ("between 3 May 2023 and 8 June 2023", "2023-05-03 to 2023-06-08"),
        ("from January to March", "2026-01-01 to 2026-03-31"),
        ("since last week", "since 2026-05-04"),
        ("yesterday or last month", "2026-05-12; 2026-04-01 to 2026-04-30"),
    ] {
        assert_eq!(read(text), expected, "{text:?}");
    }
}

#[test]
fn other_words_name_no_time() {
    for text in [
        "",
        "What is my last name?",
        "the last time we met",
        "Who lives next door?",
        "next to the bakery",
        "100,000 years ago",
        "2000000 years ago",
        "Did I fall this time?",
        "May I spring a question?",
        "for two weeks",
        "every weekend",
        "the last day of school",
        "a week of rain",
        "long ago",
        "the past is past",
        "my second winter coat",
        "99999 days ago",
    ] {
        assert_eq!(read(text), "", "{text:?}");
    }
}

#[test]
fn the_edges_of_the_calendar_are_no_crash() {
    for today in [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)] {
        for text in ["yesterday", "tomorrow", "last winter", "1000 years ago", "next year", "in June", "last month"] {
            intervals(text, &words(text), today);
        }
    }
}

#[test]
fn words_of_a_passing_time_are_told_from_those_that_describe_it() {
    for (text, expected) in [
        ("What happened yesterday?", vec!["yesterday"]),
        ("how was the day before yesterday", vec!["day before yesterday"]),
        ("What did I do two days ago, and last week?", vec!["two days ago", "last week"]),
        ("What did I do on Friday?", vec!["Friday"]),
        ("over the last few days", vec!["last few days"]),
        ("What did we do last summer, or in June?", vec![]),
        ("What did I eat last March?", vec![]),
        ("Suggest a restaurant for tonight", vec![]),
        ("What is planned for tomorrow and next week?", vec![]),
        ("Have I slept well lately?", vec![]),
        ("What did I say on 8 May 2023?", vec![]),
    ] {
        let words = words(text);
        let (year, month, day) = TODAY;
        let found = passing(text, &words, date(year, month, day));
        let found: Vec<&str> =
            found.iter().map(|range| &text[words[range.start].start..words[range.end - 1].end]).collect();
        assert_eq!(found, expected, "{text}");
    }
}
