//! Dependent storage and derivatives of inputs: what is put in to separate the two.

use super::layout::Layout;
use super::parts::{Form, Part, part};
use super::retaining::retained;
use crate::facts::values_of;
use crate::trial::{changed, is_sound};
use crate::{Action, Edit, Snapshot};
use lgm_algebra::expr::ExprId;
use lgm_elaborate::analysis::DefinitionKind;
use lgm_equations::analysis::{MOST_STATES, poles};
use lgm_model::system::{DependentStorage, StateSystem};
use lgm_model::{Law, StorageForm, Variable};
use lgm_source::Span;
use lgm_syntax::ast::{Instance, Statement, StatementKind};
use num_complex::Complex;

/// What is put in is this many times as fast as the fastest mode of the model.
const FASTER: f64 = 100.0;

/// The rate, in rad/s, that is taken for the fastest one of a model that has none.
const USUAL_RATE: f64 = 100.0;

/// From one row of the experiment to the next, what is put in decays by so many of its time constants.
const DECAYED: f64 = 10.0;

/// The rows of an experiment that does not say how many it wants.
const USUAL_ROWS: u64 = 501;

/// For more statements than this nothing is offered.
const MOST_STATEMENTS: usize = 3;

/// What is offered for the statement at a place.
pub(super) fn offers(snapshot: &Snapshot, layout: &Layout<'_>, span: Span) -> Vec<Action> {
    let mut found = Vec::new();
    let Some(system) = snapshot.compilation().system() else {
        return found;
    };
    let touched = touched(layout.of_model(), span);
    // Each offer is tried, which takes the time of a compilation: of a large part of the text nobody wants them all.
    if touched.len() > MOST_STATEMENTS {
        return found;
    }
    for (body, statement) in layout.bodies().flat_map(|body| {
        let here = self::touched(body, span);
        let few = if here.len() > MOST_STATEMENTS { Vec::new() } else { here };
        few.into_iter().map(move |statement| (body, statement))
    }) {
        if snapshot.compilation().request().cancellation.is_cancelled() {
            break;
        }
        found.extend(retained(snapshot, layout, system, (body, statement)));
    }
    for statement in touched {
        if snapshot.compilation().request().cancellation.is_cancelled() {
            break;
        }
        let StatementKind::Instance(instance) = &statement.kind else {
            continue;
        };
        if instance.declared.brackets.is_empty() && dependent(system, &instance.declared.name.text).is_some() {
            found.extend(separated(snapshot, layout, system, statement, instance));
        }
        found.extend(smoothed(snapshot, layout, system, statement));
    }
    found
}

/// The statements of a body that a part of the text touches.
fn touched(body: &[Statement], span: Span) -> Vec<&Statement> {
    let touches = |statement: &&Statement| {
        statement.span.source == span.source && statement.span.start <= span.end && span.start <= statement.span.end
    };
    body.iter().filter(touches).collect()
}

/// What an element without a state follows from.
fn dependent<'s>(system: &'s StateSystem, name: &str) -> Option<&'s DependentStorage> {
    system.dependent.iter().find(|storage| *storage.element == *name)
}

/// A linear storage element of one port.
struct Storage<'s> {
    /// Its value as that of a mass, a capacitance, an inductance, or one over a stiffness, in SI.
    value: f64,
    /// Whether it is an A-type.
    is_across: bool,
    domain: &'s str,
    effort_is_across: bool,
}

/// The storage element of a name; none if it is of another form.
fn storage<'s>(snapshot: &'s Snapshot, name: &str) -> Option<Storage<'s>> {
    let model = snapshot.compilation().model()?;
    let mut elements = model.elements.iter();
    let element = elements.find(|element| *model.path_name(element.path) == *name)?;
    let Law::Storage { co_energy, value, form } = &element.law else {
        return None;
    };
    let domain = &model.domains[model.ports[element.ports.start as usize].domain?.index()];
    let [value] = value.entries[..] else { return None };
    let value = number(snapshot, value)?;
    Some(Storage {
        value: match form {
            StorageForm::Direct => value,
            StorageForm::Inverse => 1.0 / value,
        },
        is_across: domain.effort_is_across == (*co_energy == Variable::Effort),
        domain: &domain.name,
        effort_is_across: domain.effort_is_across,
    })
}

/// What is put between storage and what it follows from.
struct Separator<'s> {
    part: Part<'s>,
    /// The exponent of ten of a stiffness or of a conductance.
    exponent: f64,
    /// The loss beside a compliance, which would ring for ever without it.
    loss: Option<(Part<'s>, f64)>,
}

