//! The functions of a model in the user's names, and the methods of the run's trait that call them.

use super::dialect::documentation;
use super::equations::{Equations, chosen, push_case};
use super::source::{Method, Source};
use crate::code::events::{Changing, Gathered};
use crate::code::names::one_line;
use crate::code::subject::{Subject, bracketed};
use lgm_algebra::expr::ExprId;
use lgm_kernels::operation::Space;

/// Returns true if equations read time derivatives of inputs.
pub(super) fn reads_rates(subject: &Subject<'_>, changing: Changing<'_>) -> bool {
    let kernels = &subject.kernels;
    let own = [&kernels.derivatives, &kernels.outputs, &kernels.residuals];
    let modal = changing
        .iter()
        .flat_map(|changing| [&changing.1.derivatives, &changing.1.outputs]);
    let mut all = own.into_iter().chain(modal.flatten().map(|entry| &entry.1));
    all.any(|kernel| kernel.program().needs(Space::Rates) > 0)
}

/// The rates and outputs of a combination of modes.
struct InModes {
    /// The number of the combination; none if it is the only one.
    combination: Option<usize>,
    /// The modes in words.
    modes: String,
    equations: [Vec<Option<String>>; 2],
    values: [Vec<ExprId>; 2],
}

/// Returns the equations of each combination that has equations.
fn of_rows(gathered: &Gathered, source: &Source<'_>) -> Vec<InModes> {
    let is_alone = gathered.rows.len() == 1;
    let rows = gathered.rows.iter().enumerate();
    let with = rows.filter_map(|(at, row)| Some((at, row, row.equations.as_ref().ok()?)));
    with.map(|(at, row, equations)| InModes {
        combination: (!is_alone).then_some(at),
        modes: documentation(&gathered.modes_in_words(row)),
        equations: match is_alone {
            true => source.equations(),
            false => [
                gathered.equations_of(equations).into_iter().map(Some).collect(),
                Vec::new(),
            ],
        },
        values: [equations.derivatives.clone(), equations.outputs.clone()],
    })
    .collect()
}

/// Adds the functions of a model in the user's names.
pub(super) fn add_named(
    equations: &mut Equations<'_>,
    source: &mut Source<'_>,
    subject: &Subject<'_>,
    changing: Changing<'_>,
) {
    let has_jacobian = changing.is_none_or(|(gathered, _)| gathered.rows.len() < 2);
    let rows = match changing {
        Some((gathered, _)) => of_rows(gathered, source),
        None => vec![InModes {
            combination: None,
            modes: String::new(),
            equations: source.equations(),
            values: source.values(),
        }],
    };
    let arguments = source.arguments();
    let of_states = |at: usize| format!("der({})", one_line(&subject.states[at].name));
    let of_outputs = |at: usize| {
        let output = &subject.outputs[at];
        format!("{} {}", one_line(&output.name), bracketed(&output.unit))
            .trim()
            .to_string()
    };
    if !subject.states.is_empty() {
        source.initial_states();
        equations.methods.push_str(
            "\n    fn starts(&mut self, out: &mut [T; STATES]) {\n        self.model.initial_states(out);\n    }\n",
        );
    }
    for (which, (name, what, out, kind)) in [
        (
            ["derivatives", "rhs"],
            "Time derivatives `dx` of the states",
            "dx",
            "[T; STATES]",
        ),
        (["outputs", "outputs"], "Outputs `y`", "y", "[T; OUTPUTS]"),
    ]
    .into_iter()
    .enumerate()
    {
        let method = Method {
            what,
            name: name[1],
            out,
            kind,
            first: "",
        };
        match which {
            0 => add_results(equations, source, (name[0], method), (which, &rows), of_states),
            _ => add_results(equations, source, (name[0], method), (which, &rows), of_outputs),
        }
    }
    if subject.unknowns() > 0 {
        add_loops(equations, source, &arguments);
    } else if has_jacobian && !subject.states.is_empty() {
        add_jacobian(equations, source, subject, &arguments);
    }
}

