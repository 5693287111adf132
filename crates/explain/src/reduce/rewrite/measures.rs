//! Measurements of a reduced model, expressed in terms of the remaining elements.

use super::super::parameters::{inverse, shortest, shown, times};
use super::super::report::{MergeKind, Reduction};
use super::edits::Edits;
use super::graph::Remains;
use super::statements::range;
use crate::names::Names;
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_equations::causality::structure::{Signed, measure_columns};
use lgm_model::{BondEnd, Connection, JunctionKind, Measure, Model, PortId, Variable};
use lgm_syntax::ast::{Expr, ExprKind, Statement, StatementKind};
use lgm_syntax::visit::{child_expressions, statement_expressions};
use rustc_hash::FxHashMap;

/// Replacement texts, by the measurement as written in the text without spaces.
pub(super) type Replacements = FxHashMap<String, String>;

/// The value of a port before the merges: a factor times a text.
struct Before {
    factor: ExprId,
    text: String,
    /// The factor of the same text in the rest of the graph.
    left: ExprId,
}

/// Returns the replacement text of each measurement whose value or owner the merges change.
pub(super) fn replacements(reduction: &Reduction<'_>, exprs: &mut Exprs, remains: &Remains<'_>) -> Replacements {
    let assigned = &reduction.assigned;
    let model = &*assigned.model;
    let columns: Vec<Signed> = measure_columns(model, &assigned.graph, &assigned.causality.structure);
    let wanted: Vec<u32> = columns.iter().map(|signed| signed.column).collect();
    let mut found = Replacements::default();
    let Some(rows) = assigned.over_given(exprs, &wanted) else {
        return found;
    };
    for (((_, measure), signed), row) in model.measures.iter().zip(columns).zip(rows) {
        let Some(row) = row else { continue };
        let is_gone = is_gone(model, *measure, remains);
        let mut terms: Vec<(ExprId, String)> = Vec::new();
        for (port, value) in row {
            let value = if signed.negative { exprs.neg(value) } else { value };
            let before = before(reduction, exprs, port);
            let factor = match is_gone {
                true => before.factor,
                false => exprs.sub(before.factor, before.left),
            };
            let factor = exprs.mul(value, factor);
            let factor = shortest(exprs, factor);
            if !exprs.is_zero(factor) {
                terms.push((factor, before.text));
            }
        }
        if terms.is_empty() && !is_gone {
            continue;
        }
        for key in keys(model, *measure) {
            let own = (!is_gone).then(|| key.clone());
            found.insert(key.replace(' ', ""), sum(exprs, own, &terms));
        }
    }
    add_powers(reduction, exprs, &mut found);
    found
}

/// Returns the value of a port before the merges, in terms of the remaining graph.
fn before(reduction: &Reduction<'_>, exprs: &mut Exprs, port: PortId) -> Before {
    let (zero, one) = (exprs.zero(), exprs.one());
    let merges = &reduction.merges;
    if let Some(merge) = merges.iter().find(|merge| merge.removed == port) {
        let scale = scale(reduction, exprs, merge.kept);
        let kept = co_energy(reduction, merge.kept);
        let (factor, text) = match merge.kind {
            MergeKind::Dependent => (exprs.product([merge.own, merge.gain, scale]), format!("der({kept})")),
            MergeKind::Conserved => {
                let last = merges.iter().rev().find(|other| other.kept == merge.kept);
                let after = last.map_or(merge.after, |last| last.after);
                let below = inverse(exprs, merge.own);
                (exprs.product([merge.gain, after, below]), kept)
            }
        };
        return Before {
            factor,
            text,
            left: zero,
        };
    }
    if merges.iter().any(|merge| merge.kept == port) {
        return Before {
            factor: scale(reduction, exprs, port),
            text: co_energy(reduction, port),
            left: one,
        };
    }
    let solved = reduction.assigned.causality.solved[port.index()];
    let given = solved
        .expect("invariant: only ports with causality are in rows")
        .conjugate();
    let model = &*reduction.assigned.model;
    let factor = match is_reversed(model, port, given) {
        true => exprs.integer(-1),
        false => one,
    };
    Before {
        factor,
        text: names(reduction).measure(port, given),
        left: factor,
    }
}