impl<'s> Separator<'s> {
    /// Where effort is through, as in mechanics, what moves together stays together: a compliance with a loss; elsewhere a loss.
    fn of(snapshot: &'s Snapshot, storage: &Storage<'s>, rate: f64) -> Option<Separator<'s>> {
        let dissipator = part(snapshot, storage.domain, Form::Dissipator)?;
        // Sizes are rounded to what is faster still.
        let value = storage.value;
        Some(match (storage.is_across, storage.effort_is_across) {
            (true, false) => Separator {
                part: part(snapshot, storage.domain, Form::ThroughStorage)?,
                exponent: (value * rate * rate).log10().ceil(),
                loss: Some((dissipator, (value * rate).log10().floor())),
            },
            (true, true) => Separator {
                part: dissipator,
                exponent: (value * rate).log10().ceil(),
                loss: None,
            },
            (false, _) => Separator {
                part: dissipator,
                exponent: -(value * rate).log10().ceil(),
                loss: None,
            },
        })
    }
}

impl Part<'_> {
    /// `param k = 1e5 [N/m];`: the parameter of a stiffness or a conductance that is a power of ten.
    fn parameter(&self, name: &str, exponent: f64) -> Option<String> {
        let size = power_of_ten(if self.is_inverse { exponent } else { -exponent })?;
        let unit = self.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        Some(format!("param {name} = {size}{unit};"))
    }
}

/// A compliance or a loss between the storage and what it follows from.
fn separated(
    snapshot: &Snapshot,
    layout: &Layout<'_>,
    system: &StateSystem,
    statement: &Statement,
    instance: &Instance,
) -> Option<Action> {
    let name = &*instance.declared.name.text;
    // What is put in would start from zero, and what it frees no longer where it started with the others.
    if system.states.iter().any(|state| state.start_value != 0.0) {
        return None;
    }
    let [(from, to)] = &instance.branches[..] else {
        return None;
    };
    let storage = storage(snapshot, name)?;
    let before = modes(system)?;
    let rate = (FASTER * fastest(&before)).max(unresolved(system));
    let Separator { part, exponent, loss } = Separator::of(snapshot, &storage, rate)?;
    let (joint, parameter) = (
        layout.fresh(&format!("{name}_joint")),
        layout.fresh(&format!("{name}_value")),
    );
    let followed = dependent(system, name).is_some_and(|storage| !storage.on.is_empty());
    let beyond = match unresolved(system) > 0.0 {
        true => "the modes of the model and the rows of the experiment",
        false => "the modes of the model",
    };
    let comments = [
        format!(
            "// Separates `{name}` from the {} that it followed: the response has {} more, of {} rad/s or faster,",
            if followed { "storage" } else { "source" },
            if loss.is_some() { "two modes" } else { "one mode" },
            lgm_source::diagnostic::six_digits(rate)
        ),
        format!("// which is far beyond {beyond}; a smaller value makes it felt."),
    ];
    let mut lines: Vec<String> = comments.into();
    lines.push(part.parameter(&parameter, exponent)?);
    let mut edits = Vec::new();
    let (ends, kind) = ((layout.words(from.span), layout.words(to.span)), part.name);
    let title = match storage.is_across {
        true => {
            let node = layout.fresh(&format!("{name}_end"));
            let is_start = ends.0 != "gnd";
            let (near_end, end) = if is_start { (ends.0, from) } else { (ends.1, to) };
            lines.push(format!("node {node} : {};", storage.domain));
            lines.push(format!("{joint} : {kind}({parameter}) {near_end} -> {node};"));
            if let Some((loss, exponent)) = &loss {
                let (damper, value) = (
                    layout.fresh(&format!("{name}_loss")),
                    layout.fresh(&format!("{name}_loss_value")),
                );
                lines.push(loss.parameter(&value, *exponent)?);
                lines.push(format!("{damper} : {}({value}) {near_end} -> {node};", loss.name));
            }
            edits.push(Edit {
                span: end.span,
                text: node,
            });
            format!("insert a {kind} between `{near_end}` and `{name}`")
        }
        false => {
            lines.push(format!("{joint} : {kind}({parameter}) {} -> {};", ends.0, ends.1));
            format!("insert a {kind} beside `{name}`")
        }
    };
    edits.insert(0, layout.before(statement, &lines));
    let trial = changed(snapshot, &edits)?;
    let after = trial.compilation().system()?;
    let is_separated =
        after.states.iter().any(|state| *state.element == *name) && unstable(&modes(after)?) <= unstable(&before);
    (is_sound(&trial) && is_separated).then_some(Action {
        title,
        code: None,
        edits,
    })
}

