//! `GET /v1/stream`: server-sent events for humans. Ids and states, never content: a client looks at what it is told of.
//! It is the one call here that a browser's session opens as well: it changes nothing and shows nothing.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use axum::routing::get;
use futures_util::{Stream, stream};
use serde_json::json;

use crate::app::App;
use crate::auth::held::{Hold, HoldKind};
use crate::auth::{Authenticated, extract};
use crate::edge::errors::Refusal;
use crate::inbox::session;
use crate::principal::Role;
use crate::wakes::{Notice, Subscription, Wake, WakeKind};

/// Proxies cut what is silent for longer than about this.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The route.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new().route("/v1/stream", get(handle))
}

async fn handle(State(app): State<Arc<App>>, request: Request) -> Result<Response, Refusal> {
    let (mut parts, _) = request.into_parts();
    let caller = match session::caller_from_cookies(&app, &parts.headers).await? {
        Some(caller) if !extract::has_token(&parts.headers) => caller,
        _ => Authenticated::from_request_parts(&mut parts, &app).await?,
    };
    open(&app, &caller)
}

/// A stream of what happens in a human's account, until she goes, her credential ends, or the hub stops. What she does not
/// read in time is dropped, and she is told to look again.
fn open(app: &Arc<App>, caller: &Authenticated) -> Result<Response, Refusal> {
    let human = caller.principal.human(Role::Viewer)?;
    let hold = app.held.take(caller, HoldKind::Stream)?;
    let subscription = app.wakes.subscribe(&human.account);
    let events = events(Reader {
        app: app.clone(),
        hold,
        subscription,
        is_new: true,
    });
    Ok(Sse::new(events)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response())
}

struct Reader {
    app: Arc<App>,
    hold: Hold,
    subscription: Subscription,
    /// Nothing was said yet.
    is_new: bool,
}

fn events(reader: Reader) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(reader, async |mut reader| {
        let event = reader.next().await?;
        Some((Ok(event), reader))
    })
}

impl Reader {
    async fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_new) {
            return Some(resync());
        }
        loop {
            let notice = tokio::select! {
                notice = self.subscription.next() => notice,
                _ = self.hold.ended() => return None,
                () = self.app.shutdown.requested() => return None,
            };
            match notice {
                Notice::Resync => return Some(resync()),
                Notice::Wake(wake) => {
                    if let Some(event) = event_of(&wake) {
                        return Some(event);
                    }
                }
            }
        }
    }
}

/// Something may have been missed.
fn resync() -> Event {
    Event::default().event("resync").data("{}")
}

fn event_of(wake: &Wake) -> Option<Event> {
    let name = name_of(wake.event)?;
    let data = json!({ "id": wake.id, "state": wake.state });
    Some(Event::default().event(name).data(data.to_string()))
}

/// What concerns humans.
fn name_of(kind: WakeKind) -> Option<&'static str> {
    match kind {
        WakeKind::MessageCreated => Some("message.created"),
        WakeKind::MessageResolved => Some("message.resolved"),
        WakeKind::DeliveryUpdated => Some("delivery.updated"),
        WakeKind::PresenceUpdated => Some("presence.updated"),
        WakeKind::DirectiveUpdated => Some("directive.updated"),
        WakeKind::CredentialRevoked | WakeKind::MailboxFilled => None,
    }
}
