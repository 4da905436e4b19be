//! Claims of drains that come late, are repeated, or taken back: an entry counts as delivered only where a drain had it (§14.2,
//! design rules 3, 9).

use hub_platform::db::Tier;
use hub_testkit::{TestHub, eventually};
use ma2h_hub::tiers;
use serde_json::json;
use time::OffsetDateTime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};

use crate::mailbox::{Post, WORKER, ack, drain, ids};

/// Keeps each change of an entry from being committed for as long as another holds the lock.
const STALL_COMMITS: &str = "
    CREATE FUNCTION public.stall() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(14);
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER stall AFTER UPDATE ON lifecycle.entries
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.stall()";

/// Lets what lies in mailboxes have lain there for long, so that nothing of it may have come late.
const LONG_AGO: &str = "
    DELETE FROM lifecycle.closed_mailboxes;
    UPDATE lifecycle.entries
    SET enqueued_at = enqueued_at - interval '1 hour', visible_at = visible_at - interval '1 hour'";

pub(crate) fn sql(name: &str) -> &'static str {
    let statements = tiers::statements(Tier::Lifecycle);
    let found = statements.iter().find(|(statement, _)| *statement == name);
    found.unwrap_or_else(|| panic!("no statement {name}")).1
}

/// What lifecycle does for a drain, on a connection of its own.
struct Drainer {
    client: Client,
    account: String,
}

impl Drainer {
    async fn of(post: &Post) -> Self {
        Self {
            client: post.hub.database().connect().await,
            account: post.account.id().to_owned(),
        }
    }

    /// What a claim gives, and whether it is to be asked for again.
    async fn claim(&self, claim_id: &str) -> (Vec<String>, bool) {
        self.call(claim_id, false).await
    }

    async fn call(&self, claim_id: &str, is_repeat: bool) -> (Vec<String>, bool) {
        let (given, rows) = self.call_from(claim_id, is_repeat, None).await;
        (given, rows[0].get("contended"))
    }

    /// What a claim gives that walks the mailbox from here, as seen then.
    async fn call_from(
        &self,
        claim_id: &str,
        is_repeat: bool,
        head: Option<(OffsetDateTime, OffsetDateTime)>,
    ) -> (Vec<String>, Vec<Row>) {
        let lanes = ["everyone"];
        let (max, bytes, window) = (2_i64, 1_i64 << 20, 60_i64);
        let (begins_at, seen_at) = ([head.map(|head| head.0)], [head.map(|head| head.1)]);
        let late_ms = 15_000_i64;
        let values: [&(dyn ToSql + Sync); 11] = [
            &self.account,
            &WORKER,
            &lanes.as_slice(),
            &claim_id,
            &max,
            &bytes,
            &window,
            &is_repeat,
            &begins_at.as_slice(),
            &seen_at.as_slice(),
            &late_ms,
        ];
        let rows = self.client.query(sql("claim entries"), &values).await.unwrap();
        let given = rows
            .iter()
            .filter_map(|row| row.get::<_, Option<String>>("entry_id"));
        (given.collect(), rows)
    }

    /// What a claim gives that walks on from what the last one saw, which is kept in `head`.
    async fn claim_on(
        &self,
        claim_id: &str,
        head: &mut Option<(OffsetDateTime, OffsetDateTime)>,
    ) -> Vec<String> {
        let (given, rows) = self.call_from(claim_id, false, *head).await;
        let heads: Vec<OffsetDateTime> = rows[0].get("heads");
        *head = Some((heads[0], rows[0].get("now")));
        given
    }

    async fn end(&self, claim_id: &str) {
        let values: [&(dyn ToSql + Sync); 2] = [&self.account, &claim_id];
        self.client.query(sql("end claim"), &values).await.unwrap();
    }

    /// How many entries were taken back.
    async fn unclaim(&self, claim_id: &str) -> usize {
        let none: [&str; 0] = [];
        let values: [&(dyn ToSql + Sync); 4] = [&self.account, &WORKER, &claim_id, &none.as_slice()];
        let rows = self.client.query(sql("unclaim entries"), &values).await;
        rows.unwrap().len()
    }

    async fn run(&self, sql: &str) {
        self.client.batch_execute(sql).await.unwrap();
    }

    /// Lets the time of an entry be over.
    async fn let_expire(&self, id: &str) {
        let over = "UPDATE lifecycle.entries SET drops_at = statement_timestamp() WHERE account = $1 AND entry_id = $2";
        assert_eq!(self.client.execute(over, &[&self.account, &id]).await.unwrap(), 1);
    }

    async fn await_out_of_sight(&self, id: &str) {
        let sql = "SELECT visible_at = 'infinity' AS out_of_sight FROM lifecycle.entries
                   WHERE account = $1 AND entry_id = $2";
        eventually("the sweep to have taken it out of sight", || async {
            let row = self.client.query_one(sql, &[&self.account, &id]).await.unwrap();
            row.get::<_, bool>("out_of_sight").then_some(())
        })
        .await;
    }
}

