//! A fault at work, and whether it showed.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Fault;
use crate::live::api::{Call, Reply};
use crate::live::receiver::Push;

/// A fault before one check: what that check was told.
pub(crate) struct Liar {
    fault: &'static Fault,
    lies: AtomicUsize,
}

impl Liar {
    pub(crate) fn new(fault: &'static Fault) -> Self {
        Self {
            fault,
            lies: AtomicUsize::new(0),
        }
    }

    /// How many answers and pushes differed from what the hub said.
    pub(crate) fn lies(&self) -> usize {
        self.lies.load(Ordering::Relaxed)
    }

    pub(crate) fn alter_reply(&self, call: &Call, token: &str, reply: &mut Reply) {
        let honest = reply.clone();
        self.fault.alter_reply(call, token, reply);
        self.count(*reply != honest);
    }

    pub(crate) fn alter_push(&self, push: &mut Push) {
        let honest = push.clone();
        self.fault.alter_push(push);
        self.count(*push != honest);
    }

    fn count(&self, told: bool) {
        self.lies.fetch_add(usize::from(told), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use reqwest::Method;
    use reqwest::header::HeaderMap;

    use super::Liar;
    use crate::live::api::{Call, Reply};
    use crate::live::fault::named;
    use crate::live::receiver::Push;

    fn reply(status: u16, text: &str) -> Reply {
        Reply {
            asked: String::new(),
            status,
            headers: HeaderMap::new(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn only_what_was_changed_is_a_lie() {
        let liar = Liar::new(named("403 for 404").unwrap());
        for (path, status, lies) in [
            ("/v1/messages/msg_1", 200, 0),
            ("/v1/inbox", 404, 0),
            ("/admin/v1/messages", 404, 0),
            ("/v1/messages/msg_1", 404, 1),
            ("/v1/messages/msg_1/cancel", 404, 2),
        ] {
            liar.alter_reply(&Call::new(Method::GET, path), "", &mut reply(status, "{}"));
            assert_eq!(liar.lies(), lies, "{path} {status}");
        }
    }

    #[test]
    fn a_body_that_is_let_be_is_no_lie() {
        let liar = Liar::new(named("a default not said to be one").unwrap());
        let call = Call::new(Method::GET, "/v1/messages/msg_1");
        for (text, lies) in [
            ("no JSON", 0),
            (r#"{ "response" : { "resolution" : "expired" } }"#, 0),
            (r#"{"response": {"defaulted": true}}"#, 1),
        ] {
            liar.alter_reply(&call, "", &mut reply(200, text));
            assert_eq!(liar.lies(), lies, "{text}");
        }
    }

    #[test]
    fn a_push_without_what_is_taken_from_it_is_no_lie() {
        let liar = Liar::new(named("no signature").unwrap());
        let mut push = Push {
            path: "/told".to_owned(),
            headers: HeaderMap::new(),
            body: "{}".to_owned(),
        };
        liar.alter_push(&mut push);
        assert_eq!(liar.lies(), 0);
        push.headers
            .insert("ma2h-signature", "t=1,jti=a,v1=b".parse().unwrap());
        liar.alter_push(&mut push);
        assert_eq!(liar.lies(), 1);
    }
}
