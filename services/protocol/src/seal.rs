//! The seal on an agent's `state` (§9.3): AES-256-GCM under a key that only the agent has.
//!
//! What comes back from the hub is untrusted until it opens. The key is the agent's own secret, laid ready where it runs
//! (a secret of its workflow, a vault): another than the credential of its callback, never sent, never part of `state`.
//! Nothing here writes a key down: a sealed state holds its layout, a nonce and the ciphertext, and no more.

use std::fmt;

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;
/// Bytes of a nonce. Drawn at random for each seal, they do for 2^32 seals under one key; then the key is changed.
pub const NONCE_BYTES: usize = 12;

/// The layout of what is sealed: this byte, the nonce, then the ciphertext with its tag.
const LAYOUT: u8 = 1;
const HEAD_BYTES: usize = 1 + NONCE_BYTES;
/// The one member of a sealed state.
const MEMBER: &str = "sealed";
/// What this seal is for, so that no other use of the key makes or opens one.
const DOMAIN: &str = "ma2h state";

/// What a sealed state belongs to. It opens nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding<'a> {
    /// The agent that seals and opens.
    pub agent_id: &'a str,
    /// What else both of its runs know, such as the job they do; may be empty.
    pub purpose: &'a str,
}

impl Binding<'_> {
    /// Each part with its length before it: no two bindings have the same bytes.
    fn associated_data(&self) -> Vec<u8> {
        let mut bytes = vec![LAYOUT];
        for part in [DOMAIN, self.agent_id, self.purpose] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

/// Why a state is not sealed or not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// Not what [`SealKey::seal`] makes.
    #[error("the state is not sealed")]
    Malformed,
    /// Sealed by a later version of this code.
    #[error("the state is sealed in layout {0}")]
    Layout(u8),
    /// Altered, sealed under another key, or for something else.
    #[error("the state does not open")]
    Altered,
    /// Longer than the cipher takes.
    #[error("the state is too long")]
    TooLong,
}

/// A key that seals and opens. It shows itself to nobody, and is wiped when it goes.
pub struct SealKey(Box<Aes256Gcm>);

impl SealKey {
    /// From its bytes, which have to be random: no password will do.
    pub fn new(bytes: &[u8; KEY_BYTES]) -> SealKey {
        SealKey(Box::new(Aes256Gcm::new(bytes.into())))
    }

    /// Seals what the agent needs to go on. `nonce` is fresh from a cryptographic generator every time: two seals with
    /// one nonce give both contents away. The result is the envelope's `state`.
    pub fn seal(
        &self,
        binding: &Binding<'_>,
        nonce: [u8; NONCE_BYTES],
        plaintext: &[u8],
    ) -> Result<Value, SealError> {
        let payload = Payload {
            msg: plaintext,
            aad: &binding.associated_data(),
        };
        let ciphertext = self
            .0
            .encrypt(&Nonce::from(nonce), payload)
            .map_err(|_| SealError::TooLong)?;
        let blob = [&[LAYOUT], nonce.as_slice(), &ciphertext].concat();
        Ok(json!({ MEMBER: URL_SAFE_NO_PAD.encode(blob) }))
    }

    fn open(&self, binding: &Binding<'_>, nonce: [u8; NONCE_BYTES], ciphertext: &[u8]) -> Option<Vec<u8>> {
        let payload = Payload {
            msg: ciphertext,
            aad: &binding.associated_data(),
        };
        self.0.decrypt(&Nonce::from(nonce), payload).ok()
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}

/// Opens the `state` of a Response with any of the keys: while one is changed, two are valid. The content is wiped when
/// it goes.
pub fn open(keys: &[SealKey], binding: &Binding<'_>, state: &Value) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let blob = blob(state).ok_or(SealError::Malformed)?;
    let (head, ciphertext) = blob.split_at_checked(HEAD_BYTES).ok_or(SealError::Malformed)?;
    let (layout, nonce) = head.split_first().ok_or(SealError::Malformed)?;
    if *layout != LAYOUT {
        return Err(SealError::Layout(*layout));
    }
    let nonce = nonce.try_into().map_err(|_| SealError::Malformed)?;
    keys.iter()
        .find_map(|key| key.open(binding, nonce, ciphertext))
        .map(Zeroizing::new)
        .ok_or(SealError::Altered)
}

/// The bytes in a state that has the one member and nothing beside it: what else there were, nobody would have sealed.
fn blob(state: &Value) -> Option<Vec<u8>> {
    let members = state.as_object().filter(|members| members.len() == 1)?;
    URL_SAFE_NO_PAD.decode(members.get(MEMBER)?.as_str()?).ok()
}

#[cfg(test)]
mod tests;
