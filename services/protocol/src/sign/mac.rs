//! What a `v1` may look like (§9.2).

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Bytes of the shortest signature there is, an HMAC-SHA256.
pub const MAC_BYTES_MIN: usize = 32;

/// Emits without padding. Takes any trailing bits: that a signature be spelled canonically is not asked for.
pub(super) const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes of a well-formed `v1`: base64url, with no padding or exactly the structural one, long enough; nothing more.
pub fn decode_mac(v1: &str) -> Option<Vec<u8>> {
    let body = v1.trim_end_matches('=');
    let padding = v1.len() - body.len();
    if padding != 0 && padding != (4 - body.len() % 4) % 4 {
        return None;
    }
    BASE64URL
        .decode(body)
        .ok()
        .filter(|bytes| bytes.len() >= MAC_BYTES_MIN)
}
