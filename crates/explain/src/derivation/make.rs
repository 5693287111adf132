//! Builds the derivation of a model from the results of the compiler stages.

use super::check::{Checked, Points};
use super::eliminate::{Draft, Elimination};
use super::laws::laws;
use super::report::{Derivation, DerivationSource, Rule, Sides, Step};
use super::results::{Measured, results};
use super::topology::graph_equations;
use super::variables::{Reason, Table};
use crate::names::Names;
use lgm_algebra::expr::{ExprId, Function, Node, brief};
use lgm_equations::assigned;
use lgm_model::Model;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// The maximum number of equations; larger models are not written out.
const MOST_EQUATIONS: usize = 2_000;

/// Derives the equations of a model from its elements. If `is_full` is set, every line of the elimination is a step.
///
/// Every step is evaluated at random points before it is returned, with the variables that the equations yield there. If a model has no
/// derivation of this form, a diagnostic gives the reason.
pub fn derivation(given: DerivationSource<'_>, is_full: bool) -> Result<Derivation, Box<Diagnostic>> {
    derived(given, is_full).map_err(|reason| {
        let message = format!(
            "the equations of `{}` have no step-by-step derivation",
            given.model.heading.name
        );
        let diagnostic = Diagnostic::error(Code::LGM0941, message).label(given.model.heading.span, reason);
        Box::new(
            diagnostic
                .help("`lgm equations` without `--derive` prints the equations; `lgm check --verify` checks them"),
        )
    })
}

fn derived(given: DerivationSource<'_>, is_full: bool) -> Result<Derivation, Reason> {
    let assigned = assigned(given.model, given.graph, given.options);
    let names = Names {
        model: &assigned.model,
        graph: &assigned.graph,
    };
    if 2 * names.model.graph.ports.len() > MOST_EQUATIONS {
        return Err("it has too many equations to read".to_string());
    }
    let independent = &assigned.causality.independent;
    let mut table = Table::new(names, given.system, independent, |port| assigned.co_energy(port))?;
    let of_graph = graph_equations(&mut table, &assigned.graph, given.causality);
    let mut equations = laws(&mut table, given.causality, independent.len())?;
    equations.extend(of_graph);
    let outputs: Vec<_> = (names.model.outputs.iter())
        .map(|output| measured(&mut table, names.model, output.value))
        .collect();
    let targets: Vec<_> = outputs.iter().flatten().map(|measured| measured.value).collect();
    let mut work = Elimination::new(&mut table, equations, &targets, is_full)?;
    results(&mut work, &outputs)?;
    let hidden: Vec<bool> = (0..work.drafts.len()).map(|at| work.is_hidden(at)).collect();
    let drafts = std::mem::take(&mut work.drafts);
    let mut points = Points::new(given, &table)?;
    let check = |draft: &Draft| points.check(&table.exprs, draft.left, draft.right);
    let kept = kept(&table, &drafts, &hidden, is_full, check)?;
    Ok(Derivation {
        model: given.model.heading.name.clone(),
        steps: numbered(
            drafts
                .iter()
                .zip(kept)
                .map(|(draft, kept)| kept.then(|| step(draft)))
                .collect(),
        ),
        exprs: table.exprs,
    })
}

/// Returns the value of an output over variables; for a rate, the value under the derivative.
fn measured(table: &mut Table<'_>, model: &Model, value: ExprId) -> Option<Measured> {
    let (value, is_rate) = match model.exprs.node(value) {
        Node::Call(Function::Der, list) => (list[0], true),
        _ => (value, false),
    };
    let value = table.carried(value).ok()?;
    Some(Measured { value, is_rate })
}

/// Returns true for each draft that becomes a step: all drafts that results need, each of them checked; in full derivations also other
/// valid ones.
fn kept(
    table: &Table<'_>,
    drafts: &[Draft],
    hidden: &[bool],
    is_full: bool,
    mut check: impl FnMut(&Draft) -> Checked,
) -> Result<Vec<bool>, Reason> {
    let mut is_needed: Vec<bool> = drafts.iter().map(|draft| draft.rule == Rule::Result).collect();
    for at in (0..drafts.len()).rev().filter(|at| drafts[*at].rule == Rule::Result) {
        let mut waiting = drafts[at].because.clone();
        while let Some(next) = waiting.pop() {
            if !std::mem::replace(&mut is_needed[next], true) {
                waiting.extend(&drafts[next].because);
            }
        }
    }
    // Variables without a port follow one after another from the equations that contain them.
    for _ in 0..2 {
        drafts.iter().for_each(|draft| _ = check(draft));
    }
    let mut kept = vec![false; drafts.len()];
    for (at, draft) in drafts.iter().enumerate().filter(|entry| !hidden[entry.0]) {
        if !is_needed[at] && !is_full {
            continue;
        }
        match check(draft) {
            Checked::Holds => kept[at] = true,
            Checked::NoValue if !is_needed[at] => {}
            Checked::NoValue => {
                let step = format!(
                    "{} = {}",
                    brief(&table.exprs, draft.left),
                    brief(&table.exprs, draft.right)
                );
                return Err(format!(
                    "the step `{step}` has no value at any of the points for checking it"
                ));
            }
            Checked::Fails(residual) => {
                let step = format!(
                    "{} = {}",
                    brief(&table.exprs, draft.left),
                    brief(&table.exprs, draft.right)
                );
                let share = format!("{residual:.0e} of its largest term");
                return Err(format!(
                    "the step `{step}` fails its check by {share}, which is a bug in lgm"
                ));
            }
        }
    }
    Ok(kept)
}

/// Returns a draft as a step, with indices of drafts as its reasons.
fn step(draft: &Draft) -> Step {
    Step {
        number: 0,
        rule: draft.rule,
        of: draft.of.clone(),
        sides: Sides::Scalar(draft.left, draft.right),
        because: draft.because.clone(),
        together: draft.together.clone(),
        is_derivative: draft.is_derivative,
    }
}

/// Returns the steps in the order of their rules, with numbers instead of indices in the list.
pub(super) fn numbered(steps: Vec<Option<Step>>) -> Vec<Step> {
    let mut order: Vec<(usize, Step)> = steps
        .into_iter()
        .enumerate()
        .filter_map(|(at, step)| Some((at, step?)))
        .collect();
    order.sort_by_key(|entry| entry.1.rule);
    let places: Vec<usize> = order.iter().map(|entry| entry.0).collect();
    let number = |at: &usize| places.iter().position(|place| place == at).map(|place| place + 1);
    let steps = order.into_iter().enumerate().map(|(at, (_, mut step))| {
        let mut because: Vec<usize> = Vec::new();
        for number in step.because.iter().filter_map(number) {
            if !because.contains(&number) {
                because.push(number);
            }
        }
        (step.number, step.because) = (at + 1, because);
        step
    });
    steps.collect()
}
