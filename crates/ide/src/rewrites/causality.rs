//! Dependent storage and derivatives of inputs: elements inserted to avoid them.

use super::layout::Layout;
use super::parts::{Form, LibraryElement, part};
use super::promise::{DECAYED, beyond, is_kept, lagging, modes, unresolved, unstable};
use super::retaining::retained;
use crate::equations::facts::values_of;
use crate::trial::{changed, is_sound};
use crate::{Action, Edit, Snapshot};
use lgm_algebra::expr::ExprId;
use lgm_elaborate::analysis::DefinitionKind;
use lgm_model::system::{DependentStorage, StateSystem};
use lgm_model::{Law, StorageForm, Variable};
use lgm_source::Span;
use lgm_source::diagnostic::six_digits;
use lgm_syntax::ast::{Instance, Statement, StatementKind};

/// The maximum number of outputs and states that a comment names.
const SHOWN: usize = 3;

/// No changes are offered for more statements than this.
const MOST_STATEMENTS: usize = 3;

/// Returns the offers for the statement at a location.
pub(super) fn offers(snapshot: &Snapshot, layout: &Layout<'_>, span: Span) -> Vec<Action> {
    let mut found = Vec::new();
    let Some(system) = snapshot.compilation().system() else {
        return found;
    };
    let touched = touched(layout.of_model(), span);
    // Each offer is tried, which takes one compilation; for a large selection this is not useful.
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

/// Returns the statements of a body that overlap a part of the text.
fn touched(body: &[Statement], span: Span) -> Vec<&Statement> {
    let touches = |statement: &&Statement| {
        statement.span.source == span.source && statement.span.start <= span.end && span.start <= statement.span.end
    };
    body.iter().filter(touches).collect()
}

/// Returns the dependent storage with this name, with the elements that determine it.
fn dependent<'s>(system: &'s StateSystem, name: &str) -> Option<&'s DependentStorage> {
    system.dependent.iter().find(|storage| *storage.element == *name)
}

/// A linear storage element of one port.
struct Storage<'s> {
    /// Its value in SI: a mass, a capacitance, an inductance, or the inverse of a stiffness.
    value: f64,
    /// True if it is an A-type.
    is_across: bool,
    domain: &'s str,
    effort_is_across: bool,
}

/// Returns the storage element with this name; none if it has another form.
fn storage<'s>(snapshot: &'s Snapshot, name: &str) -> Option<Storage<'s>> {
    let model = snapshot.compilation().model()?;
    let mut elements = model.graph.elements.iter();
    let element = elements.find(|element| *model.path_name(element.path) == *name)?;
    let Law::Storage { co_energy, value, form } = &element.law else {
        return None;
    };
    let domain = &model.graph.domains[model.graph.ports[element.ports.start as usize].domain?.index()];
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

/// The element inserted between storage and its determining elements.
struct Separator<'s> {
    part: LibraryElement<'s>,
    /// The decimal exponent of a stiffness or a conductance.
    exponent: f64,
    /// The loss of an inserted compliance, which would otherwise oscillate without damping.
    loss: Option<(LibraryElement<'s>, f64)>,
    /// True if a smaller value of the parameter has a larger effect, and not a larger value.
    is_softer_below: bool,
}

