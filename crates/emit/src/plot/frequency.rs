//! Frequency responses as figures: Bode, Nyquist and Nichols plots in one SVG, or in a page that contains the SVG.

use super::frame::{Frame, Points};
use super::ticks::{Axis, of_decades, of_values};
use super::{STYLES, drawn, escaped, short};
use num_complex::Complex;
use std::io::{self, Write};

/// The frequency response from one input to one output.
#[derive(Clone, Debug)]
pub struct FrequencyCurve {
    /// `u → y`
    pub name: String,
    /// H(jw), one value per frequency; non-finite ones are gaps.
    pub values: Vec<Complex<f64>>,
    /// The frequency in rad/s at which the phase crosses -180 degrees; the plots mark this point.
    pub phase_crossover: Option<f64>,
    /// The frequency at which the magnitude crosses 1.
    pub gain_crossover: Option<f64>,
    /// H(0), the reference for the -3 dB frequency.
    pub static_gain: Option<f64>,
}

/// Responses at the same frequencies.
#[derive(Clone, Debug)]
pub struct FrequencyFigure {
    /// The title above the plots.
    pub title: String,
    /// Angular frequencies in rad/s; plotted frequencies are positive and ascending.
    pub omega: Vec<f64>,
    /// The curves.
    pub curves: Vec<FrequencyCurve>,
}

/// Sizes in pixels.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 66.0;
const PANEL: f64 = 210.0;
const GAP: f64 = 20.0;
const SQUARE: f64 = 282.0;
/// The space below a panel for tick labels and the axis name.
const BELOW: f64 = 62.0;

/// The displayed range in decibels below the maximum; zeros of the response would extend the axis uselessly.
const DEPTH: f64 = 200.0;

/// Differences below this value in decibels or degrees are round-off.
const LEVEL: f64 = 1e-9;

/// Draws a marker at a point of a curve: a circle at -180 degrees, a square at magnitude 1, a triangle at -3 dB.
fn mark(frame: &Frame, sign: Sign, number: usize, (x, y): (f64, f64), out: &mut Vec<u8>) -> io::Result<()> {
    let (x, y) = (frame.x(x), frame.y(y));
    let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
    if !(frame.left..=right).contains(&x) || !(frame.top..=bottom).contains(&y) {
        return Ok(());
    }
    sign.draw(STYLES[number % STYLES.len()].0, x, y, out)
}

#[derive(Clone, Copy)]
enum Sign {
    PhaseCrossover,
    GainCrossover,
    Bandwidth,
}

impl Sign {
    fn draw(self, color: &str, x: f64, y: f64, out: &mut Vec<u8>) -> io::Result<()> {
        let path = match self {
            Sign::PhaseCrossover => {
                let (x, y) = (short(x, 1), short(y, 1));
                return writeln!(
                    out,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"#ffffff\" stroke=\"{color}\" stroke-width=\"1.5\"/>"
                );
            }
            Sign::GainCrossover => [(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)].to_vec(),
            Sign::Bandwidth => [(-4.2, 3.2), (4.2, 3.2), (0.0, -4.6)].to_vec(),
        };
        let corners = path
            .iter()
            .map(|(dx, dy)| format!("{} {}", short(x + dx, 1), short(y + dy, 1)));
        let corners: Vec<String> = corners.collect();
        writeln!(
            out,
            "<path d=\"M{}Z\" fill=\"#ffffff\" stroke=\"{color}\" stroke-width=\"1.5\"/>",
            corners.join("L")
        )
    }
}

fn decibels(value: Complex<f64>) -> f64 {
    20.0 * value.norm().log10()
}

/// Returns unwrapped phases in degrees; the first phase is within half a turn.
fn phases(values: &[Complex<f64>]) -> Vec<Option<f64>> {
    let mut last: Option<f64> = None;
    let mut found = Vec::with_capacity(values.len());
    for value in values {
        let size = value.norm();
        found.push((size.is_finite() && size > 0.0).then(|| {
            let mut phase = value.arg().to_degrees();
            if let Some(last) = last {
                phase += 360.0 * ((last - phase) / 360.0).round();
            }
            last = Some(phase);
            phase
        }));
    }
    found
}

/// Returns the frequency at which a curve first falls below a value, interpolated over the logarithm of the frequency.
fn first_below(omega: &[f64], values: &[Complex<f64>], level: f64) -> Option<f64> {
    let at = values
        .windows(2)
        .position(|pair| decibels(pair[0]) >= level && decibels(pair[1]) < level)?;
    let (above, below) = (decibels(values[at]), decibels(values[at + 1]));
    let share = (above - level) / (above - below);
    Some((omega[at].ln() + share * (omega[at + 1] / omega[at]).ln()).exp())
}

