//! `lgm check`

use super::files::disk::write_result;
use super::report;
use super::request::ModelArguments;
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_compilation::stretched::Stretched;
use lgm_model::counts::{Count, Counts};
use lgm_model::system::StateSystem;
use lgm_session::check_request;
use lgm_session::diagnostics::as_json;
use lgm_source::SourceMap;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Checks a model and reports errors and warnings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lgm check --verify examples/oscillator.lgm")]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArguments,
    /// Also compare the equations with the laws of the graph and the power balance at random values
    #[arg(long)]
    verify: bool,
    /// Also print the numbers of branches, nodes, elements and equations (as scalars, as vectors, and as written), and
    /// of states and dependent storage elements after reduction
    #[arg(long)]
    stats: bool,
    /// The output format: `text` goes to standard error, `json` to standard output
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let compilation = arguments.model.compilation(SourceMap::default(), |settings, _| {
        check_request(settings, arguments.model.chooses_no_model(), arguments.verify)
    });
    let (map, diagnostics, stats, checked) = match &compilation {
        Err((map, diagnostics)) => (map, diagnostics.clone(), None, String::new()),
        Ok(compilation) => {
            let stretched = Stretched::of(compilation, Stretched::WORTHWHILE);
            let stretched = stretched.and_then(|stretched| stretched_stats(&stretched));
            let diagnostics = match &stretched {
                Some(_) => compilation.diagnostics_of_others(),
                None => compilation.diagnostics(),
            };
            let wanted = arguments.stats && report::outcome(&diagnostics) == Outcome::Success;
            let stats = || match stretched {
                Some(stats) => Some(stats),
                None => {
                    let model = compilation.model()?;
                    Some((model.heading.counts, compilation.system().map(reduced)))
                }
            };
            let checked = match (&stretched, diagnostics.is_empty()) {
                (None, true) => compilation.system().map_or(String::new(), checked),
                _ => String::new(),
            };
            (compilation.map(), diagnostics, wanted.then(stats).flatten(), checked)
        }
    };
    let outcome = report::outcome(&diagnostics);
    match arguments.format {
        Format::Text if diagnostics.is_empty() => report::say_without_faults(&checked),
        Format::Text => report::print_in_full(map, &diagnostics),
        Format::Json => {
            let mut value = as_json(map, &diagnostics);
            if let Some((counts, reduced)) = &stats {
                value["stats"] = stats_json(counts, reduced);
            }
            let written = write_result(None, &mut |out| {
                serde_json::to_writer_pretty(&mut *out, &value)?;
                out.write_all(b"\n")
            });
            let writing = report::after_writing(map, written);
            if writing != Outcome::Success {
                return writing;
            }
        }
    }
    if let (Format::Text, Some((counts, reduced))) = (arguments.format, &stats) {
        let written = write_result(None, &mut |out| write_counts(counts, reduced, out));
        return report::after_writing(map, written);
    }
    outcome
}

/// The equations after reduction.
#[derive(Clone, Copy, Debug)]
struct Reduced {
    states: usize,
    dependent: usize,
    loops: usize,
    outputs: usize,
}

/// Counts states, dependent storage, algebraic loops and outputs.
fn reduced(system: &StateSystem) -> Reduced {
    Reduced {
        states: system.states.len(),
        dependent: system.dependent.len(),
        loops: system.equations.loops.len(),
        outputs: system.outputs.len(),
    }
}

/// Returns the size of a model of many sections, and the size of its equations.
fn stretched_stats(stretched: &Stretched) -> Option<(Counts, Option<Reduced>)> {
    let one =
        |pick: fn(&Reduced) -> usize| stretched.at(|each| each.system().map_or(0, |system| pick(&reduced(system))));
    let reduced = Reduced {
        states: one(|left| left.states)?,
        dependent: one(|left| left.dependent)?,
        loops: one(|left| left.loops)?,
        outputs: one(|left| left.outputs)?,
    };
    Some((stretched.counts()?, Some(reduced)))
}

/// Returns the size of a model without faults: ": `Oscillator` has 2 states, 1 input and 3 outputs".
fn checked(system: &StateSystem) -> String {
    let counts = [
        (system.states.len(), "state"),
        (system.inputs.len(), "input"),
        (system.outputs.len(), "output"),
    ];
    let [states, inputs, outputs] = counts.map(|(count, word)| plural(count, word));
    let dependent = match system.dependent.len() {
        0 => String::new(),
        count => format!(", {} without a state of its own", plural(count, "storage element")),
    };
    let loops = match system.equations.loops.len() {
        0 => String::new(),
        count => format!(", {}", plural(count, "algebraic loop")),
    };
    format!(
        ": `{}` has {states}, {inputs}, {outputs}{dependent}{loops}",
        system.model
    )
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn stats_json(counts: &Counts, reduced: &Option<Reduced>) -> Value {
    let of = |count: &Count| {
        json!({
            "branches": count.branches, "nodes": count.nodes, "elements": count.elements,
            "constitutive": count.constitutive, "loop": count.loops(), "node": count.cuts(), "total": count.equations(),
        })
    };
    let reduced = reduced.map(|left| {
        json!({"states": left.states, "dependent": left.dependent, "loops": left.loops, "outputs": left.outputs})
    });
    json!({
        "scalar": of(&counts.scalar), "vector": of(&counts.vector), "as_written": of(&counts.written),
        "reduced": reduced,
    })
}

fn write_counts(counts: &Counts, reduced: &Option<Reduced>, out: &mut dyn Write) -> io::Result<()> {
    let titles = ["branches", "nodes", "elements", "constitutive", "loop", "node", "total"];
    let rows = [
        ("scalar", counts.scalar),
        ("vector", counts.vector),
        ("as written", counts.written),
    ]
    .map(|(name, count)| {
        let Count {
            branches,
            nodes,
            elements,
            constitutive,
        } = count;
        let numbers = [
            branches,
            nodes,
            elements,
            constitutive,
            count.loops(),
            count.cuts(),
            count.equations(),
        ];
        (name, numbers.map(|number| number.to_string()))
    });
    let width = |at: usize| {
        let longest = rows.iter().map(|(_, numbers)| numbers[at].len() + 1).max();
        longest.unwrap_or(0).max([9, 7, 10, 14, 7, 7, 7][at])
    };
    let mut line = |name: &str, cells: [&str; 7]| {
        write!(out, "{name:<12}")?;
        for (at, cell) in cells.iter().enumerate() {
            write!(out, "{cell:>0$}", width(at))?;
        }
        writeln!(out)
    };
    line("", titles)?;
    for (name, numbers) in &rows {
        line(name, numbers.each_ref().map(|number| number.as_str()))?;
    }
    if let Some(left) = reduced {
        writeln!(
            out,
            "after reduction: {}, {}, {}; {}",
            plural(left.states, "state equation"),
            plural(left.outputs, "output equation"),
            plural(left.loops, "algebraic loop"),
            plural(left.dependent, "dependent storage element"),
        )?;
    }
    Ok(())
}
