//! How large a message may be (§8.6).

use super::section::section;

section! {
    /// How large a message may be (§8.6).
    Limits in "limits" {
        /// Largest `body` of a message.
        max_body_bytes: usize = "HUB_MAX_BODY_BYTES", "65536", "bytes", 1024 to 1_048_576;
        /// Largest context part.
        max_part_bytes: usize = "HUB_MAX_PART_BYTES", "262144", "bytes", 1024 to 4_194_304;
        /// Most context parts.
        max_context_parts: usize = "HUB_MAX_CONTEXT_PARTS", "16", "parts", 0 to 256;
        /// Largest envelope, `state` included.
        max_envelope_bytes: usize = "HUB_MAX_ENVELOPE_BYTES", "8388608", "bytes", 65536 to 67_108_864;
    }
}
