//! The tier's gRPC service: hands each call to its noun, and its error to the caller.

use std::sync::Arc;

use hub_platform::grpc::problem_to_status;
use hub_platform::shutdown::Shutdown;
use hub_proto::lifecycle::lifecycle_server::Lifecycle;
use hub_proto::lifecycle::{
    Ack, AckEntriesReply, AckEntriesRequest, AckMessageRequest, CancelMessageRequest, ClaimEntriesReply,
    ClaimEntriesRequest, ClaimPushesReply, ClaimPushesRequest, CloseMailboxesReply, CloseMailboxesRequest,
    CountWaitingReply, CountWaitingRequest, DeleteMessageReply, DeleteMessageRequest, Directive,
    FindChangedReply, FindChangedRequest, FindFilledReply, FindFilledRequest, GetBroadcastReply,
    GetBroadcastRequest, GetDirectiveRequest, GetMessageReply, GetMessageRequest, ListAttemptsReply,
    ListAttemptsRequest, ListBroadcastsReply, ListBroadcastsRequest, ListDirectivesReply,
    ListDirectivesRequest, ListExhaustedReply, ListExhaustedRequest, ListMessagesReply, ListMessagesRequest,
    ListSoleResolverReply, ListSoleResolverRequest, Outcome, RedeliverExhaustedReply,
    RedeliverExhaustedRequest, RedeliverMessageReply, RedeliverMessageRequest, ResolveMessageRequest,
    SettlePushesReply, SettlePushesRequest, SubmitBroadcastReply, SubmitBroadcastRequest,
    SubmitDirectiveReply, SubmitDirectiveRequest, SubmitMessageReply, SubmitMessageRequest,
    UnclaimEntriesReply, UnclaimEntriesRequest,
};
use ma2h::error::Problem;
use tonic::{Request, Response, Status};
use tracing::Instrument;

use crate::error::Error;
use crate::tier::Tier;

/// The service. Clones share the tier.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    tier: Arc<Tier>,
    shutdown: Shutdown,
}

impl Service {
    pub(crate) fn new(tier: Arc<Tier>, shutdown: Shutdown) -> Self {
        Self { tier, shutdown }
    }

    /// Runs what changes something in a task of its own: a caller that goes away leaves nothing half told.
    async fn finish<T, Fut>(&self, call: impl FnOnce(Arc<Tier>) -> Fut) -> Result<Response<T>, Status>
    where
        Fut: Future<Output = Result<T, Error>> + Send + 'static,
        T: Send + 'static,
    {
        let call = call(Arc::clone(&self.tier)).in_current_span();
        match self.shutdown.spawn(call).await {
            Ok(outcome) => answer(outcome),
            Err(error) => {
                tracing::error!(%error, "call ended without an outcome");
                Err(problem_to_status(&Problem::internal()))
            }
        }
    }
}

fn answer<T>(outcome: Result<T, Error>) -> Result<Response<T>, Status> {
    outcome
        .map(Response::new)
        .map_err(|error| problem_to_status(&error.into_problem()))
}

#[tonic::async_trait]
impl Lifecycle for Service {
    async fn submit_message(
        &self,
        request: Request<SubmitMessageRequest>,
    ) -> Result<Response<SubmitMessageReply>, Status> {
        self.finish(|tier| async move { tier.submit(request.into_inner()).await })
            .await
    }

    // Not finished without its caller: who is gone is shown nothing, so nothing may be stamped.
    async fn get_message(
        &self,
        request: Request<GetMessageRequest>,
    ) -> Result<Response<GetMessageReply>, Status> {
        answer(self.tier.get(request.into_inner()).await)
    }

    async fn find_changed(
        &self,
        request: Request<FindChangedRequest>,
    ) -> Result<Response<FindChangedReply>, Status> {
        answer(self.tier.find_changed(request.into_inner()).await)
    }

    async fn list_messages(
        &self,
        request: Request<ListMessagesRequest>,
    ) -> Result<Response<ListMessagesReply>, Status> {
        answer(self.tier.list(request.into_inner()).await)
    }

    async fn list_sole_resolver(
        &self,
        request: Request<ListSoleResolverRequest>,
    ) -> Result<Response<ListSoleResolverReply>, Status> {
        answer(self.tier.sole_resolver(request.into_inner()).await)
    }

    async fn resolve_message(
        &self,
        request: Request<ResolveMessageRequest>,
    ) -> Result<Response<Outcome>, Status> {
        self.finish(|tier| async move { tier.resolve(request.into_inner()).await })
            .await
    }

    async fn cancel_message(
        &self,
        request: Request<CancelMessageRequest>,
    ) -> Result<Response<Outcome>, Status> {
        self.finish(|tier| async move { tier.cancel(request.into_inner()).await })
            .await
    }

    async fn delete_message(
        &self,
        request: Request<DeleteMessageRequest>,
    ) -> Result<Response<DeleteMessageReply>, Status> {
        self.finish(|tier| async move { tier.delete(request.into_inner()).await })
            .await
    }

