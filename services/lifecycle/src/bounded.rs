//! What is remembered of many, within a bound.

use std::collections::HashMap;
use std::hash::Hash;

/// Makes room where there is none: what is not fresh any more goes, and where most of it is, every second of the rest.
pub(crate) fn make_room<K: Eq + Hash, V>(known: &mut HashMap<K, V>, is_fresh: impl Fn(&V) -> bool) {
    let full = known.len();
    known.retain(|_, value| is_fresh(value));
    if known.len() > full / 2 {
        let mut stays = false;
        known.retain(|_, _| {
            stays = !stays;
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::make_room;

    #[test]
    fn at_least_half_of_the_places_are_free_afterwards() {
        for fresh in [0, 10, 50, 51, 99, 100] {
            let mut known: HashMap<u32, u32> = (0..100).map(|number| (number, number)).collect();
            make_room(&mut known, |number| *number < fresh);
            assert!(
                known.len() <= 50 && known.keys().all(|number| *number < fresh),
                "{fresh}: {known:?}"
            );
            assert!(
                known.len() >= usize::try_from(fresh).unwrap() / 2,
                "{fresh}: {}",
                known.len()
            );
        }
    }
}
