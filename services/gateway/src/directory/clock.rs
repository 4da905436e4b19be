//! The one clock (rule 1): what this process has may be off.

use hub_platform::db::Pool;
use ma2h::error::Problem;
use time::OffsetDateTime;

use super::{Statement, column, row};

const NOW: Statement = ("read the clock", include_str!("clock/now.sql"));

pub(super) const STATEMENTS: &[Statement] = &[NOW];

/// PostgreSQL's time.
pub(crate) async fn now(pool: &Pool) -> Result<OffsetDateTime, Problem> {
    let row = row(pool, NOW, &[]).await?.ok_or_else(Problem::internal)?;
    column(&row, "now")
}
