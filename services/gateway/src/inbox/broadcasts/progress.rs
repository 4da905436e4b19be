//! How far a broadcast got with how many, at a glance; each part of it narrows the list to those.

use hub_proto::lifecycle::RecipientCount;
use maud::{Markup, html};

use super::super::names;

/// The states of a recipient that are one to a person, the goal first.
const GROUPS: [(&str, &[&str]); 6] = [
    ("acknowledged", &["acknowledged"]),
    ("delivered", &["delivered"]),
    ("queued", &["queued"]),
    ("pending", &["pending"]),
    ("expired", &["expired"]),
    ("undeliverable", &["bounced", "undeliverable"]),
];
/// The length of the bar, and the least that a part of it has.
const BAR_UNITS: u32 = 1000;
const PART_UNITS_MIN: u32 = 12;
/// How soon an open page looks again while it is being sent, should nobody tell.
const LOOK_AGAIN_SECONDS: u32 = 5;

/// How many are in which group.
pub(super) struct Progress {
    counts: [u32; GROUPS.len()],
}

/// The states that a group of this name stands for; nothing where there is none of it.
pub(super) fn states(group: &str) -> Option<&'static [&'static str]> {
    GROUPS
        .iter()
        .find(|(name, _)| *name == group)
        .map(|(_, states)| *states)
}

impl Progress {
    /// Of what lifecycle counted.
    pub(super) fn of(counted: &[RecipientCount]) -> Self {
        let count = |states: &[&str]| {
            let of_group = counted
                .iter()
                .filter(|count| states.contains(&count.state.as_str()));
            of_group.map(|count| count.recipients).sum()
        };
        Self {
            counts: GROUPS.map(|(_, states)| count(states)),
        }
    }

    fn count(&self, group: &str) -> u32 {
        let mut counted = GROUPS.iter().zip(self.counts);
        counted
            .find(|((name, _), _)| *name == group)
            .map_or(0, |(_, count)| count)
    }

    fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Whether nothing can change any more.
    pub(super) fn is_over(&self) -> bool {
        ["delivered", "queued", "pending"]
            .iter()
            .all(|group| self.count(group) == 0)
    }

    /// In one sentence.
    pub(super) fn words(&self) -> String {
        let (total, acknowledged) = (self.total(), self.count("acknowledged"));
        let pending = self.count("pending");
        if pending > 0 {
            format!("Being sent: {} of {total} had their turn.", total - pending)
        } else if acknowledged == total {
            format!("All {total} acknowledged it.")
        } else {
            format!("{acknowledged} of {total} acknowledged it.")
        }
    }

    /// Draws it; `chosen` is the group that the list is narrowed to, `href` the address of one.
    pub(super) fn draw(&self, chosen: Option<&str>, href: impl Fn(Option<&str>) -> String) -> Markup {
        let lapses = (self.count("pending") > 0).then_some(LOOK_AGAIN_SECONDS);
        let groups = GROUPS
            .iter()
            .zip(self.counts)
            .map(|((name, _), count)| (*name, count));
        let groups: Vec<_> = groups
            .filter(|(name, count)| *count > 0 || chosen == Some(name))
            .collect();
        html! {
            div class="progress" data-lapses=[lapses] {
                p class="decision" { (self.words()) }
                (self.bar())
                nav class="chips" aria-label="Filters" {
                    @for (name, count) in groups {
                        @let (word, sign) = names::track(name);
                        @let on = chosen == Some(name);
                        a class="chip counted" data-group=(name) href=(href((!on).then_some(name)))
                            aria-current=[on.then_some("true")] {
                            span class="swatch" aria-hidden="true" { (sign) } " " (word) " " strong { (count) }
                            @if on { span class="chip-off" aria-hidden="true" { " ×" } span class="hidden" { ", remove this filter" } }
                        }
                    }
                }
            }
        }
    }

