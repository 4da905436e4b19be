//! What a hub writes about its work: hints, metrics, logs.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::stage::Stage;

/// What is said on the hub's subjects.
pub(super) struct Hints(Arc<Mutex<Vec<u8>>>);

impl Hints {
    pub(super) async fn listen(stage: &Stage) -> Self {
        let config = &stage.hub.config().nats;
        let address = config.url.expose().strip_prefix("nats://").unwrap();
        let (reader, mut writer) = TcpStream::connect(address).await.unwrap().into_split();
        let subscribe = format!(
            "CONNECT {{\"verbose\":false,\"headers\":true}}\r\nSUB {}.> 1\r\nPING\r\n",
            config.prefix
        );
        writer.write_all(subscribe.as_bytes()).await.unwrap();
        let mut reader = BufReader::new(reader);
        let mut line = String::new();
        while !line.starts_with("PONG") {
            line.clear();
            reader.read_line(&mut line).await.unwrap();
        }
        let heard = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&heard);
        tokio::spawn(async move {
            let _writer = writer;
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer).await {
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend_from_slice(&buffer[..count]);
            }
        });
        Self(heard)
    }

    pub(super) fn heard(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What every process measures.
pub(super) async fn metrics(stage: &mut Stage) -> Vec<u8> {
    let mut all = Vec::new();
    for url in stage.hub.tiers().metrics() {
        let answer = hub_testkit::certificates::client().get(url).send().await.unwrap();
        all.extend(answer.bytes().await.unwrap());
    }
    all
}

/// What every process logged, which each has.
pub(super) fn read_logs(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let log = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!log.is_empty(), "a process logged nothing");
        all.extend(log);
    }
    all
}

pub(super) fn holds(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|window| window == word.as_bytes())
}

/// What stands around a word.
pub(super) fn around(text: &[u8], word: &str) -> String {
    let at = text
        .windows(word.len())
        .position(|window| window == word.as_bytes())
        .unwrap_or_default();
    let line = &text[at.saturating_sub(300)..text.len().min(at + 200)];
    String::from_utf8_lossy(line).into_owned()
}
