//! Which faults come when: drawn from a seed, the same each time.

use std::fmt;
use std::time::Duration;

use hub_platform::db::Tier;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

/// How long a fault lasts, in milliseconds.
const LASTS_MS: std::ops::Range<u64> = 200..3500;
/// How long a clock is put off at least: a process looks how far once a second.
const SHIFT_LASTS_MIN: Duration = Duration::from_secs(2);
/// How far a clock is put off.
const SHIFT_SECONDS: i64 = 90;

/// One of the processes of the hub.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Replica {
    /// Its tier.
    pub(crate) tier: Tier,
    /// Which of the tier, from 0.
    pub(crate) number: usize,
}

/// A connection that a proxy stands in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Link {
    /// From a replica to PostgreSQL.
    Postgres(Replica),
    /// From a replica to NATS.
    Nats(Replica),
    /// To a replica: from clients to a gateway, from other tiers to any other.
    Front(Replica),
}

/// What happens.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Act {
    /// `kill -9`.
    Kill(Replica),
    /// SIGTERM, as an orchestrator does.
    Terminate(Replica),
    /// A replica that does not run is started.
    Start(Replica),
    /// SIGSTOP.
    Freeze(Replica),
    /// SIGCONT.
    Thaw(Replica),
    /// The replica's clock jumps so many seconds off, and with 0 back.
    Shift(Replica, i64),
    /// Connections end in the middle of what they carry.
    Cut(Link),
    /// No connection gets through.
    Refuse(Link),
    /// Nothing gets through, and nobody is told.
    Hold(Link),
    /// Each chunk is late.
    Delay(Link, Duration),
    /// All gets through again.
    Heal(Link),
    /// PostgreSQL is killed with all that it has in hand.
    KillPostgres,
    /// PostgreSQL disconnects everybody and stops.
    StopPostgres,
    /// PostgreSQL is started on its data.
    StartPostgres,
    /// NATS is killed.
    KillNats,
    /// NATS is killed, and all that it held is gone.
    WipeNats,
    /// NATS is started.
    StartNats,
}

impl Act {
    /// What makes it good again.
    fn remedy(self) -> Option<Self> {
        match self {
            Self::Kill(replica) | Self::Terminate(replica) => Some(Self::Start(replica)),
            Self::Freeze(replica) => Some(Self::Thaw(replica)),
            Self::Shift(replica, seconds) => (seconds != 0).then_some(Self::Shift(replica, 0)),
            Self::Refuse(link) | Self::Hold(link) | Self::Delay(link, _) => Some(Self::Heal(link)),
            Self::KillPostgres | Self::StopPostgres => Some(Self::StartPostgres),
            Self::KillNats | Self::WipeNats => Some(Self::StartNats),
            Self::Cut(_)
            | Self::Start(_)
            | Self::Thaw(_)
            | Self::Heal(_)
            | Self::StartPostgres
            | Self::StartNats => None,
        }
    }

    /// What the report counts it as; none for a remedy.
    pub(crate) fn kind(self) -> Option<&'static str> {
        Some(match self {
            Self::Kill(_) => "kill",
            Self::Terminate(_) => "terminate",
            Self::Freeze(_) => "freeze",
            Self::Shift(_, seconds) if seconds != 0 => "shift clock",
            Self::Cut(_) => "cut",
            Self::Refuse(_) => "refuse",
            Self::Hold(_) => "hold",
            Self::Delay(..) => "delay",
            Self::KillPostgres => "kill postgresql",
            Self::StopPostgres => "stop postgresql",
            Self::KillNats => "kill nats",
            Self::WipeNats => "wipe nats",
            _ => return None,
        })
    }
}

/// An act and when it comes, counted from the start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Step {
    /// When.
    pub(crate) at: Duration,
    /// What.
    pub(crate) act: Act,
}

/// Draws the faults of so long a time, one after each such pause on average, each with its remedy, in their order. The
/// remedies all lie within it.
pub(crate) fn draw(seed: u64, lasting: Duration, pause: Duration, replicas: usize) -> Vec<Step> {
    let mut dice = StdRng::seed_from_u64(seed);
    let mut steps = Vec::new();
    let mut at = Duration::ZERO;
    loop {
        at += pause.mul_f64(dice.random_range(0.25..1.75));
        let lasts = Duration::from_millis(dice.random_range(LASTS_MS));
        let act = fault(&mut dice, replicas);
        let lasts = match act {
            Act::Shift(..) => lasts.max(SHIFT_LASTS_MIN),
            _ => lasts,
        };
        if at + lasts > lasting {
            break;
        }
        steps.push(Step { at, act });
        steps.extend(act.remedy().map(|act| Step { at: at + lasts, act }));
    }
    steps.sort_by_key(|step| step.at);
    steps
}

fn fault(dice: &mut StdRng, replicas: usize) -> Act {
    let tier = *Tier::ALL.choose(dice).unwrap_or(&Tier::Lifecycle);
    let replica = Replica {
        tier,
        number: dice.random_range(0..replicas),
    };
    let link = match dice.random_range(0..3) {
        0 => Link::Postgres(replica),
        1 => Link::Nats(replica),
        _ => Link::Front(replica),
    };
    match dice.random_range(0..100) {
        0..26 => Act::Kill(replica),
        26..34 => Act::Terminate(replica),
        34..44 => Act::Freeze(replica),
        44..56 => Act::Shift(
            replica,
            if dice.random() {
                SHIFT_SECONDS
            } else {
                -SHIFT_SECONDS
            },
        ),
        56..66 => Act::Cut(link),
        66..70 => Act::Refuse(link),
        70..76 => Act::Hold(link),
        76..82 => Act::Delay(link, Duration::from_millis(dice.random_range(5..150))),
        82..87 => Act::KillPostgres,
        87..90 => Act::StopPostgres,
        90..95 => Act::KillNats,
        _ => Act::WipeNats,
    }
}

impl fmt::Display for Replica {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.tier, self.number)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:8.3} s  {:?}", self.at.as_secs_f64(), self.act)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::{Act, draw};

    const LASTING: Duration = Duration::from_mins(10);
    const PAUSE: Duration = Duration::from_secs(1);

    #[test]
    fn a_seed_gives_the_same_faults_each_time() {
        assert_eq!(draw(7, LASTING, PAUSE, 2), draw(7, LASTING, PAUSE, 2));
        assert_ne!(draw(7, LASTING, PAUSE, 2), draw(8, LASTING, PAUSE, 2));
    }

    #[test]
    fn every_kind_comes_and_each_fault_has_its_remedy_in_time() {
        let steps = draw(1, LASTING, PAUSE, 2);
        let kinds: BTreeSet<_> = steps.iter().filter_map(|step| step.act.kind()).collect();
        assert_eq!(kinds.len(), 12, "{kinds:?}");
        assert!(steps.is_sorted_by_key(|step| step.at));
        for (number, step) in steps.iter().enumerate() {
            let remedy = step.act.remedy();
            let mut later = steps[number..].iter();
            assert!(
                remedy.is_none_or(|remedy| later.any(|later| later.act == remedy)),
                "{step} stays"
            );
            assert!(step.at <= LASTING);
        }
    }

    #[test]
    fn a_clock_put_right_is_no_fault() {
        let shifts = draw(3, LASTING, PAUSE, 2);
        let back = shifts.iter().filter(|step| matches!(step.act, Act::Shift(_, 0)));
        assert!(back.count() > 0);
    }
}