/// Returns the value at a frequency between the points: magnitude in decibels or phase in degrees.
fn between(omega: &[f64], magnitudes: &Points, wanted: f64) -> Option<f64> {
    let after = omega.partition_point(|value| *value <= wanted);
    let (a, b) = (after.checked_sub(1)?, after.min(omega.len() - 1));
    let (first, last) = ((*magnitudes.get(a)?)?, (*magnitudes.get(b)?)?);
    let share = if b > a {
        (wanted / omega[a]).ln() / (omega[b] / omega[a]).ln()
    } else {
        0.0
    };
    Some(first.1 + share * (last.1 - first.1))
}

/// Returns the minimum and maximum of the finite values.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
}

/// Returns the plots as an SVG file.
pub fn frequency_svg(figure: &FrequencyFigure) -> String {
    drawn(|out| write(figure, out))
}

/// Returns the plots as an offline page with embedded SVG.
pub fn frequency_html(figure: &FrequencyFigure) -> String {
    let title = escaped(&figure.title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{title}</title>\n\
         <style>body {{ margin: 0; background: #ffffff; }} svg {{ display: block; margin: 0 auto; max-width: 100%; height: auto; }}</style>\
         </head>\n<body>\n{}</body></html>\n",
        frequency_svg(figure)
    )
}

/// The curves of all plots.
struct Curves {
    magnitude: Vec<Points>,
    phase: Vec<Points>,
    nyquist: Vec<Points>,
    nichols: Vec<Points>,
}

fn curves(figure: &FrequencyFigure) -> Curves {
    let mut all = Curves {
        magnitude: Vec::new(),
        phase: Vec::new(),
        nyquist: Vec::new(),
        nichols: Vec::new(),
    };
    for curve in &figure.curves {
        let phases = phases(&curve.values);
        let magnitudes: Vec<Option<f64>> = curve
            .values
            .iter()
            .map(|value| Some(decibels(*value)).filter(|value| value.is_finite()))
            .collect();
        let over_omega = |list: &[Option<f64>]| -> Points {
            let pairs = figure.omega.iter().zip(list);
            pairs.map(|(omega, value)| value.map(|value| (*omega, value))).collect()
        };
        all.magnitude.push(over_omega(&magnitudes));
        all.phase.push(over_omega(&phases));
        let finite =
            |value: &Complex<f64>| (value.re.is_finite() && value.im.is_finite()).then_some((value.re, value.im));
        all.nyquist.push(curve.values.iter().map(finite).collect());
        let pairs = phases.iter().zip(&magnitudes);
        all.nichols.push(
            pairs
                .map(|(phase, magnitude)| Some(((*phase)?, (*magnitude)?)))
                .collect(),
        );
    }
    all
}

fn write(figure: &FrequencyFigure, out: &mut Vec<u8>) -> io::Result<()> {
    let all = curves(figure);
    let names = names(figure);
    let top = TOP + names.last().map_or(0.0, |last| last.1);
    let squares = top + 2.0 * PANEL + GAP + BELOW;
    let total = squares + SQUARE + BELOW + 10.0;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" \
         font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\" font-size=\"12\">",
        short(WIDTH, 0),
        short(total, 0)
    )?;
    writeln!(out, "<title>{}</title>", escaped(&figure.title))?;
    writeln!(
        out,
        "<desc>Bode, Nyquist and Nichols plots of the frequency response</desc>"
    )?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")?;
    writeln!(
        out,
        "<text x=\"{}\" y=\"24\" font-size=\"15\" font-weight=\"bold\" fill=\"#222222\">{}</text>",
        short(LEFT, 1),
        escaped(&figure.title)
    )?;
    legend(figure, &names, out)?;
    let omega = (
        figure.omega.first().copied().unwrap_or(1.0),
        figure.omega.last().copied().unwrap_or(10.0),
    );
    let width = WIDTH - LEFT - RIGHT;
    let panel = |top: f64, curves: &[Points], unit: &str, depth: f64| {
        let (low, high) = range(curves.iter().flatten().flatten().map(|point| point.1));
        Frame {
            left: LEFT,
            top,
            width,
            height: PANEL,
            x: of_decades(omega.0, omega.1, "rad/s"),
            y: of_levels(low.max(high - depth), high, 6, unit),
            is_log: true,
        }
    };
    let magnitude = panel(top, &all.magnitude, "dB", DEPTH);
    let phase = panel(top + PANEL + GAP, &all.phase, "deg", f64::INFINITY);
    let square = 0.5 * (WIDTH - 2.0 * LEFT - 2.0 * RIGHT);
    let (nyquist, nichols) = (
        nyquist_frame(&all.nyquist, squares, square),
        nichols_frame(&all.nichols, squares, square),
    );
    magnitude.axes("", "abs H", out)?;
    phase.axes("angular frequency", "arg H", out)?;
    nyquist.axes("Re H", "Im H", out)?;
    nichols.axes("arg H", "abs H", out)?;
    let frames = [
        (&magnitude, &all.magnitude, "magnitude"),
        (&phase, &all.phase, "phase"),
        (&nyquist, &all.nyquist, "nyquist"),
        (&nichols, &all.nichols, "nichols"),
    ];
    for (frame, curves, id) in frames {
        frame.clip(id, out)?;
        for (at, points) in curves.iter().enumerate() {
            frame.curve(at, points, id, out)?;
        }
    }
    critical_point(&nyquist, (-1.0, 0.0), out)?;
    critical_point(&nichols, (-180.0, 0.0), out)?;
    for (at, curve) in figure.curves.iter().enumerate() {
        marks(figure, curve, at, [&magnitude, &phase, &nyquist, &nichols], &all, out)?;
    }
    writeln!(out, "</svg>")
}

/// Beyond this number, rows of curve names are omitted.
const MOST_ROWS: usize = 12;

/// Returns the left ends of the curve names, and the offsets of their rows from the first row.
fn names(figure: &FrequencyFigure) -> Vec<(f64, f64)> {
    let (mut x, mut row) = (LEFT, 0);
    let mut places = Vec::with_capacity(figure.curves.len());
    for curve in &figure.curves {
        let width = 56.0 + 7.2 * curve.name.chars().count() as f64;
        if x > LEFT && x + width > WIDTH {
            (x, row) = (LEFT, row + 1);
        }
        if row == MOST_ROWS {
            break;
        }
        places.push((x, 18.0 * row as f64));
        x += width;
    }
    places
}

/// Draws the curve names in rows, and the legend of the markers.
fn legend(figure: &FrequencyFigure, names: &[(f64, f64)], out: &mut Vec<u8>) -> io::Result<()> {
    for (at, (curve, (x, below))) in figure.curves.iter().zip(names).enumerate() {
        let (color, dashes) = STYLES[at % STYLES.len()];
        let dashes = if dashes.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{dashes}\"")
        };
        writeln!(
            out,
            "<path d=\"M{} {}h26\" fill=\"none\" stroke-width=\"1.7\" stroke=\"{color}\"{dashes}/><text x=\"{}\" y=\"{}\" fill=\"#222222\">{}</text>",
            short(*x, 1),
            short(44.0 + below, 1),
            short(x + 32.0, 1),
            short(48.0 + below, 1),
            escaped(&curve.name)
        )?;
    }
    let signs = [
        (Sign::PhaseCrossover, "phase \u{2212}180\u{b0}"),
        (Sign::GainCrossover, "magnitude 1"),
        (Sign::Bandwidth, "\u{2212}3 dB"),
    ];
    let mut x = WIDTH - RIGHT - 286.0;
    for (sign, text) in signs {
        sign.draw("#555555", x, 20.0, out)?;
        writeln!(
            out,
            "<text x=\"{}\" y=\"24\" fill=\"#555555\">{text}</text>",
            short(x + 9.0, 1)
        )?;
        x += 24.0 + 7.4 * text.chars().count() as f64;
    }
    Ok(())
}

