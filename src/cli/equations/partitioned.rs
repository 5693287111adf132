//! `lgm equations --partition`

use super::arguments::{Arguments, Format};
use crate::Whole;
use crate::cli::analysis::shared::write_json;
use crate::cli::files::disk::write_result;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::table::Table;
use lgm_algebra::expr::{ExprId, text};
use lgm_analysis::{JunctionStructure, Partition, block, junction_structure, numeric_form, partition};
use lgm_emit::significant;
use lgm_equations::Options;
use lgm_equations::bond::lower;
use lgm_model::system::{LinearForm, SparseMatrix};
use lgm_session::analysis::modes::formulated;
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::io::{self, Write};

/// A block of a matrix: its name and its printed entries.
struct PrintedBlock {
    name: String,
    rows: Vec<Vec<Value>>,
}

impl PrintedBlock {
    fn is_zero(&self) -> bool {
        let is_zero = |value: &Value| *value == json!("0") || value.as_f64() == Some(0.0);
        self.rows.iter().flatten().all(is_zero)
    }
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let wanted = Options {
        symbolic: !arguments.numeric,
        linear_outputs: !arguments.linearize.is_asked_for(),
        ..Options::default()
    };
    let states = arguments.states.or_energy();
    let (map, whole, mut diagnostics) = arguments.model.between_events().compile_whole(
        SourceMap::default(),
        &states,
        &arguments.linearize,
        wanted,
        Vec::new(),
    );
    if matches!(arguments.format, Format::Latex | Format::Html) {
        let fault = Diagnostic::error(
            Code::LGM0715,
            "partitioned equations are available as text or JSON only",
        );
        diagnostics.push(fault.help("use `--format text` or `--format json`"));
    }
    let found = whole
        .filter(|_| report::outcome(&diagnostics) == Outcome::Success)
        .and_then(|whole| {
            let kinds = partition(&whole.model, &whole.system);
            let found = blocks(arguments, &whole, &kinds);
            let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
            let junctions = (!arguments.linearize.is_asked_for())
                .then(|| junctions(arguments, &whole))
                .flatten();
            Some((whole, kinds, found, junctions))
        });
    report::print(&map, &diagnostics);
    let outcome = report::outcome(&diagnostics);
    let (Some((whole, kinds, found, junctions)), Outcome::Success) = (found, outcome) else {
        return outcome;
    };
    let written = write_result(arguments.output.as_deref(), &mut |out| match arguments.format {
        Format::Json => write_json(&as_json(&whole, &kinds, &found, junctions.as_ref()), out),
        _ => {
            write_text(&whole, &kinds, &found, out)?;
            junctions
                .as_ref()
                .map_or(Ok(()), |junctions| write_junctions(junctions, out))
        }
    });
    report::after_writing(&map, written)
}

/// Returns all blocks: for the derivatives of each kind of state, and for the outputs.
fn blocks(arguments: &Arguments, whole: &Whole, kinds: &Partition) -> Result<Vec<PrintedBlock>, Box<Diagnostic>> {
    let system = &whole.system;
    let numeric = numeric_form(system, "form in parts")?;
    let symbol = |value: &ExprId| json!(text(&system.exprs, *value));
    Ok(match system.matrices.symbolic.as_ref().filter(|_| !arguments.numeric) {
        Some(form) => of_form(form, kinds, system.outputs.len(), &symbol, &json!("0")),
        None => of_form(numeric, kinds, system.outputs.len(), &|value| json!(value), &json!(0.0)),
    })
}

/// S, with the variables that the fields give and receive.
struct Junctions {
    block: PrintedBlock,
    /// The names of the given and the received variables of storage, dissipators and sources.
    given: [Vec<String>; 3],
    received: [Vec<String>; 3],
}