/// Waits until somebody waits for another in this database.
async fn await_waiter(client: &Client, kind: &str) {
    let sql = "SELECT EXISTS (
                   SELECT FROM pg_catalog.pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = $1
               ) AS waits";
    eventually("somebody to wait", || async {
        let row = client.query_one(sql, &[&kind]).await.unwrap();
        row.get::<_, bool>("waits").then_some(())
    })
    .await;
}

/// Its reply is late, and the call is made again: that one waits for the first, and is told the same.
#[tokio::test]
async fn a_claim_that_is_repeated_while_it_is_under_way_takes_nothing_more() {
    let post = Post::start().await;
    let (first, second) = (Drainer::of(&post).await, Drainer::of(&post).await);
    let watcher = post.hub.database().connect().await;
    // Also where it finds nothing beside what the first has taken.
    for (claim_id, others) in [("clm_1", 0), ("clm_2", 2)] {
        let mut sent = Vec::new();
        for number in 0..2 + others {
            sent.push(post.direct(&format!("Number {number}")).await);
        }
        first.run("BEGIN").await;
        assert_eq!(first.claim(claim_id).await, (sent[..2].to_vec(), false));
        let committing = async {
            await_waiter(&watcher, "transactionid").await;
            first.run("COMMIT").await;
        };
        let (repeated, ()) = tokio::join!(second.call(claim_id, true), committing);
        assert_eq!(repeated, (vec![], true));
        assert_eq!(second.call(claim_id, true).await, (sent[..2].to_vec(), false));
        assert_eq!(ids(&drain(&post.worker, "").await), sent[2..]);
    }
}

/// Whoever ends a claim that is under way waits for it and takes all back; one that comes later takes nothing.
#[tokio::test]
async fn a_claim_that_was_ended_takes_nothing_however_late_it_comes() {
    let post = Post::start().await;
    let id = post.direct("For who is there").await;
    let (late, other) = (Drainer::of(&post).await, Drainer::of(&post).await);
    let watcher = post.hub.database().connect().await;
    late.run("BEGIN").await;
    assert_eq!(late.claim("clm_1").await.0, std::slice::from_ref(&id));
    let committing = async {
        await_waiter(&watcher, "transactionid").await;
        late.run("COMMIT").await;
    };
    tokio::join!(other.end("clm_1"), committing);
    assert_eq!(other.unclaim("clm_1").await, 1);
    assert_eq!(post.track(&id).await, json!({"state": "queued"}));

    other.end("clm_2").await;
    assert_eq!(other.call("clm_3", true).await.0, std::slice::from_ref(&id));
    assert_eq!(other.unclaim("clm_3").await, 1);
    for claim_id in ["clm_1", "clm_2", "clm_3"] {
        assert_eq!(late.claim(claim_id).await, (vec![], false), "{claim_id}");
    }
    assert_eq!(post.track(&id).await, json!({"state": "queued"}));
    assert_eq!(ids(&drain(&post.worker, "").await), [id]);
}

/// The claim stalls until long after everybody has given it up.
#[tokio::test]
async fn what_a_late_claim_took_goes_back() {
    let hub = TestHub::builder()
        .set("HUB_PEERS_ATTEMPT_TIMEOUT_MS", 1000)
        .set("HUB_PEERS_CALL_TIMEOUT_MS", 3000);
    let post = Post::on(hub.start().await).await;
    let id = post.direct("Late").await;
    let (drainer, holder) = (Drainer::of(&post).await, Drainer::of(&post).await);
    drainer.run(STALL_COMMITS).await;
    holder.run("SELECT pg_advisory_lock(14)").await;
    let refused = post.worker.get("/v1/inbox").await;
    assert_eq!(refused.status.as_u16(), 503, "{}", refused.text);
    holder.run("SELECT pg_advisory_unlock(14)").await;

    // Were it not put back, it would stay away for the length of the window.
    let got = eventually("it to be there for another", || async {
        let reply = post.worker.get("/v1/inbox").await;
        let got = (reply.status == 200).then(|| crate::mailbox::drained(&reply));
        got.filter(|got| !got.is_empty())
    })
    .await;
    assert_eq!(ids(&got), std::slice::from_ref(&id));
    let deliveries = "SELECT deliveries FROM lifecycle.entries WHERE entry_id = $1";
    let row = drainer.client.query_one(deliveries, &[&id]).await.unwrap();
    assert_eq!(row.get::<_, i32>("deliveries"), 1, "the late one does not count");
}

