//! What an agent has to show at a host to have it verified (§9.4), and where. No I/O.
//!
//! The place is the same for all that are verified there, and holds nothing of the challenge: a server that repeats what it
//! is asked for proves nothing. Several agents may each have a record, or a line, at the same host.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::TryRng as _;
use rand::rngs::SysRng;

use super::HostName;
use crate::vault::SealError;

/// The label below which the TXT records stand.
const LABEL: &str = "_ma2h-challenge";
/// The path at which the challenges stand, one a line.
const PATH: &str = "/.well-known/ma2h-challenge";
const CHALLENGE_BYTES: usize = 32;

/// A challenge that nobody can guess.
pub(super) fn mint() -> Result<String, SealError> {
    let mut bytes = [0; CHALLENGE_BYTES];
    SysRng
        .try_fill_bytes(&mut bytes)
        .map_err(|_| SealError::Unsealable)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The name whose TXT records are asked for; none where the host is an address.
pub(super) fn txt_name(host: &HostName) -> Option<String> {
    Some(format!("{LABEL}.{}", host.domain()?))
}

/// The page that is asked for, whatever the scheme of the callbacks.
pub(super) fn well_known_url(host: &HostName) -> String {
    format!("https://{}{PATH}", host.as_str())
}

/// Whether one of the records is the challenge.
pub(super) fn is_in_texts(texts: &[Vec<u8>], challenge: &str) -> bool {
    texts.iter().any(|text| text.trim_ascii() == challenge.as_bytes())
}

/// Whether one of the lines is the challenge.
pub(super) fn is_in_page(body: &[u8], challenge: &str) -> bool {
    body.split(|byte| *byte == b'\n')
        .any(|line| line.trim_ascii() == challenge.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(typed: &str) -> HostName {
        HostName::parse(typed).unwrap()
    }

    #[test]
    fn each_host_has_its_place() {
        for (typed, txt, url) in [
            (
                "agent.example",
                Some("_ma2h-challenge.agent.example"),
                "https://agent.example/.well-known/ma2h-challenge",
            ),
            (
                "BÜCHER.example:8443",
                Some("_ma2h-challenge.xn--bcher-kva.example"),
                "https://xn--bcher-kva.example:8443/.well-known/ma2h-challenge",
            ),
            (
                "1.1.1.1:8443",
                None,
                "https://1.1.1.1:8443/.well-known/ma2h-challenge",
            ),
            ("[2606::1]", None, "https://[2606::1]/.well-known/ma2h-challenge"),
        ] {
            assert_eq!(txt_name(&host(typed)).as_deref(), txt, "{typed}");
            assert_eq!(well_known_url(&host(typed)), url, "{typed}");
        }
    }

    #[test]
    fn a_challenge_stands_for_itself_among_others() {
        let challenge = mint().unwrap();
        assert_ne!(challenge, mint().unwrap());
        let text = |text: &str| text.as_bytes().to_vec();
        let padded = format!(" {challenge}\r");
        let longer = format!("{challenge}x");
        assert!(is_in_texts(&[text("v=spf1 -all"), text(&challenge)], &challenge));
        assert!(is_in_texts(&[text(&padded)], &challenge));
        assert!(!is_in_texts(&[], &challenge));
        assert!(!is_in_texts(&[text(&longer), text("")], &challenge));

        let page = |page: String| is_in_page(page.as_bytes(), &challenge);
        assert!(page(challenge.clone()));
        assert!(page(format!("another\n{padded}\nand another\n")));
        assert!(!page(format!("<html>{challenge}</html>")));
        assert!(!page(format!("{challenge} {challenge}")));
        assert!(!page(String::new()));
    }
}
