//! Initial values of signals: conditions over the variables of the graph, which become constraints on the initial values.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use lgm_model::system::{StartConstraint, StateSystem};
use lgm_model::{Model, Output};
use rustc_hash::{FxHashMap, FxHashSet};

/// The variables of the graph in the conditions on the start, as additional outputs of the model: conditions may
/// therefore be nonlinear in a linear model.
pub(crate) struct Conditions {
    /// Measured variables, states and rates.
    atoms: Vec<ExprId>,
    /// The number of the model's own outputs.
    own: usize,
}

impl Conditions {
    /// Returns the model with the outputs that its conditions need; `None` if it has no conditions.
    pub(crate) fn of(model: &Model) -> Option<(Model, Conditions)> {
        if model.start_conditions.is_empty() {
            return None;
        }
        let mut with = model.clone();
        let mut atoms: Vec<ExprId> = Vec::new();
        let mut known: FxHashSet<ExprId> = FxHashSet::default();
        for condition in &model.start_conditions {
            let mut open = vec![condition.value];
            while let Some(id) = open.pop() {
                let node = model.exprs.node(id);
                if is_atom(&model.exprs, node) {
                    if known.insert(id) {
                        atoms.push(id);
                        with.outputs.push(Output {
                            name: format!("initial value of {}", condition.name).into(),
                            value: id,
                            written: condition.name.clone(),
                            unit: None,
                            span: condition.span,
                        });
                    }
                } else {
                    open.extend(node.children());
                }
            }
        }
        let own = model.outputs.len();
        Some((with, Conditions { atoms, own }))
    }

    /// Removes the additional outputs from the equations and adds the conditions to the constraints of the start.
    pub(crate) fn take(self, model: &Model, system: &mut StateSystem) {
        let values = system.keep_outputs(self.own);
        let mut replaced: FxHashMap<ExprId, ExprId> = self.atoms.into_iter().zip(values).collect();
        for condition in &model.start_conditions {
            for id in system.exprs.reachable(&[condition.value]) {
                if !replaced.contains_key(&id) {
                    let node = system.exprs.node(id).clone();
                    let now = system.exprs.rebuild(&node, &replaced);
                    replaced.insert(id, now);
                }
            }
            system.starts.constraints.push(StartConstraint {
                name: condition.name.clone(),
                is_storage: false,
                given: condition.start,
                follows: replaced[&condition.value],
                span: condition.span,
            });
        }
        drop_unused(system);
    }
}

fn is_atom(exprs: &Exprs, node: &Node) -> bool {
    match node {
        // The displacement that closes a chain is a state of the model and not part of the equations.
        Node::Symbol(symbol) => matches!(exprs.symbol_info(*symbol).kind, SymbolKind::Measure | SymbolKind::State),
        Node::Call(function, _) => *function == Function::Der,
        _ => false,
    }
}

/// Removes assignments that are unused after the additional outputs are gone.
fn drop_unused(system: &mut StateSystem) {
    let mut roots: Vec<ExprId> = system.right_sides().collect();
    roots.extend(system.equations.residuals());
    roots.extend(system.starts.constraints.iter().map(|constraint| constraint.follows));
    if let Some(mass) = &system.equations.mass_matrix {
        roots.extend(mass.rows.iter().flatten().map(|entry| entry.1));
    }
    let mut used: FxHashSet<SymbolId> = system.exprs.symbols_of(&roots).into_iter().collect();
    let mut kept = Vec::with_capacity(system.equations.assignments.len());
    for assignment in std::mem::take(&mut system.equations.assignments).into_iter().rev() {
        if used.contains(&assignment.symbol) {
            used.extend(system.exprs.symbols_of(&[assignment.value]));
            kept.push(assignment);
        }
    }
    kept.reverse();
    system.equations.assignments = kept;
}
