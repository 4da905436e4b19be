//! Makes documents that nobody wrote out of those that somebody did.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Numbers that look random and are the same in every run.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("less than a usize")
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// The material for mutations of one noun's documents.
pub(crate) struct Mutator {
    seeds: Vec<Value>,
    names: Vec<String>,
    values: Vec<Value>,
    /// What the schemas list for a member of this name.
    listed: BTreeMap<String, BTreeSet<String>>,
}

impl Mutator {
    /// Mutates the seeds. Names and words are taken from the schemas, so that what is added means something to them.
    pub(crate) fn new(seeds: Vec<Value>, schemas: &[Value]) -> Mutator {
        let mut words = Words::default();
        for document in schemas.iter().chain(&seeds) {
            words.read(document);
        }
        let mut values = boundaries();
        values.extend(words.short.into_iter().map(Value::String));
        Mutator {
            seeds,
            names: words.names.into_iter().collect(),
            values,
            listed: words.listed,
        }
    }

    /// Every seed with one change: each of its nodes left out, replaced by something else, or replaced by what the
    /// schemas list there.
    pub(crate) fn variants(&self) -> impl Iterator<Item = Value> {
        self.seeds.iter().flat_map(|seed| {
            let mut pointers = Vec::new();
            list(seed, String::new(), &mut pointers);
            pointers
                .into_iter()
                .flat_map(|pointer| self.variants_at(seed, &pointer))
        })
    }

    fn variants_at(&self, seed: &Value, pointer: &str) -> Vec<Value> {
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        let others = [
            json!(null),
            json!(true),
            json!(1),
            json!(0),
            json!(-1),
            json!(""),
            json!("x"),
            json!([]),
            json!({}),
        ];
        let listed = self
            .listed
            .get(name)
            .into_iter()
            .flatten()
            .map(|word| json!(word));
        let replaced = others.into_iter().chain(listed).filter_map(|value| {
            let mut variant = seed.clone();
            *variant.pointer_mut(pointer)? = value;
            Some(variant)
        });
        let mut without = seed.clone();
        match without.pointer_mut(parent) {
            Some(Value::Object(members)) => drop(members.remove(name)),
            Some(Value::Array(items)) => drop(items.remove(name.parse().expect("an index"))),
            _ => {}
        }
        replaced
            .chain([without])
            .chain(self.widened(seed, pointer))
            .collect()
    }

    /// The seed with one more member at this place: each that another seed has there.
    fn widened(&self, seed: &Value, pointer: &str) -> Vec<Value> {
        let own = seed.pointer(pointer).and_then(Value::as_object);
        let others = self
            .seeds
            .iter()
            .filter_map(|other| other.pointer(pointer)?.as_object())
            .flatten();
        let new: BTreeMap<&String, &Value> = others
            .filter(|(name, _)| own.is_some_and(|own| !own.contains_key(*name)))
            .collect();
        let widened = new.into_iter().filter_map(|(name, value)| {
            let mut variant = seed.clone();
            variant
                .pointer_mut(pointer)?
                .as_object_mut()?
                .insert(name.clone(), value.clone());
            Some(variant)
        });
        widened.collect()
    }

    /// A seed with up to three changes.
    pub(crate) fn document(&self, chance: &mut Chance) -> Value {
        let mut document = chance.pick(&self.seeds).clone();
        for _ in 0..=chance.below(3) {
            self.change(&mut document, chance);
        }
        document
    }

    fn change(&self, document: &mut Value, chance: &mut Chance) {
        let mut pointers = Vec::new();
        list(document, String::new(), &mut pointers);
        let pointer = chance.pick(&pointers).clone();
        let transplant = self.transplant(&pointer, chance);
        let Some(node) = document.pointer_mut(&pointer) else {
            return;
        };
        match (chance.below(8), node) {
            (0 | 1, node) => *node = transplant.unwrap_or_else(|| chance.pick(&self.values).clone()),
            (2, node) => *node = chance.pick(&self.values).clone(),
            (3, Value::Object(members)) => {
                members.insert(
                    chance.pick(&self.names).clone(),
                    chance.pick(&self.values).clone(),
                );
            }
            (4 | 5, Value::Object(members)) if !members.is_empty() => {
                let names: Vec<_> = members.keys().cloned().collect();
                members.remove(chance.pick(&names));
            }
            (6, Value::Object(members)) => {
                // A member of another seed's object at the same place.
                if let Some(Value::Object(other)) = transplant.filter(|other| other != &json!({})) {
                    let (name, value) = other
                        .iter()
                        .nth(chance.below(other.len()))
                        .expect("it has members");
                    members.insert(name.clone(), value.clone());
                }
            }
            (3..=5, Value::Array(items)) if !items.is_empty() => {
                let item = chance.pick(items).clone();
                items.push(item);
            }
            (6, Value::Array(items)) => drop(items.pop()),
            (3..=6, Value::String(text)) => *text = string(text, chance),
            (_, Value::Bool(flag)) => *flag = !*flag,
            (_, node) => *node = transplant.unwrap_or(json!("x")),
        }
    }

