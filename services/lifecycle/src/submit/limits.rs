//! What an agent may submit (§8.6): so many messages a minute, and so many open ones at a time.

use hub_platform::config;
use hub_platform::db::{self, During};
use hub_proto::lifecycle::BudgetSpent;
use ma2h::error::Problem;
use tokio_postgres::Row;

use super::Submit;
use crate::statement::{Statement, Values};
use crate::tier::Tier;

pub(crate) const CHARGE: Statement = Statement {
    name: "charge submit",
    sql: concat!(include_str!("budget.sql"), "\n", include_str!("charge.sql")),
};

/// When an agent may come again whose messages all wait for people.
const NO_ROOM_RETRY_SECONDS: u32 = 60;
/// How long a budget that is spent lasts at most.
const BUDGET_MS: u32 = 60_000;

/// The deployment's limits as the statements take them, none where there is none; the account's lie beneath.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) per_minute: Option<i64>,
    /// None where addressed messages are charged to the common budget; 0 where nothing limits them.
    pub(super) addressed_per_minute: Option<i64>,
    pub(super) waiting_max: Option<i64>,
}

impl Limits {
    /// As configured.
    pub(super) fn of(config: &config::RateLimit) -> Self {
        // The ranges of the configuration keep them far from the type's limit.
        let number = |configured: u64| i64::try_from(configured).ok();
        let limit = |configured| number(configured).filter(|limit| *limit > 0);
        Self {
            per_minute: limit(config.requests_per_minute),
            addressed_per_minute: config.inter_agent_requests_per_minute.and_then(number),
            waiting_max: limit(config.inbox_depth),
        }
    }
}

impl Tier {
    /// Charges a submit that will not be inserted; tells where its budget was spent.
    pub(super) async fn charge(&self, submit: &Submit<'_>) -> Result<Option<BudgetSpent>, db::Error> {
        let limits = Limits::of(&self.config.rate_limit);
        let is_addressed = submit.is_addressed();
        let values: Values<'_> = &[
            &submit.request.account,
            &submit.request.message_id,
            &submit.request.agent,
            &is_addressed,
            &limits.per_minute,
            &limits.addressed_per_minute,
        ];
        let row = db::retry(|| CHARGE.row(&self.pool, values))
            .await?
            .ok_or_else(|| db::Error::corrupt("charge submit gave no row"))?;
        spent(&row).during(CHARGE.name)
    }
}

/// The budget that did not cover this submit, if that is so.
pub(super) fn spent(row: &Row) -> Result<Option<BudgetSpent>, tokio_postgres::Error> {
    if row.try_get("affordable")? {
        return Ok(None);
    }
    let resets_in_ms: Option<i64> = row.try_get("resets_in_ms")?;
    Ok(Some(BudgetSpent {
        resets_in_ms: resets_in_ms
            .and_then(|ms| u32::try_from(ms).ok())
            .unwrap_or(BUDGET_MS),
        unaddressed: row.try_get("refuses_unaddressed")?,
        addressed: row.try_get("refuses_addressed")?,
    }))
}

/// Refuses one more open message.
pub(super) fn no_room() -> Problem {
    Problem::rate_limited(
        "rate_limit.inbox_depth: as many messages of this agent are open as may be; wait until some are dealt with",
        NO_ROOM_RETRY_SECONDS,
    )
}

#[cfg(test)]
mod tests {
    use hub_platform::config::Config;

    use super::Limits;

    #[test]
    fn nought_is_no_limit() {
        let limits = |variables: &[(&str, &str)]| {
            let variables = variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let limits = Limits::of(&Config::load(variables).unwrap().rate_limit);
            (limits.per_minute, limits.addressed_per_minute, limits.waiting_max)
        };
        assert_eq!(limits(&[]), (Some(60), None, Some(1000)));
        let none = [
            ("HUB_RATE_LIMIT_REQUESTS_PER_MINUTE", "0"),
            ("HUB_RATE_LIMIT_INTER_AGENT_REQUESTS_PER_MINUTE", "0"),
            ("HUB_RATE_LIMIT_INBOX_DEPTH", "0"),
        ];
        assert_eq!(limits(&none), (None, Some(0), None));
    }
}
