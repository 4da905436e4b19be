//! What a schema that came with a request may cost.
//!
//! A validator walks schema and value together: a node of the schema meets a node of the value at most once for each
//! way in which references and combining keywords lead there. So the number of ways, counted ahead, times the size of
//! the value bounds the work, whatever the schema says. A schema can double its ways with every few bytes; counting
//! them stays cheap, as each of its nodes is counted once for each depth of the value.

mod keywords;
mod size;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use size::Size;

/// Objects in a schema, at most. As no walk enters one twice, this bounds how deep compiling can recurse.
const SCHEMA_OBJECTS_MAX: usize = 1_000;
/// Values of any kind in a schema, at most: the entries of its lists, above all.
const SCHEMA_NODES_MAX: usize = 50_000;
/// Patterns in a schema, at most.
const SCHEMA_PATTERNS_MAX: usize = 200;
/// Objects and arrays one inside the other, at most, in a schema as in a value.
const DEPTH_MAX: usize = 64;
/// Schemas that are walked one inside the other while a value is checked, at most.
const LEVELS_MAX: usize = 200;
/// Meetings of a schema's node with a value's node, at most.
const MEETINGS_MAX: u64 = 10_000_000;
/// Bytes of a value's text times the patterns that may look at them, at most.
const PATTERN_BYTES_MAX: u64 = 4 << 20;

/// The drafts that a schema may declare. Draft 4 is not among them: it names its base by `id`.
const DRAFTS: [&str; 4] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
];

/// Refuses a schema that is too large to be compiled, that refers to anything outside itself, or that refers to
/// itself without going into the value.
pub(crate) fn check_schema(schema: &Value) -> Result<(), String> {
    let size = Size::of(schema);
    for (found, limit, noun) in [
        (size.objects, SCHEMA_OBJECTS_MAX, "objects"),
        (size.nodes, SCHEMA_NODES_MAX, "values"),
        (size.depth, DEPTH_MAX, "levels"),
    ] {
        if found > limit {
            return Err(format!("the schema has more than {limit} {noun}"));
        }
    }
    if let Some(draft) = schema.get("$schema") {
        let known = draft
            .as_str()
            .is_some_and(|draft| DRAFTS.contains(&draft.trim_end_matches('#')));
        if !known {
            return Err("$schema names a draft that is not supported; 2020-12 is".to_owned());
        }
    }
    if keywords::has_inner_base(schema) {
        return Err("$id is supported only at the root of the schema".to_owned());
    }
    let mut walk = Walk::new(schema);
    walk.visit(schema)?;
    if walk.patterns > SCHEMA_PATTERNS_MAX {
        return Err(format!("the schema has more than {SCHEMA_PATTERNS_MAX} patterns"));
    }
    Ok(())
}

/// Whether a value can be checked against a schema that [`check_schema`] let through; otherwise what is expected of
/// the value.
pub(crate) fn check_value(schema: &Value, value: &Value) -> Result<(), String> {
    let size = Size::of(value);
    if size.depth > DEPTH_MAX {
        return Err(format!("must not be nested more than {DEPTH_MAX} levels deep"));
    }
    let cost = Walk::new(schema).cost(schema, size.depth, 0)?;
    let nodes = u64::try_from(size.nodes).unwrap_or(u64::MAX);
    let text_bytes = u64::try_from(size.text_bytes).unwrap_or(u64::MAX);
    if cost.ways.saturating_mul(nodes) > MEETINGS_MAX
        || cost.patterns.saturating_mul(text_bytes) > PATTERN_BYTES_MAX
    {
        return Err("is too large to be checked against this schema".to_owned());
    }
    Ok(())
}

/// What a walk through a schema costs: the ways that lead to its nodes, and those that lead to a pattern.
#[derive(Clone, Copy, Default)]
struct Cost {
    ways: u64,
    patterns: u64,
}

impl Cost {
    fn plus(self, other: Cost) -> Cost {
        Cost {
            ways: self.ways.saturating_add(other.ways),
            patterns: self.patterns.saturating_add(other.patterns),
        }
    }

    fn times(self, factor: u64) -> Cost {
        Cost {
            ways: self.ways.saturating_mul(factor),
            patterns: self.patterns.saturating_mul(factor),
        }
    }
}

/// A node of the schema is known by its address: the schema is borrowed, so it stays where it is.
type Node = *const Value;

struct Walk<'s> {
    root: &'s Value,
    costs: HashMap<(Node, usize), Cost>,
    open: HashSet<(Node, usize)>,
    visited: HashSet<Node>,
    patterns: usize,
}

impl<'s> Walk<'s> {
    fn new(root: &'s Value) -> Self {
        Walk {
            root,
            costs: HashMap::new(),
            open: HashSet::new(),
            visited: HashSet::new(),
            patterns: 0,
        }
    }

    /// Sees every node once.
    fn visit(&mut self, node: &'s Value) -> Result<(), String> {
        let Some(members) = node.as_object() else {
            return Ok(());
        };
        if !self.visited.insert(std::ptr::from_ref(node)) {
            return Ok(());
        }
        // At depth 0 only what applies to the same value is walked, which is where a schema must not lead back to
        // itself.
        self.cost(node, 0, 0)?;
        self.patterns += keywords::patterns(members);
        for next in keywords::here(self.root, members)?
            .into_iter()
            .chain(keywords::inside(members))
        {
            self.visit(next)?;
        }
        Ok(())
    }

    /// The cost of checking a value of this depth against this node, which lies this many levels down the walk.
    fn cost(&mut self, node: &'s Value, depth: usize, level: usize) -> Result<Cost, String> {
        let Some(members) = node.as_object() else {
            return Ok(Cost { ways: 1, patterns: 0 });
        };
        let key = (std::ptr::from_ref(node), depth);
        if let Some(cost) = self.costs.get(&key) {
            return Ok(*cost);
        }
        if level > LEVELS_MAX {
            return Err(format!("leads more than {LEVELS_MAX} levels into the schema"));
        }
        if !self.open.insert(key) {
            return Err("the schema refers to itself without going into the value".to_owned());
        }
        let mut here = Cost::default();
        for next in keywords::here(self.root, members)? {
            here = here.plus(self.cost(next, depth, level + 1)?);
        }
        // To know what is left over, the validator looks through the keywords of the same value again.
        if keywords::looks_again(members) {
            here = here.times(3);
        }
        let mut cost = here.plus(Cost {
            ways: 1 + u64::try_from(keywords::listed(members)).unwrap_or(u64::MAX),
            patterns: u64::try_from(keywords::patterns(members)).unwrap_or(u64::MAX),
        });
        if depth > 0 {
            for next in keywords::inside(members) {
                cost = cost.plus(self.cost(next, depth - 1, level + 1)?);
            }
        }
        self.open.remove(&key);
        self.costs.insert(key, cost);
        Ok(cost)
    }
}
