use super::*;
use crate::recall::sample::{day, fact};
use crate::text::tokens::words;

const ME: &[&str] = &["user"];

/// The requested time of a question and its preferred moment, as dates.
fn read(text: &str, about: &[&str]) -> Option<(String, String)> {
    let facts = [
        fact(1, ("user", "lives_in", "Porto"), ("2020-01-01", "2022-01-01")),
        fact(2, ("user", "lives_in", "Lisbon"), ("2022-01-01", "…")),
        fact(3, ("user", "works_at", "Acme Labs"), ("2021-03-01", "2023-03-01")),
        fact(4, ("user", "works_as", "plumber"), ("2019-05-01", "…")),
        fact(5, ("Anna", "lives_in", "Porto"), ("2018-01-01", "2019-01-01")),
        fact(6, ("user", "visited", "Lisbon"), ("2021-06-01", "…")),
        Fact { status: FactStatus::Corrected, ..fact(7, ("user", "lives_in", "Oslo"), ("2020-01-01", "…")) },
    ];
    let facts: Vec<&Fact> = facts.iter().collect();
    let about: Vec<String> = about.iter().map(|name| (*name).to_owned()).collect();
    let words = words(text);
    let found = find(text, &words)?.resolve(&Items::default(), &facts, (text, &words), &about)?;
    let date = |time: Timestamp| time.strftime("%F").to_string();
    let is_open = |time: Timestamp| time == Timestamp::MIN || time == Timestamp::MAX;
    let edge = |time: Timestamp| if is_open(time) { "…".to_owned() } else { date(time) };
    let asked = match found.validity {
        Validity::Within(from, until) => format!("{} to {}", edge(from), edge(until)),
        Validity::Now(Some(time)) => date(time),
        other => format!("{other:?}"),
    };
    Some((asked, found.near.map_or("…".to_owned(), date)))
}

#[test]
fn what_happened_tells_the_time() {
    for (text, about, asked, near) in [
        ("Where did I live before I moved to Lisbon?", ME, "… to 2022-01-01", "2021-12-31"),
        ("Before I moved to Lisbon, where did I live?", ME, "… to 2022-01-01", "2021-12-31"),
        ("Where did I live before moving to Lisbon?", ME, "… to 2022-01-01", "2021-12-31"),
        ("Where did I live before Lisbon?", ME, "… to 2022-01-01", "2021-12-31"),
        ("Where did I live before my trip to Lisbon?", ME, "… to 2021-06-01", "2021-05-31"),
        ("Where did I work before I left Acme Labs?", ME, "… to 2023-03-01", "2023-02-28"),
        ("Where did I live after I left Acme Labs?", ME, "2023-03-01 to …", "2023-03-01"),
        ("Where did I work after I started at Acme Labs?", ME, "2021-03-01 to …", "2021-03-01"),
        ("What happened since I joined Acme Labs?", ME, "2021-03-01 to …", "…"),
        ("Where did I work when I lived in Porto?", ME, "2020-01-01 to 2022-01-01", "…"),
        ("Where did I live while I worked at Acme Labs?", ME, "2021-03-01 to 2023-03-01", "…"),
        ("Where did I live when I became a plumber?", ME, "2019-05-01", "…"),
        ("What did I work as before becoming a plumber?", ME, "… to 2019-05-01", "2019-04-30"),
        ("Where did I live after I moved out of Porto?", ME, "2022-01-01 to …", "2022-01-01"),
        ("Where did she live before moving to Porto?", &["anna"], "… to 2018-01-01", "2017-12-31"),
        ("Where did I live when Anna lived in Porto?", ME, "2018-01-01 to 2019-01-01", "…"),
    ] {
        let expected = Some((asked.to_owned(), near.to_owned()));
        assert_eq!(read(text, about), expected, "{text:?}");
    }
}

#[test]
fn what_the_memory_does_not_know_tells_no_time() {
    for (text, about) in [
        ("When did I move to Lisbon?", ME),
        ("Where was I when did it rain in Porto?", ME),
        ("Where did I live before I moved to Madrid?", ME),
        ("Where did I live before I moved to Oslo?", ME),
        ("Where did I live before I painted Lisbon?", ME),
        ("Where did Tom live before he moved to Lisbon?", &["tom"]),
        ("Where did I live after I left Lisbon?", ME),
        ("Where did I live when Pavel lived in Porto?", ME),
        ("What do I do before dinner?", ME),
        ("Before I moved to Lisbon", ME),
        ("What comes after?", ME),
        ("Where do I live?", ME),
    ] {
        assert_eq!(read(text, about), None, "{text:?}");
    }
}

#[test]
fn of_two_times_the_later_is_meant() {
    let facts = [
        fact(1, ("user", "lives_in", "Porto"), ("2010-01-01", "2012-01-01")),
        fact(2, ("user", "lives_in", "Porto"), ("2020-01-01", "…")),
    ];
    let text = "Where did I live before I moved to Porto?";
    let words = words(text);
    let occasion = find(text, &words);
    let facts: Vec<&Fact> = facts.iter().collect();
    let found = occasion.and_then(|one| one.resolve(&Items::default(), &facts, (text, &words), &["user".to_owned()]));
    let until = day("2020-01-01").map(|time| Validity::Within(Timestamp::MIN, time));
    assert_eq!(found.map(|found| found.validity), until);
}
