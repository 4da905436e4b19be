//! Large answers: bounded in sum, and watched until they are read.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

use super::budget::Room;
use super::call::Call;
use super::connection::OnItsWay;
use crate::app::App;

/// An answer of more than this is large.
pub(crate) const LARGE_BYTES: usize = 64 * 1024;
/// What of it is handed out to be sent at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Room that was taken before its answer was made: what is read may not be given up for want of room afterwards.
#[derive(Clone)]
struct Reserved(Arc<Mutex<Option<Room>>>);

/// Gives an answer the room that was taken for it.
pub(crate) fn in_room(room: Option<Room>, mut response: Response) -> Response {
    if room.is_some() {
        response
            .extensions_mut()
            .insert(Reserved(Arc::new(Mutex::new(room))));
    }
    response
}

/// The layer that holds each large answer in its room for as long as it has not left.
pub(super) async fn hold(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let call = Call::of(request.extensions());
    let (mut parts, body) = next.run(request).await.into_parts();
    let reserved = parts.extensions.remove::<Reserved>();
    let reserved =
        reserved.and_then(|reserved| reserved.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    let bytes = body
        .size_hint()
        .exact()
        .and_then(|bytes| usize::try_from(bytes).ok());
    let Some(bytes) = bytes.filter(|bytes| *bytes > LARGE_BYTES) else {
        return Response::from_parts(parts, body);
    };
    let room = if let Some(room) = reserved {
        room
    } else {
        let mut room = app.answers.room(call.holder());
        if let Err(refusal) = room.grow(bytes).await {
            return refusal.into_response();
        }
        room
    };
    // Its length is known, so that it lies ready.
    let Ok(whole) = body.collect().await else {
        return Response::from_parts(parts, Body::empty());
    };
    let held = Held {
        bytes: whole.to_bytes(),
        on_its_way: call.connection().map(|connection| Arc::new(connection.watch())),
        _room: room,
    };
    Response::from_parts(parts, Body::new(Pieces::of(held)))
}

/// The memory of an answer, with what is given back when the last piece of it is gone.
struct Held {
    bytes: Bytes,
    on_its_way: Option<Arc<OnItsWay>>,
    _room: Room,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Hands an answer out piece by piece, as it is asked for: each is a sign that the one before was taken.
struct Pieces {
    left: Bytes,
    /// Watched for as long as a piece is held anywhere, not only while this is.
    on_its_way: Option<std::sync::Weak<OnItsWay>>,
}

impl Pieces {
    fn of(held: Held) -> Self {
        Self {
            on_its_way: held.on_its_way.as_ref().map(Arc::downgrade),
            left: Bytes::from_owner(held),
        }
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        if let Some(on_its_way) = self.on_its_way.as_ref().and_then(std::sync::Weak::upgrade) {
            on_its_way.moved();
        }
        let bytes = self.left.len().min(PIECE_BYTES);
        let piece = self.left.split_to(bytes);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, Bytes};
    use http_body_util::BodyExt;

    use super::{Held, PIECE_BYTES, Pieces};
    use crate::edge::budget::{Budget, Holder};
    use crate::principal::Credential;

    #[tokio::test]
    async fn an_answer_keeps_its_room_until_its_last_piece_is_gone() {
        let holder = Holder::Credential(Credential::Token([1; 32]));
        let budget = Budget::new("answers", PIECE_BYTES * 3, PIECE_BYTES * 3, 0);
        let mut room = budget.room(holder);
        room.grow(PIECE_BYTES * 3).await.unwrap();
        let held = Held {
            bytes: Bytes::from(vec![7; PIECE_BYTES * 2 + 1]),
            on_its_way: None,
            _room: room,
        };
        let mut body = Body::new(Pieces::of(held));
        let mut pieces = Vec::new();
        while let Some(frame) = body.frame().await {
            pieces.push(frame.unwrap().into_data().unwrap());
        }
        let sizes: Vec<_> = pieces.iter().map(Bytes::len).collect();
        assert_eq!(sizes, [PIECE_BYTES, PIECE_BYTES, 1]);
        drop(body);
        let last = pieces.pop();
        drop(pieces);
        assert!(budget.is_held());
        drop(last);
        assert!(!budget.is_held());
    }
}
