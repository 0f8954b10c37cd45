//! A run of a gather writes its last operand, and a run of a scatter its first one. In another order no run compiles.
#![forbid(unsafe_code)]

use gather::{Context, Plan, ScatterPlan};

type Rows = [f32; 4];

pub fn a_scatter_in_the_order_of_a_gather(plan: &ScatterPlan, mut target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = plan.run(&updates, &ids, &mut target); //~ E0277 attack
    let _ = plan.run(&mut target, &ids, &updates);
}

pub fn a_scatter_with_a_shared_target(plan: &ScatterPlan, target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = plan.run(&target, &ids, &updates); //~ E0277 attack
    println!("{target:?} {updates:?} {ids:?}");
}

pub fn a_scatter_of_an_open_extent(plan: &ScatterPlan, mut target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = plan.run_open(2, &updates, &ids, &mut target); //~ E0277 attack
    let _ = plan.run_open(2, &target, &ids, &updates); //~ E0277 attack
    let _ = plan.run_open(2, &mut target, &ids, &updates);
}

pub fn a_scatter_in_a_context(context: &Context, plan: &ScatterPlan, mut target: Rows, updates: Rows) {
    let ids = [0i64, 1];
    let _ = context.run_scatter(plan, &updates, &ids, &mut target); //~ E0277 attack
    let _ = context.run_scatter_open(plan, 2, &updates, &ids, &mut target); //~ E0277 attack
    let _ = context.run(plan, &updates, &ids, &mut target); //~ E0308 attack
    let _ = context.run_scatter(plan, &mut target, &ids, &updates);
}

pub fn a_gather_in_the_order_of_a_scatter(plan: &Plan, table: Rows, mut rows: Rows) {
    let ids = [0i64, 1];
    let _ = plan.run(&mut rows, &ids, &table); //~ E0277 attack
    let _ = plan.run(&table, &ids, &rows); //~ E0277 attack
    let _ = plan.run(&table, &ids, &mut rows);
}

pub fn slices_and_vectors(plan: &ScatterPlan, target: &mut [f32], updates: &mut Vec<f32>) {
    let ids = [0i64, 1];
    let _ = plan.run(&*target, &ids, updates); //~ E0277 attack
    let _ = plan.run(target, &ids, &*updates);
}
