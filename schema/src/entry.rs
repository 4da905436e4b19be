//! What an agent drains from its mailbox.

use serde_json::Value;

use crate::{Edition, Violation, compiled};

/// The kinds of mailbox entries; a drained item has one member, named so.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntryKind {
    /// What a human tells an agent.
    Directive,
    /// What an agent sends another.
    Message,
    /// How an ask or a task of the drainer's ended.
    Response,
    /// What became of a message of the drainer's.
    Receipt,
}

impl EntryKind {
    /// All of them.
    pub const ALL: [EntryKind; 4] = [
        EntryKind::Directive,
        EntryKind::Message,
        EntryKind::Response,
        EntryKind::Receipt,
    ];

    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            EntryKind::Directive => "directive",
            EntryKind::Message => "message",
            EntryKind::Response => "response",
            EntryKind::Receipt => "receipt",
        }
    }
}

/// Checks the payload of an entry that declares version `0.minor` against its own kind, so that none passes for
/// another. The directives of 0.4 are held to what 0.5 says of them; the other kinds begin with 0.5.
pub fn check_shape(minor: u32, kind: EntryKind, payload: &Value) -> Result<(), Violation> {
    compiled::entry(Edition::of(minor).max(Edition::V05), kind)?.check(payload)
}

#[cfg(test)]
mod tests {
    use super::{EntryKind, check_shape};
    use serde_json::{Value, json};

    fn payload(kind: EntryKind) -> Value {
        let agent = json!({ "id": "bot", "run_id": "run_1", "runtime": "cli" });
        match kind {
            EntryKind::Directive => json!({
                "ma2h_version": "0.6", "type": "directive", "id": "dir_1", "from": "human:alice", "to": "agent:bot",
                "created_at": "2026-01-02T03:04:05Z", "title": "Stop",
            }),
            EntryKind::Message => json!({
                "ma2h_version": "0.6", "type": "notify", "id": "msg_1", "from": "agent:bot", "to": "agent:other",
                "created_at": "2026-01-02T03:04:05Z", "title": "Done", "agent": agent,
            }),
            EntryKind::Response => json!({
                "ma2h_version": "0.6", "in_reply_to": "msg_1", "resolution_id": "res_1", "agent": agent,
                "resolution": "completed",
            }),
            EntryKind::Receipt => json!({
                "ma2h_version": "0.6", "type": "receipt", "id": "rcpt_1", "in_reply_to": "msg_1", "event": "bounced",
                "prior": "queued", "at": "2026-01-02T03:04:05Z", "session": "sess_1", "to": "agent:bot#sess_2",
            }),
        }
    }

    fn finding(minor: u32, kind: EntryKind, payload: &Value) -> String {
        check_shape(minor, kind, payload)
            .err()
            .map(|violation| violation.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_payload_is_of_its_own_kind_only() {
        for kind in EntryKind::ALL {
            for other in EntryKind::ALL {
                for minor in [5, 6, 7] {
                    let found = check_shape(minor, other, &payload(kind));
                    assert_eq!(found.is_ok(), kind == other, "{kind:?} as {other:?}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn what_no_signature_covers_is_refused_by_name() {
        for (kind, name) in [
            (EntryKind::Directive, "state"),
            (EntryKind::Directive, "request"),
            (EntryKind::Message, "state"),
            (EntryKind::Message, "client_ref"),
            (EntryKind::Receipt, "action"),
        ] {
            let mut injected = payload(kind);
            injected[name] = json!({});
            let found = finding(6, kind, &injected);
            assert!(found.starts_with(name), "{kind:?} with {name}: {found}");
        }
    }

    #[test]
    fn only_directives_are_older_than_0_5() {
        for kind in EntryKind::ALL {
            let mut old = payload(kind);
            old["ma2h_version"] = "0.4".into();
            let expected = match kind {
                EntryKind::Directive => "",
                _ => "ma2h_version: must be 0.5 or later",
            };
            assert_eq!(finding(4, kind, &old), expected, "{kind:?}");
        }
        let mut legacy = payload(EntryKind::Directive);
        legacy["ma2h_version"] = "0.4".into();
        legacy["id"] = "17".into();
        legacy["to"] = "agent:bot#7".into();
        assert_eq!(finding(4, EntryKind::Directive, &legacy), "");
    }
}
