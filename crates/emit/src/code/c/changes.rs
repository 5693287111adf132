//! Models with events in C: what depends on the combination of modes, and the tables of changes.

use super::common::Common;
use super::dialect::{C, string};
use super::hooks::Hooks;
use super::text::{integers, list};
use crate::code::dialect::Dialect;
use crate::code::events::{ChangeKernels, ConditionWords, Gathered, chosen, only_margin};
use crate::code::template::values;
use lgm_algebra::expr::Relation;
use lgm_equations::switching::Condition;
use lgm_kernels::Kernel;
use lgm_kernels::program::Program;
use std::fmt::Write;

values! {
    /// The sizes of all that has to do with events.
    pub(super) struct ChangeCounts {
        combination_count: usize,
        first_combination: String,
        element_count: String,
        port_count: String,
        mode_count: String,
        given_count: String,
        change_count: String,
        set_count: String,
        margin_count: String,
        block_count: String,
        assignment_count: String,
        discrete_count: String,
        read_count: String,
        temporary_count: String,
        first_offset: String,
        knows_energy: String,
    }
}

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
        change_asks_ports: String,
        change_margins: String,
        change_is_above: String,
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

values! {
    /// The functions of changes.
    pub(super) struct ChangeFunctions {
        ..common: Common;
        helpers: String,
        programs: String,
        hooks: String,
        conditions: String,
        indicators: String,
    }
}

impl ChangeKernels {
    /// Adds the right sides and the outputs.
    pub(super) fn add<'p>(
        &'p self,
        hooks: &mut Hooks<'p>,
        states: &dyn Fn(u32) -> Option<String>,
        outputs: &dyn Fn(u32) -> Option<String>,
    ) {
        hooks.add_modal("derivatives", &chosen(&self.derivatives), states);
        hooks.add_modal("outputs", &chosen(&self.outputs), outputs);
    }
}

/// All sizes.
pub(super) fn change_counts(gathered: &Gathered) -> ChangeCounts {
    let (modes, changes) = (|| gathered.modes(), || gathered.changes());
    let text = |count: usize| count.to_string();
    ChangeCounts {
        combination_count: gathered.rows.len(),
        first_combination: text(gathered.first),
        element_count: text(gathered.elements.len()),
        port_count: text(gathered.ports()),
        mode_count: text(modes().count()),
        given_count: text(modes().map(|mode| mode.given.len()).sum()),
        change_count: text(changes().count()),
        set_count: text(gathered.sets()),
        margin_count: text(gathered.margins),
        block_count: text(gathered.blocks.len()),
        assignment_count: text(gathered.blocks.iter().map(|block| block.assignments.len()).sum()),
        discrete_count: text(gathered.discretes.len()),
        read_count: text(gathered.held.len()),
        temporary_count: text(gathered.temporaries.len()),
        first_offset: text(gathered.first_offset),
        knows_energy: text(usize::from(gathered.knows_energy)),
    }
}

/// The beginning of each of several lists in all of them, one behind the other, and the end of the last one.
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

/// The tables.
pub(super) fn change_tables(gathered: &Gathered, c: &C) -> ChangeTables {
    let elements = || gathered.elements.iter();
    let (modes, changes) = (|| gathered.modes(), || gathered.changes());
    let sets = || changes().flat_map(|change| &change.sets);
    let numbers = |entries: &mut dyn Iterator<Item = usize>| integers(&entries.collect::<Vec<_>>());
    let blocks = || gathered.blocks.iter();
    let assignments = || blocks().flat_map(|block| &block.assignments);
    let margins = || gathered.conditions.iter().take(changes().count()).map(only_margin);
    let rows = || gathered.rows.iter();
    let (states, inputs) = (gathered.system.states.len(), gathered.system.inputs.len());
    // Each table has a place at least in every row.
    let known = |row: &crate::code::events::Row| match &row.equations {
        Ok(equations) if states > 0 => equations.known.clone(),
        _ => vec![0; states.max(1)],
    };
    let watches = |row: &crate::code::events::Row| match &row.equations {
        Ok(equations) if gathered.margins > 0 => equations
            .margins
            .iter()
            .map(|margin| usize::from(margin.is_some()))
            .collect(),
        _ => vec![0; gathered.margins.max(1)],
    };
    let own_modes = |row: &crate::code::events::Row| match row.modes.is_empty() {
        true => vec![0],
        false => row.modes.clone(),
    };
    let offsets = gathered.offsets();
    let times = |of: &dyn Fn(&crate::code::events::Block) -> f64| {
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
        change_asks_ports: flags(changes().map(|change| change.asks_ports)),
        change_margins: signed(margins().map(|margin| margin.map(|margin| margin.0))),
        change_is_above: flags(margins().map(|margin| margin.is_some_and(|margin| margin.1))),
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

/// The words for conditions in C.
const CONDITIONS: ConditionWords = ConditionWords {
    zero: "0.0",
    decided: ["0", "1"],
    not: "!",
    and: "&&",
    or: "||",
    choice: |condition, a, b| format!("({condition}) ? ({a}) : ({b})"),
};

/// A condition in C as a number that is below 0 where it holds, or where it does not if `is_denied`.
fn indicator_text(condition: &Condition, is_denied: bool, c: &C) -> String {
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
        // Both hold where the higher one is below 0.
        Condition::And(a, b) => joined(of(a, is_denied), of(b, is_denied), !is_denied),
        Condition::Or(a, b) => joined(of(a, is_denied), of(b, is_denied), is_denied),
        Condition::Choice(condition, a, b) => joined(
            joined(of(condition, false), of(a, is_denied), true),
            joined(of(condition, true), of(b, is_denied), true),
            false,
        ),
    }
}

/// The functions.
pub(super) fn change_functions(
    gathered: &Gathered,
    kernels: &ChangeKernels,
    c: &C,
    common: &Common,
) -> ChangeFunctions {
    let mut hooks = Hooks::new(c);
    hooks.add_modal("watched", &chosen(&kernels.watched), &|_| None);
    hooks.add_modal("margins", &chosen(&kernels.margins), &|_| None);
    let assigned: Vec<&Program> = kernels.assigned.iter().map(Kernel::program).collect();
    hooks.add_numbered(("assigned", "number"), &assigned);
    let (helpers, programs, hooks) = hooks.finish(c);
    let (mut conditions, mut indicators) = (String::new(), String::new());
    for (at, condition) in gathered.conditions.iter().enumerate() {
        if *condition != Condition::Decided(false) {
            let _ = write!(
                conditions,
                "    case {at}:\n        return {};\n",
                CONDITIONS.text(condition)
            );
            let _ = write!(
                indicators,
                "    case {at}:\n        return {};\n",
                indicator_text(condition, false, c)
            );
        }
    }
    ChangeFunctions {
        common: common.clone(),
        helpers,
        programs,
        hooks,
        conditions,
        indicators,
    }
}
