//! What a person does first: the front page, finding and correcting memories, days, tasks, sessions, and live pages.

use std::collections::BTreeSet;
use std::time::Duration;

use quipu_core::event::SourceKind;
use quipu_core::id::UserId;
use quipu_engine::ports::Scope;
use quipu_engine::{FactOptions, facts};
use quipu_fake_model::{FakeScript, Fault, Repetition};
use quipu_models::language::Limits;
use serde_json::json;

use super::{OWN, rig};
use crate::rig::TestServer;

impl TestServer {
    /// A message of long ago.
    async fn told_on(&self, day: &str, words: &str) {
        let message = json!({"role": "user", "content": words, "said_at": format!("{day}T10:00:00Z")});
        self.send(&format!("/memory/ines/sessions/{day}/turns"), json!({"messages": [message]})).await.ok();
    }

    /// The facts with a word in their text that hold.
    fn ids(&self, word: &str) -> Vec<String> {
        let found = facts(&self.engine, &UserId::parse("ines").unwrap(), &FactOptions::default()).unwrap();
        let named = found.into_iter().filter(|one| one.fact.text.contains(word));
        named.map(|one| one.fact.id.to_string()).collect()
    }
}

/// The part of a page between two texts.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("no {from} in {page}"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to} after {from}")).0
}

