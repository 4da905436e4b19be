//! How much waits in mailboxes, for the people of an account.

use hub_proto::lifecycle::{CountWaitingRequest, Waiting};
use ma2h::error::Problem;

use crate::app::App;
use crate::principal::{Principal, Role};

/// What waits in the mailboxes of these agents, at most 200, in their order.
pub(crate) async fn waiting(
    app: &App,
    reader: &Principal,
    agents: Vec<String>,
) -> Result<Vec<Waiting>, Problem> {
    let human = reader.human(Role::Viewer)?;
    if agents.is_empty() {
        return Ok(Vec::new());
    }
    let request = CountWaitingRequest {
        account: human.account.clone(),
        agents,
    };
    Ok(app
        .ask(async || app.lifecycle.clone().count_waiting(request.clone()).await)
        .await?
        .mailboxes)
}
