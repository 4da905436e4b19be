//! Looks at the mailboxes of those who wait for them (rule 6): one question for many, so that neither a burst of polls nor
//! their common end makes a statement for each. Who has something drains, and nobody else.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hub_platform::config::Config;
use hub_platform::grpc::TracedChannel;
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::lifecycle_client::LifecycleClient;
use hub_proto::lifecycle::{FindFilledRequest, MailboxName};

use crate::app;
use crate::batches::{Answers, Batches, Manner};
use crate::principal::Agent;

const LOOKS: Manner = Manner {
    about: "mailboxes",
    keys_max: 500,
    batches_max: 2,
    waiting_max: 20_000,
};

/// Whose mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mailbox {
    pub(crate) account: String,
    pub(crate) agent: String,
}

impl Mailbox {
    pub(super) fn of(agent: &Agent) -> Self {
        Self {
            account: agent.account.clone(),
            agent: agent.id.clone(),
        }
    }
}

/// After how long there is something for a drain, of each mailbox that is not empty.
pub(crate) type Looks = Batches<Mailbox, Duration>;

/// Looks by this tier.
pub(crate) fn looks(
    config: Arc<Config>,
    lifecycle: LifecycleClient<TracedChannel>,
    shutdown: &Shutdown,
) -> Looks {
    Batches::new(LOOKS, shutdown, move |mailboxes| {
        let (config, lifecycle) = (config.clone(), lifecycle.clone());
        async move { look(&config, &lifecycle, mailboxes).await }
    })
}

/// One look at these mailboxes, at most 500.
pub(crate) async fn look(
    config: &Config,
    lifecycle: &LifecycleClient<TracedChannel>,
    mailboxes: Vec<Mailbox>,
) -> Answers<Mailbox, Duration> {
    let names = mailboxes.into_iter().map(|mailbox| MailboxName {
        account: mailbox.account,
        agent: mailbox.agent,
        session: None,
    });
    let request = FindFilledRequest {
        mailboxes: names.collect(),
    };
    let asked = async || lifecycle.clone().find_filled(request.clone()).await;
    let reply = app::ask(&config.peers, asked).await?;
    let found = reply.filled.into_iter().map(|filled| {
        let mailbox = Mailbox {
            account: filled.account,
            agent: filled.agent,
        };
        (mailbox, Duration::from_millis(filled.visible_in_ms))
    });
    Ok(found.collect::<HashMap<_, _>>())
}
