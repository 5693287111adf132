//! Models with events in Python: the tables of changes, and the functions that depend on the combination of modes.

use super::dialect::literal;
use super::script::{SCRIPT, boolean, string};
use crate::code::dialect::Array;
use crate::code::events::{ChangeKernels, ConditionWords, Element, Gathered, Modal, refused};
use crate::code::functions::{Functions, integers, wrapped};
use crate::code::subject::Subject;
use crate::code::template::{Template, template, values};
use lgm_equations::switching::Condition;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use lgm_source::diagnostic::Diagnostic;
use std::fmt::Write;

const EVENTS: Template<Tables> = template!("events.py", "events.py.txt");

values! {
    /// Tables of changes.
    struct Tables {
        combinations: String,
        first_combination: String,
        elements: String,
        blocks: String,
        discretes: String,
        held_inputs: String,
        port_count: String,
        set_count: String,
        margin_count: String,
        temporary_count: String,
        read_count: String,
        start_known: String,
        knows_energy: &'static str,
        places: String,
        conditions: String,
        bends: bool,
    }
}

values! {
    /// The calls of functions of changes, and what runs a model with events.
    pub(super) struct Calls {
        margins_call: String,
        watched_call: String,
        assigned_call: String,
        watched_count: String,
        events_code: String,
    }
}

/// The words for conditions.
const CONDITIONS: ConditionWords = ConditionWords {
    zero: "0.0",
    decided: ["False", "True"],
    not: "not ",
    and: "and",
    or: "or",
    choice: |condition, a, b| format!("({a}) if {condition} else ({b})"),
};

fn flags(flags: impl Iterator<Item = bool>) -> String {
    let flags: Vec<String> = flags.map(|flag| boolean(flag).to_string()).collect();
    wrapped(&flags)
}

/// A tuple of places.
fn tuple(places: &[usize]) -> String {
    let comma = if places.len() == 1 { "," } else { "" };
    format!("({}{comma})", integers(places))
}

fn combinations(gathered: &Gathered) -> String {
    let mut text = String::new();
    for row in &gathered.rows {
        let (conflict, known, watches) = match &row.equations {
            Ok(equations) => (
                "None".to_string(),
                integers(&equations.known),
                flags(equations.watches(gathered)),
            ),
            Err(reason) => (string(reason), String::new(), String::new()),
        };
        let _ = writeln!(
            text,
            "    _Combination({}, {conflict}, np.array([{known}], dtype=int), np.array([{watches}], dtype=bool)),",
            tuple(&row.modes)
        );
    }
    text
}

fn elements(gathered: &Gathered) -> String {
    let mut text = String::new();
    for element in &gathered.elements {
        let mut modes = Vec::new();
        for mode in &element.modes {
            let mut changes = Vec::new();
            for change in &mode.changes {
                let sets = change.sets.iter();
                let sets = sets.map(|set| format!("({}, {}, {})", set.place, set.port, set.variable));
                let sets: Vec<String> = sets.collect();
                changes.push(format!(
                    "_Change({}, {}, {}, {}, [{}])",
                    change.condition,
                    change.to,
                    boolean(change.is_free),
                    boolean(change.asks_ports),
                    sets.join(", ")
                ));
            }
            let given = mode.given.iter();
            let given: Vec<String> = given
                .map(|given| given.map_or("None".to_string(), |given| given.to_string()))
                .collect();
            modes.push(format!(
                "        _Mode({}, [{}], [{}]),\n",
                string(&mode.name),
                given.join(", "),
                changes.join(", ")
            ));
        }
        let _ = writeln!(
            text,
            "    _Element({}, {}, {}, [\n{}    ]),",
            string(&element.name),
            boolean(element.is_junction),
            element.first_port,
            modes.concat()
        );
    }
    text
}

fn blocks(gathered: &Gathered) -> String {
    let first = gathered.conditions.len() - gathered.blocks.len();
    let mut text = String::new();
    for (at, block) in gathered.blocks.iter().enumerate() {
        let targets = block
            .assignments
            .iter()
            .map(|(kind, place, _)| format!("({kind}, {place})"));
        let targets: Vec<String> = targets.collect();
        let _ = writeln!(
            text,
            "    _Block({}, {}, {}, {}, [{}]),",
            string(&block.name),
            literal(block.period),
            literal(block.first),
            first + at,
            wrapped(&targets)
        );
    }
    text
}

fn tables(subject: &Subject<'_>, gathered: &Gathered) -> Tables {
    let held: Vec<usize> = gathered.discretes.iter().copied().chain(gathered.offsets()).collect();
    let (states, ports) = (subject.states.len(), gathered.ports());
    let sets = states + 3 * ports + gathered.modes().count();
    let places = [states, states + 2 * ports, sets, sets + gathered.sets()];
    let mut conditions = String::new();
    let all = gathered.conditions.iter().enumerate();
    for (at, condition) in all.filter(|(_, condition)| **condition != Condition::Decided(false)) {
        let _ = writeln!(conditions, "    {at}: lambda m: {},", CONDITIONS.text(condition));
    }
    Tables {
        combinations: combinations(gathered),
        first_combination: gathered.first.to_string(),
        elements: elements(gathered),
        blocks: blocks(gathered),
        discretes: integers(&gathered.discretes),
        held_inputs: integers(&held),
        port_count: ports.to_string(),
        set_count: gathered.sets().to_string(),
        margin_count: gathered.margins.to_string(),
        temporary_count: gathered.temporaries.len().to_string(),
        read_count: gathered.held.len().to_string(),
        start_known: flags(gathered.start_known.iter().copied()),
        knows_energy: boolean(gathered.knows_energy),
        places: integers(&places),
        conditions,
        bends: !subject.bending.is_empty(),
    }
}

