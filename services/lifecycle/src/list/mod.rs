//! The list of an account's messages, newest first.

mod filter;

use hub_platform::db::{self, During};
use hub_proto::lifecycle::{ListMessagesReply, ListMessagesRequest, MessageSummary};
use ma2h::envelope::Resolution;
use ma2h::error::Problem;
use time::OffsetDateTime;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::error::Error;
use crate::principal::Caller;
use crate::statement::{Statement, TypedValues};
use crate::tier::Tier;
use crate::{cursor, read};

use filter::Filter;

pub(crate) const PAGE: Statement = Statement {
    name: "list messages",
    sql: include_str!("page.sql"),
};

/// Messages of a page.
const LIMIT_MAX: u32 = 200;
/// Looks at one page. Each further one follows on messages of it that were overdue and are expired now.
const LOOKS_MAX: usize = 3;

impl Tier {
    /// Lists messages. Overdue ones are expired before anyone is told of them (design rule 2).
    pub(crate) async fn list(&self, request: ListMessagesRequest) -> Result<ListMessagesReply, Error> {
        if !(1..=LIMIT_MAX).contains(&request.limit) {
            return Err(Problem::validation(format!("limit: expected 1 to {LIMIT_MAX}")).into());
        }
        let reader = Caller::of(request.reader.clone())?;
        let before = request.cursor.as_deref();
        let before = before.map(|cursor| cursor::decode(cursor, "msg")).transpose()?;
        let Some(filter) = Filter::of(&request, &reader)? else {
            return Ok(ListMessagesReply::default());
        };
        if filter.status == Some(Resolution::Expired.as_str()) {
            // What is overdue stands under another status until it is moved.
            self.expire_overdue_of(&request.account).await?;
        }
        // One more than asked for tells whether there is a next page.
        let limit = usize::try_from(request.limit).unwrap_or_default();
        for look in 1..=LOOKS_MAX {
            let rows = self
                .page(
                    &request.account,
                    before.as_deref(),
                    &filter,
                    i64::from(request.limit) + 1,
                )
                .await?;
            let overdue = overdue(&rows).during(PAGE.name)?;
            if !overdue.is_empty() {
                self.expire(&request.account, &overdue).await?;
                if look < LOOKS_MAX {
                    continue;
                }
            }
            let shown = &rows[..rows.len().min(limit)];
            // Where more expire than a few looks can show, the last one leaves out what it has just moved.
            let messages = shown.iter().map(read_summary).filter(|summary| {
                summary
                    .as_ref()
                    .map_or(true, |summary| !overdue.contains(&summary.message_id.as_str()))
            });
            let messages = messages.collect::<Result<Vec<_>, _>>().during(PAGE.name)?;
            let last = shown.last().filter(|_| rows.len() > limit);
            let last = last
                .map(|row| row.try_get("message_id"))
                .transpose()
                .during(PAGE.name)?;
            let next_cursor = last.map(cursor::encode);
            return Ok(ListMessagesReply {
                messages,
                next_cursor,
            });
        }
        Err(Problem::unavailable("messages of this page are expiring, try again").into())
    }

    async fn page(
        &self,
        account: &str,
        before: Option<&str>,
        filter: &Filter<'_>,
        limit: i64,
    ) -> Result<Vec<Row>, db::Error> {
        let values: TypedValues<'_> = &[
            (&account, Type::TEXT),
            (&before, Type::TEXT),
            (&filter.status, Type::TEXT),
            (&filter.kind, Type::TEXT),
            (&filter.priority, Type::TEXT),
            (&filter.agent, Type::TEXT),
            (&filter.project, Type::TEXT),
            (&filter.search_keys, Type::INT8_ARRAY),
            (&limit, Type::INT8),
        ];
        PAGE.rows_planned(&self.pool, values).await
    }
}

fn overdue(rows: &[Row]) -> Result<Vec<&str>, tokio_postgres::Error> {
    let mut overdue = Vec::new();
    for row in rows {
        if row.try_get("overdue")? {
            overdue.push(row.try_get("message_id")?);
        }
    }
    Ok(overdue)
}

fn read_summary(row: &Row) -> Result<MessageSummary, tokio_postgres::Error> {
    let time = |name| {
        row.try_get::<_, Option<OffsetDateTime>>(name)
            .map(|at| at.map(hub_proto::stamp))
    };
    Ok(MessageSummary {
        message_id: row.try_get("message_id")?,
        r#type: row.try_get("kind")?,
        status: row.try_get("status")?,
        title: row.try_get("title")?,
        priority: row.try_get("priority")?,
        tags: row.try_get("tags")?,
        agent: row.try_get("agent")?,
        run_id: row.try_get("run_id")?,
        project: row.try_get("project")?,
        mode: row.try_get("mode")?,
        sensitive: row.try_get("sensitive")?,
        accepted_at: time("accepted_at")?,
        expires_at: time("expires_at")?,
        resolved_at: time("resolved_at")?,
        actor: row.try_get("actor")?,
        delivery: read::delivery(row)?,
    })
}
