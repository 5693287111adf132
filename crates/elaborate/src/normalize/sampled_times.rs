//! Functions of time that step, such as `square(0.2)`, in the blocks of assignments. They become inputs that are never set.
//!
//! Inputs that step are read a few units in the last place later, so that a block at 0.3 s reads the value of `square(0.2)` after its step,
//! although 0.3 in doubles is less than 3 times 0.1. A plain comparison with the time, such as `time > 0.3`, is exact and remains.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation, SymbolKind};
use lgm_model::{Input, Model, Scale};
use lgm_source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// Replaces the parts of all assignments that depend only on time and parameters, and step at computed times.
pub(crate) fn sample_times(model: &mut Model) {
    let mut blocks = std::mem::take(&mut model.switching.blocks);
    let all = blocks.iter().flat_map(|block| &block.assignments);
    let values: Vec<ExprId> = all.map(|assignment| assignment.value).collect();
    let mut parts = model.exprs.reachable(&values);
    parts.retain(|id| steps(&model.exprs, *id));
    let steps: FxHashSet<ExprId> = parts.into_iter().collect();
    let mut now: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for assignment in blocks.iter_mut().flat_map(|block| &mut block.assignments) {
        let exprs = &model.exprs;
        let around = exprs.reachable_beyond(&[assignment.value], |id| steps.contains(&id) || now.contains_key(&id));
        let parts = around.iter().flat_map(|id| exprs.node(*id).children());
        let mut outer: Vec<ExprId> = parts.chain([assignment.value]).collect();
        outer.retain(|id| steps.contains(id) && !now.contains_key(id));
        for step in outer {
            let known = now.get(&step).copied();
            let input = known.unwrap_or_else(|| input_for(model, step, assignment.span));
            now.insert(step, input);
        }
        for id in around {
            let node = model.exprs.node(id).clone();
            let rebuilt = model.exprs.rebuild(&node, &now);
            now.insert(id, rebuilt);
        }
        assignment.value = now[&assignment.value];
    }
    model.switching.blocks = blocks;
}

/// Returns true if an expression depends only on time and parameters, and steps at computed times.
fn steps(exprs: &Exprs, id: ExprId) -> bool {
    let (parts, is_floor) = match exprs.node(id) {
        Node::Call(Function::Floor, list) => (list.to_vec(), true),
        Node::Call(Function::Sign, list) => (list.to_vec(), false),
        Node::Relation(Relation::Less | Relation::LessEqual | Relation::Greater | Relation::GreaterEqual, a, b) => {
            (vec![*a, *b], false)
        }
        _ => return false,
    };
    let symbols = exprs.symbols_of(&parts);
    let kinds: Vec<SymbolKind> = symbols.iter().map(|symbol| exprs.symbol_info(*symbol).kind).collect();
    let is_of_time = |kind: &SymbolKind| matches!(kind, SymbolKind::Time | SymbolKind::Parameter);
    let calls = |id: &ExprId| matches!(exprs.node(*id), Node::Call(..));
    kinds.contains(&SymbolKind::Time)
        && kinds.iter().all(is_of_time)
        && (is_floor || exprs.reachable(&parts).iter().any(calls))
}

/// Adds the input for a step, and returns its value.
fn input_for(model: &mut Model, step: ExprId, span: Span) -> ExprId {
    let is_free = |name: &String| !model.inputs.iter().any(|input| *input.name == **name);
    let name = (1..).map(|number| format!("steps(time)[{number}]")).find(is_free);
    let name: std::sync::Arc<str> = name.expect("invariant: there are more numbers than inputs").into();
    let exprs = &mut model.exprs;
    let symbol = exprs.new_symbol(name.clone(), SymbolKind::Input);
    let (value, one, zero) = (exprs.symbol(symbol), exprs.one(), exprs.zero());
    let (signal, value) = match exprs.node(step) {
        Node::Relation(..) => (
            exprs.if_else(step, one, zero),
            exprs.relation(Relation::Greater, value, zero),
        ),
        _ => (step, value),
    };
    model.inputs.push(Input {
        name,
        symbol,
        signal: Some(signal),
        unit: None,
        scale: Scale::SI,
        span,
        is_internal: true,
    });
    value
}
