//! A client that does what §8.1 asks of it: it tries again until a gateway answers.

use std::time::Duration;

use hub_testkit::{Api, Reply};
use serde_json::Value;

const ATTEMPTS_MAX: usize = 600;
const CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// A gateway that is down answers at once; this lets it come back.
const PAUSE: Duration = Duration::from_millis(50);

/// One caller, as each gateway knows it.
#[derive(Clone)]
pub(crate) struct Persistent(Vec<Api>);

impl Persistent {
    pub(crate) fn new(api: &Api, base_urls: &[String]) -> Self {
        Self(base_urls.iter().map(|url| api.at(url)).collect())
    }

    /// Posts to the gateways in turn, from this one on, until one gives an answer that is not a 5xx.
    pub(crate) async fn post(&self, first: usize, path: &str, body: &Value) -> Reply {
        for attempt in 0..ATTEMPTS_MAX {
            let api = &self.0[(first + attempt) % self.0.len()];
            let request = api
                .request(http::Method::POST, path)
                .timeout(CALL_TIMEOUT)
                .header("content-type", "application/json")
                .body(body.to_string());
            match Reply::try_of(request).await {
                Ok(reply) if !reply.status.is_server_error() => return reply,
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
        panic!("no gateway answered {path}");
    }
}
