//! What a hub may or may not offer, by its capability document (§8.0).

use serde_json::Value;

use super::hub::Hub;

/// A part of the protocol that is optional; what every hub has is of no leg.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Leg {
    /// Callbacks.
    Push,
    /// A limit on submits.
    RateLimit,
    /// A limit on what is open.
    InboxDepth,
    /// Mailboxes and directives.
    Inbound,
    /// Directives pushed to an agent.
    Webhook,
    /// Acknowledgements.
    Ack,
    /// Who is there.
    Presence,
    /// Sessions.
    Sessions,
    /// Messages between agents.
    InterAgent,
    /// The mailbox as a stream of events.
    Stream,
    /// A stop that outlives the session.
    HardStop,
}

impl Leg {
    /// Where the capability document says that it is offered.
    fn pointer(self) -> &'static str {
        match self {
            Leg::Push => "/callback_auth_schemes",
            Leg::RateLimit => "/rate_limit/requests_per_minute",
            Leg::InboxDepth => "/rate_limit/inbox_depth",
            Leg::Inbound => "/inbound/enabled",
            Leg::Webhook => "/inbound/webhook_supported",
            Leg::Ack => "/ack/enabled",
            Leg::Presence => "/presence/enabled",
            Leg::Sessions => "/sessions/enabled",
            Leg::InterAgent => "/inter_agent/enabled",
            Leg::Stream => "/inbound/stream_url",
            Leg::HardStop => "/sessions/operator_hard_stop",
        }
    }

    /// Whether the hub of this repository serves it, once it is configured to: a check of any other leg is written, and
    /// has proved nothing yet.
    pub(crate) fn is_served(self) -> bool {
        match self {
            Leg::Push
            | Leg::RateLimit
            | Leg::InboxDepth
            | Leg::Inbound
            | Leg::Webhook
            | Leg::Ack
            | Leg::Presence => true,
            Leg::Sessions | Leg::InterAgent | Leg::Stream | Leg::HardStop => false,
        }
    }

    /// Whether the hub offers it; if not, why that is known.
    pub(crate) fn offered_by(self, hub: &Hub) -> Result<(), String> {
        let stated = hub.capability.pointer(self.pointer());
        let offered = match stated {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(_) => true,
        };
        if offered {
            return Ok(());
        }
        let name = self.pointer().trim_start_matches('/').replace('/', ".");
        Err(match stated {
            None => format!("the capability document has no {name}"),
            Some(value) => format!("the capability document says {name}: {value}"),
        })
    }
}
