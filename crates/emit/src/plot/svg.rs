//! A figure as SVG: stacked panels that share the time axis.

use super::ticks::{Axis, of_time, of_values, quantity, typeset};
use super::{Figure, Panel, ProfileFigure, STYLES, Series, drawn, escaped, short};
use lgm_source::diagnostic::six_digits;
use std::io::{self, Write};

/// Sizes in pixels.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 84.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;
const GAP: f64 = 22.0;
/// The minimum space at the right for names next to the curves.
const RIGHT: f64 = 70.0;
/// The space at the right without names.
const EDGE: f64 = 26.0;
/// The minimum distance between names.
const LINE: f64 = 16.0;
/// The estimated width of a character.
const LETTER: f64 = 7.2;
/// The length of the line sample before each name.
const SAMPLE: f64 = 26.0;

/// The colour of events.
const EVENT: &str = "#b07d00";

/// The maximum space for names at the right.
const MOST_RIGHT: f64 = 300.0;

/// Shortens a name to this number of pixels: names that are too long keep their beginning and end.
fn fitting(name: &str, room: f64) -> String {
    let most = ((room / LETTER) as usize).max(3);
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_string();
    }
    let tail = (most - 1) / 3;
    let head: String = letters[..most - 1 - tail].iter().collect();
    let tail: String = letters[letters.len() - tail..].iter().collect();
    format!("{head}…{tail}")
}

/// The position of a panel, and its axes.
struct Frame<'a> {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    time: &'a Axis,
    /// The name of the horizontal axis.
    word: &'a str,
    values: Axis,
}

impl Frame<'_> {
    fn x(&self, time: f64) -> f64 {
        self.left + (time - self.time.from) / (self.time.to - self.time.from) * self.width
    }

    fn y(&self, value: f64) -> f64 {
        self.top + (self.values.to - value) / (self.values.to - self.values.from) * self.height
    }
}

/// The horizontal axis of the curves.
enum Abscissa<'a> {
    Time(f64, f64),
    Position {
        from: f64,
        to: f64,
        name: &'a str,
        unit: Option<&'a str>,
    },
}

impl Abscissa<'_> {
    fn word(&self) -> &str {
        match self {
            Abscissa::Time(..) => "time",
            Abscissa::Position { name, .. } => name,
        }
    }

    fn axis(&self, count: usize) -> Axis {
        match *self {
            Abscissa::Time(from, to) => of_time(from, to, count),
            Abscissa::Position { from, to, unit, .. } => {
                let mut axis = of_values(from, to, count, unit.map(typeset).as_deref());
                if to > from {
                    // No curve extends beyond the last position.
                    (axis.from, axis.to) = (from, to);
                    let ticks = axis.ticks.into_iter().zip(axis.texts);
                    (axis.ticks, axis.texts) = ticks.filter(|tick| (from..=to).contains(&tick.0)).unzip();
                }
                axis
            }
        }
    }
}

/// Returns the figure as a self-contained SVG file that works offline.
pub fn svg(figure: &Figure) -> String {
    drawn(|out| {
        write(
            &figure.title,
            &figure.panels(),
            &Abscissa::Time(figure.from, figure.to),
            &figure.events,
            out,
        )
    })
}

/// Returns curves over a position as an SVG file with a single panel.
pub fn profile_svg(figure: &ProfileFigure) -> String {
    let positions = || {
        figure
            .series
            .iter()
            .flat_map(|series| &series.points)
            .map(|point| point.0)
    };
    let ranges = figure.series.iter().map(Series::range);
    let (lowest, highest) = ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), range| {
        (low.min(range.0), high.max(range.1))
    });
    let panel = Panel {
        series: figure.series.iter().collect(),
        lowest,
        highest,
    };
    let abscissa = Abscissa::Position {
        from: positions().fold(f64::INFINITY, f64::min),
        to: positions().fold(f64::NEG_INFINITY, f64::max),
        name: &figure.x.0,
        unit: figure.x.1.as_deref(),
    };
    let panels: &[Panel<'_>] = if figure.series.is_empty() { &[] } else { &[panel] };
    drawn(|out| write(&figure.title, panels, &abscissa, &[], out))
}

