//! What an agent owes to what is delivered to it (§9.2, §13.4), as code that it can call.
//!
//! A [`Receiver`] does it all in order: verify, refuse a replay, check the shape and strip it, confirm the addressee, ask
//! the policy, reserve the work. Then the agent acts, commits, and acknowledges to the hub. The clock is always passed
//! in, as Unix seconds; nothing here touches the network or a disk.

mod bounds;
mod dedup;
mod delivered;
mod identity;
mod policy;
mod receiver;
mod refusal;
mod replay;

pub use bounds::Bounds;
pub use dedup::{Dedup, DedupFull, Reservation, Standing};
pub use delivered::Delivered;
pub use identity::Identity;
pub use policy::SenderPolicy;
pub use receiver::{Received, Receiver};
pub use refusal::Refusal;
pub use replay::{ReplayError, ReplayGuard};
