//! What a list is narrowed by.

use std::borrow::Cow;

use hub_proto::lifecycle::ListMessagesRequest;
use ma2h::envelope::{MessageType, Priority};
use ma2h::error::Problem;
use ma2h::status::Status;

use crate::column::storable;
use crate::principal::Caller;
use crate::submit::{tag_key, word_keys};

/// The filters, as the columns hold what they name.
#[derive(Debug, PartialEq)]
pub(super) struct Filter<'a> {
    pub(super) status: Option<&'static str>,
    pub(super) kind: Option<&'static str>,
    pub(super) priority: Option<&'static str>,
    pub(super) agent: Option<Cow<'a, str>>,
    pub(super) project: Option<Cow<'a, str>>,
    /// All of these are among a match's.
    pub(super) search_keys: Option<Vec<i64>>,
}

impl<'a> Filter<'a> {
    /// Reads the filters; none where nothing can match.
    pub(super) fn of(request: &'a ListMessagesRequest, reader: &'a Caller) -> Result<Option<Self>, Problem> {
        let status: Option<Status> = request.status.as_deref().map(str::parse).transpose()?;
        let kind: Option<MessageType> = request.r#type.as_deref().map(str::parse).transpose()?;
        let priority: Option<Priority> = request.priority.as_deref().map(str::parse).transpose()?;
        let agent = match (reader.agent(), request.agent.as_deref()) {
            (Some(own), Some(asked)) if own != asked => return Ok(None),
            (Some(own), _) => Some(own),
            (None, asked) => asked,
        };
        let Ok(search_keys) = search_keys(request) else {
            return Ok(None);
        };
        let (agent, project) = (agent.map(storable), request.project.as_deref().map(storable));
        Ok(Some(Self {
            status: status.map(Status::as_str),
            kind: kind.map(MessageType::as_str),
            priority: priority.map(Priority::as_str),
            agent,
            project,
            search_keys,
        }))
    }
}

/// A search for something that has no words in it.
struct Wordless;

fn search_keys(request: &ListMessagesRequest) -> Result<Option<Vec<i64>>, Wordless> {
    let mut keys = Vec::new();
    if let Some(words) = request.q.as_deref().filter(|words| !words.trim().is_empty()) {
        keys = word_keys(&request.account, words);
        if keys.is_empty() {
            return Err(Wordless);
        }
    }
    keys.extend(request.tag.iter().map(|tag| tag_key(&request.account, tag)));
    Ok((!keys.is_empty()).then_some(keys))
}

#[cfg(test)]
mod tests {
    use hub_proto::lifecycle::ListMessagesRequest;

    use super::Filter;
    use crate::principal::Caller;

    fn asked(change: impl FnOnce(&mut ListMessagesRequest)) -> ListMessagesRequest {
        let mut request = ListMessagesRequest {
            account: "acme".to_owned(),
            limit: 50,
            ..Default::default()
        };
        change(&mut request);
        request
    }

    #[test]
    fn an_agent_sees_its_own_only() {
        let (human, agent) = (Caller::Human("alice".to_owned()), Caller::Agent("bot".to_owned()));
        let any = asked(|_| ());
        let own = asked(|request| request.agent = Some("bot".to_owned()));
        let other = asked(|request| request.agent = Some("else".to_owned()));
        let cases = [
            (&any, &human, Some(None)),
            (&other, &human, Some(Some("else"))),
            (&any, &agent, Some(Some("bot"))),
            (&own, &agent, Some(Some("bot"))),
            (&other, &agent, None),
        ];
        for (request, reader, expected) in cases {
            let filter = Filter::of(request, reader).unwrap();
            assert_eq!(filter.as_ref().map(|filter| filter.agent.as_deref()), expected);
        }
    }

    #[test]
    fn unknown_values_are_refused_by_name() {
        let human = Caller::Human("alice".to_owned());
        let wrong = || Some("nope\0".to_owned());
        let cases = [
            (asked(|request| request.status = wrong()), "status"),
            (asked(|request| request.r#type = wrong()), "type"),
            (asked(|request| request.priority = wrong()), "priority"),
        ];
        for (request, name) in cases {
            let problem = Filter::of(&request, &human).unwrap_err();
            assert!(problem.message.starts_with(name), "{problem}");
        }
    }

    #[test]
    fn words_and_tags_are_all_to_match() {
        let human = Caller::Human("alice".to_owned());
        let keys = |request: ListMessagesRequest| {
            Filter::of(&request, &human)
                .unwrap()
                .map(|filter| filter.search_keys.map_or(0, |keys| keys.len()))
        };
        assert_eq!(keys(asked(|_| ())), Some(0));
        assert_eq!(keys(asked(|request| request.q = Some("  ".to_owned()))), Some(0));
        assert_eq!(
            keys(asked(|request| request.q = Some("ship it".to_owned()))),
            Some(2)
        );
        assert_eq!(keys(asked(|request| request.q = Some("?!".to_owned()))), None);
        let both = asked(|request| {
            request.q = Some("ship".to_owned());
            request.tag = Some("prod\0".to_owned());
        });
        assert_eq!(keys(both), Some(2));
    }
}