    /// A picture of the words beside it.
    fn bar(&self) -> Markup {
        let mut left = 0;
        let parts = GROUPS.iter().zip(self.lengths()).map(|((name, _), length)| {
            let at = left;
            left += length;
            (*name, at, length)
        });
        html! {
            svg class="bar" viewBox=(format!("0 0 {BAR_UNITS} 10")) preserveAspectRatio="none" aria-hidden="true"
                focusable="false" {
                @for (name, at, length) in parts {
                    @if length > 0 { rect data-group=(name) x=(at) y="0" width=(length) height="10" {} }
                }
            }
        }
    }

    /// The length of each part: what there is can be seen, however little it is.
    fn lengths(&self) -> [u32; GROUPS.len()] {
        let total = u64::from(self.total().max(1));
        let share = |count: u32| {
            let units = u64::from(count) * u64::from(BAR_UNITS) / total;
            u32::try_from(units).unwrap_or(BAR_UNITS)
        };
        let mut lengths = self.counts.map(|count| {
            if count == 0 {
                0
            } else {
                share(count).max(PART_UNITS_MIN)
            }
        });
        // What the small ones were given, and what rounding left, is the longest one's.
        let sum: u32 = lengths.iter().sum();
        if let Some(longest) = lengths.iter_mut().max().filter(|longest| **longest > 0) {
            *longest = (*longest + BAR_UNITS).saturating_sub(sum);
        }
        lengths
    }
}

#[cfg(test)]
mod tests {
    use super::{BAR_UNITS, GROUPS, PART_UNITS_MIN, Progress, RecipientCount};
    use crate::broadcasts::STATES;

    fn progress(counts: &[(&str, u32)]) -> Progress {
        let counts: Vec<_> = counts
            .iter()
            .map(|(state, recipients)| RecipientCount {
                state: (*state).to_owned(),
                recipients: *recipients,
            })
            .collect();
        Progress::of(&counts)
    }

    #[test]
    fn every_state_is_in_one_group() {
        for state in STATES {
            let groups = GROUPS.iter().filter(|(_, states)| states.contains(&state));
            assert_eq!(groups.count(), 1, "{state}");
        }
    }

    #[test]
    fn says_it_in_a_sentence() {
        let cases = [
            (
                progress(&[("pending", 3), ("queued", 1)]),
                "Being sent: 1 of 4 had their turn.",
                false,
            ),
            (
                progress(&[("acknowledged", 2), ("delivered", 1)]),
                "2 of 3 acknowledged it.",
                false,
            ),
            (progress(&[("acknowledged", 2)]), "All 2 acknowledged it.", true),
            (
                progress(&[
                    ("acknowledged", 1),
                    ("bounced", 1),
                    ("undeliverable", 1),
                    ("expired", 1),
                ]),
                "1 of 4 acknowledged it.",
                true,
            ),
        ];
        for (progress, words, is_over) in cases {
            assert_eq!((progress.words().as_str(), progress.is_over()), (words, is_over));
        }
    }

    #[test]
    fn the_bar_is_full_and_hides_nobody() {
        for counts in [
            &[("acknowledged", 9_999), ("queued", 1)][..],
            &[("acknowledged", 1), ("delivered", 1), ("bounced", 1)],
            &[("expired", 7)],
        ] {
            let lengths = progress(counts).lengths();
            assert_eq!(lengths.iter().sum::<u32>(), BAR_UNITS, "{lengths:?}");
            let shown = lengths.iter().filter(|length| **length >= PART_UNITS_MIN);
            assert_eq!(shown.count(), counts.len(), "{lengths:?}");
        }
        assert_eq!(progress(&[]).lengths(), [0; 6]);
    }

    #[test]
    fn a_group_narrows_the_list_and_widens_it_again() {
        let href = |group: Option<&str>| group.unwrap_or("all").to_owned();
        let progress = progress(&[("bounced", 1), ("undeliverable", 2), ("queued", 4)]);
        let html = progress.draw(Some("queued"), href).into_string();
        assert!(
            html.contains("data-group=\"undeliverable\" href=\"undeliverable\""),
            "{html}"
        );
        assert!(
            html.contains("data-group=\"queued\" href=\"all\" aria-current=\"true\""),
            "{html}"
        );
        assert!(
            html.contains("<strong>3</strong>") && !html.contains("data-lapses"),
            "{html}"
        );
    }
}
