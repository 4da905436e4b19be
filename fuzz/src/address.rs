//! Addresses and actors.

use std::str;

use ma2h::address::{Actor, AgentAddress, resolver_matches};
use ma2h::agent::Identity;

/// Two texts, a line each: what is read is written as it was, and means itself.
pub fn address(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let (first, second) = text.split_once('\n').unwrap_or((text, "agent:a#sess_1"));
    check_one(first);
    check_one(second);
    let Ok(actor) = second.parse::<Actor>() else {
        return;
    };
    if resolver_matches(first, &actor) {
        // Whom an entry means, it names.
        let entry: Actor = first.parse().unwrap();
        assert_eq!(without_session(&entry), without_session(&actor));
    }
}

fn check_one(text: &str) {
    let actor = text.parse::<Actor>();
    if let Ok(actor) = &actor {
        assert_eq!(actor.to_string(), text);
        assert!(resolver_matches(text, actor));
    }
    let Ok(address) = text.parse::<AgentAddress>() else {
        return;
    };
    assert_eq!(address.to_string(), text);
    let (agent_id, session) = (address.agent_id(), address.session());
    assert!(!agent_id.contains('#'));
    assert_eq!(AgentAddress::new(agent_id, session).as_ref(), Ok(&address));
    let named = Actor::Agent {
        id: agent_id.to_owned(),
        session: session.map(str::to_owned),
    };
    assert_eq!(actor, Ok(named));
    let mut identity = Identity::new(agent_id);
    if let Some(session) = session {
        assert!(!identity.is_addressee(6, text));
        identity = identity.with_session(session).unwrap();
        assert_eq!(identity.session_address().as_deref(), Some(text));
    }
    assert!(identity.is_addressee(6, text));
    assert!(!Identity::new(format!("{agent_id}x")).is_addressee(6, text));
}

fn without_session(actor: &Actor) -> Actor {
    match actor {
        Actor::Agent { id, .. } => Actor::agent(id.clone()),
        other => other.clone(),
    }
}
