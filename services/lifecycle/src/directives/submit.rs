//! What a person writes, on its way into a mailbox: the key before the world (design rule 4), then the directive, in one
//! statement.

use hub_platform::cpu;
use hub_platform::db;
use hub_platform::ids;
use hub_proto::lifecycle::{Directive, GetDirectiveRequest, SubmitDirectiveReply, SubmitDirectiveRequest};
use ma2h::address::Actor;
use ma2h::directive::{Composed, Draft};
use ma2h::error::Problem;
use time::OffsetDateTime;

use super::insert::{Inserted, NewDirective, Refusal, insert};
use super::{INSERT, PREFIX, RESERVE};
use crate::error::Error;
use crate::human_key::HumanKey;
use crate::statement::Values;
use crate::tier::Tier;

/// Rounds of insert and look-up. A second one is needed only if a key ends between the two.
const ROUNDS_MAX: usize = 3;

/// What is to be written.
struct Writing {
    agent: String,
    session: Option<String>,
    author: String,
    composed: Composed,
    expires_at: Option<OffsetDateTime>,
    key: Option<HumanKey>,
}

impl Tier {
    /// Accepts a directive, or answers with the original of a repeated one.
    pub(crate) async fn submit_directive(
        &self,
        request: SubmitDirectiveRequest,
    ) -> Result<SubmitDirectiveReply, Error> {
        let (request, writing) = cpu::run(request.body.len(), move || {
            let writing = read(&request);
            (request, writing)
        })
        .await;
        let writing = writing?;
        for _ in 0..ROUNDS_MAX {
            match db::retry(|| self.insert_directive(&request, &writing)).await? {
                Inserted::Yes { push_owed } => {
                    let (account, id) = (&request.account, &request.directive_id);
                    self.announce_directive(account, id, &writing.agent, push_owed);
                    return self.submitted(&request, &request.directive_id, false).await;
                }
                Inserted::Refused(refusal) => {
                    // It may be told only when nothing of this call can still be taken (design rule 4).
                    self.wait_for_directive(&request, &writing).await?;
                    let original = self.original_directive(&request, &writing).await?;
                    let id = original.ok_or_else(|| refusal.problem())?;
                    return self.submitted(&request, &id, id != request.directive_id).await;
                }
                Inserted::No => {}
            }
            if let Some(id) = self.original_directive(&request, &writing).await? {
                return self.submitted(&request, &id, id != request.directive_id).await;
            }
        }
        Err(Problem::unavailable("idempotency-key: in use by calls under way, try again").into())
    }

    async fn insert_directive(
        &self,
        request: &SubmitDirectiveRequest,
        writing: &Writing,
    ) -> Result<Inserted, db::Error> {
        if writing.session.is_some() {
            // None is registered, so that none is known.
            return Ok(Inserted::Refused(Refusal::UnknownDestination));
        }
        let client = INSERT.connection(&self.pool).await?;
        let new = NewDirective {
            account: &request.account,
            directive_id: &request.directive_id,
            agent: &writing.agent,
            author: &writing.author,
            composed: &writing.composed,
            expires_at: writing.expires_at,
            key: writing.key.map(|key| (request.human.as_str(), key)),
        };
        insert(&client, self, &new).await
    }

    /// Waits for this very call, or one under the same key, if it is under way.
    async fn wait_for_directive(
        &self,
        request: &SubmitDirectiveRequest,
        writing: &Writing,
    ) -> Result<(), db::Error> {
        let SubmitDirectiveRequest {
            account,
            human,
            directive_id,
            ..
        } = request;
        let Some(key) = &writing.key else {
            let values: Values<'_> = &[account, directive_id];
            return db::retry(|| RESERVE.reserve(&self.pool, values)).await;
        };
        self.wait_for_key(account, human, key, directive_id).await
    }

    /// The id of what this call, or one under the same key, made before.
    async fn original_directive(
        &self,
        request: &SubmitDirectiveRequest,
        writing: &Writing,
    ) -> Result<Option<String>, Error> {
        if self
            .has_directive(&request.account, &request.directive_id)
            .await?
        {
            // The very call, its reply lost on the way to the edge: nothing to compare.
            return Ok(Some(request.directive_id.clone()));
        }
        match &writing.key {
            Some(key) => self.made_under(&request.account, &request.human, key).await,
            None => Ok(None),
        }
    }

    async fn has_directive(&self, account: &str, directive_id: &str) -> Result<bool, db::Error> {
        Ok(super::READ
            .row(&self.pool, &[&account, &directive_id])
            .await?
            .is_some())
    }

    async fn submitted(
        &self,
        request: &SubmitDirectiveRequest,
        directive_id: &str,
        replayed: bool,
    ) -> Result<SubmitDirectiveReply, Error> {
        let directive: Directive = self
            .directive(GetDirectiveRequest {
                account: request.account.clone(),
                directive_id: directive_id.to_owned(),
            })
            .await?;
        Ok(SubmitDirectiveReply {
            directive: Some(directive),
            replayed,
        })
    }
}

/// Who writes what, under which key.
fn read(request: &SubmitDirectiveRequest) -> Result<Writing, Problem> {
    if !ids::is_minted(&request.directive_id, PREFIX) {
        return Err(Problem::validation("directive_id: malformed"));
    }
    let draft = Draft::read(&request.body)?;
    // An address may spell U+0000, which no id of an agent holds, nor PostgreSQL's text.
    if draft.to.agent_id().contains('\0') {
        return Err(Refusal::UnknownDestination.problem());
    }
    let author = Actor::Human(request.human.clone()).to_string();
    Ok(Writing {
        agent: draft.to.agent_id().to_owned(),
        session: draft.to.session().map(str::to_owned),
        composed: draft.compose(&request.directive_id, &author),
        author,
        expires_at: draft.expires_at,
        key: HumanKey::read(request.idempotency_key.as_deref(), draft.digest)?,
    })
}
