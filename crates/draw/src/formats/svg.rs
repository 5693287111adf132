//! A drawing as SVG: no scripts, no embedded fonts, readable in light, dark and print.

use crate::drawing::{Anchor, Drawing, Edge, Kind, Label, LabelKind, Node, Point, Rail, Rect, Shape, Source, Stroke};
use crate::marks::unit;
use crate::metrics::{LARGE, SIZE, bold_width, width};
use std::fmt::Write;

/// Colours of the domains of the standard library, for light and for dark.
const DOMAINS: [(&str, &str, &str); 5] = [
    ("electrical", "#b3400b", "#ff9a62"),
    ("translational", "#00589b", "#7cbcff"),
    ("rotational", "#006b4a", "#58d0a2"),
    ("fluid", "#74389b", "#d09bf5"),
    ("thermal", "#9e1248", "#ff8fb5"),
];

/// Ink, soft ink and paper, for light and for dark.
const LIGHT: [&str; 3] = ["#1b1b1b", "#5c5c5c", "#ffffff"];
const DARK: [&str; 3] = ["#ececec", "#a9a9a9", "#15181c"];

/// Fonts that every system has or substitutes.
const FONT: &str = "Helvetica, Arial, sans-serif";

/// The width of texts in most fonts, relative to their boxes.
const NARROWER: f64 = 0.92;

/// Escapes a text between tags or within quotes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML allows no other control characters.
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

/// Formats a length with at most one digit after the decimal point.
fn length(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Avoids a minus sign at zero.
    format!("{}", rounded + 0.0)
}

fn place(at: Point) -> String {
    format!("{} {}", length(at.x), length(at.y))
}

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark lines on white, as in print.
    Light,
    /// Bright lines on a dark background.
    Dark,
    /// The reader's preference; light in print.
    #[default]
    Auto,
}

/// Writes the picture in the colours that the reader of its page prefers.
pub fn svg(drawing: &Drawing) -> String {
    svg_in(drawing, Theme::Auto)
}

/// Writes the picture in these colours.
pub fn svg_in(drawing: &Drawing, theme: Theme) -> String {
    let (w, h) = (length(drawing.size.0.ceil()), length(drawing.size.1.ceil()));
    let kind = match drawing.kind {
        Kind::LinearGraph => "linear graph",
        Kind::BondGraph => "bond graph",
    };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         font-family=\"{FONT}\" font-size=\"{SIZE}\">\n\
         <title>{}, {kind}</title>\n<style>\n{}</style>\n<rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n",
        escaped(&drawing.model),
        style(theme)
    );
    drawing
        .frames
        .iter()
        .for_each(|frame| rect(&mut out, "component", frame.at, 6.0));
    drawing.rails.iter().for_each(|rail| write_rail(&mut out, rail));
    for coupling in &drawing.couplings {
        line(&mut out, "coupling", &coupling.path, 0.0);
        for joint in &coupling.joints {
            circle(&mut out, "joint", *joint, 2.6);
        }
    }
    for edge in drawing.edges.iter().filter(|edge| edge.conflict) {
        line(&mut out, "conflict", &edge.path, edge.radius);
    }
    for edge in &drawing.edges {
        match drawing.kind {
            Kind::LinearGraph => write_branch(&mut out, edge),
            Kind::BondGraph => write_bond(&mut out, edge),
        }
    }
    for signal in &drawing.signals {
        line(&mut out, "signal", &signal.path, 4.0);
        if let [.., before, last] = signal.path[..] {
            arrow(&mut out, "point", last, unit(before, last), 8.0, 3.2);
        }
    }
    drawing.nodes.iter().for_each(|node| write_node(&mut out, node));
    drawing.labels.iter().for_each(|label| write_label(&mut out, label));
    out.push_str("</svg>\n");
    out
}

/// Returns the rules of the classes. Viewers without media queries show the light colours.
fn style(theme: Theme) -> String {
    let (light, dark) = (colors(LIGHT, false), colors(DARK, true));
    let lines = include_str!("lines.css");
    match theme {
        Theme::Light => format!("{lines}{light}"),
        Theme::Dark => format!("{lines}{dark}"),
        Theme::Auto => {
            format!("{lines}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n@media print {{\n{light}}}\n")
        }
    }
}

/// Returns the colour rules for lines and texts.
fn colors([ink, soft, paper]: [&str; 3], dark: bool) -> String {
    let common = include_str!("colors.css");
    let mut rules = common.replace("INK", ink).replace("SOFT", soft).replace("PAPER", paper);
    for (name, light, bright) in DOMAINS {
        let color = if dark { bright } else { light };
        rules += &include_str!("domain.css").replace("NAME", name).replace("COLOR", color);
    }
    // After the rules of the domains, because the inside of a double line has the colour of the paper.
    rules + &format!(".inner.line {{ stroke: {paper} }}\n")
}

