//! The envelope (§4): what the hub needs to know of it. The text itself is what is kept.

use std::collections::HashSet;
use std::str::FromStr;

use time::OffsetDateTime;

pub use crate::ask::{Ask, Choice, Mode};
pub use crate::callback::{AuthScheme, Callback};
pub use crate::resolution::Resolution;
pub use crate::task::{Item, Task};

use crate::error::Problem;
use crate::fields::Fields;
use crate::json::{self, Member, Node};
use crate::timestamp;
use crate::version::{EDIT_MINOR_MIN, Version};

/// The verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageType {
    /// Tells.
    Notify,
    /// Wants a decision.
    Ask,
    /// Wants something done.
    Task,
}

impl MessageType {
    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            MessageType::Notify => "notify",
            MessageType::Ask => "ask",
            MessageType::Task => "task",
        }
    }

    /// The member that belongs to the verb.
    pub fn block(self) -> Option<&'static str> {
        match self {
            MessageType::Notify => None,
            MessageType::Ask => Some("request"),
            MessageType::Task => Some("action"),
        }
    }
}

impl FromStr for MessageType {
    type Err = Problem;

    fn from_str(text: &str) -> Result<MessageType, Problem> {
        match text {
            "notify" => Ok(MessageType::Notify),
            "ask" => Ok(MessageType::Ask),
            "task" => Ok(MessageType::Task),
            _ => Err(Problem::validation("type: expected notify, ask or task")),
        }
    }
}

/// How much it matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Whenever.
    Low,
    /// What is not said otherwise.
    #[default]
    Normal,
    /// Soon.
    High,
    /// Now.
    Urgent,
}

impl Priority {
    /// As the wire has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Priority::Low => "low",
            Priority::Normal => "normal",
            Priority::High => "high",
            Priority::Urgent => "urgent",
        }
    }
}

impl FromStr for Priority {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Priority, Problem> {
        match text {
            "low" => Ok(Priority::Low),
            "normal" => Ok(Priority::Normal),
            "high" => Ok(Priority::High),
            "urgent" => Ok(Priority::Urgent),
            _ => Err(Problem::validation(
                "priority: expected low, normal, high or urgent",
            )),
        }
    }
}

/// What an envelope says.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// The version its sender declares; the Response carries it too.
    pub version: Version,
    /// The verb.
    pub kind: MessageType,
    /// Who sends.
    pub agent_id: String,
    /// Which run of it.
    pub run_id: String,
    /// Where it runs.
    pub runtime: String,
    /// What it belongs to.
    pub project: Option<String>,
    /// What else the agent says of itself; a value that is no string is as it was written.
    pub labels: Vec<(String, String)>,
    /// The sender's own session.
    pub session: Option<String>,
    /// The addressee; absent, it goes to the account's people.
    pub to: Option<String>,
    /// One line.
    pub title: String,
    /// Markdown, untrusted.
    pub body: Option<String>,
    /// How much it matters.
    pub priority: Priority,
    /// Labels.
    pub tags: Vec<String>,
    /// Whether the whole message is sensitive.
    pub sensitive: bool,
    /// When the hub ends it by itself.
    pub expires_at: Option<OffsetDateTime>,
    /// What makes a retry a retry (§8.1).
    pub idempotency_key: Option<String>,
    /// Of an ask.
    pub ask: Option<Ask>,
    /// Of a task.
    pub task: Option<Task>,
    /// Who may resolve, where the sender says so.
    pub allowed_resolvers: Option<Vec<String>>,
    /// Where the Response is pushed to; none where the agent pulls.
    pub callback: Option<Callback>,
}

impl Envelope {
    /// Reads an envelope strictly. It refuses what it cannot read; whether a first submit may say so is for
    /// [`crate::submit::check`], so that what was stored under older rules stays readable.
    pub fn parse(text: &str) -> Result<Envelope, Problem> {
        Envelope::read(&json::parse_input(text)?)
    }

    /// Reads an envelope from what [`json::parse_input`] made of its text.
    pub fn read(node: &Node<'_>) -> Result<Envelope, Problem> {
        let root = Fields::of(node, "")?;
        let agent = Fields::of(root.required("agent")?, "agent")?;
        let version = Version::parse(root.text("ma2h_version")?)?;
        let kind: MessageType = root.text("type")?.parse()?;
        let block = match kind.block() {
            Some(name) => Some(Fields::of(root.required(name)?, name)?),
            None => None,
        };
        let request = block.as_ref().filter(|_| kind == MessageType::Ask);
        let action = block.as_ref().filter(|_| kind == MessageType::Task);
        Ok(Envelope {
            version,
            kind,
            agent_id: agent.text("id")?.to_owned(),
            run_id: agent.text("run_id")?.to_owned(),
            runtime: agent.text("runtime")?.to_owned(),
            project: agent.owned_text("project")?,
            labels: agent.member("labels").map(read_labels).unwrap_or_default(),
            session: agent.owned_text("session")?,
            to: root.owned_text("to")?,
            title: root.text("title")?.to_owned(),
            body: root.owned_text("body")?,
            priority: root
                .optional_text("priority")?
                .map(str::parse)
                .transpose()?
                .unwrap_or_default(),
            tags: root.texts("tags")?.unwrap_or_default(),
            sensitive: root.flag("sensitive", false)?,
            expires_at: expiry(&root)?,
            idempotency_key: root.owned_text("idempotency_key")?,
            ask: request.map(|request| read_ask(request, version)).transpose()?,
            task: action.map(read_task).transpose()?,
            allowed_resolvers: block
                .as_ref()
                .map(|b| b.texts("allowed_resolvers"))
                .transpose()?
                .flatten(),
            callback: block.as_ref().map(read_callback).transpose()?.flatten(),
        })
    }
}

