//! A derivation as text, LaTeX, Markdown, Typst and JSON.

use super::report::{Derivation, Rule, Sides, Step};
use lgm_algebra::expr::{Exprs, print};
use serde_json::{Value, json};
use std::fmt::Write;

/// The format of a written derivation.
struct Style {
    equation: fn(&Sides, &Exprs) -> String,
    name: fn(&str) -> String,
    title: (&'static str, &'static str),
    heading: (&'static str, &'static str),
    open: &'static str,
    close: &'static str,
    /// Formats the number before a line, if the formula has none of its own.
    item: fn(usize) -> String,
    end: fn(usize) -> String,
    /// The text before and after the words about a line.
    about: (&'static str, &'static str),
}

/// Writes the derivation in plain text, with expressions in the syntax of the language.
pub fn text(derivation: &Derivation) -> String {
    let width = derivation.steps.len().to_string().len() + 2;
    let mut out = format!("{}\n", derivation.model);
    for (rule, steps) in sections(derivation) {
        let _ = writeln!(out, "\n{}", rule.heading());
        for step in steps {
            let number = format!("({})", step.number);
            let words = words(derivation, step, &|name| name.to_string());
            let colon = if words.is_empty() { "" } else { ": " };
            let equation = step.sides.text(&derivation.exprs);
            let _ = writeln!(out, "  {number:>width$}  {words}{colon}{equation}");
        }
    }
    out
}

/// Writes the derivation as sections of a LaTeX document, for `amsmath`.
pub fn latex(derivation: &Derivation) -> String {
    let style = Style {
        equation: Sides::latex,
        name: |name| print::latex_escaped(name, print::LatexMode::Text),
        title: ("\\section*{", "}"),
        heading: ("\\subsection*{", "}"),
        open: "\\[ ",
        close: "",
        item: |_| String::new(),
        end: |number| format!(" \\tag{{{number}}} \\]"),
        about: ("", ":"),
    };
    document(derivation, &style)
}

/// Writes the derivation in Markdown, with formulas between dollar signs.
pub fn markdown(derivation: &Derivation) -> String {
    let style = Style {
        equation: Sides::latex,
        name: |name| format!("`{name}`"),
        title: ("# ", ""),
        heading: ("## ", ""),
        open: "$$ ",
        close: "",
        item: |_| String::new(),
        end: |number| format!(" \\tag{{{number}}} $$"),
        about: ("", ":"),
    };
    document(derivation, &style)
}

/// Writes the derivation in Typst.
pub fn typst(derivation: &Derivation) -> String {
    let style = Style {
        equation: Sides::typst,
        name: |name| format!("`{name}`"),
        title: ("= ", ""),
        heading: ("== ", ""),
        open: "$ ",
        close: " $",
        item: |number| format!("({number})"),
        end: |_| String::new(),
        about: ("", ":"),
    };
    document(derivation, &style)
}

fn document(derivation: &Derivation, style: &Style) -> String {
    let title = (style.name)(&derivation.model);
    let mut out = format!("{}{title}{}\n", style.title.0, style.title.1);
    for (rule, steps) in sections(derivation) {
        let _ = writeln!(out, "\n{}{}{}", style.heading.0, rule.heading(), style.heading.1);
        for step in steps {
            let words = words(derivation, step, &style.name);
            let item = (style.item)(step.number);
            let about = match (item.is_empty(), words.is_empty()) {
                (true, true) => String::new(),
                (false, true) => format!("{item}\n"),
                (true, false) => format!("{}{words}{}\n", style.about.0, style.about.1),
                (false, false) => format!("{item} {}{words}{}\n", style.about.0, style.about.1),
            };
            let equation = (style.equation)(&step.sides, &derivation.exprs);
            let (open, close, end) = (style.open, style.close, (style.end)(step.number));
            let _ = writeln!(out, "\n{about}{open}{equation}{close}{end}");
        }
    }
    out
}

/// A heading, or an equation with the words before it, for documents that print a derivation in their own notation.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// The heading of a group of steps.
    Heading(&'static str),
    /// An equation.
    Equation {
        /// The words before the equation; names are in backquotes.
        words: String,
        /// The equation in LaTeX.
        latex: String,
        /// The equation in Typst.
        typst: String,
        /// The number of the equation.
        number: usize,
    },
}

/// Returns the derivation piece by piece.
pub fn pieces(derivation: &Derivation) -> Vec<Piece> {
    let mut found = Vec::new();
    for (rule, steps) in sections(derivation) {
        found.push(Piece::Heading(rule.heading()));
        for step in steps {
            found.push(Piece::Equation {
                words: words(derivation, step, &|name| format!("`{name}`")),
                latex: step.sides.latex(&derivation.exprs),
                typst: step.sides.typst(&derivation.exprs),
                number: step.number,
            });
        }
    }
    found
}

/// Returns the steps of each rule that has any.
fn sections(derivation: &Derivation) -> impl Iterator<Item = (Rule, Vec<&Step>)> {
    let of = |rule: Rule| {
        (
            rule,
            derivation
                .steps
                .iter()
                .filter(|step| step.rule == rule)
                .collect::<Vec<_>>(),
        )
    };
    Rule::ALL.into_iter().map(of).filter(|section| !section.1.is_empty())
}

/// Formats the words before the equation of a step.
fn words(derivation: &Derivation, step: &Step, name: &dyn Fn(&str) -> String) -> String {
    let numbers = |list: &[usize]| {
        let list: Vec<String> = list.iter().map(|number| format!("({number})")).collect();
        list.join(", ")
    };
    let together: Vec<String> = step.together.iter().map(|own| name(own)).collect();
    let together = together.join(", ");
    match (step.rule, &step.because[..]) {
        (Rule::Node | Rule::Loop | Rule::Junction, _) => name(&step.of),
        (Rule::Substitution, all) if step.is_solution(&derivation.exprs) => {
            format!("{} together, for {together}", numbers(all))
        }
        (Rule::Substitution, [into]) if !together.is_empty() => format!("({into}) is to be solved for {together}"),
        (Rule::Substitution, [of]) if step.is_derivative => format!("the derivative of ({of})"),
        (Rule::Substitution, [into, by @ ..]) if step.is_derivative => {
            format!("the derivative of ({into}), with {}", numbers(by))
        }
        (Rule::Substitution, [into, by @ ..]) if !together.is_empty() => {
            format!("into ({into}): {}, to be solved for {together}", numbers(by))
        }
        (Rule::Substitution, [into, by @ ..]) => format!("into ({into}): {}", numbers(by)),
        (Rule::Result, all) if !all.is_empty() => format!("by {}", numbers(all)),
        _ => String::new(),
    }
}

/// Converts the derivation to JSON. The format is stable, because other tools read it.
pub fn json(derivation: &Derivation) -> Value {
    let steps = derivation.steps.iter().map(|step| {
        json!({
            "number": step.number, "rule": step.rule.word(), "equation": step.sides.text(&derivation.exprs),
            "because": step.because,
        })
    });
    json!({
        "schema": "lgm-derivation/1",
        "model": &*derivation.model,
        "steps": steps.collect::<Vec<_>>(),
    })
}
