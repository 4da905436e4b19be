//! A refusal is final: what was refused is not taken after all, by a call of the same key, or by this very one, that was under
//! way (design rule 4).

use std::time::Duration;

use http::Method;
use hub_testkit::{Api, Reply, TestHub, envelope, eventually};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::mailbox::{Post, WORKER};

/// Keeps what is inserted into a table from being committed, until it is let go.
struct Stall {
    holder: Client,
}

impl Stall {
    async fn of(hub: &TestHub, table: &str) -> Self {
        let holder = hub.database().connect().await;
        let lock = format!("pg_catalog.hashtext('{table}')");
        let stall = format!(
            "CREATE FUNCTION public.stall_{table}() RETURNS trigger LANGUAGE plpgsql
                 AS $$ BEGIN PERFORM pg_catalog.pg_advisory_xact_lock({lock}); RETURN NULL; END $$;
             CREATE TRIGGER stall AFTER INSERT ON lifecycle.{table}
                 FOR EACH ROW EXECUTE FUNCTION public.stall_{table}();
             SELECT pg_catalog.pg_advisory_lock({lock})"
        );
        holder.batch_execute(&stall).await.unwrap();
        Self { holder }
    }

    /// Waits until something is kept.
    async fn holds_something(&self) {
        eventually("an insert to be kept", || async {
            (self.waiting("advisory").await > 0).then_some(())
        })
        .await;
    }

    /// How many wait for such a lock.
    async fn waiting(&self, kind: &str) -> i64 {
        let sql = "SELECT count(*) FROM pg_locks INNER JOIN pg_stat_activity USING (pid)
                   WHERE datname = current_database() AND NOT granted AND locktype = $1";
        self.holder.query_one(sql, &[&kind]).await.unwrap().get(0)
    }

    /// Waits until that time is over, by the hub's clock.
    async fn past(&self, time: OffsetDateTime) {
        eventually("the time to pass", || async {
            let sql = "SELECT statement_timestamp() > $1";
            let row = self.holder.query_one(sql, &[&time]).await.unwrap();
            row.get::<_, bool>(0).then_some(())
        })
        .await;
    }

    async fn let_go(self) {
        let unlock = "SELECT pg_catalog.pg_advisory_unlock_all()";
        self.holder.batch_execute(unlock).await.unwrap();
    }
}

/// Makes a call beside the test.
fn calling(api: &Api, path: &str, key: Option<&str>, body: &Value) -> JoinHandle<Reply> {
    let mut request = api
        .request(Method::POST, path)
        .header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    tokio::spawn(Reply::of(request.body(body.to_string())))
}

/// What the calls send, and where to.
fn written(expires_at: OffsetDateTime) -> [(&'static str, &'static str, Value); 3] {
    let expires_at = expires_at.format(&Rfc3339).unwrap();
    let to = format!("agent:{WORKER}");
    // An ask and a task have a key.
    let mut notify = envelope::notify(WORKER);
    notify["expires_at"] = json!(expires_at);
    notify.as_object_mut().unwrap().remove("idempotency_key");
    [
        (
            "directives",
            "/v1/directives",
            json!({"to": to, "title": "Stop", "expires_at": expires_at}),
        ),
        (
            "broadcasts",
            "/v1/broadcasts",
            json!({"to": [to], "title": "Stop", "expires_at": expires_at}),
        ),
        ("messages", "/v1/messages", notify),
    ]
}

/// The id of what a call made.
fn made(reply: &Reply) -> Value {
    assert!(reply.status.is_success(), "{}: {}", reply.status, reply.text);
    let body = reply.json();
    for place in ["/directive/id", "/broadcast/id", "/id"] {
        if let Some(id) = body.pointer(place) {
            return id.clone();
        }
    }
    panic!("{body}")
}

#[tokio::test]
async fn who_comes_late_with_the_key_of_a_call_under_way_gets_its_answer() {
    let post = Post::start().await;
    for at in 0..2 {
        let expires_at = OffsetDateTime::now_utc() + Duration::from_secs(2);
        let calls = written(expires_at);
        let (table, path, body) = &calls[at];
        let stall = Stall::of(&post.hub, table).await;
        let key = format!("key of {table}");
        let first = calling(&post.alice, path, Some(&key), body);
        stall.holds_something().await;
        stall.past(expires_at).await;
        let late = calling(&post.alice, path, Some(&key), body);
        eventually("the late one to wait, or to be refused", || async {
            let waits = stall.waiting("transactionid").await > 0;
            (waits || late.is_finished()).then_some(())
        })
        .await;
        stall.let_go().await;
        let [first, late] = [first.await.unwrap(), late.await.unwrap()];
        assert_eq!(made(&late), made(&first), "{table}");
    }
}

/// The gateway makes the call again under the same id, because nobody answers it in time.
#[tokio::test]
async fn a_call_is_not_refused_that_is_taken_at_its_first_attempt() {
    let hub = TestHub::builder()
        .set("HUB_PEERS_ATTEMPT_TIMEOUT_MS", 500)
        .set("HUB_PEERS_CALL_TIMEOUT_MS", 60_000)
        .set("HUB_DATABASE_STATEMENT_TIMEOUT_MS", 60_000)
        .set("HUB_DATABASE_POOL_SIZE", 32);
    let post = Post::on(hub.start().await).await;
    for at in 0..3 {
        let expires_at = OffsetDateTime::now_utc() + Duration::from_secs(2);
        let calls = written(expires_at);
        let (table, path, body) = &calls[at];
        let api: &Api = if *table == "messages" {
            &post.worker
        } else {
            &post.alice
        };
        let stall = Stall::of(&post.hub, table).await;
        let call = calling(api, path, None, body);
        stall.holds_something().await;
        // Several attempts later.
        stall.past(expires_at + Duration::from_secs(2)).await;
        stall.let_go().await;
        made(&call.await.unwrap());
    }
}