fn write(
    title: &str,
    panels: &[Panel<'_>],
    abscissa: &Abscissa<'_>,
    events: &[(f64, String)],
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let height = match panels.len() {
        0 | 1 => 300.0,
        2 => 200.0,
        _ => 160.0,
    };
    // If a panel has only one curve, the axis shows its name.
    let named = panels
        .iter()
        .filter(|panel| panel.series.len() > 1)
        .flat_map(|panel| &panel.series);
    let right = match named.map(|series| series.name.chars().count()).max() {
        Some(longest) => (SAMPLE + 24.0 + LETTER * longest as f64).clamp(RIGHT, MOST_RIGHT),
        None => EDGE,
    };
    // The height of a panel depends on its names.
    let heights: Vec<f64> = panels
        .iter()
        .map(|panel| f64::max(height, panel.series.len() as f64 * LINE))
        .collect();
    let total = TOP + BOTTOM + heights.iter().sum::<f64>() + GAP * (panels.len().max(1) - 1) as f64;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" \
         font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\" font-size=\"12\">",
        short(WIDTH, 0),
        short(total, 0),
        short(WIDTH, 0),
        short(total, 0)
    )?;
    let names = panels.iter().flat_map(|panel| &panel.series);
    let names: Vec<&str> = names.map(|series| &*series.name).collect();
    writeln!(out, "<title>{}</title>", escaped(title))?;
    let words = format!("{} over {}", names.join(", "), abscissa.word());
    writeln!(out, "<desc>{}</desc>", escaped(&words))?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")?;
    writeln!(
        out,
        "<text x=\"{}\" y=\"26\" font-size=\"15\" font-weight=\"bold\" fill=\"#222222\">{}</text>",
        short(LEFT, 1),
        escaped(title)
    )?;
    let width = WIDTH - LEFT - right;
    let time = abscissa.axis((width / 70.0) as usize);
    let mut top = TOP;
    for (at, (panel, height)) in panels.iter().zip(&heights).enumerate() {
        let unit = panel.series[0].unit.as_deref().filter(|unit| *unit != "1").map(typeset);
        let frame = Frame {
            left: LEFT,
            top,
            width,
            height: *height,
            time: &time,
            word: abscissa.word(),
            values: of_values(panel.lowest, panel.highest, (height / 38.0) as usize, unit.as_deref()),
        };
        axes(&frame, panel, at + 1 == panels.len(), out)?;
        marks(&frame, events, out)?;
        curves(&frame, panel, at, out)?;
        top += height + GAP;
    }
    writeln!(out, "</svg>")
}

fn axes(frame: &Frame<'_>, panel: &Panel<'_>, is_last: bool, out: &mut Vec<u8>) -> io::Result<()> {
    let (left, top) = (frame.left, frame.top);
    let (right, bottom) = (left + frame.width, top + frame.height);
    writeln!(out, "<g stroke=\"#dddddd\" stroke-width=\"1\">")?;
    for tick in &frame.time.ticks {
        let x = short(frame.x(*tick), 1);
        writeln!(out, "<path d=\"M{x} {}V{}\"/>", short(top, 1), short(bottom, 1))?;
    }
    for tick in &frame.values.ticks {
        let y = short(frame.y(*tick), 1);
        let stroke = if tick.abs() < 1e-12 * frame.values.to.abs().max(frame.values.from.abs()) {
            " stroke=\"#999999\""
        } else {
            ""
        };
        writeln!(out, "<path d=\"M{} {y}H{}\"{stroke}/>", short(left, 1), short(right, 1))?;
    }
    writeln!(out, "</g>")?;
    writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#555555\"/>",
        short(left, 1),
        short(top, 1),
        short(frame.width, 1),
        short(frame.height, 1)
    )?;
    writeln!(out, "<g fill=\"#333333\" text-anchor=\"end\">")?;
    for (tick, text) in frame.values.ticks.iter().zip(&frame.values.texts) {
        let y = short(frame.y(*tick) + 4.0, 1);
        writeln!(out, "<text x=\"{}\" y=\"{y}\">{text}</text>", short(left - 7.0, 1))?;
    }
    writeln!(out, "</g>")?;
    // A single curve names its axis. Several curves of one unit are named at their ends, and their quantity names the axis.
    let unit = match frame.values.unit.is_empty() {
        true => String::new(),
        false => format!("[{}]", frame.values.unit),
    };
    let own = panel.series[0].unit.as_deref().map(typeset);
    let names: Vec<&str> = panel.series.iter().map(|series| &*series.name).collect();
    let word = match own.as_deref().and_then(quantity) {
        Some(quantity) if names.len() > 1 => quantity.to_string(),
        _ => names.join(", "),
    };
    let room = frame.height + GAP - LETTER * (unit.chars().count() + 1) as f64;
    let label = format!("{} {unit}", fitting(&word, room));
    let label = escaped(label.trim_end());
    writeln!(
        out,
        "<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"#222222\">{label}</text>",
        short(top + 0.5 * frame.height, 1)
    )?;
    if is_last {
        writeln!(out, "<g fill=\"#333333\" text-anchor=\"middle\">")?;
        for (tick, text) in frame.time.ticks.iter().zip(&frame.time.texts) {
            let x = short(frame.x(*tick), 1);
            writeln!(out, "<text x=\"{x}\" y=\"{}\">{text}</text>", short(bottom + 17.0, 1))?;
        }
        let unit = match frame.time.unit.is_empty() {
            true => String::new(),
            false => format!(" [{}]", frame.time.unit),
        };
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"#222222\">{}{unit}</text>",
            short(left + 0.5 * frame.width, 1),
            short(bottom + 38.0, 1),
            escaped(frame.word)
        )?;
        writeln!(out, "</g>")?;
    }
    Ok(())
}