fn read_labels(labels: &Member<'_>) -> Vec<(String, String)> {
    let Node::Object(members) = &labels.node else {
        return Vec::new();
    };
    let text = |member: &Member<'_>| member.node.as_str().unwrap_or(member.text).to_owned();
    let read = members
        .iter()
        .map(|member| (member.name.to_string(), text(member)));
    read.collect()
}

fn expiry(root: &Fields<'_, '_>) -> Result<Option<OffsetDateTime>, Problem> {
    let Some(text) = root.optional_text("expires_at")? else {
        return Ok(None);
    };
    timestamp::parse(text)
        .map(Some)
        .ok_or_else(|| root.expected("expires_at", "expected an RFC 3339 time"))
}

fn read_ask(request: &Fields<'_, '_>, version: Version) -> Result<Ask, Problem> {
    let mode: Mode = request.text("mode")?.parse()?;
    let given = read_options(request)?;
    let listed = given.is_some();
    let repeated_value = given.as_deref().and_then(repeated);
    let options = match (mode, given) {
        (Mode::Input, _) => Vec::new(),
        (_, Some(given)) => given,
        (Mode::Confirm, None) => vec![Choice::plain("approve", "Approve"), Choice::plain("deny", "Deny")],
        (Mode::Select, None) => return Err(request.expected("options", "required for mode select")),
    };
    let schema = request.member("schema").filter(|_| mode == Mode::Input);
    let default = request
        .member("default_on_expire")
        .filter(|member| member.node != Node::Null);
    let (allow_edit, allow_respond, allow_ignore) = read_permissions(request)?;
    Ok(Ask {
        mode,
        options,
        listed,
        repeated_value,
        schema: schema.map(|member| member.node.to_value()),
        allow_edit: allow_edit && mode != Mode::Input && version.minor() >= EDIT_MINOR_MIN,
        allow_respond,
        allow_ignore,
        default_on_expire: default.map(|member| member.node.to_value()),
        default_on_expire_text: default.map(|member| member.text.to_owned()),
    })
}

/// `allow_edit`, `allow_respond` and `allow_ignore`, as written.
fn read_permissions(request: &Fields<'_, '_>) -> Result<(bool, bool, bool), Problem> {
    let Some(member) = request.member("permissions") else {
        return Ok((false, true, true));
    };
    let path = request.at("permissions");
    let permissions = Fields::of(&member.node, &path)?;
    Ok((
        permissions.flag("allow_edit", false)?,
        permissions.flag("allow_respond", true)?,
        permissions.flag("allow_ignore", true)?,
    ))
}

fn read_options(request: &Fields<'_, '_>) -> Result<Option<Vec<Choice>>, Problem> {
    let Some(items) = request.list("options")? else {
        return Ok(None);
    };
    let mut options = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("{}[{index}]", request.at("options"));
        let option = Fields::of(item, &path)?;
        options.push(Choice {
            value: option.text("value")?.to_owned(),
            label: option.text("label")?.to_owned(),
            description: option.owned_text("description")?,
        });
    }
    Ok(Some(options))
}

fn repeated(options: &[Choice]) -> Option<String> {
    let mut seen = HashSet::new();
    options
        .iter()
        .find(|choice| !seen.insert(&choice.value))
        .map(|choice| choice.value.clone())
}

fn read_task(action: &Fields<'_, '_>) -> Result<Task, Problem> {
    let mut checklist = Vec::new();
    for (index, item) in action.list("checklist")?.unwrap_or_default().iter().enumerate() {
        let path = format!("{}[{index}]", action.at("checklist"));
        let item = Fields::of(item, &path)?;
        checklist.push(Item {
            text: item.text("text")?.to_owned(),
            done: item.flag("done", false)?,
        });
    }
    Ok(Task {
        instructions: action.text("instructions")?.to_owned(),
        checklist,
        verification: action.owned_text("verification")?,
    })
}

fn read_callback(block: &Fields<'_, '_>) -> Result<Option<Callback>, Problem> {
    let Some(member) = block.member("callback") else {
        return Ok(None);
    };
    let path = block.at("callback");
    let callback = Fields::of(&member.node, &path)?;
    match callback.text("mode")? {
        "pull" => return Ok(None),
        "push" => {}
        _ => return Err(callback.expected("mode", "expected push or pull")),
    }
    let url = callback.text("url")?.to_owned();
    // The wire schema leaves `auth` open; a push without it has no key to be signed or let in with.
    let Some(auth) = callback.member("auth") else {
        return Err(Problem::invalid_field(format!(
            "{}: required for mode push",
            callback.at("auth")
        )));
    };
    let path = callback.at("auth");
    let auth = Fields::of(&auth.node, &path)?;
    let scheme: AuthScheme = auth.text("scheme")?.parse()?;
    let credential_ref = auth.text(scheme.reference_name())?.to_owned();
    Ok(Some(Callback {
        url,
        scheme,
        credential_ref,
    }))
}

#[cfg(test)]
mod tests;
