//! One clock, PostgreSQL's (design rule 1): what a process has may be off by any amount.

use std::time::Duration;

use hub_testkit::TestHub;
use hub_testkit::database::Database;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::mailbox::{Post, WORKER};
use crate::pages::{NEW, form};
use crate::visitor::Visitor;

/// A hub whose processes are five minutes behind its database.
async fn behind() -> TestHub {
    let database = Database::create().await;
    let ahead = "SET allow_system_table_mods = on;
                 ALTER FUNCTION pg_catalog.statement_timestamp() RENAME TO honest_timestamp;
                 CREATE FUNCTION pg_catalog.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
                 AS $$ SELECT pg_catalog.honest_timestamp() + interval '5 minutes' $$";
    database.connect().await.batch_execute(ahead).await.unwrap();
    let hub = TestHub::builder().set("HUB_DATABASE_URL", &database.url);
    hub.start().await
}

#[tokio::test]
async fn what_a_person_types_is_a_time_from_now() {
    let post = Post::on(behind().await).await;
    let visitor = Visitor::of(&post.alice, &post.hub).await;
    let (csrf, key) = form(&visitor).await;
    let fields = [
        ("csrf", csrf.as_str()),
        ("key", key.as_str()),
        ("title", "Stop"),
        ("expires_in", "1"),
        ("expires_unit", "minutes"),
    ];
    let sent = visitor.post(NEW, &fields).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
}

#[tokio::test]
async fn a_token_that_has_expired_is_not_issued() {
    let post = Post::on(behind().await).await;
    let token = async |expires_in: Duration| {
        let expires_at = (OffsetDateTime::now_utc() + expires_in).format(&Rfc3339).unwrap();
        let body = json!({"subject": format!("agent:{WORKER}"), "expires_at": expires_at});
        let path = post.account.path("/tokens");
        post.account.admin().post(&path, &body).await
    };
    let refused = token(Duration::from_mins(1)).await;
    refused.expect_error(422, "invalid_field");
    token(Duration::from_mins(10)).await.expect(201);
}
