use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::{Binding, HEAD_BYTES, KEY_BYTES, NONCE_BYTES, SealError, SealKey, open};
use crate::random::Random;

const BINDING: Binding<'static> = Binding {
    agent_id: "deploybot",
    purpose: "release",
};
const KEY: [u8; KEY_BYTES] = *b"0123456789abcdef0123456789ABCDEF";
const NONCE: [u8; NONCE_BYTES] = [9; NONCE_BYTES];

fn sealed() -> Value {
    SealKey::new(&KEY).seal(&BINDING, NONCE, b"where I was").unwrap()
}

fn opened(key: &[u8; KEY_BYTES], binding: &Binding<'_>, state: &Value) -> Result<Vec<u8>, SealError> {
    open(&[SealKey::new(key)], binding, state).map(|content| content.to_vec())
}

fn blob(state: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(state["sealed"].as_str().unwrap()).unwrap()
}

fn state(blob: &[u8]) -> Value {
    json!({ "sealed": URL_SAFE_NO_PAD.encode(blob) })
}

#[test]
fn a_state_opens_for_whom_it_was_sealed() {
    assert_eq!(opened(&KEY, &BINDING, &sealed()), Ok(b"where I was".to_vec()));
    let others = [
        ("deploybot", ""),
        ("deploybot", "release2"),
        ("other", "release"),
        // The same letters, divided otherwise.
        ("deploybotrelease", ""),
        ("deploybo", "trelease"),
    ];
    for (agent_id, purpose) in others {
        let other = Binding { agent_id, purpose };
        assert_eq!(
            opened(&KEY, &other, &sealed()),
            Err(SealError::Altered),
            "{other:?}"
        );
    }
    assert_eq!(
        opened(&[1; KEY_BYTES], &BINDING, &sealed()),
        Err(SealError::Altered)
    );
    let keys = [SealKey::new(&[1; KEY_BYTES]), SealKey::new(&KEY)];
    assert!(open(&keys, &BINDING, &sealed()).is_ok());
    assert!(open(&[], &BINDING, &sealed()).is_err());
}

#[test]
fn an_altered_state_does_not_open() {
    let honest = blob(&sealed());
    for position in 0..honest.len() {
        for bit in 0..8 {
            let mut altered = honest.clone();
            altered[position] ^= 1 << bit;
            let expected = match position {
                0 => SealError::Layout(altered[0]),
                _ => SealError::Altered,
            };
            assert_eq!(
                opened(&KEY, &BINDING, &state(&altered)),
                Err(expected),
                "{position}.{bit}"
            );
        }
    }
    for length in 0..honest.len() {
        let expected = match length {
            ..HEAD_BYTES => SealError::Malformed,
            _ => SealError::Altered,
        };
        assert_eq!(
            opened(&KEY, &BINDING, &state(&honest[..length])),
            Err(expected),
            "{length}"
        );
    }
}

#[test]
fn what_is_no_sealed_state() {
    let sealed = sealed();
    let text = sealed["sealed"].as_str().unwrap();
    let cases = [
        json!(null),
        json!("x"),
        json!({}),
        json!({ "sealed": 1 }),
        json!({ "sealed": "" }),
        json!({ "sealed": "%%%" }),
        json!({ "sealed": format!("{text}=") }),
        json!({ "sealed": STANDARD.encode([0xfb; 40]) }),
        json!({ "sealed": text, "more": 1 }),
        json!({ "unsealed": text }),
    ];
    for case in cases {
        assert_eq!(opened(&KEY, &BINDING, &case), Err(SealError::Malformed), "{case}");
    }
}

#[test]
fn the_key_is_nowhere_in_it() {
    let seal_key = SealKey::new(&KEY);
    let state = seal_key.seal(&BINDING, NONCE, &[0; 64]).unwrap();
    let bytes = blob(&state);
    assert!(
        !bytes
            .windows(8)
            .any(|window| KEY.windows(8).any(|key| key == window))
    );
    assert!(!bytes.windows(8).any(|window| window == [0; 8]));
    assert_eq!(format!("{seal_key:?}"), "SealKey");
}

/// By another implementation (Node's `crypto`): the layout is one that others can open.
#[test]
fn one_sealed_elsewhere_opens() {
    let elsewhere = json!({ "sealed": "AQkJCQkJCQkJCQkJCYcyc68Jf3-oe5ho2KtzsCs27a1vXoMk0_lo6g" });
    assert_eq!(opened(&KEY, &BINDING, &elsewhere), Ok(b"where I was".to_vec()));
    assert_eq!(elsewhere, sealed());
}

#[test]
fn whatever_is_sealed_opens() {
    let mut random = Random::seeded(3);
    for _ in 0..500 {
        let bytes = |random: &mut Random, count: usize| -> Vec<u8> {
            (0..count).map(|_| random.next().to_be_bytes()[0]).collect()
        };
        let key: [u8; KEY_BYTES] = bytes(&mut random, KEY_BYTES).try_into().unwrap();
        let nonce: [u8; NONCE_BYTES] = bytes(&mut random, NONCE_BYTES).try_into().unwrap();
        let length = random.below(300);
        let content = bytes(&mut random, length);
        let (agent_id, purpose) = (random.string(), random.string());
        let binding = Binding {
            agent_id: &agent_id,
            purpose: &purpose,
        };
        let sealed = SealKey::new(&key).seal(&binding, nonce, &content).unwrap();
        assert_eq!(opened(&key, &binding, &sealed), Ok(content));
    }
}
