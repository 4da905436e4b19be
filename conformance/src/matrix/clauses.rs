//! The numbered clauses of the published behavioural vectors, and what proves each.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Context as _;

use super::proof::Proof;

const TEXT: &str = include_str!("../../clauses.toml");

/// By vector and number.
pub(super) type Clauses = BTreeMap<String, BTreeMap<u32, Vec<String>>>;

pub(super) fn read() -> anyhow::Result<Clauses> {
    let texts: BTreeMap<String, BTreeMap<String, Vec<String>>> =
        toml::from_str(TEXT).context("parse clauses.toml")?;
    let numbered = texts.into_iter().map(|(vector, clauses)| {
        let clauses = clauses.into_iter().map(|(number, proofs)| {
            let number = number
                .parse()
                .with_context(|| format!("{vector}: {number} is no number"))?;
            Ok((number, proofs))
        });
        Ok((vector.clone(), clauses.collect::<anyhow::Result<_>>()?))
    });
    numbered.collect()
}

/// What is wrong with them, if anything: each clause has a proof that is there, and none is left out.
pub(super) fn faults(clauses: &Clauses) -> Vec<String> {
    let mut faults = Vec::new();
    for (vector, clauses) in clauses {
        for (expected, (number, proofs)) in (1..).zip(clauses) {
            if *number != expected {
                faults.push(format!("{vector}: no clause {expected}"));
            }
            if proofs.is_empty() {
                faults.push(format!("{vector} ({number}): no proof"));
            }
            for proof in proofs {
                if let Err(fault) = Proof::parse(proof).and_then(|proof| proof.is_there()) {
                    faults.push(format!("{vector} ({number}): {proof}: {fault}"));
                }
            }
        }
    }
    faults
}

/// For people; with how each live check went, where a report says so.
pub(super) fn table(clauses: &Clauses, report: Option<&BTreeMap<String, String>>) -> String {
    let mut text = String::new();
    let (unserved, mut waiting) = (super::unserved(), 0);
    for (vector, clauses) in clauses {
        for (number, proofs) in clauses {
            waiting += usize::from(super::waits(proofs, &unserved));
            let _ = writeln!(text, "{vector} ({number})");
            for proof in proofs {
                let _ = writeln!(text, "      {proof}{}", super::went(proof, report));
            }
        }
    }
    let count: usize = clauses.values().map(BTreeMap::len).sum();
    let vectors = clauses.len();
    let _ = writeln!(
        text,
        "{count} clauses of {vectors} vectors, {waiting} with proofs whose leg is not served yet"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::{faults, read};

    /// How many clauses each published vector has; of those that do not number theirs, how many we tell apart.
    const PUBLISHED: [(&str, usize); 13] = [
        ("dp-002", 3),
        ("dp-007", 8),
        ("dp-010", 6),
        ("dp-019", 10),
        ("dp-020", 12),
        ("dp-021", 8),
        ("dp-022", 10),
        ("dp-023", 10),
        ("dp-024", 8),
        ("dp-026", 3),
        ("dp-027", 3),
        ("dp-028", 7),
        ("dp-029", 3),
    ];

    #[test]
    fn every_clause_has_its_proof() {
        let clauses = read().unwrap();
        let faults = faults(&clauses);
        assert!(faults.is_empty(), "{faults:#?}");
        let counts: Vec<(&str, usize)> = clauses
            .iter()
            .map(|(vector, clauses)| (vector.as_str(), clauses.len()))
            .collect();
        assert_eq!(counts, PUBLISHED);
    }

    #[test]
    fn a_clause_that_is_left_out_is_noticed() {
        let proof = vec!["vector:schema/ack".to_owned()];
        let of = |clauses: &[(u32, Vec<String>)]| {
            faults(&[("dp-1".to_owned(), clauses.iter().cloned().collect())].into())
        };
        assert!(of(&[(1, proof.clone()), (2, proof.clone())]).is_empty());
        assert_eq!(of(&[(1, proof.clone()), (3, proof.clone())]).len(), 1);
        assert_eq!(of(&[(1, Vec::new())]).len(), 1);
        assert_eq!(of(&[(1, vec!["live:no/such-check".to_owned()])]).len(), 1);
    }
}
