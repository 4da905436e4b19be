//! What is taken out of an envelope into columns.

use std::borrow::Cow;

use ma2h::callback;
use ma2h::envelope::{Ask, MessageType};
use ma2h::error::Problem;
use ma2h::status::Status;

use super::Submit;
use super::keys::search_keys;
use crate::column::storable;

/// Tags that a list shows.
const TAGS_SHOWN_MAX: usize = 32;

/// The columns of a message.
#[derive(Debug)]
pub(super) struct Extract<'a> {
    pub(super) kind: &'static str,
    /// What it is on acceptance: a notify is delivered (§5.1).
    pub(super) status: &'static str,
    pub(super) mode: Option<&'static str>,
    pub(super) priority: &'static str,
    pub(super) version: String,
    pub(super) run_id: Cow<'a, str>,
    pub(super) title: Cow<'a, str>,
    pub(super) tags: Vec<Cow<'a, str>>,
    pub(super) project: Option<Cow<'a, str>>,
    pub(super) search_keys: Vec<i64>,
    pub(super) sole_resolver: Option<Cow<'a, str>>,
    pub(super) callback_url: Option<&'a str>,
    pub(super) callback_scheme: Option<&'static str>,
    pub(super) credential_ref: Option<&'a str>,
    pub(super) callback_host: Option<String>,
    pub(super) expiry_actor: Option<&'static str>,
    pub(super) expiry_defaulted: Option<bool>,
    pub(super) expiry_detail: Option<String>,
}

impl<'a> Extract<'a> {
    /// Takes it out of what a first submit may say; refuses the rest.
    pub(super) fn of(submit: &Submit<'a>) -> Result<Self, Problem> {
        let envelope = submit.envelope;
        ma2h::submit::check(envelope)?;
        let callback = envelope.callback.as_ref();
        let expiry = (envelope.kind != MessageType::Notify).then(|| ma2h::resolve::expiry_detail(envelope));
        let (expiry_detail, expiry_defaulted, expiry_actor) = match expiry {
            Some((detail, defaulted, actor)) => (Some(detail), Some(defaulted), Some(actor)),
            None => (None, None, None),
        };
        Ok(Self {
            kind: envelope.kind.as_str(),
            status: if envelope.kind == MessageType::Notify {
                Status::Delivered.as_str()
            } else {
                Status::Open.as_str()
            },
            mode: envelope.ask.as_ref().map(|ask: &Ask| ask.mode.as_str()),
            priority: envelope.priority.as_str(),
            version: envelope.version.to_string(),
            run_id: storable(&envelope.run_id),
            title: storable(&envelope.title),
            tags: envelope
                .tags
                .iter()
                .take(TAGS_SHOWN_MAX)
                .map(|tag| storable(tag))
                .collect(),
            project: envelope.project.as_deref().map(storable),
            search_keys: search_keys(&submit.request.account, &envelope.title, &envelope.tags),
            sole_resolver: ma2h::resolve::sole_human(envelope).map(storable),
            callback_url: callback.map(|callback| callback.url.as_str()),
            callback_scheme: callback.map(|callback| callback.scheme.as_str()),
            credential_ref: callback.map(|callback| callback.credential_ref.as_str()),
            callback_host: host(submit)?,
            expiry_actor,
            expiry_defaulted,
            expiry_detail,
        })
    }
}

/// The host that must be verified, where there is a push.
fn host(submit: &Submit<'_>) -> Result<Option<String>, Problem> {
    let envelope = submit.envelope;
    let Some(callback) = &envelope.callback else {
        return Ok(None);
    };
    let block = envelope.kind.block().unwrap_or_default();
    // Both are used to the letter, and no column could give this one back.
    for (member, text) in [("url", &callback.url), ("auth", &callback.credential_ref)] {
        if text.contains('\0') {
            let problem = format!("{block}.callback.{member}: must not hold U+0000");
            return Err(Problem::invalid_field(problem));
        }
    }
    let named = |problem: Problem| Problem::new(problem.code, format!("{block}.{}", problem.message));
    if !submit.http_allowed {
        callback::check_https(&callback.url).map_err(named)?;
    }
    callback::host_of(&callback.url).map(Some).map_err(named)
}
