//! Letters and symbols outside the language, and their replacements.

/// Returns the ASCII equivalent of a letter or sign that engineers often write or paste.
pub(super) fn likely_meaning(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{B5}' | '\u{3BC}' => "u",
        '\u{2126}' | '\u{3A9}' => "ohm",
        '°' => "deg",
        'ω' => "omega",
        'θ' | 'ϑ' => "theta",
        'φ' | 'ϕ' => "phi",
        'α' => "alpha",
        'β' => "beta",
        'γ' => "gamma",
        'δ' => "delta",
        'ζ' => "zeta",
        'λ' => "lambda",
        'π' => "pi",
        'ρ' => "rho",
        'σ' => "sigma",
        'τ' => "tau",
        '·' | '×' | '⋅' => "*",
        '−' | '–' => "-",
        '²' => "^2",
        '³' => "^3",
        '→' => "->",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '\'' | '“' | '”' | '‘' | '’' => "\"",
        'а' => "a",
        'е' => "e",
        'о' => "o",
        'р' => "p",
        'с' => "c",
        'х' => "x",
        'ä' => "ae",
        'ö' => "oe",
        'ü' => "ue",
        'ß' => "ss",
        _ => return None,
    })
}

/// Returns true if a text ends within the brackets of a unit, like `3 [N`: after a value, with only factors and operators of a unit.
pub(super) fn is_in_unit(before: &str) -> bool {
    let Some((front, inside)) = before.rsplit_once('[') else {
        return false;
    };
    let is_part = |letter: char| letter.is_alphanumeric() || " ./*^()-·×⋅".contains(letter);
    let value = front.trim_end();
    let is_apart = value.len() < front.len() || value.ends_with(|letter: char| letter.is_ascii_digit());
    is_apart
        && inside.chars().all(is_part)
        && value.ends_with(|letter: char| letter.is_alphanumeric() || ")]".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::is_in_unit;

    #[test]
    fn a_unit_stands_behind_a_value() {
        for text in ["Damper(3 [N", "param b = 2[N", "param d [N", "k*(1 + x) [kg·m"] {
            assert!(is_in_unit(text), "{text}");
        }
        for text in ["a[i", "y = [a", "3 [N], b", "f(x)", "3 [m] + 2"] {
            assert!(!is_in_unit(text), "{text}");
        }
    }
}
