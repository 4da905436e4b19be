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
    for (vector, clauses) in clauses {
        for (number, proofs) in clauses {
            let _ = writeln!(text, "{vector} ({number})");
            for proof in proofs {
                let _ = writeln!(text, "      {proof}{}", super::went(proof, report));
            }
        }
    }
    let count: usize = clauses.values().map(BTreeMap::len).sum();
    let _ = writeln!(text, "{count} clauses of {} vectors", clauses.len());
    text
}

#[cfg(test)]
mod tests {
    use super::{faults, read};

    #[test]
    fn every_clause_has_its_proof() {
        let clauses = read().unwrap();
        let faults = faults(&clauses);
        assert!(faults.is_empty(), "{faults:#?}");
        let vectors: Vec<&str> = clauses.keys().map(String::as_str).collect();
        let expected = [
            "dp-002", "dp-007", "dp-010", "dp-019", "dp-020", "dp-021", "dp-022", "dp-023", "dp-024",
            "dp-026", "dp-027", "dp-028", "dp-029",
        ];
        assert_eq!(vectors, expected);
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