/// The inputs of a source whose derivatives the equations hold pass a first-order low pass first.
fn smoothed(snapshot: &Snapshot, layout: &Layout<'_>, system: &StateSystem, statement: &Statement) -> Vec<Action> {
    let read = rates_read(system);
    let mut found = Vec::new();
    let Some(before) = modes(system) else { return found };
    for (input, is_read) in system.inputs.iter().zip(&read) {
        if !is_read || input.is_internal {
            continue;
        }
        let analysis = snapshot.analysis();
        let is_use = |place: &Span| {
            place.source == statement.span.source
                && place.start >= statement.span.start
                && place.end <= statement.span.end
        };
        let uses = analysis.uses.iter().filter(|entry| {
            let definition = analysis.get(entry.definition);
            is_use(&entry.span) && definition.kind == DefinitionKind::Input && *definition.name == *input.name
        });
        let places: Vec<Span> = uses.map(|entry| entry.span).collect();
        if places.is_empty() {
            continue;
        }
        let tau = power_of_ten(-(FASTER * fastest(&before)).log10().ceil());
        let Some(tau) = tau else { continue };
        let name = &*input.name;
        let (slow, constant) = (
            layout.fresh(&format!("{name}_slow")),
            layout.fresh(&format!("{name}_tau")),
        );
        let lines = [
            format!("// `{name}` through a low pass, which has a derivative even if `{name}` steps; it starts from 0."),
            format!("param {constant} = {tau} [s];"),
            format!("state {slow} = int(({name} - {slow})/{constant});"),
        ];
        let mut edits = vec![layout.before(statement, &lines)];
        edits.extend(places.iter().map(|span| Edit {
            span: *span,
            text: slow.clone(),
        }));
        let does = |trial: &Snapshot| {
            let after = trial.compilation().system()?;
            let at = after.inputs.iter().position(|other| *other.name == *name)?;
            let is_stable = unstable(&modes(after)?) <= unstable(&before);
            Some(is_sound(trial) && is_stable && !rates_read(after)[at])
        };
        if changed(snapshot, &edits).and_then(|trial| does(&trial)) == Some(true) {
            found.push(Action {
                title: format!("pass `{name}` through a low pass of {tau} s"),
                code: None,
                edits,
            });
        }
    }
    found
}

/// Of each input, whether the equations hold its derivative.
fn rates_read(system: &StateSystem) -> Vec<bool> {
    let mut roots: Vec<ExprId> = system.right_sides().collect();
    roots.extend(system.assignments.iter().map(|assignment| assignment.value));
    roots.extend(system.loops.iter().flat_map(|each| each.residuals.iter().copied()));
    let symbols = system.exprs.symbols_of(&roots);
    system.input_rates.iter().map(|rate| symbols.contains(rate)).collect()
}

/// The poles of a linear model; none where it has no such, or so many states that finding them takes long. Nothing is known of its
/// stability then.
fn modes(system: &StateSystem) -> Option<Vec<Complex<f64>>> {
    let numeric = system.numeric.as_ref()?;
    let is_known = system.linear && system.states.len() <= MOST_STATES;
    is_known.then(|| poles(&numeric.a))?
}

/// How many modes grow; rounding makes a pole at 0 as large as this beside the largest. A lag that is put into a control loop can make
/// it unstable, however fast it is.
fn unstable(modes: &[Complex<f64>]) -> usize {
    let largest = modes.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    modes.iter().filter(|pole| pole.re > 1e-12 * largest).count()
}

/// The rate in rad/s beyond which the rows of the experiment show nothing of a mode: it has decayed from one row to the next. 0 where the
/// model does not say how it is run.
fn unresolved(system: &StateSystem) -> f64 {
    let experiment = &system.experiment;
    let Some(stop) = experiment.stop else { return 0.0 };
    let length = stop - experiment.start.unwrap_or(0.0);
    let rows = experiment.points.unwrap_or(USUAL_ROWS).max(2) - 1;
    let between = experiment.step.unwrap_or(length / rows as f64);
    let rate = DECAYED / between;
    if rate.is_finite() { rate.max(0.0) } else { 0.0 }
}

/// The rate of the fastest mode in rad/s.
fn fastest(modes: &[Complex<f64>]) -> f64 {
    let largest = modes.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { USUAL_RATE }
}

/// The value of an expression of parameters.
fn number(snapshot: &Snapshot, value: ExprId) -> Option<f64> {
    let model = snapshot.compilation().model()?;
    let known = values_of(model);
    let of = |symbol| known.get(&symbol).copied();
    let found = model.exprs.evaluate_f64(&[value], &of).ok()?[0];
    (found.is_finite() && found > 0.0).then_some(found)
}

/// A power of ten, as it is written.
fn power_of_ten(exponent: f64) -> Option<String> {
    exponent.is_finite().then(|| match exponent as i32 {
        exponent @ 0..=4 => format!("{}", 10_i64.pow(exponent.unsigned_abs())),
        exponent => format!("1e{exponent}"),
    })
}
