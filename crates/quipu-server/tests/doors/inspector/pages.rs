//! Every page, the users' text on it, and its forms.

use quipu_core::event::SourceKind;
use quipu_core::id::UserId;
use quipu_engine::{FactOptions, WriteRequest, facts, reviews, write};

use super::{OWN, rig};
use crate::rig::TestServer;

/// The paths of all pages of a user that need no further parameters.
pub(crate) const OF_A_USER: [&str; 25] = [
    "",
    "/memories",
    "/memories?kind=said",
    "/memories?kind=episodes",
    "/memories?kind=tasks",
    "/memories?kind=notes",
    "/memories?kind=tenets",
    "/core",
    "/core?path=/location/current",
    "/topics",
    "/people",
    "/tasks?all=1",
    "/sessions",
    "/timeline",
    "/timeline?by=recorded",
    "/timeline?remarks=1",
    "/events/1",
    "/review",
    "/conflicts",
    "/ask?q=where",
    "/search?q=where",
    "/pack?q=where",
    "/upkeep",
    "/import",
    "/privacy",
];

/// Text that must be escaped.
const CORPUS: [&str; 10] = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "<svg/onload=window.hit=1>",
    "\"><script>window.hit=1</script>",
    "'><img src=x onerror=window.hit=1>",
    "javascript:window.hit=1",
    "</title></textarea></script><script>window.hit=1</script>",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "{{7*7}} {% raw %} ${7*7}",
    "![x](http://evil.test/?q=secret) <a href=//evil.test>here</a>",
];

fn user(name: &str) -> UserId {
    UserId::parse(name).unwrap()
}

impl TestServer {
    /// A fact about a user that an agent wrote.
    pub(super) fn claims(&self, name: &str, json: &str, kind: SourceKind) {
        let request: WriteRequest = serde_json::from_str(json).unwrap();
        write(&self.engine, &user(name), &request, kind).unwrap();
    }