/// Beyond this number of instants, events are marked only at the lower edge.
const MOST_LINES: usize = 60;

/// The minimum average distance of event ticks in pixels: closer ticks look like a bar.
const TICK_ROOM: f64 = 4.0;

/// Marks events with a dotted line through the panel for each instant, with the event's description as a tooltip. Larger numbers of
/// events become ticks at the lower edge, or a count above the panel.
fn marks(frame: &Frame<'_>, events: &[(f64, String)], out: &mut Vec<u8>) -> io::Result<()> {
    let mut places: Vec<(String, Vec<&(f64, String)>)> = Vec::new();
    for event in events {
        if !(frame.time.from..=frame.time.to).contains(&event.0) {
            continue;
        }
        let x = short(frame.x(event.0), 1);
        match places.last_mut() {
            Some(last) if last.0 == x => last.1.push(event),
            _ => places.push((x, vec![event])),
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    let (top, bottom) = (short(frame.top, 1), short(frame.top + frame.height, 1));
    if places.len() as f64 * TICK_ROOM > frame.width {
        return writeln!(
            out,
            "<text class=\"events\" x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"11\" fill=\"{EVENT}\">{} events</text>",
            short(frame.left + frame.width, 1),
            short(frame.top - 6.0, 1),
            events.len()
        );
    }
    if places.len() > MOST_LINES {
        let edge = short(frame.top + frame.height - 6.0, 1);
        let ticks: Vec<String> = places
            .iter()
            .map(|place| format!("M{} {bottom}V{edge}", place.0))
            .collect();
        return writeln!(
            out,
            "<path class=\"events\" stroke=\"{EVENT}\" d=\"{}\"><title>{} events</title></path>",
            ticks.join(""),
            events.len()
        );
    }
    writeln!(
        out,
        "<g class=\"events\" stroke=\"{EVENT}\" stroke-dasharray=\"1.5 2.5\">"
    )?;
    for (x, here) in &places {
        let words = match &here[..] {
            [only] => only.1.clone(),
            [first, ..] => format!("{} and {} more", first.1, here.len() - 1),
            [] => String::new(),
        };
        let time = six_digits(here[0].0);
        let words = escaped(&format!("{time} s: {words}"));
        writeln!(out, "<path d=\"M{x} {top}V{bottom}\"><title>{words}</title></path>")?;
    }
    writeln!(out, "</g>")
}

/// Returns the attributes of the curve with this number.
fn style(number: usize) -> String {
    let (color, dashes) = STYLES[number % STYLES.len()];
    let mut text = format!("stroke=\"{color}\"");
    if !dashes.is_empty() {
        text.push_str(&format!(" stroke-dasharray=\"{dashes}\""));
    }
    text
}

fn curves(frame: &Frame<'_>, panel: &Panel<'_>, panel_at: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let clip = format!("panel{panel_at}");
    writeln!(
        out,
        "<clipPath id=\"{clip}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
        short(frame.left, 1),
        short(frame.top, 1),
        short(frame.width, 1),
        short(frame.height, 1)
    )?;
    writeln!(
        out,
        "<g clip-path=\"url(#{clip})\" fill=\"none\" stroke-width=\"1.7\" stroke-linejoin=\"round\">"
    )?;
    for (at, series) in panel.series.iter().enumerate() {
        writeln!(out, "<path {} d=\"{}\"/>", style(at), path(frame, series))?;
    }
    writeln!(out, "</g>")?;
    if panel.series.len() < 2 {
        return Ok(());
    }
    // Markers distinguish curves that cross.
    writeln!(out, "<g stroke-width=\"1.3\" fill=\"#ffffff\">")?;
    for (at, series) in panel.series.iter().enumerate() {
        for (x, y) in markers(frame, series, at, panel.series.len()) {
            marker(at, x, y, out)?;
        }
    }
    writeln!(out, "</g>")?;
    names(frame, panel, out)
}

/// Returns the path of the curve: at most four points per column of pixels, rounded to a tenth of a pixel.
fn path(frame: &Frame<'_>, series: &Series) -> String {
    let columns = frame.width.round() as usize;
    let mut trace = super::Trace::new(frame.time.from, frame.time.to, columns);
    for (time, value) in &series.points {
        trace.push(*time, *value);
    }
    let mut text = String::new();
    let mut last: Option<(String, String)> = None;
    for (time, value) in trace.points() {
        if !value.is_finite() {
            last = None;
            continue;
        }
        let at = (short(frame.x(time), 1), short(frame.y(value), 1));
        match &last {
            None => text.push_str(&format!("M{} {}", at.0, at.1)),
            Some(known) if *known == at => continue,
            Some(known) if known.1 == at.1 => text.push_str(&format!("H{}", at.0)),
            Some(known) if known.0 == at.0 => text.push_str(&format!("V{}", at.1)),
            Some(_) => text.push_str(&format!("L{} {}", at.0, at.1)),
        }
        last = Some(at);
    }
    text
}

/// Returns six marker positions along a curve, shifted from curve to curve.
fn markers(frame: &Frame<'_>, series: &Series, at: usize, count: usize) -> Vec<(f64, f64)> {
    const EACH: usize = 6;
    let (from, to) = (frame.time.from, frame.time.to);
    let shift = (at as f64 + 0.5) / count as f64;
    (0..EACH)
        .filter_map(|step| {
            let time = from + (step as f64 + shift) / EACH as f64 * (to - from);
            let value = value_at(series, time)?;
            Some((frame.x(time), frame.y(value)))
        })
        .collect()
}

/// Returns the value at a time by linear interpolation between the neighbouring points.
fn value_at(series: &Series, time: f64) -> Option<f64> {
    let after = series.points.partition_point(|point| point.0 <= time);
    let a = series.points.get(after.checked_sub(1)?)?;
    let b = series.points.get(after).unwrap_or(a);
    let share = if b.0 > a.0 { (time - a.0) / (b.0 - a.0) } else { 0.0 };
    let value = a.1 + share * (b.1 - a.1);
    value.is_finite().then_some(value)
}

/// Draws the marker of a curve: circle, square, triangle, diamond, then the filled versions.
fn marker(number: usize, x: f64, y: f64, out: &mut Vec<u8>) -> io::Result<()> {
    let color = STYLES[number % STYLES.len()].0;
    let fill = if number / 4 % 2 == 1 {
        format!(" fill=\"{color}\"")
    } else {
        String::new()
    };
    let at = |dx: f64, dy: f64| format!("{} {}", short(x + dx, 1), short(y + dy, 1));
    let corners = match number % 4 {
        0 => {
            let (x, y) = (short(x, 1), short(y, 1));
            return writeln!(
                out,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"3.2\" stroke=\"{color}\"{fill}/>"
            );
        }
        1 => [at(-3.0, -3.0), at(3.0, -3.0), at(3.0, 3.0), at(-3.0, 3.0)].join("L"),
        2 => [at(-3.6, 2.8), at(3.6, 2.8), at(0.0, -3.8)].join("L"),
        _ => [at(-4.0, 0.0), at(0.0, -4.0), at(4.0, 0.0), at(0.0, 4.0)].join("L"),
    };
    writeln!(out, "<path d=\"M{corners}Z\" stroke=\"{color}\"{fill}/>")
}

/// Draws the names at the right, each as close to the end of its curve as its neighbours allow, with a line sample.
fn names(frame: &Frame<'_>, panel: &Panel<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    let middle = frame.top + 0.5 * frame.height;
    let mut places: Vec<(usize, f64, f64)> = panel
        .series
        .iter()
        .enumerate()
        .map(|(at, series)| {
            let last = series.points.iter().rev().find(|point| point.1.is_finite());
            let end = last.map_or(middle, |point| frame.y(point.1));
            (at, end, end)
        })
        .collect();
    places.sort_by(|a, b| a.1.total_cmp(&b.1));
    // Curves with nearly equal ends keep their order.
    for together in places.chunk_by_mut(|a, b| b.1 - a.1 < 0.5 * LINE) {
        together.sort_by_key(|place| place.0);
    }
    // Going down, each name leaves space for the names above it; then going up from the lower edge.
    let mut least = frame.top + 0.5 * LINE;
    for place in &mut places {
        place.2 = place.2.max(least);
        least = place.2 + LINE;
    }
    let mut most = frame.top + frame.height - 0.3 * LINE;
    for place in places.iter_mut().rev() {
        place.2 = place.2.min(most);
        most = place.2 - LINE;
    }
    let right = frame.left + frame.width;
    writeln!(out, "<g fill=\"none\" stroke-width=\"1.7\">")?;
    for (at, end, y) in &places {
        let (x, sample) = (right + 10.0, right + 10.0 + SAMPLE);
        writeln!(
            out,
            "<path stroke=\"#bbbbbb\" stroke-width=\"0.8\" d=\"M{} {}L{} {}\"/>",
            short(right + 1.0, 1),
            short(*end, 1),
            short(x - 1.0, 1),
            short(*y, 1)
        )?;
        writeln!(
            out,
            "<path {} d=\"M{} {}H{}\"/>",
            style(*at),
            short(x, 1),
            short(*y, 1),
            short(sample, 1)
        )?;
    }
    writeln!(out, "</g>")?;
    writeln!(out, "<g stroke-width=\"1.3\" fill=\"#ffffff\">")?;
    for (at, _, y) in &places {
        marker(*at, right + 10.0 + 0.5 * SAMPLE, *y, out)?;
    }
    writeln!(out, "</g>")?;
    writeln!(out, "<g fill=\"#222222\">")?;
    for (at, _, y) in &places {
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            short(right + 10.0 + SAMPLE + 6.0, 1),
            short(y + 4.0, 1),
            escaped(&fitting(&panel.series[*at].name, MOST_RIGHT - SAMPLE - 24.0))
        )?;
    }
    writeln!(out, "</g>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(series: Vec<Series>, events: Vec<(f64, String)>) -> Figure {
        Figure {
            title: String::new(),
            from: 0.0,
            to: 1.0,
            series,
            events,
        }
    }

    fn ending(name: &str, at: f64) -> Series {
        Series {
            name: name.to_string(),
            unit: Some("V".to_string()),
            points: vec![(0.0, 100.0), (1.0, at)],
        }
    }

    /// Curve ends that differ by less than the height of a name, on both sides of any pixel boundary.
    #[test]
    fn curves_that_end_together_are_named_in_their_order() {
        for level in 0..40 {
            let level = f64::from(level);
            let drawn = svg(&figure(
                vec![
                    ending("first", level),
                    ending("second", level + 0.5),
                    ending("third", level),
                ],
                Vec::new(),
            ));
            let names = drawn.rsplit("fill=\"none\"").next().unwrap();
            let at = |name: &str| names.find(&format!(">{name}<")).unwrap();
            assert!(at("first") < at("second") && at("second") < at("third"), "{level}");
        }
    }

    #[test]
    fn events_that_would_look_like_a_bar_are_counted() {
        let drawn = |count: usize| {
            let events = (0..count).map(|at| (at as f64 / count as f64, "tick".to_string()));
            svg(&figure(vec![ending("v", 0.0)], events.collect()))
        };
        assert!(drawn(100).contains("class=\"events\" stroke"), "ticks");
        let crowded = drawn(400);
        assert!(crowded.contains(">400 events</text>") && !crowded.contains("class=\"events\" stroke"));
    }

    #[test]
    fn axes_of_several_curves_name_their_quantity() {
        let drawn = svg(&figure(vec![ending("a", 0.0), ending("b", 1.0)], Vec::new()));
        assert!(drawn.contains(">voltage [V]</text>"), "{drawn}");
    }

    #[test]
    fn long_names_keep_their_beginning_and_their_end() {
        assert_eq!(fitting("speed", 5.0 * LETTER), "speed");
        let long = fitting("a_rather_long_name_of_an_output_that_goes_on", 20.5 * LETTER);
        assert_eq!((&*long, long.chars().count()), ("a_rather_long…oes_on", 20));
        assert_eq!(fitting("speed", 0.0), "sp…");
    }
}
