//! A TCP proxy on loopback that cuts, delays, holds and refuses connections on demand.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// What is passed on at a time.
const CHUNK_BYTES: usize = 16 * 1024;

/// How a proxy treats what goes through it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Mood {
    /// How long each chunk waits before it is passed on.
    delay: Duration,
    /// Nothing is passed on, and no connection is told.
    held: bool,
    /// New connections are closed at once.
    refusing: bool,
    /// Raised by each cut: connections of an earlier count end.
    cuts: u64,
}

/// Stands between a client and one server until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    mood: watch::Sender<Mood>,
    _running: DropGuard,
}

impl Proxy {
    /// A proxy to a server on this loopback port, which need not be there yet.
    pub async fn to(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("bind a loopback port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let (mood, stop) = (watch::Sender::new(Mood::default()), CancellationToken::new());
        tokio::spawn(serve(listener, port, mood.subscribe(), stop.clone()));
        Self {
            address,
            mood,
            _running: stop.drop_guard(),
        }
    }

    /// The port that clients connect to.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Ends all connections, in the middle of whatever they carry.
    pub fn cut(&self) {
        self.mood.send_modify(|mood| mood.cuts += 1);
    }

    /// Holds each chunk back for so long.
    pub fn delay(&self, delay: Duration) {
        self.mood.send_modify(|mood| mood.delay = delay);
    }

    /// Passes nothing on, and says nothing of it, as a network that swallows packets.
    pub fn hold(&self) {
        self.mood.send_modify(|mood| mood.held = true);
    }

    /// Closes new connections at once, and ends those there are.
    pub fn refuse(&self) {
        self.mood.send_modify(|mood| {
            mood.refusing = true;
            mood.cuts += 1;
        });
    }

    /// Lets all through from now on, also what was held.
    pub fn heal(&self) {
        self.mood.send_modify(|mood| {
            *mood = Mood {
                cuts: mood.cuts,
                ..Mood::default()
            };
        });
    }
}

async fn serve(listener: TcpListener, port: u16, mood: watch::Receiver<Mood>, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        let Ok((client, _)) = accepted else { continue };
        if mood.borrow().refusing {
            continue;
        }
        let (mood, stop) = (mood.clone(), stop.clone());
        tokio::spawn(async move {
            // A side that breaks off is what the proxy is for.
            let _ = stop.run_until_cancelled(carry(client, port, mood)).await;
        });
    }
}

/// Carries both ways until one side ends, or the connection is cut.
async fn carry(client: TcpStream, port: u16, mut mood: watch::Receiver<Mood>) -> io::Result<()> {
    let cuts = mood.borrow().cuts;
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let there = pass(from_client, to_server, mood.clone());
    let back = pass(from_server, to_client, mood.clone());
    tokio::select! {
        both = async { tokio::try_join!(there, back) } => both.map(drop),
        _ = mood.wait_for(|mood| mood.cuts > cuts) => Ok(()),
    }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut mood: watch::Receiver<Mood>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = from.read(&mut chunk).await?;
        let delay = mood.borrow().delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        if mood.wait_for(|mood| !mood.held).await.is_err() {
            return Ok(());
        }
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&chunk[..count]).await?;
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    use super::Proxy;

    /// A server that says everything back.
    async fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    tokio::io::copy(&mut from, &mut to).await
                });
            }
        });
        port
    }

    async fn connect(proxy: &Proxy) -> TcpStream {
        TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port()))
            .await
            .unwrap()
    }

    async fn said_back(stream: &mut TcpStream) -> std::io::Result<()> {
        stream.write_all(b"word").await?;
        let mut back = [0; 4];
        stream.read_exact(&mut back).await.map(drop)
    }

    #[tokio::test]
    async fn a_cut_ends_connections_and_the_next_one_goes_through() {
        let proxy = Proxy::to(echo().await).await;
        let mut stream = connect(&proxy).await;
        said_back(&mut stream).await.unwrap();
        proxy.cut();
        assert!(said_back(&mut stream).await.is_err());
        said_back(&mut connect(&proxy).await).await.unwrap();
    }

    #[tokio::test]
    async fn what_is_held_goes_on_when_healed() {
        let proxy = Proxy::to(echo().await).await;
        let mut stream = connect(&proxy).await;
        said_back(&mut stream).await.unwrap();
        proxy.hold();
        let waited = tokio::time::timeout(Duration::from_millis(50), said_back(&mut stream)).await;
        assert!(waited.is_err(), "nothing is passed on");
        proxy.heal();
        let mut back = [0; 4];
        stream.read_exact(&mut back).await.unwrap();
    }

    #[tokio::test]
    async fn who_is_refused_is_let_in_when_healed() {
        let proxy = Proxy::to(echo().await).await;
        proxy.refuse();
        assert!(said_back(&mut connect(&proxy).await).await.is_err());
        proxy.heal();
        said_back(&mut connect(&proxy).await).await.unwrap();
    }
}
