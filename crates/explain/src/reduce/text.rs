//! The reduction of storage fields as text.

use super::report::ReductionReport;
use std::fmt::Write;

/// The maximum number of paths of one element that are written out.
const SHOWN: usize = 8;

/// Formats the report: dependent storage with paths, gains and equivalent parameters, then conserved quantities.
pub fn text(report: &ReductionReport) -> String {
    let mut out = format!("{}\n", report.model);
    if report.dependent.is_empty() {
        out.push_str("\nno dependent storage: each storage element has a state of its own\n");
    } else {
        out.push_str("\ndependent storage\n");
    }
    for found in &report.dependent {
        let _ = writeln!(out, "  {}: {}", found.element, found.class.word());
        for path in found.paths.iter().take(SHOWN) {
            if !path.through.is_empty() {
                entry(&mut out, "path", &path.through.join(" "));
            }
            if let (Some(effort), Some(flow)) = (&path.effort_gain, &path.flow_gain) {
                entry(&mut out, "gains", &format!("effort {effort}, flow {flow}"));
            }
            path.equations.iter().for_each(|equation| entry(&mut out, "", equation));
        }
        if found.paths.len() > SHOWN {
            entry(&mut out, "", &format!("and {} more paths", found.paths.len() - SHOWN));
        }
        if !found.equivalent.is_empty() {
            let unit = found.unit.as_ref().map_or(String::new(), |unit| format!(" [{unit}]"));
            entry(&mut out, "equivalent", &format!("{}{unit}", found.equivalent));
        }
        entry(&mut out, "", &found.done);
    }
    if !report.knows_conserved {
        out.push_str("\nconserved quantities were not looked for\n");
    }
    if !report.conserved.is_empty() {
        out.push_str("\nconserved quantities\n");
    }
    for found in &report.conserved {
        let _ = writeln!(out, "  {} of {}", found.kind, found.of.join(", "));
        let rate = match found.driven_by.is_empty() {
            true => "constant",
            false => "driven",
        };
        entry(&mut out, rate, &found.quantity);
        if !found.equivalent.is_empty() {
            entry(&mut out, "equivalent", &found.equivalent);
        }
        entry(&mut out, "", &found.done);
    }
    out
}

fn entry(out: &mut String, word: &str, what: &str) {
    let _ = writeln!(out, "    {word:<12}{what}");
}
