//! The causality of a model as text.

use super::report::{CausalityReport, End, Port, Role, Storage};
use super::table::lines;
use lgm_equations::causality::words::list;
use lgm_model::{JunctionKind, Variable};
use std::fmt::Write;

/// The format of the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions {
    /// True if bonds are listed even if the author drew none.
    pub bonds: bool,
}

/// Formats the report as sections with tables: bonds, normal tree, storage, loops.
pub fn text(report: &CausalityReport, options: TextOptions) -> String {
    let mut out = format!("{}\n", report.model);
    if report.has_drawn_bonds || options.bonds {
        section(&mut out, "bonds, in the order of stroke assignment", bonds(report));
    }
    if let Some(tree) = &report.tree {
        let rows = tree.members.iter().map(|member| {
            let node = |name: &Option<String>| name.clone().unwrap_or_else(|| "gnd".to_string());
            let mark = match member.is_branch {
                Some(true) => "branch",
                Some(false) => "link",
                None => "either",
            };
            let ends = format!("{} -> {}", node(&member.ends.0), node(&member.ends.1));
            let gives = member
                .gives
                .as_ref()
                .map_or(String::new(), |gives| format!("gives {gives}"));
            vec![mark.to_string(), member.name.clone(), ends, gives, member.rule.clone()]
        });
        section(&mut out, "normal tree, in the order of selection", rows.collect());
    }
    section(
        &mut out,
        "storage",
        report.storage.iter().map(|storage| stored(report, storage)).collect(),
    );
    section(&mut out, "algebraic loops", loops(report));
    section(&mut out, "solved during a run", at_run_time(report));
    let open = |circulates: bool| {
        let groups = report.open.iter().filter(move |group| group.circulates == circulates);
        let bonds = groups.flat_map(|group| &group.bonds);
        bonds
            .map(|at| vec![format!("{}", at + 1), picture(report, *at)])
            .collect()
    };
    section(
        &mut out,
        "bonds without strokes: these loops are solved together",
        open(false),
    );
    section(
        &mut out,
        "bonds without strokes: nothing determines what circulates here",
        open(true),
    );
    let conflicts = report.conflicts.iter().map(|place| {
        let port = &report.ports[*place];
        vec![port.name.clone(), format!("its {} is already set", given(port))]
    });
    section(&mut out, "conflicts", conflicts.collect());
    out
}

/// Writes a heading with its table; nothing without rows.
fn section(out: &mut String, heading: &str, rows: Vec<Vec<String>>) {
    if !rows.is_empty() {
        let _ = writeln!(out, "\n{heading}");
        for line in lines(&rows) {
            let _ = writeln!(out, "{line}");
        }
    }
}

fn name(report: &CausalityReport, end: End) -> &str {
    match end {
        End::Junction(at) => &report.junctions[at].name,
        End::Port(at) => &report.ports[at].name,
    }
}

/// Formats a bond as `x |--> mass`: the stroke is where effort acts, and the arrow points in the direction of positive power.
fn picture(report: &CausalityReport, bond: usize) -> String {
    let bond = &report.bonds[bond];
    let sign = match bond.effort_at {
        None => "---->",
        Some(end) if end == bond.head => "--->|",
        Some(_) => "|--->",
    };
    format!("{} {sign} {}", shown(report, bond.tail), shown(report, bond.head))
}

/// Formats a junction with its kind, if its name does not include it.
fn shown(report: &CausalityReport, end: End) -> String {
    match end {
        End::Port(_) => name(report, end).to_string(),
        End::Junction(at) => {
            let junction = &report.junctions[at];
            let digit = match junction.kind {
                JunctionKind::Zero => '0',
                JunctionKind::One => '1',
            };
            let says_so = junction.name.starts_with(digit);
            match says_so {
                true => junction.name.clone(),
                false => format!("{digit}:{}", junction.name),
            }
        }
    }
}

fn bonds(report: &CausalityReport) -> Vec<Vec<String>> {
    let row = |step: &super::report::Step| {
        let number = format!("{}", step.bond + 1);
        vec![
            number,
            picture(report, step.bond),
            step.cause.word().to_string(),
            step.because.clone(),
        ]
    };
    report.order.iter().map(row).collect()
}

/// Returns A-type or T-type, or C or I without a domain.
fn kind(port: &Port) -> &'static str {
    let co_energy = match port.role {
        Role::Storage(co_energy) => co_energy,
        Role::Velocity => return "velocity",
        Role::Source(_) | Role::Dissipator | Role::Coupler => return "",
    };
    match (port.effort_is_across, co_energy) {
        (Some(effort_is_across), co_energy) if effort_is_across == (co_energy == Variable::Effort) => "A-type",
        (Some(_), _) => "T-type",
        (None, Variable::Effort) => "C",
        (None, Variable::Flow) => "I",
    }
}

fn stored(report: &CausalityReport, storage: &Storage) -> Vec<String> {
    let port = &report.ports[storage.port];
    let word = if storage.is_integral { "integral" } else { "derivative" };
    let state = match &storage.state {
        Some(state) => format!("state {state}"),
        None if storage.is_integral => String::new(),
        None => "no state".to_string(),
    };
    let mut because = storage.because.clone();
    let paths = storage.follows.iter().filter(|path| path.through.len() > 2);
    let paths: Vec<String> = paths.map(|path| path.through.join(" ")).collect();
    match &paths[..] {
        [] => {}
        [one] => because += &format!("; causal path {one}"),
        several => because += &format!("; causal paths {}", list(several)),
    }
    vec![
        port.name.clone(),
        kind(port).to_string(),
        word.to_string(),
        state,
        because,
    ]
}

fn loops(report: &CausalityReport) -> Vec<Vec<String>> {
    let row = |each: &super::report::AlgebraicLoop| {
        let names: Vec<String> = each.ports.iter().map(|at| report.ports[*at].name.clone()).collect();
        let through = match each.through.is_empty() {
            true => String::new(),
            false => format!("by way of {}", list(&each.through)),
        };
        vec![list(&names), through]
    };
    report.loops.iter().map(row).collect()
}

fn at_run_time(report: &CausalityReport) -> Vec<Vec<String>> {
    let row = |each: &super::report::RunTimeLoop| {
        let count = match each.unknowns {
            1 => "1 unknown".to_string(),
            count => format!("{count} unknowns"),
        };
        let laws: Vec<String> = each.laws.iter().map(ToString::to_string).collect();
        let of = match laws.is_empty() {
            true => list(&each.names),
            false => format!("laws of {}", list(&laws)),
        };
        let how = if each.is_linear { "linear" } else { "nonlinear" };
        vec![count, how.to_string(), of]
    };
    report.at_run_time.iter().map(row).collect()
}

/// Returns the variable of a source.
fn given(port: &Port) -> &str {
    match port.role {
        Role::Source(Variable::Flow) => &port.words.1,
        _ => &port.words.0,
    }
}
