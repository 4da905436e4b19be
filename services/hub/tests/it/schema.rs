//! The migrated schema: every statement fits it and its tier's role; a role writes its own schema and no other.

use std::collections::{BTreeMap, BTreeSet};

use hub_platform::db::Tier;
use hub_testkit::database::Database;
use ma2h_hub::tiers;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Planning for execution checks what preparing does not: whether the role may do it.
#[tokio::test]
async fn every_statement_fits_the_schema_and_the_role_of_its_tier() {
    let database = Database::create().await;
    for tier in Tier::ALL {
        let client = acting_as(&database, tier).await;
        let statements = tiers::statements(tier);
        assert!(!statements.is_empty(), "{tier} has no statements");
        for (name, sql) in statements {
            assert!(
                sql.trim_start().starts_with("--"),
                "{tier}: {name} does not open with what it decides"
            );
            let prepared = client.prepare(sql).await;
            let prepared = prepared.unwrap_or_else(|error| panic!("{tier}: {name}: {error:?}"));
            let arguments = vec!["NULL"; prepared.params().len()].join(", ");
            let arguments = if arguments.is_empty() {
                arguments
            } else {
                format!("({arguments})")
            };
            let plan =
                format!("PREPARE planned AS {sql};\nEXPLAIN EXECUTE planned{arguments};\nDEALLOCATE planned");
            let planned = client.batch_execute(&plan).await;
            planned.unwrap_or_else(|error| panic!("{tier}: {name}: {error:?}"));
        }
    }
}

/// Statements that read a whole table, which is meant: they count, up to a bound or before a key is dropped.
const COUNTING: [&str; 2] = ["health/count", "reseal/count"];
/// Tables of a few rows for the whole installation.
const SMALL: [&str; 1] = ["signing_keys"];

/// What cannot use its index, as where two columns compare by different collations, would read the rows of all accounts.
#[tokio::test]
async fn what_is_looked_up_is_found_by_an_index() {
    let database = Database::create().await;
    for tier in Tier::ALL {
        let client = acting_as(&database, tier).await;
        let by_index = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
                        SET enable_hashjoin = off; SET enable_mergejoin = off";
        client.batch_execute(by_index).await.unwrap();
        for (name, sql) in tiers::statements(tier) {
            let plan = plan(&client, sql).await;
            let scanned = plan.iter().filter_map(|line| line.split_once("Seq Scan on "));
            for (_, table) in scanned.filter(|_| !COUNTING.contains(&name)) {
                let table = table.split(' ').next().unwrap();
                assert!(
                    SMALL.contains(&table),
                    "{tier}: {name} reads all of {table}: {plan:#?}"
                );
            }
        }
    }
}

/// For a question that a statement asks of each row PostgreSQL may prepare by reading a whole table, if that seems cheaper: it
/// knows nothing of the dead rows that an old snapshot keeps there. `OFFSET 0` in the question leaves it no choice.
#[tokio::test]
async fn what_is_asked_of_each_row_is_found_by_an_index() {
    let database = Database::create().await;
    for tier in Tier::ALL {
        let client = acting_as(&database, tier).await;
        let whole_tables_cost_nothing = "SET plan_cache_mode = force_generic_plan; SET seq_page_cost = 0;
             SET cpu_tuple_cost = 0; SET cpu_operator_cost = 0; SET random_page_cost = 1000000";
        client.batch_execute(whole_tables_cost_nothing).await.unwrap();
        for (name, sql) in tiers::statements(tier) {
            // Only this shows what is asked for a column of the result.
            let plan = explained(&client, "VERBOSE", sql).await.unwrap();
            let is_prepared = plan.iter().any(|line| line.contains("hashed SubPlan"));
            assert!(!is_prepared, "{tier}: {name}: {plan:#?}");
        }
    }
}

