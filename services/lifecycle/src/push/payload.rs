//! What is pushed, by its kind.

use hub_platform::db::{self, During};
use hub_proto::lifecycle::PushKind;
use tokio_postgres::Row;

use crate::{acks, response};

const READ: &str = "read what is pushed";

/// What the push in a row is of, and its JSON: composed anew, so that it is the same text on every channel.
pub(super) fn of(row: &Row, message_id: &str) -> Result<(PushKind, String), db::Error> {
    Ok(match row.try_get("push_kind").during(READ)? {
        "directive" => (PushKind::Directive, row.try_get("directive").during(READ)?),
        "ack" => (PushKind::Ack, acks::envelope(row).during(READ)?),
        _ => {
            let envelope = row.try_get("envelope").during(READ)?;
            (PushKind::Response, response::of(row, message_id, envelope)?)
        }
    })
}
