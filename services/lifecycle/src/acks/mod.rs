//! Acknowledgements (§14): that a Response reached the agent which asked for it. Those of mailbox entries are written as
//! they are consumed, in [`crate::mailbox`].

use hub_platform::db::{self, During};
use hub_platform::nats::WakeKind;
use hub_platform::{ids, telemetry};
use hub_proto::lifecycle::{Ack, AckMessageRequest};
use ma2h::address::Actor;
use ma2h::error::{ErrorCode, Problem};
use ma2h::version::HUB_VERSION;
use time::OffsetDateTime;
use tokio_postgres::Row;

use crate::column::without_nul;
use crate::error::Error;
use crate::message_id;
use crate::retain::EXPIRED;
use crate::statement::Statement;
use crate::tier::Tier;

pub(crate) const ACK_MESSAGE: Statement = Statement {
    name: "acknowledge message",
    sql: include_str!("ack_message.sql"),
};
pub(crate) const SUBJECT: Statement = Statement {
    name: "read what is acknowledged",
    sql: include_str!("subject.sql"),
};

/// What ids of acknowledgements that are pushed begin with.
pub(crate) const PREFIX: &str = "ack";

/// What a track says once it was acknowledged.
pub(crate) const ACKNOWLEDGED: &str = "acknowledged";

/// Longest note, in bytes.
const NOTE_BYTES_MAX: usize = 16 * 1024;

impl Tier {
    /// Acknowledges a Response; a repeated call gets the acknowledgement that stands.
    pub(crate) async fn ack_message(&self, request: AckMessageRequest) -> Result<Ack, Error> {
        message_id::check(&request.message_id)?;
        check_note(request.note.as_deref())?;
        let ack_id = ids::mint(PREFIX);
        if let Some(row) = db::retry(|| self.ack_once(&request, &ack_id)).await? {
            if row
                .try_get::<_, Option<&str>>("ack_id")
                .during(ACK_MESSAGE.name)?
                .is_some()
            {
                self.announcer.push_owed(&request.account, &ack_id);
            }
            self.announcer.wake(
                &request.account,
                WakeKind::DeliveryUpdated,
                &request.message_id,
                ACKNOWLEDGED,
            );
            metrics::counter!("hub_lifecycle_acks_total", "leg" => "response").increment(1);
            return Ok(of_row(&row).during(ACK_MESSAGE.name)?);
        }
        self.standing_ack(&request).await
    }

    async fn ack_once(&self, request: &AckMessageRequest, ack_id: &str) -> Result<Option<Row>, db::Error> {
        let by = Actor::agent(&request.agent).to_string();
        let resolution_id = request.resolution_id.as_deref().map(without_nul);
        let traceparent = telemetry::traceparent().unwrap_or_default();
        ACK_MESSAGE
            .row(
                &self.pool,
                &[
                    &request.account,
                    &request.message_id,
                    &request.agent,
                    &by,
                    &HUB_VERSION,
                    &request.note.as_deref().map(without_nul),
                    &resolution_id,
                    &ack_id,
                    &self.republish_after_ms(),
                    &traceparent,
                ],
            )
            .await
    }

    /// The acknowledgement that came first, or why there can be none.
    async fn standing_ack(&self, request: &AckMessageRequest) -> Result<Ack, Error> {
        let (account, message_id) = (&request.account, &request.message_id);
        let standing = self
            .standing_for(account, message_id, Some(&request.agent))
            .await?;
        if standing.agent != request.agent {
            return Err(Problem::not_found().into());
        }
        let row = SUBJECT.row(&self.pool, &[account, message_id]).await?;
        let row = row.ok_or_else(Problem::gone)?;
        let resolution_id: Option<&str> = row.try_get("resolution_id").during(SUBJECT.name)?;
        let Some(resolution_id) = resolution_id else {
            return Err(not_acknowledgeable("the message has no answer to acknowledge").into());
        };
        if request
            .resolution_id
            .as_deref()
            .is_some_and(|asked| asked != resolution_id)
        {
            let message = "resolution_id: not the one that the message came to";
            return Err(Problem::invalid_field(message).into());
        }
        if let Some(ack) = joined(&row).during(SUBJECT.name)? {
            return Ok(ack);
        }
        let track: Option<&str> = row.try_get("delivery_state").during(SUBJECT.name)?;
        if track == Some(EXPIRED) {
            return Err(Problem::gone().into());
        }
        Err(not_acknowledgeable("the answer has not been delivered to the agent; read it first").into())
    }
}

fn not_acknowledgeable(message: &str) -> Problem {
    Problem::new(ErrorCode::NotAcknowledgeable, message)
}

/// Refuses a note that is too long.
pub(crate) fn check_note(note: Option<&str>) -> Result<(), Problem> {
    if note.is_some_and(|note| note.len() > NOTE_BYTES_MAX) {
        let message = format!("note: expected at most {NOTE_BYTES_MAX} bytes");
        return Err(Problem::invalid_field(message));
    }
    Ok(())
}

/// The acknowledgement that a row was joined with, if there is one.
pub(crate) fn joined(row: &Row) -> Result<Option<Ack>, tokio_postgres::Error> {
    let is_there: Option<&str> = row.try_get("in_reply_to")?;
    is_there.map(|_| of_row(row)).transpose()
}

/// The envelope of the acknowledgement in a row (§14.1).
pub(crate) fn envelope(row: &Row) -> Result<String, tokio_postgres::Error> {
    let ack = ma2h::ack::Ack {
        ma2h_version: row.try_get("ack_version")?,
        in_reply_to: row.try_get("in_reply_to")?,
        by: row.try_get("acked_by")?,
        acked_at: row.try_get("acked_at")?,
        note: row.try_get("note")?,
        resolution_id: row.try_get("acked_resolution_id")?,
    };
    Ok(ack.to_json())
}

fn of_row(row: &Row) -> Result<Ack, tokio_postgres::Error> {
    let acked_at: OffsetDateTime = row.try_get("acked_at")?;
    Ok(Ack {
        ma2h_version: row.try_get("ack_version")?,
        in_reply_to: row.try_get("in_reply_to")?,
        by: row.try_get("acked_by")?,
        acked_at: Some(hub_proto::stamp(acked_at)),
        note: row.try_get("note")?,
        resolution_id: row.try_get("acked_resolution_id")?,
    })
}

#[cfg(test)]
mod tests {
    use super::{NOTE_BYTES_MAX, check_note};

    #[test]
    fn a_note_is_bounded_in_bytes() {
        for (note, fits) in [
            (None, true),
            (Some("x".repeat(NOTE_BYTES_MAX)), true),
            (Some("é".repeat(NOTE_BYTES_MAX / 2 + 1)), false),
        ] {
            assert_eq!(check_note(note.as_deref()).is_ok(), fits);
        }
    }
}
