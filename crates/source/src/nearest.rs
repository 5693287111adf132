//! Suggestions for misspelt names.

use crate::Span;
use crate::diagnostic::Fix;

/// The maximum number of candidates that are compared letter by letter.
const MOST_COMPARED: usize = 5000;

/// Returns the number of single-character edits between two words; a swap of neighbours counts as one.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row[j + 1] = best;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last[b.len()]
}

fn folded(word: &[char]) -> Vec<char> {
    word.iter().flat_map(|letter| letter.to_lowercase()).collect()
}

/// Returns the candidates nearest to a misspelt name, nearest first, at most three.
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let word: Vec<char> = name.chars().collect();
    let limit = match word.len() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let lower = folded(&word);
    let of_like_length = candidates.into_iter().filter(|candidate| {
        // The length in bytes already excludes most candidates; for names it equals the length in letters.
        candidate.len() <= 4 * (word.len() + limit) && candidate.len() + limit >= word.len()
    });
    let mut list: Vec<(usize, &str)> = of_like_length
        .take(MOST_COMPARED)
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.chars().collect();
            if letters.len().abs_diff(word.len()) > limit {
                return None;
            }
            let plain = distance(&word, &letters);
            let folded = distance(&lower, &folded(&letters));
            // A word without common letters is not a misspelling: `y` is not a misspelt `x`.
            let different = plain.min(folded + 1);
            (different <= limit && different < letters.len().max(word.len())).then_some((different, candidate))
        })
        .collect();
    // If two names are equally close, the name that starts with the word has priority.
    list.sort_unstable_by_key(|(different, candidate)| (*different, !candidate.starts_with(name), *candidate));
    list.dedup();
    list.truncate(3);
    list.into_iter().map(|entry| entry.1).collect()
}

/// Returns the number of typing errors between two names: wrong, missing, extra or swapped characters.
pub fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    distance(&a, &b)
}

/// Returns the nearest candidate.
pub fn suggestion<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    nearest(name, candidates).into_iter().next()
}

/// Returns changes that replace a misspelt name by each of the nearest candidates.
pub fn corrections<'n>(span: Span, name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Box<[Fix]> {
    let near = nearest(name, candidates).into_iter();
    let fix = |candidate: &str| Fix {
        title: format!("write `{candidate}`"),
        edits: vec![(span, candidate.to_string())],
    };
    near.map(fix).collect()
}

/// Returns a sentence that suggests the nearest candidates, or lists all candidates if none is near.
pub fn did_you_mean<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let mut all: Vec<&str> = candidates.into_iter().collect();
    let near = nearest(name, all.iter().copied());
    if !near.is_empty() {
        return Some(format!("did you mean `{}`?", near.join("` or `")));
    }
    all.sort_unstable();
    all.dedup();
    match all.len() {
        0 => None,
        1..=12 => Some(format!("the names here are `{}`", all.join("`, `"))),
        // A long list of names is not helpful; a few of them are enough.
        count => Some(format!(
            "the names here are `{}` and {} more",
            all[..12].join("`, `"),
            count - 12
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(suggestion("Resitor", ["Resistor", "Capacitor"]), Some("Resistor"));
        assert_eq!(suggestion("resistor", ["Resistor", "Capacitor"]), Some("Resistor"));
        assert_eq!(suggestion("Mas", ["Mass", "Damper"]), Some("Mass"));
        assert_eq!(suggestion("acros", ["acos", "across"]), Some("across"));
        assert_eq!(suggestion("pendulum", ["Mass", "Damper"]), None);
        assert_eq!(distance(&['a', 'b'], &['b', 'a']), 1);
        assert_eq!(
            suggestion("a", std::iter::repeat_n("long_name", 100_000).chain(["b"])),
            None
        );
    }
}
