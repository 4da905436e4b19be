//! Whether the gateway lives, and whether it can serve.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use hub_platform::health::is_serving;
use serde_json::json;
use tokio::sync::Mutex;
use tonic::transport::Channel;

use crate::app::App;
use crate::edge::answer;

/// How long each of what is asked may take.
const TIMEOUT: Duration = Duration::from_secs(2);

/// How long an answer stands: anybody may ask, the tiers shall not feel it.
const REMEMBERED_FOR: Duration = Duration::from_secs(1);

/// What was down, as it was found a moment ago.
#[derive(Default)]
pub(crate) struct Answered(Mutex<Option<(Instant, Vec<&'static str>)>>);

/// The tiers behind the gateway.
pub(crate) struct Peers {
    pub(crate) lifecycle: Channel,
    pub(crate) delivery: Channel,
    pub(crate) presence: Channel,
}

/// The routes.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
}

async fn alive() -> Response {
    answer::json(StatusCode::OK, &json!({ "status": "alive" }))
}

/// NATS is not asked: it carries hints, and a hub without it serves on.
async fn ready(State(app): State<Arc<App>>) -> Response {
    let mut down = down(&app).await;
    if app.shutdown.is_triggered() {
        down.push("gateway");
    }
    if down.is_empty() {
        return answer::json(StatusCode::OK, &json!({ "status": "ready" }));
    }
    answer::json(
        StatusCode::SERVICE_UNAVAILABLE,
        &json!({ "status": "unavailable", "down": down }),
    )
}

async fn down(app: &App) -> Vec<&'static str> {
    // Held while asking: those who come meanwhile share the answer.
    let mut answered = app.answered.0.lock().await;
    if let Some((at, down)) = &*answered
        && at.elapsed() < REMEMBERED_FOR
    {
        return down.clone();
    }
    let down = ask(app).await;
    *answered = Some((Instant::now(), down.clone()));
    down
}

async fn ask(app: &App) -> Vec<&'static str> {
    let peers = &app.peers;
    let (postgres, lifecycle, delivery, presence) = tokio::join!(
        is_database_there(app),
        is_serving(peers.lifecycle.clone(), TIMEOUT),
        is_serving(peers.delivery.clone(), TIMEOUT),
        is_serving(peers.presence.clone(), TIMEOUT),
    );
    let asked = [
        ("postgres", postgres),
        ("lifecycle", lifecycle),
        ("delivery", delivery),
        ("presence", presence),
    ];
    asked
        .into_iter()
        .filter(|(_, is_up)| !is_up)
        .map(|(name, _)| name)
        .collect()
}

async fn is_database_there(app: &App) -> bool {
    let ask = async { app.pool.get().await.ok()?.simple_query("").await.ok() };
    matches!(tokio::time::timeout(TIMEOUT, ask).await, Ok(Some(_)))
}
