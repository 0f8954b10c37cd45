//! The operands that a run reads cannot be the operand that it writes.
#![forbid(unsafe_code)]

use gather::{Context, Plan};

pub fn the_target_as_updates(plan: &Plan, mut table: Vec<i64>, ids: &[i64]) {
    let _ = plan.run(&table, ids, &mut table); //~ E0502 attack
    let _ = plan.run(ids, ids, &mut table);
}

pub fn the_target_as_indices(plan: &Plan, mut table: Vec<i64>, updates: &[i64]) {
    let _ = plan.run(updates, &table, &mut table); //~ E0502 attack
    let _ = plan.run(updates, updates, &mut table);
}

pub fn an_open_extent(plan: &Plan, mut table: Vec<i64>, ids: &[i64]) {
    let _ = plan.run_open(2, &table, ids, &mut table); //~ E0502 attack
    let _ = plan.run_open(2, ids, ids, &mut table);
}

pub fn in_a_context(context: &Context, plan: &Plan, mut table: Vec<i64>, ids: &[i64]) {
    let _ = context.run(plan, &table, ids, &mut table); //~ E0502 attack
    let _ = context.run_open(plan, 2, &table, ids, &mut table); //~ E0502 attack
    let _ = context.run(plan, ids, ids, &mut table);
}