/// Returns the junction structure; none if storage depends on other storage, or if a source is controlled.
fn junctions(arguments: &Arguments, whole: &Whole) -> Option<Junctions> {
    let JunctionStructure { model, counts } = junction_structure(&whole.model)?;
    let options = Options {
        symbolic: true,
        ..Options::default()
    };
    let graph = lower(&model);
    let (_, system) = formulated(model, &graph, &options, None, &mut Vec::new())?;
    let count = counts.iter().sum();
    let symbol = |value: &ExprId| json!(text(&system.exprs, *value));
    let rows = match (&system.matrices.symbolic, &system.matrices.numeric) {
        (Some(form), _) if !arguments.numeric => printed(&form.d, count, &symbol, &json!("0")),
        (_, form) => printed(&form.as_ref()?.d, count, &|value| json!(value), &json!(0.0)),
    };
    let split = |names: Vec<String>| {
        let (first, rest) = names.split_at(counts[0]);
        let (second, third) = rest.split_at(counts[1]);
        [first, second, third].map(<[String]>::to_vec)
    };
    Some(Junctions {
        block: PrintedBlock {
            name: "S".to_string(),
            rows,
        },
        given: split(system.inputs.iter().map(|input| input.name.to_string()).collect()),
        received: split(system.outputs.iter().map(|output| output.name.to_string()).collect()),
    })
}

/// Returns a square matrix with printed entries.
fn printed<T: Clone>(
    matrix: &SparseMatrix<T>,
    count: usize,
    shown: &dyn Fn(&T) -> Value,
    zero: &Value,
) -> Vec<Vec<Value>> {
    let all: Vec<usize> = (0..count).collect();
    let entry = |entry: Option<T>| entry.as_ref().map_or(zero.clone(), shown);
    let rows = block(matrix, &all, &all).into_iter();
    rows.map(|row| row.into_iter().map(entry).collect()).collect()
}

fn of_form<T: Clone>(
    form: &LinearForm<T>,
    kinds: &Partition,
    outputs: usize,
    shown: &dyn Fn(&T) -> Value,
    zero: &Value,
) -> Vec<PrintedBlock> {
    let mut found = Vec::new();
    let mut add = |name: String, matrix: &SparseMatrix<T>, rows: &[usize], columns: &[usize]| {
        let entries = block(matrix, rows, columns).into_iter().map(|row| {
            let entry = |entry: Option<T>| entry.as_ref().map_or(zero.clone(), shown);
            row.into_iter().map(entry).collect()
        });
        let rows = entries.collect();
        found.push(PrintedBlock { name, rows });
    };
    for (row, rows) in kinds.states() {
        for (column, columns) in kinds.states() {
            add(format!("A_{row}{column}"), &form.a, rows, columns);
        }
        for (letter, matrix) in [("B", &form.b), ("E", &form.e)] {
            for (column, columns) in kinds.inputs() {
                add(format!("{letter}_{row}{column}"), matrix, rows, columns);
            }
        }
    }
    let all: Vec<usize> = (0..outputs).collect();
    for (column, columns) in kinds.states() {
        add(format!("C_{column}"), &form.c, &all, columns);
    }
    for (letter, matrix) in [("D", &form.d), ("F", &form.f)] {
        for (column, columns) in kinds.inputs() {
            add(format!("{letter}_{column}"), matrix, &all, columns);
        }
    }
    found
}

/// Returns the letters of the kinds with the names of their members.
fn names(whole: &Whole, kinds: &Partition) -> Vec<(&'static str, Vec<String>)> {
    let system = &whole.system;
    let states = kinds.states().into_iter().map(|(letter, list)| {
        let names = list.iter().map(|at| system.states[*at].name.to_string());
        (letter, names.collect())
    });
    let inputs = kinds.inputs().into_iter().map(|(letter, list)| {
        let names = list.iter().map(|at| system.inputs[*at].name.to_string());
        (letter, names.collect())
    });
    states.chain(inputs).collect()
}

