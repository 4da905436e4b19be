//! The database and NATS of a development hub: given ones, or private ones as children.

use std::path::Path;

use anyhow::Context as _;
use hub_platform::config::Secret;
use hub_platform::servers::{Nats, NatsOptions, Postgres, PostgresOptions};
use tokio_postgres::NoTls;

use super::board::{Board, Slot, What};
use super::state::State;
use super::supervise::{Kept, KeptNats, KeptPostgres};

/// The database of a private PostgreSQL.
const DATABASE: &str = "hub";

/// Private servers that run; none where the environment gave one.
#[derive(Default)]
pub(crate) struct Services {
    postgres: Option<Kept>,
    nats: Option<Kept>,
}

impl Services {
    /// Starts a private PostgreSQL with the hub's database; returns its address.
    pub(crate) async fn start_postgres(
        &mut self,
        folder: &Path,
        state: &mut State,
        board: &Board,
    ) -> anyhow::Result<Secret> {
        let options = PostgresOptions {
            dir: folder.join("postgres"),
            port: one_port(state, "postgres")?,
            fsync: true,
        };
        let running = Postgres::start(options.clone()).await?;
        let (maintenance, url, pid) = (running.url.clone(), running.url_of(DATABASE), running.pid);
        let slot = Slot {
            what: What::Postgres,
            replica: 0,
        };
        let child = KeptPostgres { options, running };
        self.postgres = Some(Kept::started(child, pid, slot, board.clone()));
        create_database(&maintenance)
            .await
            .with_context(|| format!("create the database {DATABASE}"))?;
        Ok(url)
    }

    /// Starts a private NATS; returns its address.
    pub(crate) async fn start_nats(
        &mut self,
        folder: &Path,
        state: &mut State,
        board: &Board,
    ) -> anyhow::Result<Secret> {
        let options = NatsOptions {
            dir: folder.join("nats"),
            port: one_port(state, "nats")?,
        };
        let running = Nats::start(options.clone()).await?;
        let (url, pid) = (running.url.clone(), running.pid);
        let slot = Slot {
            what: What::Nats,
            replica: 0,
        };
        let child = KeptNats { options, running };
        self.nats = Some(Kept::started(child, pid, slot, board.clone()));
        Ok(url)
    }

    /// Stops NATS, then PostgreSQL: the truth goes last.
    pub(crate) async fn stop(&mut self) {
        for kept in [self.nats.take(), self.postgres.take()].into_iter().flatten() {
            kept.stopped().await;
        }
    }
}

fn one_port(state: &mut State, listener: &str) -> anyhow::Result<u16> {
    let ports = state.ports(listener, 1)?;
    state.save()?;
    Ok(ports[0])
}

async fn create_database(maintenance: &Secret) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(maintenance.expose(), NoTls).await?;
    let connection = tokio::spawn(connection);
    let exists = client
        .query_opt("SELECT FROM pg_database WHERE datname = $1", &[&DATABASE])
        .await?
        .is_some();
    if !exists {
        client
            .batch_execute(&format!("CREATE DATABASE {DATABASE}"))
            .await?;
    }
    drop(client);
    // It ends with its client; how does not matter any more.
    connection.await.ok();
    Ok(())
}
