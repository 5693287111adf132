//! The plot of docs/scale.svg: time and memory of `equations` by size, both axes logarithmic.

use crate::report::{families, of};
use crate::{Command, Point};
use std::fmt::Write;

/// Colours that colour-blind readers can distinguish (Okabe and Ito), and one more.
const COLOURS: [&str; 9] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f7f7f", "#e69f00", "#a0522d", "#56b4e9", "#000000",
];

/// Dash patterns of the lines: with three markers, they distinguish nine curves without colour.
const DASHES: [&str; 3] = ["", "7 3", "2 2.5"];

/// The line attributes of a curve.
fn line(index: usize) -> String {
    let colour = COLOURS[index % COLOURS.len()];
    match DASHES[index / 3 % DASHES.len()] {
        "" => format!("stroke=\"{colour}\""),
        dashes => format!("stroke=\"{colour}\" stroke-dasharray=\"{dashes}\""),
    }
}

/// The marker of a curve: circle, square or triangle.
fn marker(index: usize, x: f64, y: f64) -> String {
    let colour = COLOURS[index % COLOURS.len()];
    match index % 3 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"),
        1 => format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\" fill=\"{colour}\"/>",
            x - 3.0,
            y - 3.0
        ),
        _ => format!(
            "<path d=\"M{:.1} {:.1}h8l-4 -7z\" fill=\"{colour}\"/>",
            x - 4.0,
            y + 3.0
        ),
    }
}

/// The whole picture, in pixels.
const SIZE: (f64, f64) = (960.0, 470.0);

/// A panel: its position and the decades of its axes.
struct Panel {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    decades: ((i32, i32), (i32, i32)),
}

impl Panel {
    fn x(&self, value: f64) -> f64 {
        let (low, high) = self.decades.0;
        self.left + self.width * (value.log10() - f64::from(low)) / f64::from(high - low)
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = self.decades.1;
        self.top + self.height * (1.0 - (value.log10() - f64::from(low)) / f64::from(high - low))
    }
}

/// The complete SVG.
pub fn svg(points: &[Point]) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n\
         <rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        SIZE.0, SIZE.1
    );
    let seconds: &dyn Fn(&Point) -> f64 = &|point| point.seconds().0;
    let megabytes: &dyn Fn(&Point) -> f64 = &|point| point.peak() / 1e6;
    let time = Panel {
        left: 60.0,
        top: 40.0,
        width: 390.0,
        height: 310.0,
        decades: ((2, 6), decades(points, seconds)),
    };
    let memory = Panel {
        left: 530.0,
        decades: ((2, 6), decades(points, megabytes)),
        ..time
    };
    panel(&mut out, &time, "processor time of equations, s", points, seconds);
    panel(&mut out, &memory, "peak memory of equations, MB", points, megabytes);
    for (index, family) in families(points).into_iter().enumerate() {
        let (column, row) = (index % 3, index / 3);
        let (x, y) = (60.0 + 300.0 * column as f64, 405.0 + 20.0 * row as f64);
        writeln!(
            out,
            "<line x1=\"{x}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" {} stroke-width=\"2\"/>{}<text x=\"{}\" y=\"{}\">{} {}</text>",
            x + 24.0,
            line(index),
            marker(index, x + 12.0, y),
            x + 30.0,
            y + 4.0,
            family.key,
            family.name
        )
        .expect("a string takes all that is written");
    }
    out.push_str("</svg>\n");
    out
}

/// The decades that contain all values.
fn decades(points: &[Point], value: &dyn Fn(&Point) -> f64) -> (i32, i32) {
    let values = points
        .iter()
        .filter(|point| point.command == Command::Equations)
        .map(value);
    let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let low = low.max(1e-6).log10().floor() as i32;
    (low, (high.max(1e-6).log10().ceil() as i32).max(low + 1))
}

fn panel(out: &mut String, panel: &Panel, title: &str, points: &[Point], value: &dyn Fn(&Point) -> f64) {
    let (right, bottom) = (panel.left + panel.width, panel.top + panel.height);
    let mut add = |text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    add(format!(
        "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{title}</text>",
        panel.left,
        panel.top - 14.0
    ));
    let ((x_low, x_high), (y_low, y_high)) = panel.decades;
    for decade in x_low..=x_high {
        let x = panel.x(10f64.powi(decade));
        add(format!(
            "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#dddddd\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">10<tspan dy=\"-5\" font-size=\"9\">{decade}</tspan></text>",
            panel.top,
            bottom + 18.0
        ));
    }
    for decade in y_low..=y_high {
        let y = panel.y(10f64.powi(decade));
        add(format!(
            "<line x1=\"{}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            panel.left,
            panel.left - 6.0,
            y + 4.0,
            10f64.powi(decade)
        ));
    }
    add(format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444444\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">N</text>",
        panel.left,
        panel.top,
        panel.width,
        panel.height,
        panel.left + panel.width / 2.0,
        bottom + 34.0
    ));
    for (index, family) in families(points).into_iter().enumerate() {
        let places: Vec<(f64, f64)> = of(points, family, Command::Equations)
            .into_iter()
            .map(|point| (panel.x(point.size as f64), panel.y(value(point))))
            .collect();
        let list: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        add(format!(
            "<polyline points=\"{}\" fill=\"none\" {} stroke-width=\"1.6\"/>",
            list.join(" "),
            line(index)
        ));
        for (x, y) in places {
            add(marker(index, x, y));
        }
    }
}
