//! A directive on its way into a mailbox, whatever it comes from: a person's call, or a broadcast.

use std::time::Instant;

use hub_platform::db::{self, During, GenericClient};
use hub_platform::nats::WakeKind;
use hub_platform::telemetry;
use ma2h::directive::Composed;
use ma2h::error::{ErrorCode, Problem};
use time::OffsetDateTime;

use super::INSERT;
use crate::human_key::HumanKey;
use crate::mailbox;
use crate::tier::{Tier, bigint};

/// When a person may come again whose addressee's mailbox is full.
const NO_ROOM_RETRY_SECONDS: u32 = 60;

/// What is to be put into a mailbox.
pub(crate) struct NewDirective<'a> {
    pub(crate) account: &'a str,
    pub(crate) directive_id: &'a str,
    /// The addressee, without a session.
    pub(crate) agent: &'a str,
    /// `human:…`, as attested.
    pub(crate) author: &'a str,
    pub(crate) composed: &'a Composed,
    pub(crate) expires_at: Option<OffsetDateTime>,
    /// Of the human's call that it is all of.
    pub(crate) key: Option<(&'a str, HumanKey)>,
}

/// What an insert came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    Yes {
        /// To its addressee's webhook.
        push_owed: bool,
    },
    /// The key or the directive is there already.
    No,
    Refused(Refusal),
}

/// Why a directive is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    UnknownDestination,
    NotInTime,
    NoRoom,
}

impl Refusal {
    /// What a person is told.
    pub(crate) fn problem(self) -> Problem {
        match self {
            Self::UnknownDestination => {
                Problem::new(ErrorCode::UnknownDestination, "to: no such agent or session")
            }
            Self::NotInTime => Problem::invalid_field("expires_at: expected a time in the future"),
            Self::NoRoom => Problem::rate_limited(
                "rate_limit.inbox_depth: the mailbox of this agent is full",
                NO_ROOM_RETRY_SECONDS,
            ),
        }
    }
}

/// Puts a directive into its addressee's mailbox, by one statement.
pub(crate) async fn insert(
    client: &impl GenericClient,
    tier: &Tier,
    new: &NewDirective<'_>,
) -> Result<Inserted, db::Error> {
    let config = &tier.config;
    let begun_at = Instant::now();
    let known_room = tier.mailbox_rooms.take(new.account, new.agent, begun_at);
    let entries_max = Some(bigint(config.rate_limit.inbox_depth)).filter(|entries| *entries > 0);
    let (human, key) = new.key.as_ref().map(|(human, key)| (*human, key)).unzip();
    let traceparent = telemetry::traceparent().unwrap_or_default();
    let prepared = client.prepare_cached(INSERT.sql).await.during(INSERT.name)?;
    let row = client
        .query_opt(
            &prepared,
            &[
                &new.account,
                &new.directive_id,
                &new.agent,
                &new.author,
                &new.composed.before,
                &new.composed.after,
                &new.expires_at,
                &bigint(config.inbound.retention_seconds),
                &human,
                &key.map(|key| key.hash.as_slice()),
                &key.map(|key| key.digest.as_slice()),
                &bigint(config.lifecycle.idempotency_ttl_seconds),
                &entries_max,
                &bigint(config.lifecycle.republish_after_ms),
                &traceparent,
                &known_room,
            ],
        )
        .await
        .during(INSERT.name)?
        .ok_or_else(|| db::Error::corrupt("insert directive gave no row"))?;
    let number = |name| row.try_get::<_, Option<i64>>(name).during(INSERT.name);
    if let (Some(entries_max), Some(room)) = (number("entries_max")?, number("room")?) {
        tier.mailbox_rooms.counted(
            new.account,
            new.agent,
            entries_max,
            room,
            begun_at,
            Instant::now(),
        );
    }
    let flag = |name| row.try_get::<_, bool>(name).during(INSERT.name);
    Ok(if !flag("destination_known")? {
        Inserted::Refused(Refusal::UnknownDestination)
    } else if !flag("in_time")? {
        Inserted::Refused(Refusal::NotInTime)
    } else if !flag("has_room")? {
        Inserted::Refused(Refusal::NoRoom)
    } else {
        let inserted: Option<&str> = row.try_get("directive").during(INSERT.name)?;
        let push_owed = flag("push_owed")?;
        inserted.map_or(Inserted::No, |_| Inserted::Yes { push_owed })
    })
}

impl Tier {
    /// Tells of a directive that was put into a mailbox.
    pub(crate) fn announce_directive(&self, account: &str, directive_id: &str, agent: &str, push_owed: bool) {
        mailbox::count("directive", mailbox::QUEUED, 1);
        self.announcer
            .wake(account, WakeKind::DirectiveUpdated, directive_id, mailbox::QUEUED);
        self.announcer.mailbox_filled(account, agent);
        if push_owed {
            self.announcer.push_owed(account, directive_id);
        }
    }
}
