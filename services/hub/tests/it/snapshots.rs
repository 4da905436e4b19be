//! Somebody holds an old snapshot, a backup or a report: what the passes of the queues have dealt with since cannot be
//! vacuumed away, and must cost them nothing.

use std::collections::BTreeSet;

use hub_platform::db::Tier;
use hub_testkit::database::Database;
use ma2h_hub::tiers;
use serde_json::Value;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

/// Rows that are dealt with while the snapshot is held.
const ROWS: u32 = 20_000;
/// Blocks that a pass with nothing to do may touch.
const BLOCKS_MAX: u64 = 60;
/// What a call may touch by itself.
const CALL_BLOCKS_MAX: u64 = 200;
/// Index and row of each.
const BLOCKS_PER_ROW_MAX: u64 = 3;
/// The way through a few indexes, and what is written, for each that a call names.
const BLOCKS_PER_KEY_MAX: u64 = 9;

/// Rows that came due an hour ago and were dealt with since: ended, settled, erased. The account and its agent have one name, so
/// that a statement all whose words are this name asks for what is theirs.
const FILL: &str = "
    INSERT INTO lifecycle.pushes (
        account, message_id, state, generation, attempts, started_at, attempt_at, due_at, traceparent)
    SELECT 'acme', 'msg_' || n, 'due', 1, 0, NULL, now(), now() - interval '1 hour', ''
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.messages (account, message_id, agent, kind, status, accepted_at, expires_at)
    SELECT 'acme', 'msg_' || n, 'acme', 'ask', 'open', now(), now() - interval '1 hour'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.messages (account, message_id, agent, kind, status, accepted_at, terminal_at)
    SELECT 'acme', 'old_' || n, 'acme', 'notify', 'delivered', now(), now() - interval '40 days'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.idempotency (account, agent, key_hash, message_id, digest, expires_at)
    SELECT 'acme', 'acme', sha256(n::text::bytea), 'msg_' || n, sha256('d'), now() - interval '1 hour'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.entries (
        account, entry_id, agent, kind, lane, state, enqueued_at, visible_at, drops_at, kept_until, delivered_at, ended_at,
        deliveries, content_bytes, claim_id)
    SELECT
        'acme', entry.kind || n, 'acme', 'directive', 'everyone', entry.state, now(), entry.visible_at::timestamptz,
        now() - interval '1 hour', now() - interval '1 hour', entry.delivered_at, entry.ended_at, 0, 0,
        CASE entry.kind WHEN 'orphaned' THEN 'clm_' || n END
    FROM generate_series(1, ROWS) AS n
    CROSS JOIN (VALUES
        ('dropping', 'queued', '-infinity', NULL::timestamptz, NULL::timestamptz),
        ('orphaned', 'delivered', 'infinity', now(), NULL),
        ('old', 'acknowledged', 'infinity', now(), now() - interval '40 days')
    ) AS entry (kind, state, visible_at, delivered_at, ended_at);
    INSERT INTO lifecycle.closed_mailboxes (account, agent, closed_at)
    SELECT 'acme', 'gone ' || n, now() - interval '1 hour'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.claims (account, claim_id, known_at)
    SELECT 'acme', 'clm_' || n, now() - interval '2 hours'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.human_keys (account, human, key_hash, digest, made_id, expires_at)
    SELECT 'acme', 'h', sha256(n::text::bytea), sha256('d'), 'dir_' || n, now() - interval '1 hour'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.tombstones (account, message_id, agent, status, erased_at)
    SELECT 'acme', 'gone_' || n, 'acme', 'answered', now() - interval '401 days'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.broadcasts (
        account, broadcast_id, author, content, title, recipients, accepted_at, due_at, fanned_out_at, kept_until)
    SELECT
        'acme', broadcast.kind || n, 'human:h', '{}', '\"\"', 1, now(), broadcast.due_at, broadcast.fanned_out_at,
        broadcast.kept_until
    FROM generate_series(1, ROWS) AS n
    CROSS JOIN (VALUES
        ('new', now() - interval '1 hour', NULL::timestamptz, NULL::timestamptz),
        ('old', NULL, now(), now() - interval '1 hour')
    ) AS broadcast (kind, due_at, fanned_out_at, kept_until);
    INSERT INTO lifecycle.pushes (
        account, message_id, state, generation, attempts, attempt_at, due_at, traceparent, host, webhook, held_at, kind)
    SELECT 'acme', 'held_' || n, 'held', 1, 0, now(), now(), '', 'agent.example', 'acme', now(), 'directive'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.entries (
        account, entry_id, agent, kind, lane, state, enqueued_at, visible_at, drops_at, kept_until, deliveries,
        content_bytes)
    SELECT
        'acme', 'waiting' || n, 'drained', 'directive', 'everyone', 'queued', now() - interval '1 hour',
        now() - interval '1 hour', 'infinity', 'infinity', 0, 0
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.directives (account, directive_id, agent, author, directive)
    SELECT 'acme', 'waiting' || n, 'acme', 'human:h', '{}'
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.acks (account, in_reply_to, leg, ma2h_version, by, acked_at, ack_id)
    SELECT 'acme', 'old' || n, 'mailbox', '0.6', 'agent:acme', now(), 'ack_' || n
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.push_attempts (account, message_id, generation, number, at, outcome, error, duration_ms)
    SELECT 'acme', 'msg_' || n, 1, 1, now(), 'exhausted', 'no_outcome', 0
    FROM generate_series(1, ROWS) AS n;
    INSERT INTO lifecycle.broadcast_recipients (account, broadcast_id, agent, directive_id, state)
    SELECT 'acme', 'new1', 'agent ' || n, 'waiting' || n, 'pending'
    FROM generate_series(1, ROWS) AS n";
