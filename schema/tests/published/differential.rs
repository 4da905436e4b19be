//! Ours against the published schemas, on documents that nobody wrote.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::examples;
use crate::files::{Family, documents, published};
use crate::mutator::{Chance, Mutator};
use crate::{seeds, vectors};

/// Random documents per schema; the systematic ones come on top.
const DOCUMENTS: usize = 1_000;

/// Where our schemas differ on purpose: nowhere.
const DIFFERENCES: [(&str, &str); 0] = [];

/// What is known to be right or nearly so: the vectors' inputs, the examples, and documents with every member.
fn seeds(noun: &str, fragment: &str) -> Vec<Value> {
    let vectors = documents(&published().join("conformance/vectors")).into_values();
    let vectors = vectors
        .filter(|vector| vector["class"] == "schema-validation")
        .filter(|vector| {
            let (_, target_noun, target_fragment) = vectors::target(vector);
            (target_noun.as_str(), target_fragment.as_str()) == (noun, fragment)
        });
    let inputs = vectors.map(|mut vector| vector["input"].take());
    let examples = examples::all()
        .into_iter()
        .filter(|example| example.1 == noun)
        .map(|example| example.2);
    inputs
        .chain(examples)
        .chain(seeds::full(noun, fragment))
        .collect()
}

fn compare(
    theirs: &jsonschema::Validator,
    ours: &jsonschema::Validator,
    place: (&str, &str),
    document: &Value,
) -> bool {
    let expected = theirs.is_valid(document);
    if ours.is_valid(document) != expected && !DIFFERENCES.contains(&place) {
        let finding = ours
            .validate(document)
            .err()
            .or_else(|| theirs.validate(document).err());
        panic!("{place:?}: the published schema says {expected}: {document}\n{finding:?}");
    }
    expected
}

/// How many documents were compared, and how many of them were valid.
#[derive(Clone, Copy, Default)]
struct Tally {
    compared: usize,
    valid: usize,
}

fn compare_schema(
    families: [&Family; 2],
    schemas: &[Value],
    place: (&str, &str, &str),
    number: u64,
) -> Tally {
    let (edition, noun, fragment) = place;
    let mutator = Mutator::new(seeds(noun, fragment), schemas);
    let [theirs, ours] = families.map(|family| family.validator(edition, noun, fragment));
    let mut chance = Chance::new(number);
    let mut tally = Tally::default();
    for document in (0..DOCUMENTS)
        .map(|_| mutator.document(&mut chance))
        .chain(mutator.variants())
    {
        tally.compared += 1;
        tally.valid += usize::from(compare(&theirs, &ours, (edition, noun), &document));
    }
    tally
}

#[test]
fn mutated_documents_get_the_same_verdict() {
    let (theirs, ours) = (Family::published(), Family::ours());
    let schemas: Vec<Value> = ["v0.4", "v0.5", "v0.6"]
        .into_iter()
        .flat_map(|edition| documents(&published().join("schema").join(edition)).into_values())
        .collect();
    let mut places: Vec<_> = theirs
        .names()
        .into_iter()
        .map(|(edition, noun)| (edition, noun, ""))
        .collect();
    for edition in ["v0.5", "v0.6"] {
        for fragment in [
            "#/$defs/registerRequest",
            "#/$defs/sessionEnvelope",
            "#/$defs/sessionList",
        ] {
            places.push((edition.to_owned(), "session".to_owned(), fragment));
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut total = Tally::default();
        while let Some((edition, noun, fragment)) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
            let number = edition.bytes().chain(noun.bytes()).map(u64::from).sum();
            let tally = compare_schema([&theirs, &ours], &schemas, (edition, noun, fragment), number);
            // Documents that are all refused would show little.
            assert!(
                tally.valid >= 50,
                "{edition} {noun}{fragment}: only {} valid",
                tally.valid
            );
            total.compared += tally.compared;
            total.valid += tally.valid;
        }
        total
    };
    let totals = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.map(|thread| thread.join().expect("no verdict differs"))
    });
    let [compared, valid] = [
        totals[0].compared + totals[1].compared,
        totals[0].valid + totals[1].valid,
    ];
    println!("{compared} compared, {valid} valid");
    assert!(compared >= 50_000);
}

