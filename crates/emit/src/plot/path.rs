//! One variable plotted against another over time.

use super::frame::{Frame, Points};
use super::ticks::of_values;
use super::{drawn, escaped, short};
use std::io::{self, Write};

/// A path in the plane of two variables.
#[derive(Clone, Debug)]
pub struct PathFigure {
    /// The title above the figure.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x: (String, Option<String>),
    /// Name and unit of the vertical axis.
    pub y: (String, Option<String>),
    /// Points in order of time; NaN is a gap.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 62.0;

/// Returns the path as an SVG file, with a ring at the beginning and a dot at the end.
pub fn path_svg(figure: &PathFigure) -> String {
    drawn(|out| write(figure, out))
}

fn write(figure: &PathFigure, out: &mut Vec<u8>) -> io::Result<()> {
    let finite = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
    let inside: Vec<(f64, f64)> = figure.points.iter().copied().filter(finite).collect();
    let range = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let values = inside.iter().map(of);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let (x, y) = (range(&|point| point.0), range(&|point| point.1));
    let unit = |unit: &Option<String>| unit.clone().filter(|unit| !unit.is_empty());
    let (x_unit, y_unit) = (unit(&figure.x.1), unit(&figure.y.1));
    let frame = Frame {
        left: LEFT,
        top: TOP,
        width: WIDTH - LEFT - RIGHT,
        height: HEIGHT - TOP - BOTTOM,
        x: of_values(x.0, x.1, 7, x_unit.as_deref()),
        y: of_values(y.0, y.1, 7, y_unit.as_deref()),
        is_log: false,
    };
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" \
         font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\" font-size=\"12\">",
        short(WIDTH, 0),
        short(HEIGHT, 0)
    )?;
    writeln!(out, "<title>{}</title>", escaped(&figure.title))?;
    writeln!(
        out,
        "<desc>{} against {}</desc>",
        escaped(&figure.y.0),
        escaped(&figure.x.0)
    )?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")?;
    writeln!(
        out,
        "<text x=\"{}\" y=\"26\" font-size=\"15\" font-weight=\"bold\" fill=\"#222222\">{}</text>",
        short(LEFT, 1),
        escaped(&figure.title)
    )?;
    frame.axes(&figure.x.0, &figure.y.0, out)?;
    frame.clip("path", out)?;
    let points: Points = figure
        .points
        .iter()
        .map(|point| finite(point).then_some(*point))
        .collect();
    frame.curve(0, &points, "path", out)?;
    for (point, fill) in [(inside.first(), "#ffffff"), (inside.last(), "#0072b2")] {
        let Some(point) = point else { continue };
        writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{fill}\" stroke=\"#0072b2\" stroke-width=\"1.5\"/>",
            short(frame.x(point.0), 1),
            short(frame.y(point.1), 1)
        )?;
    }
    writeln!(out, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_a_whole_path() {
        let points = (0..=100).map(|k| (f64::from(k) * 0.0628).sin_cos()).collect();
        let text = path_svg(&PathFigure {
            title: "Circle".to_string(),
            x: ("x".to_string(), Some("m".to_string())),
            y: ("v".to_string(), Some("m/s".to_string())),
            points,
        });
        assert!(text.contains("x [m]") && text.contains("v [m/s]") && text.ends_with("</svg>\n"));
        assert!(!text.contains("NaN") && !text.contains("inf"));
        let empty = path_svg(&PathFigure {
            title: String::new(),
            x: ("x".to_string(), None),
            y: ("v".to_string(), None),
            points: Vec::new(),
        });
        assert!(!empty.contains("NaN") && !empty.contains("inf"), "{empty}");
    }
}
