//! A database of its own for each test, copied from the migrated one.

use tokio_postgres::{Client, Config, NoTls};

use crate::run::Run;

/// A migrated, empty database.
#[derive(Clone, Debug)]
pub struct Database {
    /// Its address, as superuser.
    pub url: String,
}

impl Database {
    /// Copies the run's template. It goes when the run ends.
    pub async fn create() -> Self {
        let run = Run::current();
        let name = format!("test_{}", crate::unique());
        let maintenance = connect(&run.postgres).await;
        let statement = format!("CREATE DATABASE {name} TEMPLATE {}", run.template);
        maintenance
            .batch_execute(&statement)
            .await
            .expect("copy the migrated database");
        Self {
            url: with_database(&run.postgres, &name),
        }
    }

    /// A connection to it as superuser, for a test to look behind the hub.
    pub async fn connect(&self) -> Client {
        connect(&self.url).await
    }
}

/// A connection that ends with its client.
pub async fn connect(url: &str) -> Client {
    let config: Config = url.parse().expect("a PostgreSQL URL");
    let (client, connection) = config.connect(NoTls).await.expect("connect to PostgreSQL");
    tokio::spawn(connection);
    client
}

/// The same server's address with another database.
pub fn with_database(url: &str, database: &str) -> String {
    let (server, _) = url.rsplit_once('/').expect("a PostgreSQL URL names a database");
    format!("{server}/{database}")
}
