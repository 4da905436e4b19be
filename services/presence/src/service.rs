//! The gRPC surface.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hub_platform::nats::{Nats, Wake, WakeKind};
use hub_platform::{db, grpc, ids};
use hub_proto::presence::presence_server;
use hub_proto::presence::{
    AgentName, AgentPresence, GetPresenceReply, GetPresenceRequest, TouchReply, TouchRequest,
};
use ma2h::error::Problem;
use metrics::{counter, describe_counter};
use tonic::{Request, Response, Status};

use crate::principals::{Name, Presence, Principals, State, Touched};
use crate::recent::Recent;

/// Agents that one call may ask for.
const AGENTS_MAX: usize = 200;
/// How long telling of those who came online may take.
const TELL_TIMEOUT: Duration = Duration::from_secs(1);
/// Agents that one call may touch.
const TOUCHED_MAX: usize = 1000;

const TOUCHES: &str = "hub_presence_touches_total";
const UNTOLD: &str = "hub_presence_untold_total";

/// Answers the gateway.
pub(crate) struct Service {
    principals: Principals,
    recent: Recent,
    nats: Nats,
}

impl Service {
    pub(crate) fn new(principals: Principals, recent: Recent, nats: Nats) -> Self {
        describe_counter!(TOUCHES, "times that agents were heard from, by what that came to");
        describe_counter!(
            UNTOLD,
            "times that not all agents that came online could be told of"
        );
        Self {
            principals,
            recent,
            nats,
        }
    }

    /// Who watches is told of those who came; it is a hint, and where NATS is away for none of them.
    async fn tell(&self, came: Vec<Name>) {
        let telling = async {
            for (account, id) in came {
                let (event, state) = (WakeKind::PresenceUpdated, Some(State::Online.as_str().to_owned()));
                self.nats
                    .wake(&Wake {
                        account,
                        event,
                        id,
                        state,
                    })
                    .await;
            }
        };
        if tokio::time::timeout(TELL_TIMEOUT, telling).await.is_err() {
            counter!(UNTOLD).increment(1);
        }
    }
}

#[tonic::async_trait]
impl presence_server::Presence for Service {
    async fn touch(&self, request: Request<TouchRequest>) -> Result<Response<TouchReply>, Status> {
        let TouchRequest { agents } = request.into_inner();
        let asked = names(agents)?;
        let began = Instant::now();
        let (remembered, to_write): (Vec<Name>, Vec<Name>) =
            asked.into_iter().partition(|name| self.recent.holds(name, began));
        count("remembered", remembered.len());
        if to_write.is_empty() {
            return Ok(Response::new(TouchReply {}));
        }
        let touched = self.principals.touch(&to_write).await;
        let touched = touched.map_err(|error| status(&error))?;
        let written = touched.len();
        count("coalesced", to_write.len().saturating_sub(written));
        let mut came = Vec::new();
        for Touched { name, was_online } in touched {
            if !was_online {
                came.push(name.clone());
            }
            // Only what this process wrote: of what another wrote it is not known how long ago.
            self.recent.insert(name, began);
        }
        count("came_online", came.len());
        count("stayed_online", written - came.len());
        self.tell(came).await;
        Ok(Response::new(TouchReply {}))
    }

    async fn get_presence(
        &self,
        request: Request<GetPresenceRequest>,
    ) -> Result<Response<GetPresenceReply>, Status> {
        let GetPresenceRequest { account, agents } = request.into_inner();
        check_id("account", &account)?;
        if agents.len() > AGENTS_MAX {
            return Err(refused(format!("agents: at most {AGENTS_MAX} at a time")));
        }
        for agent in &agents {
            check_id("agents", agent)?;
        }
        let presences = self
            .principals
            .read(&account, &agents)
            .await
            .map_err(|error| status(&error))?;
        let agents = agents.into_iter().zip(presences).map(agent_presence).collect();
        Ok(Response::new(GetPresenceReply { agents }))
    }
}

fn agent_presence((agent, presence): (String, Presence)) -> AgentPresence {
    AgentPresence {
        agent,
        state: presence.state.as_str().to_owned(),
        last_seen: presence.last_seen.map(hub_proto::stamp),
    }
}

/// Each agent once.
fn names(agents: Vec<AgentName>) -> Result<BTreeSet<Name>, Status> {
    if agents.len() > TOUCHED_MAX {
        return Err(refused(format!("agents: at most {TOUCHED_MAX} at a time")));
    }
    let names = agents.into_iter().map(|AgentName { account, agent }| {
        check_id("account", &account)?;
        check_id("agent", &agent)?;
        Ok((account, agent))
    });
    names.collect()
}

fn check_id(field: &str, text: &str) -> Result<(), Status> {
    ids::check(field, text).map_err(|problem| grpc::problem_to_status(&problem))
}

fn refused(message: String) -> Status {
    grpc::problem_to_status(&Problem::invalid_field(message))
}

/// Logs a failure, once, and gives what the caller is told.
fn status(error: &db::Error) -> Status {
    grpc::problem_to_status(&db::report(error))
}

fn count(result: &'static str, agents: usize) {
    counter!(TOUCHES, "result" => result).increment(u64::try_from(agents).unwrap_or_default());
}
