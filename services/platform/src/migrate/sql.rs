//! The statements around the tiers' own migrations. Names come from `Tier` alone, never from outside.

use crate::db::Tier;

/// Where the applied migrations of a tier are listed, in its schema.
pub(super) const HISTORY_TABLE: &str = "migration_history";

pub(super) const LOCK: &str = include_str!("lock.sql");

pub(super) fn role(tier: Tier) -> String {
    fill(include_str!("role.sql"), tier)
}

pub(super) fn schema(tier: Tier) -> String {
    fill(include_str!("schema.sql"), tier)
}

pub(super) fn grant(tier: Tier) -> String {
    fill(include_str!("grant.sql"), tier)
}

pub(super) fn newest(tier: Tier) -> String {
    fill(include_str!("newest.sql"), tier)
}

fn fill(statement: &str, tier: Tier) -> String {
    statement
        .replace("{role}", tier.role())
        .replace("{schema}", tier.schema())
        .replace("{history}", HISTORY_TABLE)
}
