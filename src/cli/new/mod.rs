//! `lgm new`

use super::files::disk::{WriteFault, write_result};
use super::report;
use crate::cli::outcome::Outcome;
use clap::ValueEnum;
use lgm_source::SourceMap;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a small model as a starting point.
///
/// The model is complete: you can check and simulate it unchanged. An existing file is never overwritten.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lgm new filter --kind electrical        writes filter.lgm with the model `Filter`\n  \
    lgm new models/test_rig --kind rotational\n  lgm simulate filter.lgm --plot filter.svg"
)]
pub(super) struct Arguments {
    /// The file without its extension `.lgm`, in an existing folder; the model is named after it: `test_rig` becomes
    /// `TestRig`
    #[arg(value_name = "NAME", value_parser = name, required_unless_present = "list")]
    name: Option<Name>,
    /// The kind of system
    #[arg(long, value_enum, default_value_t = Kind::Translational)]
    kind: Kind,
    /// List the kinds with tab-separated descriptions, one per line, without writing a file
    #[arg(long, conflicts_with_all = ["name", "kind"])]
    list: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    /// A mass, a spring and a damper
    #[value(aliases = ["mechanical", "translation", "linear"])]
    Translational,
    /// A drive, a shaft that twists, a gear and a load
    #[value(aliases = ["rotation", "rotary"])]
    Rotational,
    /// A filter between a source and a load
    #[value(aliases = ["electric", "electronic", "circuit"])]
    Electrical,
    /// A pump, a pipe, a tank and a valve
    #[value(aliases = ["fluid", "hydraulics"])]
    Hydraulic,
    /// A heated room after a wall
    #[value(aliases = ["heat"])]
    Thermal,
    /// A motor as a bond graph
    #[value(aliases = ["bond", "bondgraph"])]
    BondGraph,
    /// A controller with an integral
    #[value(aliases = ["controller", "control-loop"])]
    Control,
    /// A pendulum with position-dependent geometry
    #[value(aliases = ["pendulum", "multibody"])]
    Mechanism,
    /// A beam by its modes
    #[value(aliases = ["modal", "beam"])]
    Distributed,
}

impl Kind {
    /// Returns the template model of this kind, named `Name`.
    fn text(self) -> &'static str {
        match self {
            Kind::Translational => include_str!("translational.lgm"),
            Kind::Rotational => include_str!("rotational.lgm"),
            Kind::Electrical => include_str!("electrical.lgm"),
            Kind::Hydraulic => include_str!("hydraulic.lgm"),
            Kind::Thermal => include_str!("thermal.lgm"),
            Kind::BondGraph => include_str!("bond-graph.lgm"),
            Kind::Control => include_str!("control.lgm"),
            Kind::Mechanism => include_str!("mechanism.lgm"),
            Kind::Distributed => include_str!("distributed.lgm"),
        }
    }
}

/// The parsed NAME.
#[derive(Clone, Debug)]
struct Name {
    file: PathBuf,
    model: String,
}

/// Parses NAME. Its last part consists of letters, digits and `_` or `-`, and begins with a letter.
fn name(text: &str) -> Result<Name, String> {
    let text = text.strip_suffix(".lgm").unwrap_or(text);
    let path = Path::new(text);
    let stem = path.file_name().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_whole = text.ends_with(stem) && stem.starts_with(|first: char| first.is_ascii_alphabetic());
    if !is_whole || !stem.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it)) {
        return Err("a name starts with a letter and consists of letters, digits, `_` and `-`".to_string());
    }
    Ok(Name {
        file: path.with_file_name(format!("{stem}.lgm")),
        model: stem.split(['_', '-']).map(capitalized).collect(),
    })
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Lists the kinds, one per line: the name, a tab, and a description.
fn list() -> String {
    let known = Kind::value_variants().iter().filter_map(Kind::to_possible_value);
    known
        .map(|kind| format!("{}\t{}\n", kind.get_name(), kind.get_help().unwrap_or_default()))
        .collect()
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Outcome {
    let map = SourceMap::default();
    let Some(Name { file, model }) = &arguments.name else {
        return report::after_writing(
            &map,
            write_result(None, &mut |stream| stream.write_all(list().as_bytes())),
        );
    };
    if fs::symlink_metadata(file).is_ok() {
        let fault = Diagnostic::error(Code::LGM0928, format!("`{}` already exists", file.display()))
            .help("choose another name, or delete the file; `lgm new` never overwrites files");
        return report::after_writing(&map, Err(WriteFault::Failed(fault)));
    }
    let text = arguments
        .kind
        .text()
        .replacen("model Name {", &format!("model {model} {{"), 1);
    let outcome = report::after_writing(
        &map,
        write_result(Some(file), &mut |stream| stream.write_all(text.as_bytes())),
    );
    if outcome == Outcome::Success {
        let file = file.display();
        eprintln!(
            "created the model `{model}` in {file}; try `lgm equations {file}` and `lgm simulate {file} --plot \
             run.svg`"
        );
    }
    outcome
}