/// Returns the frame of the Nyquist plot, limited so that -1 and the axes stay recognisable.
fn nyquist_frame(curves: &[Points], top: f64, width: f64) -> Frame {
    let points = || curves.iter().flatten().flatten();
    let (mut left, mut right) = range(points().map(|point| point.0));
    let (mut low, mut high) = range(points().map(|point| point.1));
    for (from, to) in [(&mut left, &mut right), (&mut low, &mut high)] {
        (*from, *to) = (from.min(0.0), to.max(0.0));
    }
    // With an integrator the curve goes to infinity; the relevant part is then near the origin.
    let size = (right - left).max(high - low);
    if size > 30.0 {
        let most = 10.0;
        (left, right) = (left.max(-most), right.min(most));
        (low, high) = (low.max(-most), high.min(most));
    } else if size > 0.3 {
        left = left.min(-1.1);
    }
    Frame {
        left: LEFT,
        top,
        width,
        height: SQUARE,
        x: of_values(left, right, 5, None),
        y: of_values(low, high, 6, None),
        is_log: false,
    }
}

/// Returns an axis of levels in decibels or angles in degrees; values that differ only by round-off count as equal.
fn of_levels(low: f64, high: f64, count: usize, unit: &str) -> Axis {
    let is_flat = (0.0..LEVEL).contains(&(high - low));
    let middle = 0.5 * (low + high);
    match is_flat {
        true if middle.abs() < LEVEL => of_values(0.0, 0.0, count, Some(unit)),
        true => of_values(middle, middle, count, Some(unit)),
        false => of_values(low, high, count, Some(unit)),
    }
}