const DEAL_WITH: &str = "
    UPDATE lifecycle.pushes SET state = 'delivered', held_at = NULL;
    UPDATE lifecycle.messages
    SET status = 'declined', terminal_at = now(), resolution_id = 'res_1', actor = 'human:h', detail = '{}'
    WHERE status = 'open';
    DELETE FROM lifecycle.messages WHERE message_id LIKE 'old_%';
    DELETE FROM lifecycle.idempotency;
    DELETE FROM lifecycle.entries WHERE ended_at IS NOT NULL;
    UPDATE lifecycle.entries SET state = 'expired', ended_at = now(), visible_at = 'infinity' WHERE state = 'queued';
    UPDATE lifecycle.entries
    SET state = 'bounced', prior = 'delivered', ended_at = now()
    WHERE state = 'delivered';
    DELETE FROM lifecycle.closed_mailboxes;
    DELETE FROM lifecycle.claims;
    DELETE FROM lifecycle.human_keys;
    DELETE FROM lifecycle.tombstones;
    DELETE FROM lifecycle.broadcasts WHERE kept_until IS NOT NULL;
    UPDATE lifecycle.broadcasts SET due_at = NULL, fanned_out_at = now(), kept_until = 'infinity'";
/// What came since, a few of each.
const FRESH: &str = "
    INSERT INTO lifecycle.entries (
        account, entry_id, agent, kind, lane, state, enqueued_at, visible_at, drops_at, kept_until, deliveries,
        content_bytes)
    SELECT 'acme', gen_random_uuid(), 'drained', 'directive', 'everyone', 'queued', now(), now(), 'infinity', 'infinity', 0, 0
    FROM generate_series(1, 3) AS n;
    INSERT INTO lifecycle.pushes (
        account, message_id, state, generation, attempts, attempt_at, due_at, traceparent, host, webhook, held_at, kind)
    SELECT
        'acme', gen_random_uuid(), 'held', 1, 0, now(), now(), '', 'agent.example', 'acme', now() - interval '1 hour', 'directive'
    FROM generate_series(1, 3) AS n";
/// A few of each stay.
const LEAVE_FEW: &str = "
    DO $$
    DECLARE
        name text;
    BEGIN
        FOREACH name IN ARRAY ARRAY[
            'pushes', 'messages', 'idempotency', 'entries', 'closed_mailboxes', 'human_keys', 'claims', 'tombstones',
            'broadcasts', 'broadcast_recipients', 'directives', 'acks', 'push_attempts'
        ] LOOP
            EXECUTE 'DELETE FROM lifecycle.' || name || ' WHERE hashtext(ctid::text) % 250 <> 0';
        END LOOP;
    END $$";
