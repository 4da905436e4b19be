//! Faults between a hub and the checks: what a hub that is wrong would have said. Each is the smallest lie of its
//! family, and names the checks that must not believe it.

mod liar;
mod mailboxes;
mod messages;
mod outward;
mod signing;
mod submits;
mod tools;

use serde_json::Value;

use super::api::{Call, Reply};
use super::receiver::Push;
pub(crate) use liar::Liar;

/// One thing that a hub might do wrong.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    /// The checks that must notice.
    pub(crate) noticed_by: &'static [&'static str],
    lie: Lie,
}

/// Where it is told.
enum Lie {
    /// In an answer of the hub's.
    Reply(fn(&Exchange<'_>, &mut Reply)),
    /// In the body of an answer that is JSON.
    Json(fn(&Exchange<'_>, &mut Value)),
    /// In what comes to a callback.
    Push(fn(&mut Push)),
}

/// What was asked, and by whom.
pub(crate) struct Exchange<'a> {
    call: &'a Call,
    token: &'a str,
    status: u16,
}

impl Fault {
    /// Tells the lie in an answer, if it is one that this fault is about.
    fn alter_reply(&self, call: &Call, token: &str, reply: &mut Reply) {
        // To make accounts is no part of what is tried.
        if call.path.starts_with("/admin/") {
            return;
        }
        let exchange = Exchange {
            call,
            token,
            status: reply.status,
        };
        match self.lie {
            Lie::Reply(alter) => alter(&exchange, reply),
            Lie::Json(alter) => {
                if let Ok(mut body) = serde_json::from_str(&reply.text) {
                    let honest = Value::clone(&body);
                    alter(&exchange, &mut body);
                    // What it leaves alone keeps its spelling.
                    if body != honest {
                        reply.text = body.to_string();
                    }
                }
            }
            Lie::Push(_) => {}
        }
    }

    /// Tells the lie in what came to a callback, if it is about that.
    fn alter_push(&self, push: &mut Push) {
        if let Lie::Push(alter) = self.lie {
            alter(push);
        }
    }
}

impl Exchange<'_> {
    /// Whether a message was submitted.
    fn submits(&self) -> bool {
        self.call.method == reqwest::Method::POST && self.call.path == "/v1/messages"
    }

    /// Whether one message was read.
    fn reads(&self) -> bool {
        self.call.method == reqwest::Method::GET && self.call.path.starts_with("/v1/messages/")
    }

    fn resolves(&self) -> bool {
        self.call.path.contains("/resolve")
    }

    fn cancels(&self) -> bool {
        self.call.path.ends_with("/cancel")
    }

    /// Whether a human asks.
    fn is_human(&self) -> bool {
        self.token.starts_with("ma2h_human_")
    }
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Fault> {
    [
        messages::FAULTS,
        submits::FAULTS,
        outward::FAULTS,
        mailboxes::FAULTS,
    ]
    .into_iter()
    .flatten()
}

/// The fault with a name.
pub(crate) fn named(name: &str) -> Option<&'static Fault> {
    all().find(|fault| fault.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn every_fault_has_a_name_and_checks_that_exist() {
        let checks = crate::live::all();
        let names: BTreeSet<&str> = checks.iter().map(|check| check.name.as_str()).collect();
        let faults: BTreeSet<&str> = all().map(|fault| fault.name).collect();
        assert_eq!(faults.len(), all().count());
        for fault in all() {
            assert!(!fault.noticed_by.is_empty(), "{}", fault.name);
            for check in fault.noticed_by {
                assert!(names.contains(check), "{}: there is no check {check}", fault.name);
            }
        }
    }
}