/// Its time is over while it is on its way to a client that has gone.
#[tokio::test]
async fn what_expires_on_its_way_to_nobody_was_never_delivered() {
    let post = Post::start().await;
    let id = post.direct("Short").await;
    let drainer = Drainer::of(&post).await;
    assert_eq!(drainer.claim("clm_1").await.0, std::slice::from_ref(&id));
    drainer.let_expire(&id).await;
    drainer.await_out_of_sight(&id).await;
    assert_eq!(post.state(&id).await, "delivered");
    drainer.end("clm_1").await;
    assert_eq!(drainer.unclaim("clm_1").await, 1);
    assert_eq!(post.state(&id).await, "expired");
}

/// So is its agent.
#[tokio::test]
async fn what_bounces_on_its_way_to_nobody_bounces_from_the_queue() {
    let post = Post::start().await;
    let id = post.direct("Nobody's").await;
    let drainer = Drainer::of(&post).await;
    assert_eq!(drainer.claim("clm_1").await.0, std::slice::from_ref(&id));
    let path = post.account.agent_path(WORKER, "");
    post.account.admin().delete(&path).await.expect(204);
    eventually("the mail to be undeliverable", || async {
        (post.state(&id).await == "bounced").then_some(())
    })
    .await;
    drainer.end("clm_1").await;
    assert_eq!(drainer.unclaim("clm_1").await, 1);
    let track = post.track(&id).await;
    assert_eq!(
        (&track["state"], &track["prior"]),
        (&json!("bounced"), &json!("queued"))
    );
    assert!(track["delivered_at"].is_null(), "{track}");
}

/// The sweep is not there yet.
#[tokio::test]
async fn what_is_overdue_stands_in_nobodys_way() {
    let hub = TestHub::builder().set("HUB_SWEEP_INTERVAL_MS", 3_600_000);
    let post = Post::on(hub.start().await).await;
    let drainer = Drainer::of(&post).await;
    for number in 0..6 {
        let id = post.direct(&format!("Number {number}")).await;
        drainer.let_expire(&id).await;
    }
    let id = post.direct("In time").await;
    assert_eq!(ids(&drain(&post.worker, "?max=1").await), [id]);
}

/// It can be acknowledged still, and nothing else.
#[tokio::test]
async fn what_is_drained_no_more_takes_no_room() {
    let post = Post::start().await;
    let policy = json!({"rate_limit": {"inbox_depth": 1}});
    post.account.set_policy(policy).await;
    let first = post.direct("Short").await;
    assert_eq!(ids(&drain(&post.worker, "").await), std::slice::from_ref(&first));
    let drainer = Drainer::of(&post).await;
    drainer.let_expire(&first).await;
    drainer.await_out_of_sight(&first).await;
    let second = post.direct("Next").await;
    assert_eq!(post.state(&first).await, "delivered");
    assert_eq!(ids(&drain(&post.worker, "").await), [second]);
}

/// Much of it may lie there for a while after its agent has gone.
#[tokio::test]
async fn mail_of_an_agent_that_is_gone_is_not_the_next_ones() {
    let post = Post::start().await;
    let policy = json!({"rate_limit": {"inbox_depth": 1}});
    post.account.set_policy(policy).await;
    let old = post.direct("Old").await;
    let drainer = Drainer::of(&post).await;
    let holder = Drainer::of(&post).await;
    // The pass leaves alone what another holds.
    holder.run("BEGIN").await;
    let held = "SELECT FROM lifecycle.entries WHERE entry_id = $1 FOR UPDATE";
    assert_eq!(holder.client.execute(held, &[&old]).await.unwrap(), 1);
    let path = post.account.agent_path(WORKER, "");
    post.account.admin().delete(&path).await.expect(204);
    let next = post.account.agent(WORKER).await;

    let account = &drainer.account;
    let (accounts, agents, lanes) = (vec![account.as_str()], vec![WORKER], vec!["everyone"]);
    let unknown: Vec<Option<OffsetDateTime>> = vec![None];
    let values: [&(dyn ToSql + Sync); 6] = [&accounts, &agents, &lanes, &unknown, &unknown, &0_i64];
    let filled = drainer
        .client
        .query_one(sql("find filled mailboxes"), &values)
        .await;
    let visible_in_ms: Option<i64> = filled.unwrap().get("visible_in_ms");
    assert_eq!(visible_in_ms, None, "nothing in it is for a drain");
    let values: [&(dyn ToSql + Sync); 3] = [account, &agents, &101_i64];
    let waiting = drainer
        .client
        .query_one(sql("count waiting entries"), &values)
        .await;
    assert_eq!(waiting.unwrap().get::<_, i64>("queued"), 0);
    let (given, _) = drainer.claim("clm_1").await;
    assert_eq!(given, Vec::<String>::new());
    assert_eq!(
        ack(&next, std::slice::from_ref(&old)).await,
        0,
        "it is not the next agent's to acknowledge"
    );
    let own = post.direct("Own").await;
    assert_eq!(ids(&drain(&next, "").await), [own]);

    holder.run("COMMIT").await;
    eventually("the old mail to be undeliverable", || async {
        (post.state(&old).await == "bounced").then_some(())
    })
    .await;
}

