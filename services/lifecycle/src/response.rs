//! The Response (§6), composed on read: the same text on every channel, from the row and the envelope.

use std::borrow::Cow;

use hub_platform::db::{self, During};
use ma2h::Envelope;
use ma2h::envelope::MessageType;
use ma2h::response::{ResponseParts, compose, state_of};
use tokio_postgres::Row;

use crate::column::is_verbatim;

/// Writes the Response of a resolved message. The row has the columns of `messages` and `envelopes` by their names.
pub(crate) fn of(row: &Row, message_id: &str, envelope: &str) -> Result<String, db::Error> {
    let text = |name| row.try_get::<_, &str>(name).during("compose response");
    let resolution = text("status")?
        .parse()
        .map_err(|_| db::Error::corrupt(format!("{message_id}: its status is no resolution")))?;
    Ok(compose(&ResponseParts {
        version: text("ma2h_version")?,
        message_id,
        resolution_id: text("resolution_id")?,
        agent_id: text("agent")?,
        run_id: &run_id(text("run_id")?, envelope),
        resolution,
        defaulted: row.try_get("defaulted").during("compose response")?,
        actor: text("actor")?,
        resolved_at: row.try_get("terminal_at").during("compose response")?,
        detail: text("detail")?,
        state: state_of(envelope),
        is_ask: text("kind")? == MessageType::Ask.as_str(),
    }))
}

/// The run as the agent named it, also where the column could not hold that.
fn run_id<'a>(column: &'a str, envelope: &str) -> Cow<'a, str> {
    if is_verbatim(column) {
        return Cow::Borrowed(column);
    }
    match Envelope::parse(envelope) {
        Ok(envelope) => Cow::Owned(envelope.run_id),
        // It was parsed when it was accepted.
        Err(_) => Cow::Borrowed(column),
    }
}
