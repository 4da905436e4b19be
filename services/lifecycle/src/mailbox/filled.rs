//! One look for all who wait for their mailboxes at a gateway (design rule 6).

use std::collections::HashMap;

use hub_platform::db::{self, During};
use hub_proto::lifecycle::{FilledMailbox, FindFilledReply, FindFilledRequest, MailboxName};
use ma2h::error::Problem;
use tokio_postgres::types::Type;

use super::heads::{Lane, Walk};
use super::{FILLED, lanes};
use crate::error::Error;
use crate::look_back::Moment;
use crate::statement::TypedValues;
use crate::tier::Tier;

/// Mailboxes of one question.
const MAILBOXES_MAX: usize = 1000;

impl Tier {
    /// Of these mailboxes, those that somebody who waits for them has to drain, and when.
    pub(crate) async fn find_filled(&self, request: FindFilledRequest) -> Result<FindFilledReply, Error> {
        if request.mailboxes.len() > MAILBOXES_MAX {
            return Err(Problem::validation(format!("mailboxes: more than {MAILBOXES_MAX}")).into());
        }
        // Sessions of one agent share lanes.
        let mut visible_in_ms: HashMap<Lane, Option<i64>> = request
            .mailboxes
            .iter()
            .flat_map(lanes_of)
            .map(|lane| (lane, None))
            .collect();
        self.look_at(&mut visible_in_ms).await?;
        let filled = request.mailboxes.into_iter().filter_map(|mailbox| {
            let first = lanes_of(&mailbox).filter_map(|lane| visible_in_ms.get(&lane).copied().flatten());
            let visible_in_ms = u64::try_from(first.min()?).unwrap_or_default();
            Some(FilledMailbox {
                account: mailbox.account,
                agent: mailbox.agent,
                session: mailbox.session,
                visible_in_ms,
            })
        });
        Ok(FindFilledReply {
            filled: filled.collect(),
        })
    }

    /// Finds in how many milliseconds something of each lane may be given.
    async fn look_at(&self, visible_in_ms: &mut HashMap<Lane, Option<i64>>) -> Result<(), db::Error> {
        let now = Moment::now();
        let walks: Vec<_> = visible_in_ms
            .keys()
            .map(|lane| (lane.clone(), self.heads.walk(lane, now)))
            .collect();
        let column = |of: fn(&Lane) -> &str| walks.iter().map(|(lane, _)| of(lane)).collect::<Vec<_>>();
        let (accounts, agents, lanes) = (
            column(|lane| &lane.account),
            column(|lane| &lane.agent),
            column(|lane| &lane.name),
        );
        let (begins_at, seen_at) = Walk::columns(&walks);
        let values: TypedValues<'_> = &[
            (&accounts, Type::TEXT_ARRAY),
            (&agents, Type::TEXT_ARRAY),
            (&lanes, Type::TEXT_ARRAY),
            (&begins_at, Type::TIMESTAMPTZ_ARRAY),
            (&seen_at, Type::TIMESTAMPTZ_ARRAY),
            (&self.heads.late_ms(), Type::INT8),
        ];
        let rows = FILLED
            .rows_planned(&self.pool, values)
            .await
            .inspect_err(|error| self.heads.failed(&walks, error))?;
        for ((lane, walk), row) in walks.iter().zip(&rows) {
            let (begins_at, at) = (row.try_get("begins_at"), row.try_get("now"));
            let (begins_at, at) = (begins_at.during(FILLED.name)?, at.during(FILLED.name)?);
            self.heads.saw(lane.clone(), *walk, begins_at, at);
            visible_in_ms.insert(lane.clone(), row.try_get("visible_in_ms").during(FILLED.name)?);
        }
        Ok(())
    }
}

/// What whoever waits for this mailbox is shown.
fn lanes_of(mailbox: &MailboxName) -> impl Iterator<Item = Lane> {
    lanes(mailbox.session.as_deref()).into_iter().map(|lane| Lane {
        account: mailbox.account.clone(),
        agent: mailbox.agent.clone(),
        name: lane.to_owned(),
    })
}
