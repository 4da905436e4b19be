//! The OpenAPI document and the routes say the same.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Body;
use ma2h_schema::openapi;
use serde_json::Value;

use super::Gateway;

/// A method and a path whose parameters are unnamed.
type Operation = (String, String);

/// What is described and comes with a part of the hub that is not there yet. Whoever adds it takes it out here.
const NOT_YET_SERVED: [(&str, &[&str]); 2] = [
    (
        "sessions and stops",
        &[
            "POST /v1/sessions",
            "GET /v1/sessions",
            "GET /v1/sessions/{id}",
            "DELETE /v1/sessions/{id}",
            "GET /v1/stops",
            "PUT /v1/agents/{agent}/stop",
            "DELETE /v1/agents/{agent}/stop",
        ],
    ),
    (
        "mail between agents, and its stream",
        &[
            "GET /v1/inbox/stream",
            "PUT /admin/v1/accounts/{account}/agents/{agent}/sender-allowlist",
            "GET /admin/v1/accounts/{account}/agents/{agent}/sender-allowlist",
            "DELETE /admin/v1/accounts/{account}/agents/{agent}/sender-allowlist",
        ],
    ),
];

fn operation(method: &str, path: &str) -> Operation {
    let segments = path
        .split('/')
        .map(|segment| if segment.starts_with('{') { "{}" } else { segment });
    (method.to_uppercase(), segments.collect::<Vec<_>>().join("/"))
}

fn described() -> BTreeSet<Operation> {
    let paths = openapi::document().unwrap()["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let methods: Vec<String> = item.as_object().unwrap().keys().cloned().collect();
        methods
            .into_iter()
            .map(move |method| operation(&method, path))
            .collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

/// The paths of the API as the router has them; axum tells them in its debug form only. The inbox, and
/// the way to it, is for people.
fn paths(gateway: &Gateway) -> BTreeSet<String> {
    let debug = format!("{:?}", gateway.routes);
    let (routes, _) = debug.split_once("fallback_router").unwrap();
    let texts = routes.split('"').filter(|text| text.starts_with('/'));
    let paths: BTreeSet<String> = texts
        .filter(|path| *path != "/" && !path.starts_with("/inbox"))
        .map(str::to_owned)
        .collect();
    for known in ["/v1/messages/{id}", "/admin/v1/accounts/{account}/audit"] {
        assert!(
            paths.contains(known),
            "the router does not tell its paths any more: {paths:?}"
        );
    }
    // A nested router answers with and without the slash at its end; one of both is enough to say.
    let is_said = |path: &&String| path.strip_suffix('/').is_none_or(|plain| !paths.contains(plain));
    paths.iter().filter(is_said).cloned().collect()
}

/// The router tells which methods a path takes when it is asked with another.
async fn served(gateway: &Gateway) -> BTreeSet<Operation> {
    let mut served = BTreeSet::new();
    for path in paths(gateway) {
        let example = path.replace(['{', '}'], "");
        let answer = gateway.call("PROPFIND", &example, &[], Body::empty()).await;
        answer.is(405, "method_not_allowed");
        let methods = answer.headers["allow"].to_str().unwrap();
        served.extend(methods.split(',').map(|method| operation(method.trim(), &path)));
    }
    served
}

#[tokio::test]
async fn what_is_served_is_described_and_what_is_described_is_served() {
    let described = described();
    let served = served(&Gateway::new()).await;
    // HEAD comes with every GET, and is described where it means something else.
    let undescribed: Vec<_> = served
        .difference(&described)
        .filter(|(method, _)| method.as_str() != "HEAD")
        .collect();
    assert!(
        undescribed.is_empty(),
        "served and not described: {undescribed:?}"
    );

    let mut missing: BTreeMap<Operation, &str> = BTreeMap::new();
    for (part, operations) in NOT_YET_SERVED {
        for text in operations {
            let (method, path) = text.split_once(' ').unwrap();
            let operation = operation(method, path);
            assert!(described.contains(&operation), "{text} is not described");
            assert!(
                !served.contains(&operation),
                "{text} is served by now: take it out of the list"
            );
            missing.insert(operation, part);
        }
    }
    let unserved: Vec<_> = described
        .difference(&served)
        .filter(|operation| !missing.contains_key(operation))
        .collect();
    assert!(unserved.is_empty(), "described and not served: {unserved:?}");
}

#[tokio::test]
async fn the_document_is_for_anybody_and_told_once() {
    let gateway = Gateway::new();
    let first = gateway.call("GET", "/openapi.json", &[], Body::empty()).await;
    assert_eq!(first.status, 200);
    assert_eq!(first.body["openapi"], "3.1.0");
    assert_eq!(first.headers["content-type"], "application/json");
    assert_eq!(first.headers["cache-control"], "public, max-age=300");
    let etag = first.headers["etag"].to_str().unwrap();
    let again = gateway
        .call("GET", "/openapi.json", &[("if-none-match", etag)], Body::empty())
        .await;
    assert_eq!((again.status.as_u16(), &again.body), (304, &Value::Null));
    assert_eq!(again.headers["etag"], first.headers["etag"]);
    let other = gateway
        .call(
            "GET",
            "/openapi.json",
            &[("if-none-match", "\"other\"")],
            Body::empty(),
        )
        .await;
    assert_eq!(other.status, 200);
}
