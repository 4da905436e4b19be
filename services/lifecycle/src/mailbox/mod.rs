//! Mailboxes (§8.7): a drain claims entries, for a window, and its acknowledgement consumes them.

mod ack;
mod claim;
mod close;
mod end;
mod filled;
mod heads;
mod waiting;

use hub_platform::nats::WakeKind;
use tokio_postgres::Row;

use crate::statement::Statement;
use crate::tier::Tier;

pub(crate) use heads::Heads;

pub(crate) const CLAIM: Statement = Statement {
    name: "claim entries",
    sql: include_str!("claim.sql"),
};
pub(crate) const END_CLAIM: Statement = Statement {
    name: "end claim",
    sql: include_str!("end_claim.sql"),
};
pub(crate) const UNCLAIM: Statement = Statement {
    name: "unclaim entries",
    sql: include_str!("unclaim.sql"),
};
pub(crate) const ACK: Statement = Statement {
    name: "acknowledge entries",
    sql: include_str!("ack.sql"),
};
pub(crate) const FILLED: Statement = Statement {
    name: "find filled mailboxes",
    sql: include_str!("filled.sql"),
};
pub(crate) const WAITING: Statement = Statement {
    name: "count waiting entries",
    sql: include_str!("waiting.sql"),
};
pub(crate) const OVERDUE: Statement = Statement {
    name: "take overdue entries",
    sql: include_str!("overdue.sql"),
};
pub(crate) const END: Statement = Statement {
    name: "end entries",
    sql: include_str!("end.sql"),
};
pub(crate) const CLOSE: Statement = Statement {
    name: "close mailboxes",
    sql: include_str!("close.sql"),
};
pub(crate) const EMPTY: Statement = Statement {
    name: "empty closed mailboxes",
    sql: include_str!("empty.sql"),
};
pub(crate) const PURGE: Statement = Statement {
    name: "purge directives",
    sql: include_str!("purge.sql"),
};
pub(crate) const PURGE_CLAIMS: Statement = Statement {
    name: "purge claims",
    sql: include_str!("purge_claims.sql"),
};

/// What a track says before any drain.
pub(crate) const QUEUED: &str = "queued";
/// And after the first.
pub(crate) const DELIVERED: &str = "delivered";

/// The kind of entry that is a person's.
pub(crate) const DIRECTIVE: &str = "directive";

/// The lane of what any drain is shown.
const EVERYONE: &str = "everyone";
/// The lane of what any session is shown.
const SESSIONS: &str = "sessions";

/// The lanes of a drain that names this session, or none.
fn lanes(session: Option<&str>) -> Vec<&str> {
    match session {
        None => vec![EVERYONE],
        Some(session) => vec![EVERYONE, SESSIONS, session],
    }
}

/// An entry whose track moved.
struct Moved {
    account: String,
    entry_id: String,
    kind: String,
    state: String,
}

impl Moved {
    fn all(rows: &[Row]) -> Result<Vec<Self>, tokio_postgres::Error> {
        let read = |row: &Row| {
            Ok(Self {
                account: row.try_get("account")?,
                entry_id: row.try_get("entry_id")?,
                kind: row.try_get("kind")?,
                state: row.try_get("state")?,
            })
        };
        rows.iter().map(read).collect()
    }
}

impl Tier {
    /// Tells the metrics, and who watches.
    fn announce_moved(&self, moved: &[Moved]) {
        for Moved {
            account,
            entry_id,
            kind,
            state,
        } in moved
        {
            self.announce_track(account, kind, entry_id, state);
        }
    }

    /// The same for one of them.
    pub(crate) fn announce_track(&self, account: &str, kind: &str, entry_id: &str, state: &str) {
        count(kind, state, 1);
        if kind == DIRECTIVE {
            self.announcer
                .wake(account, WakeKind::DirectiveUpdated, entry_id, state);
        }
    }
}

/// Counts entries that came to a state.
pub(crate) fn count(kind: &str, state: &str, entries: u64) {
    // Both come from columns that hold one of these.
    let kind = [DIRECTIVE, "message", "response", "receipt"]
        .into_iter()
        .find(|known| *known == kind);
    let state = [QUEUED, DELIVERED, crate::acks::ACKNOWLEDGED, "bounced", "expired"]
        .into_iter()
        .find(|known| *known == state);
    if let (Some(kind), Some(state)) = (kind, state) {
        metrics::counter!("hub_lifecycle_entries_total", "kind" => kind, "to" => state).increment(entries);
    }
}

#[cfg(test)]
mod tests {
    use super::lanes;

    #[test]
    fn a_session_is_shown_more() {
        assert_eq!(lanes(None), ["everyone"]);
        assert_eq!(lanes(Some("sess_1")), ["everyone", "sessions", "sess_1"]);
    }
}
