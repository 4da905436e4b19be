//! Directives pushed to an agent (§8.7, §9.7).

use std::sync::Arc;

use ma2h::EntryKind;
use serde_json::json;

use crate::live::fleet::Fleet;
use crate::live::leg::Leg;
use crate::live::mailbox::Drained;
use crate::live::receiver::{Answer, Push, Receiver};
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, Tried, Verdict, equal, holds};

const SECRET_REF: &str = "env:WEBHOOK_SECRET";

pub(super) fn checks() -> Vec<Check> {
    [
        check("8.7", a_directive_is_pushed_to_the_webhook_and_signed),
        check("8.7", a_pushed_directive_can_still_be_drained),
        check("8.7", a_webhook_that_fails_is_tried_again).within(120),
        check("8.7", a_webhook_that_refuses_is_not_tried_again),
        check("8.7.1", a_webhook_gets_directives_only).of(Leg::InterAgent),
        check("9.4", a_webhook_is_on_a_verified_host),
        check("15.1", a_webhook_that_took_it_is_evidence),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Webhook))
    .collect()
}

/// A fleet whose worker has a webhook.
pub(super) async fn hooked(stage: &Stage) -> Tried<(Fleet, Receiver)> {
    let fleet = stage.fleet().await?;
    let receiver = stage.receiver().await?;
    let worker = &fleet.worker.agent.id;
    fleet.account.approve_host(worker, &receiver.host()).await?;
    fleet
        .account
        .put_secret(worker, SECRET_REF, "a secret of the webhook's, 0123456789")
        .await?;
    let auth = json!({"scheme": "hmac", "secret_ref": SECRET_REF});
    let body = json!({"url": receiver.url("/inbox"), "auth": auth});
    let path = fleet.account.agent_path(worker, "/webhook");
    let put = fleet.account.admin()?.put(&path, &body).await?;
    holds((200..300).contains(&put.status), || put.told())?;
    Ok((fleet, receiver))
}

/// The directive that a push holds, as a drain would give it.
pub(super) fn directive(push: &Push) -> Tried<Drained> {
    let body = push.json()?;
    let Some(payload) = body.get("directive") else {
        return Err(Verdict::Failed(format!("no directive in {body}")));
    };
    Ok(Drained {
        kind: EntryKind::Directive,
        payload: payload.to_string(),
        signature: format!("MA2H-Signature: {}", push.header("ma2h-signature")?),
    })
}

/// With the agent's entry key or the webhook's secret; the addressee is bound.
async fn a_directive_is_pushed_to_the_webhook_and_signed(stage: Arc<Stage>) -> Proof {
    let (fleet, receiver) = hooked(&stage).await?;
    let id = fleet.directed("Pushed").await?;
    let drained = directive(&receiver.push().await?)?;
    equal("id", drained.ack_key()?.as_str(), id.as_str())?;
    let mut with_secret = fleet.worker.clone();
    with_secret.key = ma2h::sign::VerifyingKey::hmac(b"a secret of the webhook's, 0123456789")
        .map_err(|problem| Verdict::Failed(problem.to_string()))?;
    with_secret
        .believe(&drained)
        .or_else(|_| fleet.worker.believe(&drained))
}

/// The mailbox is the truth.
async fn a_pushed_directive_can_still_be_drained(stage: Arc<Stage>) -> Proof {
    let (fleet, receiver) = hooked(&stage).await?;
    let id = fleet.directed("Pushed and drained").await?;
    receiver.push().await?;
    let entry = fleet.worker.one(EntryKind::Directive).await?;
    equal("id", entry.ack_key()?.as_str(), id.as_str())
}

/// With another signature.
async fn a_webhook_that_fails_is_tried_again(stage: Arc<Stage>) -> Proof {
    let (fleet, receiver) = hooked(&stage).await?;
    receiver.then([Answer::Status(503), Answer::Close]);
    fleet.directed("Tried again").await?;
    let pushes = receiver.pushes(3).await?;
    let (one, three) = (directive(&pushes[0])?, directive(&pushes[2])?);
    holds(one.jti()? != three.jti()?, || "a nonce was used twice".to_owned())
}

/// The next directive comes, the refused one does not.
async fn a_webhook_that_refuses_is_not_tried_again(stage: Arc<Stage>) -> Proof {
    let (fleet, receiver) = hooked(&stage).await?;
    receiver.then([Answer::Status(410)]);
    let refused = fleet.directed("Refused").await?;
    receiver.push().await?;
    let taken = fleet.directed("Taken").await?;
    let pushes = receiver.pushes(2).await?;
    equal("id", directive(&pushes[1])?.ack_key()?.as_str(), taken.as_str())?;
    equal("state", &fleet.track(&refused).await?["state"], "queued")
}

/// Mail between agents and Responses wait for a session.
async fn a_webhook_gets_directives_only(stage: Arc<Stage>) -> Proof {
    let (fleet, receiver) = hooked(&stage).await?;
    fleet
        .account
        .set_policy(json!({"inter_agent": {"enabled": true}}))
        .await?;
    fleet
        .sender
        .agent
        .submitted(&fleet.notify(&fleet.worker.agent.address))
        .await?;
    let id = fleet.directed("After the message").await?;
    let push = receiver.push().await?;
    equal("id", directive(&push)?.ack_key()?.as_str(), id.as_str())?;
    equal("pushes", &receiver.received().len(), &1)
}

/// Or it is no webhook.
async fn a_webhook_is_on_a_verified_host(stage: Arc<Stage>) -> Proof {
    let fleet = stage.fleet().await?;
    let receiver = stage.receiver().await?;
    let auth = json!({"scheme": "hmac", "secret_ref": SECRET_REF});
    let body = json!({"url": receiver.url("/inbox"), "auth": auth});
    let path = fleet.account.agent_path(&fleet.worker.agent.id, "/webhook");
    fleet.account.admin()?.put(&path, &body).await?;
    fleet.directed("Not to be pushed").await?;
    fleet.worker.one(EntryKind::Directive).await?;
    holds(receiver.received().is_empty(), || {
        "a host that nobody verified was contacted".to_owned()
    })
}

/// The track is `delivered`, once the agent has said so with a 2xx.
async fn a_webhook_that_took_it_is_evidence(stage: Arc<Stage>) -> Proof {
    let (fleet, receiver) = hooked(&stage).await?;
    let id = fleet.directed("Taken").await?;
    receiver.push().await?;
    while fleet.track(&id).await?["state"] != "delivered" {
        crate::live::stage::pause().await;
    }
    Ok(())
}