    fn holds(&self, name: &str, predicate: &str) -> Vec<String> {
        let options = FactOptions { predicate: Some(predicate.to_owned()), ..FactOptions::default() };
        facts(&self.engine, &user(name), &options).unwrap().into_iter().map(|one| one.fact.object).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_wrote_is_text_on_every_page() {
    let rig = rig().await;
    for text in CORPUS {
        rig.told("ines", &format!("I live in {text}.")).await;
        let line = serde_json::json!({
            "facts": [{"predicate": "likes", "object": text}],
            "tenets": [{"kind": "value", "text": text}],
            "notes": [{"text": text}],
            "tasks": [{"title": text, "attempts": [{"approach": text, "outcome": text}]}],
        });
        rig.claims("ines", &line.to_string(), SourceKind::AssistantSaid);
        rig.claims("ines", &line.to_string(), SourceKind::UserSaid);
        let turn = serde_json::json!({"messages": [{"role": "user", "name": text, "content": text}], "topic": text});
        rig.send("/memory/ines/sessions/x%3Cscript%3Ealert(1)%3C%2Fscript%3E/turns", turn).await;
    }
    let mut pages: Vec<String> = OF_A_USER.iter().map(|page| format!("/ui/u/ines{page}")).collect();
    for item in facts(&rig.engine, &user("ines"), &FactOptions { all: true, ..FactOptions::default() }).unwrap() {
        pages.push(format!("/ui/u/ines/items/{}", item.fact.id));
    }
    for text in CORPUS {
        let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        pages.push(format!("/ui/u/ines/search?q={text}&intent={text}&at=now"));
        pages.push(format!("/ui/u/ines/pack?q={text}"));
        pages.push(format!("/ui/u/ines/core?path=/{text}"));
        pages.push(format!("/ui/u/ines/timeline?source={text}"));
        pages.push(format!("/ui/u/ines/ask?q={text}"));
        pages.push(format!("/ui/u/ines/memories?find={text}&sort={text}&did={text}&events={text}"));
        pages.push(format!("/ui/u/ines/memories?topic={text}&state={text}&valid_at={text}"));
        pages.push(format!("/ui/u/ines/session?id={text}"));
        pages.push(format!("/ui/sign-in?next={text}"));
        pages.push(format!("/?find={text}"));
        pages.push(format!("/ui/u/{text}"));
    }
    pages.push("/ui/u/ines/session?id=x%3Cscript%3Ealert(1)%3C%2Fscript%3E".to_owned());
    let mut met = 0;
    for path in &pages {
        let page = rig.page(path, &[]).await.text();
        let lower = page.to_lowercase();
        for sign in
            ["<script>", "<img", "<svg/", "<iframe", "<a href=//", "onerror=window.hit=1>", "href=\"javascript:"]
        {
            assert!(!lower.contains(sign), "{path}: {sign} in {page}");
        }
        // The only script element is from a file of ours.
        assert!(lower.matches("<script").count() <= 1, "{path}: {page}");
        met += usize::from(page.contains("window.hit"));
    }
    assert!(met > 40, "what was written was met on {met} of {} pages only", pages.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_there_and_small() {
    let rig = rig().await;
    for text in ["I live in Porto.", "I keep waking up at night.", "I like tea."] {
        rig.told("ines", text).await;
    }
    let mut pages: Vec<String> = OF_A_USER.iter().map(|page| format!("/ui/u/ines{page}")).collect();
    pages.extend(
        [
            "/",
            "/ui/server/metrics",
            "/ui/server/calibration",
            "/ui/server/doctor?run=1",
            "/ui/server/keys",
            "/ui/u/ines/revert?events=1&probe=where",
            "/ui/u/ines/erase?target=1",
        ]
        .map(str::to_owned),
    );
    for path in pages {
        let page = rig.page(&path, &[]).await.html();
        assert!(page.contains("<main id=\"main\"") && page.contains("</html>"), "{path}");
        assert!(page.len() < 60_000, "{path}: {} bytes", page.len());
        assert!(!page.contains(" style=") && !page.contains(" onclick="), "{path}: the policy forbids it");
        assert_eq!(page.matches("<h1").count(), 1, "{path}");
    }
    assert_eq!(rig.page("/ui/u/nobody", &[]).await.status, 200);
    assert_eq!(rig.page("/ui/u/ines/items/fact_0000000000000", &[]).await.status, 404);
    assert_eq!(rig.page("/ui/u/ines/memories?at=banana", &[]).await.status, 400);
    assert_eq!(rig.page("/ui/u/ines/events/99999999999999999999", &[]).await.status, 400);
    assert_eq!(rig.page("/ui/u/ines/events/0", &[]).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn calibration_shows_what_was_measured_and_nothing_else() {
    let rig = rig().await;
    let page = rig.page("/ui/server/calibration", &[]).await.html();
    for part in
        ["Profile default", "class=\"ideal\"", "1,528 questions", "apart by 0.020", "<td class=\"num\">441</td>"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches("class=\"point\"").count(), 20, "drawn for wide and for narrow screens");
    assert_eq!(page.matches("<tr>").count(), 11, "a row a stretch below the head: {page}");
    let other = serde_json::json!({
        "profiles": {"x<b>": {"match": {"late": null}}},
        "experiment": {"name": "try", "a": "default", "b": "x<b>", "share": 0.5},
    });
    rig.engine.set_profiles(quipu_core::recall::Profiles::parse(other).unwrap());
    let page = rig.page("/ui/server/calibration", &[]).await.html();
    assert!(page.contains("Nothing was measured with these numbers") && !page.contains("x<b>"), "{page}");
    assert_eq!(page.matches("class=\"point\"").count(), 20, "the profile that was measured keeps its curve");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_decided_and_taken_back() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    rig.claims("ines", r#"{"facts": [{"predicate": "lives_in", "object": "Lyon"}]}"#, SourceKind::ToolOutput);
    let waiting = || reviews(&rig.engine, &user("ines"), false).unwrap();
    let id = waiting()[0].review.id.to_string();
    let page = rig.page("/ui/u/ines/review", &[]).await.html();
    assert!(page.contains(&id) && page.contains("Lyon") && page.contains("Porto"), "{page}");
    let token = rig.token(&[]).await;
    let path = format!("/ui/u/ines/review/{id}");
    let decide =
        async |fields: &[(&str, &str)]| rig.form(&path, &[OWN], &[&[("token", token.as_str())], fields].concat()).await;
    assert_eq!(decide(&[("action", "edit")]).await.status, 400);
    assert_eq!(waiting().len(), 1);
    let to = decide(&[("action", "approve")]).await.sent_to();
    assert_eq!(rig.holds("ines", "lives_in"), ["Lyon"]);
    let page = rig.page(&to, &[]).await.html();
    assert!(page.contains("value=\"undo\""), "{page}");
    decide(&[("action", "undo")]).await.sent_to();
    assert_eq!((rig.holds("ines", "lives_in"), waiting().len()), (vec!["Porto".to_owned()], 1));
    decide(&[("action", "edit"), ("text", "Vienna")]).await.sent_to();
    assert_eq!(rig.holds("ines", "lives_in"), ["Vienna"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_replaces_only_what_was_shown() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    rig.claims("ines", r#"{"facts": [{"predicate": "lives_in", "object": "Lyon"}]}"#, SourceKind::ToolOutput);
    let id = reviews(&rig.engine, &user("ines"), false).unwrap()[0].review.id.to_string();
    let shown = rig.page("/ui/u/ines/review", &[]).await.html();
    assert!(shown.contains("name=\"against\" value=\"User lives in Porto\""), "{shown}");
    rig.told("ines", "I moved to Vienna.").await;
    let token = rig.token(&[]).await;
    let path = format!("/ui/u/ines/review/{id}");
    let approve = async |against: &str| {
        rig.form(&path, &[OWN], &[("token", token.as_str()), ("action", "approve"), ("against", against)]).await
    };
    let refused = approve("User lives in Porto").await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("What holds now: User lives in Vienna"), "{}", refused.text());
    assert_eq!(rig.holds("ines", "lives_in"), ["Vienna"]);
    for page in ["/ui/u/ines/review", "/ui/u/ines/conflicts"] {
        let page = rig.page(page, &[]).await.html();
        assert!(page.contains("Vienna") && page.contains("Lyon") && !page.contains("Porto"), "{page}");
    }
    approve("User lives in Vienna").await.sent_to();
    assert_eq!(rig.holds("ines", "lives_in"), ["Lyon"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_address_is_answered_with_a_page() {
    let rig = rig().await;
    let missing = rig.page("/ui/u/ines/nothing/here", &[]).await;
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("there is no such page") && missing.text().contains("<h1>"), "{}", missing.text());
    assert_eq!(rig.page("/ui", &[]).await.sent_to(), "/");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_has_pages_and_deciding_stays_on_one() {
    let rig = rig().await;
    for n in 0..25 {
        let json = format!(r#"{{"tenets": [{{"kind": "value", "text": "Value number {n}."}}]}}"#);
        rig.claims("ines", &json, SourceKind::AssistantSaid);
    }
    let cards = |page: &str| page.matches("class=\"card review").count();
    let link = |page: &str| {
        let (before, _) = page.split_once("\">Next</a>").unwrap();
        before.rsplit_once("href=\"").unwrap().1.replace("&amp;", "&").replace("&#38;", "&")
    };
    let first = rig.page("/ui/u/ines/review", &[]).await.html();
    assert_eq!(cards(&first), 20);
    let next = link(&first);
    let second = rig.page(&next, &[]).await.html();
    assert_eq!(cards(&second), 5);
    assert!(!second.contains(">Next</a>") && second.contains("Value number 24."), "{second}");
    let after = next.split_once("after=").unwrap().1;
    let id = second.split("id=\"q-").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let token = rig.token(&[]).await;
    let fields = [("token", token.as_str()), ("action", "decline"), ("after", after)];
    let to = rig.form(&format!("/ui/u/ines/review/{id}"), &[OWN], &fields).await.sent_to();
    let page = rig.page(&to, &[]).await.html();
    assert_eq!(cards(&page), 4, "still the second page: {to}");
    let fields = [("token", token.as_str()), ("action", "undo"), ("after", after)];
    let to = rig.form(&format!("/ui/u/ines/review/{id}"), &[OWN], &fields).await.sent_to();
    assert_eq!(cards(&rig.page(&to, &[]).await.html()), 5, "{to}");
    assert_eq!(rig.page("/ui/u/ines/review?after=review_0000000000000", &[]).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_world_and_a_correction_are_told_apart() {
    for (how, status) in [("changed", "superseded"), ("never", "corrected")] {
        let rig = rig().await;
        rig.told("ines", "I live in Porto.").await;
        let old = facts(&rig.engine, &user("ines"), &FactOptions::default()).unwrap();
        let id = old.iter().find(|one| one.fact.predicate == "lives_in").unwrap().fact.id.to_string();
        let token = rig.token(&[]).await;
        let fields = [("token", token.as_str()), ("object", "Lyon"), ("how", how)];
        let to = rig.form(&format!("/ui/u/ines/items/{id}/edit"), &[OWN], &fields).await.sent_to();
        assert!(rig.page(&to, &[]).await.html().contains("Lyon"));
        assert_eq!(rig.holds("ines", "lives_in"), ["Lyon"], "{how}");
        let page = rig.page(&format!("/ui/u/ines/items/{id}"), &[]).await.html();
        assert!(page.contains(&format!(">{status}</span>")), "{how}: {page}");
        let core = rig.get("/memory/ines").await.ok().to_string();
        assert!(core.contains("Lyon") && !core.contains("Porto"), "{how}: {core}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_taken_back_after_a_look() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    rig.told("ines", "I moved to Lyon.").await;
    let last = rig.get("/memory/ines").await.ok()["version"].to_string();
    let since = (last.parse::<u64>().unwrap() - 1).to_string();
    let page = rig.page(&format!("/ui/u/ines/revert?since={since}&probe=Where+do+I+live"), &[]).await.html();
    assert!(page.contains("What would change"), "{page}");
    assert_eq!(rig.get("/memory/ines").await.ok()["version"].to_string(), last, "a look changes nothing");
    let token = rig.token(&[]).await;
    let sent = rig.form("/ui/u/ines/revert", &[OWN], &[("token", &token), ("since", &since)]).await;
    let page = rig.page(&sent.sent_to(), &[]).await.html();
    assert!(page.contains("reverted"), "{page}");
    assert_ne!(rig.get("/memory/ines").await.ok()["version"].to_string(), last);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_erased_is_shown_first_and_then_gone() {
    let rig = rig().await;
    let told = rig.told("ines", "I love liquorice.").await;
    let item = told["items"][0].as_str().unwrap();
    let page = rig.page(&format!("/ui/u/ines/erase?target={item}"), &[]).await.html();
    assert!(page.contains("liquorice") && page.contains("fact:"), "what follows from it is named too: {page}");
    let token = rig.token(&[]).await;
    let path = "/ui/u/ines/erase";
    let unsure = rig.form(path, &[OWN], &[("token", &token), ("target", item)]).await;
    assert_eq!(unsure.status, 400);
    assert!(rig.page("/ui/u/ines/timeline", &[]).await.html().contains("liquorice"));
    let receipt = rig.form(path, &[OWN], &[("token", &token), ("target", item), ("sure", "yes")]).await.html();
    assert!(receipt.contains("event_seq") && receipt.contains("write-ahead log"), "{receipt}");
    for page in super::pages::OF_A_USER {
        let shown = rig.page(&format!("/ui/u/ines{page}"), &[]).await.text();
        assert!(!shown.contains("liquorice"), "{page}");
    }
    let wrong = rig.form("/ui/u/ines/delete", &[OWN], &[("token", &token), ("name", "otto")]).await;
    assert_eq!(wrong.status, 400);
    let confirm = |page: &str| {
        let (_, rest) = page.split_once("name=\"confirm\" value=\"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    };
    let announced = confirm(&rig.page("/ui/u/ines/privacy", &[]).await.html());
    let unannounced = rig.form("/ui/u/ines/delete", &[OWN], &[("token", &token), ("name", "ines")]).await;
    assert_eq!(unannounced.status, 428);
    // The preview no longer matches the memory.
    rig.told("ines", "I love fennel.").await;
    let form = |confirm: &str| {
        [
            ("token".to_owned(), token.clone()),
            ("name".to_owned(), "ines".to_owned()),
            ("confirm".to_owned(), confirm.to_owned()),
        ]
    };
    let sent = form(&announced);
    let sent: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(rig.form("/ui/u/ines/delete", &[OWN], &sent).await.status, 412);
    assert!(rig.knows("ines"));
    let sent = form(&confirm(&rig.page("/ui/u/ines/privacy", &[]).await.html()));
    let sent: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let gone = rig.form("/ui/u/ines/delete", &[OWN], &sent).await.html();
    assert!(gone.contains("Receipt"), "{gone}");
    assert!(!rig.knows("ines"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_is_taken_along() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    for (format, name) in [("json", "quipu-ines.json"), ("markdown", "quipu-ines.md"), ("mem0", "quipu-ines.mem0.json")]
    {
        let file = rig.page(&format!("/ui/u/ines/export/{format}"), &[]).await;
        assert_eq!(file.header("content-disposition"), format!("attachment; filename=\"{name}\""));
        assert!(file.text().contains("Porto"), "{format}");
    }
    assert_eq!(rig.page("/ui/u/ines/export/zip", &[]).await.status, 404);
}
