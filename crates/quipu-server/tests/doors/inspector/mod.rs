//! The inspector as a browser uses it: access, security of pages, and escaping of users' text.

mod doors;
mod front;
mod importing;
pub(crate) mod pages;

use quipu_fake_model::FakeScript;

use crate::rig::{Answer, TestServer};

async fn rig() -> TestServer {
    TestServer::new(FakeScript::saying("hello")).await
}

/// The headers a browser sends with a form of a page of this server.
const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");

impl TestServer {
    /// Submits a form as a browser does, without following redirects.
    async fn form(&self, path: &str, headers: &[(&str, &str)], fields: &[(&str, &str)]) -> Answer {
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let mut request = client.post(self.url(path)).header("content-type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::of(request.body(body).send().await.unwrap()).await
    }

    /// Loads a page, without following redirects.
    async fn page(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let mut request = client.get(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::of(request.send().await.unwrap()).await
    }

    /// The form token of a page.
    async fn token(&self, headers: &[(&str, &str)]) -> String {
        let page = self.page("/ui/u/ines/upkeep", headers).await.html();
        page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    /// Signs in with a key; returns the cookie.
    async fn signed_in(&self, key: &str) -> String {
        let answer = self.form("/ui/sign-in", &[OWN], &[("key", key)]).await;
        assert_eq!(answer.status, 303, "{}", answer.text());
        answer.header("set-cookie").split(';').next().unwrap().to_owned()
    }
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Loads a page that must succeed.
    fn html(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.text());
        assert_eq!(self.header("content-type"), "text/html; charset=utf-8");
        self.text()
    }

    /// The target of a redirect.
    fn sent_to(&self) -> String {
        assert_eq!(self.status, 303, "{}", self.text());
        self.header("location").to_owned()
    }
}
