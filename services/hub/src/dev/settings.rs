//! What a development hub is told by its environment, and what it tells each tier.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context as _;
use hub_platform::config::Config;

/// Variables of `ma2h-hub dev` itself.
const FOLDER_VARIABLE: &str = "HUB_DEV_DIR";
const REPLICAS_VARIABLE: &str = "HUB_REPLICAS";
const REPLICAS_MAX: usize = 16;

/// What development takes where the environment says nothing else.
const DEFAULTS: [(&str, &str); 4] = [
    ("HUB_BIND", "127.0.0.1"),
    ("HUB_LOG_FORMAT", "text"),
    ("HUB_DEVELOPMENT", "true"),
    ("HUB_SHUTDOWN_GRACE_SECONDS", "5"),
];

/// How a development hub shall run.
pub(crate) struct Settings {
    /// Where it keeps everything.
    pub folder: PathBuf,
    /// Of each tier.
    pub replicas: usize,
    /// What all tiers have in common.
    pub config: Config,
    /// Whether the database and NATS were given, rather than to be started.
    pub given_database: bool,
    pub given_nats: bool,
}

impl Settings {
    /// Reads them from the environment.
    pub(crate) fn read(environment: impl Iterator<Item = (String, String)>) -> anyhow::Result<Self> {
        let mut variables: BTreeMap<String, String> = DEFAULTS
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        variables.extend(environment.filter(|(name, _)| name.starts_with("HUB_")));

        let folder = variables
            .remove(FOLDER_VARIABLE)
            .filter(|folder| !folder.is_empty());
        let replicas = match variables.remove(REPLICAS_VARIABLE) {
            None => 1,
            Some(text) => text
                .parse()
                .ok()
                .filter(|replicas| (1..=REPLICAS_MAX).contains(replicas))
                .with_context(|| {
                    format!("{REPLICAS_VARIABLE}: expected 1 to {REPLICAS_MAX} replicas of each tier")
                })?,
        };
        let config = Config::load(variables)?;
        Ok(Self {
            folder: folder.map_or_else(|| PathBuf::from(".hub"), PathBuf::from),
            replicas,
            given_database: !config.database.url.is_empty(),
            given_nats: !config.nats.url.is_empty(),
            config,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> anyhow::Result<Settings> {
        Settings::read(
            variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    #[test]
    fn the_environment_goes_before_what_development_takes() {
        let settings = read(&[]).unwrap();
        assert!(settings.config.security.development);
        assert_eq!(
            (settings.replicas, settings.folder.as_path()),
            (1, ".hub".as_ref())
        );

        let settings = read(&[
            ("HUB_BIND", "0.0.0.0"),
            ("HUB_REPLICAS", "2"),
            ("HUB_DEV_DIR", "/tmp/hub"),
        ])
        .unwrap();
        assert!(settings.config.gateway.bind.is_unspecified());
        assert_eq!(
            (settings.replicas, settings.folder.as_path()),
            (2, "/tmp/hub".as_ref())
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (name, value) in [
            ("HUB_REPLICAS", "0"),
            ("HUB_REPLICAS", "many"),
            ("HUB_NONSENSE", "1"),
            ("HUB_PORT", "x"),
        ] {
            let error = format!("{:#}", read(&[(name, value)]).err().unwrap());
            assert!(error.contains(name), "{error}");
        }
    }
}
