//! The servers for real, in private directories.

use std::path::Path;

use tokio_postgres::{Client, NoTls};

use super::{Nats, NatsOptions, Postgres, PostgresOptions};
use crate::config::Secret;

fn options(dir: &Path, port: u16) -> PostgresOptions {
    PostgresOptions {
        dir: dir.join("postgres"),
        port,
        fsync: false,
    }
}

async fn connect(url: &Secret) -> Client {
    let (client, connection) = tokio_postgres::connect(url.expose(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn postgres_keeps_its_data_and_its_address() {
    let dir = tempfile::tempdir().unwrap();
    let first = Postgres::start(options(dir.path(), 0)).await.unwrap();
    let client = connect(&first.url).await;
    for statement in ["CREATE TABLE public.kept (id integer)", "CREATE DATABASE other"] {
        client.batch_execute(statement).await.unwrap();
    }
    connect(&first.url_of("other"))
        .await
        .simple_query("SELECT 1")
        .await
        .unwrap();
    first.kill().await.unwrap();
    assert!(!first.wait().await.unwrap().success());

    // The same directory and port, as a supervisor restarts it.
    let second = Postgres::start(options(dir.path(), first.port)).await.unwrap();
    assert_eq!(second.url, first.url);
    let client = connect(&second.url).await;
    client.simple_query("SELECT id FROM public.kept").await.unwrap();
    // A client that stays connected does not hold up the end.
    second.stop().await.unwrap();

    let wrong = Secret::new(second.url.expose().replace("postgres:", "postgres:x"));
    let third = Postgres::start(options(dir.path(), 0)).await.unwrap();
    assert!(tokio_postgres::connect(wrong.expose(), NoTls).await.is_err());
    third.stop().await.unwrap();
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = Nats::start(NatsOptions {
        dir: dir.path().join("nats"),
        port,
    })
    .await
    .unwrap_err();
    assert!(error.to_string().contains("address already in use"), "{error}");
    let error = Postgres::start(options(dir.path(), port)).await.unwrap_err();
    assert!(
        error.to_string().contains("could not create any TCP/IP sockets"),
        "{error}"
    );
}

#[tokio::test]
async fn nats_comes_back_on_its_address() {
    let dir = tempfile::tempdir().unwrap();
    let options = |port| NatsOptions {
        dir: dir.path().join("nats"),
        port,
    };
    let first = Nats::start(options(0)).await.unwrap();
    async_nats::connect(first.url.expose()).await.unwrap();
    first.kill().await.unwrap();
    let second = Nats::start(options(first.port)).await.unwrap();
    assert_eq!(second.url, first.url);
    second.stop().await.unwrap();
    assert!(second.wait().await.is_ok());
}
