//! Hashes that stand for text of any length: idempotency keys, and what a list is searched by.

use std::collections::BTreeSet;

use ma2h::Envelope;
use ma2h::envelope::MessageType;
use ma2h::error::Problem;
use ma2h::json::Node;
use sha2::{Digest, Sha256};

/// Words of one title that are indexed. A title of 200 characters has fewer.
const WORDS_MAX: usize = 128;
/// Tags of one message that are indexed: all that a submit may have.
const TAGS_MAX: usize = 1000;

/// An idempotency key with what it was used for.
#[derive(Debug)]
pub(crate) struct IdempotencyKey {
    pub(crate) hash: [u8; 32],
    pub(crate) digest: [u8; 32],
}

impl IdempotencyKey {
    /// The envelope's key, which an ask and a task must have (§8.1).
    pub(crate) fn of(envelope: &Envelope, node: &Node<'_>) -> Result<Option<Self>, Problem> {
        let Some(key) = &envelope.idempotency_key else {
            return match envelope.kind {
                MessageType::Notify => Ok(None),
                _ => Err(Problem::validation("idempotency_key: required for ask and task")),
            };
        };
        // A restarted agent retries from another session and run (§8.1).
        let digest = node.lossless_digest(&[&["agent", "session"], &["agent", "run_id"]]);
        Ok(Some(Self {
            hash: Sha256::digest(key).into(),
            digest,
        }))
    }
}

/// What a message is found by: the words of its title and its tags.
pub(crate) fn search_keys(account: &str, title: &str, tags: &[String]) -> Vec<i64> {
    let mut keys: BTreeSet<i64> = word_keys(account, title).into_iter().collect();
    keys.extend(tags.iter().take(TAGS_MAX).map(|tag| tag_key(account, tag)));
    keys.into_iter().collect()
}

/// Keys of the words in a text: runs of letters and digits, whatever their case.
pub(crate) fn word_keys(account: &str, text: &str) -> Vec<i64> {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let words: BTreeSet<String> = words.take(WORDS_MAX).map(str::to_lowercase).collect();
    words.iter().map(|word| key(account, "word", word)).collect()
}

/// Key of a tag, which matches as a whole.
pub(crate) fn tag_key(account: &str, tag: &str) -> i64 {
    key(account, "tag", tag)
}

/// The account is part of it: a search meets no other account's rows (design rule 7). An account has no control
/// characters, so the parts cannot be confused.
fn key(account: &str, kind: &str, text: &str) -> i64 {
    let mut hash = Sha256::new();
    hash.update(format!("{account}\0{kind}\0"));
    hash.update(text);
    let hash: [u8; 32] = hash.finalize().into();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    i64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::{search_keys, tag_key, word_keys};

    #[test]
    fn words_are_found_in_any_case_and_order() {
        let title = search_keys("acme", "Ship v2.1 to Straße, now!", &["deploy".to_owned()]);
        let found = |query: &str| word_keys("acme", query).iter().all(|key| title.contains(key));
        for query in ["ship", "NOW ship", "v2 1", "straße", "to"] {
            assert!(found(query), "{query}");
        }
        for query in ["shi", "ship later", "deploy"] {
            assert!(!found(query), "{query}");
        }
        assert!(word_keys("acme", " ?! ").is_empty());
    }

    #[test]
    fn tags_match_as_a_whole_within_their_account() {
        let keys = search_keys("acme", "title", &["two words".to_owned()]);
        assert!(keys.contains(&tag_key("acme", "two words")));
        for (account, tag) in [("acme", "two"), ("acme", "title"), ("other", "two words")] {
            assert!(!keys.contains(&tag_key(account, tag)), "{account} {tag}");
        }
    }

    #[test]
    fn the_number_of_keys_is_bounded() {
        let tags: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
        assert_eq!(search_keys("acme", &"a b ".repeat(1000), &tags).len(), 1000 + 2);
    }
}