/// Adds rates or outputs of all combinations of modes, and the method of the trait that selects one of them.
fn add_results(
    equations: &mut Equations<'_>,
    source: &mut Source<'_>,
    (name, method): (&str, Method<'_>),
    (which, rows): (usize, &[InModes]),
    remark: impl Fn(usize) -> String,
) {
    if rows.iter().all(|row| row.values[which].is_empty()) {
        return;
    }
    let arguments = source.arguments();
    let mut cases = String::new();
    for row in rows {
        let results = Source::results(method.out, &row.values[which], &remark);
        let (what, own) = match row.combination {
            None => (format!("{}.", method.what), method.name.to_string()),
            Some(at) => (
                format!("{} in combination {at} ({}).", method.what, row.modes),
                format!("{}_{at}", method.name),
            ),
        };
        let method = Method {
            what: &what,
            name: &own,
            ..method
        };
        source.at_point(method, &row.equations[which], &results);
        let call = format!("self.model.{own}({arguments}, out)");
        match row.combination {
            Some(combination) => push_case(&mut cases, combination, &call),
            None => cases = format!("{call};"),
        }
    }
    let is_alone = rows.iter().all(|row| row.combination.is_none());
    let body = if is_alone { cases } else { chosen(&cases) };
    equations.point_method(name, method.kind, &body);
}

/// Adds the residuals of algebraic loops, and their partial derivatives.
fn add_loops(equations: &mut Equations<'_>, source: &mut Source<'_>, arguments: &str) {
    let residuals = Source::results("out", &source.residuals(), |_| String::new());
    let method = Method {
        what: "Residuals of the algebraic loops, which are zero if `w` solves them.",
        name: "residuals",
        out: "out",
        kind: "[T; UNKNOWNS]",
        first: "",
    };
    source.at_point(method, &[], &residuals);
    equations.point_method(
        "residuals",
        "[T; UNKNOWNS]",
        &format!("self.model.residuals({arguments}, out);"),
    );
    let names = [
        ("loop_matrix", "Self::LoopMatrix", "residuals with respect to `w`"),
        ("direct", "Self::Direct", "`dx` with respect to `x`"),
        ("by_unknowns", "Self::ByUnknowns", "`dx` with respect to `w`"),
        ("by_states", "Self::ByStates", "residuals with respect to `x`"),
    ];
    for ((name, kind, what), (_, entries)) in names.into_iter().zip(source.matrices()) {
        if entries.is_empty() {
            continue;
        }
        let values: Vec<ExprId> = entries.iter().map(|entry| entry.2).collect();
        let results = Source::results("out", &values, |at| format!("[{}][{}]", entries[at].0, entries[at].1));
        let method = Method {
            what: &format!("Nonzero derivatives of {what}, row by row."),
            name,
            out: "out",
            kind: &format!("[T; {}]", entries.len()),
            first: "",
        };
        source.at_point(method, &[], &results);
        equations.point_method(name, kind, &format!("self.model.{name}({arguments}, out);"));
    }
}

/// Adds the Jacobian of a model without loops.
fn add_jacobian(equations: &mut Equations<'_>, source: &mut Source<'_>, subject: &Subject<'_>, arguments: &str) {
    let entries = source.jacobian();
    let is_dense = source.is_dense();
    let result = |(at, (row, column, value)): (usize, &(usize, usize, ExprId))| match is_dense {
        true => (format!("jacobian[{row}][{column}]"), *value, String::new()),
        false => (format!("jacobian[{at}]"), *value, format!("[{row}][{column}]")),
    };
    let results: Vec<super::source::Result> = entries.iter().enumerate().map(result).collect();
    if results.is_empty() {
        return;
    }
    let (what, kind) = match is_dense {
        true => (
            "`jacobian[row][column]` is the derivative of `dx[row]` with respect to `x[column]`.",
            "[[T; STATES]; STATES]".to_string(),
        ),
        false => (
            "Nonzero derivatives of `dx` with respect to `x`, row by row.",
            format!("[T; {}]", entries.len()),
        ),
    };
    let method = Method {
        what,
        name: "jacobian",
        out: "jacobian",
        kind: &kind,
        first: match is_dense && results.len() < subject.states.len().pow(2) {
            true => "        *jacobian = [[T::c(0.0); STATES]; STATES];\n",
            false => "",
        },
    };
    source.at_point(method, &[], &results);
    let body = match is_dense {
        true => format!(
            "let mut all = [[T::c(0.0); STATES]; STATES];\n        self.model.jacobian({arguments}, &mut all);\n        \
             for (row, entries) in all.iter().enumerate() {{\n            for (entry, column) in Self::patterns().jacobian.row(row) \
             {{\n                out[entry] = entries[column];\n            }}\n        }}"
        ),
        false => format!("self.model.jacobian({arguments}, out);"),
    };
    equations.point_method("jacobian", "[T; JACOBIAN_ENTRIES]", &body);
}
