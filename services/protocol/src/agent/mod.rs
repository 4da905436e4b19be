//! What an agent owes to what is delivered to it (§9.2, §13.4), and to the hub it calls, as code that it can call.
//!
//! A [`Receiver`] does it all in order: verify, refuse a replay, check the shape and strip it, confirm the addressee, ask
//! the policy, reserve the work. Then the agent acts, commits, and acknowledges to the hub. The clock is always passed
//! in, as Unix seconds; nothing here touches the network or a disk.
//!
//! And what it owes when it calls: [`InterAgentMail`] before it writes to another agent, [`calls`] where the hub said
//! no.

mod bounds;
pub mod calls;
mod dedup;
mod delivered;
mod identity;
mod mail;
mod policy;
mod receiver;
mod refusal;
mod replay;

pub use bounds::Bounds;
pub use dedup::{Dedup, DedupFull, Reservation, Standing};
pub use delivered::Delivered;
pub use identity::Identity;
pub use mail::{Destination, InterAgentMail, Misrouted};
pub use policy::SenderPolicy;
pub use receiver::{Received, Receiver};
pub use refusal::Refusal;
pub use replay::{ReplayError, ReplayGuard};
