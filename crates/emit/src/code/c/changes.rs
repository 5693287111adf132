//! Models with events in C: the data that depends on the combination of modes, and the tables of changes.

use super::dialect::{C, string};
use super::hooks::Hooks;
use super::text::{integers, list};
use crate::code::dialect::Dialect;
use crate::code::events::{ChangeKernels, ConditionWords, Gathered, chosen};
use crate::code::template::values;
use lgm_algebra::expr::Relation;
use lgm_equations::switching::Condition;
use lgm_kernels::Kernel;
use lgm_kernels::program::Program;
use std::fmt::Write;

values! {
    /// The tables of changes.
    pub(super) struct ChangeTables {
        element_names: String,
        is_junction: String,
        mode_names: String,
        block_names: String,
        modes_of: String,
        has_equations: String,
        conflicts: String,
        known: String,
        watches: String,
        first_mode: String,
        first_port: String,
        first_given: String,
        given: String,
        first_change: String,
        change_to: String,
        change_is_free: String,
        change_margins: String,
        change_is_positive: String,
        change_is_above: String,
        change_far: String,
        redundant: String,
        first_set: String,
        set_ports: String,
        set_variables: String,
        periods: String,
        firsts: String,
        first_assignment: String,
        target_kinds: String,
        target_places: String,
        discrete_inputs: String,
        is_held: String,
        start_known: String,
    }
}

/// Returns the sizes of all event tables, with their names in the sources.
pub(super) fn change_numbers(gathered: &Gathered) -> Vec<(&'static str, usize)> {
    let (modes, changes) = (|| gathered.modes(), || gathered.changes());
    let assignments = gathered.blocks.iter().map(|block| block.assignments.len());
    vec![
        ("LGM_COMBINATIONS", gathered.rows.len()),
        ("LGM_FIRST_COMBINATION", gathered.first),
        ("LGM_ELEMENTS", gathered.elements.len()),
        ("LGM_PORTS", gathered.ports()),
        ("LGM_BOUNDS", gathered.bounds()),
        ("LGM_MODES", modes().count()),
        ("LGM_GIVENS", modes().map(|mode| mode.given.len()).sum()),
        ("LGM_CHANGES", changes().count()),
        ("LGM_SETS", gathered.sets()),
        ("LGM_MARGINS", gathered.margins),
        ("LGM_TURNS", gathered.turns),
        ("LGM_WATCHED_PHASES", gathered.phases),
        ("LGM_BLOCKS", gathered.blocks.len()),
        ("LGM_ASSIGNMENTS", assignments.sum()),
        ("LGM_DISCRETES", gathered.discretes.len()),
        ("LGM_READ", gathered.held.len()),
        ("LGM_TEMPORARIES", gathered.temporaries.len()),
        ("LGM_FIRST_OFFSET", gathered.first_offset),
    ]
}

/// Returns the start index of each list in the concatenation of several lists, followed by the end index of the last list.
fn starts(lengths: impl Iterator<Item = usize>) -> String {
    let mut all = vec![0];
    for length in lengths {
        all.push(all[all.len() - 1] + length);
    }
    integers(&all)
}

fn strings<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let lines: Vec<String> = names.map(|name| format!("    {}", string(name))).collect();
    match lines.is_empty() {
        true => "    \"\"".to_string(),
        false => lines.join(",\n"),
    }
}

fn signed(entries: impl Iterator<Item = Option<usize>>) -> String {
    let entries = entries.map(|entry| entry.map_or("-1".to_string(), |entry| entry.to_string()));
    list(entries, "0".to_string())
}

fn flags(entries: impl Iterator<Item = bool>) -> String {
    list(entries.map(|entry| u8::from(entry).to_string()), "0".to_string())
}

