//! Server-sent events.

use std::time::Duration;

use super::account::Caller;
use super::verdict::{Proof, Tried, Verdict, failed};

/// Longest silence; a stream is closed or says something sooner.
const SILENCE_MAX: Duration = Duration::from_secs(75);

/// One event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: String,
}

/// An open stream.
pub(crate) struct Events {
    answer: reqwest::Response,
    unread: String,
}

impl Events {
    pub(crate) async fn open(caller: &Caller, path: &str) -> Tried<Self> {
        let url = format!("{}{path}", caller.hub.base_url);
        let request = caller.hub.http.get(url).bearer_auth(caller.token());
        let answer = request.header("accept", "text/event-stream").send().await?;
        let status = answer.status().as_u16();
        if status != 200 {
            return failed(format!(
                "GET {path}: expected 200, got {status} {}",
                answer.text().await?
            ));
        }
        Ok(Self {
            answer,
            unread: String::new(),
        })
    }

    /// The next event; none when the stream has ended.
    pub(crate) async fn next(&mut self) -> Tried<Option<Event>> {
        loop {
            if let Some(end) = self.unread.find("\n\n") {
                let event = parse(&self.unread[..end]);
                self.unread.drain(..end + 2);
                if event.data.is_empty() && event.name.is_empty() {
                    // A comment that keeps the line open.
                    continue;
                }
                return Ok(Some(event));
            }
            let chunk = tokio::time::timeout(SILENCE_MAX, self.answer.chunk()).await;
            let chunk =
                chunk.map_err(|_| Verdict::Failed("a stream said nothing and was not closed".to_owned()))?;
            match chunk? {
                Some(bytes) => self
                    .unread
                    .push_str(&String::from_utf8_lossy(&bytes).replace("\r\n", "\n")),
                None => return Ok(None),
            }
        }
    }

    /// Reads until the hub has closed the stream.
    pub(crate) async fn ended(mut self) -> Proof {
        while self.next().await?.is_some() {}
        Ok(())
    }
}

fn parse(text: &str) -> Event {
    let mut event = Event::default();
    for line in text.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut event.name),
            "id" => value.clone_into(&mut event.id),
            "data" if event.data.is_empty() => value.clone_into(&mut event.data),
            "data" => event.data = format!("{}\n{value}", event.data),
            _ => {}
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_event_has_name_id_and_data() {
        let event = parse("event: entry\nid: dir_1\ndata: {\"a\":\ndata: 1}\nretry: 5");
        assert_eq!(
            (event.name.as_str(), event.id.as_str(), event.data.as_str()),
            ("entry", "dir_1", "{\"a\":\n1}")
        );
        assert!(parse(": still here").data.is_empty());
    }
}
