//! Terminal equations as text and as JSON.

use crate::cli::analysis::polynomials::polynomial;
use lgm_analysis::{ModalMatrices, Ratio, Terminals};
use serde_json::{Value, json};
use std::io::{self, Write};

/// An entry of the matrix: a polynomial in s, or a quotient of two.
fn entry(ratio: &Ratio) -> String {
    let (above, below) = (polynomial(&ratio.numerator), polynomial(&ratio.denominator));
    match below.as_str() {
        "1" => above,
        _ => format!("{}/{}", bracketed(&above, false), bracketed(&below, true)),
    }
}

/// The text in brackets if it is a sum, or, where it divides, anything but a single factor.
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

/// One term of an equation: its sign, and the rest of it; none if it is zero.
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

/// The equations, a term a line where there are several.
pub(super) fn write_text(
    name: &str,
    equations: &Terminals,
    modes: Option<&ModalMatrices>,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{name}, terminal equations")?;
    writeln!(out)?;
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
    let Some(modes) = modes else { return Ok(()) };
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

/// `found = matrix*given`, and beside it what inputs of the model add.
pub(super) fn as_json(name: &str, equations: &Terminals, modes: Option<&ModalMatrices>) -> Value {
    let column = |list: &[Ratio]| list.iter().map(entry).collect::<Vec<String>>();
    let matrix: Vec<Vec<String>> = equations.matrix.iter().map(|row| column(row)).collect();
    let mut value = json!({
        "component": name,
        "given": equations.given,
        "found": equations.found,
        "matrix": matrix,
    });
    if !equations.inputs.is_empty() {
        let inputs = equations.inputs.iter();
        let inputs = inputs.map(|(input, list)| json!({"input": &**input, "column": column(list)}));
        value["inputs"] = inputs.collect();
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