#[tokio::test(flavor = "multi_thread")]
async fn the_front_page_says_what_is_known_what_is_new_what_waits_and_whether_it_is_well() {
    let rig = rig().await;
    rig.told_on("2024-03-01", "I live in Porto.").await;
    rig.told_on("2024-05-02", "I moved to Lyon.").await;
    rig.claims("ines", r#"{"facts": [{"predicate": "lives_in", "object": "Oslo"}]}"#, SourceKind::ToolOutput);
    let tasks = json!({"tasks": [{"title": "renew the passport", "due": "2020-01-02T00:00:00Z"}, {"title": "sing"}]});
    rig.claims("ines", &tasks.to_string(), SourceKind::UserSaid);
    let page = rig.page("/ui/u/ines", &[]).await.html();
    let known = between(&page, "id=\"knows\"", "</section>");
    assert!(known.contains("Lyon") && !known.contains("Porto"), "{known}");
    let waits = between(&page, "id=\"waits\"", "</section>");
    assert!(waits.contains("to decide") && waits.contains("renew the passport") && !waits.contains("sing"), "{waits}");
    assert!(waits.contains("overdue, ") && waits.contains("days ago"), "{waits}");
    let new = between(&page, "id=\"new\"", "</section>");
    assert!(new.contains("2 May 2024") && new.contains("Lyon") && new.contains("in place of"), "{new}");
    assert!(page.contains("id=\"well\""), "{page}");
    // Growth is by the time said, and by the time recorded on request.
    let recorded = rig.page("/ui/u/ines?by=recorded", &[]).await.html();
    assert!(recorded.contains("by the time they were recorded"), "{recorded}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_has_the_days_on_which_it_was_said() {
    let rig = rig().await;
    rig.told_on("2024-03-01", "I live in Porto.").await;
    rig.told_on("2024-05-02", "I moved to Lyon.").await;
    let page = rig.page("/ui/u/ines/timeline", &[]).await.html();
    let may = between(&page, "<h2>2 May 2024</h2>", "</section>");
    let march = between(&page, "<h2>1 Mar 2024</h2>", "</section>");
    assert!(may.contains("Lyon") && march.contains("Porto") && !march.contains("Lyon"), "{page}");
    assert!(may.contains("no longer holds"), "{may}");
    let earlier = rig.page("/ui/u/ines/timeline?until=2024-04-01", &[]).await.html();
    assert!(!earlier.contains("2 May 2024") && earlier.contains("1 Mar 2024"), "{earlier}");
    let recorded = rig.page("/ui/u/ines/timeline?by=recorded", &[]).await.html();
    assert!(!recorded.contains("<h2>1 Mar 2024</h2>") && recorded.contains("/events/1\""), "{recorded}");
    assert_eq!(rig.page("/ui/u/ines/timeline?until=someday", &[]).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_of_thousands_is_on_several_pages() {
    let rig = rig().await;
    let tasks: Vec<_> = (0..300).map(|number| json!({"title": format!("errand number {number}")})).collect();
    for part in tasks.chunks(40) {
        rig.claims("ines", &json!({ "tasks": part }).to_string(), SourceKind::UserSaid);
    }
    let (mut path, mut seen, mut pages) = ("/ui/u/ines/timeline".to_owned(), BTreeSet::new(), 0);
    loop {
        let page = rig.page(&path, &[]).await.html();
        let lines = page.split("class=\"what\" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
        let lines: Vec<String> = lines.collect();
        assert!(!lines.is_empty() && lines.len() <= 120, "{} on {path}", lines.len());
        let before = seen.len();
        seen.extend(lines.iter().cloned());
        assert_eq!(seen.len() - before, lines.len(), "nothing is shown twice");
        assert_eq!(page.contains(", continued</h2>"), pages > 0, "{path}");
        pages += 1;
        let Some((before, _)) = page.split_once("\">Earlier</a>") else { break };
        path = before.rsplit_once("href=\"").unwrap().1.replace("&amp;", "&").replace("&#38;", "&");
    }
    assert!(seen.len() >= 300 && pages >= 3, "{} lines on {pages} pages", seen.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn memories_are_found_by_words_and_put_in_order() {
    let rig = rig().await;
    for (day, words) in
        [("2024-01-01", "I like walnuts."), ("2024-02-01", "I like zebras."), ("2024-03-01", "I like apples.")]
    {
        rig.told_on(day, words).await;
    }
    let order = |page: &str| {
        let mut found: Vec<(usize, &str)> = ["walnuts", "zebras", "apples"]
            .iter()
            .filter_map(|word| Some((page.find(&format!("{word}</a>"))?, *word)))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, word)| word).collect::<Vec<_>>()
    };
    for (query, expected) in [
        ("?sort=newest", vec!["apples", "zebras", "walnuts"]),
        ("?sort=oldest", vec!["walnuts", "zebras", "apples"]),
        ("?sort=text", vec!["apples", "walnuts", "zebras"]),
        ("?find=ZEBRA", vec!["zebras"]),
        ("?find=zebra+walnut", vec![]),
    ] {
        let page = rig.page(&format!("/ui/u/ines/memories{query}"), &[]).await.html();
        assert_eq!(order(&page), expected, "{query}");
    }
    let said = rig.page("/ui/u/ines/memories?kind=said&find=zebra", &[]).await.html();
    assert!(said.contains("I like zebras.") && !said.contains("I like apples."), "{said}");
    let none = rig.page("/ui/u/ines/memories?find=%3Cb%3Equux", &[]).await.html();
    assert!(none.contains("Nothing with") && !none.contains("<b>quux"), "{none}");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_memories_are_retracted_at_once_and_come_back_at_once() {
    let rig = rig().await;
    for (day, words) in
        [("2024-01-01", "I like walnuts."), ("2024-02-01", "I like zebras."), ("2024-03-01", "I like apples.")]
    {
        rig.told_on(day, words).await;
    }
    let (ids, token) = (rig.ids("likes"), rig.token(&[]).await);
    assert_eq!(ids.len(), 3);
    let send = async |fields: &[(&str, &str)]| {
        let fields = [&[("token", token.as_str()), ("kind", "facts"), ("sort", "text")], fields].concat();
        rig.form("/ui/u/ines/memories", &[OWN], &fields).await
    };
    assert_eq!(send(&[("action", "retract")]).await.status, 400, "nothing was ticked");
    assert_eq!(send(&[("action", "burn"), ("item", &ids[0])]).await.status, 400);
    assert_eq!(rig.ids("likes").len(), 3);
    let to = send(&[("action", "retract"), ("item", &ids[0]), ("item", &ids[1])]).await.sent_to();
    assert!(to.contains("sort=text"), "the list stays as it was: {to}");
    assert_eq!(rig.ids("likes"), [ids[2].clone()]);
    let page = rig.page(&to, &[]).await.html();
    assert!(page.contains("2 memories retracted."), "{page}");
    let undo = between(&page, "/revert?events=", "\"").to_owned();
    assert!(rig.page(&format!("/ui/u/ines/revert?events={undo}"), &[]).await.html().contains("What would change"));
    rig.form("/ui/u/ines/revert", &[OWN], &[("token", &token), ("events", &undo)]).await.sent_to();
    assert_eq!(rig.ids("likes").len(), 3);
    // What cannot be done stops there, and says how far it came.
    let stopped = send(&[("action", "pin"), ("item", &ids[0]), ("item", "fact_0000000000000")]).await;
    assert_eq!(stopped.status, 404);
    assert!(stopped.text().contains("1 of 2 were pinned"), "{}", stopped.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_whose_day_is_over_are_marked_and_come_first() {
    let rig = rig().await;
    let tasks = json!({"tasks": [
        {"title": "sing"}, {"title": "fly", "due": "2120-01-02T00:00:00Z"}, {"title": "dance", "due": "2020-01-02T00:00:00Z"},
    ]});
    rig.claims("ines", &tasks.to_string(), SourceKind::UserSaid);
    let page = rig.page("/ui/u/ines/tasks", &[]).await.html();
    assert_eq!(page.matches(">overdue<").count(), 1, "{page}");
    let place = |title: &str| page.find(&format!("data-focus>{title}</a>")).unwrap();
    assert!(place("dance") < place("fly") && place("fly") < place("sing"), "{page}");
    assert!(rig.page("/", &[]).await.html().contains("1 overdue"));
}

#[tokio::test(flavor = "multi_thread")]
async fn people_say_what_holds_in_a_session() {
    let rig = rig().await;
    let turn = json!({"messages": [{"role": "user", "content": "Let us plan the trip to Oslo"}]});
    rig.send("/memory/ines/sessions/0b5f-trip/turns", turn).await.ok();
    let list = rig.page("/ui/u/ines/sessions", &[]).await.html();
    assert!(list.contains("data-focus>Let us plan the trip to Oslo</a>"), "{list}");
    let token = rig.token(&[]).await;
    let send = async |fields: &[(&str, &str)]| {
        let fields = [&[("token", token.as_str()), ("id", "0b5f-trip")], fields].concat();
        rig.form("/ui/u/ines/session", &[OWN], &fields).await
    };
    assert_eq!(send(&[("action", "add"), ("kind", "exception")]).await.status, 400, "it has no text");
    assert_eq!(send(&[("action", "add"), ("kind", "wish"), ("text", "x")]).await.status, 400);
    let to = send(&[("action", "add"), ("kind", "exception"), ("text", "Never book a night train")]).await.sent_to();
    let page = rig.page(&to, &[]).await.html();
    assert!(page.contains("Never book a night train") && page.contains("Must never happen"), "{page}");
    let truth = between(&page, "name=\"truth\" value=\"", "\"").to_owned();
    let to = send(&[("action", "remove"), ("truth", &truth)]).await.sent_to();
    assert!(
        !between(&rig.page(&to, &[]).await.html(), "What holds in this conversation", "<h2>").contains("night train")
    );
    let to = send(&[("action", "end")]).await.sent_to();
    assert!(rig.page(&to, &[]).await.html().contains(">over</span>"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_with_its_source_or_not_at_all() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let page = rig.page("/ui/u/ines/ask?q=Where+do+I+live%3F", &[]).await.html();
    let answer = between(&page, "id=\"verdict\"", "</section>");
    assert!(
        answer.contains("Porto") && answer.contains("/search?q=Where") && answer.contains("/pack?q=Where"),
        "{answer}"
    );
    let page = rig.page("/ui/u/nobody/ask?q=%3Ci%3EWhere", &[]).await.html();
    assert!(page.contains("does not know") && !page.contains("<i>Where"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_ticked_off_opened_again_and_both_can_be_undone() {
    let rig = rig().await;
    let tasks = json!({"tasks": [{"title": "renew the passport", "due": "2020-01-02T00:00:00Z"}, {"title": "sing"}]});
    rig.claims("ines", &tasks.to_string(), SourceKind::UserSaid);
    let user = UserId::parse("ines").unwrap();
    let open = || {
        let open = quipu_engine::tasks(&rig.engine, &user, None, false).unwrap();
        open.iter().map(|task| task.title.clone()).collect::<Vec<_>>()
    };
    let id = quipu_engine::tasks(&rig.engine, &user, None, false).unwrap()[0].id.to_string();
    let token = rig.token(&[]).await;
    let send = async |fields: &[(&str, &str)]| {
        let fields = [&[("token", token.as_str()), ("task", id.as_str())], fields].concat();
        rig.form("/ui/u/ines/tasks", &[OWN], &fields).await
    };
    let front = rig.page("/ui/u/ines", &[]).await.html();
    let waits = between(&front, "id=\"waits\"", "</section>");
    assert!(waits.contains("aria-label=\"Done: renew the passport\"") && waits.contains(&id), "{waits}");
    // From the front page, and back to it.
    let to = send(&[("action", "done"), ("back", "overview")]).await.sent_to();
    assert_eq!(open(), ["sing"]);
    let page = rig.page(&to, &[]).await.html();
    assert!(!between(&page, "id=\"waits\"", "</section>").contains("passport"), "{page}");
    let undo = between(&page, "/revert?events=", "\"").to_owned();
    assert!(rig.page(&format!("/ui/u/ines/revert?events={undo}"), &[]).await.html().contains("What would change"));
    rig.form("/ui/u/ines/revert", &[OWN], &[("token", &token), ("events", &undo)]).await.sent_to();
    assert_eq!(open().len(), 2, "the undo opened it again");
    // On the page of the tasks.
    let to = send(&[("action", "done")]).await.sent_to();
    assert!(to.starts_with("/ui/u/ines/tasks?done="), "{to}");
    assert!(!rig.page(&to, &[]).await.html().contains("data-focus>renew"));
    let again = send(&[("action", "done")]).await;
    assert!(again.status == 422 && again.text().contains("ticked off already"), "{}", again.text());
    let all = rig.page("/ui/u/ines/tasks?all=1", &[]).await.html();
    assert!(all.contains("aria-label=\"Reopen: renew the passport\"") && all.contains("Done: sing"), "{all}");
    assert!(rig.page(&format!("/ui/u/ines/items/{id}"), &[]).await.html().contains("value=\"reopen\""));
    let to = send(&[("action", "reopen"), ("back", "all")]).await.sent_to();
    assert!(to.starts_with("/ui/u/ines/tasks?all=1&done="), "{to}");
    assert!(rig.page(&to, &[]).await.html().contains("Undo…"));
    assert_eq!(open().len(), 2);
    // What cannot be done says so, and a retracted task has no button.
    assert_eq!(send(&[("action", "burn")]).await.status, 400);
    assert_eq!(rig.form("/ui/u/ines/tasks", &[OWN], &[("token", &token), ("action", "done")]).await.status, 400);
    rig.form(&format!("/ui/u/ines/items/{id}/retract"), &[OWN], &[("token", &token)]).await.sent_to();
    let all = rig.page("/ui/u/ines/tasks?all=1", &[]).await.html();
    assert!(!all.contains("Done: renew") && all.contains(">retracted<"), "{all}");
    let refused = send(&[("action", "done")]).await;
    assert!(refused.status == 422 && refused.text().contains("is retracted"), "{}", refused.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_in_groups_with_what_is_known_of_each() {
    let rig = rig().await;
    assert!(rig.page("/ui/u/nobody/people", &[]).await.html().contains("Nobody yet"));
    let told = json!({"facts": [
        {"predicate": "sibling", "object": "Ana", "qualifiers": {"relation": "sister"}},
        {"predicate": "friend", "object": "Rui"},
        {"predicate": "partner", "object": "Noor"},
        {"subject": "Ana", "predicate": "lives_in", "object": "Lagos"},
        {"subject": "Ana", "predicate": "partner", "object": "Tiago"},
        {"predicate": "likes", "object": "sailing with Ana"},
        {"predicate": "likes", "object": "bananas"},
    ]});
    rig.claims("ines", &told.to_string(), SourceKind::UserSaid);
    let page = rig.page("/ui/u/ines/people", &[]).await.html();
    let family = between(&page, "aria-label=\"Family\"", "</section>");
    for part in [">Ana</h3>", ">sister</a>", "Lagos", "Tiago", "sailing with Ana", "/items/fact_"] {
        assert!(family.contains(part), "{part}: {family}");
    }
    assert!(!family.contains("Rui") && !page.contains("bananas"), "{page}");
    let others = between(&page, "aria-label=\"Others who came up\"", "</section>");
    assert!(others.contains(">Tiago</h3>") && !others.contains(">Ana</h3>"), "{others}");
    let order = ["Partner", "Family", "Friends and neighbours", "Others who came up"];
    let places =
        order.map(|name| page.find(&format!("aria-label=\"{name}\"")).unwrap_or_else(|| panic!("{name}: {page}")));
    assert!(places.is_sorted(), "{places:?}");
    // Somebody else in the place of a partner: what was so once is told as such.
    rig.claims("ines", r#"{"facts": [{"predicate": "partner", "object": "Bela"}]}"#, SourceKind::UserSaid);
    let page = rig.page("/ui/u/ines/people", &[]).await.html();
    let partner = between(&page, "aria-label=\"Partner\"", "</section>");
    assert!(partner.contains(">Bela</h3>") && !partner.contains(">Noor</h3>"), "{partner}");
    assert!(page.contains(">Noor</h3>") && page.contains("What was so once"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_answers_on_request_from_what_it_is_given() {
    let said = "You live in <b>Porto</b> [1].";
    let rig = TestServer::chatting(FakeScript::saying(said), Limits::default()).await;
    rig.told("ines", "I live in Porto.").await;
    let page = rig.page("/ui/u/ines/ask?q=Where+do+I+live%3F", &[]).await.html();
    assert!(page.contains("Ask openai/fake</button>") && !page.contains("class=\"answer\""), "{page}");
    assert_eq!(rig.upstream.requests(), 0, "nothing is asked by looking");
    let (token, version) = (rig.token(&[]).await, rig.get("/memory/ines").await.ok()["version"].clone());
    let fields = [("token", token.as_str()), ("q", "Where do I live?")];
    let page = rig.form("/ui/u/ines/ask", &[OWN], &fields).await.html();
    let answer = between(&page, "id=\"model\"", "</section>");
    assert!(answer.contains("You live in &#60;b&#62;Porto") && answer.contains("openai/fake, "), "{answer}");
    let given = between(answer, "<ol class=\"given\">", "</ol>");
    assert!(given.contains("Porto") && given.contains("/items/"), "{given}");
    assert!(between(&page, "id=\"verdict\"", "</section>").contains("Porto"), "what memory has stays beside it");
    let sent = String::from_utf8_lossy(&rig.last_sent().body).into_owned();
    assert!(sent.contains("Where do I live?") && sent.contains("I live in Porto"), "{sent}");
    assert_eq!(rig.upstream.requests(), 1);
    assert_eq!(rig.get("/memory/ines").await.ok()["version"], version, "the answer is not recorded");
    assert_eq!(rig.form("/ui/u/ines/ask", &[OWN], &[("token", &token)]).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_down_is_told_as_such_and_memory_still_answers() {
    let limits = Limits { attempts_max: 1, backoff: Duration::from_millis(1), ..Limits::default() };
    let script = FakeScript::saying("never").with(Fault::Unavailable500, Repetition::Always);
    let rig = TestServer::chatting(script, limits).await;
    rig.told("ines", "I live in Porto.").await;
    let token = rig.token(&[]).await;
    let fields = [("token", token.as_str()), ("q", "Where do I live?")];
    let page = rig.form("/ui/u/ines/ask", &[OWN], &fields).await.html();
    let answer = between(&page, "id=\"model\"", "</section>");
    assert!(answer.contains("openai/fake gave no answer: ") && answer.contains("quipu doctor"), "{answer}");
    assert!(!answer.contains("never") && answer.contains("Ask it again"), "{answer}");
    assert!(between(&page, "id=\"verdict\"", "</section>").contains("Porto"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_model_the_page_says_how_to_have_one() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let page = rig.page("/ui/u/ines/ask?q=Where+do+I+live%3F", &[]).await.html();
    assert!(page.contains("[models.chat]") && !page.contains("What a model answers"), "{page}");
    let token = rig.token(&[]).await;
    let refused = rig.form("/ui/u/ines/ask", &[OWN], &[("token", &token), ("q", "Where?")]).await;
    assert!(refused.status == 503 && refused.text().contains("[models.chat]"), "{}", refused.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_hears_of_new_versions_and_of_nothing_else() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let page = rig.page("/ui/u/ines", &[]).await;
    assert!(page.header("content-security-policy").contains("connect-src 'self'"));
    let page = page.html();
    let live = between(&page, "data-live=\"", "\"").to_owned();
    let mut response = rig.client.get(rig.url(&live)).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    rig.told("ines", "My sister is called Ana.").await;
    let mut seen = String::new();
    while !seen.contains("event: version") {
        let piece = tokio::time::timeout(Duration::from_secs(30), response.chunk()).await.unwrap();
        seen += std::str::from_utf8(&piece.unwrap().unwrap()).unwrap();
    }
    assert!(!seen.contains("Ana"), "{seen}");
    let version = rig.get("/memory/ines").await.ok()["version"].as_u64().unwrap();
    let told: u64 = between(&seen, "data: ", "\n").parse().unwrap();
    assert!(told > 1 && told <= version, "{seen}");
    assert_eq!(rig.page("/ui/u/a%20b%2Fc/live", &[]).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_listens_to_a_memory_that_does_not_exist() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let absent = rig.page("/ui/u/nobody/live?after=0", &[]).await;
    assert_eq!(absent.status, 404, "{}", absent.text());
    assert!(absent.text().contains("there is no user nobody"), "{}", absent.text());
    assert!(!rig.page("/ui/u/nobody", &[]).await.html().contains("data-live"), "its page does not ask");
    // A stream of a memory that is deleted meanwhile ends.
    let mut response = rig.client.get(rig.url("/ui/u/ines/live?after=0")).send().await.unwrap();
    quipu_engine::erase::delete_user(&rig.engine, &UserId::parse("ines").unwrap()).unwrap();
    let ended = async { while response.chunk().await.unwrap().is_some() {} };
    tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_one_user_hears_nothing_of_another() {
    let rig = TestServer::with(
        quipu_fake_model::FakeScript::saying("hello"),
        std::sync::Arc::new(quipu_models::HashedNgrams::new()),
        |options| options.needs_key = true,
    )
    .await;
    rig.remembers("otto", "My canary is called Zyxwv.");
    let cookie = rig.signed_in(&rig.key(&[Scope::Read], Some("ines"))).await;
    assert_eq!(rig.page("/ui/u/otto/live?after=0", &[("cookie", &cookie)]).await.status, 403);
    assert_eq!(rig.page("/ui/u/otto/live?after=0", &[]).await.status, 303, "a stranger is asked for a key");
}
