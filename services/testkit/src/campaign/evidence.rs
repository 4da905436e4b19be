//! What is there when it is over: the rows of the database, and what came to the callback.

use std::collections::BTreeMap;
use std::time::Duration;

use ma2h::sign::{VerifyingKey, parse_header, verify_push};
use serde_json::Value;
use time::OffsetDateTime;
use tokio_postgres::{Client, Row};

use super::history::Call;
use crate::sink::Received;

const MESSAGES: &str = include_str!("messages.sql");
const ENTRIES: &str = include_str!("entries.sql");
/// How far the time of a signature may be from that of its arrival. Clocks are put off by more than that.
const SIGNED_WITHIN_SECONDS: i64 = 30;

/// A message as its rows say.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// Its id.
    pub(crate) id: String,
    /// Its title, which is its name.
    pub(crate) name: String,
    /// Its status.
    pub(crate) status: String,
    /// When it expires.
    pub(crate) expires_at: Option<OffsetDateTime>,
    /// When it ended.
    pub(crate) terminal_at: Option<OffsetDateTime>,
    /// Its one resolution.
    pub(crate) resolution_id: Option<String>,
    /// What its resolver wrote.
    pub(crate) detail: String,
    /// Its response track.
    pub(crate) delivery_state: Option<String>,
    /// When its Response reached the agent.
    pub(crate) delivered_at: Option<OffsetDateTime>,
    /// Whether it asks to have its Response pushed.
    pub(crate) is_pushed: bool,
    /// How its push stands.
    pub(crate) push: Option<String>,
    /// The outcomes of its attempts, the latest last.
    pub(crate) attempts: Vec<String>,
    /// The note of its acknowledgement.
    pub(crate) ack_note: Option<String>,
}

/// A directive in its mailbox, as its rows say.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its id.
    pub(crate) id: String,
    /// Its title, which is its name.
    pub(crate) name: String,
    /// The address of the agent it is for.
    pub(crate) agent: String,
    /// Who wrote it.
    pub(crate) author: String,
    /// When it expires.
    pub(crate) expires_at: Option<OffsetDateTime>,
    /// Where it is.
    pub(crate) state: String,
    /// When it came, and its place among those of one moment.
    pub(crate) place: (OffsetDateTime, i64),
    /// When it was first given to a drain.
    pub(crate) delivered_at: Option<OffsetDateTime>,
    /// When it ended.
    pub(crate) ended_at: Option<OffsetDateTime>,
    /// When it was acknowledged.
    pub(crate) acked_at: Option<OffsetDateTime>,
    /// What was said with that.
    pub(crate) note: Option<String>,
}

/// A Response that came to the callback.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// When.
    pub(crate) at: OffsetDateTime,
    /// Of which message.
    pub(crate) id: String,
    /// The Response.
    pub(crate) body: Value,
    /// What names the attempt.
    pub(crate) jti: String,
    /// What is wrong with its signature, or with the time that it names.
    pub(crate) fault: Option<String>,
    /// What the callback answered, if it did.
    pub(crate) status: Option<u16>,
}

/// All that the rules judge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// What clients did and were told.
    pub(crate) calls: Vec<Call>,
    /// What is in the database, by id.
    pub(crate) messages: BTreeMap<String, Message>,
    /// What was pushed, in its order.
    pub(crate) arrivals: Vec<Arrival>,
    /// What lies in mailboxes, or did, by id.
    pub(crate) entries: BTreeMap<String, Entry>,
    /// How long an entry that was drained stays away.
    pub(crate) window: Duration,
    /// When all clients had gone, nothing failed any more, and each mailbox began to be drained to its end by one agent.
    pub(crate) closing_at: Option<OffsetDateTime>,
    /// When the database was read.
    pub(crate) read_at: Option<OffsetDateTime>,
}

impl Message {
    /// Whether it has ended in a resolution: a notify never does.
    pub(crate) fn is_resolved(&self) -> bool {
        self.resolution_id.is_some()
    }

