//! People who write to agents: directives, some of which expire, some of them sent twice, and looks at how far they get.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;

use super::{Asked, Deed, Field};
use crate::campaign::caller::Caller;
use crate::campaign::history::Told;
use crate::client::segment;

/// How long it is from one directive to the next, in milliseconds.
const PAUSE_MS: std::ops::Range<u64> = 20..250;
/// What agents see from a directive's name that they are to leave unacknowledged.
pub(super) const LEFT: &str = "to be left";

/// Writes one directive after the other, and looks after those written before.
pub(super) async fn run(field: Arc<Field>, number: usize, mut dice: StdRng) {
    let author = field.humans[number % field.humans.len()].clone();
    let mut written: Vec<String> = Vec::new();
    let mut round = 0;
    while !field.stop.is_cancelled() {
        let left = if dice.random_range(0..8) == 0 { LEFT } else { "" };
        let name = format!("writer {number}, directive {round} {left}");
        written.extend(write(&field, &author, name.trim_end(), &mut dice).await);
        if dice.random() && !written.is_empty() {
            let id = &written[dice.random_range(0..written.len())];
            follow(&field, &author, id).await;
        }
        round += 1;
        tokio::time::sleep(Duration::from_millis(dice.random_range(PAUSE_MS))).await;
    }
}

/// Writes one, under a key or not; with one perhaps twice. Without, it is asked once: the answer may be lost with the
/// directive there. The id, if it was told.
async fn write(field: &Field, author: &Caller, name: &str, dice: &mut StdRng) -> Option<String> {
    let keyed = dice.random_range(0..100) < 70;
    let expires_in = (dice.random_range(0..100) < 25).then(|| dice.random_range(200..4000));
    let now = author.history().clock.now();
    let expires_at = expires_in.map(|millis| now + Duration::from_millis(millis));
    let worker = &field.workers[dice.random_range(0..field.workers.len())];
    let mut directive = json!({"to": worker.name(), "title": name});
    if let Some(at) = expires_at.and_then(|at| at.format(&Rfc3339).ok()) {
        directive["expires_at"] = json!(at);
    }
    let mut asked = Asked::post("/v1/directives".to_owned());
    asked.key = keyed.then(|| name.to_owned());
    let deed = || Deed::Direct {
        name: name.to_owned(),
        keyed,
        expires_at,
    };
    let attempt = |_| (deed(), Some(directive.clone()));
    let first = field.next_gateway();
    let told = if keyed {
        let told = author.persist(first, &asked, attempt).await;
        if dice.random_range(0..100) < 30 {
            author.persist(field.next_gateway(), &asked, attempt).await;
        }
        told
    } else {
        author.once(first, &asked, deed(), Some(directive.clone())).await
    };
    match told {
        Told::Tracked(track) => Some(track.id),
        _ => None,
    }
}

async fn follow(field: &Field, author: &Caller, id: &str) {
    let asked = Asked::get(format!("/v1/directives/{}", segment(id)), Duration::ZERO);
    let deed = |_| (Deed::Follow { id: id.to_owned() }, None::<Value>);
    author.persist(field.next_gateway(), &asked, deed).await;
}
