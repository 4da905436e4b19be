//! Messages, over HTTP and for the web inbox.

use hub_proto::lifecycle::{ListAttemptsReply, ListMessagesReply, Message, Outcome};
use ma2h::error::Problem;

use crate::{app::App, principal::Principal};

/// What a list is narrowed to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) status: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) priority: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) tag: Option<String>,
    /// Words to find in the title.
    pub(crate) q: Option<String>,
    /// 1 to 200; 50 if not said.
    pub(crate) limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub(crate) cursor: Option<String>,
}

/// One message as lifecycle has it: `envelope` and `response` are JSON text.
pub(crate) async fn get(app: &App, reader: &Principal, message_id: &str) -> Result<Message, Problem> {
    let _ = (app, reader, message_id);
    Err(Problem::internal())
}

/// A page of messages, newest first.
pub(crate) async fn list(app: &App, reader: &Principal, filter: Filter) -> Result<ListMessagesReply, Problem> {
    let _ = (app, reader, filter);
    Err(Problem::internal())
}

/// Answers a message with a resolve request (§8.8) as JSON text. `applied == false`: it was already terminal.
pub(crate) async fn resolve(
    app: &App,
    resolver: &Principal,
    message_id: &str,
    body: String,
) -> Result<Outcome, Problem> {
    let _ = (app, resolver, message_id, body);
    Err(Problem::internal())
}

/// How the push of a message's Response went.
pub(crate) async fn attempts(app: &App, reader: &Principal, message_id: &str) -> Result<ListAttemptsReply, Problem> {
    let _ = (app, reader, message_id);
    Err(Problem::internal())
}
