//! Suggestions for misspelt names.

/// The number of single-character edits between two words, neighbours swapped counting as one.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = last;
        last = row;
    }
    last[b.len()]
}

/// The candidates nearest to a misspelt name, nearest first, at most three.
pub(super) fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let limit = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let mut list: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let plain = distance(name, candidate);
            let folded = distance(&name.to_lowercase(), &candidate.to_lowercase());
            // A word of another length altogether is no misspelling: `x` is not meant by `y`.
            let different = plain.min(folded + 1);
            (different <= limit && different < candidate.chars().count().max(name.chars().count()))
                .then_some((different, candidate))
        })
        .collect();
    list.sort_unstable();
    list.dedup();
    list.truncate(3);
    list.into_iter().map(|entry| entry.1).collect()
}

/// The nearest candidate.
pub(crate) fn suggestion<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    nearest(name, candidates).into_iter().next()
}

/// A sentence that offers the nearest candidates, or lists them all when none is near.
pub(crate) fn did_you_mean<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<String> {
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
        // A list of very many names helps nobody; a few of them show what is meant.
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
        assert_eq!(suggestion("pendulum", ["Mass", "Damper"]), None);
        assert_eq!(distance("ab", "ba"), 1);
    }
}
