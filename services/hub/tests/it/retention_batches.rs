//! Retention deletes in small batches, and stops for nothing that another holds (§8.2, design rule 12).

use hub_testkit::{TestHub, envelope, eventually};
use tokio_postgres::Client;

use crate::mailbox::{Post, WORKER, ack, drain, ids};
use crate::stage::{AGENT, Stage};

/// Rows that one statement may delete here, and how many there are to delete.
const BATCH: i64 = 3;
const ROWS: usize = 20;
const RETENTION_SECONDS: u32 = 3600;

/// Notes how many rows each statement deletes from a table, whoever runs it.
const WATCH: &str = "
    CREATE TABLE public.deletions (count bigint NOT NULL);
    CREATE FUNCTION public.note_deletion() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
        INSERT INTO public.deletions SELECT count(*) FROM gone HAVING count(*) > 0;
        RETURN NULL;
    END $$;
    CREATE TRIGGER watch AFTER DELETE ON PURGED
        REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION public.note_deletion()";

/// A table that is purged, with its columns.
struct Purged {
    table: &'static str,
    id: &'static str,
    ended_at: &'static str,
}

/// Lets the time of every row be over, one of them held by a transaction that stays open until all others have gone.
async fn expect_batches(hub: &TestHub, purged: Purged, held: &str) {
    let Purged { table, id, ended_at } = purged;
    let (client, holder) = (hub.database().connect().await, hub.database().connect().await);
    let watch = WATCH.replace("PURGED", table);
    client.batch_execute(&watch).await.unwrap();
    holder.batch_execute("BEGIN").await.unwrap();
    // It keeps the row from being deleted, not from being made older.
    let hold = format!("SELECT FROM {table} WHERE {id} = $1 FOR KEY SHARE");
    assert_eq!(holder.execute(&hold, &[&held]).await.unwrap(), 1);
    let age = format!("UPDATE {table} SET {ended_at} = now() - interval '{RETENTION_SECONDS} seconds'");
    client.batch_execute(&age).await.unwrap();

    eventually("all but what is held to go", || async {
        (left(&client, table).await == 1).then_some(())
    })
    .await;
    holder.batch_execute("COMMIT").await.unwrap();
    eventually("the rest to go", || async {
        (left(&client, table).await == 0).then_some(())
    })
    .await;

    let sql = "SELECT max(count) AS most, sum(count)::bigint AS sum FROM public.deletions";
    let row = client.query_one(sql, &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>("sum"), i64::try_from(ROWS).unwrap());
    assert!(row.get::<_, i64>("most") <= BATCH, "more than a batch at once");
}

async fn left(client: &Client, table: &str) -> i64 {
    let sql = format!("SELECT count(*) AS count FROM {table}");
    client.query_one(&sql, &[]).await.unwrap().get("count")
}

fn hub() -> hub_testkit::TestHubBuilder {
    TestHub::builder()
        .set("HUB_SWEEP_BATCH_MAX", BATCH)
        .set("HUB_RETENTION_SECONDS", RETENTION_SECONDS)
        .set("HUB_RETENTION_GRACE_SECONDS", 0)
        .set("HUB_INBOUND_RETENTION_SECONDS", RETENTION_SECONDS)
}

#[tokio::test]
async fn messages_are_erased_few_at_a_time_and_a_held_one_stops_no_other() {
    let stage = Stage::on(hub().start().await).await;
    let mut sent = Vec::new();
    for _ in 0..ROWS {
        sent.push(stage.agent.submitted(&envelope::notify(AGENT)).await);
    }
    let purged = Purged {
        table: "lifecycle.messages",
        id: "message_id",
        ended_at: "terminal_at",
    };
    expect_batches(&stage.hub, purged, &sent[0]).await;
    for id in &sent {
        stage.agent.message(id).await.expect_error(410, "gone");
    }
}

#[tokio::test]
async fn directives_are_dropped_few_at_a_time_and_a_held_one_stops_no_other() {
    let post = Post::on(hub().start().await).await;
    for number in 0..ROWS {
        post.direct(&format!("Number {number}")).await;
    }
    let drained = ids(&drain(&post.worker, "").await);
    assert_eq!(ack(&post.worker, &drained).await, ROWS as u64);
    let purged = Purged {
        table: "lifecycle.entries",
        id: "entry_id",
        ended_at: "ended_at",
    };
    expect_batches(&post.hub, purged, &drained[0]).await;
    let left = post
        .alice
        .get(&format!("/v1/directives?agent={WORKER}"))
        .await
        .expect(200);
    assert_eq!(left["directives"].as_array().unwrap().len(), 0);
}
