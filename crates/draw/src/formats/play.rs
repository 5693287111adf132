//! The assignment of causality as a page: the bond graph on which the strokes appear one after another, each with its cause. The page works
//! offline.

use super::svg::{escaped, svg};
use crate::drawing::Drawing;
use lgm_explain::CausalityReport;
use serde_json::{Value, json};

/// Returns the steps of the assignment: `{"steps": [{"bond": .., "because": .., "edges": [..]}], "open": [..]}`. Edges are numbered in the
/// order of the groups of class `half` in the picture. `open` lists the bonds without a stroke.
pub fn steps(drawing: &Drawing, report: &CausalityReport) -> Value {
    // The entries of a vector are one line of the drawing.
    let edges = |bonds: &[usize]| -> Vec<usize> {
        let of = drawing.edges.iter().enumerate();
        let found = of.filter(|(_, edge)| edge.bonds.iter().any(|bond| bonds.contains(bond)));
        found.map(|(at, _)| at).collect()
    };
    let steps = report.order.iter().map(|step| {
        json!({
            "bond": ends(report, step.bond),
            "because": format!("{}: {}", step.cause.word(), step.because),
            "edges": edges(&[step.bond]),
        })
    });
    let steps: Vec<_> = steps.collect();
    let open = report.open.iter().map(|group| {
        let between = group.between.join(", ");
        let because = match group.circulates {
            true => format!("Bonds between {between} have no stroke: nothing determines what circulates there."),
            false => format!("Bonds between {between} have no stroke: their loop is solved together."),
        };
        json!({"edges": edges(&group.bonds), "because": because})
    });
    let open: Vec<_> = open.collect();
    json!({"steps": steps, "open": open})
}

/// Writes the page of a drawn bond graph. Buttons, keys and a slider move through the steps, and `#step=3` in the address selects the
/// initial step.
pub fn play(drawing: &Drawing, report: &CausalityReport) -> String {
    // A text that closes a script tag would end this script.
    let data = steps(drawing, report).to_string().replace('<', "\\u003c");
    let named = |part: &str| part.replace("TITLE", &escaped(&drawing.model));
    // Split first, because inserted text may contain any word.
    let page = include_str!("play.html");
    match page
        .split_once("PICTURE")
        .and_then(|(before, rest)| Some((before, rest.split_once("STEPS")?)))
    {
        Some((before, (middle, behind))) => {
            format!("{}{}{}{data}{behind}", named(before), svg(drawing), named(middle))
        }
        None => svg(drawing),
    }
}

/// Returns a bond by its ends.
fn ends(report: &CausalityReport, bond: usize) -> String {
    use lgm_explain::causality::End;
    let name = |end: End| match end {
        End::Junction(at) => report.junctions[at].name.as_str(),
        End::Port(at) => report.ports[at].name.as_str(),
    };
    let bond = &report.bonds[bond];
    format!("{} \u{2192} {}", name(bond.tail), name(bond.head))
}
