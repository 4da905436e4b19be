//! What an account's people are told of a pause: a `notify` (§5.1) from the hub itself. Pure; the same pause gives the same
//! text, so that telling again is the same submit.

use ma2h::timestamp;
use serde_json::json;
use time::OffsetDateTime;

/// The agent.id that the hub submits under. The directory takes no agent whose id begins with `system:`.
pub(super) const AGENT: &str = "system:hub";

/// A pause that the hub began.
#[derive(Clone, Debug)]
pub(super) struct Pause {
    pub(super) account: String,
    pub(super) host: String,
    pub(super) id: String,
    pub(super) at: OffsetDateTime,
    pub(super) failing_since: OffsetDateTime,
    pub(super) last_failure: String,
}

/// The envelope.
pub(super) fn envelope(pause: &Pause) -> String {
    let host = &pause.host;
    let since = timestamp::format(pause.failing_since);
    let body = format!(
        "Callbacks to `{host}` have failed since {since}; the last failure was `{}`.\n\n\
         Nothing more is sent there for now. Every answer owed to the host is kept, and its agents can still collect it \
         themselves.\n\n\
         The hub looks now and then whether the host is back, and then sends what it kept. An owner can resume the host \
         at once: `POST …/callback-hosts/{host}/resume`.",
        pause.last_failure,
    );
    json!({
        "ma2h_version": "0.6",
        "type": "notify",
        "created_at": timestamp::format(pause.at),
        "agent": {"id": AGENT, "run_id": pause.id, "runtime": "other"},
        "title": format!("Callback host {host} is paused"),
        "body": body,
        "priority": "high",
        "tags": ["callback-host"],
        "idempotency_key": pause.id,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn the_notice_is_an_envelope_that_says_what_happened() {
        let pause = Pause {
            account: "acme".to_owned(),
            host: "agent.example:8443".to_owned(),
            id: "pau_1".to_owned(),
            at: datetime!(2026-05-04 10:00 UTC),
            failing_since: datetime!(2026-05-04 9:00 UTC),
            last_failure: "timeout".to_owned(),
        };
        let text = envelope(&pause);
        assert_eq!(text, envelope(&pause), "telling again is the same submit");
        let read = ma2h::Envelope::parse(&text).unwrap();
        assert!(ma2h::submit::check(&read).is_ok());
        assert_eq!(
            (read.agent_id.as_str(), read.idempotency_key.as_deref()),
            (AGENT, Some("pau_1"))
        );
        assert!(read.title.contains("agent.example:8443"));
        assert!(read.body.is_some_and(|body| body.contains("`timeout`")));
    }
}
