//! The callback's own code: where it answers late, it acknowledges first, while it is still being told (§14.3).

use std::sync::Arc;

use serde_json::Value;
use tokio::task::JoinSet;

use super::Field;
use super::messages::acknowledge;
use crate::sink::{Answer, CallbackSink};

/// Acknowledges each Response whose push is being held, until it is told to stop.
pub(super) async fn run(field: Arc<Field>, sink: Arc<CallbackSink>) {
    let mut acks = JoinSet::new();
    let mut seen = 0;
    while let Some(received) = field.stop.run_until_cancelled(sink.beyond(seen)).await {
        seen += received.len();
        for request in received {
            if !matches!(request.answer, Answer::After(..)) {
                continue;
            }
            let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
            if let Some(id) = body["in_reply_to"].as_str() {
                acks.spawn(acknowledge(Arc::clone(&field), id.to_owned(), true));
            }
        }
    }
    acks.join_all().await;
}
