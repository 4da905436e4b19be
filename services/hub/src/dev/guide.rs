//! What a person can do with a development hub, printed once it is ready.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::description::Description;

/// The text; its commands work when pasted into a shell in the folder where the hub was started.
pub(crate) fn text(hub: &Description, folder: &Path) -> String {
    let mut text = String::new();
    let logs = folder.join("log");
    let _ = write!(
        text,
        "
The hub is ready.

  inbox     {base}/inbox
  sign in   with the token {token}
  trust     {ca}, the authority of its certificate, or tell your browser to go on
  logs      {logs}/<tier>.log
  all this  {description}, for programs

Ask yourself something, as the agent {agent}. Paste into another terminal, in this folder:

{ask}

Then wait for the answer, and give it in the inbox; paste again if a minute passed without one:

{wait}

Ctrl-C ends everything. The data stays; `make dev RESET=1` starts anew.
",
        base = hub.base_url,
        token = hub.human.token,
        ca = hub.ca_cert.display(),
        logs = logs.display(),
        description = folder.join("dev.json").display(),
        agent = hub.agent.id,
        ask = ask(hub, folder),
        wait = wait(hub, folder),
    );
    text
}

fn ask(hub: &Description, folder: &Path) -> String {
    let created_at = OffsetDateTime::now_utc()
        .replace_nanosecond(0)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let envelope = json!({
        "ma2h_version": "0.6",
        "type": "ask",
        "created_at": created_at.format(&Rfc3339).unwrap_or_default(),
        "agent": {"id": hub.agent.id, "run_id": "run-1", "runtime": "cli"},
        "title": "Ship build 142?",
        "body": "All checks are **green**.",
        "idempotency_key": "try-NOW",
        "request": {"mode": "confirm", "allowed_resolvers": [format!("human:{}", hub.human.id)]},
    });
    // Another key each time it is pasted: another ask.
    let envelope = envelope.to_string().replace("NOW", "'$(date +%s)'");
    format!(
        "{curl} {base}/v1/messages -H 'Content-Type: application/json' -d '{envelope}' | tee {kept}",
        curl = curl(hub),
        base = hub.base_url,
        kept = quoted(&kept(folder)),
    )
}

/// Reads the message's address from what the first command kept.
fn wait(hub: &Description, folder: &Path) -> String {
    format!(
        r#"{curl} "$(sed 's/.*"poll_url" *: *"\([^"]*\)".*/\1/' {kept})?wait=60"; echo"#,
        curl = curl(hub),
        kept = quoted(&kept(folder)),
    )
}

fn kept(folder: &Path) -> String {
    folder.join("ask.json").display().to_string()
}

fn curl(hub: &Description) -> String {
    format!(
        "curl -sS --cacert {} -H 'Authorization: Bearer {}'",
        quoted(&hub.ca_cert.display().to_string()),
        hub.agent.token
    )
}

/// As one word of a shell command.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
