//! The text of a reduced model: the original text with one element instead of each field that could be merged, without superfluous parts.

pub(crate) mod edits;
mod graph;
mod measures;
pub(crate) mod statements;

use super::parameters::{inverse, shortest, shown};
use super::report::{Merge, MergeKind, Reduction};
use edits::Edits;
use graph::Remains;
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_model::{Connection, Law, Model, PortId, StorageForm, Variable};
use lgm_source::SourceId;
use lgm_syntax::ast;
use lgm_syntax::visit::statements;
use statements::Names;

/// A rewritten text, with the changes that were impossible.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The text of the whole file.
    pub text: String,
    /// Elements that could be replaced but remain in the text, with the reason.
    pub left: Vec<(String, String)>,
    /// Elements that others were merged into, and whose own statements set no initial value: the text does not yet contain the initial
    /// values of the others.
    pub without_start: Vec<String>,
}

/// Applies the merges to the text that contains the model; `declared` is the model in the syntax tree of that text.
pub fn reduced_text(reduction: &Reduction<'_>, source: SourceId, text: &str, declared: &ast::Model) -> Rewritten {
    let model = &*reduction.assigned.model;
    let mut exprs = reduction.exprs.clone();
    let names = Names::of(model, declared);
    let mut left = Vec::new();
    let mut merges: Vec<Merge> = Vec::new();
    let mut remains = Remains::of(model, &names);
    for merge in &reduction.merges {
        match obstacle(reduction, &names, &remains, merge) {
            Some(reason) => left.push((element_name(model, merge.removed), reason)),
            None => merges.push(*merge),
        }
    }
    if merges.is_empty() {
        return Rewritten {
            text: text.to_string(),
            left,
            without_start: Vec::new(),
        };
    }
    // Without the merges that cannot be written.
    super::merging::total(&mut exprs, &mut merges);
    // The compiler still merges the elements that remain in the text.
    let written = Reduction {
        merges,
        ..reduction.clone()
    };
    let merges = &written.merges;
    let mut edits = Edits::default();
    for merge in merges {
        let zero = zero_variable(reduction, merge);
        let instance = names.instance(&element_name(model, merge.removed));
        if !remains.remove(merge.removed, zero) {
            edits.source_of_zero(text, instance.0, instance.1, kind_of_zero(model, merge.removed, zero));
        }
    }
    let mut without_start = Vec::new();
    for (kept, after) in parameters(&written) {
        let name = element_name(model, kept);
        let instance = names.instance(&name);
        if !instance.1.attributes.iter().any(|given| &*given.name.text == "start") {
            without_start.push(name);
        }
        let (kind, value) = written_parameter(model, &mut exprs, kept, after);
        edits.parameter(instance.1, kind, &value);
        if let Some(start) = start(&written, &mut exprs, kept) {
            edits.scale_start(text, instance.1, &start);
        }
    }
    let replaced = measures::replacements(&written, &mut exprs, &remains);
    statements(&declared.body, &mut |statement| {
        if !edits.structure(text, statement, &remains) {
            measures::replace(text, statement, &replaced, &mut edits);
        }
    });
    let edited = edits.apply(text);
    let text = lgm_syntax::format(source, &edited).unwrap_or(edited);
    Rewritten {
        text,
        left,
        without_start,
    }
}

/// Notes in the report which elements remain in the text; `declared` is the model in the syntax tree of its text.
pub fn report_what_stays(reduction: &mut Reduction<'_>, declared: &ast::Model) {
    let model = &*reduction.assigned.model;
    let names = Names::of(model, declared);
    let remains = Remains::of(model, &names);
    let mut said: Vec<(String, String, String)> = Vec::new();
    for merge in &reduction.merges {
        if let Some(reason) = obstacle(reduction, &names, &remains, merge) {
            let names = [merge.removed, merge.kept].map(|port| element_name(model, port));
            let done = format!("stays in the text: {} could represent both, but {reason}", names[1]);
            let [removed, kept] = names;
            said.push((removed, kept, done));
        }
    }
    let report = &mut reduction.report;
    for (removed, kept, done) in said {
        let dependent = report.dependent.iter_mut().filter(|found| found.element == removed);
        dependent.for_each(|found| found.done.clone_from(&done));
        let is_of = |of: &[String]| of.len() == 2 && of.contains(&removed) && of.contains(&kept);
        let conserved = report.conserved.iter_mut().filter(|found| is_of(&found.of));
        conserved.for_each(|found| found.done.clone_from(&done));
    }
}

fn element_name(model: &Model, port: PortId) -> String {
    model.element_name(model.graph.ports[port.index()].element)
}