/// Returns the class of a domain with a colour; empty for user-defined domains.
fn class(domain: Option<&str>) -> &str {
    let known = |name: &str| DOMAINS.iter().any(|each| each.0 == name);
    domain.filter(|name| known(name)).unwrap_or("other")
}

/// Writes a line with rounded corners.
fn curve(path: &[Point], radius: f64) -> String {
    let Some(first) = path.first() else {
        return String::new();
    };
    let mut out = format!("M{}", place(*first));
    for (at, corner) in path.iter().enumerate().skip(1) {
        match path.get(at + 1) {
            None => out.push_str(&format!(" L{}", place(*corner))),
            Some(next) => {
                let before = path[at - 1];
                let room = (before.distance(*corner) / 2.0).min(corner.distance(*next) / 2.0);
                let reach = radius.min(room);
                let start = corner.towards(before, reach / before.distance(*corner).max(1e-9));
                let end = corner.towards(*next, reach / corner.distance(*next).max(1e-9));
                out.push_str(&format!(" L{} Q{} {}", place(start), place(*corner), place(end)));
            }
        }
    }
    out
}

fn line(out: &mut String, class: &str, path: &[Point], radius: f64) {
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{}\"/>", curve(path, radius));
}

fn circle(out: &mut String, class: &str, at: Point, radius: f64) {
    let (x, y) = (length(at.x), length(at.y));
    let _ = writeln!(
        out,
        "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{}\"/>",
        length(radius)
    );
}

fn rect(out: &mut String, class: &str, at: Rect, radius: f64) {
    let [x, y, w, h] = [at.x, at.y, at.w, at.h].map(length);
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{radius}\"/>"
    );
}

/// Writes a full arrow with its tip at this point.
fn arrow(out: &mut String, class: &str, tip: Point, way: Point, long: f64, wide: f64) {
    let base = tip.moved(-way.x * long, -way.y * long);
    let (a, b) = (
        base.moved(-way.y * wide, way.x * wide),
        base.moved(way.y * wide, -way.x * wide),
    );
    let (tip, a, b) = (place(tip), place(a), place(b));
    let _ = writeln!(out, "<path class=\"{class}\" d=\"M{tip} L{a} L{b} Z\"/>");
}

/// Returns the tooltip of an edge.
fn edge_title(edge: &Edge) -> String {
    let kind = edge.kind.as_deref().map_or(String::new(), |kind| format!(": {kind}"));
    let what = if edge.name.is_empty() { "bond" } else { &edge.name };
    let tree = match edge.tree {
        Some(true) => ", in the normal tree",
        Some(false) => ", a link",
        None => "",
    };
    format!("{what}{kind}, {} -> {}{tree}", edge.from, edge.to)
}

/// Opens a group with its tooltip and its owner's name.
fn open_group(out: &mut String, class: &str, name: &str, title: &str) {
    let (name, title) = (escaped(name), escaped(title));
    let _ = writeln!(out, "<g class=\"{class}\" data-name=\"{name}\"><title>{title}</title>");
}

fn write_branch(out: &mut String, edge: &Edge) {
    let domain = class(edge.domain.as_deref());
    let tree = match edge.tree {
        Some(true) => " tree",
        Some(false) => "",
        None => " either",
    };
    open_group(out, "branch", edge.element.as_deref().unwrap_or(""), &edge_title(edge));
    match edge.width {
        1 => line(out, &format!("line {domain}{tree}"), &edge.path, edge.radius),
        _ => {
            line(out, &format!("line {domain} double{tree}"), &edge.path, edge.radius);
            line(out, &format!("line inner{tree}"), &edge.path, edge.radius);
        }
    }
    if let Some((base, tip)) = edge.arrow {
        let wide = if edge.width > 1 || edge.tree == Some(true) {
            6.2
        } else {
            4.6
        };
        arrow(out, &format!("point {domain}"), tip, unit(base, tip), 12.0, wide);
    }
    if let (Some(at), Some((base, tip)), Some(source)) = (edge.circle, edge.arrow, edge.source) {
        circle(out, &format!("source {domain}"), at, 8.0);
        let way = unit(base, tip);
        // As in a circuit: along the line for a source of an across variable, perpendicular for a through variable.
        let (x, y) = match source {
            Source::Across => (way.x * 8.0, way.y * 8.0),
            Source::Through => (-way.y * 8.0, way.x * 8.0),
        };
        line(out, &format!("mark {domain}"), &[at.moved(-x, -y), at.moved(x, y)], 0.0);
    }
    out.push_str("</g>\n");
}

