//! `ma2h-hub dev`, as a person and as a program use it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use hub_testkit::{Api, eventually, processes};
use ma2h_hub::dev::Description;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

#[tokio::test]
async fn it_describes_itself_keeps_its_children_and_its_data() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = start(dir.path());
    let first = described(&dir).await;

    let path = dir.path().join("dev.json");
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let text: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let members = [
        "base_url",
        "base_urls",
        "ca_cert",
        "admin_token",
        "account",
        "human",
        "agent",
        "postgres",
        "nats",
        "metrics",
        "pids",
    ];
    for member in members {
        assert!(!text[member].is_null(), "{member} is missing: {text}");
    }
    assert!(ask(&first).await.starts_with("msg_"));

    for what in ["gateway", "lifecycle", "delivery", "presence", "nats", "postgres"] {
        let killed = pid_of(&dir, what);
        kill_process(killed, Signal::KILL).unwrap();
        eventually(&format!("another {what}"), || async {
            (pid_of(&dir, what) != killed).then_some(())
        })
        .await;
        ready(&first).await;
    }
    assert!(ask(&first).await.starts_with("msg_"));

    let refused = command(dir.path()).output().await.unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("a hub runs in") && said.contains("HUB_DEV_DIR"),
        "{said}"
    );

    assert!(interrupted(&mut child).await.success());
    assert!(
        !path.exists(),
        "a hub that has stopped no longer describes itself"
    );

    let mut child = start(dir.path());
    let again = described(&dir).await;
    assert_eq!(again.base_url, first.base_url);
    assert_eq!(
        [&again.human.token, &again.agent.token],
        [&first.human.token, &first.agent.token]
    );
    let kept = agent(&first).get("/v1/messages").await.expect(200);
    assert_eq!(kept["messages"].as_array().unwrap().len(), 2);
    assert!(interrupted(&mut child).await.success());
}

#[tokio::test]
async fn a_command_gets_a_hub_of_two_replicas_and_gives_its_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "cp '{0}/dev.json' '{0}/seen.json' && exit 7",
        dir.path().display()
    );
    let ended = command(dir.path())
        .env("HUB_REPLICAS", "2")
        .args(["--", "sh", "-c", &script])
        .stdout(Stdio::null())
        .status()
        .await
        .unwrap();
    assert_eq!(ended.code(), Some(7));
    let seen = Description::read(&dir.path().join("seen.json")).unwrap();
    assert_eq!(seen.base_urls.len(), 2);
    assert_eq!(
        [
            seen.pids.gateway.len(),
            seen.pids.lifecycle.len(),
            seen.pids.postgres.len()
        ],
        [2, 2, 1]
    );
}

#[tokio::test]
async fn a_port_in_use_is_named_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let holder = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = holder.local_addr().unwrap().port().to_string();
    let refused = command(dir.path()).env("HUB_PORT", &port).output().await.unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains(&port) && said.contains("HUB_PORT=0"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new(processes::program());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("HUB_")) {
        command.env_remove(name);
    }
    command
        .arg("dev")
        .env("HUB_DEV_DIR", dir)
        .env("HUB_PORT", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

fn start(dir: &Path) -> Child {
    command(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

async fn described(dir: &TempDir) -> Description {
    let path = dir.path().join("dev.json");
    eventually("the hub to describe itself", || async {
        Description::read(&path).ok()
    })
    .await
}

fn pid_of(dir: &TempDir, what: &str) -> Pid {
    let text = std::fs::read_to_string(dir.path().join("dev.json")).unwrap();
    let hub: Value = serde_json::from_str(&text).unwrap();
    let pid = hub["pids"][what][0].as_i64().unwrap();
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

async fn interrupted(child: &mut Child) -> ExitStatus {
    let pid = i32::try_from(child.id().unwrap()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    child.wait().await.unwrap()
}

/// Waits until the hub can serve again.
async fn ready(hub: &Description) {
    let http = http(hub);
    eventually("the hub to be ready", || async {
        let answer = http.get(format!("{}/readyz", hub.base_url)).send().await.ok()?;
        answer.status().is_success().then_some(())
    })
    .await;
}

async fn ask(hub: &Description) -> String {
    let envelope = hub_testkit::envelope::confirm(&hub.agent.id, &format!("human:{}", hub.human.id));
    let submitted = agent(hub).post("/v1/messages", &envelope).await;
    assert!(submitted.status.is_success(), "{}", submitted.text);
    submitted.text_at("id")
}

fn agent(hub: &Description) -> Api {
    Api::new(http(hub), &hub.base_url, Some(hub.agent.token.clone()))
}

fn http(hub: &Description) -> reqwest::Client {
    hub_testkit::install_tls_provider();
    let authority = reqwest::Certificate::from_pem(&std::fs::read(&hub.ca_cert).unwrap()).unwrap();
    reqwest::Client::builder()
        .tls_certs_only([authority])
        .no_proxy()
        .build()
        .unwrap()
}