/// Builds the tables of changes.
pub(super) fn change_tables(gathered: &Gathered, c: &C<'_>) -> ChangeTables {
    let elements = || gathered.elements.iter();
    let (modes, changes) = (|| gathered.modes(), || gathered.changes());
    let sets = || changes().flat_map(|change| &change.sets);
    let numbers = |entries: &mut dyn Iterator<Item = usize>| integers(&entries.collect::<Vec<_>>());
    let blocks = || gathered.blocks.iter();
    let assignments = || blocks().flat_map(|block| &block.assignments);
    let bounds = || changes().map(|change| change.bound);
    let redundant = |row: &crate::code::events::Row| match &row.equations {
        Ok(equations) if !equations.redundant.is_empty() => equations.redundant.clone(),
        _ => vec![false; gathered.elements.len().max(1)],
    };
    let rows = || gathered.rows.iter();
    let (states, inputs) = (gathered.system.states.len(), gathered.system.inputs.len());
    // Each table has at least one entry per row.
    let known = |row: &crate::code::events::Row| match &row.equations {
        Ok(equations) if states > 0 => equations.known.clone(),
        _ => vec![0; states.max(1)],
    };
    let watches = |row: &crate::code::events::Row| match &row.equations {
        // 2 for margins without round-off.
        Ok(equations) if gathered.margins > 0 => (equations.watches(gathered).zip(equations.timed(gathered)))
            .map(|(is_watched, is_timed)| usize::from(is_watched) << usize::from(is_timed))
            .collect(),
        _ => vec![0; gathered.margins.max(1)],
    };
    let own_modes = |row: &crate::code::events::Row| match row.modes.is_empty() {
        true => vec![0],
        false => row.modes.clone(),
    };
    let offsets = gathered.offsets();
    let times = |of: &dyn Fn(&crate::code::events::EmittedBlock) -> f64| {
        list(blocks().map(|block| c.literal(of(block))), c.literal(0.0))
    };
    ChangeTables {
        element_names: strings(elements().map(|element| element.name.as_str())),
        is_junction: flags(elements().map(|element| element.is_junction)),
        mode_names: strings(modes().map(|mode| mode.name.as_str())),
        block_names: strings(blocks().map(|block| block.name.as_str())),
        modes_of: numbers(&mut rows().flat_map(own_modes)),
        has_equations: flags(rows().map(|row| row.equations.is_ok())),
        conflicts: strings(rows().map(|row| row.equations.as_ref().err().map_or("", String::as_str))),
        known: numbers(&mut rows().flat_map(known)),
        watches: numbers(&mut rows().flat_map(watches)),
        first_mode: starts(elements().map(|element| element.modes.len())),
        first_port: starts(elements().map(|element| element.ports)),
        first_given: starts(modes().map(|mode| mode.given.len())),
        given: signed(modes().flat_map(|mode| mode.given.iter().copied())),
        first_change: starts(modes().map(|mode| mode.changes.len())),
        change_to: numbers(&mut changes().map(|change| change.to)),
        change_is_free: flags(changes().map(|change| change.is_free)),
        change_margins: signed(bounds().map(|bound| bound.map(|bound| bound.margin))),
        change_is_positive: flags(bounds().map(|bound| bound.is_some_and(|bound| bound.is_positive))),
        change_is_above: flags(bounds().map(|bound| bound.is_some_and(|bound| bound.is_above))),
        change_far: signed(bounds().map(|bound| bound.and_then(|bound| bound.far))),
        redundant: flags(rows().flat_map(redundant)),
        first_set: starts(changes().map(|change| change.sets.len())),
        set_ports: numbers(&mut sets().map(|set| set.port)),
        set_variables: numbers(&mut sets().map(|set| set.variable)),
        periods: times(&|block| block.period),
        firsts: times(&|block| block.first),
        first_assignment: starts(blocks().map(|block| block.assignments.len())),
        target_kinds: numbers(&mut assignments().map(|assignment| assignment.0)),
        target_places: numbers(&mut assignments().map(|assignment| assignment.1)),
        discrete_inputs: integers(&gathered.discretes),
        is_held: flags((0..inputs).map(|at| offsets.contains(&at) || gathered.discretes.contains(&at))),
        start_known: flags(gathered.start_known.iter().copied()),
    }
}