/// Returns true if the measurement of a port has the opposite sign. A source delivers the flow of its bond.
fn is_reversed(model: &Model, port: PortId, variable: Variable) -> bool {
    match model.graph.ports[port.index()].connection {
        Connection::Bond(bond) => {
            variable == Variable::Flow && model.graph.bonds[bond.index()].tail == BondEnd::Port(port)
        }
        Connection::Branch { .. } => false,
    }
}

fn names<'a>(reduction: &'a Reduction<'_>) -> Names<'a> {
    Names {
        model: &reduction.assigned.model,
        graph: &reduction.assigned.graph,
    }
}

fn co_energy(reduction: &Reduction<'_>, port: PortId) -> String {
    let variable = reduction
        .assigned
        .co_energy(port)
        .expect("invariant: storage has a co-energy");
    names(reduction).measure(port, variable)
}

/// Returns the ratio of a kept element's co-energy before and after the merges.
fn scale(reduction: &Reduction<'_>, exprs: &mut Exprs, kept: PortId) -> ExprId {
    let mut of = reduction.merges.iter();
    let mut of = of
        .by_ref()
        .filter(|merge| merge.kept == kept && merge.kind == MergeKind::Conserved);
    let Some(first) = of.next() else {
        return exprs.one();
    };
    let last = of.last().unwrap_or(first);
    let ratio = exprs.div(last.after, first.before);
    shortest(exprs, ratio)
}

/// Returns true if the owner of a measurement was removed.
fn is_gone(model: &Model, measure: Measure, remains: &Remains<'_>) -> bool {
    let of_port = |port: PortId| remains.has_lost(model.graph.ports[port.index()].element);
    match measure {
        Measure::PortEffort(port) | Measure::PortFlow(port) => of_port(port),
        Measure::Common(node) => remains.has_lost_node(node),
        Measure::BondEffort(bond) | Measure::BondFlow(bond) => {
            let bond = &model.graph.bonds[bond.index()];
            [bond.tail, bond.head].into_iter().any(|end| match end {
                BondEnd::Node(node) => remains.has_lost_node(node),
                BondEnd::Port(port) => of_port(port),
            })
        }
    }
}

/// Returns the possible notations of a measurement in a text.
fn keys(model: &Model, measure: Measure) -> Vec<String> {
    let named = |port: PortId| {
        let info = &model.graph.ports[port.index()];
        let mut found = vec![model.element_name(info.element)];
        if let Some(own) = &info.name {
            found.insert(0, format!("{}.{own}", found[0]));
        }
        found
    };
    let (variable, carriers) = match measure {
        Measure::PortEffort(port) | Measure::PortFlow(port) => {
            let first = named(port).into_iter().take(1).collect();
            let variable = if matches!(measure, Measure::PortEffort(_)) {
                Variable::Effort
            } else {
                Variable::Flow
            };
            (variable, first)
        }
        Measure::Common(node) => {
            let variable = match model.graph.nodes[node.index()].kind {
                JunctionKind::Zero => Variable::Effort,
                JunctionKind::One => Variable::Flow,
            };
            (variable, vec![model.path_name(model.graph.nodes[node.index()].path)])
        }
        Measure::BondEffort(bond) | Measure::BondFlow(bond) => {
            let ends = [
                model.graph.bonds[bond.index()].tail,
                model.graph.bonds[bond.index()].head,
            ]
            .map(|end| match end {
                BondEnd::Node(node) => vec![model.path_name(model.graph.nodes[node.index()].path)],
                BondEnd::Port(port) => named(port),
            });
            let mut found = Vec::new();
            for end in [
                model.graph.bonds[bond.index()].tail,
                model.graph.bonds[bond.index()].head,
            ] {
                if let BondEnd::Port(port) = end {
                    found.extend(named(port).into_iter().take(1));
                }
            }
            for tail in &ends[0] {
                found.extend(ends[1].iter().map(|head| format!("{tail} -> {head}")));
            }
            let variable = if matches!(measure, Measure::BondEffort(_)) {
                Variable::Effort
            } else {
                Variable::Flow
            };
            (variable, found)
        }
    };
    let words: &[&str] = match (measure, domain(model, measure), variable) {
        (Measure::BondEffort(_), _, _) => &["effort"],
        (Measure::BondFlow(_), _, _) => &["flow"],
        (_, Some(effort_is_across), Variable::Effort) if effort_is_across => &["across", "effort"],
        (_, Some(_), Variable::Effort) => &["through", "effort"],
        (_, Some(effort_is_across), Variable::Flow) if effort_is_across => &["through", "flow"],
        (_, Some(_), Variable::Flow) => &["across", "flow"],
        (_, None, Variable::Effort) => &["effort"],
        (_, None, Variable::Flow) => &["flow"],
    };
    let keys = words
        .iter()
        .flat_map(|word| carriers.iter().map(move |name| format!("{word}({name})")));
    keys.collect()
}