/// Returns the frame of the Nichols plot: magnitude over phase.
fn nichols_frame(curves: &[Points], top: f64, width: f64) -> Frame {
    let points = || curves.iter().flatten().flatten();
    let (left, right) = range(points().map(|point| point.0));
    let (low, high) = range(points().map(|point| point.1));
    Frame {
        left: 2.0 * LEFT + RIGHT + width,
        top,
        width,
        height: SQUARE,
        x: of_levels(left, right, 5, "deg"),
        y: of_levels(low.max(high - DEPTH), high, 6, "dB"),
        is_log: false,
    }
}

/// Draws the critical point, which a loop must not touch, as a cross.
fn critical_point(frame: &Frame, point: (f64, f64), out: &mut Vec<u8>) -> io::Result<()> {
    let (x, y) = (frame.x(point.0), frame.y(point.1));
    let is_inside =
        (frame.left..=frame.left + frame.width).contains(&x) && (frame.top..=frame.top + frame.height).contains(&y);
    if !is_inside {
        return Ok(());
    }
    writeln!(
        out,
        "<path d=\"M{} {}h8m-4 -4v8\" fill=\"none\" stroke=\"#c00000\" stroke-width=\"1.6\"/>",
        short(x - 4.0, 1),
        short(y, 1)
    )
}

fn marks(
    figure: &FrequencyFigure,
    curve: &FrequencyCurve,
    at: usize,
    frames: [&Frame; 4],
    all: &Curves,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let [magnitude, phase, nyquist, nichols] = frames;
    let level = curve
        .static_gain
        .map(|gain| 20.0 * gain.abs().log10() - 20.0 * 2f64.sqrt().log10());
    let bandwidth = level.and_then(|level| first_below(&figure.omega, &curve.values, level));
    let signs = [
        (Sign::PhaseCrossover, curve.phase_crossover),
        (Sign::GainCrossover, curve.gain_crossover),
        (Sign::Bandwidth, bandwidth),
    ];
    for (sign, omega) in signs {
        let Some(omega) = omega.filter(|omega| *omega > 0.0) else {
            continue;
        };
        let found = (
            between(&figure.omega, &all.magnitude[at], omega),
            between(&figure.omega, &all.phase[at], omega),
        );
        let (Some(decibels), Some(degrees)) = found else {
            continue;
        };
        mark(magnitude, sign, at, (omega, decibels), out)?;
        mark(phase, sign, at, (omega, degrees), out)?;
        let value = Complex::from_polar(10f64.powf(decibels / 20.0), degrees.to_radians());
        mark(nyquist, sign, at, (value.re, value.im), out)?;
        mark(nichols, sign, at, (degrees, decibels), out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_do_not_jump() {
        let values: Vec<Complex<f64>> = (0..40).map(|k| Complex::from_polar(1.0, -0.3 * f64::from(k))).collect();
        let found = phases(&values);
        for (at, phase) in found.iter().enumerate() {
            let expected = (-0.3 * at as f64).to_degrees();
            assert!(
                phase.is_some_and(|phase| (phase - expected).abs() < 1e-9),
                "{phase:?} is not {expected}"
            );
        }
    }

    #[test]
    fn the_bandwidth_of_a_lag_is_its_pole() {
        let omega: Vec<f64> = (0..2001).map(|k| 10f64.powf(-2.0 + 0.002 * f64::from(k))).collect();
        let values: Vec<Complex<f64>> = omega
            .iter()
            .map(|omega| Complex::new(1.0, *omega / 3.0).inv())
            .collect();
        let found = first_below(&omega, &values, -20.0 * 2f64.sqrt().log10()).unwrap_or_default();
        assert!((found - 3.0).abs() < 1e-4, "{found}");
    }
    /// An all-pass, whose magnitude is 1 apart from round-off.
    #[test]
    fn rounding_is_no_level() {
        let (flat, zero) = (of_levels(-9e-16, 4e-16, 6, "dB"), of_levels(0.0, 0.0, 6, "dB"));
        assert_eq!((flat.from, flat.to), (zero.from, zero.to));
        assert!(flat.from < -0.1 && flat.to > 0.1, "{} {}", flat.from, flat.to);
    }
}
