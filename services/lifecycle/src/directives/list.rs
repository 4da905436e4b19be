//! The list of an account's directives, newest first.

use hub_platform::db::During;
use hub_proto::lifecycle::{Directive, ListDirectivesReply, ListDirectivesRequest};
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
/// Directives that are looked at for a page of those in one state.
const LOOKED_MAX: i64 = 2000;
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
        let looked_max = match request.state {
            None => i64::from(request.limit) + 1,
            Some(_) => LOOKED_MAX,
        };
        let rows_max = i64::from(request.limit);
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&before, Type::TEXT),
            (&request.agent, Type::TEXT),
            (&looked_max, Type::INT8),
            (&CONTENT_BYTES_MAX, Type::INT8),
            (&request.state, Type::TEXT),
            (&rows_max, Type::INT8),
        ];
        for _ in 0..LOOKS_MAX {
            let rows = PAGE.rows_planned(&self.pool, values).await?;
            let page = Page::read(&rows).during(PAGE.name)?;
            if page.overdue.is_empty() {
                return Ok(ListDirectivesReply {
                    next_cursor: page.next(looked_max).map(cursor::encode),
                    directives: page.directives,
                });
            }
            self.end_overdue(&request.account, &page.overdue).await?;
        }
        Err(Problem::unavailable("directives of this page are being ended, try again").into())
    }
}

/// What one look found.
struct Page<'r> {
    directives: Vec<Directive>,
    /// Of these, those that are to be ended first.
    overdue: Vec<&'r str>,
    /// How many there were to show.
    found: i64,
    /// How many were looked at, and the last of them.
    looked: i64,
    last_looked: Option<&'r str>,
}

impl<'r> Page<'r> {
    fn read(rows: &'r [Row]) -> Result<Self, tokio_postgres::Error> {
        let mut page = Self {
            directives: Vec::with_capacity(rows.len()),
            overdue: Vec::new(),
            found: 0,
            looked: 0,
            last_looked: None,
        };
        for row in rows {
            page.found = row.try_get("found")?;
            page.looked = row.try_get("looked")?;
            page.last_looked = row.try_get("last_looked")?;
            let Some(directive_id) = row.try_get("directive_id")? else {
                continue;
            };
            if row.try_get("overdue")? {
                page.overdue.push(directive_id);
            }
            page.directives.push(read::directive(row)?);
        }
        Ok(page)
    }

    /// After what the next page begins, if there is one.
    fn next(&self, looked_max: i64) -> Option<&str> {
        let shown = self.directives.len();
        if usize::try_from(self.found).is_ok_and(|found| found > shown) {
            return self.directives.last().map(|last| last.directive_id.as_str());
        }
        self.last_looked.filter(|_| self.looked >= looked_max)
    }
}
