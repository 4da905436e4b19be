//! Agents that drain their mailboxes, several at once: waiting or not, some going away before they are answered, and that
//! acknowledge what they were given: at once or late, with a note, twice, or never.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::writers::LEFT;
use super::{Asked, Deed, Field};
use crate::campaign::caller::Caller;
use crate::campaign::history::Told;
use crate::campaign::mailbox::Shown;

/// Lets others have their turn after an empty answer, or none.
const PAUSE: Duration = Duration::from_millis(100);
/// How long an agent takes before it acknowledges, in milliseconds; sometimes longer than the window.
const THOUGHT_MS: std::ops::Range<u64> = 0..400;
const LONG_THOUGHT: Duration = Duration::from_millis(2500);
/// How long the last drains are held, in seconds.
const LAST_WAIT: u64 = 2;

/// Drains one time after the other, and deals with what comes.
pub(super) async fn run(field: Arc<Field>, worker: Caller, mut dice: StdRng) {
    while !field.stop.is_cancelled() {
        let wait = if dice.random() { dice.random_range(1..4) } else { 0 };
        let cut_after =
            (dice.random_range(0..100) < 12).then(|| Duration::from_millis(dice.random_range(0..300)));
        let max = dice.random_range(1..8);
        match drain(&field, &worker, max, wait, cut_after).await {
            Told::Drained(shown) if !shown.is_empty() => deal_with(&field, &worker, &shown, &mut dice).await,
            Told::Drained(_) if wait > 0 => {}
            _ => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Drains, without acknowledging anything, until all these entries were shown; not for longer than this.
pub(super) async fn run_out(field: Arc<Field>, worker: Caller, mut left: BTreeSet<String>, within: Duration) {
    let until = Instant::now() + within;
    while !left.is_empty() && Instant::now() < until {
        if let Told::Drained(shown) = drain(&field, &worker, 1000, LAST_WAIT, None).await {
            for entry in &shown {
                left.remove(&entry.id);
            }
        }
    }
}

async fn drain(field: &Field, worker: &Caller, max: u32, wait: u64, cut_after: Option<Duration>) -> Told {
    let path = format!("/v1/inbox?max={max}&wait={wait}");
    let asked = Asked::get(path, Duration::from_secs(wait)).cut_after(cut_after);
    let deed = Deed::Drain {
        agent: worker.name().to_owned(),
    };
    worker.once(field.next_gateway(), &asked, deed, None).await
}

/// Acknowledges what is not to be left, and some of it only when it comes again.
async fn deal_with(field: &Field, worker: &Caller, shown: &[Shown], dice: &mut StdRng) {
    let thought = if dice.random_range(0..100) < 5 {
        LONG_THOUGHT
    } else {
        Duration::from_millis(dice.random_range(THOUGHT_MS))
    };
    tokio::time::sleep(thought).await;
    let mut ids: Vec<String> = shown
        .iter()
        .filter(|entry| !entry.name.ends_with(LEFT) && dice.random_range(0..100) < 90)
        .map(|entry| entry.id.clone())
        .collect();
    if dice.random() {
        // One by one, each with a word of its own.
        for id in ids {
            let is_twice = dice.random_range(0..100) < 20;
            let consuming = consume(field, worker, vec![id.clone()], Some(crate::unique()));
            if is_twice {
                let again = consume(field, worker, vec![id], Some(crate::unique()));
                tokio::join!(consuming, again);
            } else {
                consuming.await;
            }
        }
    } else if !ids.is_empty() {
        if dice.random_range(0..100) < 20 {
            ids.push(ids[0].clone());
        }
        consume(field, worker, ids, None).await;
    }
}

async fn consume(field: &Field, worker: &Caller, ids: Vec<String>, note: Option<String>) {
    let asked = Asked::post("/v1/inbox/ack".to_owned());
    let mut body = json!({"ids": ids});
    if let Some(note) = &note {
        body["note"] = json!(note);
    }
    let attempt = |_| -> (Deed, Option<Value>) {
        let deed = Deed::Consume {
            agent: worker.name().to_owned(),
            ids: ids.clone(),
            note: note.clone(),
        };
        (deed, Some(body.clone()))
    };
    worker.persist(field.next_gateway(), &asked, attempt).await;
}
