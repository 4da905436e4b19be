//! A digest that tells apart all that differs, and nothing else.

use sha2::{Digest as _, Sha256};

use super::node::Node;
use crate::error::Problem;

/// SHA-256 over the lossless form: keys sorted, strings decoded, numbers as written, white space gone. What lies at a
/// path of `skip` is left out.
///
/// The idempotency comparison uses it (§8.1). JCS would not do: it writes 2^53 and 2^53+1 alike, so that a changed
/// payload would pass for a retry.
pub fn lossless_digest(text: &str, skip: &[&[&str]]) -> Result<[u8; 32], Problem> {
    super::parse(text).map(|node| node.lossless_digest(skip))
}

impl Node<'_> {
    /// See [`lossless_digest`].
    pub fn lossless_digest(&self, skip: &[&[&str]]) -> [u8; 32] {
        let mut hasher = Sha256::new();
        feed(&mut hasher, self, skip);
        hasher.finalize().into()
    }
}

/// Every value opens with its kind, and everything of variable length with that length: no two values share a form.
fn feed(hasher: &mut Sha256, node: &Node<'_>, skip: &[&[&str]]) {
    match node {
        Node::Null => hasher.update(b"n"),
        Node::Bool(false) => hasher.update(b"f"),
        Node::Bool(true) => hasher.update(b"t"),
        Node::Number(text) => feed_text(hasher, b'd', text),
        Node::String(text) => feed_text(hasher, b's', text),
        Node::Array(items) => {
            feed_length(hasher, b'a', items.len());
            for item in items {
                feed(hasher, item, &[]);
            }
        }
        Node::Object(members) => {
            let is_skipped = |name: &str| skip.contains(&[name].as_slice());
            let mut kept: Vec<_> = members
                .iter()
                .filter(|member| !is_skipped(&member.name))
                .collect();
            kept.sort_unstable_by(|one, other| one.name.cmp(&other.name));
            feed_length(hasher, b'o', kept.len());
            for member in kept {
                feed_text(hasher, b'k', &member.name);
                let within = skip.iter().filter_map(|path| match path {
                    [first, rest @ ..] if *first == member.name && !rest.is_empty() => Some(rest),
                    _ => None,
                });
                feed(hasher, &member.node, &within.collect::<Vec<_>>());
            }
        }
    }
}

fn feed_text(hasher: &mut Sha256, kind: u8, text: &str) {
    feed_length(hasher, kind, text.len());
    hasher.update(text.as_bytes());
}

fn feed_length(hasher: &mut Sha256, kind: u8, length: usize) {
    hasher.update([kind]);
    hasher.update((length as u64).to_be_bytes());
}
