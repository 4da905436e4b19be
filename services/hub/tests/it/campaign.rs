//! The fault campaign, shortened: `make campaign` runs it for longer, with other seeds.

use std::time::Duration;

use hub_testkit::campaign::{self, Options};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_fails_nothing_accepted_is_lost_and_nobody_is_told_an_untruth() {
    let options = Options {
        seed: 20_260_101,
        lasting: Duration::from_secs(20),
        pause: Duration::from_millis(1500),
        replicas: 2,
        at_once: 12,
        indulgence: Duration::from_mins(1),
    };
    let figures = campaign::run(&options)
        .await
        .unwrap_or_else(|error| panic!("{error:#}"));
    assert!(
        figures.messages > options.at_once
            && figures.pushes > 0
            && figures.directives > options.at_once
            && figures.shown > figures.directives
            && figures.faults.len() > 3,
        "the load stood still: {figures}"
    );
}
