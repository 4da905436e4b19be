mod entries;

use base64::Engine as _;

use super::mac::BASE64URL;
use super::{
    Header, PushContext, SigningKey, VerifyError, VerifyingKey, decode_mac, header_value, parse_header,
    payload_sha256, sign, verify, verify_push,
};

const URL: &str = "https://agent.example/ma2h";
const NOW: i64 = 1_780_000_000;
const WINDOW_SECONDS: i64 = 120;
const BODY: &str = concat!(
    r#"{"ma2h_version":"0.6","in_reply_to":"msg_1","resolution_id":"res_1","agent":{"id":"a","run_id":"r"},"#,
    r#""resolution":"answered","response":{"value":"other","edited":true,"actor":"human:alice","#,
    r#""resolved_at":"2026-06-04T15:48:30.000000Z"},"state":{"n":9007199254740993,"x":1.0}}"#
);

fn keys() -> [SigningKey; 2] {
    [
        SigningKey::hmac(b"a secret of some length").unwrap(),
        SigningKey::ed25519(&[7; 32]),
    ]
}

/// The header of a push of `body`, as the hub makes it.
fn pushed(key: &SigningKey, body: &str, resolved_at: Option<&str>, t: i64) -> String {
    let context = PushContext {
        ma2h_version: "0.6",
        callback_url: URL,
        id: "msg_1",
        in_reply_to: "msg_1",
        jti: "jti_1",
        payload_sha256: &payload_sha256(body).unwrap(),
        resolution: "answered",
        resolution_id: "res_1",
        resolved_at,
        t,
    };
    header_value(t, "jti_1", &sign(key, &context.canonical().unwrap()))
}

fn honest(key: &SigningKey) -> String {
    pushed(key, BODY, Some("2026-06-04T15:48:30.000000Z"), NOW)
}

#[test]
fn what_was_signed_verifies() {
    for key in keys() {
        let verified = verify_push(
            &honest(&key),
            BODY,
            URL,
            &key.verifying_key(),
            NOW + 5,
            WINDOW_SECONDS,
        )
        .unwrap();
        assert_eq!((verified.jti.as_str(), verified.t), ("jti_1", NOW));
        assert_eq!(
            (verified.in_reply_to.as_str(), verified.resolution_id.as_str()),
            ("msg_1", "res_1")
        );
        assert_eq!(
            (verified.resolution.as_str(), verified.actor.as_deref()),
            ("answered", Some("human:alice"))
        );
        // Another spelling of the same document is the same payload.
        let spelled = BODY
            .replace("\"x\":1.0", "\"x\": 1")
            .replace("9007199254740993", "9007199254740992");
        assert!(
            verify_push(
                &honest(&key),
                &spelled,
                URL,
                &key.verifying_key(),
                NOW,
                WINDOW_SECONDS
            )
            .is_ok()
        );
    }
}

