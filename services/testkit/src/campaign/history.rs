//! What clients did and were told, call by call. All that the rules judge is here or in [`super::evidence`].

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use time::OffsetDateTime;
use tokio::time::Instant;

use super::mailbox::{Shown, Track};

/// The status of a message that nobody has ended.
pub(crate) const OPEN: &str = "open";

/// One call of one client, from its first byte to the last of its answer.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Who called.
    pub(crate) client: String,
    /// Which gateway was asked.
    pub(crate) gateway: usize,
    /// When the call began.
    pub(crate) began: OffsetDateTime,
    /// When it ended, with or without an answer.
    pub(crate) ended: OffsetDateTime,
    /// What was asked for.
    pub(crate) deed: Deed,
    /// What was answered.
    pub(crate) told: Told,
}

/// What a call asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Deed {
    /// A message of this name, which stands in its title and is no other's.
    Submit {
        /// Its name.
        name: String,
        /// Whether it carries an idempotency key: then every call of this name is the same submit.
        keyed: bool,
        /// When it expires.
        expires_at: Option<OffsetDateTime>,
    },
    /// An answer to a message.
    Resolve {
        /// The message.
        id: String,
        /// A word that stands in this answer and no other.
        token: String,
    },
    /// The submitter withdraws a message.
    Cancel {
        /// The message.
        id: String,
    },
    /// A message is read.
    Read {
        /// The message.
        id: String,
        /// Whether its submitter reads it, which stamps the delivery of its Response.
        by_submitter: bool,
    },
    /// The submitter acknowledges the Response to a message.
    Ack {
        /// The message.
        id: String,
        /// What it says with it.
        note: String,
        /// Whether the callback that the Response was pushed to does so before it answers.
        in_handler: bool,
    },
    /// A directive of this name, which stands in its title and is no other's.
    Direct {
        /// Its name.
        name: String,
        /// Whether it carries an idempotency key.
        keyed: bool,
        /// When it expires.
        expires_at: Option<OffsetDateTime>,
    },
    /// A human looks how far a directive got.
    Follow {
        /// The directive.
        id: String,
    },
    /// An agent drains its mailbox.
    Drain {
        /// The agent's address.
        agent: String,
    },
    /// An agent acknowledges entries of its mailbox.
    Consume {
        /// The agent's address.
        agent: String,
        /// The entries.
        ids: Vec<String>,
        /// What it says with it.
        note: Option<String>,
    },
}

/// What a call was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    /// No answer, or that there is none now: it may have been done or not.
    Nothing(String),
    /// A submit is accepted, now or before.
    Accepted {
        /// The message.
        id: String,
        /// How it stands.
        status: String,
    },
    /// This very call ended the message; a cancel also where it was cancelled before.
    Ended {
        /// How.
        status: String,
        /// The resolution, where the answer names it.
        resolution_id: Option<String>,
    },
    /// The message has ended otherwise.
    TooLate {
        /// How.
        status: String,
    },
    /// How the message stands.
    Seen {
        /// Its status.
        status: String,
        /// Its Response, once it has one.
        response: Option<Value>,
    },
    /// The acknowledgement that stands, this one or an earlier.
    Acknowledged(Value),
    /// There is nothing that could be acknowledged.
    TooEarly,
    /// How far a directive got; a new one is accepted, now or before.
    Tracked(Track),
    /// What a drain gave.
    Drained(Vec<Shown>),
    /// How many entries an acknowledgement consumed.
    Consumed(u64),
    /// Any other answer.
    Refused {
        /// Its status.
        status: u16,
        /// Its body.
        body: String,
    },
}

impl Deed {
    /// The message or directive it is about, where that is known and one.
    pub(crate) fn id(&self) -> Option<&str> {
        match self {
            Self::Submit { .. } | Self::Direct { .. } | Self::Drain { .. } | Self::Consume { .. } => None,
            Self::Resolve { id, .. }
            | Self::Cancel { id }
            | Self::Read { id, .. }
            | Self::Ack { id, .. }
            | Self::Follow { id } => Some(id),
        }
    }

