//! A directive with how far it got, as a person reads it.

use hub_proto::lifecycle::{Directive, MailboxTrack};
use ma2h::error::Problem;
use ma2h::json::quoted;

use crate::edge::answer;

/// `{"directive":{…},"delivery":{…}}`: the envelope is the very text that its agent gets. `more` are members that follow.
pub(super) fn body(directive: &Directive, more: &str) -> Result<String, Problem> {
    let track = directive.track.as_ref().ok_or_else(Problem::internal)?;
    Ok(format!(
        "{{\"directive\":{},\"delivery\":{}{more}}}",
        directive.directive,
        delivery(track)
    ))
}

/// The mailbox track (§14.2).
fn delivery(track: &MailboxTrack) -> String {
    let mut members = vec![format!("\"state\":{}", quoted(&track.state))];
    let mut text = |name: &str, value: &str| members.push(format!("\"{name}\":{}", quoted(value)));
    if let Some(at) = track.delivered_at.as_ref().and_then(answer::stamp_text) {
        text("delivered_at", &at);
    }
    if let Some(prior) = &track.prior {
        text("prior", prior);
    }
    if let Some(ack) = track.ack.as_ref().and_then(answer::ack) {
        text("acknowledged_at", &ma2h::timestamp::format(ack.acked_at));
        members.push(format!("\"ack\":{}", ack.to_json()));
    }
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests {
    use hub_proto::Timestamp;
    use hub_proto::lifecycle::{Ack, Directive, MailboxTrack};
    use serde_json::{Value, json};

    use super::body;

    #[test]
    fn a_directive_is_shown_with_its_track() {
        let at = |seconds| Some(Timestamp { seconds, nanos: 0 });
        let track = MailboxTrack {
            state: "acknowledged".to_owned(),
            delivered_at: at(0),
            prior: None,
            ended_at: at(60),
            ack: Some(Ack {
                ma2h_version: "0.6".to_owned(),
                in_reply_to: "dir_1".to_owned(),
                by: "agent:bot".to_owned(),
                acked_at: at(60),
                note: Some("on it".to_owned()),
                resolution_id: None,
            }),
        };
        let directive = Directive {
            directive: r#"{"id":"dir_1"}"#.to_owned(),
            track: Some(track),
            ..Directive::default()
        };
        let shown: Value = serde_json::from_str(&body(&directive, ",\"more\":1").unwrap()).unwrap();
        let delivery = json!({
            "state": "acknowledged",
            "delivered_at": "1970-01-01T00:00:00.000000Z",
            "acknowledged_at": "1970-01-01T00:01:00.000000Z",
            "ack": {
                "ma2h_version": "0.6", "type": "ack", "in_reply_to": "dir_1", "by": "agent:bot",
                "acked_at": "1970-01-01T00:01:00.000000Z", "note": "on it",
            },
        });
        assert_eq!(
            shown,
            json!({"directive": {"id": "dir_1"}, "delivery": delivery, "more": 1})
        );
    }
}
