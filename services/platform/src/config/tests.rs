use std::collections::{BTreeSet, HashSet};
use std::io::Write;

use super::{Config, LogFormat};

fn load(variables: &[(&str, &str)]) -> Result<Config, String> {
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::load(variables).map_err(|error| error.to_string())
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn path(file: &tempfile::NamedTempFile) -> &str {
    file.path().to_str().unwrap()
}

#[test]
fn every_default_is_within_its_range() {
    let config = load(&[]).unwrap();
    assert_eq!(config.gateway.addr().to_string(), "0.0.0.0:8443");
    assert_eq!(config.limits.max_envelope_bytes, 8_388_608);
    assert_eq!(config.callback.backoff_factor.to_string(), "3");
    assert_eq!(config.rate_limit.inter_agent_requests_per_minute, None);
    assert_eq!(config.telemetry.log_format, LogFormat::Json);
    assert!(config.database.url.is_empty());
    assert_eq!(config.to_env(), []);
}

#[test]
fn the_documented_variables_have_the_documented_defaults() {
    let documented = [
        ("HUB_PORT", "8443"),
        ("HUB_PUBLIC_URL", ""),
        ("HUB_MAX_BODY_BYTES", "65536"),
        ("HUB_MAX_PART_BYTES", "262144"),
        ("HUB_MAX_CONTEXT_PARTS", "16"),
        ("HUB_MAX_ENVELOPE_BYTES", "8388608"),
        ("HUB_RATE_LIMIT_REQUESTS_PER_MINUTE", "60"),
        ("HUB_RATE_LIMIT_INTER_AGENT_REQUESTS_PER_MINUTE", ""),
        ("HUB_RATE_LIMIT_INBOX_DEPTH", "1000"),
        ("HUB_IDEMPOTENCY_TTL_SECONDS", "86400"),
        ("HUB_RETENTION_SECONDS", "2592000"),
        ("HUB_RETENTION_GRACE_SECONDS", "86400"),
        ("HUB_INBOUND_RETENTION_SECONDS", "2592000"),
        ("HUB_REPLAY_WINDOW_SECONDS", "120"),
        ("HUB_INBOUND_MAX_BATCH", "32"),
        ("HUB_INBOUND_VISIBILITY_TIMEOUT_SECONDS", "60"),
        ("HUB_STREAM_MAX_HOLD_SECONDS", "60"),
        ("HUB_PRESENCE_FRESHNESS_SECONDS", "90"),
        ("HUB_SESSIONS_MIN_TTL_SECONDS", "120"),
        ("HUB_SESSIONS_MAX_TTL_SECONDS", "3600"),
        ("HUB_SESSIONS_DEFAULT_TTL_SECONDS", "900"),
        ("HUB_SESSIONS_MAX_LIVE_PER_AGENT", "16"),
        ("HUB_SESSIONS_TERMINAL_RETENTION_SECONDS", "86400"),
        ("HUB_SESSIONS_AGENT_LIST_VISIBILITY", "false"),
        ("HUB_CALLBACK_FIRST_DELAY_MS", "1000"),
        ("HUB_CALLBACK_BACKOFF_FACTOR", "3"),
        ("HUB_CALLBACK_MAX_DELAY_MS", "900000"),
        ("HUB_CALLBACK_MAX_ATTEMPTS", "8"),
        ("HUB_CALLBACK_MAX_DURATION_SECONDS", "86400"),
        ("HUB_CALLBACK_TIMEOUT_MS", "15000"),
        ("HUB_SWEEP_INTERVAL_MS", "1000"),
        ("HUB_ADMIN_TOKEN", ""),
        ("HUB_DATABASE_URL", ""),
        ("HUB_NATS_URL", ""),
        ("HUB_KEY_ENCRYPTION_KEY", ""),
    ];
    let fields = Config::fields();
    for (variable, default) in documented {
        let field = fields
            .iter()
            .find(|field| field.variable == variable)
            .unwrap_or_else(|| panic!("{variable}"));
        assert_eq!(field.default, default, "{variable}");
    }
}

#[test]
fn every_variable_and_key_stands_once() {
    let fields = Config::fields();
    let variables: HashSet<_> = fields.iter().map(|field| field.variable).collect();
    let keys: HashSet<_> = fields.iter().map(|field| (field.table, field.name)).collect();
    assert_eq!((variables.len(), keys.len()), (fields.len(), fields.len()));
    let also_files: BTreeSet<_> = fields.iter().filter_map(|field| field.file_variable()).collect();
    let expected = [
        "HUB_ADMIN_TOKEN",
        "HUB_DATABASE_URL",
        "HUB_KEY_ENCRYPTION_KEY",
        "HUB_KEY_ENCRYPTION_KEYS_ACCEPTED",
        "HUB_NATS_URL",
    ];
    assert_eq!(also_files, expected.map(|name| format!("{name}_FILE")).into());
}

#[test]
fn the_environment_stands_over_the_file() {
    let file = file(
        "[gateway]\nport = 1\ntrusted_proxies = [\"10.0.0.0/8\", \"::1\"]\nbehind_tls_proxy = true\n\
         [callback]\nbackoff_factor = 1.5\n[telemetry]\nlog_format = \"text\"\n",
    );
    let config = load(&[("HUB_CONFIG", path(&file)), ("HUB_PORT", "2")]).unwrap();
    assert_eq!(config.gateway.port, 2);
    let proxies = &config.gateway.trusted_proxies;
    assert_eq!(
        proxies.as_slice(),
        ["10.0.0.0/8", "::1"].map(|text| text.parse().unwrap())
    );
    assert!(config.gateway.behind_tls_proxy);
    assert_eq!(config.callback.backoff_factor.to_string(), "1.5");
    assert_eq!(config.telemetry.log_format, LogFormat::Text);
}

#[test]
fn what_is_wrong_is_named_and_never_shown() {
    let unknown_table = file("[gatewy]\nport = 1\n");
    let unknown_key = file("[gateway]\nprot = 1\n");
    let loose_key = file("port = 1\n");
    let no_toml = file("secret-in-a-broken-line = = =");
    let wrong_kind = file("[gateway]\nport = \"secret\"\n");
    let cases: [(&[(&str, &str)], &str); 23] = [
        (&[("HUB_PROT", "1")], "HUB_PROT is not a setting of the hub"),
        (
            &[("HUB_PORT_FILE", "x")],
            "HUB_PORT_FILE is not a setting of the hub",
        ),
        (&[("HUB_PORT", "secret")], "HUB_PORT: expected a whole number"),
        (
            &[("HUB_MAX_BODY_BYTES", "1")],
            "HUB_MAX_BODY_BYTES: expected 1024 to 1048576 (bytes)",
        ),
        (
            &[("HUB_CALLBACK_BACKOFF_FACTOR", "0.5")],
            "HUB_CALLBACK_BACKOFF_FACTOR: expected 1 to 100 (factor)",
        ),
        (
            &[("HUB_GATEWAY_WAIT_MAX_SECONDS", "61")],
            "HUB_GATEWAY_WAIT_MAX_SECONDS: expected 1 to 60 (seconds)",
        ),
        (
            &[("HUB_DEVELOPMENT", "yes")],
            "HUB_DEVELOPMENT: expected true or false",
        ),
        (
            &[("HUB_STREAM_MAX_HOLD_SECONDS", "91")],
            "HUB_STREAM_MAX_HOLD_SECONDS: expected at most HUB_PRESENCE_FRESHNESS_SECONDS, which is 90",
        ),
        (
            &[("HUB_TOMBSTONE_SECONDS", "3600")],
            "HUB_IDEMPOTENCY_TTL_SECONDS: expected at most HUB_TOMBSTONE_SECONDS, which is 3600",
        ),
        (
            &[("HUB_KEY_ENCRYPTION_KEY", "secret")],
            "HUB_KEY_ENCRYPTION_KEY: expected 32 bytes as base64 or hexadecimal",
        ),
        (
            &[("HUB_NATS_PREFIX", "a.b")],
            "HUB_NATS_PREFIX: expected 1 to 64 letters, digits, hyphens and underscores",
        ),
        (
            &[("HUB_ADMIN_TOKEN", "secret")],
            "HUB_ADMIN_TOKEN: expected ma2h_admin_ and something long and random",
        ),
        (
            &[
                ("HUB_ADMIN_TOKEN", "secret"),
                ("HUB_ADMIN_TOKEN_FILE", "/dev/null"),
            ],
            "HUB_ADMIN_TOKEN is set twice, also by HUB_ADMIN_TOKEN",
        ),
        (
            &[("HUB_ADMIN_TOKEN_FILE", "/nowhere/at/all")],
            "HUB_ADMIN_TOKEN_FILE: cannot read /nowhere/at/all: No such file or directory (os error 2)",
        ),
        (
            &[("HUB_CONFIG", path(&unknown_table))],
            "gatewy.port is not a setting of the hub",
        ),
        (
            &[("HUB_CONFIG", path(&unknown_key))],
            "gateway.prot is not a setting of the hub",
        ),
        (
            &[("HUB_CONFIG", path(&loose_key))],
            "port is not a setting of the hub",
        ),
        (
            &[("HUB_CONFIG", path(&wrong_kind))],
            "gateway.port: expected a whole number",
        ),
        (&[("HUB_CONFIG", path(&no_toml))], "HUB_CONFIG: "),
        (
            &[("HUB_CALLBACK_MAX_ATTEMPTS", "4")],
            "HUB_CALLBACK_MAX_ATTEMPTS: expected at least 5 (§8.3)",
        ),
        (
            &[("HUB_IDEMPOTENCY_TTL_SECONDS", "86399")],
            "HUB_IDEMPOTENCY_TTL_SECONDS: expected at least 86400 (§8.1)",
        ),
        (
            &[("HUB_INBOUND_RETENTION_SECONDS", "86399")],
            "HUB_INBOUND_RETENTION_SECONDS: expected at least 86400 (HUB_IDEMPOTENCY_TTL_SECONDS",
        ),
        (
            &[("HUB_PRESENCE_FRESHNESS_SECONDS", "64")],
            "HUB_PRESENCE_FRESHNESS_SECONDS: expected at least 65 (HUB_GATEWAY_WAIT_MAX_SECONDS",
        ),
    ];
    for (variables, expected) in cases {
        let error = load(variables).unwrap_err();
        assert!(
            error.starts_with(expected) && !error.contains("secret"),
            "{error}\n{expected}"
        );
    }
}

#[test]
fn only_development_grants_less_than_every_hub_does() {
    let development = ("HUB_DEVELOPMENT", "true");
    load(&[development, ("HUB_CALLBACK_MAX_ATTEMPTS", "1")]).unwrap();
    load(&[development, ("HUB_IDEMPOTENCY_TTL_SECONDS", "1")]).unwrap();
}

#[test]
fn secrets_come_from_files_and_are_masked() {
    let url = file("postgres://hub:opensesame@db/hub\n");
    let toml = file(&format!("[database]\nurl_file = \"{}\"\n", path(&url)));
    for variables in [("HUB_DATABASE_URL_FILE", path(&url)), ("HUB_CONFIG", path(&toml))] {
        let config = load(&[variables]).unwrap();
        assert_eq!(config.database.url.expose(), "postgres://hub:opensesame@db/hub");
        assert!(!config.print().contains("opensesame") && config.print().contains("url = \"***\""));
        assert!(!format!("{config:?}").contains("opensesame"));
    }
}

#[test]
fn what_is_printed_and_handed_on_reads_back() {
    let given = [
        ("HUB_PORT", "0"),
        ("HUB_DATABASE_URL", "postgres://hub:secret@db/hub"),
        ("HUB_LIFECYCLE_URLS", "http://a:1,http://b:2"),
        ("HUB_RATE_LIMIT_INTER_AGENT_REQUESTS_PER_MINUTE", "5"),
        ("HUB_CALLBACK_BACKOFF_FACTOR", "2.5"),
        ("HUB_LOG_FORMAT", "text"),
    ];
    let config = load(&given).unwrap();
    let handed_on: BTreeSet<_> = config.to_env().into_iter().collect();
    let expected = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(handed_on, expected.into());

    let printed = file(&config.print().replace("***", "postgres://other"));
    let again = load(&[("HUB_CONFIG", path(&printed))]).unwrap();
    assert_eq!(again.peers.lifecycle_urls, config.peers.lifecycle_urls);
    assert_eq!(again.print(), config.print());
}

#[test]
fn the_help_names_everything() {
    let help = Config::help();
    for field in Config::fields() {
        assert!(
            help.contains(&format!("\n{}", field.variable)),
            "{}",
            field.variable
        );
        assert!(
            !field.doc.trim().is_empty() && !field.unit.is_empty(),
            "{}",
            field.variable
        );
    }
    let port = "HUB_PORT\n    The gateway's HTTPS port; 0 picks a free one.\n    \
                gateway.port, port, 0 to 65535, default 8443\n";
    assert!(help.contains(port), "{help}");
}

#[test]
fn what_is_not_ours_is_passed_over() {
    let others = [
        ("PATH", "/bin"),
        ("HUBBLE", "1"),
        ("HUB_GATEWAY_PORT", "tcp://10.0.0.1:443"),
        ("HUB_PORT", "tcp://10.0.0.1:1"),
    ];
    assert_eq!(load(&others).unwrap().gateway.port, 8443);
}

#[test]
fn the_public_url_follows_the_port_unless_it_is_given() {
    let bound = "0.0.0.0:9000".parse().unwrap();
    let url = |variables: &[(&str, &str)]| load(variables).unwrap().gateway.public_url_at(bound);
    assert_eq!(url(&[]), "https://127.0.0.1:9000");
    assert_eq!(
        url(&[("HUB_PUBLIC_URL", "https://hub.example/")]),
        "https://hub.example"
    );
}
