//! What one person alone may answer: nobody can, once she is gone.

use hub_platform::db::During;
use hub_proto::lifecycle::{ListSoleResolverReply, ListSoleResolverRequest};
use ma2h::error::Problem;
use tokio_postgres::types::Type;

use crate::column::storable;
use crate::error::Error;
use crate::statement::{Statement, TypedValues};
use crate::tier::Tier;

pub(crate) const OPEN: Statement = Statement {
    name: "list what one human may answer",
    sql: include_str!("open.sql"),
};

/// Messages that are named; of the rest it is said how many there are.
const NAMED_MAX: i64 = 100;

impl Tier {
    /// The open messages that a human alone may answer.
    pub(crate) async fn sole_resolver(
        &self,
        request: ListSoleResolverRequest,
    ) -> Result<ListSoleResolverReply, Error> {
        if request.human.is_empty() {
            return Err(Problem::validation("human: required").into());
        }
        let human = storable(&request.human);
        let values: TypedValues<'_> = &[
            (&request.account, Type::TEXT),
            (&human, Type::TEXT),
            (&NAMED_MAX, Type::INT8),
        ];
        let rows = OPEN.rows_planned(&self.pool, values).await?;
        let count: i64 = match rows.first() {
            Some(row) => row.try_get("count").during(OPEN.name)?,
            None => 0,
        };
        let message_ids = rows.iter().map(|row| row.try_get("message_id"));
        Ok(ListSoleResolverReply {
            message_ids: message_ids.collect::<Result<_, _>>().during(OPEN.name)?,
            count: u64::try_from(count).unwrap_or_default(),
        })
    }
}
