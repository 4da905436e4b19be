//! Where a page ends. Opaque to clients, so that its form can change.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hub_platform::ids;
use ma2h::error::Problem;

/// Version of the form: the id of the last entry of the page.
const PREFIX: &str = "1:";

/// The cursor of the page after this id.
pub(crate) fn encode(id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{PREFIX}{id}"))
}

/// The id that a cursor stands for, which was minted with this prefix.
pub(crate) fn decode(cursor: &str, prefix: &str) -> Result<String, Problem> {
    let decoded = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        text.strip_prefix(PREFIX)
            .filter(|id| ids::is_minted(id, prefix))
            .map(str::to_owned)
    };
    decoded().ok_or_else(|| Problem::validation("cursor: expected the next_cursor of a page"))
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn only_our_own_cursors_are_read() {
        assert_eq!(decode(&encode("msg_01J9"), "msg").as_deref(), Ok("msg_01J9"));
        for foreign in [
            "",
            "msg_01J9",
            "Mjptc2dfMDFKOQ",
            "a+/=",
            &encode("msg_\0"),
            &encode(""),
            &encode("dir_01J9"),
        ] {
            assert!(decode(foreign, "msg").is_err(), "{foreign:?}");
        }
    }
}
