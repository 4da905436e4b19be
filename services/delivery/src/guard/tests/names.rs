//! Names under a test's control.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::super::names::{Answer, Names};

/// Answers each question with the next in turn, and with the last from then on, whatever the name; one that begins
/// with `unknown` there is not, and one that begins with `silent` is never answered for.
#[derive(Clone)]
pub(super) struct Scripted {
    answers: Arc<Mutex<VecDeque<Vec<IpAddr>>>>,
    asked: Arc<AtomicUsize>,
}

impl Scripted {
    pub(super) fn always(answer: &[&str]) -> Self {
        Self::in_turn(&[answer])
    }

    pub(super) fn in_turn(answers: &[&[&str]]) -> Self {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        Self {
            answers: Arc::new(Mutex::new(answers.iter().map(parse).collect())),
            asked: Arc::default(),
        }
    }

    /// Answers with this from now on.
    pub(super) fn answer(&self, addresses: &[&str]) {
        let addresses = addresses.iter().map(|text| text.parse().unwrap()).collect();
        *self.answers.lock().unwrap() = [addresses].into();
    }

    /// How often it was asked for addresses.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Names for Scripted {
    fn addresses(&self, name: &str) -> Answer<IpAddr> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 {
            answers.pop_front().unwrap()
        } else {
            answers[0].clone()
        };
        let (is_known, is_silent) = (!name.starts_with("unknown"), name.starts_with("silent"));
        Box::pin(async move {
            if is_silent {
                std::future::pending::<()>().await;
            }
            is_known
                .then_some(answer)
                .ok_or_else(|| std::io::Error::other("no such name"))
        })
    }

    fn texts(&self, _: &str) -> Answer<Vec<u8>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
