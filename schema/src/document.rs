//! The schema documents: which there are, and the check of any body against one of them.

use serde_json::Value;

use crate::{Violation, compiled};

/// A version of the protocol that has schemas of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Edition {
    /// 0.4, also for everything before it.
    V04,
    /// 0.5.
    V05,
    /// 0.6, also for everything after it.
    V06,
}

impl Edition {
    /// All of them, oldest first.
    pub const ALL: [Edition; 3] = [Edition::V04, Edition::V05, Edition::V06];

    /// The one that a document declaring `0.minor` is held to.
    pub fn of(minor: u32) -> Edition {
        match minor {
            0..=4 => Edition::V04,
            5 => Edition::V05,
            6.. => Edition::V06,
        }
    }

    /// As its folder is called: `v0.6`.
    pub fn as_str(self) -> &'static str {
        match self {
            Edition::V04 => "v0.4",
            Edition::V05 => "v0.5",
            Edition::V06 => "v0.6",
        }
    }
}

/// What a schema describes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Noun {
    /// An acknowledgement.
    Ack,
    /// What a hub says of itself.
    Capability,
    /// A message as its sender reads it back.
    GetMessage,
    /// What an agent drains from its mailbox.
    InboundMessage,
    /// What an agent submits.
    Message,
    /// Whether an agent listens.
    Presence,
    /// The body of a resolve.
    ResolveRequest,
    /// How an ask or a task ended.
    Response,
    /// A registered session.
    Session,
    /// The answer to a submit.
    SubmitAck,
}

impl Noun {
    /// All of them.
    pub const ALL: [Noun; 10] = [
        Noun::Ack,
        Noun::Capability,
        Noun::GetMessage,
        Noun::InboundMessage,
        Noun::Message,
        Noun::Presence,
        Noun::ResolveRequest,
        Noun::Response,
        Noun::Session,
        Noun::SubmitAck,
    ];

    /// As its file is called, without `.schema.json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Noun::Ack => "ack",
            Noun::Capability => "capability",
            Noun::GetMessage => "get-message",
            Noun::InboundMessage => "inbound-message",
            Noun::Message => "message",
            Noun::Presence => "presence",
            Noun::ResolveRequest => "resolve-request",
            Noun::Response => "response",
            Noun::Session => "session",
            Noun::SubmitAck => "submit-ack",
        }
    }
}

/// The schema's text, if there is one: neither a resolve request nor a session has one before 0.5.
pub fn text(edition: Edition, noun: Noun) -> Option<&'static str> {
    TEXTS
        .iter()
        .find(|(e, n, _)| (*e, *n) == (edition, noun))
        .map(|(_, _, text)| *text)
}

/// Checks a body against the whole schema, formats included.
pub fn check(edition: Edition, noun: Noun, body: &Value) -> Result<(), Violation> {
    compiled::whole(edition, noun)?.check(body)
}

macro_rules! texts {
    ($($edition:ident $folder:literal: $($noun:ident $file:literal),+;)+) => {
        &[$($((
            Edition::$edition,
            Noun::$noun,
            include_str!(concat!("../", $folder, "/", $file, ".schema.json")),
        )),+),+]
    };
}

pub(crate) const TEXTS: &[(Edition, Noun, &str)] = texts! {
    V04 "v0.4": Ack "ack", Capability "capability", GetMessage "get-message", InboundMessage "inbound-message",
        Message "message", Presence "presence", Response "response", SubmitAck "submit-ack";
    V05 "v0.5": Ack "ack", Capability "capability", GetMessage "get-message", InboundMessage "inbound-message",
        Message "message", Presence "presence", ResolveRequest "resolve-request", Response "response",
        Session "session", SubmitAck "submit-ack";
    V06 "v0.6": Ack "ack", Capability "capability", GetMessage "get-message", InboundMessage "inbound-message",
        Message "message", Presence "presence", ResolveRequest "resolve-request", Response "response",
        Session "session", SubmitAck "submit-ack";
};
