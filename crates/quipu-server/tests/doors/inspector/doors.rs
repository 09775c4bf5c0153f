//! Access to the inspector: sign-in and origin checks.

use std::sync::Arc;

use quipu_engine::ports::Scope;
use quipu_fake_model::FakeScript;
use quipu_models::HashedNgrams;

use super::{OWN, rig};
use crate::rig::TestServer;

/// A server that requires a key.
async fn guarded() -> TestServer {
    TestServer::with(FakeScript::saying("hello"), Arc::new(HashedNgrams::new()), |options| options.needs_key = true)
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_told_what_a_page_may_do() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    for path in
        ["/", "/ui/u/ines", "/ui/sign-in", "/ui/u/ines/items/nothing", "/ui/assets/icon.svg", "/ui/u/ines/export/json"]
    {
        let page = rig.page(path, &[]).await;
        let policy = page.header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "frame-ancestors 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(rule), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.header("referrer-policy"), "same-origin", "{path}");
        let kept = page.header("cache-control");
        assert_eq!(kept == "no-store", !path.contains("/assets/"), "{path}: {kept}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_counts_only_from_a_page_of_this_server() {
    let rig = rig().await;
    rig.told("ines", "I live in Porto.").await;
    let token = rig.token(&[]).await;
    let path = "/ui/u/ines/upkeep";
    let origin = format!("http://{}", rig.addr);
    let send = async |headers: &[(&str, &str)], token: &str| rig.form(path, headers, &[("token", token)]).await.status;
    assert_eq!(send(&[OWN], &token).await, 200);
    assert_eq!(send(&[("origin", &origin)], &token).await, 200, "an older browser names the page's origin");
    for foreign in [
        ("origin", "http://evil.test"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-site", "none"),
    ] {
        assert_eq!(send(&[foreign], &token).await, 403, "{foreign:?}");
    }
    assert_eq!(send(&[], &token).await, 403, "no browser sends a form without saying from where");
    assert_eq!(send(&[OWN], "guessed").await, 403);
    assert_eq!(rig.form(path, &[OWN], &[]).await.status, 403);
    assert_eq!(rig.page("/ui/u/ines/review/none", &[]).await.status, 405, "nothing is done by looking");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_signs_in_sees_what_the_key_opens_until_it_is_taken_back() {
    let rig = guarded().await;
    let key = rig.key(&[Scope::Admin], None);
    let made = rig.keys.create("reader", &[Scope::Read], None).unwrap();
    rig.remembers("ines", "I live in Porto.");
    assert_eq!(rig.page("/", &[]).await.sent_to(), "/ui/sign-in");
    assert_eq!(
        rig.page("/ui/u/ines/core?at=1", &[]).await.sent_to(),
        "/ui/sign-in?next=%2Fui%2Fu%2Fines%2Fcore%3Fat%3D1"
    );
    rig.page("/ui/sign-in", &[]).await.html();
    let wrong = rig.form("/ui/sign-in", &[OWN], &[("key", "qp_000000000000_00")]).await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, ""));
    assert_eq!(rig.form("/ui/sign-in", &[], &[("key", &key)]).await.status, 403);
    let entered = rig.form("/ui/sign-in", &[OWN], &[("key", &key), ("next", "/ui/u/ines")]).await;
    assert_eq!(entered.sent_to(), "/ui/u/ines");
    let cookie = entered.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(&key), "the cookie is no key");
    let elsewhere = rig.form("/ui/sign-in", &[OWN], &[("key", &key), ("next", "//evil.test/ui/")]).await;
    assert_eq!(elsewhere.sent_to(), "/");

    let cookie = rig.signed_in(&made.key).await;
    let headers = [("cookie", cookie.as_str())];
    let page = rig.page("/ui/u/ines", &headers).await.html();
    assert!(page.contains("Porto") && !page.contains("/review\"") && !page.contains("/ui/server/keys"), "{page}");
    assert_eq!(rig.page("/ui/u/ines/review", &headers).await.status, 403);
    assert_eq!(rig.page("/ui/server/keys", &headers).await.status, 403);
    assert_eq!(rig.page("/ui/u/ines/erase?target=1", &headers).await.status, 403);
    assert_eq!(rig.form("/ui/u/ines/upkeep", &[headers[0], OWN], &[]).await.status, 403);
    let api = rig.ask("GET", "/memory/ines", &headers, None).await;
    assert_eq!(api.status, 401, "a cookie opens pages only");
    rig.keys.revoke(&made.shown.id).unwrap();
    assert_eq!(rig.page("/ui/u/ines", &headers).await.sent_to(), "/ui/sign-in?next=%2Fui%2Fu%2Fines");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_one_user_shows_nothing_of_another() {
    let rig = guarded().await;
    rig.remembers("ines", "I live in Porto.");
    rig.remembers("otto", "My canary is called Zyxwv.");
    let cookie = rig.signed_in(&rig.key(&[Scope::Admin], Some("ines"))).await;
    let headers = [("cookie", cookie.as_str())];
    let home = rig.page("/", &headers).await.html();
    assert!(home.contains("ines") && !home.contains("otto") && !home.contains("Zyxwv"), "{home}");
    for page in super::pages::OF_A_USER {
        let theirs = rig.page(&format!("/ui/u/otto{page}"), &headers).await;
        let nobodys = rig.page(&format!("/ui/u/nobody{page}"), &headers).await;
        assert_eq!((theirs.status, nobodys.status), (403, 403), "{page}");
        let told = |answer: &crate::rig::Answer| {
            answer.text().split("class=\"lead\">").nth(1).unwrap().split('<').next().unwrap().to_owned()
        };
        assert_eq!(told(&theirs), told(&nobodys), "{page}");
        assert!(!theirs.text().contains("Zyxwv"), "{page}");
    }
    for page in ["/ui/server/metrics", "/ui/server/calibration", "/ui/server/doctor", "/ui/server/keys"] {
        assert_eq!(rig.page(page, &headers).await.status, 403, "{page}");
    }
    let token = rig.token(&headers).await;
    for form in [
        "/upkeep",
        "/core",
        "/memories",
        "/session",
        "/tasks",
        "/ask",
        "/import",
        "/import/x",
        "/revert",
        "/erase",
        "/delete",
        "/items/x/mark",
        "/items/x/edit",
        "/items/x/retract",
        "/review/x",
    ] {
        let sent = rig.form(&format!("/ui/u/otto{form}"), &[headers[0], OWN], &[("token", &token)]).await;
        assert_eq!(sent.status, 403, "{form}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_signs_out_is_out() {
    let rig = guarded().await;
    rig.remembers("ines", "I live in Porto.");
    let cookie = rig.signed_in(&rig.key(&[Scope::Admin], None)).await;
    let headers = [("cookie", cookie.as_str()), OWN];
    let token = rig.token(&headers[..1]).await;
    assert_eq!(rig.form("/ui/sign-out", &headers, &[("token", "guessed")]).await.status, 403);
    assert_eq!(rig.page("/", &headers[..1]).await.status, 200);
    assert_eq!(rig.form("/ui/sign-out", &headers, &[("token", &token)]).await.sent_to(), "/ui/sign-in");
    assert_eq!(rig.page("/", &headers[..1]).await.sent_to(), "/ui/sign-in");
}
