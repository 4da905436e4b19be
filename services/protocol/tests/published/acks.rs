//! Pushed acknowledgements (§14.4).

use ma2h::sign::{VerifyError, ack_sha256, header_value, sign_ack, verify_ack};
use serde_json::Value;

use crate::files::{key, stamp, text, vector};

const WINDOW_SECONDS: i64 = 120;

#[test]
fn dp_008_ack_signature() {
    let vector = vector("dp-008-ack-signature");
    let ack = vector["ack"].to_string();
    let signed = &vector["signed_context"];
    let (t, jti) = stamp(signed);
    assert_eq!(ack_sha256(&ack).unwrap(), text(signed, "ack_sha256"));
    let header = sign_ack(&ack, &key(&vector), t, jti).unwrap();
    assert_eq!(format!("MA2H-Signature: {header}"), text(&vector, "header"));
}

#[test]
fn dp_009_ack_tamper_invalid() {
    let vector = vector("dp-009-ack-tamper-invalid");
    let (t, jti) = stamp(&vector);
    let header = header_value(t, jti, text(&vector, "v1"));
    let check = |ack: &Value| {
        let keys = [key(&vector).verifying_key()];
        verify_ack(&header, &ack.to_string(), &keys, t, WINDOW_SECONDS).map(|header| header.t)
    };
    assert_eq!(check(&vector["honest_ack"]), Ok(t));
    assert_eq!(check(&vector["tampered_ack"]), Err(VerifyError::Signature));
    let mut redirected = vector["honest_ack"].clone();
    redirected["by"] = "agent:other".into();
    assert_eq!(check(&redirected), Err(VerifyError::Signature));
}
