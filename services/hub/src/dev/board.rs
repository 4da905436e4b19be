//! Who runs under which process id, kept true in `dev.json`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hub_platform::db::Tier;

use super::description::{Description, Pids};
use super::voice;

/// One child: what it is, and which replica of it, from 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Slot {
    pub what: What,
    pub replica: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum What {
    Tier(Tier),
    Postgres,
    Nats,
}

impl fmt::Display for Slot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.what {
            What::Tier(tier) if self.replica > 0 => write!(out, "{tier}-{}", self.replica + 1),
            What::Tier(tier) => write!(out, "{tier}"),
            What::Postgres => out.write_str("postgres"),
            What::Nats => out.write_str("nats"),
        }
    }
}

/// Shared by all that start children.
#[derive(Clone, Default)]
pub(crate) struct Board {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    pids: Pids,
    /// What is written, and where, while the hub is ready.
    published: Option<(Description, PathBuf)>,
    ends: u32,
}

impl Board {
    /// A child runs under this process id now.
    pub(crate) fn set(&self, slot: Slot, pid: u32) {
        let mut state = self.state();
        let pids = state.pids.of(slot.what);
        if pids.len() <= slot.replica {
            pids.resize(slot.replica + 1, 0);
        }
        pids[slot.replica] = pid;
        state.write();
    }

    /// Tells the person at the terminal about a child that did not stay.
    pub(crate) fn report(&self, slot: Slot, what: &str) {
        self.state().ends += 1;
        voice::warn(format_args!("{slot} {what}"));
    }

    /// How often a child did not stay, so far.
    pub(crate) fn ends(&self) -> u32 {
        self.state().ends
    }

    /// Writes the description with the process ids of now, and keeps them true from now on.
    pub(crate) fn publish(&self, description: Description, path: &Path) -> anyhow::Result<()> {
        let mut state = self.state();
        let description = Description {
            pids: state.pids.clone(),
            ..description
        };
        description.write(path)?;
        state.published = Some((description, path.to_owned()));
        Ok(())
    }

    /// Takes the description away: the hub can no longer be relied on.
    pub(crate) fn withdraw(&self) {
        if let Some((_, path)) = self.state().published.take() {
            std::fs::remove_file(path).ok();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(&mut self) {
        let Some((description, path)) = &mut self.published else {
            return;
        };
        description.pids = self.pids.clone();
        if let Err(error) = description.write(path) {
            voice::warn(format_args!("{error:#}"));
        }
    }
}

impl Pids {
    fn of(&mut self, what: What) -> &mut Vec<u32> {
        match what {
            What::Tier(Tier::Gateway) => &mut self.gateway,
            What::Tier(Tier::Lifecycle) => &mut self.lifecycle,
            What::Tier(Tier::Delivery) => &mut self.delivery,
            What::Tier(Tier::Presence) => &mut self.presence,
            What::Postgres => &mut self.postgres,
            What::Nats => &mut self.nats,
        }
    }
}
