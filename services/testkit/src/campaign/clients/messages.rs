//! Messages from submit to end: an agent asks, several humans answer at once, the agent polls, repeats and withdraws.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::task::JoinSet;

use super::{AGENT, Asked, Deed, Field, SECRET_REF};
use crate::campaign::history::Told;
use crate::client::segment;
use crate::envelope;

/// One message's life, as it is meant.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is drawn by itself, and none rules another out"
)]
struct Story {
    name: String,
    kind: Kind,
    keyed: bool,
    pushed: bool,
    has_default: bool,
    expires_in: Option<Duration>,
    /// How long its answers let it wait.
    thought: Duration,
    resolvers: usize,
    is_cancelled: bool,
    is_repeated: bool,
    /// How long its submitter polls at a time; none: it does not.
    poll: Option<Duration>,
    /// How often its submitter acknowledges the Response once it has polled; perhaps before it has it.
    acks: usize,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Notify,
    Ask,
    Task,
}

impl Story {
    fn draw(name: String, dice: &mut StdRng) -> Self {
        let kind = match dice.random_range(0..100) {
            0..8 => Kind::Notify,
            8..25 => Kind::Task,
            _ => Kind::Ask,
        };
        let of_100 = |dice: &mut StdRng, share: u32| dice.random_range(0..100) < share;
        let millis = |dice: &mut StdRng, range| Duration::from_millis(dice.random_range(range));
        Self {
            name,
            kind,
            // Only a notify may do without.
            keyed: kind != Kind::Notify || of_100(dice, 50),
            pushed: of_100(dice, 65),
            has_default: of_100(dice, 50),
            expires_in: of_100(dice, 35).then(|| millis(dice, 200..4000)),
            thought: millis(dice, 0..1500),
            resolvers: dice.random_range(0..4),
            is_cancelled: of_100(dice, 25),
            is_repeated: of_100(dice, 40),
            poll: of_100(dice, 50).then(|| Duration::from_secs(dice.random_range(1..4))),
            acks: dice.random_range(0..3),
        }
    }

    fn envelope(&self, field: &Field, expires_at: Option<OffsetDateTime>) -> Value {
        let mut message = match self.kind {
            Kind::Notify => envelope::notify(AGENT),
            Kind::Ask => envelope::confirm(AGENT, ""),
            Kind::Task => envelope::task(AGENT, ""),
        };
        let block = match self.kind {
            Kind::Notify => None,
            Kind::Ask => Some("request"),
            Kind::Task => Some("action"),
        };
        if let Some(block) = block {
            message[block]["allowed_resolvers"] = json!(super::HUMANS.map(|name| format!("human:{name}")));
            if self.pushed {
                message = envelope::with_hmac_push(message, &field.callback_url, SECRET_REF);
            }
        }
        if self.kind == Kind::Ask && self.has_default {
            message["request"]["default_on_expire"] = json!("deny");
        }
        message["title"] = json!(self.name);
        message["state"] = json!({"of": self.name});
        message["expires_at"] = json!(expires_at.and_then(|at| at.format(&Rfc3339).ok()));
        message["idempotency_key"] = json!(self.keyed.then_some(&self.name));
        if let Some(members) = message.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
        message
    }
}

/// Lives one story after the other.
pub(super) async fn run(field: Arc<Field>, number: usize, mut dice: StdRng) {
    let mut round = 0;
    while !field.stop.is_cancelled() {
        let story = Story::draw(format!("client {number}, message {round}"), &mut dice);
        live(&field, Arc::new(story), &mut dice).await;
        round += 1;
    }
}

async fn live(field: &Arc<Field>, story: Arc<Story>, dice: &mut StdRng) {
    let ends = story.kind != Kind::Notify;
    let now = field.agent.history().clock.now();
    let expires_at = story.expires_in.filter(|_| ends).map(|time| now + time);
    let message = story.envelope(field, expires_at);
    let Some(id) = submit(field, &story, &message, expires_at).await else {
        return;
    };
    let mut acts = JoinSet::new();
    if story.is_repeated && story.keyed {
        let (field, story) = (Arc::clone(field), Arc::clone(&story));
        acts.spawn(async move {
            tokio::time::sleep(story.thought).await;
            submit(&field, &story, &message, expires_at).await;
        });
    }
    if let Some(time) = story.poll {
        acts.spawn(poll(Arc::clone(field), id.clone(), time, story.acks));
    }
    for resolver in 0..if ends { story.resolvers } else { 0 } {
        let pause = story.thought + Duration::from_millis(dice.random_range(0..40));
        let answer = answer(story.kind, dice);
        acts.spawn(resolve(Arc::clone(field), id.clone(), resolver, pause, answer));
    }
    if story.is_cancelled && story.kind == Kind::Ask {
        acts.spawn(cancel(Arc::clone(field), id, story.thought));
    }
    acts.join_all().await;
}