/// Returns the reason why a merge cannot be written into the text.
fn obstacle(reduction: &Reduction<'_>, names: &Names<'_>, remains: &Remains<'_>, merge: &Merge) -> Option<String> {
    let model = &*reduction.assigned.model;
    for port in [merge.removed, merge.kept] {
        let name = element_name(model, port);
        if !names.has_instance(&name) {
            return Some(format!("`{name}` is not declared by a separate statement in the model"));
        }
    }
    let is_bond = matches!(model.graph.ports[merge.removed.index()].connection, Connection::Bond(_));
    if is_bond && !remains.is_neutral(merge.removed, zero_variable(reduction, merge)) {
        let name = element_name(model, merge.removed);
        return Some(format!("without `{name}`, its junction would need a source of zero"));
    }
    None
}

/// Returns the variable of the removed element that is zero after its share has moved to the other one.
fn zero_variable(reduction: &Reduction<'_>, merge: &Merge) -> Variable {
    let solved = reduction.assigned.causality.solved[merge.removed.index()];
    solved.expect("invariant: causality assigns storage").conjugate()
}

/// Returns the kept elements with their parameters, each once.
fn parameters(reduction: &Reduction<'_>) -> Vec<(PortId, ExprId)> {
    let mut found: Vec<(PortId, ExprId)> = Vec::new();
    for merge in &reduction.merges {
        // The last merge of an element includes all earlier ones.
        let all = reduction.merges.iter().rev().find(|other| other.kept == merge.kept);
        let after = all.map_or(merge.after, |other| other.after);
        if !found.iter().any(|known| known.0 == merge.kept) {
            found.push((merge.kept, after));
        }
    }
    found
}

/// Elements whose only argument is the storage value itself.
const PLAIN: [&str; 13] = [
    "Mass",
    "Spring",
    "Inertia",
    "TorsionSpring",
    "Capacitor",
    "Inductor",
    "Inertance",
    "FluidCapacitor",
    "ThermalCapacitor",
    "AType",
    "TType",
    "I",
    "C",
];

/// Returns the new argument of an element, and a new kind if its own kind does not accept the argument.
fn written_parameter(model: &Model, exprs: &mut Exprs, port: PortId, value: ExprId) -> (Option<&'static str>, String) {
    let info = &model.graph.ports[port.index()];
    let element = &model.graph.elements[info.element.index()];
    let Law::Storage { co_energy, form, .. } = element.law else {
        unreachable!("invariant: only linear storage is merged")
    };
    let is_plain = PLAIN.contains(&&*element.kind);
    let is_branch = matches!(info.connection, Connection::Branch { .. });
    let is_across = info
        .domain
        .is_none_or(|domain| model.graph.domains[domain.index()].effort_is_across == (co_energy == Variable::Effort));
    let kind = match (is_plain, is_branch, co_energy) {
        (true, _, _) => None,
        (false, true, _) if is_across => Some("AType"),
        (false, true, _) => Some("TType"),
        (false, false, Variable::Effort) => Some("C"),
        (false, false, Variable::Flow) => Some("I"),
    };
    let value = match (kind, form) {
        (None, StorageForm::Inverse) => {
            let own = inverse(exprs, value);
            shortest(exprs, own)
        }
        _ => value,
    };
    (kind, shown(exprs, value))
}

/// Returns the factor of the initial value of a kept element, if it is not 1: of the energy variable in a bond graph, and of the co-energy
/// variable in a linear graph. For dependent storage the co-energy variable is unchanged, and the energy variable grows with the parameter.
/// For storage with a common energy variable, the opposite holds.
fn start(reduction: &Reduction<'_>, exprs: &mut Exprs, kept: PortId) -> Option<String> {
    let model = &*reduction.assigned.model;
    let is_energy = matches!(model.graph.ports[kept.index()].connection, Connection::Bond(_));
    let of = |kind| move |merge: &&Merge| merge.kept == kept && merge.kind == kind;
    // Every merge of dependent storage includes the sum of all of them.
    let ratio = match is_energy {
        true => {
            let merge = reduction.merges.iter().find(of(MergeKind::Dependent))?;
            exprs.div(merge.after, merge.before)
        }
        false => {
            let merges = reduction.merges.iter().filter(of(MergeKind::Conserved));
            let ratios: Vec<ExprId> = merges.map(|merge| exprs.div(merge.before, merge.after)).collect();
            let (first, others) = ratios.split_first()?;
            others.iter().fold(*first, |all, ratio| exprs.mul(all, *ratio))
        }
    };
    let ratio = shortest(exprs, ratio);
    Some(shown(exprs, ratio))
}

/// Returns the kind of the source that sets a zero instead of an element.
fn kind_of_zero(model: &Model, port: PortId, zero: Variable) -> &'static str {
    let info = &model.graph.ports[port.index()];
    let across = info
        .domain
        .map(|domain| model.graph.domains[domain.index()].effort_is_across);
    match (&info.connection, across, zero) {
        (Connection::Branch { .. }, Some(effort_is_across), _) => {
            match effort_is_across == (zero == Variable::Effort) {
                true => "AcrossSource",
                false => "ThroughSource",
            }
        }
        (_, _, Variable::Effort) => "Se",
        (_, _, Variable::Flow) => "Sf",
    }
}