    /// The name, and when it expires, of what is to be made.
    pub(crate) fn makes(&self) -> Option<(&str, Option<OffsetDateTime>)> {
        match self {
            Self::Submit { name, expires_at, .. } | Self::Direct { name, expires_at, .. } => {
                Some((name, *expires_at))
            }
            _ => None,
        }
    }

    /// What the report counts it as.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Submit { .. } => "submit",
            Self::Resolve { .. } => "resolve",
            Self::Cancel { .. } => "cancel",
            Self::Read { .. } => "read",
            Self::Ack { .. } => "ack",
            Self::Direct { .. } => "direct",
            Self::Follow { .. } => "follow",
            Self::Drain { .. } => "drain",
            Self::Consume { .. } => "consume",
        }
    }
}

impl Told {
    /// The status of the message that the answer names.
    pub(crate) fn status(&self) -> Option<&str> {
        match self {
            Self::Accepted { status, .. }
            | Self::Ended { status, .. }
            | Self::TooLate { status }
            | Self::Seen { status, .. } => Some(status),
            _ => None,
        }
    }

    /// What the report counts it as.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Nothing(_) => "no answer",
            Self::Accepted { .. } => "accepted",
            Self::Ended { .. } => "ended",
            Self::TooLate { .. } => "too late",
            Self::Seen { .. } => "seen",
            Self::Acknowledged(_) => "acknowledged",
            Self::TooEarly => "too early",
            Self::Tracked(_) => "tracked",
            Self::Drained(shown) if shown.is_empty() => "empty",
            Self::Drained(_) => "drained",
            Self::Consumed(_) => "consumed",
            Self::Refused { .. } => "refused",
        }
    }
}

impl Call {
    /// The message or directive it is about, by what it asked for or was told.
    pub(crate) fn id(&self) -> Option<&str> {
        match &self.told {
            Told::Accepted { id, .. } => Some(id),
            Told::Tracked(track) => Some(&track.id),
            _ => self.deed.id(),
        }
    }

    /// The ids of all that it is about.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        let shown = match &self.told {
            Told::Drained(shown) => shown.as_slice(),
            _ => &[],
        };
        let consumed = match &self.deed {
            Deed::Consume { ids, .. } => ids.as_slice(),
            _ => &[],
        };
        let shown = shown.iter().map(|shown| shown.id.as_str());
        self.id()
            .into_iter()
            .chain(shown)
            .chain(consumed.iter().map(String::as_str))
    }

    /// Whether it concerns a message or directive of this id and name.
    pub(crate) fn concerns(&self, id: &str, name: &str) -> bool {
        let is_of_name = self.deed.makes().is_some_and(|(other, _)| other == name);
        is_of_name || self.ids().any(|other| other == id)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (began, ended) = (self.began.time(), self.ended.time());
        let (client, gateway) = (&self.client, self.gateway);
        write!(
            out,
            "{began} to {ended}  {client} at gateway {gateway}: {:?} → {:?}",
            self.deed, self.told
        )
    }
}

/// The time of this machine when the campaign began, and what has passed since: it never steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    began: OffsetDateTime,
    at: Instant,
}

impl Clock {
    /// From now on.
    pub(crate) fn start() -> Self {
        Self {
            began: OffsetDateTime::now_utc(),
            at: Instant::now(),
        }
    }

    /// Now.
    pub(crate) fn now(&self) -> OffsetDateTime {
        self.began + self.at.elapsed()
    }
}

/// Where clients write down their calls. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// What they are timed by.
    pub(crate) clock: Clock,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl History {
    /// An empty one.
    pub(crate) fn begin() -> Self {
        Self {
            clock: Clock::start(),
            calls: Arc::default(),
        }
    }

    /// Writes a call down.
    pub(crate) fn note(&self, call: Call) {
        self.calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(call);
    }

    /// All that was written down, in the order in which the calls ended.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
