//! Writing to another agent: only where the hub takes such mail, and only believed where it took it as such (§8.0, §8.1,
//! §10).

use ma2h_schema::{Edition, Noun, document};
use serde_json::Value;

use crate::version::{ADDRESS_MINOR_MIN, Version};

/// That a hub takes mail between agents. It is had by looking, and in no other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterAgentMail(());

/// Whether the addressee of a message is there, as the hub told with its ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// It listens.
    Online,
    /// It does not; the message waits for it.
    Offline,
    /// Not known, or not for this sender to know.
    Unknown,
}

/// The hub did not understand the address: it is older than its document said, and a human has the message now. Whoever
/// sent it is to be told; an ask is to be cancelled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the hub did not understand whom {id} is for, and showed it to a human")]
pub struct Misrouted {
    /// The message that went astray.
    pub id: String,
}

impl InterAgentMail {
    /// Looks into a capability document. One that has the leg without what the leg rests on is no promise.
    pub fn detect(capability: &Value) -> Option<Self> {
        let version = Version::parse(capability["ma2h_version"].as_str()?).ok()?;
        document::check(Edition::of(version.minor()), Noun::Capability, capability).ok()?;
        let is_offered = version.minor() >= ADDRESS_MINOR_MIN && capability["inter_agent"]["enabled"] == true;
        is_offered.then_some(Self(()))
    }

    /// Reads the ack of an addressed message: what was true of the document need not be true of the hub that answered.
    pub fn destination(self, ack: &Value) -> Result<Destination, Misrouted> {
        match ack["destination"]["state"].as_str() {
            Some("online") => Ok(Destination::Online),
            Some("offline") => Ok(Destination::Offline),
            Some(_) => Ok(Destination::Unknown),
            None => Err(Misrouted {
                id: ack["id"].as_str().unwrap_or_default().to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Destination, InterAgentMail, Misrouted};

    fn capability() -> Value {
        json!({
            "ma2h_version": "0.6",
            "ack": { "enabled": true },
            "sessions": { "enabled": true },
            "inbound": { "enabled": true, "session_param": true, "signature_algs": ["ed25519"] },
            "inter_agent": {
                "enabled": true, "sender_allowlists": true, "entry_kinds": ["message", "response", "receipt"],
            },
        })
    }

    #[test]
    fn only_a_hub_that_says_so_is_written_through() {
        assert!(InterAgentMail::detect(&capability()).is_some());
        let cases = [
            ("/inter_agent/enabled", json!(false)),
            ("/inter_agent/enabled", json!("true")),
            ("/inter_agent", json!({})),
            ("/ma2h_version", json!("0.4")),
            ("/ma2h_version", json!("1.0")),
            ("/ma2h_version", json!(null)),
            // It rests on these.
            ("/ack/enabled", json!(false)),
            ("/sessions", json!({ "enabled": false })),
            ("/inbound/session_param", json!(false)),
            ("/inter_agent/sender_allowlists", json!(false)),
        ];
        for (pointer, value) in cases {
            let mut document = capability();
            *document.pointer_mut(pointer).unwrap() = value.clone();
            assert_eq!(InterAgentMail::detect(&document), None, "{pointer}: {value}");
        }
        assert_eq!(InterAgentMail::detect(&json!({ "ma2h_version": "0.6" })), None);
        assert_eq!(InterAgentMail::detect(&json!("<html>")), None);
    }

    #[test]
    fn an_ack_without_a_destination_is_a_misroute() {
        let mail = InterAgentMail::detect(&capability()).unwrap();
        let ack = |destination: Value| json!({ "id": "msg_1", "status": "open", "destination": destination });
        let online = json!({ "state": "online", "last_seen": "2026-01-01T00:00:00Z" });
        assert_eq!(mail.destination(&ack(online)), Ok(Destination::Online));
        let offline = json!({ "state": "offline", "last_seen": "2026-01-01T00:00:00Z" });
        assert_eq!(mail.destination(&ack(offline)), Ok(Destination::Offline));
        assert_eq!(
            mail.destination(&ack(json!({ "state": "unknown" }))),
            Ok(Destination::Unknown)
        );
        let misrouted = Err(Misrouted {
            id: "msg_1".to_owned(),
        });
        for destination in [json!(null), json!({}), json!("online"), json!({ "state": 1 })] {
            assert_eq!(mail.destination(&ack(destination)), misrouted);
        }
        assert_eq!(
            mail.destination(&json!({ "id": "msg_1", "status": "open" })),
            misrouted
        );
    }
}
