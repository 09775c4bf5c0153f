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

#[test]
fn days_agree_by_their_distance() {
    let day = |text: &str| match text.parse::<Date>() {
        Ok(date) => day_of(date),
        Err(error) => panic!("{text}: {error}"),
    };
    let table = [
        ("8 May 2023", "2023-05-08", 1.0),
        ("8 May 2023", "2023-05-09", 0.8),
        ("8 May 2023", "2023-05-15", 0.8),
        ("8 May 2023", "2023-05-16", 0.4),
        ("8 May 2023", "2023-06-08", 0.4),
        ("8 May 2023", "2023-06-09", 0.0),
        ("8 May 2023", "2023-05-05", 0.3),
        ("8 May 2023", "2023-05-04", 0.0),
        ("8 May 2023", "2022-05-08", 0.0),
        ("the 8th of May", "2022-05-08", 1.0),
        ("the 30th of December", "2022-01-03", 0.8),
        ("the 29th of February", "2024-03-01", 0.8),
        ("the 29th of February", "2023-03-01", 0.0),
        ("in May 2023", "2023-05-31", 0.8),
        ("in May 2023", "2023-06-30", 0.4),
        ("in May 2023", "2023-07-01", 0.0),
        ("in December 2022", "2023-01-31", 0.4),
        ("in May", "2021-05-31", 0.8),
        ("in 2023", "2023-12-31", 0.3),
        ("in 2023", "2024-01-01", 0.0),
        ("in May 2023 or in 2023", "2023-05-01", 0.8),
    ];
    let (first, last) = (day("2021-01-01"), day("2024-12-31"));
    for (text, said, expected) in table {
        let found = Agreements::new(&named_dates(text), first, last).of(day(said));
        assert_eq!(found, expected, "{text:?} on {said}");
    }
}

#[test]
fn any_year_is_safe() {
    let dates = named_dates("31 December 9999, in December 9999, in 9999, 1 January 0001, in May");
    for (first, last) in [(i32::MIN, i32::MAX), (0, 0), (i32::MAX, i32::MIN)] {
        let agreements = Agreements::new(&dates, first, last);
        for day in [i32::MIN, -719_528, -719_162, 0, 2_932_896, i32::MAX] {
            assert!((0.0..=1.0).contains(&agreements.of(day)));
        }
    }
}
