//! Rectangles with two axes and curves inside them.

use super::ticks::Axis;
use super::{STYLES, escaped, short};
use std::io::{self, Write};

/// A rectangle with two axes.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// True if the x axis is logarithmic.
    pub(super) is_log: bool,
}

/// The points of a curve in a frame; none for a gap.
pub(super) type Points = Vec<Option<(f64, f64)>>;

impl Frame {
    pub(super) fn x(&self, value: f64) -> f64 {
        let share = match self.is_log {
            true => (value / self.x.from).ln() / (self.x.to / self.x.from).ln(),
            false => (value - self.x.from) / (self.x.to - self.x.from),
        };
        self.left + share * self.width
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.top + (self.y.to - value) / (self.y.to - self.y.from) * self.height
    }

    pub(super) fn axes(&self, x_name: &str, y_name: &str, out: &mut Vec<u8>) -> io::Result<()> {
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        writeln!(out, "<g stroke=\"#dddddd\" stroke-width=\"1\">")?;
        for tick in &self.x.ticks {
            writeln!(
                out,
                "<path d=\"M{} {}V{}\"/>",
                short(self.x(*tick), 1),
                short(self.top, 1),
                short(bottom, 1)
            )?;
        }
        for tick in &self.y.ticks {
            writeln!(
                out,
                "<path d=\"M{} {}H{}\"/>",
                short(self.left, 1),
                short(self.y(*tick), 1),
                short(right, 1)
            )?;
        }
        writeln!(out, "</g>")?;
        writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#555555\"/>",
            short(self.left, 1),
            short(self.top, 1),
            short(self.width, 1),
            short(self.height, 1)
        )?;
        writeln!(out, "<g fill=\"#333333\" text-anchor=\"end\">")?;
        for (tick, text) in self.y.ticks.iter().zip(&self.y.texts) {
            let y = short(self.y(*tick) + 4.0, 1);
            writeln!(out, "<text x=\"{}\" y=\"{y}\">{text}</text>", short(self.left - 7.0, 1))?;
        }
        writeln!(out, "</g>")?;
        writeln!(
            out,
            "<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\" fill=\"#222222\">{}</text>",
            short(self.left - 58.0, 1),
            short(self.top + 0.5 * self.height, 1),
            escaped(&labelled(y_name, &self.y.unit))
        )?;
        if x_name.is_empty() {
            return Ok(());
        }
        writeln!(out, "<g fill=\"#333333\" text-anchor=\"middle\">")?;
        for (tick, text) in self.x.ticks.iter().zip(&self.x.texts) {
            let x = short(self.x(*tick), 1);
            writeln!(out, "<text x=\"{x}\" y=\"{}\">{text}</text>", short(bottom + 17.0, 1))?;
        }
        writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"#222222\">{}</text></g>",
            short(self.left + 0.5 * self.width, 1),
            short(bottom + 38.0, 1),
            escaped(&labelled(x_name, &self.x.unit))
        )
    }

    pub(super) fn curve(&self, number: usize, points: &Points, id: &str, out: &mut Vec<u8>) -> io::Result<()> {
        let (color, dashes) = STYLES[number % STYLES.len()];
        let dashes = match dashes.is_empty() {
            true => String::new(),
            false => format!(" stroke-dasharray=\"{dashes}\""),
        };
        let mut path = String::new();
        let mut last: Option<(String, String)> = None;
        for point in points {
            let Some((x, y)) = point else {
                last = None;
                continue;
            };
            // The frame cuts off distant points, so their coordinates need few digits.
            let bounded = |value: f64| value.clamp(-1e5, 1e5);
            let at = (short(bounded(self.x(*x)), 1), short(bounded(self.y(*y)), 1));
            match &last {
                Some(known) if *known == at => continue,
                Some(_) => path.push_str(&format!("L{} {}", at.0, at.1)),
                None => path.push_str(&format!("M{} {}", at.0, at.1)),
            }
            last = Some(at);
        }
        writeln!(
            out,
            "<path clip-path=\"url(#{id})\" fill=\"none\" stroke-width=\"1.7\" stroke-linejoin=\"round\" stroke=\"{color}\"{dashes} d=\"{path}\"/>"
        )
    }

    pub(super) fn clip(&self, id: &str, out: &mut Vec<u8>) -> io::Result<()> {
        writeln!(
            out,
            "<clipPath id=\"{id}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
            short(self.left, 1),
            short(self.top, 1),
            short(self.width, 1),
            short(self.height, 1)
        )
    }
}

fn labelled(name: &str, unit: &str) -> String {
    match unit.is_empty() {
        true => name.to_string(),
        false => format!("{name} [{unit}]"),
    }
}