impl<'s> Separator<'s> {
    /// Returns the separator of a storage element. If effort is a through variable, as in mechanics, a compliance with a loss frees rigidly
    /// coupled storage; elsewhere a loss does. The added modes decay at least at this rate, for any storage on the other side.
    fn of(snapshot: &'s Snapshot, storage: &Storage<'s>, rate: f64) -> Option<Separator<'s>> {
        let dissipator = part(snapshot, storage.domain, Form::Dissipator)?;
        let value = storage.value;
        let has_compliance = storage.is_across && !storage.effort_is_across;
        let (part, exponent, loss) = if has_compliance {
            // For `value*s^2 + c*s + k`, an oscillating pair decays at c/(2*value); with more damping, the slower pole
            // at k/c or faster. A body on the other side reduces the effective value and makes both poles faster. Sizes are rounded up.
            let damping = (2.0 * value * rate).log10().ceil();
            let stiffness = (damping + rate.log10()).ceil();
            let compliance = part(snapshot, storage.domain, Form::ThroughStorage)?;
            (compliance, stiffness, Some((dissipator, damping)))
        } else {
            // A loss alone between A-types adds a mode with rate conductance/value; a loss next to a T-type adds one with rate
            // resistance/value.
            let size = (value * rate).log10().ceil();
            (dissipator, if storage.is_across { size } else { -size }, None)
        };
        let is_softer_below = part.is_inverse == storage.is_across;
        Some(Separator {
            part,
            exponent,
            loss,
            is_softer_below,
        })
    }

    /// Returns comments on its effect on the response.
    fn comments(&self, name: &str, storage: &DependentStorage, rate: f64, has_rows: bool) -> Vec<String> {
        let passed = match has_rows {
            true => "the modes of the model and the samples of the experiment",
            false => "the modes of the model",
        };
        let more = match self.loss {
            Some(_) => "two more modes, which decay",
            None => "one more mode, which decays",
        };
        let of = if storage.on.is_empty() { "source" } else { "storage" };
        let softer = if self.is_softer_below { "smaller" } else { "larger" };
        vec![
            format!(
                "// Frees `{name}` from the {of} that determined it: the response gains {more} at {} 1/s or faster,",
                six_digits(rate)
            ),
            format!("// which is far beyond {passed}; a {softer} value makes it noticeable."),
        ]
    }

    /// Returns the title, the lines before the storage, and the changes of its own statement.
    fn wired(
        &self,
        layout: &Layout<'_>,
        storage: &Storage<'_>,
        instance: &Instance,
    ) -> Option<(String, Vec<String>, Vec<Edit>)> {
        let [(from, to)] = &instance.branches[..] else {
            return None;
        };
        let (name, kind) = (&*instance.declared.name.text, self.part.name);
        let (joint, parameter) = (
            layout.fresh(&format!("{name}_joint")),
            layout.fresh(&format!("{name}_value")),
        );
        let ends = (layout.words(from.span), layout.words(to.span));
        let mut lines = vec![self.part.parameter(&parameter, self.exponent)?];
        if !storage.is_across {
            lines.push(format!("{joint} : {kind}({parameter}) {} -> {};", ends.0, ends.1));
            return Some((format!("insert a {kind} next to `{name}`"), lines, Vec::new()));
        }
        let node = layout.fresh(&format!("{name}_end"));
        let (near_end, end) = if ends.0 != "gnd" { (ends.0, from) } else { (ends.1, to) };
        lines.push(format!("node {node} : {};", storage.domain));
        lines.push(format!("{joint} : {kind}({parameter}) {near_end} -> {node};"));
        if let Some((loss, exponent)) = &self.loss {
            let (damper, value) = (
                layout.fresh(&format!("{name}_loss")),
                layout.fresh(&format!("{name}_loss_value")),
            );
            lines.push(loss.parameter(&value, *exponent)?);
            lines.push(format!("{damper} : {}({value}) {near_end} -> {node};", loss.name));
        }
        let moved = Edit {
            span: end.span,
            text: node,
        };
        Some((
            format!("insert a {kind} between `{near_end}` and `{name}`"),
            lines,
            vec![moved],
        ))
    }
}

impl LibraryElement<'_> {
    /// Returns the declaration `param k = 1e5 [N/m];` of a stiffness or a conductance that is a power of ten.
    fn parameter(&self, name: &str, exponent: f64) -> Option<String> {
        let size = power_of_ten(if self.is_inverse { exponent } else { -exponent })?;
        let unit = self.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
        Some(format!("param {name} = {size}{unit};"))
    }
}

