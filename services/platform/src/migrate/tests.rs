//! Against a real server: several at once, and each role only where it belongs.

use tokio_postgres::{Client, NoTls};

use super::{TierMigrations, check, run};
use crate::config::{Config, Secret};
use crate::db::{self, Tier};
use crate::servers::{Postgres, PostgresOptions};

fn migrations() -> Vec<TierMigrations> {
    let delivery = vec![
        (
            "V1__secrets",
            "CREATE TABLE delivery.secrets (id bigserial PRIMARY KEY, host text NOT NULL)",
        ),
        (
            "V2__hosts",
            "CREATE VIEW delivery.hosts_v1 AS SELECT host FROM delivery.secrets; \
             GRANT USAGE ON SCHEMA delivery TO hub_lifecycle; \
             GRANT SELECT ON delivery.hosts_v1 TO hub_lifecycle",
        ),
    ];
    let lifecycle = vec![(
        "V1__messages",
        "CREATE TABLE lifecycle.messages (id text PRIMARY KEY)",
    )];
    vec![
        TierMigrations {
            tier: Tier::Lifecycle,
            migrations: lifecycle,
        },
        TierMigrations {
            tier: Tier::Delivery,
            migrations: delivery,
        },
    ]
}

async fn connect(url: &Secret) -> Client {
    let (client, connection) = tokio_postgres::connect(url.expose(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn pool(url: &Secret, tier: Tier) -> db::Pool {
    let variables = [
        ("HUB_DATABASE_URL", url.expose()),
        ("HUB_DATABASE_POOL_SIZE", "1"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let acquire = ("HUB_DATABASE_ACQUIRE_TIMEOUT_MS".to_owned(), "50".to_owned());
    let config = Config::load(variables.into_iter().chain([acquire])).unwrap();
    db::connect(&config.database, tier).unwrap()
}

#[tokio::test]
async fn several_migrate_at_once_and_each_role_writes_its_own_schema_only() {
    let dir = tempfile::tempdir().unwrap();
    let options = PostgresOptions {
        dir: dir.path().join("postgres"),
        port: 0,
        fsync: false,
    };
    let postgres = Postgres::start(options).await.unwrap();
    let admin = connect(&postgres.url).await;

    let mut runs = tokio::task::JoinSet::new();
    for database in ["one", "two", "three"] {
        admin
            .batch_execute(&format!("CREATE DATABASE {database}"))
            .await
            .unwrap();
        for _ in 0..4 {
            let url = postgres.url_of(database);
            runs.spawn(async move { run(&url, &migrations()).await.unwrap() });
        }
    }
    let applied: Vec<_> = runs.join_all().await.into_iter().flatten().collect();
    assert_eq!(applied.len(), 9, "{applied:?}");
    assert!(applied.contains(&"delivery V2__hosts".to_owned()));

    let url = postgres.url_of("one");
    let older = &migrations()[..1];
    assert_eq!(run(&url, older).await.unwrap(), Vec::<String>::new());
    roles_stay_in_their_schema(&url).await;
    a_busy_pool_is_unavailable(&url).await;
    a_database_that_was_not_migrated_is_told(&admin, &postgres).await;
    postgres.stop().await.unwrap();
}

async fn roles_stay_in_their_schema(url: &Secret) {
    let lifecycle = pool(url, Tier::Lifecycle).get().await.unwrap();
    let role = lifecycle
        .query_one("SELECT current_user::text", &[])
        .await
        .unwrap();
    assert_eq!(role.get::<_, String>(0), "hub_lifecycle");
    let allowed = [
        "INSERT INTO lifecycle.messages (id) VALUES ('msg_1')",
        "DELETE FROM lifecycle.messages",
        "SELECT host FROM delivery.hosts_v1",
        "SELECT version FROM lifecycle.migration_history",
    ];
    for statement in allowed {
        lifecycle.execute(statement, &[]).await.unwrap();
    }
    let refused = [
        "SELECT host FROM delivery.secrets",
        "INSERT INTO delivery.secrets (host) VALUES ('a')",
        "DELETE FROM delivery.hosts_v1",
        "DELETE FROM lifecycle.migration_history",
        "CREATE TABLE lifecycle.more (id integer)",
        "CREATE SCHEMA more",
    ];
    for statement in refused {
        let error = db::Error::from(lifecycle.execute(statement, &[]).await.unwrap_err());
        assert_eq!(error.sql_state().unwrap().code(), "42501", "{statement}: {error}");
        assert!(!error.is_unavailable());
    }
    let delivery = pool(url, Tier::Delivery).get().await.unwrap();
    delivery
        .execute("INSERT INTO delivery.secrets (host) VALUES ('a')", &[])
        .await
        .unwrap();
}

async fn a_database_that_was_not_migrated_is_told(admin: &Client, postgres: &Postgres) {
    admin.batch_execute("CREATE DATABASE four").await.unwrap();
    let url = postgres.url_of("four");
    let delivery = &migrations()[1];
    let told = async |of_tier| {
        let outcome = check(&pool(&url, Tier::Delivery), of_tier).await;
        outcome.err().map(|error| error.to_string())
    };
    let behind = "the database lacks V2__hosts of delivery: run `ma2h-hub migrate` first";
    assert_eq!(told(delivery).await.as_deref(), Some(behind));
    let older = TierMigrations {
        migrations: delivery.migrations[..1].to_vec(),
        ..*delivery
    };
    run(&url, std::slice::from_ref(&older)).await.unwrap();
    assert_eq!(told(&older).await, None);
    assert_eq!(told(delivery).await.as_deref(), Some(behind));
    run(&url, &migrations()).await.unwrap();
    assert_eq!(told(delivery).await, None);
    // An older release beside a newer one.
    assert_eq!(told(&older).await, None);
    let nowhere = pool(
        &Secret::new("postgres://hub:secret@127.0.0.1:1/hub"),
        Tier::Delivery,
    );
    check(&nowhere, delivery).await.unwrap();
}

async fn a_busy_pool_is_unavailable(url: &Secret) {
    let pool = pool(url, Tier::Presence);
    let _held = pool.get().await.unwrap();
    let error = db::Error::from(pool.get().await.unwrap_err());
    assert_eq!(db::problem(&error).code, ma2h::error::ErrorCode::Unavailable);
    assert_eq!(error.to_string(), "no database connection was free in time");
}

#[tokio::test]
async fn a_server_that_is_away_is_unavailable() {
    let nowhere = Secret::new("postgres://hub:secret@127.0.0.1:1/hub");
    let error = run(&nowhere, &[]).await.unwrap_err();
    assert!(
        error.to_string().starts_with("connect: ") && !error.to_string().contains("secret"),
        "{error}"
    );
    let error = db::Error::from(pool(&nowhere, Tier::Gateway).get().await.unwrap_err());
    assert!(error.is_unavailable());
}

#[tokio::test]
async fn a_url_that_cannot_be_honoured_is_refused() {
    for (url, expected) in [
        ("", "HUB_DATABASE_URL is not set"),
        (
            "postgres://a/b?sslmode=require",
            "HUB_DATABASE_URL: sslmode=require is not supported",
        ),
        (
            "secret",
            "HUB_DATABASE_URL: expected postgres://user:password@host:port/name",
        ),
    ] {
        let error = run(&Secret::new(url), &[]).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}