/// The word for each array in a call of an assignment, which has what blocks read instead of states, and temporaries
/// instead of unknowns.
fn assigned_argument(array: Array) -> String {
    match array {
        Array::Read(Space::Unknowns) => "temporaries".to_string(),
        other => (SCRIPT.argument)(other, "value"),
    }
}

/// Statements in the body of a method; the first with a true condition is executed.
fn choice(cases: Vec<(String, String)>) -> String {
    let mut text = String::new();
    for (condition, call) in cases.into_iter().filter(|case| !case.1.is_empty()) {
        let word = if text.is_empty() { "if" } else { "            elif" };
        let _ = write!(text, "{word} {condition}:\n                {call}\n");
    }
    match text.is_empty() {
        true => "pass".to_string(),
        false => text.trim_end().to_string(),
    }
}

/// Adds functions selected by the active combination of modes; returns the statement that calls them with results to
/// `out`.
pub(super) fn modal(
    functions: &mut Functions<'_>,
    (name, out): (&str, &str),
    modal: &Modal,
    remark: &dyn Fn(u32) -> Option<String>,
) -> String {
    let cases = modal.iter().map(|(combination, kernel)| {
        let name = format!("{name}_{combination}");
        functions.add(&format!("_{name}"), kernel.program(), remark);
        let call = SCRIPT.call(functions, &name, out);
        (format!("self.combination == {combination}"), call)
    });
    choice(cases.collect())
}

/// Adds the functions of changes, and all that runs a model with events.
pub(super) fn calls(
    subject: &Subject<'_>,
    functions: &mut Functions<'_>,
    (gathered, kernels): (&Gathered, &ChangeKernels),
) -> Calls {
    let none = |_: u32| None;
    let mut numbers = kernels.assigned.iter();
    let mut assigned = Vec::new();
    for (at, block) in gathered.blocks.iter().enumerate() {
        for (place, kernel) in (0..block.assignments.len()).zip(&mut numbers) {
            let name = format!("_assigned_{at}_{place}");
            functions.add(&name, kernel.program(), &none);
            let call = functions.call(&name, &assigned_argument);
            assigned.push((format!("which == ({at}, {place})"), call));
        }
    }
    let watched = subject.states.len() + 3 * gathered.ports() + gathered.modes().count();
    Calls {
        margins_call: modal(functions, ("margins", "margins"), &kernels.margins, &none),
        watched_call: modal(functions, ("watched", "watched"), &kernels.watched, &none),
        assigned_call: choice(assigned),
        watched_count: (watched + gathered.sets() + gathered.held.len() + 1).to_string(),
        events_code: EVENTS.text(&tables(subject, gathered)),
    }
}

/// Refuses what the emitted module does not do.
pub(in crate::code) fn mind_events(subject: &Subject<'_>, gathered: &Gathered) -> Result<(), Diagnostic> {
    let help = "write `--target rust` or `c`, which support it, or run the model with `lgm simulate`";
    if let Some(block) = gathered.blocks.iter().find(|block| block.period == 0.0) {
        let reason = format!(
            "the block `{}` waits for a condition, which Python does not examine within each step",
            block.name
        );
        let help = "write `--target c`, `rust`, `fmu2` or `fmu3`; or run it from Python with the package `lgm` (docs/python.md)";
        return Err(refused(&subject.system.model, &reason, help));
    }
    let has_sets = |element: &&Element| {
        let mut changes = element.modes.iter().flat_map(|mode| &mode.changes);
        changes.any(|change| !change.sets.is_empty())
    };
    let contacts: Vec<String> = (gathered.elements.iter().filter(has_sets))
        .map(|element| format!("`{}`", element.name))
        .collect();
    if contacts.len() > 1 {
        let names = contacts[..contacts.len().min(4)].join(", ");
        let reason = format!("contacts that may close at one instant, {names}, are not solved together in Python");
        return Err(refused(&subject.system.model, &reason, help));
    }
    if subject.has_branches() {
        let reason = format!(
            "the algebraic loop of {} may have several solutions, which Python does not follow through events",
            subject.loops_in_words()
        );
        return Err(refused(&subject.system.model, &reason, help));
    }
    Ok(())
}

/// The working memory that the functions need at most.
pub(super) fn scratch(kernels: &ChangeKernels) -> usize {
    let programs: Vec<&Program> = kernels.programs().collect();
    Subject::scratch(&programs)
}
