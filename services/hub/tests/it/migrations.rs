//! `ma2h-hub migrate`, when several run it at once and when there is nothing to do.

use hub_platform::config::Secret;
use hub_testkit::database::{connect, with_database};
use hub_testkit::run::Run;
use ma2h_hub::{migrate, tiers};

#[tokio::test]
async fn several_may_migrate_at_once_and_each_step_is_done_once() {
    let run = Run::current();
    let name = format!("empty_{}", hub_testkit::unique());
    let maintenance = connect(&run.postgres).await;
    maintenance
        .batch_execute(&format!("CREATE DATABASE {name}"))
        .await
        .unwrap();
    let url = Secret::new(with_database(&run.postgres, &name));

    let all = [&url; 4].map(migrate::migrate);
    let [one, two, three, four] = all;
    let (one, two, three, four) = tokio::join!(one, two, three, four);
    let applied: Vec<String> = [one, two, three, four]
        .into_iter()
        .flat_map(Result::unwrap)
        .collect();
    let steps: usize = tiers::migrations().iter().map(|tier| tier.migrations.len()).sum();
    assert_eq!(applied.len(), steps, "{applied:?}");

    assert_eq!(migrate::migrate(&url).await.unwrap(), Vec::<String>::new());
}
