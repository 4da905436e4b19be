//! The checks, and what a check is.

use std::any::type_name;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::checks;
use super::leg::Leg;
use super::stage::Stage;
use super::verdict::Proof;

/// What a check has if it asks for nothing else.
const DEADLINE: Duration = Duration::from_mins(1);

type Run = Box<dyn Fn(Arc<Stage>) -> Pin<Box<dyn Future<Output = Proof> + Send>> + Send + Sync>;

/// One clause of the specification, and how to find out whether a hub keeps it.
pub(crate) struct Check {
    /// The file and the function: `submit/a-replay-gets-the-original-ack`.
    pub(crate) name: String,
    pub(crate) section: &'static str,
    /// What a hub must offer for it to be tried.
    pub(crate) legs: Vec<Leg>,
    pub(crate) deadline: Duration,
    /// It disturbs others, or is disturbed by them.
    pub(crate) alone: bool,
    pub(crate) run: Run,
}

/// A check of what every hub offers. Its name is that of its function.
pub(crate) fn check<F, Fut>(section: &'static str, run: F) -> Check
where
    F: Fn(Arc<Stage>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Proof> + Send + 'static,
{
    Check {
        name: name_of(type_name::<F>()),
        section,
        legs: Vec::new(),
        deadline: DEADLINE,
        alone: false,
        run: Box::new(move |stage| Box::pin(run(stage))),
    }
}

impl Check {
    /// Of something that a hub need not offer; may be said of several.
    pub(crate) fn of(mut self, leg: Leg) -> Self {
        self.legs.push(leg);
        self
    }

    /// Whether the hub of this repository serves what it is about.
    pub(crate) fn is_served(&self) -> bool {
        self.legs.iter().all(|leg| leg.is_served())
    }

    /// That takes longer.
    pub(crate) fn within(mut self, seconds: u64) -> Self {
        self.deadline = Duration::from_secs(seconds);
        self
    }

    /// With no other beside it.
    pub(crate) fn alone(mut self) -> Self {
        self.alone = true;
        self
    }
}

/// `ma2h_conformance::live::checks::submit::a_replay` as `submit/a-replay`.
fn name_of(path: &str) -> String {
    let mut parts = path.rsplit("::");
    let function = parts.next().unwrap_or_default();
    let file = parts.next().unwrap_or_default();
    format!("{file}/{function}").replace('_', "-")
}

/// Every check there is.
pub(crate) fn all() -> Vec<Check> {
    let mut all = checks::all();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for check in &all {
            let (file, function) = check.name.split_once('/').unwrap();
            assert!(!file.is_empty() && function.len() > 8, "{}", check.name);
            assert!(
                check
                    .name
                    .chars()
                    .all(|at| at.is_ascii_lowercase() || at.is_ascii_digit() || "-/".contains(at)),
                "{}",
                check.name
            );
            assert!(
                check.section.starts_with(|at: char| at.is_ascii_digit()),
                "{}",
                check.name
            );
        }
    }
}
