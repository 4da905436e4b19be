//! What a reader's screen is kept safe from (§9.6).

use std::sync::Arc;

use serde_json::json;

use crate::live::envelope::with;
use crate::live::registry::{Check, check};
use crate::live::stage::{Scene, Stage};
use crate::live::verdict::{Proof, Tried, holds, skipped};

pub(super) fn checks() -> Vec<Check> {
    vec![
        check("9.6", no_raw_html_of_a_body_is_rendered),
        check("9.6", no_remote_image_is_loaded),
        check("9.6", no_link_runs_a_script),
        check("9.6", a_link_outward_is_marked),
        check("9.6", markdown_is_rendered),
    ]
}

/// The body as a human's client is given it.
async fn rendered(scene: &Scene, body: &str) -> Tried<String> {
    let id = scene
        .agent
        .submitted(&with(scene.notify(), "/body", json!(body)))
        .await?;
    let read = scene.alice.read(&id).await?;
    match read
        .pointer("/rendered/body_html")
        .and_then(serde_json::Value::as_str)
    {
        Some(html) => Ok(html.to_owned()),
        None => skipped("the hub renders nothing in its answers"),
    }
}

/// Not as an element, whatever it is.
async fn no_raw_html_of_a_body_is_rendered(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let body = "<script>alert(1)</script>\n\n<img src=x onerror=alert(2)>\n\n<iframe src='https://x.example'></iframe>\n\n\
                text <b onclick=alert(3)>bold</b> <style>*{display:none}</style> <!-- hidden --> <svg/onload=alert(4)>";
    let html = rendered(&scene, body).await?.to_lowercase();
    for element in [
        "<script", "<img", "<iframe", "<b ", "<b>", "<style", "<svg", "<!--",
    ] {
        holds(!html.contains(element), || format!("{element} in {html}"))?;
    }
    Ok(())
}

/// Nobody learns that a message was opened.
async fn no_remote_image_is_loaded(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let html = rendered(
        &scene,
        "![tree](https://track.example/tree.png) and ![x](//track.example/y.png)",
    )
    .await?;
    let loads = ["<img", "src=", "url(", "<picture", "<source"]
        .into_iter()
        .find(|word| html.contains(word));
    holds(loads.is_none(), || format!("{loads:?} in {html}"))
}

/// Only addresses that are safe to open are links.
async fn no_link_runs_a_script(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let body = "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(2)) [c](data:text/html,x) [d](vbscript:x) \
                [e](java\tscript:alert(3)) <javascript:alert(4)>";
    let html = rendered(&scene, body).await?.to_lowercase();
    for scheme in ["javascript:", "data:", "vbscript:"] {
        let link = format!("href=\"{scheme}");
        holds(!html.contains(&link), || format!("{link} in {html}"))?;
    }
    Ok(())
}

/// And tells the other side nothing of where it was.
async fn a_link_outward_is_marked(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let html = rendered(&scene, "[the orchard](https://orchard.example/map)").await?;
    holds(html.contains("https://orchard.example/map"), || {
        format!("the link is not shown: {html}")
    })?;
    let marked = html.contains("noopener") && html.contains("noreferrer");
    holds(!html.contains("<a ") || marked, || {
        format!("the link is not marked: {html}")
    })
}

/// It is not simply thrown away.
async fn markdown_is_rendered(stage: Arc<Stage>) -> Proof {
    let scene = stage.scene().await?;
    let html = rendered(&scene, "# Harvest\n\n**ripe** and `raw`\n\n- one\n- two").await?;
    for element in ["<strong>ripe</strong>", "<code>raw</code>", "<li>one</li>"] {
        holds(html.contains(element), || format!("no {element} in {html}"))?;
    }
    Ok(())
}
