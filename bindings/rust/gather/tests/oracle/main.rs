//! Random calls against plain loops.

mod gathers;
mod problem;
mod scatters;

use gather::Error;
use problem::Bad;
use proptest::prelude::*;

fn check(answer: Result<Vec<i32>, Error>, expected: &Result<Vec<i32>, Bad>) -> Result<(), TestCaseError> {
    match (answer, expected) {
        (Ok(found), Ok(expected)) => prop_assert_eq!(&found, expected),
        (Err(Error::Index(cause)), Err((position, component, value, limit))) => {
            prop_assert_eq!(cause.position, Some(*position));
            prop_assert_eq!(cause.component, Some(*component));
            prop_assert_eq!(cause.value, i128::from(*value));
            prop_assert_eq!(cause.limit, *limit);
        }
        (answer, expected) => prop_assert!(false, "{answer:?}, not {expected:?}"),
    }
    Ok(())
}
