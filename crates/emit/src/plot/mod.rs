//! Trajectories as figures: SVG for papers and READMEs, HTML for interactive inspection.
//!
//! Neighbouring curves differ in colour, dashes, marker and the name at the end, so that each curve is recognisable in
//! print and without colour vision. Curves with the same unit share a panel unless their magnitudes differ too much.

mod frame;
mod frequency;
mod html;
mod path;
mod svg;
mod ticks;
mod trace;

pub use frequency::{FrequencyCurve, FrequencyFigure, frequency_html, frequency_svg};
pub use html::html;
pub use path::{PathFigure, path_svg};
pub use svg::{profile_svg, svg};
pub use trace::Trace;

use std::io;

/// A named curve.
#[derive(Clone, Debug)]
pub struct Series {
    /// `v`
    pub name: String,
    /// The SI unit as text.
    pub unit: Option<String>,
    /// Points in order of time; NaN is a gap.
    pub points: Vec<(f64, f64)>,
}

/// A figure of curves over time.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The title above the figure.
    pub title: String,
    /// The first time, in seconds.
    pub from: f64,
    /// The last time, in seconds.
    pub to: f64,
    /// The curves in their order.
    pub series: Vec<Series>,
    /// Times of events, each with a description.
    pub events: Vec<(f64, String)>,
}

/// A figure of curves over a position: one curve for each instant, or for each mode.
#[derive(Clone, Debug)]
pub struct ProfileFigure {
    /// The title above the figure.
    pub title: String,
    /// Name and unit of the position.
    pub x: (String, Option<String>),
    /// The curves; a point is a position and a value.
    pub series: Vec<Series>,
}

/// Curves that share an axis.
#[derive(Clone, Debug)]
struct Panel<'a> {
    series: Vec<&'a Series>,
    lowest: f64,
    highest: f64,
}

/// Curves with the same unit get separate panels beyond this ratio of magnitudes.
const RATIO: f64 = 30.0;

impl Series {
    /// Returns the minimum and maximum; the minimum exceeds the maximum if there are no values.
    fn range(&self) -> (f64, f64) {
        let finite = self
            .points
            .iter()
            .map(|point| point.1)
            .filter(|value| value.is_finite());
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    }

    /// Returns the common label of the curves of a panel: the unit or, if it is unknown, the name without an index.
    fn kind(&self) -> &str {
        match &self.unit {
            Some(unit) => unit,
            None => self.name.split('[').next().unwrap_or(&self.name),
        }
    }
}

impl Panel<'_> {
    fn size(&self) -> f64 {
        self.lowest.abs().max(self.highest.abs())
    }
}

impl Figure {
    /// Groups the curves into panels, in the order of each panel's first curve.
    fn panels(&self) -> Vec<Panel<'_>> {
        let mut panels: Vec<Panel<'_>> = Vec::new();
        for series in &self.series {
            let (lowest, highest) = series.range();
            let size = lowest.abs().max(highest.abs());
            let fits = |panel: &&mut Panel<'_>| {
                let first = panel.series[0];
                let alike = first.kind() == series.kind() && first.unit.is_some() == series.unit.is_some();
                let other = panel.size();
                let near = size == 0.0
                    || other == 0.0
                    || !size.is_finite()
                    || !other.is_finite()
                    || (size / other).max(other / size) <= RATIO;
                alike && near
            };
            match panels.iter_mut().find(fits) {
                Some(panel) => {
                    panel.series.push(series);
                    panel.lowest = panel.lowest.min(lowest);
                    panel.highest = panel.highest.max(highest);
                }
                None => panels.push(Panel {
                    series: vec![series],
                    lowest,
                    highest,
                }),
            }
        }
        panels
    }
}

/// The styles of curves in order of assignment: a colour that colour-blind readers can distinguish from its neighbours
/// (from the palette of Okabe and Ito), and a dash pattern.
const STYLES: [(&str, &str); 8] = [
    ("#0072b2", ""),
    ("#d55e00", "7 3"),
    ("#009e73", "2 2.5"),
    ("#b0417a", "9 3 2 3"),
    ("#56a0d3", "12 4"),
    ("#7a5c00", "4 2"),
    ("#000000", "9 3 2 3 2 3"),
    ("#8a8a8a", "1.5 3.5"),
];

/// Escapes text for XML and HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}

/// Formats a plain number with a maximum number of decimals.
fn short(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = super::trim_zeros(&text);
    if text == "-0" {
        "0".to_string()
    } else {
        text.to_string()
    }
}

/// Writes a figure to memory, which cannot fail.
fn drawn(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("invariant: writing to memory does not fail");
    String::from_utf8(out).expect("invariant: pictures are written as text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, unit: Option<&str>, size: f64) -> Series {
        Series {
            name: name.to_string(),
            unit: unit.map(str::to_string),
            points: vec![(0.0, 0.0), (1.0, size)],
        }
    }

    #[test]
    fn curves_of_one_unit_and_size_share_a_panel() {
        let figure = Figure {
            title: String::new(),
            from: 0.0,
            to: 1.0,
            series: vec![
                series("a", Some("V"), 1.0),
                series("i", Some("A"), 1.0),
                series("b", Some("V"), 20.0),
                series("c", Some("V"), 1000.0),
                series("y[1]", None, 1.0),
                series("y[2]", None, 1.0),
                series("z", None, 1.0),
            ],
            events: Vec::new(),
        };
        let panels = figure.panels();
        let names: Vec<Vec<&str>> = panels
            .iter()
            .map(|panel| panel.series.iter().map(|series| &*series.name).collect())
            .collect();
        assert_eq!(
            names,
            [vec!["a", "b"], vec!["i"], vec!["c"], vec!["y[1]", "y[2]"], vec!["z"]]
        );
    }
}
