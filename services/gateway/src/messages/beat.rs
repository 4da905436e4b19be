//! The slow beat (rule 6): one question for all messages that calls wait for at this gateway, and one for all mailboxes,
//! for what no wake-up told of. Where many may have been lost at once it comes early: those who wait do not look one by one.

use std::sync::Arc;
use std::time::Duration;

use hub_proto::lifecycle::{FindChangedRequest, MessageName};
use ma2h::error::Problem;

use crate::app::App;
use crate::mailbox::{self, Mailbox};

/// Messages or mailboxes of one question.
const BATCH_MAX: usize = 500;

/// Asks until the hub stops.
pub(crate) async fn run(app: Arc<App>) {
    let interval = Duration::from_millis(app.config.gateway.beat_interval_ms);
    loop {
        // Replicas that began together shall not go on together.
        let pause = interval.mul_f64(0.75 + rand::random::<f64>() / 2.0);
        tokio::select! {
            () = app.shutdown.requested() => return,
            () = app.wakes.missed() => {}
            () = tokio::time::sleep(pause) => {}
        }
        let waited_for = app.wakes.waited_for();
        for messages in waited_for.chunks(BATCH_MAX) {
            if let Err(problem) = ask(&app, messages).await {
                // The waiters are told at the next beat, and look at their end in any case.
                tracing::warn!(%problem, messages = messages.len(), "messages that are waited for were not looked at");
                break;
            }
        }
        for mailboxes in app.wakes.waited_mailboxes().chunks(BATCH_MAX) {
            if let Err(problem) = ask_mailboxes(&app, mailboxes).await {
                tracing::warn!(%problem, mailboxes = mailboxes.len(), "mailboxes that are waited for were not looked at");
                break;
            }
        }
    }
}

/// Has those waiters drain whose mailbox has something for them.
async fn ask_mailboxes(app: &App, mailboxes: &[(String, String)]) -> Result<(), Problem> {
    let mailboxes = mailboxes.iter().map(|(account, agent)| Mailbox {
        account: account.clone(),
        agent: agent.clone(),
    });
    let found = mailbox::look(&app.config, &app.lifecycle, mailboxes.collect()).await?;
    for (mailbox, visible_in) in found {
        if visible_in.is_zero() {
            app.wakes.filled(&mailbox.account, &mailbox.agent);
        }
    }
    Ok(())
}

/// Has those waiters look whose message is not open and in time any more.
async fn ask(app: &App, messages: &[(String, String)]) -> Result<(), Problem> {
    let names = messages.iter().map(|(account, message_id)| MessageName {
        account: account.clone(),
        message_id: message_id.clone(),
    });
    let request = FindChangedRequest {
        messages: names.collect(),
    };
    let reply = app
        .ask(async || app.lifecycle.clone().find_changed(request.clone()).await)
        .await?;
    for changed in reply.changed {
        app.wakes.changed(&changed.account, &changed.message_id);
    }
    Ok(())
}
