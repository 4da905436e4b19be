//! What a person asks for under a key of hers: the same key and body are the same operation (design rule 3).

use hub_platform::ids;
use sha2::{Digest as _, Sha256};

use crate::principal::Human;

/// Of a call that has no body.
pub(crate) const NO_BODY: [u8; 32] = [0; 32];

/// The id of what a call makes. Under a key it follows from who calls, the key, what is asked for, and the body's digest: made
/// again, the call has the same one. Without a key it is minted.
pub(crate) fn id(prefix: &str, by: Option<(&Human, &str)>, asked: &[&str], body: &[u8; 32]) -> String {
    let Some((human, key)) = by else {
        return ids::mint(prefix);
    };
    let by = [human.account.as_str(), human.id.as_str(), key];
    named(prefix, &[&by, asked].concat(), body)
}

/// The id of what is the same whenever all this is, whoever calls.
pub(crate) fn named(prefix: &str, parts: &[&str], body: &[u8; 32]) -> String {
    let mut name = Sha256::new();
    for part in parts {
        // With its length, so that no two lists of parts are the same bytes.
        name.update(part.len().to_be_bytes());
        name.update(part);
    }
    ids::of_operation(prefix, &name.finalize().into(), body)
}

#[cfg(test)]
mod tests {
    use super::{NO_BODY, id};
    use crate::principal::{Credential, Human, Role};

    fn human(id: &str) -> Human {
        Human {
            account: "acme".to_owned(),
            id: id.to_owned(),
            role: Role::Operator,
            credential: Credential::Token([0; 32]),
        }
    }

    #[test]
    fn the_same_key_and_body_are_one_operation() {
        let (alice, bob) = (human("alice"), human("bob"));
        let named = |human, key, asked, body: u8| id("res", Some((human, key)), &[asked], &[body; 32]);
        let one = named(&alice, "k", "msg_1", 1);
        assert_eq!(one, named(&alice, "k", "msg_1", 1));
        let others = [
            named(&bob, "k", "msg_1", 1),
            named(&alice, "l", "msg_1", 1),
            named(&alice, "k", "msg_2", 1),
            named(&alice, "k", "msg_1", 2),
            named(&alice, "km", "sg_1", 1),
        ];
        for other in others {
            assert_ne!(one, other);
        }
        assert_ne!(id("res", None, &[], &NO_BODY), id("res", None, &[], &NO_BODY));
    }
}
