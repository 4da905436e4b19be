//! The gateway tier: the HTTPS edge of the hub and its web inbox.

mod app;
mod auth;
mod directory;
mod inbox;
mod messages;
mod principal;
mod wakes;
