//! The names of the functions and measures of the language.

use lgm_algebra::expr::Function;

/// The variables of a port.
pub const PORT_VARIABLES: &[&str] = &["across", "through", "effort", "flow"];

/// Measures of the graph.
pub const MEASURES: &[&str] = &[
    "across",
    "through",
    "effort",
    "flow",
    "power",
    "energy",
    "displacement",
    "velocity",
    "force",
    "shear",
    "moment",
];

/// Measures with the arguments modal block and position.
pub const MODAL_MEASURES: &[&str] = &["displacement", "velocity", "force", "shear", "moment"];

/// Functions that create or transform matrices.
pub(crate) const MATRIX_FUNCTIONS: &[&str] = &["transpose", "diag", "identity"];

/// Functions of an expression over a range.
pub(crate) const RANGED: &[&str] = &["sum", "list", "root"];

/// A table lookup, in an argument and in the body of a block.
pub(crate) const TABLE: &str = "table";

/// A file, in a table and as the signal of an input.
pub(crate) const CSV: &str = "csv";

/// The functions that are written in terms of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expansion {
    Mod,
    Log10,
    Round,
    Square,
    Sawtooth,
    Trapezoid,
    Pulse,
}

/// A function that is written in terms of others, with its numbers of arguments and an example of them.
pub(crate) struct ExpandedFunction {
    pub name: &'static str,
    pub kind: Expansion,
    pub least: usize,
    pub most: usize,
    pub example: &'static str,
}

const fn expanded(
    name: &'static str,
    kind: Expansion,
    (least, most): (usize, usize),
    example: &'static str,
) -> ExpandedFunction {
    ExpandedFunction {
        name,
        kind,
        least,
        most,
        example,
    }
}

/// All expanded functions.
pub(crate) const EXPANDED: [ExpandedFunction; 7] = [
    expanded("mod", Expansion::Mod, (2, 2), "x, 1"),
    expanded("log10", Expansion::Log10, (1, 1), "x"),
    expanded("round", Expansion::Round, (1, 1), "x"),
    expanded("square", Expansion::Square, (1, 2), "period"),
    expanded("sawtooth", Expansion::Sawtooth, (1, 1), "period"),
    expanded("trapezoid", Expansion::Trapezoid, (4, 4), "rise, width, fall, period"),
    expanded("pulse", Expansion::Pulse, (3, 3), "t0, width, period"),
];

/// Returns the names of the expanded functions that no other function has.
fn expanded_names() -> impl Iterator<Item = &'static str> {
    let names = EXPANDED.iter().map(|entry| entry.name);
    names.filter(|name| Function::named(name).is_none())
}

/// The value of a signal some time earlier.
pub(crate) const DELAY: &str = "delay";

/// The value just before an event.
pub(crate) const BEFORE: &str = "before";

/// Returns true if a word is a function or a measure of the language.
pub(crate) fn is_function(name: &str) -> bool {
    name == BEFORE
        || name == DELAY
        || MEASURES.contains(&name)
        || MATRIX_FUNCTIONS.contains(&name)
        || Function::named(name).is_some()
        || RANGED.contains(&name)
        || expanded_names().any(|expanded| expanded == name)
}

/// Returns the names of all functions, for suggestions.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    let functions = Function::ALL.iter().map(|facts| facts.name);
    functions
        .chain(MEASURES.iter().copied())
        .chain(MATRIX_FUNCTIONS.iter().copied())
        .chain(RANGED.iter().copied())
        .chain(expanded_names())
        .chain([BEFORE, DELAY])
}

/// Returns the signature of a function or a measurement.
pub(crate) fn call_example(name: &str) -> String {
    let arguments = match name {
        "across" | "through" | "power" | "energy" => "spring",
        "effort" | "flow" => "J -> R1",
        "atan2" => "y, x",
        "min" | "max" => "a, b",
        "pulse" => "t0, width",
        "step" | "ramp" => "t0",
        "transpose" | "diag" => "v",
        "identity" => "n",
        "sum" | "list" => "i in 1:3, i",
        "root" => "z in 0:1, z",
        DELAY => "x, 0.1 [s]",
        _ => EXPANDED
            .iter()
            .find(|entry| entry.name == name)
            .map_or("x", |entry| entry.example),
    };
    format!("{name}({arguments})")
}
