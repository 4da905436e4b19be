//! A broadcast as a person reads it.

use hub_proto::lifecycle::{Broadcast, GetBroadcastReply, Recipient};
use ma2h::error::Problem;
use ma2h::json::quoted;

use crate::edge::answer;

/// Every state that an agent of a broadcast can be in, the first one first.
pub(crate) const STATES: [&str; 7] = [
    "pending",
    "queued",
    "delivered",
    "acknowledged",
    "bounced",
    "expired",
    "undeliverable",
];

/// The members of what was taken; the title is the very text that was written.
pub(super) fn summary(broadcast: &Broadcast) -> Result<String, Problem> {
    let accepted_at = broadcast.accepted_at.as_ref().and_then(answer::stamp_text);
    let labels = broadcast.labels.as_ref();
    let labels = labels.map(|labels| format!(",\"labels\":{labels}"));
    Ok(format!(
        "\"id\":{},\"from\":{},\"created_at\":{},\"title\":{}{},\"recipients\":{}",
        quoted(&broadcast.broadcast_id),
        quoted(&broadcast.author),
        quoted(&accepted_at.ok_or_else(Problem::internal)?),
        broadcast.title,
        labels.unwrap_or_default(),
        broadcast.recipients,
    ))
}

/// The whole of it: what was taken, what each directive says, how many got how far, and a page of who has not acknowledged.
pub(super) fn whole(reply: &GetBroadcastReply) -> Result<String, Problem> {
    let broadcast = reply.broadcast.as_ref().ok_or_else(Problem::internal)?;
    let unacknowledged: Vec<_> = reply.recipients.iter().map(recipient).collect();
    Ok(format!(
        "{{{},\"content\":{},\"states\":{{{}}},\"unacknowledged\":[{}]}}",
        summary(broadcast)?,
        reply.content,
        states(reply),
        unacknowledged.join(","),
    ))
}

/// Those that nobody is in are told too.
fn states(reply: &GetBroadcastReply) -> String {
    let count = |state: &str| {
        let of_state = reply.states.iter().filter(|count| count.state == state);
        of_state.map(|count| count.recipients).sum::<u32>()
    };
    let states = STATES.map(|state| format!("{}:{}", quoted(state), count(state)));
    states.join(",")
}

fn recipient(recipient: &Recipient) -> String {
    let mut members = vec![
        format!("\"agent_id\":{}", quoted(&recipient.agent)),
        format!("\"state\":{}", quoted(&recipient.state)),
    ];
    if let Some(id) = &recipient.directive_id {
        members.push(format!("\"directive_id\":{}", quoted(id)));
    }
    if let Some(reason) = &recipient.reason {
        members.push(format!("\"reason\":{}", quoted(reason)));
    }
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests {
    use hub_proto::Timestamp;
    use hub_proto::lifecycle::{Broadcast, GetBroadcastReply, Recipient, RecipientCount};
    use serde_json::{Value, json};

    use super::whole;

    #[test]
    fn a_broadcast_is_shown_with_how_far_it_got() {
        let mut reply = GetBroadcastReply {
            broadcast: Some(Broadcast {
                broadcast_id: "bro_1".to_owned(),
                author: "human:alice".to_owned(),
                title: r#""St\u006fp""#.to_owned(),
                labels: Some(r#"{"team":"infra"}"#.to_owned()),
                recipients: 3,
                accepted_at: Some(Timestamp { seconds: 0, nanos: 0 }),
            }),
            content: r#"{"title":"St\u006fp"}"#.to_owned(),
            states: vec![
                RecipientCount {
                    state: "acknowledged".to_owned(),
                    recipients: 2,
                },
                RecipientCount {
                    state: "undeliverable".to_owned(),
                    recipients: 1,
                },
            ],
            recipients: Vec::new(),
        };
        let gone = Recipient {
            agent: "a/b".to_owned(),
            state: "undeliverable".to_owned(),
            directive_id: None,
            ack: None,
            reason: Some("unknown_destination".to_owned()),
        };
        reply.recipients.push(gone);
        let shown: Value = serde_json::from_str(&whole(&reply).unwrap()).unwrap();
        let expected = json!({
            "id": "bro_1",
            "from": "human:alice",
            "created_at": "1970-01-01T00:00:00.000000Z",
            "title": "Stop",
            "labels": {"team": "infra"},
            "recipients": 3,
            "content": {"title": "Stop"},
            "states": {
                "pending": 0, "queued": 0, "delivered": 0, "acknowledged": 2, "bounced": 0, "expired": 0,
                "undeliverable": 1,
            },
            "unacknowledged": [
                {"agent_id": "a/b", "state": "undeliverable", "reason": "unknown_destination"},
            ],
        });
        assert_eq!(shown, expected);
    }
}
