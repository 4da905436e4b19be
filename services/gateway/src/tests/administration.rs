//! Administration, up to where the directory is asked.

use super::{ADMIN, AGENT, Gateway, OWNER, VIEWER};

/// Method, path, body, and what the refusal must be and begin with.
const MISFITS: [(&str, &str, &str, u16, &str); 16] = [
    ("POST", "/admin/v1/accounts", r#"{"id":"Acme"}"#, 422, "id: "),
    (
        "POST",
        "/admin/v1/accounts",
        r#"{"id":"acme","colour":1}"#,
        400,
        "colour: unknown member",
    ),
    ("POST", "/admin/v1/accounts", "{}", 400, "id: required"),
    (
        "PATCH",
        "/admin/v1/accounts/acme",
        r#"{"name":null}"#,
        422,
        "name: ",
    ),
    (
        "POST",
        "/admin/v1/accounts/acme/humans",
        r#"{"id":"bob","role":"king"}"#,
        422,
        "role: ",
    ),
    (
        "POST",
        "/admin/v1/accounts/acme/humans",
        r#"{"id":"bob","role":"owner","email":"x"}"#,
        422,
        "email: ",
    ),
    (
        "POST",
        "/admin/v1/accounts/acme/agents",
        r#"{"id":"a\n"}"#,
        422,
        "id: ",
    ),
    (
        "POST",
        "/admin/v1/accounts/acme/agents",
        r#"{"id":"a","labels":{"x":1}}"#,
        422,
        "labels.x: ",
    ),
    (
        "POST",
        "/admin/v1/accounts/acme/tokens",
        r#"{"subject":"bob"}"#,
        422,
        "subject: ",
    ),
    (
        "POST",
        "/admin/v1/accounts/acme/tokens",
        r#"{"subject":"human:bob","expires_at":"soon"}"#,
        400,
        "expires_at: ",
    ),
    (
        "PUT",
        "/admin/v1/accounts/acme/agents/a/entry-key",
        r#"{"alg":"rsa"}"#,
        422,
        "alg: ",
    ),
    (
        "PUT",
        "/admin/v1/accounts/acme/agents/a/entry-key",
        r#"{"alg":"hmac-sha256"}"#,
        422,
        "secret: ",
    ),
    (
        "PUT",
        "/admin/v1/accounts/acme/agents/a/entry-key",
        r#"{"alg":"hmac-sha256","secret":"k"}"#,
        422,
        "secret: ",
    ),
    (
        "POST",
        "/admin/v1/accounts/acme/agents/a/callback-hosts",
        r#"{"host":"https://a.example/","method":"operator"}"#,
        422,
        "host: ",
    ),
    (
        "POST",
        "/admin/v1/accounts/acme/agents/a/callback-hosts",
        r#"{"host":"a.example","method":"dns"}"#,
        422,
        "method: ",
    ),
    (
        "PUT",
        "/admin/v1/accounts/acme/agents/a/secrets",
        r#"{"ref":"","value":"x"}"#,
        422,
        "ref: ",
    ),
];

#[tokio::test]
async fn roles_and_accounts_are_kept_apart() {
    let gateway = Gateway::new();
    gateway
        .send("POST", "/admin/v1/accounts", OWNER, r#"{"id":"other"}"#)
        .await
        .is(403, "not_authorized");
    gateway
        .get("/admin/v1/accounts/other", OWNER)
        .await
        .is(404, "not_found");
    gateway
        .get("/admin/v1/accounts/acme", VIEWER)
        .await
        .is(403, "not_authorized");
    gateway
        .get("/admin/v1/accounts/acme", AGENT)
        .await
        .is(403, "not_authorized");
    gateway
        .get("/admin/v1/accounts/Acme", ADMIN)
        .await
        .is(404, "not_found");
    gateway.get("/v1/messages", ADMIN).await.is(403, "not_authorized");
    gateway.get("/v1/stream", AGENT).await.is(403, "not_authorized");
    gateway.get("/v1/agents", AGENT).await.is(403, "not_authorized");
    let body = r#"{"resolution":"declined"}"#;
    gateway
        .send("POST", "/v1/messages/msg_1/resolve", VIEWER, body)
        .await
        .is(403, "not_authorized");
    gateway
        .send("POST", "/v1/messages/msg_1/cancel", OWNER, "")
        .await
        .is(403, "not_authorized");
}

#[tokio::test]
async fn an_agent_id_with_a_slash_is_one_segment() {
    let gateway = Gateway::new();
    // The route is found and asks presence, which is away.
    gateway
        .get("/v1/agents/deploybot%2Fdev-team/presence", OWNER)
        .await
        .is(503, "unavailable");
    gateway
        .get("/v1/agents/deploybot/dev-team/presence", OWNER)
        .await
        .is(404, "not_found");
    let body = r#"{"ref":"env:A"}"#;
    let path = "/admin/v1/accounts/acme/agents/deploybot%2Fdev-team/secrets";
    gateway
        .send("PUT", path, OWNER, body)
        .await
        .is(400, "validation_error");
}

#[tokio::test]
async fn administration_names_what_does_not_fit() {
    let gateway = Gateway::new();
    for (method, path, body, status, message) in MISFITS {
        let answer = gateway.send(method, path, ADMIN, body).await;
        assert_eq!(answer.status.as_u16(), status, "{path} {body}: {}", answer.body);
        assert!(
            answer.refusal().2.starts_with(message),
            "{path} {body}: {}",
            answer.body
        );
    }
}
