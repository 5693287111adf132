//! The assignment of causality as a page: the bond graph, on which stroke after stroke appears with its cause. It needs no network.

use super::svg::{escaped, svg};
use crate::drawing::Drawing;
use lgm_explain::CausalityReport;
use serde_json::json;

/// The page of a drawn bond graph; buttons, keys and a slider lead through the steps, and `#step=3` in the address begins at one.
pub fn play(drawing: &Drawing, report: &CausalityReport) -> String {
    // Entries of a vector are one line of the drawing.
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
            false => format!("Bonds between {between} have no stroke: their loop is solved as a whole."),
        };
        json!({"edges": edges(&group.bonds), "because": because})
    });
    let open: Vec<_> = open.collect();
    // A text that ends a script would end this one.
    let data = json!({"steps": steps, "open": open})
        .to_string()
        .replace('<', "\\u003c");
    let named = |part: &str| part.replace("TITLE", &escaped(&drawing.model));
    // Taken apart first: what is put in may hold any word.
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

/// A bond by its ends.
fn ends(report: &CausalityReport, bond: usize) -> String {
    use lgm_explain::causality::End;
    let name = |end: End| match end {
        End::Junction(at) => report.junctions[at].name.as_str(),
        End::Port(at) => report.ports[at].name.as_str(),
    };
    let bond = &report.bonds[bond];
    format!("{} \u{2192} {}", name(bond.tail), name(bond.head))
}
