//! One look for all who wait at a gateway (design rule 6).

use hub_platform::db::During;
use hub_proto::lifecycle::{FindChangedReply, FindChangedRequest, MessageName};
use ma2h::error::Problem;
use tokio_postgres::types::Type;

use super::CHANGED;
use crate::error::Error;
use crate::message_id;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// Messages of one question.
const MESSAGES_MAX: usize = 1000;

impl Tier {
    /// Of these messages, those that somebody who waits for them has to look at.
    pub(crate) async fn find_changed(&self, request: FindChangedRequest) -> Result<FindChangedReply, Error> {
        if request.messages.len() > MESSAGES_MAX {
            return Err(Problem::validation(format!("messages: more than {MESSAGES_MAX}")).into());
        }
        let messages = request.messages.iter();
        let messages = messages.filter(|message| message_id::is_wellformed(&message.message_id));
        let (accounts, message_ids): (Vec<_>, Vec<_>) = messages
            .map(|message| (message.account.as_str(), message.message_id.as_str()))
            .unzip();
        let values: TypedValues<'_> = &[(&accounts, Type::TEXT_ARRAY), (&message_ids, Type::TEXT_ARRAY)];
        let rows = CHANGED.rows_planned(&self.pool, values).await?;
        let changed = rows.iter().map(|row| {
            Ok::<_, tokio_postgres::Error>(MessageName {
                account: row.try_get("account")?,
                message_id: row.try_get("message_id")?,
            })
        });
        Ok(FindChangedReply {
            changed: changed.collect::<Result<_, _>>().during(CHANGED.name)?,
        })
    }
}