    async fn list_attempts(
        &self,
        request: Request<ListAttemptsRequest>,
    ) -> Result<Response<ListAttemptsReply>, Status> {
        answer(self.tier.attempts(request.into_inner()).await)
    }

    async fn redeliver_message(
        &self,
        request: Request<RedeliverMessageRequest>,
    ) -> Result<Response<RedeliverMessageReply>, Status> {
        self.finish(|tier| async move { tier.redeliver(request.into_inner()).await })
            .await
    }

    async fn list_exhausted(
        &self,
        request: Request<ListExhaustedRequest>,
    ) -> Result<Response<ListExhaustedReply>, Status> {
        answer(self.tier.exhausted(request.into_inner()).await)
    }

    async fn redeliver_exhausted(
        &self,
        request: Request<RedeliverExhaustedRequest>,
    ) -> Result<Response<RedeliverExhaustedReply>, Status> {
        self.finish(|tier| async move { tier.redeliver_exhausted(request.into_inner()).await })
            .await
    }

    async fn claim_pushes(
        &self,
        request: Request<ClaimPushesRequest>,
    ) -> Result<Response<ClaimPushesReply>, Status> {
        self.finish(|tier| async move { tier.claim_pushes(request.into_inner()).await })
            .await
    }

    async fn settle_pushes(
        &self,
        request: Request<SettlePushesRequest>,
    ) -> Result<Response<SettlePushesReply>, Status> {
        self.finish(|tier| async move { tier.settle_pushes(request.into_inner()).await })
            .await
    }

    async fn ack_message(&self, request: Request<AckMessageRequest>) -> Result<Response<Ack>, Status> {
        self.finish(|tier| async move { tier.ack_message(request.into_inner()).await })
            .await
    }

    async fn submit_directive(
        &self,
        request: Request<SubmitDirectiveRequest>,
    ) -> Result<Response<SubmitDirectiveReply>, Status> {
        self.finish(|tier| async move { tier.submit_directive(request.into_inner()).await })
            .await
    }

    async fn get_directive(
        &self,
        request: Request<GetDirectiveRequest>,
    ) -> Result<Response<Directive>, Status> {
        answer(self.tier.directive(request.into_inner()).await)
    }

    async fn list_directives(
        &self,
        request: Request<ListDirectivesRequest>,
    ) -> Result<Response<ListDirectivesReply>, Status> {
        answer(self.tier.directives(request.into_inner()).await)
    }

    async fn submit_broadcast(
        &self,
        request: Request<SubmitBroadcastRequest>,
    ) -> Result<Response<SubmitBroadcastReply>, Status> {
        self.finish(|tier| async move { tier.submit_broadcast(request.into_inner()).await })
            .await
    }

    async fn get_broadcast(
        &self,
        request: Request<GetBroadcastRequest>,
    ) -> Result<Response<GetBroadcastReply>, Status> {
        answer(self.tier.broadcast(request.into_inner()).await)
    }

    async fn list_broadcasts(
        &self,
        request: Request<ListBroadcastsRequest>,
    ) -> Result<Response<ListBroadcastsReply>, Status> {
        answer(self.tier.broadcasts(request.into_inner()).await)
    }

    async fn claim_entries(
        &self,
        request: Request<ClaimEntriesRequest>,
    ) -> Result<Response<ClaimEntriesReply>, Status> {
        self.finish(|tier| async move { tier.claim_entries(request.into_inner()).await })
            .await
    }

    async fn unclaim_entries(
        &self,
        request: Request<UnclaimEntriesRequest>,
    ) -> Result<Response<UnclaimEntriesReply>, Status> {
        self.finish(|tier| async move { tier.unclaim_entries(request.into_inner()).await })
            .await
    }

    async fn ack_entries(
        &self,
        request: Request<AckEntriesRequest>,
    ) -> Result<Response<AckEntriesReply>, Status> {
        self.finish(|tier| async move { tier.ack_entries(request.into_inner()).await })
            .await
    }

    async fn find_filled(
        &self,
        request: Request<FindFilledRequest>,
    ) -> Result<Response<FindFilledReply>, Status> {
        // Also what a long look saw is remembered, and that one was too much, for a caller that is told in vain.
        self.finish(|tier| async move { tier.find_filled(request.into_inner()).await })
            .await
    }

    async fn count_waiting(
        &self,
        request: Request<CountWaitingRequest>,
    ) -> Result<Response<CountWaitingReply>, Status> {
        answer(self.tier.count_waiting(request.into_inner()).await)
    }

    async fn close_mailboxes(
        &self,
        request: Request<CloseMailboxesRequest>,
    ) -> Result<Response<CloseMailboxesReply>, Status> {
        self.finish(|tier| async move { tier.close_mailboxes(request.into_inner()).await })
            .await
    }
}
