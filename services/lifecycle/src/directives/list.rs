//! The list of an account's directives, newest first.

use hub_platform::db::During;
use hub_proto::lifecycle::{ListDirectivesReply, ListDirectivesRequest};
use ma2h::error::Problem;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::{PAGE, PREFIX, read};
use crate::cursor;
use crate::error::Error;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// Directives of a page.
const LIMIT_MAX: u32 = 200;
/// Bytes of content of a page (design rule 15); at least one directive is shown.
const CONTENT_BYTES_MAX: i64 = 4 * 1024 * 1024;
/// Looks at one page. Each further one follows on directives of it that were overdue and are ended now.
const LOOKS_MAX: usize = 3;

impl Tier {
    /// Lists directives. Overdue ones are ended before anyone is told of them (design rule 2).
    pub(crate) async fn directives(
        &self,
        request: ListDirectivesRequest,
    ) -> Result<ListDirectivesReply, Error> {
        if !(1..=LIMIT_MAX).contains(&request.limit) {
            return Err(Problem::invalid_field(format!("limit: expected 1 to {LIMIT_MAX}")).into());
        }
        let before = request.cursor.as_deref();
        let before = before.map(|cursor| cursor::decode(cursor, PREFIX)).transpose()?;
        if request.agent.as_ref().is_some_and(|agent| agent.contains('\0')) {
            return Ok(ListDirectivesReply::default());
        }
        // One more than asked for tells whether there is a next page.
        let rows_max = i64::from(request.limit) + 1;
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&before, Type::TEXT),
            (&request.agent, Type::TEXT),
            (&rows_max, Type::INT8),
            (&CONTENT_BYTES_MAX, Type::INT8),
        ];
        for _ in 0..LOOKS_MAX {
            let rows = PAGE.rows_planned(&self.pool, values).await?;
            let overdue = overdue(&rows).during(PAGE.name)?;
            if overdue.is_empty() {
                return Ok(page(&rows, request.limit).during(PAGE.name)?);
            }
            self.end_overdue(&request.account, &overdue).await?;
        }
        Err(Problem::unavailable("directives of this page are being ended, try again").into())
    }
}

fn overdue(rows: &[Row]) -> Result<Vec<&str>, tokio_postgres::Error> {
    let mut overdue = Vec::new();
    for row in rows {
        if row.try_get("overdue")? {
            overdue.push(row.try_get("directive_id")?);
        }
    }
    Ok(overdue)
}

fn page(rows: &[Row], limit: u32) -> Result<ListDirectivesReply, tokio_postgres::Error> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let shown = &rows[..rows.len().min(limit)];
    let found: i64 = rows.first().map_or(Ok(0), |row| row.try_get("found"))?;
    let has_more = usize::try_from(found).is_ok_and(|found| found > shown.len());
    let last: Option<&str> = shown
        .last()
        .filter(|_| has_more)
        .map(|row| row.try_get("directive_id"))
        .transpose()?;
    Ok(ListDirectivesReply {
        directives: shown.iter().map(read::directive).collect::<Result<_, _>>()?,
        next_cursor: last.map(cursor::encode),
    })
}