    fn read(row: &Row) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            id: row.try_get("message_id")?,
            name: row.try_get("title")?,
            status: row.try_get("status")?,
            expires_at: row.try_get("expires_at")?,
            terminal_at: row.try_get("terminal_at")?,
            resolution_id: row.try_get("resolution_id")?,
            detail: row.try_get("detail")?,
            delivery_state: row.try_get("delivery_state")?,
            delivered_at: row.try_get("delivered_at")?,
            is_pushed: row.try_get("is_pushed")?,
            push: row.try_get("push")?,
            attempts: row.try_get("attempts")?,
            ack_note: row.try_get("ack_note")?,
        })
    }
}

impl Entry {
    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.ended_at.is_some()
    }

    /// Whether it may not be drained any more at this time.
    pub(crate) fn is_dropped(&self, at: OffsetDateTime) -> bool {
        self.is_over() || self.expires_at.is_some_and(|expires_at| expires_at <= at)
    }

    fn read(row: &Row) -> Result<Self, tokio_postgres::Error> {
        let agent: &str = row.try_get("agent")?;
        Ok(Self {
            id: row.try_get("entry_id")?,
            name: row.try_get("title")?,
            agent: format!("agent:{agent}"),
            author: row.try_get("author")?,
            expires_at: row.try_get("expires_at")?,
            state: row.try_get("state")?,
            place: (row.try_get("enqueued_at")?, row.try_get("seq")?),
            delivered_at: row.try_get("delivered_at")?,
            ended_at: row.try_get("ended_at")?,
            acked_at: row.try_get("acked_at")?,
            note: row.try_get("note")?,
        })
    }
}

/// Reads every message there is.
pub(super) async fn messages(database: &Client) -> anyhow::Result<BTreeMap<String, Message>> {
    let rows = database.query(MESSAGES, &[]).await?;
    let messages = rows.iter().map(Message::read).collect::<Result<Vec<_>, _>>()?;
    Ok(messages
        .into_iter()
        .map(|message| (message.id.clone(), message))
        .collect())
}

/// Reads every directive there is.
pub(super) async fn entries(database: &Client) -> anyhow::Result<BTreeMap<String, Entry>> {
    let rows = database.query(ENTRIES, &[]).await?;
    let entries = rows.iter().map(Entry::read).collect::<Result<Vec<_>, _>>()?;
    Ok(entries
        .into_iter()
        .map(|entry| (entry.id.clone(), entry))
        .collect())
}

/// How many pushes are owed, and how many messages and entries are overdue.
pub(super) async fn owed(database: &Client) -> anyhow::Result<i64> {
    let sql = "SELECT (SELECT count(*) FROM lifecycle.pushes WHERE state IN ('due', 'held'))
                    + (SELECT count(*) FROM lifecycle.messages
                       WHERE status = 'open' AND expires_at < statement_timestamp())
                    + (SELECT count(*) FROM lifecycle.entries
                       WHERE state = 'queued' AND drops_at < statement_timestamp()) AS owed";
    Ok(database.query_one(sql, &[]).await?.try_get("owed")?)
}

impl Arrival {
    /// Of a request, as its receiver verifies it.
    pub(super) fn of(request: &Received, callback_url: &str, key: &VerifyingKey) -> Self {
        let text = std::str::from_utf8(&request.body).unwrap_or_default();
        let body: Value = serde_json::from_str(text).unwrap_or_default();
        let header = request.header("ma2h-signature").unwrap_or_default();
        let now = request.at.unix_timestamp();
        let verified = verify_push(header, text, callback_url, key, now, SIGNED_WITHIN_SECONDS);
        Self {
            at: request.at,
            id: body["in_reply_to"].as_str().unwrap_or_default().to_owned(),
            jti: parse_header(header).map_or(String::new(), |header| header.jti.to_owned()),
            fault: verified.err().map(|error| format!("{error}: {header}")),
            status: request.answer.status(),
            body,
        }
    }
}
