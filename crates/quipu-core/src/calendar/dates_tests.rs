use super::*;

fn show(date: &NamedDate) -> String {
    let year = |year: &Option<i16>| year.map_or_else(|| "*".to_owned(), |year| year.to_string());
    match date {
        NamedDate::Day { year: y, month, day } => format!("{}-{month}-{day}", year(y)),
        NamedDate::Month { year: y, month } => format!("{}-{month}", year(y)),
        NamedDate::Year { year } => year.to_string(),
    }
}

#[test]
fn questions_name_dates() {
    let table = [
        ("What happened on 8 May, 2023?", "2023-5-8"),
        ("What happened on 8 May 2023?", "2023-5-8"),
        ("What happened on May 8, 2023?", "2023-5-8"),
        ("on May 8th 2023", "2023-5-8"),
        ("the 8th of May", "*-5-8"),
        ("the 8th of May, 2023", "2023-5-8"),
        ("on may 8", "*-5-8"),
        ("in May 2023", "2023-5"),
        ("May, 2023", "2023-5"),
        ("in May of 2023", "2023-5"),
        ("What did Anna do in May?", "*-5"),
        ("in may", "*-5"),
        ("since January", "*-1"),
        ("Anna's September plans", "*-9"),
        ("in 2023", "2023"),
        ("during the summer 2022", "2022"),
        ("Since 2019, what changed?", "2019"),
        ("on 2023-05-08", "2023-5-8"),
        ("at 2023-05-08T10:00:00Z", "2023-5-8"),
        ("2023/05/08", "2023-5-8"),
        ("between 3 May 2023 and 8 June 2023", "2023-5-3 2023-6-8"),
        ("in March and April 2023", "*-3 2023-4"),
        ("5 Sept. 2021", "2021-9-5"),
        ("29 February 2024", "2024-2-29"),
        ("the 29th of February", "*-2-29"),
        ("December 25", "*-12-25"),
    ];
    for (text, expected) in table {
        let found: Vec<String> = named_dates(text).iter().map(show).collect();
        assert_eq!(found.join(" "), expected, "{text:?}");
    }
}

#[test]
fn other_numbers_and_words_are_no_dates() {
    let table = [
        "",
        "May I ask something?",
        "It may rain; they march on.",
        "March on!",
        "100,000 years ago",
        "In 2000 years",
        "in 2,023 ways",
        "room 2023",
        "He paid 2023 dollars",
        "30 February 2023",
        "29 February 2023",
        "32 May",
        "2023-13-08",
        "0000-05-08",
        "99999-05-08",
        "version 2.2023",
        "may 8 people come",
        "What did June say?",
        "99999999999999999999 May",
        "call 555-2023-05",
        "août 2023",
    ];
    for text in table {
        assert_eq!(named_dates(text), [], "{text:?}");
    }
}