/// The partial indexes of lifecycle, but for lists, with the statements that go through them, or might, apart from [`KEYED`].
const QUEUES: [(&str, &[&str]); 18] = [
    ("acks_pushed", &["claim pushes"]),
    ("broadcast_recipients_pending", &["read a chunk of a broadcast"]),
    ("broadcasts_over", &["purge broadcasts"]),
    ("broadcasts_under_way", &[]),
    ("broadcasts_owed", &["count owed broadcasts", "relay broadcasts"]),
    ("claims_put_back", &["claim entries", "find filled mailboxes"]),
    ("entries_claimed", &["claim entries", "unclaim entries"]),
    ("entries_dropping", &["take overdue entries"]),
    ("entries_kept", &["purge directives"]),
    ("entries_orphaned", &["take overdue entries"]),
    (
        "entries_waiting",
        &[
            "claim entries",
            "count waiting entries",
            "empty closed mailboxes",
            "find filled mailboxes",
            "take overdue entries",
        ],
    ),
    (
        "messages_expiring",
        &["find overdue messages of an account", "take overdue messages"],
    ),
    ("messages_kept", &["take ended messages"]),
    ("messages_waiting", &[]),
    ("pushes_due", &["count owed pushes", "relay pushes"]),
    ("pushes_exhausted", &["list exhausted pushes"]),
    (
        "pushes_held",
        &["count held pushes", "release moved pushes", "release pushes"],
    ),
    ("pushes_held_for_webhooks", &["release moved pushes"]),
];
/// Cannot be planned without a key: they ask which row is in the way of theirs.
const KEYED: [&str; 11] = [
    "charge submit",
    "close mailboxes",
    "insert broadcast",
    "insert directive",
    "insert message",
    "reserve broadcast",
    "reserve directive",
    "reserve key",
    "reserve key of a human",
    "reserve message",
    "settle pushes",
];

/// An index of a queue has few living entries, and under an old snapshot any number of dead ones: PostgreSQL may take it where a
/// key is looked up, if it recognizes its condition there. Left alone with it, it takes it wherever it serves.
#[tokio::test]
async fn the_index_of_a_queue_is_offered_to_those_who_go_through_the_queue() {
    let database = Database::create().await;
    let client = database.connect().await;
    let by_index = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off";
    client.batch_execute(by_index).await.unwrap();
    let mut offered: BTreeMap<String, BTreeSet<&str>> = partial_indexes(&client).await;
    for (index, names) in &mut offered {
        client.batch_execute("BEGIN").await.unwrap();
        client.batch_execute(&drop_all_but(index)).await.unwrap();
        for (name, sql) in tiers::statements(Tier::Lifecycle) {
            client.batch_execute("SAVEPOINT planned").await.unwrap();
            let plan = explained(&client, "COSTS OFF", sql).await;
            client.batch_execute("ROLLBACK TO planned").await.unwrap();
            match plan {
                Ok(plan) if plan.iter().any(|line| index_of(line) == Some(index.as_str())) => {
                    names.insert(name);
                }
                Ok(_) => {}
                Err(error) => {
                    assert_eq!(error.code(), Some(&SqlState::INVALID_COLUMN_REFERENCE), "{name}");
                    assert!(KEYED.contains(&name), "{name}");
                    client.batch_execute("DEALLOCATE planned").await.unwrap();
                }
            }
        }
        client.batch_execute("ROLLBACK").await.unwrap();
    }
    let expected = QUEUES
        .iter()
        .map(|(index, names)| ((*index).to_owned(), names.iter().copied().collect()));
    assert_eq!(offered, expected.collect());
}

async fn partial_indexes<T: Default>(client: &Client) -> BTreeMap<String, T> {
    let sql = "SELECT relname
               FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
               WHERE indpred IS NOT NULL AND relnamespace = 'lifecycle'::regnamespace
                   AND indrelid <> 'lifecycle.envelopes'::regclass";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter()
        .map(|row| (row.get("relname"), T::default()))
        .collect()
}

/// Drops lifecycle's indexes, and the keys that they serve.
fn drop_all_but(index: &str) -> String {
    format!(
        "DO $$
        DECLARE
            statement text;
        BEGIN
            FOR statement IN
                SELECT coalesce(
                    'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || conname,
                    'DROP INDEX ' || indexrelid::regclass)
                FROM pg_index
                JOIN pg_class ON pg_class.oid = indexrelid
                LEFT JOIN pg_constraint ON conindid = indexrelid AND contype = 'p'
                WHERE pg_class.relnamespace = 'lifecycle'::regnamespace AND relname <> '{index}'
            LOOP
                EXECUTE statement;
            END LOOP;
        END $$"
    )
}

/// The index that a line of a plan reads.
fn index_of(line: &str) -> Option<&str> {
    let (_, rest) = line
        .split_once(" using ")
        .or_else(|| line.split_once("Bitmap Index Scan on "))?;
    rest.split(' ').next()
}

