//! Operators of other languages.

/// The longest condition and the longest values, in characters, that the help repeats.
const LONGEST: usize = 200;

/// Returns the replacement of a conditional of C, `c ? a : b`, with `?` at this location.
pub(super) fn conditional(text: &str, start: usize) -> String {
    let is_end = |letter: char| matches!(letter, '(' | ')' | ',' | ';' | '{' | '}' | '\n');
    let mut letters = text[..start].char_indices().rev().take(LONGEST);
    let begin = letters
        .find(|(_, letter)| is_end(*letter))
        .map(|(at, letter)| at + letter.len_utf8());
    let before = &text[begin.unwrap_or(if start < LONGEST { 0 } else { start })..start];
    // An assignment ends before the condition; `==`, `<=` and similar signs belong to it.
    let signs = before.bytes().collect::<Vec<_>>();
    let assigned = (0..signs.len()).rev().find(|at| {
        let is_sign = |at: usize| signs.get(at).is_some_and(|sign| b"=<>!".contains(sign));
        signs[*at] == b'=' && !is_sign(at + 1) && !at.checked_sub(1).is_some_and(is_sign)
    });
    let condition = before[assigned.map_or(0, |at| at + 1)..].trim();
    let rest = text[start + 1..].char_indices().take(LONGEST);
    let end = rest
        .take_while(|(_, letter)| !is_end(*letter))
        .map(|(at, letter)| at + letter.len_utf8())
        .last();
    let after = &text[start + 1..start + 1 + end.unwrap_or(0)];
    match after.split_once(':').map(|(yes, no)| (yes.trim(), no.trim())) {
        Some((yes, no)) if ![condition, yes, no].contains(&"") => {
            format!("write `if {condition} then {yes} else {no}`")
        }
        _ => "write `if condition then a else b`".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::conditional;

    #[test]
    fn conditionals_of_c_are_rewritten() {
        for (text, expected) in [
            ("output y = u > 0 ? 1 : 0;", "write `if u > 0 then 1 else 0`"),
            ("signal a = b >= 2 ? c : d;", "write `if b >= 2 then c else d`"),
            ("x : F(a == 1 ? 2 : 3) p -> q;", "write `if a == 1 then 2 else 3`"),
            ("what?", "write `if condition then a else b`"),
        ] {
            assert_eq!(conditional(text, text.find('?').unwrap()), expected);
        }
    }
}
