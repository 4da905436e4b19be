//! The soak, shortened: `make soak` holds the snapshot for longer, and shows what every statement costs.

use std::time::Duration;

use hub_testkit::campaign::soak::{Options, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queues_cost_what_they_did_while_an_old_snapshot_is_held() {
    let options = Options {
        held: Duration::from_secs(12),
        window: Duration::from_secs(4),
        at_once: 8,
    };
    let findings = run(&options).await.unwrap_or_else(|error| panic!("{error:#}"));
    assert!(findings.messages() > 0, "nothing came and went:\n{findings}");
    assert!(findings.grown().is_empty(), "{findings}");
}