/// What cannot be ended stays for whoever repairs it; the others are ended all the same (design rule 11).
#[tokio::test]
async fn an_entry_that_cannot_be_ended_keeps_no_other() {
    let post = Post::start().await;
    let drainer = Drainer::of(&post).await;
    drainer
        .run(
            "CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN
                 RAISE EXCEPTION 'this one cannot be ended';
             END $$;
             CREATE TRIGGER refuse BEFORE UPDATE ON lifecycle.entries
                 FOR EACH ROW WHEN (OLD.content_bytes = 7 AND NEW.ended_at IS NOT NULL)
                 EXECUTE FUNCTION public.refuse()",
        )
        .await;
    let mut sent = Vec::new();
    for number in 0..4 {
        sent.push(post.direct(&format!("Number {number}")).await);
    }
    let over = "UPDATE lifecycle.entries
                SET drops_at = statement_timestamp(),
                    content_bytes = CASE WHEN entry_id = $1 THEN 7 ELSE content_bytes END";
    assert_eq!(drainer.client.execute(over, &[&sent[0]]).await.unwrap(), 4);
    let ended = "SELECT count(*) AS ended FROM lifecycle.entries WHERE state = 'expired'";
    eventually("the others to have expired", || async {
        let row = drainer.client.query_one(ended, &[]).await.unwrap();
        (row.get::<_, i64>("ended") == 3).then_some(())
    })
    .await;
}

/// What was taken is stepped over by nobody any more; what is put back is found by whoever had gone past it, and comes first
/// (§8.7).
#[tokio::test]
async fn a_drain_walks_on_from_where_the_mailbox_began_and_back_to_what_was_put_back() {
    let post = Post::start().await;
    let (here, there) = (Drainer::of(&post).await, Drainer::of(&post).await);
    let mut sent = Vec::new();
    for number in 1..=5 {
        sent.push(post.direct(&format!("number {number}")).await);
    }
    here.run(LONG_AGO).await;
    let (mut head, mut head_there) = (None, None);
    let claim = |number: u32| format!("clm_{number}");
    assert_eq!(here.claim_on(&claim(1), &mut head).await, sent[..2]);
    // It begins where the last of them lay.
    let last = "SELECT enqueued_at FROM lifecycle.entries WHERE account = $1 AND entry_id = $2";
    let last = here.client.query_one(last, &[&here.account, &sent[1]]).await;
    let begins_at: OffsetDateTime = last.unwrap().get("enqueued_at");
    assert_eq!(head.unwrap().0, begins_at);
    assert_eq!(there.claim_on(&claim(2), &mut head_there).await, sent[2..4]);

    // A later head than the truth hides what lies before it: it is walked from there.
    let (_, now) = head_there.unwrap();
    let (given, _) = here.call_from(&claim(3), false, Some((now, now))).await;
    assert!(given.is_empty(), "{given:?}");
    // Unless it was seen by a clock that was set back since.
    let ahead = now + time::Duration::HOUR;
    let (given, _) = here.call_from(&claim(6), false, Some((now, ahead))).await;
    assert_eq!(given, sent[4..]);
    assert_eq!(here.unclaim(&claim(6)).await, 1);

    assert_eq!(there.unclaim(&claim(1)).await, 2);
    assert_eq!(
        there.claim_on(&claim(4), &mut head_there).await,
        sent[..2],
        "first what came first"
    );
    assert_eq!(here.claim_on(&claim(5), &mut head).await, sent[4..]);
}

/// What another call has in hand, an outcome of its push or a drain that takes less than it looks at, may stay: the mailbox begins
/// with it until that is known.
#[tokio::test]
async fn what_another_has_in_hand_is_not_taken_for_gone() {
    let post = Post::start().await;
    let (here, there) = (Drainer::of(&post).await, Drainer::of(&post).await);
    let (first, second) = (post.direct("First").await, post.direct("Second").await);
    here.run(LONG_AGO).await;
    let mut head = None;
    there.run("BEGIN").await;
    let in_hand = "SELECT FROM lifecycle.entries WHERE entry_id = $1 FOR UPDATE";
    assert_eq!(there.client.execute(in_hand, &[&first]).await.unwrap(), 1);
    assert_eq!(here.claim_on("clm_1", &mut head).await, [second]);
    assert!(here.claim_on("clm_2", &mut head).await.is_empty());
    there.run("ROLLBACK").await;
    assert_eq!(here.claim_on("clm_3", &mut head).await, [first]);
}
