//! Who may ask this agent, or task it (§13.4).

use crate::address::{Actor, resolver_matches};

/// Declared by whoever deploys the agent; there is no default. A signature proves where an ask comes from, not that it
/// is meant well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SenderPolicy {
    /// Any agent of the account.
    Account,
    /// These: `agent:<id>` under any session, or `agent:<id>#sess_…`. An empty list is nobody.
    Only(Vec<String>),
}

impl SenderPolicy {
    /// Whether an attested `from` may.
    pub fn allows(&self, from: &str) -> bool {
        match self {
            SenderPolicy::Account => true,
            SenderPolicy::Only(entries) => from
                .parse::<Actor>()
                .is_ok_and(|actor| entries.iter().any(|entry| resolver_matches(entry, &actor))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SenderPolicy;

    #[test]
    fn who_may() {
        let only = SenderPolicy::Only(vec!["agent:lead".into(), "agent:ops#sess_1".into()]);
        let cases = [
            ("agent:lead", true),
            ("agent:lead#sess_3", true),
            ("agent:leader", false),
            ("agent:ops#sess_1", true),
            ("agent:ops#sess_2", false),
            ("agent:ops", false),
            ("human:lead", false),
            ("lead", false),
        ];
        for (from, expected) in cases {
            assert_eq!(only.allows(from), expected, "{from}");
            assert!(SenderPolicy::Account.allows(from));
            assert!(!SenderPolicy::Only(Vec::new()).allows(from));
        }
    }
}
