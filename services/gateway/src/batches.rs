//! Questions that come at once, asked together: a burst of calls that each want one row makes few statements, and waits here
//! for them rather than for a connection that is not free in time.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hub_platform::shutdown::Shutdown;
use ma2h::error::Problem;
use tokio::sync::oneshot;

/// What is told of some of the keys that were asked for.
pub(crate) type Answers<K, V> = Result<HashMap<K, V>, Problem>;

/// Questions that wait for a batch, by what they are about.
const WAITING: &str = "hub_gateway_questions_waiting";

type Ask<K, V> = dyn Fn(Vec<K>) -> BoxFuture<'static, Answers<K, V>> + Send + Sync;
type Asker<V> = oneshot::Sender<Result<Option<V>, Problem>>;

/// How questions of one kind are asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// What they are about; the metrics' label.
    pub(crate) about: &'static str,
    /// Keys of one batch.
    pub(crate) keys_max: usize,
    /// Batches under way at a time.
    pub(crate) batches_max: usize,
    /// Questions that wait for a batch; beyond it they are refused.
    pub(crate) waiting_max: usize,
}

/// Questions of one kind. Clones share them.
#[derive(Clone)]
pub(crate) struct Batches<K, V>(Arc<Inner<K, V>>);

struct Inner<K, V> {
    manner: Manner,
    ask: Box<Ask<K, V>>,
    shutdown: Shutdown,
    queue: Mutex<Queue<K, V>>,
}

struct Queue<K, V> {
    /// In the order in which they came; nobody waits for the answer to what was only told.
    waiting: VecDeque<(K, Option<Asker<V>>)>,
    places_taken: usize,
}

