//! Random calls, and their results from simple loops.

use gather::{Bounds, Extents, Negative, Options};
use proptest::prelude::*;

/// The effect of an index.
#[derive(Debug, PartialEq)]
enum Selected {
    At(usize),
    Nothing,
    Bad,
}

fn select(index: i64, size: usize, negative: Negative, bounds: Bounds) -> Selected {
    let limit = size as i64;
    let wrapped = match negative {
        Negative::Wrap if (-limit..0).contains(&index) => index + limit,
        _ => index,
    };
    if (0..limit).contains(&wrapped) {
        return Selected::At(wrapped as usize);
    }
    match bounds {
        Bounds::Fill => Selected::Nothing,
        Bounds::Clamp if size > 0 => Selected::At(wrapped.clamp(0, limit - 1) as usize),
        Bounds::Modulo if size > 0 => Selected::At(wrapped.rem_euclid(limit) as usize),
        _ => Selected::Bad,
    }
}

pub fn elements(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Returns the coordinates of the elements of a shape, in row-major order.
fn coordinates(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    (0..elements(shape)).map(move |mut i| {
        let mut at = vec![0; shape.len()];
        for (at, extent) in at.iter_mut().zip(shape).rev() {
            (*at, i) = (i % extent, i / extent);
        }
        at
    })
}

/// Returns the row-major number of the element at coordinates. An extent of 1 is repeated.
fn linear(at: &[usize], shape: &[usize]) -> usize {
    at.iter()
        .zip(shape)
        .fold(0, |i, (at, extent)| i * extent + if *extent == 1 { 0 } else { *at })
}

/// The position, component, value and limit of the first invalid tuple.
pub type Bad = (u64, u32, i64, i64);

#[derive(Clone, Debug)]
pub struct Problem {
    pub shape: Vec<usize>,
    pub index_shape: Vec<usize>,
    pub indices: Vec<i64>,
    pub axis: usize,
    pub batch_dims: usize,
    pub negative: Negative,
    pub bounds: Bounds,
    pub extents: Extents,
}

pub const FILL: i32 = -77;

impl Problem {
    pub fn params(&self) -> Vec<i32> {
        (0..elements(&self.shape) as i32).collect()
    }

    pub fn options(&self) -> Options {
        Options::new()
            .batch_dims(self.batch_dims as i64)
            .negative(self.negative)
            .bounds(self.bounds)
            .fill_value(FILL)
    }

    /// Returns the first invalid tuple, for indexed dims of these sizes.
    pub fn first_bad(&self, sizes: &[usize]) -> Option<Bad> {
        let tuples = self.indices.chunks(sizes.len().max(1)).enumerate();
        let mut components = tuples.flat_map(|(position, tuple)| {
            let pairs = tuple.iter().zip(sizes).enumerate();
            pairs.map(move |(component, (index, size))| (position as u64, component as u32, *index, *size))
        });
        components
            .find(|(.., index, size)| select(*index, *size, self.negative, self.bounds) == Selected::Bad)
            .map(|(position, component, index, size)| (position, component, index, size as i64))
    }

    /// Computes gather with four nested loops: batch, outer, tuple and inner.
    pub fn expect_gather(&self) -> (Vec<usize>, Result<Vec<i32>, Bad>) {
        let (a, b) = (self.axis, self.batch_dims);
        let size = self.shape[a];
        let batches = elements(&self.shape[..b]);
        let outer = elements(&self.shape[b..a]);
        let tuples = elements(&self.index_shape[b..]);
        let inner = elements(&self.shape[a + 1..]);
        let shape = [&self.shape[..a], &self.index_shape[b..], &self.shape[a + 1..]].concat();
        let params = self.params();
        let mut out = Vec::new();
        let mut bad = None;
        for batch in 0..batches {
            for o in 0..outer {
                for tuple in 0..tuples {
                    let position = batch * tuples + tuple;
                    let index = self.indices[position];
                    let row = match select(index, size, self.negative, self.bounds) {
                        Selected::At(i) => Some(((batch * outer + o) * size + i) * inner),
                        Selected::Nothing => None,
                        Selected::Bad => {
                            bad.get_or_insert((position as u64, 0, index, size as i64));
                            None
                        }
                    };
                    out.extend((0..inner).map(|i| row.map_or(FILL, |row| params[row + i])));
                }
            }
        }
        // A gather without output does not read indices.
        match bad.filter(|_| elements(&shape) > 0) {
            Some(bad) => (shape, Err(bad)),
            None => (shape, Ok(out)),
        }
    }

    /// Computes gather_nd tuple by tuple.
    pub fn expect_gather_nd(&self) -> (Vec<usize>, Result<Vec<i32>, Bad>) {
        let b = self.batch_dims;
        let (k, tuple_shape) = self.index_shape.split_last().unwrap();
        let batches = elements(&self.shape[..b]);
        let tuples = elements(&tuple_shape[b..]);
        let sizes = &self.shape[b..b + k];
        let inner = elements(&self.shape[b + k..]);
        let shape = [tuple_shape, &self.shape[b + k..]].concat();
        let params = self.params();
        let mut out = Vec::new();
        let mut bad = None;
        for position in 0..batches * tuples {
            let tuple = &self.indices[position * k..][..*k];
            let mut row = Some(position / tuples);
            for (component, (index, size)) in tuple.iter().zip(sizes).enumerate() {
                match select(*index, *size, self.negative, self.bounds) {
                    Selected::At(i) => row = row.map(|row| row * size + i),
                    Selected::Nothing => row = None,
                    Selected::Bad => {
                        bad.get_or_insert((position as u64, component as u32, *index, *size as i64));
                    }
                }
            }
            out.extend((0..inner).map(|i| match (bad, row) {
                (None, Some(row)) => params[row * inner + i],
                _ => FILL,
            }));
        }
        match bad.filter(|_| elements(&shape) > 0) {
            Some(bad) => (shape, Err(bad)),
            None => (shape, Ok(out)),
        }
    }

    /// Computes gather_elements element by element.
    pub fn expect_gather_elements(&self) -> (Vec<usize>, Result<Vec<i32>, Bad>) {
        let size = self.shape[self.axis];
        let mut shape = self.index_shape.clone();
        for (dim, extent) in self.shape.iter().enumerate() {
            if dim != self.axis && shape[dim] == 1 && self.extents == Extents::Broadcast {
                shape[dim] = *extent;
            }
        }
        let params = self.params();
        let mut out = Vec::new();
        let mut bad: Option<Bad> = None;
        for mut at in coordinates(&shape) {
            let position = linear(&at, &self.index_shape);
            let index = self.indices[position];
            out.push(match select(index, size, self.negative, self.bounds) {
                Selected::At(i) => {
                    at[self.axis] = i;
                    params[linear(&at, &self.shape)]
                }
                Selected::Nothing => FILL,
                Selected::Bad => {
                    let found = (position as u64, 0, index, size as i64);
                    bad = Some(bad.map_or(found, |bad| bad.min(found)));
                    FILL
                }
            });
        }
        (shape, bad.map_or(Ok(out), Err))
    }
}

fn policies() -> impl Strategy<Value = (Negative, Bounds)> {
    (
        prop_oneof![Just(Negative::Reject), Just(Negative::Wrap)],
        prop_oneof![
            Just(Bounds::Error),
            Just(Bounds::Fill),
            Just(Bounds::Clamp),
            Just(Bounds::Modulo)
        ],
    )
}

/// Generates mostly valid indices, so that most calls succeed.
fn index() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0i64..2, 2 => -4i64..6, 1 => any::<i64>()]
}