/// Inserts a compliance or a loss between the storage and the storage that determines it.
fn separated(
    snapshot: &Snapshot,
    layout: &Layout<'_>,
    system: &StateSystem,
    statement: &Statement,
    instance: &Instance,
) -> Option<Action> {
    let name = &*instance.declared.name.text;
    // The inserted element would start from zero, and the freed storage would no longer start like the others.
    if system.states.iter().any(|state| state.start_value != 0.0) {
        return None;
    }
    let storage = storage(snapshot, name)?;
    let before = modes(system)?;
    let rate = beyond(system, &before);
    let separator = Separator::of(snapshot, &storage, rate)?;
    let mut lines = separator.comments(name, dependent(system, name)?, rate, unresolved(system) > 0.0);
    let (title, wiring, edits) = separator.wired(layout, &storage, instance)?;
    lines.extend(wiring);
    let change = |lines: &[String]| -> Vec<Edit> {
        let inserted = layout.before(statement, lines);
        std::iter::once(inserted).chain(edits.iter().cloned()).collect()
    };
    let trial = changed(snapshot, &change(&lines))?;
    let after = trial.compilation().system()?;
    let is_separated =
        after.states.iter().any(|state| *state.element == *name) && unstable(&modes(after)?) <= unstable(&before);
    if !is_sound(&trial) || !is_separated || !is_kept(system, after, rate) {
        return None;
    }
    lines.splice(2..2, lag(&lagging(system, after), rate));
    Some(Action {
        title,
        code: None,
        is_fix: false,
        edits: change(&lines),
    })
}

/// Returns the comment on outputs and states that no longer jump with a source.
fn lag(names: &[String], rate: f64) -> Option<String> {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let words = match &shown[..] {
        [] => return None,
        [one] => one.clone(),
        [front @ .., last] if names.len() == shown.len() => format!("{} and {last}", front.join(", ")),
        all => format!("{} and {} more", all.join(", "), names.len() - all.len()),
    };
    let (takes, were) = match names.len() {
        1 => ("takes", "it was"),
        _ => ("take", "they were"),
    };
    let time = six_digits(DECAYED / rate);
    Some(format!(
        "// At the start and at jumps of a source, {words} {takes} up to {time} s to settle where {were} at once."
    ))
}

/// Inserts a first-order low pass for each input of a source whose derivative appears in the equations.
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
        let tau = power_of_ten(-beyond(system, &before).log10().ceil());
        let Some(tau) = tau else { continue };
        let name = &*input.name;
        let (slow, constant) = (
            layout.fresh(&format!("{name}_slow")),
            layout.fresh(&format!("{name}_tau")),
        );
        let lines = [
            format!(
                "// `{name}` after a low-pass filter, which has a derivative even if `{name}` steps; it starts \
                from 0."
            ),
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
                title: format!("pass `{name}` through a low-pass filter of {tau} s"),
                code: None,
                is_fix: false,
                edits,
            });
        }
    }
    found
}

/// Returns, for each input, true if the equations contain its derivative.
fn rates_read(system: &StateSystem) -> Vec<bool> {
    let mut roots: Vec<ExprId> = system.right_sides().collect();
    roots.extend(system.equations.assignments.iter().map(|assignment| assignment.value));
    roots.extend(system.equations.residuals());
    let symbols = system.exprs.symbols_of(&roots);
    system.input_rates.iter().map(|rate| symbols.contains(rate)).collect()
}

/// Returns the value of an expression of parameters.
fn number(snapshot: &Snapshot, value: ExprId) -> Option<f64> {
    let model = snapshot.compilation().model()?;
    let known = values_of(model);
    let of = |symbol| known.get(&symbol).copied();
    let found = model.exprs.evaluate_f64(&[value], &of).ok()?[0];
    (found.is_finite() && found > 0.0).then_some(found)
}

/// Returns a power of ten as written.
fn power_of_ten(exponent: f64) -> Option<String> {
    exponent.is_finite().then(|| match exponent as i32 {
        exponent @ 0..=4 => format!("{}", 10_i64.pow(exponent.unsigned_abs())),
        exponent => format!("1e{exponent}"),
    })
}
