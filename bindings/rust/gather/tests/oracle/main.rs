//! The tests compare random calls with simple loops.

mod gathers;
mod problem;
mod scatters;

use gather::Error;
use problem::Bad;
use proptest::prelude::*;

fn check(result: Result<Vec<i32>, Error>, expected: &Result<Vec<i32>, Bad>) -> Result<(), TestCaseError> {
    match (result, expected) {
        (Ok(found), Ok(expected)) => prop_assert_eq!(&found, expected),
        (Err(Error::Index(cause)), Err((position, component, value, limit))) => {
            prop_assert_eq!(cause.position, Some(*position));
            prop_assert_eq!(cause.component, Some(*component));
            prop_assert_eq!(cause.value, i128::from(*value));
            prop_assert_eq!(cause.limit, *limit);
        }
        (result, expected) => prop_assert!(false, "{result:?}, not {expected:?}"),
    }
    Ok(())
}
