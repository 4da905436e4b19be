//! Rate budgets that lifecycle said are spent (§8.6): until they start anew a flood is refused here, before its bodies
//! are read, and touches no other tier.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hub_proto::lifecycle::BudgetSpent;
use ma2h::error::Problem;

use crate::principal::Agent;

/// Agents remembered at a time; of those beyond it lifecycle is asked.
const AGENTS_MAX: usize = 20_000;

/// What is known to be spent. Bounded, and forgets.
#[derive(Default)]
pub(crate) struct SpentBudgets {
    agents: Mutex<HashMap<String, Spent>>,
}

/// Until when each kind of submit is refused.
#[derive(Clone, Copy)]
struct Spent {
    unaddressed: Instant,
    addressed: Instant,
}

impl SpentBudgets {
    /// Remembers what lifecycle said, and gives the refusal.
    pub(super) fn note(&self, agent: &Agent, spent: BudgetSpent) -> Problem {
        let now = Instant::now();
        let until = now + Duration::from_millis(spent.resets_in_ms.into());
        let mut agents = self.lock();
        if agents.len() >= AGENTS_MAX {
            agents.retain(|_, known| now < known.unaddressed.max(known.addressed));
        }
        if agents.len() < AGENTS_MAX {
            let known = agents.entry(key(agent)).or_insert(Spent {
                unaddressed: now,
                addressed: now,
            });
            if spent.unaddressed {
                known.unaddressed = until;
            }
            if spent.addressed {
                known.addressed = until;
            }
        }
        refusal(until - now)
    }

    /// Refuses a submit whose budget is known to be spent.
    pub(super) fn check(&self, agent: &Agent, is_addressed: bool) -> Result<(), Problem> {
        self.refuse_until(agent, |known| {
            if is_addressed {
                known.addressed
            } else {
                known.unaddressed
            }
        })
    }

    /// Refuses a submit that has not been read, where its budget is spent whichever that is.
    pub(super) fn check_unread(&self, agent: &Agent) -> Result<(), Problem> {
        self.refuse_until(agent, |known| known.unaddressed.min(known.addressed))
    }

    fn refuse_until(&self, agent: &Agent, until: impl FnOnce(&Spent) -> Instant) -> Result<(), Problem> {
        let left = self
            .lock()
            .get(&key(agent))
            .map(|known| until(known).saturating_duration_since(Instant::now()));
        match left {
            Some(left) if !left.is_zero() => {
                metrics::counter!("hub_gateway_submits_over_budget_total").increment(1);
                Err(refusal(left))
            }
            _ => Ok(()),
        }
    }

    /// No code panics while it holds the lock; were it to, the entries would still be whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Spent>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Neither part holds a control character.
fn key(agent: &Agent) -> String {
    format!("{}\0{}", agent.account, agent.id)
}

fn refusal(left: Duration) -> Problem {
    // Rounded up: who comes back then finds the budget anew.
    let seconds = left.as_millis().div_ceil(1000).max(1);
    Problem::rate_limited(
        "rate_limit.requests_per_minute: the budget of this agent is spent",
        u32::try_from(seconds).unwrap_or(u32::MAX),
    )
}

#[cfg(test)]
mod tests {
    use hub_proto::lifecycle::BudgetSpent;

    use super::SpentBudgets;
    use crate::principal::{Agent, Credential};

    fn agent(id: &str) -> Agent {
        Agent {
            account: "acme".to_owned(),
            id: id.to_owned(),
            credential: Credential::Token([0; 32]),
        }
    }

    fn spent(resets_in_ms: u32, unaddressed: bool, addressed: bool) -> BudgetSpent {
        BudgetSpent {
            resets_in_ms,
            unaddressed,
            addressed,
        }
    }

    #[test]
    fn a_spent_budget_refuses_what_is_charged_to_it() {
        let cases = [
            // What was spent; whether unaddressed, addressed and unread submits pass.
            (spent(1500, true, true), [false, false, false]),
            (spent(1500, true, false), [false, true, true]),
            (spent(1500, false, true), [true, false, true]),
            (spent(0, true, true), [true, true, true]),
        ];
        for (spent, passes) in cases {
            let budgets = SpentBudgets::default();
            let bot = agent("bot");
            let refusal = budgets.note(&bot, spent);
            assert_eq!(
                refusal.retry_after_seconds,
                Some(if spent.resets_in_ms > 0 { 2 } else { 1 })
            );
            let found = [
                budgets.check(&bot, false).is_ok(),
                budgets.check(&bot, true).is_ok(),
                budgets.check_unread(&bot).is_ok(),
            ];
            assert_eq!(found, passes, "{spent:?}");
            assert!(budgets.check(&agent("other"), false).is_ok());
        }
    }
}
