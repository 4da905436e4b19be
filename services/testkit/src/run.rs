//! What `with-services` started for this test run, and how its tests find it.

use std::path::PathBuf;
use std::sync::OnceLock;

/// The variables by which a run is handed on.
pub const POSTGRES_VARIABLE: &str = "HUB_TEST_POSTGRES";
/// A database that is migrated and empty, to be copied.
pub const TEMPLATE_VARIABLE: &str = "HUB_TEST_TEMPLATE";
/// NATS with JetStream.
pub const NATS_VARIABLE: &str = "HUB_TEST_NATS";
/// A folder that is removed when the run ends.
pub const DIR_VARIABLE: &str = "HUB_TEST_DIR";

/// A PostgreSQL and a NATS that all tests of a run share.
#[derive(Clone, Debug)]
pub struct Run {
    /// The maintenance database, as superuser.
    pub postgres: String,
    /// The name of the migrated database that every test gets a copy of.
    pub template: String,
    /// NATS.
    pub nats: String,
    /// Certificates, logs, and whatever a test leaves.
    pub dir: PathBuf,
}

impl Run {
    /// The run that this process belongs to.
    pub fn current() -> &'static Self {
        static CURRENT: OnceLock<Run> = OnceLock::new();
        CURRENT.get_or_init(|| Self {
            postgres: variable(POSTGRES_VARIABLE),
            template: variable(TEMPLATE_VARIABLE),
            nats: variable(NATS_VARIABLE),
            dir: variable(DIR_VARIABLE).into(),
        })
    }

    /// The variables that hand it on.
    pub fn variables(&self) -> [(&'static str, String); 4] {
        [
            (POSTGRES_VARIABLE, self.postgres.clone()),
            (TEMPLATE_VARIABLE, self.template.clone()),
            (NATS_VARIABLE, self.nats.clone()),
            (DIR_VARIABLE, self.dir.display().to_string()),
        ]
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| {
        panic!(
            "{name} is not set: start tests with `make test`, or with \
             `cargo run -p hub-testkit --bin with-services -- cargo test …`"
        )
    })
}
