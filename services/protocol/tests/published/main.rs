//! Holds the crate to the protocol's published fixtures.
//!
//! They are not part of this repository. They are looked for in `shared/ma2h` beside it, or where `MA2H_PUBLISHED` says.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test's helpers fail by panicking"
)]

mod acks;
mod entries;
mod files;
mod push;
mod submit;
