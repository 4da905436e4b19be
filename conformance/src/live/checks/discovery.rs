//! What a hub says of itself, and by what it is reached (§8, §8.0).

use std::sync::Arc;
use std::time::Duration;

use ma2h_schema::{Edition, Noun, document};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::live::leg::Leg;
use crate::live::registry::{Check, check};
use crate::live::stage::Stage;
use crate::live::verdict::{Proof, Verdict, equal, failed, holds, skipped, text};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("8.0", the_capability_document_is_public_and_well_formed),
        check("8.0", both_places_of_the_capability_document_agree),
        check("8.0", mail_between_agents_is_offered_only_with_what_it_needs).of(Leg::InterAgent),
        check("8.0", every_advertised_address_is_https_at_this_hub),
        check("8.7.2", a_stream_is_held_no_longer_than_presence_is_fresh).of(Leg::Stream),
        check("8", plaintext_is_not_offered),
        check("8", answers_are_json),
        check("9.2", the_hubs_public_keys_can_be_had),
    ]
}

/// Anybody may read it, and it has the shape of the version it states.
async fn the_capability_document_is_public_and_well_formed(stage: Arc<Stage>) -> Proof {
    let found = stage.anonymous().get("/.well-known/ma2h").await?.expect(200)?;
    let version = text(&found, "/ma2h_version")?;
    let minor = version.strip_prefix("0.").and_then(|minor| minor.parse().ok());
    let Some(minor) = minor else {
        return failed(format!("ma2h_version: expected 0.x, got {version}"));
    };
    document::check(Edition::of(minor), Noun::Capability, &found)
        .map_err(|violation| Verdict::Failed(violation.to_string()))
}

/// The second name of the document (§16.4) is the same document.
async fn both_places_of_the_capability_document_agree(stage: Arc<Stage>) -> Proof {
    let anonymous = stage.anonymous();
    let other = anonymous.get("/.well-known/ma2h-capability").await?;
    if other.status == 404 {
        return skipped("the document has one place only");
    }
    equal(
        "/.well-known/ma2h-capability",
        &other.expect(200)?,
        &stage.hub.capability,
    )
}

/// Without acknowledgements and sessions nobody could tell a sender the truth (§1, §8.0).
async fn mail_between_agents_is_offered_only_with_what_it_needs(stage: Arc<Stage>) -> Proof {
    for needed in [Leg::Ack, Leg::Sessions, Leg::Inbound] {
        if let Err(why) = needed.offered_by(&stage.hub) {
            return failed(format!("inter_agent is offered, but {why}"));
        }
    }
    Ok(())
}

/// Plaintext is not offered in the document either.
async fn every_advertised_address_is_https_at_this_hub(stage: Arc<Stage>) -> Proof {
    for pointer in ["/inbound/poll_url", "/inbound/ack_url", "/inbound/stream_url"] {
        let stated = stage.hub.capability.pointer(pointer).and_then(Value::as_str);
        if let Some(url) = stated {
            holds(url.starts_with("https://"), || {
                format!("{pointer}: {url} is not HTTPS")
            })?;
        }
    }
    Ok(())
}

/// A longer hold would show a healthy reader as gone while it reads.
async fn a_stream_is_held_no_longer_than_presence_is_fresh(stage: Arc<Stage>) -> Proof {
    let hold = stage.hub.states("/inbound/stream_max_hold_seconds");
    let fresh = stage.hub.states("/presence/freshness_seconds");
    match (hold, fresh) {
        (Some(hold), Some(fresh)) => holds(hold <= fresh, || {
            format!("a stream is held {hold} s, but presence is fresh for {fresh} s")
        }),
        (hold, fresh) => failed(format!(
            "hold {hold:?} and freshness {fresh:?} must both be stated"
        )),
    }
}

/// HTTP without TLS gets no service: an alert, a refusal, or a closed connection.
async fn plaintext_is_not_offered(stage: Arc<Stage>) -> Proof {
    let address = stage.hub.base_url.trim_start_matches("https://");
    let address = if address.contains(':') {
        address.to_owned()
    } else {
        format!("{address}:443")
    };
    let spoken = async {
        let mut stream = TcpStream::connect(&address).await?;
        let request =
            format!("GET /.well-known/ma2h HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(4096).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer = match tokio::time::timeout(Duration::from_secs(10), spoken).await {
        Ok(Ok(answer)) => String::from_utf8_lossy(&answer).into_owned(),
        Ok(Err(_)) | Err(_) => return Ok(()),
    };
    let served = answer.starts_with("HTTP/1.1 2") || answer.contains("ma2h_version");
    holds(!served, || format!("plaintext was served: {answer}"))
}

/// Successes and refusals alike.
async fn answers_are_json(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let id = scene.agent.submitted(&scene.notify()).await?;
    for reply in [
        scene.agent.message(&id).await?,
        scene.agent.message("msg_unknown").await?,
        scene.agent.submit(&scene.notify()).await?,
        stage.anonymous().get("/.well-known/ma2h").await?,
    ] {
        let kind = reply.header("content-type").unwrap_or_default().to_owned();
        holds(kind.starts_with("application/json"), || {
            format!("{}: content-type is {kind:?}", reply.asked)
        })?;
        reply.json()?;
    }
    Ok(())
}

/// A receiver of what is signed with ed25519 finds the key.
async fn the_hubs_public_keys_can_be_had(stage: Arc<Stage>) -> Proof {
    let algorithms = stage.hub.capability["signature_algs"].as_array();
    let signs = algorithms.is_some_and(|algorithms| algorithms.iter().any(|name| name == "ed25519"));
    if !signs {
        return Err(Verdict::NotOffered("signature_algs has no ed25519".to_owned()));
    }
    stage.hub_key().await.map(drop)
}
