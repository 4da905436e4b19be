//! One connection: how many there may be, and the end of those whose client has stopped reading.
//!
//! A client that reads nothing keeps what waits for it in memory. Over HTTP/1.1 its socket is full; over HTTP/2 the window
//! of a stream is, while the socket still takes what other streams send. So a connection ends when a write has waited for
//! too long, or when a large answer on its way has not moved for as long.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum_server::accept::Accept;
use http::Request;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until};
use tower::Service;

/// Turns away, before its TLS handshake, any connection beyond the bound.
#[derive(Clone)]
pub(super) struct Bounded {
    permits: Arc<Semaphore>,
    stall_max: Duration,
}

impl Bounded {
    /// At most so many connections at a time, each ended once what it has to send has stood still for so long.
    pub(super) fn new(connections_max: usize, stall_max: Duration) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS))),
            stall_max,
        }
    }
}

impl<S: Send + 'static> Accept<TcpStream, S> for Bounded {
    type Stream = Watched<TcpStream>;
    type Service = OfConnection<S>;
    type Future = Pin<Box<dyn Future<Output = io::Result<(Self::Stream, Self::Service)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let permit = self.permits.clone().try_acquire_owned();
        let stall_max = self.stall_max;
        Box::pin(async move {
            let Ok(permit) = permit else {
                metrics::counter!("hub_http_connections_refused_total").increment(1);
                return Err(io::Error::other("too many connections"));
            };
            // A small answer must not wait for the acknowledgement of the one before.
            stream.set_nodelay(true)?;
            let connection = Connection {
                peer: stream.peer_addr()?.ip(),
                answers: Arc::default(),
            };
            let watched = Watched::new(stream, connection.answers.clone(), stall_max);
            let service = OfConnection {
                inner: service,
                connection,
                _permit: Arc::new(permit),
            };
            Ok((watched, service))
        })
    }
}

/// A connection's service: tells each request its connection, and holds the connection's place for as long as it lives.
#[derive(Clone)]
pub(super) struct OfConnection<S> {
    inner: S,
    connection: Connection,
    _permit: Arc<OwnedSemaphorePermit>,
}

impl<S: Service<Request<B>>, B> Service<Request<B>> for OfConnection<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> S::Future {
        request.extensions_mut().insert(self.connection.clone());
        self.inner.call(request)
    }
}

/// What the calls of a connection know of it.
#[derive(Clone)]
pub(super) struct Connection {
    peer: IpAddr,
    answers: Arc<Answers>,
}

impl Connection {
    /// The other end.
    pub(super) fn peer(&self) -> IpAddr {
        self.peer
    }

    /// Watches an answer until what is given back is dropped.
    pub(super) fn watch(&self) -> OnItsWay {
        let mut moved = self.answers.lock();
        let id = moved.next_id;
        moved.next_id += 1;
        moved.at.insert(id, Instant::now());
        drop(moved);
        OnItsWay {
            id,
            answers: self.answers.clone(),
        }
    }
}

/// The large answers on their way over one connection, and when each moved last.
#[derive(Default)]
struct Answers(Mutex<Moved>);

#[derive(Default)]
struct Moved {
    next_id: u64,
    at: HashMap<u64, Instant>,
}

impl Answers {
    /// When the one that has stood still for longest moved.
    fn stands_since(&self) -> Option<Instant> {
        self.lock().at.values().min().copied()
    }

    /// No code panics while it holds the lock; were it to, the map would still be whole.
    fn lock(&self) -> MutexGuard<'_, Moved> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that is watched.
pub(super) struct OnItsWay {
    id: u64,
    answers: Arc<Answers>,
}

impl OnItsWay {
    /// Some of it was taken to be sent.
    pub(super) fn moved(&self) {
        self.answers.lock().at.insert(self.id, Instant::now());
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.answers.lock().at.remove(&self.id);
    }
}

/// A stream that fails once its client has stopped reading.
pub(super) struct Watched<S> {
    inner: S,
    answers: Arc<Answers>,
    stall_max: Duration,
    /// Since when a write or flush waits.
    waits_since: Option<Instant>,
    alarm: Pin<Box<Sleep>>,
}

impl<S> Watched<S> {
    fn new(inner: S, answers: Arc<Answers>, stall_max: Duration) -> Self {
        Self {
            inner,
            answers,
            stall_max,
            waits_since: None,
            alarm: Box::pin(sleep_until(Instant::now())),
        }
    }

    /// Fails if the client has stopped reading. Otherwise the task is woken when that could be so.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let stands_since = [self.waits_since, self.answers.stands_since()];
        let Some(since) = stands_since.into_iter().flatten().min() else {
            return Ok(());
        };
        let until = since + self.stall_max;
        if until <= Instant::now() {
            metrics::counter!("hub_http_connections_stalled_total").increment(1);
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.alarm.as_mut().reset(until);
        match self.alarm.as_mut().poll(context) {
            Poll::Ready(()) => {
                context.waker().wake_by_ref();
                Ok(())
            }
            Poll::Pending => Ok(()),
        }
    }

    /// What a write or flush came to.
    fn wrote<T>(&mut self, outcome: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.waits_since = None;
            return outcome;
        }
        self.waits_since.get_or_insert_with(Instant::now);
        match self.check(context) {
            Ok(()) => Poll::Pending,
            Err(stalled) => Poll::Ready(Err(stalled)),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_read(context, buffer);
        if outcome.is_pending() {
            self.check(context)?;
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.wrote(outcome, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(context, buffers);
        self.wrote(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_flush(context);
        self.wrote(outcome, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_shutdown(context);
        self.wrote(outcome, context)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::{sleep, timeout};

    use super::{Answers, Connection, Watched};

    const STALL_MAX: Duration = Duration::from_secs(30);

    fn watched() -> (
        Watched<tokio::io::DuplexStream>,
        tokio::io::DuplexStream,
        Connection,
    ) {
        let (ours, theirs) = tokio::io::duplex(16);
        let answers = Arc::<Answers>::default();
        let connection = Connection {
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            answers: answers.clone(),
        };
        (Watched::new(ours, answers, STALL_MAX), theirs, connection)
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_nobody_reads_ends_the_connection() {
        let (mut ours, _theirs, _) = watched();
        let stalled = timeout(STALL_MAX * 2, ours.write_all(&[0; 64])).await.unwrap();
        assert_eq!(stalled.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_borne() {
        let (mut ours, mut theirs, _) = watched();
        let reading = async {
            let mut byte = [0; 1];
            while theirs.read_exact(&mut byte).await.is_ok() {
                sleep(STALL_MAX / 2).await;
            }
        };
        let writing = async move { ours.write_all(&[0; 64]).await };
        let (written, ()) = tokio::join!(writing, reading);
        written.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_does_not_move_ends_the_connection() {
        let (mut ours, _theirs, connection) = watched();
        let still = connection.watch();
        let moving = connection.watch();
        let mut byte = [0; 1];
        let reading = ours.read_exact(&mut byte);
        let keep_moving = async {
            loop {
                sleep(Duration::from_secs(1)).await;
                moving.moved();
            }
        };
        let outcome = tokio::select! {
            outcome = reading => outcome,
            () = keep_moving => unreachable!(),
            () = sleep(STALL_MAX * 2) => panic!("the connection goes on"),
        };
        assert_eq!(outcome.unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        drop(still);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_alone_ends_nothing() {
        let (mut ours, _theirs, connection) = watched();
        drop(connection.watch());
        let mut byte = [0; 1];
        assert!(timeout(STALL_MAX * 4, ours.read_exact(&mut byte)).await.is_err());
    }
}
