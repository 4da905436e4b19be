//! `action`: what a task asks a person to do (§5.3).

/// A manual action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What to do.
    pub instructions: String,
    /// In steps.
    pub checklist: Vec<Item>,
    /// How to tell that it is done.
    pub verification: Option<String>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What to do.
    pub text: String,
    /// Whether it is done.
    pub done: bool,
}
