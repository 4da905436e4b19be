//! A browser without a script, and without a page.

use http::Method;
use hub_testkit::{Api, Human, Reply, TestHub, segment};

/// A person's browser, without a page.
pub(crate) struct Visitor {
    pub(crate) api: Api,
    pub(crate) cookie: String,
}

impl Visitor {
    pub(crate) async fn of(human: &Human, hub: &TestHub) -> Self {
        let api = hub.anonymous();
        let form = form(&[("token", human.token().unwrap())]);
        let request = api.request(Method::POST, "/inbox/sign-in");
        let request = request.header("sec-fetch-site", "same-origin");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let signed_in = Reply::of(request.body(form)).await;
        assert_eq!(signed_in.status, 303, "{}", signed_in.text);
        let cookie = signed_in.header("set-cookie").unwrap().split(';').next();
        Self {
            cookie: cookie.unwrap().to_owned(),
            api,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        let request = self.api.request(Method::GET, path);
        Reply::of(request.header("cookie", &self.cookie)).await
    }

    /// A page that is there.
    pub(crate) async fn page(&self, path: &str) -> String {
        let page = self.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.text);
        page.text
    }

    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let request = self.api.request(Method::POST, path);
        let request = request.header("cookie", &self.cookie);
        let request = request.header("sec-fetch-site", "same-origin");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        Reply::of(request.body(form(fields))).await
    }
}

/// What a form carries without the person's doing: the session's token, and the sending's key.
pub(crate) fn hidden(page: &str) -> (String, String) {
    (value(page, "csrf"), value(page, "key"))
}

/// What a field of this name holds, the last one of the page.
pub(crate) fn value(page: &str, name: &str) -> String {
    let (_, rest) = page.rsplit_once(&format!("name=\"{name}\" value=\"")).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

fn form(fields: &[(&str, &str)]) -> String {
    let pairs = fields
        .iter()
        .map(|(name, value)| format!("{name}={}", segment(value)));
    pairs.collect::<Vec<_>>().join("&")
}