const VACUUM: &str = "
    VACUUM ANALYZE
        lifecycle.pushes, lifecycle.messages, lifecycle.idempotency, lifecycle.entries, lifecycle.closed_mailboxes,
        lifecycle.human_keys, lifecycle.claims, lifecycle.tombstones, lifecycle.broadcasts,
        lifecycle.broadcast_recipients, lifecycle.directives, lifecycle.acks, lifecycle.push_attempts";

/// Each pass with its values: how many rows it takes, what else it is told, and how far back it looks.
fn passes(look_back_ms: i64) -> [(&'static str, String); 13] {
    [
        ("relay pushes", format!("500, 10000, {look_back_ms}")),
        ("count owed pushes", format!("10000, {look_back_ms}")),
        ("take overdue messages", format!("500, {look_back_ms}")),
        (
            "take ended messages",
            format!("2592000, 86400, 500, {look_back_ms}, 0"),
        ),
        ("purge keys", format!("500, 3600000, {look_back_ms}")),
        ("take overdue entries", format!("500, {look_back_ms}, 0")),
        ("empty closed mailboxes", format!("500, {look_back_ms}, 0")),
        ("purge directives", format!("500, 2592000, {look_back_ms}, 0")),
        ("purge claims", format!("500, {look_back_ms}, 0")),
        ("purge tombstones", format!("500, 34560000, {look_back_ms}")),
        ("relay broadcasts", format!("500, 10000, {look_back_ms}")),
        ("count owed broadcasts", format!("10000, {look_back_ms}")),
        ("purge broadcasts", format!("500, {look_back_ms}")),
    ]
}

/// All is dealt with by now, and the snapshot keeps it.
struct Kept {
    client: Client,
    _holder: Client,
}

impl Kept {
    async fn start() -> Self {
        Self::dealing(DEAL_WITH).await
    }

    async fn dealing(deal_with: &str) -> Self {
        let database = Database::create().await;
        let client = database.connect().await;
        let holder = database.connect().await;
        client
            .batch_execute(&FILL.replace("ROWS", &ROWS.to_string()))
            .await
            .unwrap();
        holder
            .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM lifecycle.pushes")
            .await
            .unwrap();
        client.batch_execute(deal_with).await.unwrap();
        client.batch_execute(VACUUM).await.unwrap();
        client.batch_execute("SET enable_seqscan = off").await.unwrap();
        Self {
            client,
            _holder: holder,
        }
    }

    async fn blocks(&self, name: &str, values: &str) -> u64 {
        blocks(&self.client, name, values).await
    }

    /// The plan of a statement that names so many keys, and what came of it.
    async fn plan(&self, name: &str, sql: &str, keys: u64) -> Value {
        let prepared = self.client.prepare(sql).await.unwrap();
        let values: Vec<_> = prepared.params().iter().map(|of| value(of, keys)).collect();
        self.client.batch_execute("BEGIN").await.unwrap();
        let plan = explain(&self.client, name, sql, &values.join(", ")).await;
        self.client.batch_execute("ROLLBACK").await.unwrap();
        plan
    }

    async fn let_some_come(&self) {
        self.client.batch_execute(FRESH).await.unwrap();
    }
}

#[tokio::test]
async fn a_pass_steps_over_nothing_that_an_old_snapshot_keeps() {
    let kept = Kept::start().await;
    let (usual_ms, whole_ms) = (120_000, 3_000_000_000_000);
    for ((name, usual), (_, whole)) in passes(usual_ms).into_iter().zip(passes(whole_ms)) {
        let whole = kept.blocks(name, &whole).await;
        assert!(
            whole > BLOCKS_MAX,
            "{name}: the snapshot keeps nothing, {whole} blocks"
        );
        let usual = kept.blocks(name, &usual).await;
        assert!(
            usual <= BLOCKS_MAX,
            "{name}: {usual} blocks, and {whole} for a whole look"
        );
    }
}

/// What is open or waits is found by whose it is, not by time: what an old snapshot keeps of it is stepped over. Once: a drain
/// walks on from what was seen last, and who has a place is not counted for.
#[tokio::test]
async fn what_an_old_snapshot_keeps_of_one_agents_is_stepped_over_once() {
    const SUBMIT: &str = "'acme', 'new_ID', 'acme', false, 1000000, NULL, 'r', 'ask', 'confirm', 'normal', false, 't', '{}', NULL,
        '0.6', NULL, NULL, NULL, NULL, 'system:expiry', false, '{}', '{1}', '{}', NULL, 'open', NULL, NULL, 86400, 1000, NULL,
        PLACE";
    const DIRECTIVE: &str =
        "'acme', 'new_ID', 'drained', 'human:h', '{', '}', NULL, 86400, NULL, NULL, NULL, 86400, 1000, 10000,
        '', PLACE";
    let kept = Kept::start().await;
    let whole = "'{NULL}', '{NULL}', 15000";
    let seen = "ARRAY[now() - interval '15 seconds'], ARRAY[now()], 15000";
    let claim = |head: &str, id: &str| {
        format!("'acme', 'drained', '{{everyone}}', 'clm_{id}', 32, 1000000, 60, false, {head}")
    };
    let look = |head: &str| format!("'{{acme}}', '{{drained}}', '{{everyone}}', {head}");
    let once = [
        ("claim entries", claim(whole, "1"), claim(seen, "2")),
        ("find filled mailboxes", look(whole), look(seen)),
        ("insert message", of(SUBMIT, "1", "NULL"), of(SUBMIT, "2", "1000")),
        (
            "insert directive",
            of(DIRECTIVE, "1", "NULL"),
            of(DIRECTIVE, "2", "1000"),
        ),
    ];
    for (name, first, then) in once {
        let first = kept.blocks(name, &first).await;
        assert!(
            first > CALL_BLOCKS_MAX,
            "{name}: the snapshot keeps nothing, {first} blocks"
        );
        assert!(
            first <= u64::from(ROWS) * BLOCKS_PER_ROW_MAX,
            "{name}: {first} blocks"
        );
        kept.let_some_come().await;
        let then = kept.blocks(name, &then).await;
        assert!(
            then <= CALL_BLOCKS_MAX,
            "{name}: {then} blocks, and {first} at first"
        );
    }
}

/// A drain that walks all of a lane walks it once, whether something lies there or not.
#[tokio::test]
async fn a_drain_steps_over_what_an_old_snapshot_keeps_once() {
    let kept = Kept::start().await;
    let whole = "'{NULL}', '{NULL}', 15000";
    let look = format!("'{{acme}}', '{{drained}}', '{{everyone}}', {whole}");
    for id in 1..=2 {
        let walk = kept.blocks("find filled mailboxes", &look).await;
        assert!(
            walk > CALL_BLOCKS_MAX,
            "the snapshot keeps nothing, {walk} blocks"
        );
        let claim = format!("'acme', 'drained', '{{everyone}}', 'clm_{id}', 32, 1000000, 60, false, {whole}");
        let claim = kept.blocks("claim entries", &claim).await;
        assert!(
            claim <= walk + CALL_BLOCKS_MAX,
            "{claim} blocks, and one walk is {walk}"
        );
        kept.let_some_come().await;
    }
}

/// What is held for a host is looked at less often, the longer a look takes.
#[tokio::test]
async fn what_an_old_snapshot_keeps_of_held_pushes_is_stepped_over_once_a_look() {
    let kept = Kept::start().await;
    for (name, values) in [
        ("count held pushes", "10000"),
        ("release pushes", "500, 10000, 10000, 1500, 16"),
        ("release moved pushes", "500, 10000, 10000"),
    ] {
        kept.let_some_come().await;
        let blocks = kept.blocks(name, values).await;
        assert!(
            blocks > CALL_BLOCKS_MAX,
            "{name}: the snapshot keeps nothing, {blocks} blocks"
        );
        assert!(
            blocks <= u64::from(ROWS) * BLOCKS_PER_ROW_MAX,
            "{name}: {blocks} blocks"
        );
    }
}

/// Statements that go through what is held for hosts, or count what is under way: see above.
const GOING_THROUGH: [&str; 4] = [
    "count held pushes",
    "release pushes",
    "release moved pushes",
    "insert broadcast",
];
/// What cannot be asked with any values.
const PARTICULAR: [&str; 2] = ["insert message", "find labelled agents"];

/// Where few rows are left among many dead, of which it knows nothing, PostgreSQL thinks little of reading an index whole. A
/// statement that knows the keys does not offer it one.
#[tokio::test]
async fn what_is_asked_for_by_its_key_is_found_by_it() {
    let kept = Kept::dealing(LEAVE_FEW).await;
    for (name, sql) in tiers::statements(Tier::Lifecycle) {
        if GOING_THROUGH.contains(&name) || PARTICULAR.contains(&name) {
            continue;
        }
        for keys in [1, 64] {
            let plan = kept.plan(name, sql, keys).await;
            let blocks = touched(&plan);
            assert!(
                blocks <= BLOCKS_MAX + keys * BLOCKS_PER_KEY_MAX,
                "{name}: {blocks} blocks for {keys} keys: {plan:#}"
            );
            let whole = whole_indexes(&plan);
            assert!(
                whole.is_empty(),
                "{name}: reads all of {whole:?} for {keys} keys: {plan:#}"
            );
        }
    }
}

/// The same values with this id and place.
fn of(values: &str, id: &str, place: &str) -> String {
    values.replace("ID", id).replace("PLACE", place)
}

/// Some value of a type; of an array as many as there are keys, of which none is there.
fn value(of: &Type, keys: u64) -> String {
    match *of {
        Type::TEXT => "'acme'".to_owned(),
        Type::INT8 | Type::INT4 => "500".to_owned(),
        Type::BOOL => "true".to_owned(),
        Type::BYTEA => "sha256('x')".to_owned(),
        Type::TIMESTAMPTZ => "now()".to_owned(),
        Type::TEXT_ARRAY => array("text", keys, |key| format!("'key {key}'")),
        Type::INT8_ARRAY => array("bigint", keys, |key| key.to_string()),
        Type::INT4_ARRAY => array("integer", keys, |key| key.to_string()),
        Type::BOOL_ARRAY => array("boolean", keys, |_| "true".to_owned()),
        Type::TIMESTAMPTZ_ARRAY => array("timestamptz", keys, |_| "now()".to_owned()),
        _ => panic!("no value of {of}"),
    }
}

fn array(element: &str, keys: u64, value: impl Fn(u64) -> String) -> String {
    let values: Vec<_> = (1..=keys).map(value).collect();
    format!("ARRAY[{}]::{element}[]", values.join(", "))
}

/// Blocks that a statement of lifecycle touches with these values.
async fn blocks(client: &Client, name: &str, values: &str) -> u64 {
    let statements = tiers::statements(Tier::Lifecycle);
    let (_, sql) = statements.iter().find(|(other, _)| *other == name).unwrap();
    touched(&explain(client, name, sql, values).await)
}

/// Runs a statement; its plan, with what each part of it touched.
async fn explain(client: &Client, name: &str, sql: &str, values: &str) -> Value {
    let values = if values.is_empty() {
        String::new()
    } else {
        format!("({values})")
    };
    let explain = format!(
        "PREPARE pass AS {sql};\nEXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE pass{values};\nDEALLOCATE pass"
    );
    let messages = client.simple_query(&explain).await;
    let messages = messages.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let plan = messages.iter().find_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    let mut plan: Value = serde_json::from_str(plan.unwrap()).unwrap();
    plan[0]["Plan"].take()
}

/// Also by the parts that write and that no other part reads: they run when the rest is done, and are not counted with it.
fn touched(plan: &Value) -> u64 {
    let parts = parts_of(plan);
    let read: BTreeSet<_> = parts
        .iter()
        .filter_map(|part| part["CTE Name"].as_str())
        .collect();
    let is_apart = |part: &&&Value| {
        let name = part["Subplan Name"]
            .as_str()
            .and_then(|name| name.strip_prefix("CTE "));
        part["Node Type"] == "ModifyTable" && name.is_some_and(|name| !read.contains(name))
    };
    let apart = parts.iter().filter(is_apart);
    touched_by(plan) + apart.map(|part| touched_by(part)).sum::<u64>()
}

fn touched_by(part: &Value) -> u64 {
    let blocks = |kind: &str| part[kind].as_u64().unwrap_or_default();
    blocks("Shared Hit Blocks") + blocks("Shared Read Blocks")
}

/// The indexes that a plan reads without a condition.
fn whole_indexes(plan: &Value) -> Vec<&str> {
    let whole = parts_of(plan)
        .into_iter()
        .filter(|part| part["Index Cond"].is_null());
    whole.filter_map(|part| part["Index Name"].as_str()).collect()
}

/// A plan and all its parts.
fn parts_of(plan: &Value) -> Vec<&Value> {
    let parts = plan["Plans"].as_array().into_iter().flatten();
    std::iter::once(plan).chain(parts.flat_map(parts_of)).collect()
}