#[test]
fn what_was_changed_does_not() {
    let changes = [
        (r#""value":"other""#, r#""value":"ship""#),
        (r#""edited":true"#, r#""edited":false"#),
        (r#""edited":true,"#, ""),
        ("human:alice", "human:bob"),
        ("15:48:30", "15:48:31"),
        (r#""x":1.0"#, r#""x":2"#),
        (r#","state":{"n":9007199254740993,"x":1.0}"#, ""),
        ("msg_1", "msg_2"),
        ("res_1", "res_2"),
        (r#""resolution":"answered""#, r#""resolution":"declined""#),
        (r#""ma2h_version":"0.6""#, r#""ma2h_version":"0.5""#),
        (r#""response":{"#, r#""response":{"comment":"c","#),
    ];
    for key in keys() {
        let check = |header: &str, body: &str, url: &str| {
            verify_push(header, body, url, &key.verifying_key(), NOW, WINDOW_SECONDS).map(|_| ())
        };
        let header = honest(&key);
        for (from, to) in changes {
            let tampered = BODY.replace(from, to);
            assert_ne!(tampered, BODY, "{from}");
            assert_eq!(
                check(&header, &tampered, URL),
                Err(VerifyError::Signature),
                "{from} {to}"
            );
        }
        assert_eq!(
            check(&header, BODY, "https://agent.example/other"),
            Err(VerifyError::Signature)
        );
        assert_eq!(
            check(&header.replace("jti_1", "jti_2"), BODY, URL),
            Err(VerifyError::Signature)
        );
        assert_eq!(
            check(
                &header.replace(&NOW.to_string(), &(NOW + 1).to_string()),
                BODY,
                URL
            ),
            Err(VerifyError::Signature)
        );
        assert_eq!(check(&header, "{}", URL), Err(VerifyError::Body));
        assert_eq!(check(&header, &format!("{BODY}x"), URL), Err(VerifyError::Body));
        assert_eq!(
            check(
                &header,
                &BODY.replacen('{', r#"{"resolution":"declined","#, 1),
                URL
            ),
            Err(VerifyError::Body)
        );
        assert_eq!(check("v1=x", BODY, URL), Err(VerifyError::Header));
    }
    let [one, other] = keys();
    let crossed = verify_push(
        &honest(&one),
        BODY,
        URL,
        &other.verifying_key(),
        NOW,
        WINDOW_SECONDS,
    );
    assert_eq!(crossed, Err(VerifyError::Signature));
}

#[test]
fn the_window_has_two_sides() {
    let [key, _] = keys();
    let at = |now: i64| {
        verify_push(
            &honest(&key),
            BODY,
            URL,
            &key.verifying_key(),
            now,
            WINDOW_SECONDS,
        )
        .map(|_| ())
    };
    for now in [NOW - 120, NOW, NOW + 120] {
        assert_eq!(at(now), Ok(()));
    }
    for now in [NOW - 121, NOW + 121, 0, i64::MIN, i64::MAX] {
        assert_eq!(at(now), Err(VerifyError::Stale));
    }
}

#[test]
fn a_response_without_inner_object_binds_null() {
    let [key, _] = keys();
    let body =
        r#"{"ma2h_version":"0.6","in_reply_to":"msg_1","resolution_id":"res_1","resolution":"answered"}"#;
    let header = pushed(&key, body, None, NOW);
    assert!(verify_push(&header, body, URL, &key.verifying_key(), NOW, WINDOW_SECONDS).is_ok());
    assert_eq!(
        payload_sha256("{}"),
        payload_sha256(r#"{"response":null,"state":null}"#)
    );
}

/// RFC 4231, case 2, and RFC 8032, test 2.
#[test]
fn keys_do_as_their_rfcs_say() {
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    };
    let mac = sign(
        &SigningKey::hmac(b"Jefe").unwrap(),
        "what do ya want for nothing?",
    );
    let expected = hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    assert_eq!(decode_mac(&mac), Some(expected));

    let seed = hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
    let key = SigningKey::ed25519(&seed.try_into().unwrap());
    let public = hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
    assert_eq!(key.verifying_key().public_bytes().unwrap().to_vec(), public);
    let signature = hex(concat!(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ));
    assert_eq!(decode_mac(&sign(&key, "r")), Some(signature));
    let published = VerifyingKey::ed25519(&public.try_into().unwrap()).unwrap();
    assert!(verify(&published, "r", &sign(&key, "r")));
    assert!(!verify(&published, "s", &sign(&key, "r")));
}

#[test]
fn keys_keep_to_themselves() {
    assert!(SigningKey::hmac(b"").is_err() && VerifyingKey::hmac(b"").is_err());
    for key in keys() {
        assert_eq!(
            format!("{key:?}"),
            format!("SigningKey({})", key.algorithm().as_str())
        );
        assert_eq!(
            format!("{:?}", key.verifying_key()),
            format!("VerifyingKey({})", key.algorithm().as_str())
        );
    }
    // A long secret is a key as well.
    let long = SigningKey::hmac(&[1; 500]).unwrap();
    assert!(verify(&long.verifying_key(), "x", &sign(&long, "x")));
}

#[test]
fn what_a_signature_may_look_like() {
    let short = BASE64URL.encode([0; 31]);
    let fit = BASE64URL.encode([0xfb; 32]);
    let long = BASE64URL.encode([0xff; 64]);
    assert_eq!(decode_mac(&fit), Some(vec![0xfb; 32]));
    assert_eq!(decode_mac(&format!("{fit}=")), Some(vec![0xfb; 32]));
    assert_eq!(decode_mac(&long), Some(vec![0xff; 64]));
    assert_eq!(decode_mac(&format!("{long}==")), Some(vec![0xff; 64]));
    // Trailing bits that no canonical spelling has.
    assert_eq!(
        decode_mac(&format!("{}A", &long[..85])).map(|bytes| bytes.len()),
        Some(64)
    );
    assert_eq!(
        decode_mac(&format!("{}B", &long[..85])).map(|bytes| bytes.len()),
        Some(64)
    );
    let refused = [
        String::new(),
        short.clone(),
        format!("{short}=="),
        format!("{fit}=="),
        format!("{fit}==="),
        format!("{long}="),
        format!("{}=", BASE64URL.encode([0; 33])),
        format!("{fit} "),
        format!("={fit}"),
        fit.replacen('-', "+", 1),
        long.replacen('_', "/", 1),
        format!("{fit}\n"),
        // One character more than whole bytes.
        format!("{}A", BASE64URL.encode([0; 33])),
    ];
    for v1 in refused {
        assert_eq!(decode_mac(&v1), None, "{v1:?}");
    }
}

#[test]
fn headers() {
    assert_eq!(header_value(NOW, "jti_1", "abc"), "t=1780000000,jti=jti_1,v1=abc");
    let expected = Some(Header {
        t: NOW,
        jti: "jti_1",
        v1: "abc=",
    });
    for text in [
        "t=1780000000,jti=jti_1,v1=abc=",
        "v1=abc=, t=1780000000, jti=jti_1",
        "t=1780000000,v0=x,jti=jti_1,v1=abc=",
    ] {
        assert_eq!(parse_header(text), expected, "{text}");
    }
    for text in [
        "",
        "t=1,jti=a",
        "t=1,v1=a",
        "jti=a,v1=a",
        "t=,jti=a,v1=a",
        "t=1,jti=,v1=a",
        "t=x,jti=a,v1=a",
        "t=01,jti=a,v1=a",
        "t=+1,jti=a,v1=a",
        "t=1.0,jti=a,v1=a",
        "t=1,t=1,jti=a,v1=a",
        "t=1,jti=a,v1=a,v1=b",
        "t=1,jti=a,v1",
        "t=99999999999999999999,jti=a,v1=a",
    ] {
        assert_eq!(parse_header(text), None, "{text}");
    }
}
