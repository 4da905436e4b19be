//! Work that takes the processor for long, kept off the threads that everybody's calls run on.

use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use tokio::sync::Semaphore;

/// Work on so few bytes is done at once where it comes up: handing it over would take longer.
const INLINE_BYTES_MAX: usize = 32 * 1024;

/// As many at a time as there are processors: more would only take memory.
static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, std::num::NonZero::get);
    Arc::new(Semaphore::new(processors))
});

/// Does work on so many bytes, elsewhere if they are many.
pub async fn run<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= INLINE_BYTES_MAX {
        return work();
    }
    // Never closed.
    let turn = TURNS.clone().acquire_owned().await.ok();
    let span = tracing::Span::current();
    let working = tokio::task::spawn_blocking(move || {
        // Held by the work itself: who asked for it may be gone before it ends.
        let _turn = turn;
        span.in_scope(work)
    });
    match working.await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going down, and with it who waits here.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::{INLINE_BYTES_MAX, run};

    #[tokio::test]
    async fn much_work_is_done_elsewhere() {
        let here = thread::current().id();
        assert_eq!(run(INLINE_BYTES_MAX, || thread::current().id()).await, here);
        assert_ne!(run(INLINE_BYTES_MAX + 1, || thread::current().id()).await, here);
    }

    #[tokio::test]
    async fn a_panic_is_the_callers() {
        let working = tokio::spawn(run(INLINE_BYTES_MAX + 1, || panic!("broken")));
        assert!(working.await.unwrap_err().is_panic());
        // And leaves its turn free.
        for _ in 0..1000 {
            run(INLINE_BYTES_MAX + 1, || ()).await;
        }
    }
}
