//! Signatures by the right key over something wrong.

use ma2h::digest::sha256_hex;
use ma2h::sign::{PushContext, SigningKey, header_value, parse_header, sign, verify_push};

use crate::live::receiver::Push;
use crate::live::stage::SECRET;

/// The header of a push signed anew with the secret of the checks: all is bound as it must be (§9.2), but for the digest,
/// which is that of the body as it was sent. None where the push was not signed with that secret.
pub(super) fn over_another_digest(push: &Push) -> Option<String> {
    let header = push.header("ma2h-signature").ok()?;
    let callback_url = format!("http://{}{}", push.header("host").ok()?, push.path);
    let key = SigningKey::hmac(SECRET.as_bytes()).ok()?;
    let signed = parse_header(header)?;
    let honest = verify_push(
        header,
        &push.body,
        &callback_url,
        &key.verifying_key(),
        signed.t,
        0,
    );
    let honest = honest.ok()?;
    let body = push.json().ok()?;
    let digest = sha256_hex(&push.body);
    let context = PushContext {
        ma2h_version: body["ma2h_version"].as_str()?,
        callback_url: &callback_url,
        id: &honest.in_reply_to,
        in_reply_to: &honest.in_reply_to,
        jti: signed.jti,
        payload_sha256: &digest,
        resolution: &honest.resolution,
        resolution_id: &honest.resolution_id,
        resolved_at: body["response"]["resolved_at"].as_str(),
        t: signed.t,
    };
    let canonical = context.canonical().ok()?;
    Some(header_value(signed.t, signed.jti, &sign(&key, &canonical)))
}

#[cfg(test)]
mod tests {
    use ma2h::digest::sha256_hex;
    use ma2h::sign::{
        PushContext, SigningKey, VerifyError, header_value, parse_header, payload_sha256, sign, verify,
        verify_push,
    };
    use reqwest::header::HeaderMap;

    use super::over_another_digest;
    use crate::live::receiver::Push;
    use crate::live::stage::SECRET;

    const BODY: &str = r#"{"ma2h_version":"0.6","in_reply_to":"msg_1","resolution":"answered","resolution_id":"res_1",
        "response":{"value":"approve","actor":"human:alice","resolved_at":"2026-01-01T00:00:00Z"}}"#;
    const URL: &str = "http://127.0.0.1:9/told?by=hub";
    const T: i64 = 1_767_225_600;

    fn canonical(digest: &str) -> String {
        let context = PushContext {
            ma2h_version: "0.6",
            callback_url: URL,
            id: "msg_1",
            in_reply_to: "msg_1",
            jti: "jti_1",
            payload_sha256: digest,
            resolution: "answered",
            resolution_id: "res_1",
            resolved_at: Some("2026-01-01T00:00:00Z"),
            t: T,
        };
        context.canonical().unwrap()
    }

    fn pushed(secret: &str) -> Push {
        let key = SigningKey::hmac(secret.as_bytes()).unwrap();
        let v1 = sign(&key, &canonical(&payload_sha256(BODY).unwrap()));
        let mut headers = HeaderMap::new();
        headers.insert("host", "127.0.0.1:9".parse().unwrap());
        headers.insert("ma2h-signature", header_value(T, "jti_1", &v1).parse().unwrap());
        Push {
            path: "/told?by=hub".to_owned(),
            headers,
            body: BODY.to_owned(),
        }
    }

    #[test]
    fn it_is_the_right_keys_over_the_digest_of_the_whole_body() {
        let push = pushed(SECRET);
        let key = SigningKey::hmac(SECRET.as_bytes()).unwrap().verifying_key();
        let verified = |header: &str| verify_push(header, BODY, URL, &key, T, 0).map(drop);
        assert_eq!(verified(push.header("ma2h-signature").unwrap()), Ok(()));
        let header = over_another_digest(&push).unwrap();
        assert_eq!(verified(&header), Err(VerifyError::Signature));
        let wrong = canonical(&sha256_hex(BODY));
        assert!(verify(&key, &wrong, parse_header(&header).unwrap().v1));
    }

    #[test]
    fn with_another_key_it_cannot_sign() {
        assert_eq!(
            over_another_digest(&pushed("a secret of somebody else, 0123456789")),
            None
        );
    }
}