/// The syntax of conditions in C.
const CONDITIONS: ConditionWords = ConditionWords {
    zero: "0.0",
    decided: ["0", "1"],
    not: "!",
    and: "&&",
    or: "||",
    choice: |condition, a, b| format!("({condition}) ? ({a}) : ({b})"),
};

/// Prints a condition as a number that is negative if the condition holds or, with `is_denied`, if it does not hold.
fn indicator_text(condition: &Condition, is_denied: bool, c: &C<'_>) -> String {
    let of = |inner: &Condition, is_denied: bool| indicator_text(inner, is_denied, c);
    let joined =
        |a: String, b: String, is_both: bool| format!("{}({a}, {b})", if is_both { "higher" } else { "lower" });
    match condition {
        Condition::Decided(holds) => c.literal(if *holds == is_denied { 1.0 } else { -1.0 }),
        Condition::Margin(at, relation) => {
            let (m, least) = (format!("m[{at}]"), format!("least[{at}]"));
            match (relation, is_denied) {
                (Relation::Greater, false) | (Relation::LessEqual, true) => format!("{least} - {m}"),
                (Relation::GreaterEqual, false) | (Relation::Less, true) => format!("-{m} - {least}"),
                (Relation::Less, false) | (Relation::GreaterEqual, true) => format!("{m} + {least}"),
                (Relation::LessEqual, false) | (Relation::Greater, true) => format!("{m} - {least}"),
                (Relation::Equal, false) => format!("lgm_fabs({m}) - {least}"),
                (Relation::Equal, true) => format!("{least} - lgm_fabs({m})"),
                (_, false) => format!("{least} - lgm_fabs({m})"),
                (_, true) => format!("lgm_fabs({m}) - {least}"),
            }
        }
        Condition::Not(inner) => of(inner, !is_denied),
        // A conjunction holds if the larger number is negative.
        Condition::And(a, b) => joined(of(a, is_denied), of(b, is_denied), !is_denied),
        Condition::Or(a, b) => joined(of(a, is_denied), of(b, is_denied), is_denied),
        Condition::Choice(condition, a, b) => joined(
            joined(of(condition, false), of(a, is_denied), true),
            joined(of(condition, true), of(b, is_denied), true),
            false,
        ),
    }
}

/// Prints the functions of changes, a header for `lgm_events.c`.
pub(super) fn change_functions(gathered: &Gathered, kernels: &ChangeKernels, c: &C<'_>, model: &str) -> String {
    let mut hooks = Hooks::new(c);
    hooks.add_modal("watched", &chosen(&kernels.watched), &|_| None);
    hooks.add_modal("margins", &chosen(&kernels.margins), &|_| None);
    let assigned: Vec<&Program> = kernels.assigned.iter().map(Kernel::program).collect();
    hooks.add_numbered(("assigned", "number"), &assigned);
    let [helpers, programs, hooks] = hooks.finish(true);
    let (mut conditions, mut indicators) = (String::new(), String::new());
    for (at, condition) in gathered.conditions.iter().enumerate() {
        if *condition != Condition::Decided(false) {
            let text = CONDITIONS.text(condition);
            let _ = write!(conditions, "    case {at}:\n        return {text};\n");
            let text = indicator_text(condition, false, c);
            let _ = write!(indicators, "    case {at}:\n        return {text};\n");
        }
    }
    format!(
        "/* The changes of {model} at events. */\n{helpers}{programs}{hooks}/* Evaluates conditions over margins: those of changes, then \
         those of blocks. */\nstatic int system_condition(int condition, const real m[]) {{\n    (void)m;\n    switch (condition) \
         {{\n{conditions}    default:\n        return 0;\n    }}\n}}\n\n/* Returns a number that is negative if a condition \
         holds; margins within `least` of 0 are 0. */\nstatic real system_indicator(int condition, const real m[], const real \
         least[]) {{\n    (void)m; (void)least;\n    switch (condition) {{\n{indicators}    default:\n        return \
         (real)1.0;\n    }}\n}}\n"
    )
}
