//! Names of the wire in words for a person.

use ma2h::envelope::{MessageType, Mode, Priority, Resolution};
use ma2h::status::Status;

/// `human:alice` → `alice`, `agent:deploybot/dev` → `agent deploybot/dev`, `system:…` → what the hub did.
pub(super) fn actor(address: &str) -> String {
    match address.split_once(':') {
        Some(("human", id)) => id.to_owned(),
        Some(("agent", id)) => format!("agent {id}"),
        Some(("system", "default_on_expire")) => "the agent’s own default".to_owned(),
        Some(("system", _)) => "the hub".to_owned(),
        _ => address.to_owned(),
    }
}

/// `1 agent`, `12 agents`.
pub(super) fn agents(count: usize) -> String {
    if count == 1 {
        "1 agent".to_owned()
    } else {
        format!("{count} agents")
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn either(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [before @ .., last] => format!("{} or {last}", before.join(", ")),
    }
}

/// What kind of message it is; `mode` of an ask.
pub(super) fn kind(kind: MessageType, mode: Option<Mode>) -> &'static str {
    match (kind, mode) {
        (MessageType::Notify, _) => "Notice",
        (MessageType::Task, _) => "Task",
        (MessageType::Ask, Some(Mode::Confirm)) => "Approval",
        (MessageType::Ask, _) => "Question",
    }
}

/// The status of a message, as a word and a sign that does not need colour.
pub(super) fn status(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Open => ("Open", "○"),
        Status::Delivered => ("Notice", "·"),
        Status::Ended(Resolution::Answered) => ("Answered", "✓"),
        Status::Ended(Resolution::Completed) => ("Done", "✓"),
        Status::Ended(Resolution::Declined) => ("Declined", "✕"),
        Status::Ended(Resolution::Dismissed) => ("Dismissed", "✕"),
        Status::Ended(Resolution::Cancelled) => ("Withdrawn", "⊘"),
        Status::Ended(Resolution::Expired) => ("Expired", "◷"),
    }
}

/// Where a directive's track is, as a word and a sign that does not need colour.
pub(super) fn track(state: &str) -> (&str, &'static str) {
    match state {
        "pending" => ("Being sent", "·"),
        "queued" => ("Queued", "…"),
        "delivered" => ("Delivered", "→"),
        "acknowledged" => ("Acknowledged", "✓"),
        "bounced" | "undeliverable" => ("Undeliverable", "✕"),
        "expired" => ("Expired", "◷"),
        // Of a later release.
        other => (other, "·"),
    }
}

/// How much the sender says it matters.
pub(super) fn priority(priority: Priority) -> &'static str {
    match priority {
        Priority::Low => "Low",
        Priority::Normal => "Normal",
        Priority::High => "High",
        Priority::Urgent => "Urgent",
    }
}

#[cfg(test)]
mod tests {
    use super::{actor, agents, either};

    #[test]
    fn names_people_and_agents() {
        assert_eq!(actor("human:alice"), "alice");
        assert_eq!(actor("agent:deploybot/dev#sess_1"), "agent deploybot/dev#sess_1");
        assert_eq!(actor("system:expiry"), "the hub");
        assert_eq!(actor("odd"), "odd");
    }

    #[test]
    fn counts_agents() {
        assert_eq!([0, 1, 2].map(agents), ["0 agents", "1 agent", "2 agents"]);
    }

    #[test]
    fn joins_names() {
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(either(&names(&[])), "");
        assert_eq!(either(&names(&["a"])), "a");
        assert_eq!(either(&names(&["a", "b", "c"])), "a, b or c");
    }
}