pub fn gathers() -> impl Strategy<Value = Problem> {
    let shapes = (
        prop::collection::vec(0usize..4, 1..5),
        prop::collection::vec(0usize..4, 0..3),
    );
    let picks = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    (shapes, picks, policies()).prop_flat_map(|((shape, tail), (axis, batch), policy)| {
        let axis = axis.index(shape.len());
        let batch_dims = batch.index(axis + 1);
        let index_shape = [&shape[..batch_dims], &tail].concat();
        prop::collection::vec(index(), elements(&index_shape)).prop_map(move |indices| Problem {
            shape: shape.clone(),
            index_shape: index_shape.clone(),
            indices,
            axis,
            batch_dims,
            negative: policy.0,
            bounds: policy.1,
            extents: Extents::Equal,
        })
    })
}

pub fn gathers_nd() -> impl Strategy<Value = Problem> {
    let shapes = (
        prop::collection::vec(0usize..4, 1..5),
        prop::collection::vec(0usize..4, 0..3),
    );
    let picks = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    (shapes, picks, policies()).prop_flat_map(|((shape, tail), (batch, k), policy)| {
        let batch_dims = batch.index(shape.len());
        let k = k.index(shape.len() - batch_dims + 1);
        let index_shape = [&shape[..batch_dims], &tail, &[k]].concat();
        prop::collection::vec(index(), elements(&index_shape)).prop_map(move |indices| Problem {
            shape: shape.clone(),
            index_shape: index_shape.clone(),
            indices,
            axis: 0,
            batch_dims,
            negative: policy.0,
            bounds: policy.1,
            extents: Extents::Equal,
        })
    })
}

pub fn gathers_elements() -> impl Strategy<Value = Problem> {
    let dims = prop::collection::vec((0usize..4, 0usize..4, 0..3), 1..5);
    let extents = prop_oneof![Just(Extents::Equal), Just(Extents::Prefix), Just(Extents::Broadcast)];
    (dims, any::<prop::sample::Index>(), extents, policies()).prop_flat_map(|(dims, axis, extents, policy)| {
        let axis = axis.index(dims.len());
        let other_dim = |(one, other, repeated): &(usize, usize, i32)| match (extents, repeated) {
            (Extents::Prefix, _) => (*one.max(other), *one.min(other)),
            (Extents::Broadcast, 1) => (*one, 1),
            (Extents::Broadcast, 2) => (1, *one),
            _ => (*one, *one),
        };
        let pair = |(dim, extents): (usize, &(usize, usize, i32))| {
            if dim == axis {
                (extents.0, extents.1)
            } else {
                other_dim(extents)
            }
        };
        let (shape, index_shape): (Vec<usize>, Vec<usize>) = dims.iter().enumerate().map(pair).unzip();
        prop::collection::vec(index(), elements(&index_shape)).prop_map(move |indices| Problem {
            shape: shape.clone(),
            index_shape: index_shape.clone(),
            indices,
            axis,
            batch_dims: 0,
            negative: policy.0,
            bounds: policy.1,
            extents,
        })
    })
}