#[tokio::test]
async fn a_tier_writes_its_own_schema_only() {
    let database = Database::create().await;
    for tier in Tier::ALL {
        let client = acting_as(&database, tier).await;
        for owner in Tier::ALL {
            let tables = relations(&client, owner, "r").await;
            assert!(!tables.is_empty(), "{owner} has no tables");
            for table in tables {
                for attempt in attempts(&table) {
                    let outcome = attempted(&client, &attempt).await;
                    assert_eq!(outcome, expected(tier, owner, &attempt), "{tier}: {attempt}");
                }
            }
            let created = attempted(&client, &format!("CREATE TABLE {}.own (id int)", owner.schema())).await;
            assert_eq!(
                created,
                Outcome::Refused,
                "{tier} created a table in {}",
                owner.schema()
            );
        }
        let created = attempted(&client, "CREATE TABLE public.own (id int)").await;
        assert_eq!(created, Outcome::Refused, "{tier} created a table in public");
    }
}

/// Across tiers only versioned views are readable, and never writable.
#[tokio::test]
async fn what_a_tier_reads_of_another_is_a_published_view() {
    let database = Database::create().await;
    for tier in Tier::ALL {
        let client = acting_as(&database, tier).await;
        for owner in Tier::ALL.into_iter().filter(|owner| *owner != tier) {
            for view in relations(&client, owner, "v").await {
                let (_, version) = view
                    .rsplit_once("_v")
                    .unwrap_or_else(|| panic!("{view} has no version"));
                version
                    .parse::<u32>()
                    .unwrap_or_else(|_| panic!("{view} has no version"));
                let written = attempted(&client, &format!("DELETE FROM {view} WHERE false")).await;
                assert_eq!(written, Outcome::Refused, "{tier} writes through {view}");
            }
        }
    }
}

#[derive(Debug, Eq, PartialEq)]
enum Outcome {
    Allowed,
    Refused,
}

fn attempts(table: &str) -> [String; 5] {
    [
        format!("SELECT FROM {table} WHERE false"),
        format!("INSERT INTO {table} SELECT * FROM {table} WHERE false"),
        format!("DELETE FROM {table} WHERE false"),
        format!("TRUNCATE {table}"),
        format!("ALTER TABLE {table} ADD COLUMN own int"),
    ]
}

fn expected(tier: Tier, owner: Tier, attempt: &str) -> Outcome {
    let is_rows = !["TRUNCATE", "ALTER"].iter().any(|verb| attempt.starts_with(verb));
    // What was applied is for `migrate` to write.
    let is_writable = !attempt.contains(".migration_history") || attempt.starts_with("SELECT");
    if tier == owner && is_rows && is_writable {
        Outcome::Allowed
    } else {
        Outcome::Refused
    }
}

/// The plan of a statement for any values, line by line.
async fn plan(client: &Client, sql: &str) -> Vec<String> {
    explained(client, "COSTS", sql).await.unwrap()
}

async fn explained(client: &Client, option: &str, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
    let values = client.prepare(sql).await?.params().len();
    let arguments = match values {
        0 => String::new(),
        values => format!("({})", vec!["NULL"; values].join(", ")),
    };
    client.batch_execute(&format!("PREPARE planned AS {sql}")).await?;
    let explained = client
        .simple_query(&format!("EXPLAIN ({option}) EXECUTE planned{arguments}"))
        .await?;
    client.batch_execute("DEALLOCATE planned").await?;
    let lines = explained.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    Ok(lines.collect())
}

async fn attempted(client: &Client, statement: &str) -> Outcome {
    // The second is what a view says that nobody can write through.
    let refusals = [
        SqlState::INSUFFICIENT_PRIVILEGE,
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
    ];
    match client.batch_execute(statement).await {
        Ok(()) => Outcome::Allowed,
        Err(error) if error.code().is_some_and(|code| refusals.contains(code)) => Outcome::Refused,
        Err(error) => panic!("{statement}: {error:?}"),
    }
}

/// The relations of a kind in a tier's schema, qualified.
async fn relations(client: &Client, owner: Tier, kind: &str) -> Vec<String> {
    let sql = "SELECT format('%I.%I', nspname, relname)
               FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
               WHERE n.nspname = $1 AND c.relkind::text = $2
                   AND (c.relkind <> 'v' OR pg_catalog.has_table_privilege(c.oid, 'SELECT'))
               ORDER BY 1";
    let rows = client.query(sql, &[&owner.schema(), &kind]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

async fn acting_as(database: &Database, tier: Tier) -> Client {
    let client = database.connect().await;
    client
        .batch_execute(&format!("SET ROLE {}", tier.role()))
        .await
        .unwrap();
    client
}
