//! Holds our schemas to the published ones: the same vectors, the same examples, and the same verdict on documents
//! that nobody wrote.
//!
//! The published files are not part of this repository. They are looked for in `shared/ma2h` beside it, or where
//! `MA2H_PUBLISHED` says.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helpers fail by panicking"
)]

mod differential;
mod examples;
mod files;
mod mutator;
mod seeds;
mod vectors;
