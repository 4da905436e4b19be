//! Passes over many rows: chunk after chunk, and row by row where a chunk failed (design rule 11).

use hub_platform::db;
use hub_platform::shutdown::Shutdown;

/// Which rows one statement takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    /// At most so many.
    pub(crate) rows: i64,
    /// Of those whose time came first, so many are passed over.
    pub(crate) skipped: i64,
}

/// Deals with chunk after chunk, until one is not full; `deal` says how many rows it had. After one that failed as a whole each
/// row by itself: what can be dealt with is, and what cannot is passed over and stands alone in the log. The pass has failed
/// then all the same.
pub(crate) async fn each<F, Fut>(rows_max: u32, shutdown: &Shutdown, mut deal: F) -> Result<(), db::Error>
where
    F: FnMut(Chunk) -> Fut,
    Fut: Future<Output = Result<i64, db::Error>>,
{
    let chunk = Chunk {
        rows: i64::from(rows_max),
        skipped: 0,
    };
    while !shutdown.is_triggered() {
        match deal(chunk).await {
            Ok(taken) if taken < chunk.rows => break,
            Ok(_) => {}
            Err(error) if error.is_unavailable() => return Err(error),
            Err(error) => {
                singly(chunk.rows, deal).await?;
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Deals with each row by itself, as [`each`] does after a chunk that failed.
pub(crate) async fn singly<F, Fut>(rows_max: i64, mut deal: F) -> Result<(), db::Error>
where
    F: FnMut(Chunk) -> Fut,
    Fut: Future<Output = Result<i64, db::Error>>,
{
    let mut skipped = 0;
    for _ in 0..rows_max {
        match deal(Chunk { rows: 1, skipped }).await {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.is_unavailable() => return Err(error),
            Err(error) => {
                db::report(&error);
                skipped += 1;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::future::ready;

    use hub_platform::db;
    use hub_platform::shutdown::Shutdown;

    use super::{Chunk, each};

    /// Rows of a queue, of which those below zero cannot be dealt with.
    async fn left_of(rows: &[i32], rows_max: u32) -> (Vec<i32>, bool) {
        let queue = RefCell::new(rows.to_vec());
        let outcome = each(rows_max, &Shutdown::new(), |Chunk { rows, skipped }| {
            let (rows, skipped) = (usize::try_from(rows).unwrap(), usize::try_from(skipped).unwrap());
            let taken: Vec<i32> = queue.borrow().iter().copied().skip(skipped).take(rows).collect();
            let outcome = if taken.iter().any(|row| *row < 0) {
                Err(db::Error::corrupt("a row below zero"))
            } else {
                queue.borrow_mut().retain(|row| !taken.contains(row));
                Ok(i64::try_from(taken.len()).unwrap())
            };
            ready(outcome)
        })
        .await;
        (queue.into_inner(), outcome.is_ok())
    }

    #[tokio::test]
    async fn a_row_that_fails_stops_none_behind_it() {
        assert_eq!(left_of(&[], 2).await, (vec![], true));
        assert_eq!(left_of(&[1, 2, 3, 4, 5], 2).await, (vec![], true));
        assert_eq!(left_of(&[-1, 2, 3, -4], 4).await, (vec![-1, -4], false));
        // The next pass goes on from there.
        assert_eq!(left_of(&[1, 2, -3, 4, 5, 6], 3).await, (vec![-3, 4, 5, 6], false));
    }
}
