//! A client that asks again until it is answered, as §8.1 wants of it, and writes every attempt down.

use std::time::Duration;

use http::Method;
use serde_json::Value;
use time::OffsetDateTime;
use tokio::time::Instant;

use super::clients;
use super::history::{Call, Deed, History, OPEN, Told};
use super::mailbox::{self, Track};
use crate::client::{Api, Reply};

/// How long an attempt may go without an answer, beside what it asked to be held for.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(6);
/// How long a client goes on asking. Longer than any fault lasts.
const PATIENCE: Duration = Duration::from_mins(1);
/// A gateway that is down answers at once; this lets it come back.
const PAUSE: Duration = Duration::from_millis(100);

/// Where a request goes.
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) path: String,
    /// How long the hub may hold it.
    pub(super) held: Duration,
    /// What makes it the same call when it is made again.
    pub(super) key: Option<String>,
    /// When its client goes away, if it does not wait for the answer.
    pub(super) cut_after: Option<Duration>,
}

impl Asked {
    pub(super) fn post(path: String) -> Self {
        Self {
            method: Method::POST,
            path,
            held: Duration::ZERO,
            key: None,
            cut_after: None,
        }
    }

    pub(super) fn get(path: String, held: Duration) -> Self {
        Self {
            method: Method::GET,
            path,
            held,
            key: None,
            cut_after: None,
        }
    }

    /// A client that has gone away before it is answered, unless the answer is quicker.
    pub(super) fn cut_after(mut self, time: Option<Duration>) -> Self {
        self.cut_after = time;
        self
    }
}

/// One caller, as each gateway knows it.
#[derive(Clone)]
pub(super) struct Caller {
    name: String,
    gateways: Vec<Api>,
    history: History,
}

impl Caller {
    pub(super) fn new(name: &str, api: &Api, base_urls: &[String], history: History) -> Self {
        Self {
            name: name.to_owned(),
            gateways: base_urls.iter().map(|url| api.at(url)).collect(),
            history,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// Asks the gateways in turn, from this one on, until one decides: attempt by attempt what is asked for, and with
    /// which body. What was told last, if none did in time.
    pub(super) async fn persist(
        &self,
        first: usize,
        asked: &Asked,
        attempt: impl Fn(usize) -> (Deed, Option<Value>),
    ) -> Told {
        let until = Instant::now() + PATIENCE;
        let mut number = 0;
        loop {
            let (deed, body) = attempt(number);
            let told = self.once(first + number, asked, deed, body).await;
            if !matches!(told, Told::Nothing(_)) || Instant::now() >= until {
                return told;
            }
            number += 1;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Asks one gateway once.
    pub(super) async fn once(&self, gateway: usize, asked: &Asked, deed: Deed, body: Option<Value>) -> Told {
        let gateway = gateway % self.gateways.len();
        let mut request = self.gateways[gateway]
            .request(asked.method.clone(), &asked.path)
            .timeout(asked.cut_after.unwrap_or(ATTEMPT_TIMEOUT + asked.held));
        if let Some(key) = &asked.key {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let began = self.history.clock.now();
        let told = match Reply::try_of(request).await {
            Ok(reply) => read(&deed, &reply, self.history.clock.now()),
            Err(error) => Told::Nothing(root_of(&error)),
        };
        self.history.note(Call {
            client: self.name.clone(),
            gateway,
            began,
            ended: self.history.clock.now(),
            deed,
            told: told.clone(),
        });
        told
    }
}

/// The innermost cause, which says most.
fn root_of(error: &reqwest::Error) -> String {
    let mut root: &dyn std::error::Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

fn read(deed: &Deed, reply: &Reply, now: OffsetDateTime) -> Told {
    let status = reply.status.as_u16();
    if reply.status.is_server_error() {
        return Told::Nothing(format!("{status}: {}", reply.text));
    }
    understood(deed, status, &reply.text, now).unwrap_or_else(|| Told::Refused {
        status,
        body: reply.text.clone(),
    })
}

/// What an answer says, if it is one that such a call may get.
fn understood(deed: &Deed, status: u16, text: &str, now: OffsetDateTime) -> Option<Told> {
    let body: Value = serde_json::from_str(text).ok()?;
    let text_at = |name: &str| body[name].as_str().map(str::to_owned);
    let stands = text_at("status");
    match (deed, status) {
        (Deed::Submit { .. }, 202) => Some(Told::Accepted {
            id: text_at("id")?,
            status: stands?,
        }),
        (Deed::Resolve { .. } | Deed::Cancel { .. }, 200) => Some(Told::Ended {
            status: stands?,
            resolution_id: text_at("resolution_id"),
        }),
        (Deed::Resolve { .. } | Deed::Cancel { .. }, 409) if body["error"]["code"] == "already_terminal" => {
            Some(Told::TooLate { status: stands? })
        }
        (Deed::Read { .. }, 200) => {
            let response = body.get("response").filter(|response| !response.is_null());
            Some(Told::Seen {
                status: stands?,
                response: response.cloned(),
            })
        }
        (Deed::Ack { .. }, 200) => Some(Told::Acknowledged(body)),
        (Deed::Ack { .. }, 409) if body["error"]["code"] == "not_acknowledgeable" => Some(Told::TooEarly),
        (Deed::Direct { .. }, 201) | (Deed::Follow { .. }, 200) => Track::of(&body).map(Told::Tracked),
        (Deed::Drain { .. }, 200) => mailbox::shown(text, clients::ENTRY_SECRET, now).map(Told::Drained),
        (Deed::Consume { .. }, 200) => body["acked"].as_u64().map(Told::Consumed),
        _ => None,
    }
}

impl Told {
    /// Whether it says that the message can still be answered.
    pub(super) fn says_open(&self) -> bool {
        self.status() == Some(OPEN)
    }
}