/// Reading a message back has the most rules between fields, so all combinations of those fields are tried.
#[test]
fn every_combination_of_states_gets_the_same_verdict() {
    let (theirs, ours) = (Family::published(), Family::ours());
    let tracks = ["queued", "delivered", "acknowledged", "bounced", "expired"];
    let statuses = [
        "open",
        "delivered",
        "answered",
        "declined",
        "cancelled",
        "expired",
        "completed",
        "dismissed",
        "queued",
        "bounced",
        "acknowledged",
    ];
    let resolutions = [
        "answered",
        "declined",
        "cancelled",
        "expired",
        "completed",
        "dismissed",
    ];
    let mailboxes = tracks.map(mailbox).into_iter().map(Some).chain([None]);
    let mailboxes: Vec<_> = mailboxes.collect();
    let deliveries =
        [None, Some("delivered-to-agent"), Some("expired")].map(|state| state.map(|s| json!({ "state": s })));
    let responses = resolutions
        .into_iter()
        .flat_map(|resolution| [true, false].map(|detail| Some((resolution, detail))));
    let responses: Vec<_> = responses
        .map(|response| response.map(|(r, detail)| answer(r, detail)))
        .chain([None])
        .collect();
    let (mut tried, mut valid) = (0, 0);
    for edition in ["v0.5", "v0.6"] {
        let (theirs, ours) = (
            theirs.validator(edition, "get-message", ""),
            ours.validator(edition, "get-message", ""),
        );
        for kind in ["notify", "ask", "task"] {
            for status in statuses {
                for mailbox in &mailboxes {
                    for delivery in &deliveries {
                        for response in &responses {
                            let message = message(kind, status, [mailbox, delivery, response]);
                            valid += usize::from(compare(&theirs, &ours, (edition, "get-message"), &message));
                            tried += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{valid} of {tried} valid");
    assert!(valid > 100);
}

fn mailbox(state: &str) -> Value {
    match state {
        "acknowledged" => json!({ "state": state, "acknowledged_at": "2026-01-02T03:04:05Z" }),
        "bounced" => json!({ "state": state, "prior": "queued" }),
        _ => json!({ "state": state }),
    }
}

fn answer(resolution: &str, detail: bool) -> Value {
    let mut answer = json!({
        "ma2h_version": "0.5", "in_reply_to": "msg_1", "resolution_id": "res_1", "resolution": resolution,
        "agent": { "id": "a", "run_id": "r" },
    });
    if detail {
        answer["response"] = json!({ "actor": "human:a", "resolved_at": "2026-01-02T03:04:05Z" });
    }
    answer
}

/// A message with this mailbox, this delivery and this response. It is addressed where it has a mailbox.
fn message(kind: &str, status: &str, parts: [&Option<Value>; 3]) -> Value {
    let mut message = json!({
        "ma2h_version": "0.5", "type": kind, "created_at": "2026-01-02T03:04:05Z", "title": "t", "id": "msg_1",
        "agent": { "id": "a", "run_id": "r", "runtime": "cli" }, "idempotency_key": "k", "status": status,
    });
    match kind {
        "ask" => message["request"] = json!({ "mode": "confirm" }),
        "task" => message["action"] = json!({ "instructions": "i" }),
        _ => {}
    }
    if parts[0].is_some() {
        message["to"] = json!("agent:b");
    }
    for (name, part) in ["mailbox", "delivery", "response"].into_iter().zip(parts) {
        if let Some(part) = part {
            message[name] = part.clone();
        }
    }
    message
}
