//! The four tiers, as the database and the metrics name them.

use std::fmt;

/// One of the four tiers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Tier {
    /// The HTTPS edge.
    Gateway,
    /// Every state of a message.
    Lifecycle,
    /// All that leaves for an agent.
    Delivery,
    /// Who is there.
    Presence,
}

impl Tier {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Gateway, Self::Lifecycle, Self::Delivery, Self::Presence];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Lifecycle => "lifecycle",
            Self::Delivery => "delivery",
            Self::Presence => "presence",
        }
    }

    /// The schema it alone writes.
    pub fn schema(self) -> &'static str {
        match self {
            Self::Gateway => "directory",
            Self::Lifecycle | Self::Delivery | Self::Presence => self.as_str(),
        }
    }

    /// The database role it acts as.
    pub fn role(self) -> &'static str {
        match self {
            Self::Gateway => "hub_gateway",
            Self::Lifecycle => "hub_lifecycle",
            Self::Delivery => "hub_delivery",
            Self::Presence => "hub_presence",
        }
    }

    /// The name its process reports under.
    pub fn service_name(self) -> &'static str {
        match self {
            Self::Gateway => "hub-gateway",
            Self::Lifecycle => "hub-lifecycle",
            Self::Delivery => "hub-delivery",
            Self::Presence => "hub-presence",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
