//! The expression, and its owner, at fault if the equations have no value.

use super::failure::{Blame, Failure, FailureKind};
use super::motion::{Fault, FaultKind, Motion};
use lgm_algebra::expr::{End, ExprId, Function, Guarded, Node, SymbolId, SymbolKind, brief};
use lgm_source::diagnostic::six_digits;
use rustc_hash::FxHashMap;

/// The maximum number of displayed states.
const STATES: usize = 8;

impl Motion<'_> {
    /// Returns the message for a failure.
    pub fn failure(&self, fault: &Fault, steps: u64) -> Failure {
        let (kind, blame) = match fault.kind {
            FaultKind::Domain => match self.innermost(fault) {
                Some((words, blame)) => (FailureKind::LeftDomain(words), Some(blame)),
                None => (FailureKind::LeftDomain("an infinite value".into()), None),
            },
            FaultKind::Loop(unknown) => {
                let kind = match self.held_unknowns()[unknown] {
                    true => FailureKind::ChainNotClosed,
                    false => FailureKind::LoopNotSolved,
                };
                let seen = self.solutions_in_words(fault.time, &fault.states).unwrap_or_default();
                (kind, self.unknown(unknown).map(|blame| Blame { seen, ..blame }))
            }
            FaultKind::Mass(column) => (FailureKind::SingularMass, column.and_then(|at| self.state(at))),
        };
        let blame = blame.map(|blame| {
            Box::new(Blame {
                states: self.states_in_words(&fault.states),
                ..blame
            })
        });
        Failure {
            time: fault.time,
            kind,
            blame,
            steps,
        }
    }

    /// Formats states as `theta = 1.5, crank.w = 3`.
    pub fn states_in_words(&self, values: &[f64]) -> String {
        let states = self.system.states.iter().zip(values).take(STATES);
        let each = states.map(|(state, value)| format!("{} = {}", state.name, six_digits(*value)));
        each.collect::<Vec<_>>().join(", ")
    }

    /// Reports a state as the cause.
    pub fn state(&self, index: usize) -> Option<Blame> {
        Blame::state(self.system, index)
    }

    /// Reports an unknown of a loop as the cause.
    pub fn unknown(&self, index: usize) -> Option<Blame> {
        let mut unknowns = self.system.equations.loops.iter().flat_map(|entry| {
            let symbols = entry.unknowns.iter().enumerate();
            symbols.map(|(at, symbol)| (symbol, entry.owners.get(at).and_then(Option::as_ref)))
        });
        let (symbol, owner) = unknowns.nth(index)?;
        Some(Blame {
            element: owner.map(|owner| owner.0.to_string()),
            variable: self.system.exprs.symbol_info(*symbol).name.to_string(),
            span: owner.map(|owner| owner.1),
            ..Blame::default()
        })
    }

    /// Returns the innermost expression without a value at the point of a fault, in the first equation that has one.
    fn innermost(&self, fault: &Fault) -> Option<(String, Blame)> {
        let system = self.system;
        let mut values = self.values_at(&self.position(fault.time, &fault.states));
        if let Some(state) = fault.states.iter().position(|value| !value.is_finite()) {
            return Some((fault.states[state].to_string(), self.state(state)?));
        }
        if let Some(input) = system.inputs.iter().find(|input| !values[&input.symbol].is_finite()) {
            let blame = Blame {
                variable: input.name.to_string(),
                span: Some(input.span),
                ..Blame::default()
            };
            return Some((values[&input.symbol].to_string(), blame));
        }
        let mut first_fault: Option<ExprId> = None;
        for assignment in &system.equations.assignments {
            match self.evaluate_tree(assignment.value, &values) {
                Ok(value) => {
                    values.insert(assignment.symbol, value);
                }
                Err(id) => {
                    first_fault = first_fault.or(Some(id));
                    values.insert(assignment.symbol, f64::NAN);
                }
            }
        }
        let states = system.states.iter().enumerate();
        let states = states.filter_map(|(at, _)| Some((*system.equations.derivatives.get(at)?, self.state(at)?)));
        let residuals = system.equations.residuals().enumerate();
        let residuals = residuals.filter_map(|(at, id)| Some((id, self.unknown(at)?)));
        let outputs = system
            .outputs
            .iter()
            .zip(&system.equations.output_values)
            .map(|(output, id)| {
                let blame = Blame {
                    variable: output.name.to_string(),
                    span: Some(output.span),
                    ..Blame::default()
                };
                (*id, blame)
            });
        for (root, mut blame) in states.chain(residuals).chain(outputs) {
            let Err(mut id) = self.evaluate_tree(root, &values) else {
                continue;
            };
            if let (Node::Symbol(_), Some(assigned)) = (system.exprs.node(id), first_fault) {
                id = assigned;
            }
            if let Some(guarded) = self.guarded_without_value(id) {
                blame.is_beyond_range = true;
                let side = match guarded.end {
                    End::Within => "not below zero",
                    End::Beyond => "above zero",
                };
                let margin = brief(&system.exprs, guarded.margin);
                let words = format!("the law has values where `{margin}` is {side}, and no values beyond");
                return Some((words, blame));
            }
            blame.expression = brief(&system.exprs, id);
            blame.is_log_of_state = self.is_log_of_state(id);
            return Some((self.in_words(id, &values), blame));
        }
        None
    }

    /// Returns the guarded value that an expression without a value represents beyond its range.
    fn guarded_without_value(&self, id: ExprId) -> Option<Guarded> {
        let system = self.system;
        let assignments = system.equations.assignments.iter().map(|assignment| assignment.value);
        let residuals = system.equations.residuals();
        let roots: Vec<ExprId> = assignments.chain(residuals).chain(system.right_sides()).collect();
        let Node::Call(Function::Sqrt | Function::Log, list) = system.exprs.node(id) else {
            return None;
        };
        let parts = system.exprs.reachable(&roots);
        let mut guarded = parts.into_iter().filter_map(|part| system.exprs.as_guarded(part));
        guarded.find(|guarded| guarded.margin == list[0])
    }

    /// Returns true if an expression is the logarithm of an expression that contains a state.
    fn is_log_of_state(&self, id: ExprId) -> bool {
        let exprs = &self.system.exprs;
        let mut symbols = exprs.symbols_of(&[id]).into_iter();
        matches!(exprs.node(id), Node::Call(Function::Log, _))
            && symbols.any(|symbol| exprs.symbol_info(symbol).kind == SymbolKind::State)
    }

    /// Returns the value of an expression, or the first of its parts that has none although its own parts have one.
    fn evaluate_tree(&self, root: ExprId, values: &FxHashMap<SymbolId, f64>) -> Result<f64, ExprId> {
        let exprs = &self.system.exprs;
        let order = exprs.reachable(&[root]);
        let lookup = |symbol: SymbolId| Some(values.get(&symbol).copied().unwrap_or(f64::NAN));
        let evaluate = |list: &[ExprId]| exprs.evaluate_f64(list, &lookup);
        // Evaluation stops at a division by zero, which is then the last entry of the shortest list that contains one.
        let mut count = order.len();
        if evaluate(&order).is_err() {
            let (mut fine, mut failing) = (0, order.len());
            while failing - fine > 1 {
                let middle = fine + (failing - fine) / 2;
                match evaluate(&order[..middle]) {
                    Ok(_) => fine = middle,
                    Err(_) => failing = middle,
                }
            }
            count = fine;
        }
        let known = evaluate(&order[..count]).unwrap_or_default();
        let place: FxHashMap<ExprId, usize> = order.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        for (id, value) in order.iter().zip(&known) {
            let parts_are_finite = exprs.node(*id).children().all(|child| known[place[&child]].is_finite());
            // An untaken branch may have no value.
            if !value.is_finite() && parts_are_finite && self.is_used(root, *id, &known, &place) {
                return Err(*id);
            }
        }
        match known.last() {
            Some(value) if count == order.len() && value.is_finite() => Ok(*value),
            Some(_) if count == order.len() => Err(root),
            _ if self.is_used(root, order[count], &known, &place) => Err(order[count]),
            _ => Err(root),
        }
    }

    /// Returns true if a part affects the root through the branches in force.
    fn is_used(&self, root: ExprId, part: ExprId, known: &[f64], place: &FxHashMap<ExprId, usize>) -> bool {
        let exprs = &self.system.exprs;
        let mut stack = vec![root];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(id) = stack.pop() {
            if id == part {
                return true;
            }
            if !seen.insert(id) {
                continue;
            }
            match exprs.node(id) {
                Node::If(condition, yes, no) => {
                    let truth = place.get(condition).and_then(|at| known.get(*at));
                    stack.push(*condition);
                    match truth {
                        Some(value) if *value != 0.0 => stack.push(*yes),
                        Some(_) => stack.push(*no),
                        None => stack.extend([*yes, *no]),
                    }
                }
                node => stack.extend(node.children()),
            }
        }
        false
    }

    /// Formats an expression without a value as `log(x) of -0.5`.
    fn in_words(&self, id: ExprId, values: &FxHashMap<SymbolId, f64>) -> String {
        let exprs = &self.system.exprs;
        let lookup = |symbol: SymbolId| Some(values.get(&symbol).copied().unwrap_or(f64::NAN));
        let value = |id: ExprId| {
            let found = exprs.evaluate_f64(&[id], &lookup);
            found.map_or_else(|_| "not a number".to_string(), |list| in_digits(list[0]))
        };
        match exprs.node(id) {
            Node::Call(function, list) => {
                let arguments: Vec<String> = list.iter().map(|child| value(*child)).collect();
                let name = Function::name(*function);
                match function {
                    Function::Exp | Function::Sinh | Function::Cosh => {
                        format!("`{name}({})` exceeds the range of doubles", arguments.join(", "))
                    }
                    _ => format!("`{name}({})` has no value", arguments.join(", ")),
                }
            }
            Node::Power(base, exponent) => {
                let divisor = *base;
                let (base, exponent) = (value(*base), value(*exponent));
                match base.as_str() {
                    "0" | "-0" => format!("a division by `{}`, which is zero", brief(exprs, divisor)),
                    _ => format!("`({base})^({exponent})` has no value"),
                }
            }
            _ => "a sum or a product that exceeds the range of doubles".to_string(),
        }
    }
}

/// Formats a number in digits, or with a power of ten if that is shorter.
fn in_digits(value: f64) -> String {
    let plain = value.to_string();
    if plain.len() > 20 { format!("{value:e}") } else { plain }
}
