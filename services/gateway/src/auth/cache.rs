//! Credentials looked up a moment ago, so that a busy agent does not have its token read at each call, nor does a program
//! that goes on with one that has ended.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Authenticated;
use crate::directory::credentials::Found;
use crate::principal::Credential;

/// Credentials remembered at a time, and those that are nobody's.
const ENTRIES_MAX: usize = 20_000;
const NOBODYS_MAX: usize = 20_000;
/// How long nobody's credential is remembered. No credential is known to anybody before it is stored, so that none is
/// refused which has just been made.
const NOBODYS_FOR: Duration = Duration::from_secs(1);

/// Bounded, and forgets after a time; see [`Cache::ticket`] for what keeps a revoked one out.
pub(crate) struct Cache {
    trusted_for: Duration,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    /// Raised by each revocation.
    epoch: u64,
    by_credential: HashMap<Credential, Entry>,
    nobodys: HashMap<Credential, Instant>,
}

struct Entry {
    caller: Authenticated,
    until: Instant,
}

/// Whose a credential is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// This caller's.
    Caller(Authenticated),
    /// It has ended, or never was.
    Nobody,
}

/// Taken before a look-up and shown with its result: a principal read before a revocation is not remembered after it.
#[derive(Clone, Copy)]
pub(crate) struct Ticket {
    epoch: u64,
    taken_at: Instant,
}

impl Cache {
    /// Trusts an entry for so long, counted from before it was read.
    pub(crate) fn new(trusted_for_ms: u64) -> Self {
        Self {
            trusted_for: Duration::from_millis(trusted_for_ms),
            entries: Mutex::default(),
        }
    }

    /// Whose credential this is, if that was read a moment ago.
    pub(crate) fn get(&self, credential: Credential) -> Option<Known> {
        let (entries, now) = (self.lock(), Instant::now());
        if let Some(until) = entries.nobodys.get(&credential) {
            return (now < *until).then_some(Known::Nobody);
        }
        let entry = entries.by_credential.get(&credential)?;
        (now < entry.until).then(|| Known::Caller(entry.caller.clone()))
    }

    /// To be taken before a look-up.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket {
            epoch: self.lock().epoch,
            taken_at: Instant::now(),
        }
    }

    /// Remembers what was looked up, none of it for longer than it holds.
    pub(crate) fn put(&self, ticket: Ticket, credential: Credential, found: Option<&Found>) {
        let mut entries = self.lock();
        let Some(found) = found else {
            entries.by_credential.remove(&credential);
            if make_room(&mut entries.nobodys, NOBODYS_MAX, |until| *until) {
                entries.nobodys.insert(credential, ticket.taken_at + NOBODYS_FOR);
            }
            return;
        };
        let trusted_for = found
            .left
            .map_or(self.trusted_for, |left| left.min(self.trusted_for));
        let is_current = ticket.epoch == entries.epoch;
        if is_current && make_room(&mut entries.by_credential, ENTRIES_MAX, |entry| entry.until) {
            entries.nobodys.remove(&credential);
            let entry = Entry {
                caller: Authenticated {
                    principal: found.principal.clone(),
                    read_at: ticket.taken_at,
                },
                until: ticket.taken_at + trusted_for,
            };
            entries.by_credential.insert(credential, entry);
        }
    }

    /// Forgets an account's principals.
    pub(crate) fn forget(&self, account: &str) {
        let mut entries = self.lock();
        entries.epoch += 1;
        entries
            .by_credential
            .retain(|_, entry| entry.caller.principal.account() != Some(account));
    }

    /// No code panics while it holds the lock; were it to, the entries would still be whole.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops what has run out once the bound is met; whether there is room then.
fn make_room<V>(
    entries: &mut HashMap<Credential, V>,
    entries_max: usize,
    until: impl Fn(&V) -> Instant,
) -> bool {
    if entries.len() >= entries_max {
        let now = Instant::now();
        entries.retain(|_, entry| now < until(entry));
    }
    entries.len() < entries_max
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Cache, Known};
    use crate::auth::Authenticated;
    use crate::directory::credentials::Found;
    use crate::principal::{Agent, Credential, Principal};

    const CREDENTIAL: Credential = Credential::Token([7; 32]);

    fn agent(account: &str) -> Found {
        let agent = Agent {
            account: account.to_owned(),
            id: "a".to_owned(),
            credential: CREDENTIAL,
        };
        Found {
            principal: Principal::Agent(agent),
            left: None,
        }
    }

    /// Whose the cache says that the credential is.
    fn known(cache: &Cache) -> Option<Principal> {
        match cache.get(CREDENTIAL)? {
            Known::Caller(Authenticated { principal, .. }) => Some(principal),
            Known::Nobody => None,
        }
    }

    #[test]
    fn an_entry_is_trusted_until_its_account_is_forgotten() {
        let cache = Cache::new(60_000);
        cache.put(cache.ticket(), CREDENTIAL, Some(&agent("acme")));
        cache.forget("other");
        assert_eq!(known(&cache), Some(agent("acme").principal));
        cache.forget("acme");
        assert_eq!(cache.get(CREDENTIAL), None);
    }

    #[test]
    fn what_was_read_before_a_revocation_is_not_remembered_after_it() {
        let cache = Cache::new(60_000);
        let ticket = cache.ticket();
        cache.forget("acme");
        cache.put(ticket, CREDENTIAL, Some(&agent("acme")));
        assert_eq!(cache.get(CREDENTIAL), None);
    }

    #[test]
    fn nothing_is_trusted_without_time() {
        let cache = Cache::new(0);
        cache.put(cache.ticket(), CREDENTIAL, Some(&agent("acme")));
        assert_eq!(cache.get(CREDENTIAL), None);
    }

    #[test]
    fn nothing_is_trusted_for_longer_than_it_holds() {
        let cache = Cache::new(60_000);
        for (left, is_trusted) in [(Duration::ZERO, false), (Duration::from_mins(1), true)] {
            let found = Found {
                left: Some(left),
                ..agent("acme")
            };
            cache.put(cache.ticket(), CREDENTIAL, Some(&found));
            assert_eq!(cache.get(CREDENTIAL).is_some(), is_trusted, "{left:?}");
        }
    }

    #[test]
    fn nobodys_is_remembered_for_a_moment() {
        let cache = Cache::new(60_000);
        cache.put(cache.ticket(), CREDENTIAL, None);
        assert_eq!(cache.get(CREDENTIAL), Some(Known::Nobody));
        cache.put(cache.ticket(), CREDENTIAL, Some(&agent("acme")));
        assert_eq!(known(&cache), Some(agent("acme").principal));
        cache.put(cache.ticket(), CREDENTIAL, None);
        assert_eq!(cache.get(CREDENTIAL), Some(Known::Nobody));
    }
}