fn as_json(whole: &Whole, kinds: &Partition, found: &[PrintedBlock], junctions: Option<&Junctions>) -> Value {
    let mut value = json!({"schema": "lgm-partition/1", "model": &*whole.system.model});
    for (letter, list) in names(whole, kinds) {
        value[letter] = json!(list);
    }
    let outputs = whole.system.outputs.iter().map(|output| &*output.name);
    value["outputs"] = outputs.collect();
    for block in found {
        value[&block.name] = json!(block.rows);
    }
    if let Some(junctions) = junctions {
        value[&junctions.block.name] = json!(junctions.block.rows);
        for (names, list) in [(GIVEN, &junctions.given), (RECEIVED, &junctions.received)] {
            for (name, list) in names.iter().zip(list) {
                value[*name] = json!(list);
            }
        }
    }
    value
}

/// The vectors that the junction structure relates: those that storage, dissipators and sources give, and those that they receive.
const GIVEN: [&str; 3] = ["z", "d_out", "u"];
const RECEIVED: [&str; 3] = ["x'", "d_in", "v"];

fn write_junctions(junctions: &Junctions, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "({}) = S*({})", RECEIVED.join(", "), GIVEN.join(", "))?;
    for (names, list) in [(RECEIVED, &junctions.received), (GIVEN, &junctions.given)] {
        for (name, list) in names.iter().zip(list).filter(|entry| !entry.1.is_empty()) {
            writeln!(out, "{name}: {}", list.join(", "))?;
        }
    }
    write_block(&junctions.block, out)
}

/// Prints a matrix under its name.
fn write_block(block: &PrintedBlock, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} =", block.name)?;
    let mut table = Table::new(&vec![4; block.rows.first().map_or(0, Vec::len)]);
    for row in &block.rows {
        table.row(row.iter().map(|value| match value {
            Value::String(text) => text.clone(),
            value => significant(value.as_f64().unwrap_or(f64::NAN), 6),
        }));
    }
    table.write(out)
}

fn write_text(whole: &Whole, kinds: &Partition, found: &[PrintedBlock], out: &mut dyn Write) -> io::Result<()> {
    let shown: Vec<&PrintedBlock> = found.iter().filter(|block| !block.is_zero()).collect();
    let is_shown = |name: &str| shown.iter().any(|block| block.name == *name);
    let side = |parts: Vec<(String, String)>| {
        let terms = parts.into_iter().filter(|part| is_shown(&part.0));
        let terms: Vec<String> = terms.map(|(matrix, vector)| format!("{matrix}*{vector}")).collect();
        if terms.is_empty() {
            "0".to_string()
        } else {
            terms.join(" + ")
        }
    };
    for (row, _) in kinds.states() {
        let mut parts: Vec<(String, String)> = Vec::new();
        for (column, _) in kinds.states() {
            parts.push((format!("A_{row}{column}"), column.to_string()));
        }
        for (column, _) in kinds.inputs() {
            parts.push((format!("B_{row}{column}"), column.to_string()));
            parts.push((format!("E_{row}{column}"), format!("{column}'")));
        }
        writeln!(out, "{row}' = {}", side(parts))?;
    }
    let mut parts: Vec<(String, String)> = Vec::new();
    for (column, _) in kinds.states() {
        parts.push((format!("C_{column}"), column.to_string()));
    }
    for (column, _) in kinds.inputs() {
        parts.push((format!("D_{column}"), column.to_string()));
        parts.push((format!("F_{column}"), format!("{column}'")));
    }
    writeln!(out, "y = {}", side(parts))?;
    for (letter, list) in names(whole, kinds) {
        writeln!(out, "{letter}: {}", list.join(", "))?;
    }
    let outputs: Vec<&str> = whole.system.outputs.iter().map(|output| &*output.name).collect();
    writeln!(out, "y: {}", outputs.join(", "))?;
    let zero: Vec<String> = found
        .iter()
        .filter(|block| block.is_zero() && !block.rows.is_empty())
        .map(|block| {
            format!(
                "{} ({} by {})",
                block.name,
                block.rows.len(),
                block.rows.first().map_or(0, Vec::len)
            )
        })
        .collect();
    if !zero.is_empty() {
        writeln!(out, "zero: {}", zero.join(", "))?;
    }
    shown.into_iter().try_for_each(|block| write_block(block, out))
}