fn write_bond(out: &mut String, edge: &Edge) {
    let domain = class(edge.domain.as_deref());
    open_group(out, "half", edge.element.as_deref().unwrap_or(""), &edge_title(edge));
    match edge.width {
        1 => line(out, &format!("line bond {domain}"), &edge.path, edge.radius),
        _ => {
            line(out, &format!("line bond double {domain}"), &edge.path, edge.radius);
            line(out, "line inner", &edge.path, edge.radius);
        }
    }
    let marks = edge.marks();
    if let Some((tip, end)) = marks.barb {
        line(out, &format!("barb {domain}"), &[tip, end], 0.0);
    }
    let kind = match edge.stroke {
        Some(Stroke::Both) => " both",
        Some(Stroke::Contested) => " contested",
        _ => "",
    };
    for (from, to) in marks.strokes {
        line(out, &format!("stroke {domain}{kind}"), &[from, to], 0.0);
    }
    out.push_str("</g>\n");
}

fn write_rail(out: &mut String, rail: &Rail) {
    line(out, "rail", &[rail.from, rail.to], 0.0);
    let mut d = String::new();
    let mut x = rail.from.x + 7.0;
    while x <= rail.to.x + 0.1 {
        let (top, bottom) = (Point::new(x, rail.from.y + 1.0), Point::new(x - 6.0, rail.from.y + 8.0));
        let _ = write!(d, "M{} L{} ", place(top), place(bottom));
        x += 8.0;
    }
    let _ = writeln!(out, "<path class=\"hatch\" d=\"{}\"/>", d.trim_end());
}

fn write_node(out: &mut String, node: &Node) {
    if node.shape == Shape::Dot {
        circle(out, "dot", node.at, 4.2);
        if node.width > 1 {
            circle(out, "ring", node.at, 7.4);
        }
    }
}

fn write_label(out: &mut String, label: &Label) {
    open_group(out, "label", &label.name, &label.title);
    let at = label.at;
    match label.kind {
        LabelKind::Coupler => rect(out, "frame", at, at.h / 2.0),
        LabelKind::Element(Some(false)) => rect(out, "derivative", at.grown(-1.0), 3.0),
        _ => {}
    }
    let (x, anchor) = match label.anchor {
        Anchor::Start => (at.x + 1.0, "start"),
        Anchor::Middle => (at.x + at.w / 2.0, "middle"),
        Anchor::End => (at.x + at.w - 1.0, "end"),
    };
    let is_small = matches!(label.kind, LabelKind::Value | LabelKind::Number);
    let y = at.y + at.h / 2.0 + if is_small { 3.7 } else { 4.6 };
    let domain = class(label.domain.as_deref());
    let mut write = |x: f64, anchor: &str, class: &str, text: &str| {
        let (x, y, text) = (length(x), length(y), escaped(text));
        let _ = writeln!(
            out,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    };
    match label.kind {
        LabelKind::Node | LabelKind::Coupler => write(x, anchor, "name", &label.text),
        LabelKind::Branch => write(x, anchor, &format!("name {domain}"), &label.text),
        LabelKind::Domain | LabelKind::Signal => write(x, anchor, "soft italic", &label.text),
        LabelKind::Component => write(x, anchor, "soft", &label.text),
        LabelKind::Value => write(x, anchor, "soft italic small", &label.text),
        LabelKind::Number => write(x, anchor, "soft small", &label.text),
        LabelKind::Element(_) | LabelKind::Junction => {
            let is_junction = label.kind == LabelKind::Junction;
            let (large, small, mark) = if is_junction {
                ("digit", "soft", ' ')
            } else {
                ("letters", "name", ':')
            };
            match label.text.split_once(mark) {
                None => write(x, anchor, large, &label.text),
                // Two adjoining texts, because some viewers cannot centre a single text with two styles.
                Some((letters, name)) => {
                    let rest = if is_junction {
                        name.to_string()
                    } else {
                        format!(":{name}")
                    };
                    let gap = if is_junction { 4.0 } else { 0.5 };
                    let (before, behind) = (bold_width(letters, LARGE), width(&rest, SIZE));
                    let meet = x + (before - behind - gap) / 2.0 * NARROWER;
                    write(meet, "end", large, letters);
                    write(meet + gap, "start", small, &rest);
                }
            }
        }
    }
    out.push_str("</g>\n");
}
