//! The gRPC surface.

use std::time::Instant;

use hub_platform::nats::{Nats, Wake, WakeKind};
use hub_platform::{db, grpc, ids};
use hub_proto::presence::presence_server;
use hub_proto::presence::{AgentPresence, GetPresenceReply, GetPresenceRequest, TouchReply, TouchRequest};
use ma2h::error::Problem;
use metrics::{counter, describe_counter};
use tonic::{Request, Response, Status};

use crate::principals::{Presence, Principals, State, Touched};
use crate::recent::Recent;

/// Agents that one call may ask for.
const AGENTS_MAX: usize = 200;

const TOUCHES: &str = "hub_presence_touches_total";

/// Answers the gateway.
pub(crate) struct Service {
    principals: Principals,
    recent: Recent,
    nats: Nats,
}

impl Service {
    pub(crate) fn new(principals: Principals, recent: Recent, nats: Nats) -> Self {
        describe_counter!(TOUCHES, "times that agents were heard from, by what that came to");
        Self {
            principals,
            recent,
            nats,
        }
    }

    async fn tell(&self, account: String, agent: String) {
        let state = Some(State::Online.as_str().to_owned());
        self.nats
            .wake(&Wake {
                account,
                event: WakeKind::PresenceUpdated,
                id: agent,
                state,
            })
            .await;
    }
}

#[tonic::async_trait]
impl presence_server::Presence for Service {
    async fn touch(&self, request: Request<TouchRequest>) -> Result<Response<TouchReply>, Status> {
        let TouchRequest { account, agent } = request.into_inner();
        check_id("account", &account)?;
        check_id("agent", &agent)?;
        let began = Instant::now();
        let principal = (account, agent);
        if self.recent.holds(&principal, began) {
            count("remembered");
            return Ok(Response::new(TouchReply {}));
        }
        let touched = self
            .principals
            .touch(&principal.0, &principal.1)
            .await
            .map_err(|error| status(&error))?;
        match touched {
            Touched::CameOnline => {
                count("came_online");
                self.tell(principal.0.clone(), principal.1.clone()).await;
            }
            Touched::StayedOnline => count("stayed_online"),
            Touched::Coalesced => count("coalesced"),
        }
        // Only what this process wrote: of what another wrote it is not known how long ago.
        if touched != Touched::Coalesced {
            self.recent.insert(principal, began);
        }
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

fn count(result: &'static str) {
    counter!(TOUCHES, "result" => result).increment(1);
}