    /// What another seed has at the same place.
    fn transplant(&self, pointer: &str, chance: &mut Chance) -> Option<Value> {
        let start = chance.below(self.seeds.len());
        let mut turned = self.seeds[start..].iter().chain(&self.seeds[..start]);
        turned.find_map(|seed| seed.pointer(pointer)).cloned()
    }
}

fn list(value: &Value, pointer: String, pointers: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                list(member, format!("{pointer}/{name}"), pointers);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                list(item, format!("{pointer}/{index}"), pointers);
            }
        }
        _ => {}
    }
    pointers.push(pointer);
}

fn string(text: &str, chance: &mut Chance) -> String {
    match chance.below(7) {
        0 => String::new(),
        1 => format!("{text}#x"),
        2 => format!("{text}\n"),
        3 => format!(" {text}"),
        4 => text.chars().rev().collect(),
        5 => text.chars().skip(1).collect(),
        _ => format!("{text}{}", "x".repeat(200)),
    }
}

fn boundaries() -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.0),
        json!(1.5),
        json!(9_007_199_254_740_993_u64),
        json!([]),
        json!([[]]),
        json!({}),
        json!({ "enabled": true }),
        json!({ "type": "object", "properties": { "a": {} } }),
        json!({ "type": ["object", "null"], "properties": { "a": true } }),
        json!({ "type": ["object", "object"], "properties": { "a": true } }),
        json!({ "type": [], "properties": { "a": true } }),
        json!({ "type": "string", "properties": {} }),
        json!([{ "text": "a" }, { "text": "b", "done": true }]),
        json!([{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }]),
        json!([{ "value": "a", "label": "A" }, { "label": "A", "value": "a" }]),
        json!(["human:alice", "agent:bot"]),
        json!(["agent:a#b"]),
        json!(["message", "response", "receipt"]),
        json!("x".repeat(200)),
        json!("é".repeat(200)),
        json!("x".repeat(201)),
    ];
    let strings = [
        "",
        " ",
        "x",
        "0.0",
        "0.3",
        "0.4",
        "0.5",
        "0.6",
        "0.9",
        "0.10",
        "0.04",
        "0.x",
        "1.0",
        "0.٦",
        "human:",
        "human:a",
        "agent:a",
        "agent:a#",
        "agent:a#sess_",
        "agent:a#sess_1",
        "agent:a#b",
        "agent:#sess_1",
        "system:x",
        "human:a\nb",
        "sess_",
        "sess_1",
        "msg_1",
        "res_1",
        "dir_1",
        "rcpt_1",
        "a#b",
        "system:default_on_expire",
        "2026-01-02T03:04:05Z",
        "2026-01-02t03:04:05.678+01:00",
        "2026-01-02 03:04:05Z",
        "2026-02-30T00:00:00Z",
        "2026-01-02T23:59:60Z",
        "https://a.example/x",
        "https://a.example/ x",
        "urn:a:b",
        "//a.example",
        "mailto:a@b",
        "http://[::1]:80/",
        "https://ä.example/",
    ];
    values.extend(strings.map(Value::from));
    values
}

/// The words of a document: its members' names, and its short strings.
#[derive(Default)]
struct Words {
    names: BTreeSet<String>,
    short: BTreeSet<String>,
    listed: BTreeMap<String, BTreeSet<String>>,
}

impl Words {
    fn read(&mut self, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.names.insert(name.clone());
                    let listed = member.get("enum").and_then(Value::as_array).into_iter().flatten();
                    let listed: Vec<_> = listed
                        .chain(member.get("const"))
                        .filter_map(Value::as_str)
                        .collect();
                    if !listed.is_empty() {
                        let words = self.listed.entry(name.clone()).or_default();
                        words.extend(listed.into_iter().map(str::to_owned));
                    }
                    self.read(member);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.read(item)),
            Value::String(text) if text.len() < 24 => drop(self.short.insert(text.clone())),
            _ => {}
        }
    }
}
