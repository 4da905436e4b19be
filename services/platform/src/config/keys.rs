//! How long keys overlap when they are rotated (§9.2).

use super::section::section;

section! {
    /// How long keys overlap when they are rotated (§9.2).
    Keys in "keys" {
        /// How long a secret stays listed as retiring after the next one was put.
        secret_overlap_seconds: u64 = "HUB_KEYS_SECRET_OVERLAP_SECONDS", "86400", "seconds", 1 to 31_536_000;
        /// How long a new signing key is published before it signs, so that those who keep the set a while know it by then.
        signing_lead_seconds: u64 = "HUB_KEYS_SIGNING_LEAD_SECONDS", "900", "seconds", 0 to 2_592_000;
        /// How long a signing key stays published after the next one has begun to sign.
        signing_overlap_seconds: u64 = "HUB_KEYS_SIGNING_OVERLAP_SECONDS", "86400", "seconds", 2 to 31_536_000;
        /// How often what has outlived its overlap is dropped.
        sweep_interval_ms: u64 = "HUB_KEYS_SWEEP_INTERVAL_MS", "60000", "milliseconds", 10 to 3_600_000;
    }
}
