//! The checks: a file for each part of the specification, a small function for each clause.

mod acks;
mod addressed;
mod addressee;
mod asks;
mod binding;
mod cancel;
mod directives;
mod discovery;
mod durability;
mod entries;
mod envelopes;
mod errors;
mod expiry;
mod free_form;
mod honesty;
mod inbound;
mod lifecycle;
mod limits;
mod owners;
mod presence;
mod pull;
mod push;
mod push_retry;
mod resolvers;
mod response;
mod safety;
mod sessions;
mod stops;
mod streams;
mod submit;
mod verbs;
mod versions;
mod webhook;

use super::registry::Check;

/// All of them.
pub(crate) fn all() -> Vec<Check> {
    [
        acks::checks(),
        addressed::checks(),
        addressee::checks(),
        asks::checks(),
        binding::checks(),
        cancel::checks(),
        discovery::checks(),
        directives::checks(),
        durability::checks(),
        entries::checks(),
        envelopes::checks(),
        errors::checks(),
        expiry::checks(),
        free_form::checks(),
        honesty::checks(),
        inbound::checks(),
        lifecycle::checks(),
        limits::checks(),
        owners::checks(),
        presence::checks(),
        pull::checks(),
        push::checks(),
        push_retry::checks(),
        resolvers::checks(),
        response::checks(),
        safety::checks(),
        sessions::checks(),
        stops::checks(),
        streams::checks(),
        submit::checks(),
        verbs::checks(),
        versions::checks(),
        webhook::checks(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
