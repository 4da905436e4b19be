//! Keys: how each agent's entries are signed, and the hub's own key that signs where an agent has none.

mod entry;
mod hub;

pub(crate) use entry::open_secret;
pub(crate) use entry::{EntryKeyInfo, EntryKeys};
pub use hub::PublicKey;
pub(crate) use hub::{HubKey, HubKeys};

/// The statements of this module, by name.
pub(crate) const STATEMENTS: &[(&str, &str)] = &[
    ("keys/put_entry", entry::PUT),
    ("keys/read_entry", entry::READ),
    ("keys/read_entry_sealed", entry::READ_SEALED),
    ("keys/lock_signing", hub::LOCK),
    ("keys/insert_signing", hub::INSERT),
    ("keys/retire_signing", hub::RETIRE),
    ("keys/read_signing", hub::READ),
    ("keys/list_signing", hub::LIST),
];
