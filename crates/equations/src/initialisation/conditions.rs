//! Starts that are given to signals: conditions over the variables of the graph, which become constraints of the start.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use lgm_model::system::{StartConstraint, StateSystem};
use lgm_model::{Model, Output};
use rustc_hash::{FxHashMap, FxHashSet};

/// The variables of the graph that conditions on the start are made of, as further outputs of the model: so conditions need not be
/// linear where the equations are.
pub(crate) struct Conditions {
    /// Measured variables, states and rates.
    atoms: Vec<ExprId>,
    /// Outputs of the model itself.
    own: usize,
}

impl Conditions {
    /// The model with the outputs that its conditions need; none where it has no conditions.
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
                            name: format!("start of {}", condition.name).into(),
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

    /// Takes the further outputs out of the equations and adds the conditions to the constraints of the start.
    pub(crate) fn take(self, model: &Model, system: &mut StateSystem) {
        let own = self.own;
        let values = system.equations.output_values.split_off(own);
        system.outputs.truncate(own);
        if let Some(form) = &mut system.equations.mass_form {
            form.outputs.truncate(own);
        }
        if let Some(form) = &mut system.matrices.symbolic {
            form.keep_outputs(own);
        }
        if let Some(form) = &mut system.matrices.numeric {
            form.keep_outputs(own);
        }
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
        // What closes a chain is a state of the model, and none of the equations.
        Node::Symbol(symbol) => matches!(exprs.symbol_info(*symbol).kind, SymbolKind::Measure | SymbolKind::State),
        Node::Call(function, _) => *function == Function::Der,
        _ => false,
    }
}

/// Leaves out assignments that nothing reads any more, now that the further outputs are gone.
fn drop_unused(system: &mut StateSystem) {
    let mut roots: Vec<ExprId> = system.right_sides().collect();
    roots.extend(system.equations.loops.iter().flat_map(|each| &each.residuals));
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
