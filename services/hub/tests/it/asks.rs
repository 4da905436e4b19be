//! What an agent may ask and how it is taken: the key before the world (§8.1), the ask contract (§5.2), its ends (§7, §8.4).

use std::time::Duration;

use hub_testkit::{envelope, eventually};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::stage::{AGENT, Stage};

#[tokio::test]
async fn a_key_is_of_one_agent_of_one_account() {
    let stage = Stage::in_process().await;
    let elsewhere = stage.hub.account("globex").await.agent(AGENT).await;
    let other = stage.account.agent("other/agent").await;
    let mut ask = stage.confirm();
    ask["idempotency_key"] = json!("the-key");
    let id = stage.agent.submitted(&ask).await;
    let of_other_account = elsewhere.submitted(&ask).await;
    ask["agent"]["id"] = json!("other/agent");
    let of_other_agent = other.submitted(&ask).await;
    assert!(id != of_other_account && id != of_other_agent && of_other_account != of_other_agent);
}

#[tokio::test]
async fn a_replay_gets_its_ack_whatever_has_changed_since() {
    let stage = Stage::in_process().await;
    let pushed = stage.confirm_with_push();
    let mut expiring = stage.confirm();
    let soon = OffsetDateTime::now_utc() + Duration::from_millis(500);
    expiring["expires_at"] = json!(soon.format(&Rfc3339).unwrap());
    let [pushed_id, expiring_id] = [
        stage.agent.submitted(&pushed).await,
        stage.agent.submitted(&expiring).await,
    ];
    let replayed = stage.agent.submit(&pushed).await.expect(202);
    assert_eq!(
        (&replayed["id"], &replayed["status"]),
        (&json!(pushed_id), &json!("open"))
    );

    // A first submit would be refused now: the host is gone, the time is over.
    let host = format!("/callback-hosts/{}", stage.sink.host());
    let admin = stage.account.admin();
    admin
        .delete(&stage.account.agent_path(AGENT, &host))
        .await
        .expect(204);
    stage.alice.answer(&pushed_id, "approve").await.expect(200);
    eventually("the expiry", || async {
        (stage.agent.message(&expiring_id).await.expect(200)["status"] == "expired").then_some(())
    })
    .await;
    for (ask, id, status) in [
        (&pushed, &pushed_id, "answered"),
        (&expiring, &expiring_id, "expired"),
    ] {
        let ack = stage.agent.submit(ask).await.expect(202);
        assert_eq!((&ack["id"], &ack["status"]), (&json!(id), &json!(status)));
        let (poll, review) = (&ack["poll_url"], &ack["review_url"]);
        assert!(poll.as_str().unwrap().ends_with(id) && review.as_str().unwrap().ends_with(id));
        let mut differing = ask.clone();
        differing["body"] = json!("something else");
        stage
            .agent
            .submit(&differing)
            .await
            .expect_error(409, "idempotency_conflict");
    }
}

#[tokio::test]
async fn what_nobody_could_answer_is_refused_and_its_key_stays_free() {
    let stage = Stage::in_process().await;
    let input = |schema: Value| {
        let mut ask = envelope::input(AGENT, &stage.alice.address());
        ask["request"]["schema"] = schema;
        ask
    };
    let listener = stage.sink.url("/schema.json");
    let many: Value = (0..1001)
        .map(|at| json!({"value": at.to_string(), "label": "x"}))
        .collect();
    let mut crowded = envelope::select(AGENT, &stage.alice.address());
    crowded["request"]["options"] = many;
    let mut misfit = input(json!({"properties": {"a": {"type": "string"}}}));
    misfit["request"]["default_on_expire"] = json!({"a": 7});
    let cases = [
        (
            input(json!({"properties": {"a": {"$ref": listener}}})),
            "request.schema",
        ),
        (input(json!({"$ref": listener})), "request.schema"),
        (
            input(json!({"properties": {"a": {"type": 42}}})),
            "request.schema",
        ),
        (misfit, "request.default_on_expire"),
        (crowded, "request.options"),
    ];
    for (refused, named) in cases {
        let message = stage
            .agent
            .submit(&refused)
            .await
            .expect_error(422, "invalid_field");
        assert!(message.contains(named), "{message}");
        let mut mended = stage.confirm();
        mended["idempotency_key"] = refused["idempotency_key"].clone();
        stage.agent.submitted(&mended).await;
    }
    assert!(
        stage.sink.received().is_empty(),
        "a schema's reference was fetched"
    );
}

#[tokio::test]
async fn a_withdrawal_has_three_outcomes() {
    let stage = Stage::in_process().await;
    let open = stage.agent.submitted(&stage.confirm()).await;
    // The same again is the same.
    for _ in 0..2 {
        let cancelled = stage.agent.cancel(&open).await.expect(200);
        assert_eq!(cancelled, json!({"id": open, "status": "cancelled"}));
    }
    assert_eq!(
        stage.agent.message(&open).await.expect(200)["response"]["resolution"],
        "cancelled"
    );

    let answered = stage.agent.submitted(&stage.confirm()).await;
    stage.alice.answer(&answered, "deny").await.expect(200);
    let late = stage.agent.cancel(&answered).await;
    late.expect_error(409, "already_terminal");
    assert_eq!(late.json()["resolution"], "answered");

    stage
        .agent
        .cancel("msg_unknown")
        .await
        .expect_error(404, "not_found");
}
