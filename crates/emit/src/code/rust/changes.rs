//! Models with events in Rust: the tables of changes, and the functions that depend on the combination of modes.

use super::dialect::literal;
use super::equations::Equations;
use crate::code::events::{ConditionWords, Gathered};
use crate::code::functions::{integers, wrapped};
use crate::code::template::values;
use lgm_equations::switching::Condition;
use std::fmt::Write;

values! {
    /// The changes of a model, as text.
    pub(super) struct Changes {
        combination_count: usize,
        element_count: usize,
        port_count: usize,
        bound_count: usize,
        set_count: usize,
        margin_count: usize,
        turn_count: usize,
        phase_count: usize,
        block_count: usize,
        discrete_count: usize,
        read_count: usize,
        temporary_count: usize,
        mode_count: usize,
        combinations: String,
        first_combination: String,
        elements: String,
        blocks: String,
        discretes: String,
        first_offset: String,
        start_known: String,
        conditions: String,
        table_imports: String,
        given_import: &'static str,
        changes_sizes: String,
        reads_points: bool,
        changes_methods: String,
    }
}

/// The syntax of conditions in Rust.
const CONDITIONS: ConditionWords = ConditionWords {
    zero: "zero",
    decided: ["false", "true"],
    not: "!",
    and: "&&",
    or: "||",
    choice: |condition, a, b| format!("if {condition} {{ {a} }} else {{ {b} }}"),
};

fn flags(flags: impl Iterator<Item = bool>) -> String {
    let flags: Vec<String> = flags.map(|flag| flag.to_string()).collect();
    wrapped(&flags)
}

/// Prints the combinations of modes.
fn combinations(gathered: &Gathered) -> String {
    let mut text = String::new();
    for row in &gathered.rows {
        let (conflict, known, watches, timed, redundant) = match &row.equations {
            Ok(equations) => {
                let known = equations.known.iter().map(|known| match known {
                    1 => "Known::State".to_string(),
                    2 => "Known::Follows".to_string(),
                    _ => "Known::No".to_string(),
                });
                let known: Vec<String> = known.collect();
                let watches = flags(equations.watches(gathered));
                let timed = flags(equations.timed(gathered));
                let redundant = flags(equations.redundant.iter().copied());
                ("None".to_string(), wrapped(&known), watches, timed, redundant)
            }
            Err(reason) => {
                let none = String::new;
                (format!("Some({reason:?})"), none(), none(), none(), none())
            }
        };
        let _ = write!(
            text,
            "        Combination {{\n            modes: &[{}],\n            conflict: {conflict},\n            known: &[{known}],\n            \
             watches: &[{watches}],\n            timed: &[{timed}],\n            redundant: &[{redundant}],\n        }},\n",
            integers(&row.modes)
        );
    }
    text
}

/// Prints the elements with their modes and changes.
fn elements(gathered: &Gathered) -> String {
    let mut text = String::new();
    for element in &gathered.elements {
        let mut modes = String::new();
        for mode in &element.modes {
            let mut changes = String::new();
            for change in &mode.changes {
                let sets = change.sets.iter();
                let sets = sets.map(|set| {
                    format!(
                        "Set {{ place: {}, port: {}, variable: {} }}",
                        set.place, set.port, set.variable
                    )
                });
                let (condition, sets) = (change.condition, sets.collect::<Vec<String>>().join(", "));
                let bound = change.bound.map_or("None".to_string(), |bound| {
                    format!(
                        "Some(Bound {{ margin: {}, is_positive: {}, is_above: {}, far: {:?} }})",
                        bound.margin, bound.is_positive, bound.is_above, bound.far
                    )
                });
                let _ = writeln!(
                    changes,
                    "                        Change {{ condition: {condition}, to: {}, is_free: {}, sets: &[{}], bound: {bound} }},",
                    change.to, change.is_free, sets
                );
            }
            let given: Vec<String> = mode.given.iter().map(|given| format!("{given:?}")).collect();
            let _ = write!(
                modes,
                "                Mode {{\n                    name: {:?},\n                    given: &[{}],\n                    changes: \
                 &[\n{changes}                    ],\n                }},\n",
                mode.name,
                wrapped(&given)
            );
        }
        let _ = write!(
            text,
            "        Element {{\n            name: {:?},\n            is_junction: {},\n            modes: &[\n{modes}            ],\n            \
             first_mode: {},\n            first_port: {},\n            ports: {},\n        }},\n",
            element.name, element.is_junction, element.first_mode, element.first_port, element.ports
        );
    }
    text
}

