//! Where an agent's directives are pushed to (§8.7), and the account's acknowledgements (§14.4), which no agent owns.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use hub_proto::delivery::{DeleteWebhookRequest, GetWebhookRequest, PutWebhookRequest, Webhook};
use ma2h::callback::{AuthScheme, check_webhook_url};
use ma2h::error::Problem;
use ma2h::secret::is_reference;
use serde_json::{Map, Value, json};

use super::OwnerManager;
use crate::app::App;
use crate::edge::answer;
use crate::edge::body::Object;
use crate::edge::errors::Refusal;
use crate::edge::fields::Fields;

/// `PUT …/webhook`, `PUT …/ack-webhook`
pub(super) async fn put(
    State(app): State<Arc<App>>,
    manager: OwnerManager,
    Object(fields): Object,
) -> Result<Response, Refusal> {
    let webhook = read(fields, app.config.security.development)?;
    let body = body(&webhook)?;
    note(&app, &manager, "put", &body).await?;
    let request = PutWebhookRequest {
        account: manager.account,
        agent: manager.agent,
        webhook: Some(webhook),
    };
    app.ask(async || app.delivery.clone().put_webhook(request.clone()).await)
        .await?;
    Ok(answer::json(StatusCode::OK, &body))
}

/// `GET …/webhook`, `GET …/ack-webhook`
pub(super) async fn get(State(app): State<Arc<App>>, manager: OwnerManager) -> Result<Response, Refusal> {
    manager.require(&app).await?;
    Ok(answer::json(
        StatusCode::OK,
        &body(&registered(&app, &manager).await?)?,
    ))
}

/// `DELETE …/webhook`, `DELETE …/ack-webhook`. Whether there is one is looked up first: the deletion itself may be made twice,
/// where its reply was lost.
pub(super) async fn delete(State(app): State<Arc<App>>, manager: OwnerManager) -> Result<Response, Refusal> {
    let webhook = registered(&app, &manager).await?;
    note(&app, &manager, "delete", &json!({ "url": webhook.url })).await?;
    let request = DeleteWebhookRequest {
        account: manager.account,
        agent: manager.agent,
    };
    app.ask(async || app.delivery.clone().delete_webhook(request.clone()).await)
        .await?;
    Ok(answer::empty(StatusCode::NO_CONTENT))
}

async fn note(app: &App, manager: &OwnerManager, verb: &str, detail: &Value) -> Result<(), Problem> {
    let noun = match manager.agent.as_str() {
        "" => "ack_webhook",
        _ => "webhook",
    };
    manager.note(app, &format!("{noun}.{verb}"), detail).await
}

/// The webhook of an owner, or 404.
async fn registered(app: &App, manager: &OwnerManager) -> Result<Webhook, Problem> {
    let request = GetWebhookRequest {
        account: manager.account.clone(),
        agent: manager.agent.clone(),
    };
    let reply = app
        .ask(async || app.delivery.clone().get_webhook(request.clone()).await)
        .await?;
    reply.webhook.ok_or_else(Problem::not_found)
}

fn read(mut fields: Fields, http_allowed: bool) -> Result<Webhook, Problem> {
    let url = fields.string("url")?;
    check_webhook_url(&url, http_allowed)?;
    let auth = fields.patched_object("auth")?.value();
    fields.finish()?;
    let auth = auth.ok_or_else(|| Problem::validation("auth: required"))?;
    let (scheme, credential_ref) =
        read_auth(auth).map_err(|problem| Problem::new(problem.code, format!("auth.{}", problem.message)))?;
    Ok(Webhook {
        url,
        scheme: scheme.as_str().to_owned(),
        credential_ref,
    })
}

/// The scheme, and the reference that it names its credential by.
fn read_auth(auth: Map<String, Value>) -> Result<(AuthScheme, String), Problem> {
    let mut auth = Fields::of(Value::Object(auth))?;
    let scheme: AuthScheme = auth
        .string("scheme")?
        .parse()
        .map_err(|_| Problem::validation("scheme: expected hmac, bearer or apikey"))?;
    let member = scheme.reference_name();
    let reference = auth.string(member)?;
    auth.finish()?;
    if is_reference(&reference) {
        return Ok((scheme, reference));
    }
    Err(Problem::invalid_field(format!("{member}: cannot be a reference")))
}

fn body(webhook: &Webhook) -> Result<Value, Problem> {
    let scheme: AuthScheme = webhook.scheme.parse()?;
    let mut auth = json!({ "scheme": webhook.scheme });
    auth[scheme.reference_name()] = Value::String(webhook.credential_ref.clone());
    Ok(json!({ "url": webhook.url, "auth": auth }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Fields, body, read};

    const URL: &str = "https://agent.example/inbox";

    fn refused(text: &Value) -> String {
        let fields = Fields::of(text.clone()).unwrap();
        read(fields, false).unwrap_err().message
    }

    #[test]
    fn a_webhook_is_told_as_it_was_given() {
        for auth in [
            json!({"scheme": "hmac", "secret_ref": "env:KEY"}),
            json!({"scheme": "bearer", "token_ref": "env:TOKEN"}),
            json!({"scheme": "apikey", "token_ref": "env:TOKEN"}),
        ] {
            let given = json!({"url": URL, "auth": auth});
            let webhook = read(Fields::of(given.clone()).unwrap(), false).unwrap();
            assert_eq!(body(&webhook).unwrap(), given);
        }
    }

    #[test]
    fn what_is_no_webhook_names_its_member() {
        let hmac = json!({"scheme": "hmac", "secret_ref": "env:KEY"});
        for (given, named) in [
            (json!({"auth": hmac}), "url: required"),
            (
                json!({"url": "http://agent.example/", "auth": hmac}),
                "url: expected an https url",
            ),
            (json!({"url": URL}), "auth: required"),
            (json!({"url": URL, "auth": "hmac"}), "auth: expected an object"),
            (json!({"url": URL, "auth": hmac, "x": 1}), "x: unknown member"),
            (
                json!({"url": URL, "auth": {"scheme": "basic"}}),
                "auth.scheme: expected hmac, bearer or apikey",
            ),
            (
                json!({"url": URL, "auth": {"scheme": "hmac", "token_ref": "t"}}),
                "auth.secret_ref: required",
            ),
            (
                json!({"url": URL, "auth": {"scheme": "bearer", "token_ref": "t", "secret_ref": "s"}}),
                "auth.secret_ref: unknown member",
            ),
            (
                json!({"url": URL, "auth": {"scheme": "bearer", "token_ref": ""}}),
                "auth.token_ref: cannot be a reference",
            ),
        ] {
            assert_eq!(refused(&given), named, "{given}");
        }
    }
}
