//! What happens when a callback does not take a push, and where pushes may go (§8.3, §9.4).

use std::collections::BTreeSet;
use std::sync::Arc;

use ma2h::sign::parse_header;
use serde_json::json;

use crate::live::envelope::{unique, with};
use crate::live::leg::Leg;
use crate::live::receiver::Answer;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, equal, holds};

/// Fewest attempts before a hub may give up.
const ATTEMPTS_MIN: usize = 5;

pub(super) fn checks() -> Vec<Check> {
    [
        check("8.3", a_5xx_is_tried_again_at_least_five_times).within(240),
        check("8.3", a_broken_connection_is_tried_again).within(120),
        check("8.3", every_attempt_is_one_resolution_freshly_signed).within(120),
        check("8.3", a_4xx_is_not_tried_again),
        check("8.3", what_was_refused_can_be_pulled),
        check("9.4", a_redirect_is_not_followed),
        check("9.4", a_host_that_is_not_registered_is_refused),
        check("9.4", a_port_is_part_of_the_host),
        check("9.4", a_host_that_was_withdrawn_is_not_contacted),
        check("9.4", credentials_in_a_url_are_refused),
    ]
    .into_iter()
    .map(|check| check.of(Leg::Push))
    .collect()
}

/// And taken at the fifth.
async fn a_5xx_is_tried_again_at_least_five_times(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    scene.receiver.then([500, 503, 502, 599].map(Answer::Status));
    scene.approved(&scene.pushed(scene.confirm())).await?;
    scene.receiver.pushes(ATTEMPTS_MIN).await.map(drop)
}

/// As with a fault of the callback's.
async fn a_broken_connection_is_tried_again(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    scene.receiver.then([Answer::Close, Answer::Close]);
    let id = scene.approved(&scene.pushed(scene.confirm())).await?;
    let pushes = scene.receiver.pushes(3).await?;
    equal(
        "in_reply_to",
        &scene.verified(&pushes[2])?["in_reply_to"],
        id.as_str(),
    )
}

/// Always the same Response, never the same signature.
async fn every_attempt_is_one_resolution_freshly_signed(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    scene.receiver.then([Answer::Status(503), Answer::Status(503)]);
    let id = scene.approved(&scene.pushed(scene.confirm())).await?;
    let pushes = scene.receiver.pushes(3).await?;
    let mut nonces = BTreeSet::new();
    let pulled = scene.agent.read(&id).await?["response"].take();
    for push in &pushes {
        equal("what was pushed", &scene.verified(push)?, &pulled)?;
        let header = push.header("ma2h-signature")?;
        nonces.insert(parse_header(header).map(|header| header.jti.to_owned()));
    }
    equal("different nonces", &nonces.len(), &pushes.len())
}

/// Whichever it is.
async fn a_4xx_is_not_tried_again(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let statuses = [400, 401, 404, 408, 410, 422, 429];
    for (at, status) in statuses.into_iter().enumerate() {
        scene.receiver.then([Answer::Status(status)]);
        let ask = with(scene.pushed(scene.confirm()), "/idempotency_key", json!(unique()));
        let id = scene.approved(&ask).await?;
        scene.receiver.pushes(at + 1).await?;
        let (end, attempts) = scene.settled(&id).await?;
        equal(&format!("end after {status}"), end.as_str(), "refused")?;
        equal(&format!("attempts after {status}"), &attempts.len(), &1)?;
    }
    equal("pushes", &scene.receiver.received().len(), &statuses.len())
}

/// It is never lost.
async fn what_was_refused_can_be_pulled(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    scene.receiver.then([Answer::Status(410)]);
    let id = scene.approved(&scene.pushed(scene.confirm())).await?;
    let push = scene.receiver.push().await?;
    let read = scene.agent.read(&id).await?;
    equal("status", &read["status"], "answered")?;
    equal("response", &read["response"], &push.json()?)
}

/// Neither to elsewhere nor to the same host.
async fn a_redirect_is_not_followed(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let elsewhere = stage.receiver().await?;
    scene
        .account
        .approve_host(&scene.agent.id, &elsewhere.host())
        .await?;
    scene.receiver.then([
        Answer::Redirect(elsewhere.url("/followed")),
        Answer::Redirect(scene.receiver.url("/followed")),
    ]);
    let first = scene.approved(&scene.pushed(scene.confirm())).await?;
    scene.receiver.push().await?;
    let second = scene.approved(&scene.pushed(scene.confirm())).await?;
    scene.receiver.pushes(2).await?;
    for id in [first, second] {
        let (end, _) = scene.settled(&id).await?;
        holds(end != "delivered", || {
            "a redirect was taken for a delivery".to_owned()
        })?;
    }
    holds(elsewhere.received().is_empty(), || {
        "a redirect was followed elsewhere".to_owned()
    })?;
    let followed = scene
        .receiver
        .received()
        .iter()
        .any(|push| push.path.contains("followed"));
    holds(!followed, || "a redirect was followed".to_owned())
}

/// At submit: no credential goes to a host that nobody verified.
async fn a_host_that_is_not_registered_is_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    for url in [
        "https://attacker.example/take",
        "https://127.0.0.1/take",
        "https://169.254.169.254/latest",
    ] {
        let mut ask = scene.pushed(scene.confirm());
        ask["request"]["callback"]["url"] = json!(url);
        scene.agent.submit(&ask).await?.refused(422, "invalid_field")?;
    }
    Ok(())
}

/// Another port of the same machine is another host.
async fn a_port_is_part_of_the_host(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let other = stage.receiver().await?;
    let mut ask = scene.pushed(scene.confirm());
    ask["request"]["callback"]["url"] = json!(other.url("/told"));
    scene.agent.submit(&ask).await?.refused(422, "invalid_field")?;
    holds(other.received().is_empty(), || "it was contacted".to_owned())
}

/// What was verified at submit is asked for again at delivery.
async fn a_host_that_was_withdrawn_is_not_contacted(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let id = scene.agent.submitted(&scene.pushed(scene.confirm())).await?;
    let host = crate::live::api::segment(&scene.receiver.host());
    let path = scene
        .account
        .agent_path(&scene.agent.id, &format!("/callback-hosts/{host}"));
    let withdrawn = scene.account.admin()?.delete(&path).await?;
    holds((200..300).contains(&withdrawn.status), || withdrawn.told())?;
    scene.alice.answer(&id, "approve").await?.expect(200)?;
    let (end, _) = scene.settled(&id).await?;
    holds(end != "delivered", || "it was delivered".to_owned())?;
    holds(scene.receiver.received().is_empty(), || {
        "it was contacted".to_owned()
    })?;
    equal("status", &scene.agent.read(&id).await?["status"], "answered")
}

/// They would be shown to whoever reads the envelope.
async fn credentials_in_a_url_are_refused(stage: Arc<Stage>) -> Proof {
    let scene = stage.callback_scene().await?;
    let mut ask = scene.pushed(scene.confirm());
    let url = scene.url.replace("http://", "http://user:word@");
    ask["request"]["callback"]["url"] = json!(url);
    scene.agent.submit(&ask).await?.refused_somehow()
}