impl<K, V> Batches<K, V>
where
    K: Clone + Eq + Hash + Send + 'static,
    V: Clone + Send + 'static,
{
    /// Asks by this function. What it leaves out of its answer is not there.
    pub(crate) fn new<F, Fut>(manner: Manner, shutdown: &Shutdown, ask: F) -> Self
    where
        F: Fn(Vec<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answers<K, V>> + Send + 'static,
    {
        Self(Arc::new(Inner {
            manner,
            ask: Box::new(move |keys| ask(keys).boxed()),
            shutdown: shutdown.clone(),
            queue: Mutex::new(Queue {
                waiting: VecDeque::new(),
                places_taken: 0,
            }),
        }))
    }

    /// The answer of a batch that begins after this call. Who goes away is not asked for.
    pub(crate) async fn ask(&self, key: K) -> Result<Option<V>, Problem> {
        let (asker, answer) = oneshot::channel();
        if !self.add(key, Some(asker)) {
            return Err(Problem::unavailable(
                "too many calls ask for this at once, try again",
            ));
        }
        answer.await.unwrap_or_else(|_| Err(Problem::internal()))
    }

    /// Asks without waiting for the answer; false where there is no room.
    pub(crate) fn tell(&self, key: K) -> bool {
        self.add(key, None)
    }

    fn add(&self, key: K, asker: Option<Asker<V>>) -> bool {
        let Inner { manner, shutdown, .. } = &*self.0;
        let mut queue = self.0.lock();
        if queue.waiting.len() >= manner.waiting_max {
            metrics::counter!("hub_gateway_questions_refused_total", "about" => manner.about).increment(1);
            return false;
        }
        queue.waiting.push_back((key, asker));
        metrics::gauge!(WAITING, "about" => manner.about).increment(1);
        if queue.places_taken < manner.batches_max {
            queue.places_taken += 1;
            drop(queue);
            let place = Place {
                inner: self.0.clone(),
                is_given_back: false,
            };
            shutdown.spawn(place.run());
        }
        true
    }
}

impl<K, V> Inner<K, V> {
    /// No code panics while it holds the lock; were it to, the queue would still be whole.
    fn lock(&self) -> MutexGuard<'_, Queue<K, V>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for batches, one after the other; given back when they end.
struct Place<K, V> {
    inner: Arc<Inner<K, V>>,
    is_given_back: bool,
}

impl<K, V> Place<K, V>
where
    K: Clone + Eq + Hash + Send + 'static,
    V: Clone + Send + 'static,
{
    /// Until nobody waits.
    async fn run(mut self) {
        while let Some(askers) = self.next() {
            let answers = (self.inner.ask)(askers.keys().cloned().collect()).await;
            for (key, askers) in askers {
                let answer = match &answers {
                    Ok(found) => Ok(found.get(&key).cloned()),
                    Err(problem) => Err(problem.clone()),
                };
                for asker in askers {
                    // Who has gone meanwhile needs none.
                    let _ = asker.send(answer.clone());
                }
            }
        }
    }

    /// Who asks for what in the next batch. Where nobody does the place is given back under the same lock, so that who comes
    /// then takes it.
    fn next(&mut self) -> Option<HashMap<K, Vec<Asker<V>>>> {
        let Manner { about, keys_max, .. } = self.inner.manner;
        let mut batch: HashMap<K, Vec<Asker<V>>> = HashMap::new();
        let mut queue = self.inner.lock();
        let waited = queue.waiting.len();
        while batch.len() < keys_max {
            let Some((key, asker)) = queue.waiting.pop_front() else {
                break;
            };
            if asker.as_ref().is_none_or(|asker| !asker.is_closed()) {
                batch.entry(key).or_default().extend(asker);
            }
        }
        metrics::gauge!(WAITING, "about" => about).decrement(count(waited - queue.waiting.len()));
        if batch.is_empty() {
            queue.places_taken -= 1;
            self.is_given_back = true;
            return None;
        }
        drop(queue);
        metrics::histogram!("hub_gateway_question_batch_keys", "about" => about).record(count(batch.len()));
        Some(batch)
    }
}

impl<K, V> Drop for Place<K, V> {
    fn drop(&mut self) {
        if !self.is_given_back {
            self.inner.lock().places_taken -= 1;
        }
    }
}

fn count(questions: usize) -> u32 {
    u32::try_from(questions).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex};

    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use hub_platform::shutdown::Shutdown;
    use ma2h::error::{ErrorCode, Problem};
    use tokio::sync::Semaphore;

    use super::{Batches, Manner};

    const MANNER: Manner = Manner {
        about: "tests",
        keys_max: 3,
        batches_max: 1,
        waiting_max: 5,
    };

    /// Doubles what is even, each batch once it is let.
    struct Doubler {
        batches: Batches<u32, u32>,
        asked: Arc<Mutex<Vec<Vec<u32>>>>,
        let_go: Arc<Semaphore>,
    }

    impl Doubler {
        fn new(outcome: Result<(), Problem>) -> Self {
            let (asked, let_go) = (
                Arc::<Mutex<Vec<Vec<u32>>>>::default(),
                Arc::new(Semaphore::new(0)),
            );
            let seen = (asked.clone(), let_go.clone());
            let ask = move |mut keys: Vec<u32>| {
                let ((asked, let_go), outcome) = (seen.clone(), outcome.clone());
                async move {
                    keys.sort_unstable();
                    asked.lock().unwrap().push(keys.clone());
                    let_go.acquire().await.unwrap().forget();
                    let even = keys.into_iter().filter(|key| key % 2 == 0);
                    outcome.map(|()| even.map(|key| (key, 2 * key)).collect::<HashMap<_, _>>())
                }
            };
            Self {
                batches: Batches::new(MANNER, &Shutdown::new(), ask),
                asked,
                let_go,
            }
        }

        fn asked(&self) -> Vec<Vec<u32>> {
            self.asked.lock().unwrap().clone()
        }

        /// Has a first batch begin, so that what comes then waits for the next.
        async fn begin(&self) {
            assert!(self.batches.tell(100));
            while self.asked().is_empty() {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn who_comes_while_a_batch_is_under_way_is_in_the_next_and_each_key_once() {
        let doubler = Doubler::new(Ok(()));
        doubler.begin().await;
        let calls = join_all([2, 2, 3, 4, 6].map(|key| doubler.batches.ask(key)));
        doubler.let_go.add_permits(3);
        assert_eq!(
            calls.await,
            [Ok(Some(4)), Ok(Some(4)), Ok(None), Ok(Some(8)), Ok(Some(12))]
        );
        assert_eq!(doubler.asked(), [vec![100], vec![2, 3, 4], vec![6]]);
        // All places were given back.
        doubler.let_go.add_permits(1);
        assert_eq!(doubler.batches.ask(8).await, Ok(Some(16)));
    }

    #[tokio::test]
    async fn who_has_gone_is_not_asked_for_and_the_rest_is_bounded() {
        let doubler = Doubler::new(Ok(()));
        doubler.begin().await;
        assert_eq!(doubler.batches.ask(2).now_or_never(), None);
        for key in 3..=6 {
            assert!(doubler.batches.tell(key));
        }
        assert!(!doubler.batches.tell(7));
        let refused = doubler.batches.ask(7).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Unavailable);
        doubler.let_go.add_permits(3);
        while doubler.asked().len() < 3 {
            tokio::task::yield_now().await;
        }
        assert_eq!(doubler.asked(), [vec![100], vec![3, 4, 5], vec![6]]);
    }

    #[tokio::test]
    async fn what_fails_fails_for_all_of_its_batch() {
        let doubler = Doubler::new(Err(Problem::internal()));
        doubler.let_go.add_permits(10);
        let answers = join_all([1, 2].map(|key| doubler.batches.ask(key))).await;
        assert!(answers.iter().all(Result::is_err), "{answers:?}");
    }
}