/// Returns true if effort is the across variable in the domain of a port or a node.
fn domain(model: &Model, measure: Measure) -> Option<bool> {
    let domain = match measure {
        Measure::PortEffort(port) | Measure::PortFlow(port) => model.graph.ports[port.index()].domain,
        Measure::Common(node) => model.graph.nodes[node.index()].domain,
        Measure::BondEffort(_) | Measure::BondFlow(_) => None,
    };
    Some(model.graph.domains[domain?.index()].effort_is_across)
}

/// Formats `own + factor*text - ..`.
fn sum(exprs: &Exprs, own: Option<String>, terms: &[(ExprId, String)]) -> String {
    let mut out = own.unwrap_or_default();
    for (factor, text) in terms {
        let term = times(&shown(exprs, *factor), text);
        match (out.is_empty(), term.strip_prefix('-')) {
            (true, _) => out = term,
            (false, Some(rest)) => out.push_str(&format!(" - {rest}")),
            (false, None) => out.push_str(&format!(" + {term}")),
        }
    }
    if out.is_empty() { "0".to_string() } else { out }
}

/// Adds the powers of elements whose variables are rewritten, and the energies of the merged elements.
fn add_powers(reduction: &Reduction<'_>, exprs: &mut Exprs, found: &mut Replacements) {
    let model = &*reduction.assigned.model;
    for element in &model.graph.elements {
        let name = model.path_name(element.path);
        let pair = [("effort", "flow"), ("across", "through")];
        for (first, second) in pair.map(|(a, b)| (format!("{a}({name})"), format!("{b}({name})"))) {
            let of = |key: &String| found.get(key).cloned();
            if let (a, b) = (of(&first), of(&second))
                && (a.is_some() || b.is_some())
            {
                let text = format!("({})*({})", a.unwrap_or(first), b.unwrap_or(second));
                found.insert(format!("power({name})"), text);
            }
        }
    }
    for merge in &reduction.merges {
        for (port, own) in [(merge.removed, merge.own), (merge.kept, merge.before)] {
            let name = model.element_name(model.graph.ports[port.index()].element);
            let key = format!("energy({name})");
            if found.contains_key(&key) {
                continue;
            }
            let before = before(reduction, exprs, port);
            let (factor, text) = match merge.kind {
                MergeKind::Dependent if port == merge.removed => {
                    let scale = scale(reduction, exprs, merge.kept);
                    (exprs.mul(merge.gain, scale), co_energy(reduction, merge.kept))
                }
                _ => (before.factor, before.text),
            };
            let two = exprs.integer(2);
            let square = exprs.power(factor, two);
            let half = exprs.div(own, two);
            let whole = exprs.mul(half, square);
            let whole = shortest(exprs, whole);
            found.insert(key, format!("({})*{text}^2", shown(exprs, whole)));
        }
    }
}

/// Inserts the replacements into the expressions of a statement.
pub(super) fn replace(text: &str, statement: &Statement, replaced: &Replacements, edits: &mut Edits) {
    let whole = match &statement.kind {
        StatementKind::Output(indexed) | StatementKind::Signal(indexed) => Some(indexed.value.span),
        _ => None,
    };
    statement_expressions(statement, &mut |expr| {
        within(text, expr, replaced, &mut |at, new| {
            let is_whole = whole == Some(at.span);
            let is_plain = !new.contains([' ', '*', '/', '-']);
            let new = if is_whole || is_plain {
                new.clone()
            } else {
                format!("({new})")
            };
            edits.replace(range(at.span), new);
        });
    });
}

fn within(text: &str, expr: &Expr, replaced: &Replacements, found: &mut dyn FnMut(&Expr, &String)) {
    if let ExprKind::Call(..) = &expr.kind {
        let key: String = text[range(expr.span)]
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .collect();
        if let Some(new) = replaced.get(&key) {
            return found(expr, new);
        }
    }
    child_expressions(expr, &mut |child| within(text, child, replaced, found));
}
