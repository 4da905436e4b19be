//! Holds what a hub under test answers, and what it took, to the OpenAPI document it serves.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use http::{Method, StatusCode};
use ma2h_schema::openapi::{self, Shape};
use serde_json::Value;

/// Answers of the transport and the router, which no operation lists.
const OF_THE_EDGE: [u16; 3] = [405, 408, 431];

/// Compiled when first needed, by the pointer of their schema.
static SHAPES: LazyLock<Mutex<HashMap<String, Arc<Shape>>>> = LazyLock::new(Mutex::default);

/// One call, as it went over the wire.
pub struct Exchange<'a> {
    /// The request's method.
    pub method: &'a Method,
    /// Its path.
    pub path: &'a str,
    /// Its body, if it was sent whole.
    pub request: Option<&'a [u8]>,
    /// The answer's status.
    pub status: StatusCode,
    /// Its body.
    pub answer: &'a str,
}

impl Exchange<'_> {
    /// Fails the test where the document says otherwise. Pages for people are not in it.
    pub fn check(&self) {
        let Some(operation) = self.operation() else {
            let is_page = self.path == "/" || self.path.starts_with("/inbox");
            let is_refused = self.status.is_client_error() || self.status.is_server_error();
            assert!(is_page || is_refused, "{}: not described", self.name());
            return;
        };
        if OF_THE_EDGE.contains(&self.status.as_u16()) {
            return;
        }
        self.check_answer(&operation);
        if self.status.is_success() {
            self.check_request(&operation);
        }
    }

    fn name(&self) -> String {
        format!("{} {} → {}", self.method, self.path, self.status.as_u16())
    }

    /// The pointer of the operation; a path without parameters goes first.
    fn operation(&self) -> Option<String> {
        let paths = document()["paths"].as_object()?;
        let mut fitting: Vec<_> = paths
            .keys()
            .filter(|template| fits(template, self.path))
            .collect();
        fitting.sort_by_key(|template| template.matches('{').count());
        let template = fitting.first()?;
        let method = self.method.as_str().to_lowercase();
        let method = if paths[*template].get(&method).is_none() && method == "head" {
            "get"
        } else {
            &method
        };
        paths[*template].get(method)?;
        Some(format!(
            "/paths/{}/{method}",
            template.replace('~', "~0").replace('/', "~1")
        ))
    }

    fn check_answer(&self, operation: &str) {
        let responses = format!("{operation}/responses");
        let status = self.status.as_u16().to_string();
        let class = format!("{}XX", self.status.as_u16() / 100);
        let listed = &document()
            .pointer(&responses)
            .expect("an operation has responses");
        let status = [status, class]
            .into_iter()
            .find(|status| listed.get(status).is_some());
        let status =
            status.unwrap_or_else(|| panic!("{}: not a described status: {}", self.name(), self.answer));
        let response = resolved(format!("{responses}/{status}"));
        let schema = format!("{response}/content/application~1json/schema");
        if document().pointer(&schema).is_none() {
            let has_other = document().pointer(&format!("{response}/content")).is_some();
            assert!(
                has_other || self.answer.is_empty(),
                "{}: a body: {}",
                self.name(),
                self.answer
            );
        } else if self.method != Method::HEAD {
            let answer = serde_json::from_str(self.answer);
            let answer = answer.unwrap_or_else(|error| panic!("{}: {error}: {}", self.name(), self.answer));
            self.check_body("the answer", &schema, &answer);
        }
    }

    /// What was accepted is what the document says is accepted. An envelope of an earlier version has a schema of its own.
    fn check_request(&self, operation: &str) {
        let schema = format!("{operation}/requestBody/content/application~1json/schema");
        let body = self
            .request
            .and_then(|body| serde_json::from_slice::<Value>(body).ok());
        let (Some(body), Some(_)) = (body, document().pointer(&schema)) else {
            return;
        };
        if body
            .get("ma2h_version")
            .is_none_or(|version| version == ma2h::version::HUB_VERSION)
        {
            self.check_body("the request", &schema, &body);
        }
    }

    fn check_body(&self, what: &str, schema: &str, body: &Value) {
        if let Err(finding) = shape(schema).check(body) {
            panic!("{}: {what} is not as described: {finding}\n{body}", self.name());
        }
    }
}

fn document() -> &'static Value {
    openapi::document().expect("the document is put together")
}

/// The pointer of what stands at a pointer, which may be a reference.
fn resolved(pointer: String) -> String {
    let reference = document()
        .pointer(&pointer)
        .and_then(|value| value["$ref"].as_str());
    reference.map_or(pointer, |reference| reference.trim_start_matches('#').to_owned())
}

fn fits(template: &str, path: &str) -> bool {
    let (mut expected, mut found) = (template.split('/'), path.split('/'));
    loop {
        match (expected.next(), found.next()) {
            (None, None) => return true,
            (Some(expected), Some(found)) if expected.starts_with('{') && !found.is_empty() => {}
            (Some(expected), Some(found)) if expected == found => {}
            _ => return false,
        }
    }
}

fn shape(schema: &str) -> Arc<Shape> {
    let mut shapes = SHAPES.lock().expect("nobody panics while it is held");
    let compile = || Arc::new(Shape::at(schema).expect("a described schema compiles"));
    shapes.entry(schema.to_owned()).or_insert_with(compile).clone()
}

#[cfg(test)]
mod tests {
    use http::{Method, StatusCode};

    use super::Exchange;

    fn exchange<'a>(method: &'a Method, path: &'a str, status: u16, answer: &'a str) -> Exchange<'a> {
        let status = StatusCode::from_u16(status).unwrap();
        Exchange {
            method,
            path,
            request: None,
            status,
            answer,
        }
    }

    #[test]
    fn what_is_described_passes() {
        let gone = r#"{"error":{"code":"gone","message":"it was deleted"}}"#;
        exchange(&Method::GET, "/v1/messages/msg_1", 410, gone).check();
        exchange(&Method::GET, "/healthz", 200, r#"{"status":"alive"}"#).check();
        exchange(&Method::GET, "/inbox/msg_1", 200, "<html>").check();
        exchange(&Method::DELETE, "/v1/messages/msg_1", 204, "").check();
        exchange(&Method::GET, "/nowhere", 404, gone).check();
    }

    #[test]
    #[should_panic(expected = "not as described")]
    fn another_code_is_noticed() {
        let body = r#"{"error":{"code":"not_found","message":"it was deleted"}}"#;
        exchange(&Method::GET, "/v1/messages/msg_1", 410, body).check();
    }

    #[test]
    #[should_panic(expected = "not a described status")]
    fn another_status_is_noticed() {
        exchange(&Method::GET, "/healthz", 202, "{}").check();
    }

    #[test]
    #[should_panic(expected = "not described")]
    fn a_path_of_its_own_is_noticed() {
        exchange(&Method::GET, "/v1/nowhere", 200, "{}").check();
    }
}