/// Prints the blocks with the targets of their assignments.
fn blocks(gathered: &Gathered) -> String {
    let first = gathered.conditions.len() - gathered.blocks.len();
    let (mut text, mut assignment) = (String::new(), 0);
    for (at, block) in gathered.blocks.iter().enumerate() {
        let trigger = match block.period {
            0.0 => "Trigger::When".to_string(),
            period if period < 0.0 => "Trigger::Initially".to_string(),
            period => format!(
                "Trigger::Every {{ period: {}, first: {} }}",
                literal(period),
                literal(block.first)
            ),
        };
        let targets = block.assignments.iter().map(|(kind, place, _)| match kind {
            0 => format!("Target::Discrete({place})"),
            1 => format!("Target::Temporary({place})"),
            _ => format!("Target::State({place})"),
        });
        let targets: Vec<String> = targets.collect();
        let _ = write!(
            text,
            "        AssignmentBlock {{\n            name: {:?},\n            trigger: {trigger},\n            condition: {},\n            \
             first_assignment: {assignment},\n            targets: &[{}],\n        }},\n",
            block.name,
            first + at,
            wrapped(&targets)
        );
        assignment += block.assignments.len();
    }
    text
}

fn conditions(gathered: &Gathered) -> String {
    let mut text = String::new();
    let all = gathered.conditions.iter().enumerate();
    for (at, condition) in all.filter(|(_, condition)| **condition != Condition::Decided(false)) {
        let _ = writeln!(text, "            {at} => {},", CONDITIONS.text(condition));
    }
    text
}

/// Prints the changes of a model whose functions were added last.
pub(super) fn changes(gathered: &Gathered, equations: &mut Equations<'_>) -> Changes {
    let (changes_methods, reads_points) = equations.take_methods();
    let (combinations, elements, blocks) = (combinations(gathered), elements(gathered), blocks(gathered));
    let conditions = conditions(gathered);
    // Names that no table uses are not imported.
    let used = |name: &&str| {
        let texts = [&combinations, &elements, &blocks];
        let is_read = |text: &&String| text.contains(&format!("{name} {{")) || text.contains(&format!("{name}::"));
        texts.iter().any(is_read) || ["Change", "Places", "Tables"].contains(name)
    };
    let names = [
        "AssignmentBlock",
        "Bound",
        "Change",
        "Combination",
        "Element",
        "Known",
        "Mode",
        "Places",
        "Set",
        "Tables",
        "Target",
        "Trigger",
    ];
    let imported: Vec<&str> = names.into_iter().filter(used).collect();
    let mut sizes = vec!["STATES"];
    for size in ["INPUTS", "UNKNOWNS"] {
        if changes_methods.contains(size) {
            sizes.push(size);
        }
    }
    Changes {
        combination_count: gathered.rows.len(),
        element_count: gathered.elements.len(),
        port_count: gathered.ports(),
        bound_count: gathered.bounds(),
        set_count: gathered.sets(),
        margin_count: gathered.margins,
        turn_count: gathered.turns,
        phase_count: gathered.phases,
        block_count: gathered.blocks.len(),
        discrete_count: gathered.discretes.len(),
        read_count: gathered.held.len(),
        temporary_count: gathered.temporaries.len(),
        mode_count: gathered.modes().count(),
        combinations,
        first_combination: gathered.first.to_string(),
        elements,
        blocks,
        discretes: integers(&gathered.discretes),
        first_offset: gathered.first_offset.to_string(),
        start_known: flags(gathered.start_known.iter().copied()),
        conditions,
        table_imports: imported.join(", "),
        given_import: if changes_methods.contains("AssignmentReads<") {
            "AssignmentReads, "
        } else {
            ""
        },
        changes_sizes: sizes.join(", "),
        reads_points,
        changes_methods,
    }
}
