//! Polynomials and sides of differential equations as text.

/// Formats coefficients of descending powers of s as a sum.
pub(super) fn polynomial(coefficients: &[String]) -> String {
    sum(coefficients, &|power| match power {
        0 => String::new(),
        1 => "s".to_string(),
        _ => format!("s^{power}"),
    })
}

/// Formats a quotient of two expressions or polynomials, with only the necessary parentheses.
pub(super) fn quotient(above: &str, below: &str) -> String {
    let top = match is_sum(above) && below != "1" {
        true => format!("({above})"),
        false => above.to_string(),
    };
    match below {
        "1" => top,
        _ if is_sum(below) || below.contains(['*', '/', ' ']) => format!("{top}/({below})"),
        _ => format!("{top}/{below}"),
    }
}

/// Formats coefficients of descending derivatives of a variable as a sum: `m*v'' + k*v`.
pub(super) fn ode_side(coefficients: &[String], variable: &str) -> String {
    sum(coefficients, &|order| match order {
        0..=3 => format!("{variable}{}", "'".repeat(order)),
        _ => format!("{variable}^({order})"),
    })
}

fn sum(coefficients: &[String], base: &dyn Fn(usize) -> String) -> String {
    let mut text = String::new();
    for (at, coefficient) in coefficients.iter().enumerate() {
        if coefficient == "0" {
            continue;
        }
        let base = base(coefficients.len() - 1 - at);
        let term = match (coefficient.as_str(), base.is_empty()) {
            (_, true) => coefficient.clone(),
            ("1", _) => base,
            ("-1", _) => format!("-{base}"),
            _ if is_sum(coefficient) => format!("({coefficient})*{base}"),
            _ => format!("{coefficient}*{base}"),
        };
        match term.strip_prefix('-') {
            _ if text.is_empty() => text = term,
            Some(positive) => text.push_str(&format!(" - {positive}")),
            None => text.push_str(&format!(" + {term}")),
        }
    }
    if text.is_empty() { "0".to_string() } else { text }
}

/// Returns true if an expression is a sum outside all brackets.
fn is_sum(text: &str) -> bool {
    let mut depth = 0;
    text.char_indices().any(|(at, letter)| {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth == 0 && (text[at..].starts_with(" + ") || text[at..].starts_with(" - "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn sums_have_brackets_only_where_they_need_them() {
        assert_eq!(polynomial(&list(&["m", "a + b", "-k"])), "m*s^2 + (a + b)*s - k");
        assert_eq!(polynomial(&list(&["1", "0", "-1", "k*(a + b)"])), "s^3 - s + k*(a + b)");
        assert_eq!(polynomial(&list(&["-1", "a - b"])), "-s + a - b");
        assert_eq!(polynomial(&list(&["0"])), "0");
        assert_eq!(quotient("L*s", "1"), "L*s");
        assert_eq!(quotient("L*s + R", "K^2"), "(L*s + R)/K^2");
        assert_eq!(quotient("s", "m*s^2 + k"), "s/(m*s^2 + k)");
        assert_eq!(
            ode_side(&list(&["m", "-1", "0", "2", "k"]), "x[1]"),
            "m*x[1]^(4) - x[1]''' + 2*x[1]' + k*x[1]"
        );
    }
}
