//! The written operand of a run is the last one, and is borrowed exclusively. In another order a run does not compile.
#![forbid(unsafe_code)]

use gather::{Context, Plan};

type Rows = [f32; 4];

pub fn a_scatter_in_the_order_of_the_call(plan: &Plan, mut target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = plan.run(&mut target, &ids, &updates); //~ E0277 attack
    let _ = plan.run(&updates, &ids, &mut target);
}

pub fn a_scatter_with_a_shared_target(plan: &Plan, target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = plan.run(&updates, &ids, &target); //~ E0277 attack
    let _ = plan.run(&target, &ids, &updates); //~ E0277 attack
    println!("{target:?} {updates:?} {ids:?}");
}

pub fn a_scatter_of_an_open_extent(plan: &Plan, mut target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = plan.run_open(2, &mut target, &ids, &updates); //~ E0277 attack
    let _ = plan.run_open(2, &target, &ids, &updates); //~ E0277 attack
    let _ = plan.run_open(2, &updates, &ids, &mut target);
}

pub fn a_scatter_in_a_context(context: &Context, plan: &Plan, mut target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = context.run(plan, &mut target, &ids, &updates); //~ E0277 attack
    let _ = context.run(plan, &target, &ids, &updates); //~ E0277 attack
    let _ = context.run(plan, &updates, &ids, &mut target);
}

pub fn a_scatter_of_an_open_extent_in_a_context(context: &Context, plan: &Plan, mut target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = context.run_open(plan, 2, &mut target, &ids, &updates); //~ E0277 attack
    let _ = context.run_open(plan, 2, &target, &ids, &updates); //~ E0277 attack
    let _ = context.run_open(plan, 2, &updates, &ids, &mut target);
}

pub fn a_gather_in_the_order_of_a_scatter(plan: &Plan, table: Rows, mut rows: Rows) {
    let ids = [0i64, 1];
    let _ = plan.run(&mut rows, &ids, &table); //~ E0277 attack
    let _ = plan.run(&table, &ids, &rows); //~ E0277 attack
    let _ = plan.run(&table, &ids, &mut rows);
}

pub fn slices_and_vectors(plan: &Plan, target: &mut [f32], updates: &mut Vec<f32>) {
    let ids = [0i64, 1];
    let _ = plan.run(target, &ids, updates); //~ E0277 attack
    let _ = plan.run(&*updates, &ids, target);
}
