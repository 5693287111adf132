//! Terminal equations as text and as JSON.

use crate::cli::analysis::polynomials::polynomial;
use lgm_analysis::{ModalMatrices, Ratio, Terminals};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Formats an entry of the matrix: a polynomial in s, or a quotient of two polynomials.
fn entry(ratio: &Ratio) -> String {
    let (above, below) = (polynomial(&ratio.numerator), polynomial(&ratio.denominator));
    match below.as_str() {
        "1" => above,
        _ => format!("{}/{}", bracketed(&above, false), bracketed(&below, true)),
    }
}

/// Puts a text in parentheses if it is a sum or, as a divisor, anything except a single factor.
fn bracketed(text: &str, divides: bool) -> String {
    let mut depth = 0;
    let mut needs = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ' ' if depth == 0 => needs = true,
            '*' | '/' if depth == 0 && divides => needs = true,
            '-' if at == 0 && divides => needs = true,
            _ => {}
        }
    }
    match needs {
        true => format!("({text})"),
        false => text.to_string(),
    }
}

/// Returns one term of an equation as its sign and the remaining text; None if it is zero.
fn term(ratio: &Ratio, variable: &str) -> Option<(bool, String)> {
    if ratio.is_zero() {
        return None;
    }
    let text = bracketed(&entry(ratio), false);
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.to_string()),
        None => (false, text),
    };
    let text = match text.as_str() {
        "1" | "1.0" => variable.to_string(),
        _ => format!("{text}*{variable}"),
    };
    Some((is_negative, text))
}

/// Term length above which the equations of a modal block are printed in modal form.
const LONG: usize = 400;

/// Prints the equations with one term per line. Long equations of a modal block are printed in modal form.
pub(super) fn write_text(
    name: &str,
    equations: Option<&Terminals>,
    modes: Option<&ModalMatrices>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let by_modes = modes.and_then(ModalMatrices::equations);
    let is_short = |equations: &&Terminals| {
        let mut entries = equations.matrix.iter().flatten();
        by_modes.is_none() || entries.all(|ratio| entry(ratio).len() <= LONG)
    };
    match (equations.filter(is_short), by_modes) {
        (Some(equations), _) => {
            writeln!(out, "{name}, terminal equations\n")?;
            write_equations(equations, out)?;
        }
        (None, Some(lines)) => {
            writeln!(out, "{name}, terminal equations by its modes\n")?;
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        }
        (None, None) => {}
    }
    modes.map_or(Ok(()), |modes| write_modes(modes, out))
}

fn write_equations(equations: &Terminals, out: &mut dyn Write) -> io::Result<()> {
    for (row, left) in equations.found.iter().enumerate() {
        let given = equations.matrix[row].iter().zip(&equations.given);
        let given = given.map(|(ratio, variable)| term(ratio, variable));
        let inputs = equations.inputs.iter().map(|(input, column)| term(&column[row], input));
        let terms: Vec<(bool, String)> = given.chain(inputs).flatten().collect();
        let margin = " ".repeat(left.chars().count());
        match &terms[..] {
            [] => writeln!(out, "{left} = 0")?,
            [first, others @ ..] => {
                let sign = if first.0 { "-" } else { "" };
                writeln!(out, "{left} = {sign}{}", first.1)?;
                for (is_negative, text) in others {
                    let sign = if *is_negative { '-' } else { '+' };
                    writeln!(out, "{margin} {sign} {text}")?;
                }
            }
        }
    }
    Ok(())
}

/// Prints the table of the modes.
fn write_modes(modes: &ModalMatrices, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nmodes")?;
    let count = modes.shapes.len();
    for mode in 0..count {
        let parts = modes.parts.iter().filter_map(|(kind, values)| {
            let value = values[mode].as_ref()?;
            Some(format!("{kind} = {value}"))
        });
        let shapes = modes.ports.iter().zip(&modes.shapes[mode]);
        let shapes = shapes.map(|(port, value)| format!("shape at {port} = {value}"));
        let all: Vec<String> = parts.chain(shapes).collect();
        writeln!(out, "  {}  {}", mode + 1, all.join(", "))?;
    }
    Ok(())
}

/// Returns `found = matrix*given` as JSON, and the contribution of the inputs of the model.
pub(super) fn as_json(name: &str, equations: Option<&Terminals>, modes: Option<&ModalMatrices>) -> Value {
    let column = |list: &[Ratio]| list.iter().map(entry).collect::<Vec<String>>();
    let mut value = json!({ "component": name });
    if let Some(equations) = equations {
        let matrix: Vec<Vec<String>> = equations.matrix.iter().map(|row| column(row)).collect();
        (value["given"], value["found"]) = (json!(equations.given), json!(equations.found));
        value["matrix"] = json!(matrix);
        if !equations.inputs.is_empty() {
            let inputs = equations.inputs.iter();
            let inputs = inputs.map(|(input, list)| json!({"input": &**input, "column": column(list)}));
            value["inputs"] = inputs.collect();
        }
    }
    if let Some(lines) = modes.and_then(ModalMatrices::equations) {
        value["by_modes"] = json!(lines);
    }
    if let Some(modes) = modes {
        let mut table = json!({"ports": modes.ports, "shapes": modes.shapes});
        for (kind, values) in &modes.parts {
            table[&**kind] = json!(values);
        }
        value["modes"] = table;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(above: &[&str], below: &[&str]) -> Ratio {
        let list = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
        Ratio {
            numerator: list(above),
            denominator: list(below),
        }
    }

    #[test]
    fn entries_have_brackets_where_they_need_them() {
        assert_eq!(entry(&ratio(&["m/3", "0"], &["1"])), "m/3*s");
        assert_eq!(entry(&ratio(&["k"], &["1", "0"])), "k/s");
        assert_eq!(entry(&ratio(&["1"], &["L", "0"])), "1/(L*s)");
        assert_eq!(entry(&ratio(&["m", "0", "k"], &["1", "0"])), "(m*s^2 + k)/s");
        assert_eq!(
            term(&ratio(&["-1"], &["1"]), "through(b)"),
            Some((true, "through(b)".to_string()))
        );
        assert_eq!(
            term(&ratio(&["b", "k"], &["1"]), "v"),
            Some((false, "(b*s + k)*v".to_string()))
        );
        assert_eq!(term(&ratio(&[], &["1"]), "v"), None);
    }
}
