//! Changes to a base document.

use anyhow::Context as _;
use serde_json::Value;

/// The base with a case's `set` and `remove`, each by JSON pointers.
pub(super) fn applied(base: &Value, case: &Value) -> anyhow::Result<Value> {
    let mut document = case.get("document").unwrap_or(base).clone();
    if let Some(removed) = case.get("remove") {
        for pointer in removed.as_array().context("remove: expected a list")? {
            let pointer = pointer.as_str().context("remove: expected pointers")?;
            remove(&mut document, pointer).with_context(|| format!("remove {pointer}"))?;
        }
    }
    if let Some(set) = case.get("set") {
        for (pointer, value) in set.as_object().context("set: expected an object")? {
            put(&mut document, pointer, value.clone()).with_context(|| format!("set {pointer}"))?;
        }
    }
    Ok(document)
}

fn put(document: &mut Value, pointer: &str, value: Value) -> anyhow::Result<()> {
    let (parent, member) = parent(document, pointer)?;
    match parent {
        Value::Object(members) => {
            members.insert(member, value);
        }
        Value::Array(items) => {
            let at: usize = member.parse().context("no index")?;
            anyhow::ensure!(at <= items.len(), "behind the end");
            if at == items.len() {
                items.push(value);
            } else {
                items[at] = value;
            }
        }
        _ => anyhow::bail!("nothing can be in there"),
    }
    Ok(())
}

fn remove(document: &mut Value, pointer: &str) -> anyhow::Result<()> {
    let (parent, member) = parent(document, pointer)?;
    let members = parent.as_object_mut().context("not in an object")?;
    members.remove(&member).context("it is not there")?;
    Ok(())
}

/// What holds the value that a pointer points to, and by which name.
fn parent<'a>(document: &'a mut Value, pointer: &str) -> anyhow::Result<(&'a mut Value, String)> {
    let (path, member) = pointer.rsplit_once('/').context("not a pointer")?;
    let parent = document.pointer_mut(path).context("nothing is there")?;
    Ok((parent, member.replace("~1", "/").replace("~0", "~")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::applied;

    #[test]
    fn what_a_case_changes() {
        let base = json!({"a": {"b": [1]}, "c": 2});
        let case = json!({"remove": ["/c"], "set": {"/a/b/0": 3, "/a/b/1": 4, "/a/x~1y": null}});
        assert_eq!(
            applied(&base, &case).unwrap(),
            json!({"a": {"b": [3, 4], "x/y": null}})
        );
        assert_eq!(applied(&base, &json!({"document": []})).unwrap(), json!([]));
        for wrong in [
            json!({"remove": ["/d"]}),
            json!({"set": {"/x/y": 1}}),
            json!({"set": {"/a/b/7": 1}}),
        ] {
            assert!(applied(&base, &wrong).is_err(), "{wrong}");
        }
    }
}