/// Whether it was accepted, and as what. Without a key it is asked once: the answer may be lost with the message there.
async fn submit(
    field: &Field,
    story: &Story,
    message: &Value,
    expires_at: Option<OffsetDateTime>,
) -> Option<String> {
    let asked = Asked::post("/v1/messages".to_owned());
    let deed = || Deed::Submit {
        name: story.name.clone(),
        keyed: story.keyed,
        expires_at,
    };
    let first = field.next_gateway();
    let told = if story.keyed {
        let attempt = |_| (deed(), Some(message.clone()));
        field.agent.persist(first, &asked, attempt).await
    } else {
        field
            .agent
            .once(first, &asked, deed(), Some(message.clone()))
            .await
    };
    match told {
        Told::Accepted { id, .. } => Some(id),
        _ => None,
    }
}

/// What a human says, without the word that tells it from all others.
fn answer(kind: Kind, dice: &mut StdRng) -> Value {
    match (kind, dice.random_range(0..5)) {
        (Kind::Task, 0) => json!({"resolution": "dismissed"}),
        (Kind::Task, _) => json!({"resolution": "completed"}),
        (_, 0) => json!({"resolution": "declined"}),
        (_, 1 | 2) => json!({"resolution": "answered", "value": "deny"}),
        _ => json!({"resolution": "answered", "value": "approve"}),
    }
}

async fn resolve(field: Arc<Field>, id: String, resolver: usize, pause: Duration, answer: Value) {
    tokio::time::sleep(pause).await;
    let asked = Asked::post(format!("/v1/messages/{}/resolve", segment(&id)));
    let attempt = |_| {
        let (id, token) = (id.clone(), crate::unique());
        let mut answer = answer.clone();
        answer["comment"] = json!(token);
        (Deed::Resolve { id, token }, Some(answer))
    };
    field.humans[resolver]
        .persist(field.next_gateway(), &asked, attempt)
        .await;
    field.read(&field.humans[resolver], false, &id).await;
}

async fn cancel(field: Arc<Field>, id: String, pause: Duration) {
    tokio::time::sleep(pause).await;
    let asked = Asked::post(format!("/v1/messages/{}/cancel", segment(&id)));
    let attempt = |_| (Deed::Cancel { id: id.clone() }, Some(json!({})));
    field.agent.persist(field.next_gateway(), &asked, attempt).await;
}

/// Polls until it has ended, a few times at most: some are left open for good. Then it acknowledges, so often at once.
async fn poll(field: Arc<Field>, id: String, time: Duration, acks: usize) {
    const POLLS_MAX: usize = 3;
    let path = format!("/v1/messages/{}?wait={}", segment(&id), time.as_secs());
    let asked = Asked::get(path, time);
    let attempt = |_| {
        let (id, by_submitter) = (id.clone(), true);
        (Deed::Read { id, by_submitter }, None)
    };
    for _ in 0..POLLS_MAX {
        let told = field.agent.persist(field.next_gateway(), &asked, attempt).await;
        if !told.says_open() {
            break;
        }
    }
    let mut calls = JoinSet::new();
    for _ in 0..acks {
        calls.spawn(acknowledge(Arc::clone(&field), id.clone(), false));
    }
    calls.join_all().await;
}

/// Acknowledges a Response, with a word that no other acknowledgement has.
pub(super) async fn acknowledge(field: Arc<Field>, id: String, in_handler: bool) {
    let asked = Asked::post(format!("/v1/messages/{}/ack", segment(&id)));
    let attempt = |_| {
        let (id, note) = (id.clone(), crate::unique());
        let body = json!({"note": note});
        (Deed::Ack { id, note, in_handler }, Some(body))
    };
    field.agent.persist(field.next_gateway(), &asked, attempt).await;
}
