//! Rows that repeat over indices, combined into one row: `der(cell[i].l.i) = .. for i in 2:40`.
//!
//! A row whose name has indices is written relative to them: `cell[3].c.v - cell[4].c.v` of row 3 is `cell[i].c.v - cell[i + 1].c.v`. Rows with
//! the same relative text form one pattern, which covers all their indices. A pattern with its indices substituted is identical to the text
//! of its row, so nothing is lost or changed.

use super::Names;
use rustc_hash::FxHashMap;
use std::fmt;

/// Groups with fewer rows than this stay unchanged.
const LEAST: usize = 3;

/// Letters for indices, in order of assignment.
const LETTERS: [&str; 6] = ["i", "j", "k", "n", "m", "l"];

/// The indices of a row.
type Indices = Vec<i64>;

/// Rows of one pattern: the indices and the position of each row.
type Members = Vec<(Indices, usize)>;

/// A row, or a row that represents all values of its indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row<P> {
    /// Texts in the syntax of the language, the first of which starts with the name of the row.
    pub(crate) cells: Vec<String>,
    /// The values of its indices; empty for a single row.
    pub(crate) ranges: Vec<Range>,
    /// The position, counted from 0, of the row or of the first row that it represents; none if positions do not matter.
    pub(crate) place: Option<usize>,
    /// The cells of the row that `of` describes; none if they equal `cells`.
    pub(crate) own: Option<Vec<String>>,
    /// Further properties of the row.
    pub(crate) of: P,
}

/// The values of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) letter: &'static str,
    pub(crate) first: i64,
    pub(crate) last: i64,
    /// The stride from one value to the next, if positions matter.
    pub(crate) step: Option<i64>,
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} in {}:{}", self.letter, self.first, self.last)
    }
}

/// The cells of a row that represents others, and the values of its indices.
type Pattern = (Vec<String>, Vec<Range>);

/// The letters that may be used for indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Letters {
    /// None: each row stays unchanged.
    None,
    /// All letters that are not names.
    Free,
    /// All letters that are neither names nor last parts of names, such as the current of `l[1].i`.
    Apart,
}

/// The options for gathering rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    letters: Letters,
    /// The rows of a pattern are evenly spaced, and their positions are known.
    evenly: bool,
}

impl Manner {
    pub(crate) fn new(letters: Letters, flat: bool) -> Manner {
        let letters = if flat { Letters::None } else { letters };
        Manner { letters, evenly: false }
    }

    /// Returns the same options for rows whose positions matter.
    pub(crate) fn evenly(self) -> Manner {
        Manner {
            evenly: self.letters != Letters::None,
            ..self
        }
    }
}

/// Combines rows that repeat over indices; each row consists of texts and further data.
pub(crate) fn gathered<P>(rows: Vec<(Vec<String>, P)>, manner: Manner) -> Vec<Row<P>> {
    let (mut shown, hidden) = match manner.letters {
        Letters::None => Default::default(),
        _ => repeated(&rows, manner),
    };
    let mut kept = Vec::new();
    for (at, (cells, of)) in rows.into_iter().enumerate() {
        let place = manner.evenly.then_some(at);
        match shown.remove(&at) {
            Some((pattern, ranges)) => kept.push(Row {
                cells: pattern,
                ranges,
                place,
                own: Some(cells),
                of,
            }),
            None if hidden.get(at) == Some(&true) => {}
            None => kept.push(Row {
                cells,
                ranges: Vec::new(),
                place,
                own: None,
                of,
            }),
        }
    }
    kept
}

/// Returns the patterns by the position of their first row, and the rows that they represent.
fn repeated<P>(rows: &[(Vec<String>, P)], manner: Manner) -> (FxHashMap<usize, Pattern>, Vec<bool>) {
    let letters = letters(rows, manner.letters);
    let mut patterns: FxHashMap<(usize, Vec<String>), Members> = FxHashMap::default();
    for (at, (row, _)) in rows.iter().enumerate() {
        let own = row.first().map(|name| indices_of(name)).unwrap_or_default();
        if !own.is_empty() && own.len() <= letters.len() {
            let relative: Vec<String> = row.iter().map(|text| relative(text, &own, &letters)).collect();
            patterns.entry((own.len(), relative)).or_default().push((own, at));
        }
    }
    // The first row of each part of a pattern, with the text shown there; the other rows of the part are omitted.
    let mut shown = FxHashMap::default();
    let mut hidden = vec![false; rows.len()];
    for ((_, relative), members) in patterns {
        for part in boxes(members, manner.evenly) {
            if part.rows.len() < LEAST {
                continue;
            }
            // Positions count from the row with the first indices.
            let first = match manner.evenly {
                true => part.rows.first(),
                false => part.rows.iter().min(),
            };
            let first = *first.expect("invariant: a part of a pattern has rows");
            let pattern = with_ranges(&relative, &part, &letters);
            if Names::between(&rows[first].0, &pattern.0).is_none() {
                continue;
            }
            part.rows.iter().for_each(|row| hidden[*row] = true);
            shown.insert(first, pattern);
        }
    }
    (shown, hidden)
}

/// Returns letters that are not names in the rows.
fn letters<P>(rows: &[(Vec<String>, P)], of: Letters) -> Vec<&'static str> {
    let joins = if of == Letters::Apart { "_" } else { "_." };
    let is_name = |letter: &&str| {
        let has = |text: &String| {
            text.split(|c: char| !(c.is_alphanumeric() || joins.contains(c)))
                .any(|word| word == *letter)
        };
        rows.iter().flat_map(|(row, _)| row).any(has)
    };
    LETTERS.into_iter().filter(|letter| !is_name(letter)).collect()
}

/// Returns the numbers between the brackets of a name: 3 and 4 for `der(grid[3, 4].v)`.
fn indices_of(name: &str) -> Indices {
    let mut found = Vec::new();
    let mut rest = name;
    while let Some((_, list, behind)) = bracketed(rest) {
        found.extend(list);
        rest = behind;
    }
    found
}

/// Splits a text at the first list of numbers in brackets: the text before it, the numbers, and the text after it.
fn bracketed(text: &str) -> Option<(&str, Indices, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('[')?;
        let close = open + text[open..].find(']')?;
        let list: Option<Indices> = text[open + 1..close]
            .split(", ")
            .map(|part| part.parse().ok())
            .collect();
        match list {
            Some(list) => return Some((&text[..open], list, &text[close + 1..])),
            None => from = open + 1,
        }
    }
}

/// Writes the indices of a text relative to those of its row: the first index of a name relative to the row's first index, and so on.
/// Additional indices are relative to the row's last index.
fn relative(text: &str, own: &[i64], letters: &[&str]) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    let mut known = 0;
    while let Some((front, list, behind)) = bracketed(rest) {
        written.push_str(front);
        // The name continues after its brackets: `cell[2].l[3]`.
        if !front
            .chars()
            .all(|letter| letter.is_alphanumeric() || "_.".contains(letter))
        {
            known = 0;
        }
        let parts = list.iter().map(|index| {
            let at = known.min(own.len() - 1);
            known += 1;
            match index - own[at] {
                0 => letters[at].to_string(),
                ahead if ahead > 0 => format!("{} + {ahead}", letters[at]),
                behind => format!("{} - {}", letters[at], -behind),
            }
        });
        written.push_str(&format!("[{}]", parts.collect::<Vec<_>>().join(", ")));
        rest = behind;
    }
    written.push_str(rest);
    written
}

/// Rows of one pattern whose indices fill a product of ranges.
struct RowProduct {
    ranges: Vec<(i64, i64)>,
    /// The spacing of rows along each index, if positions matter and the index varies.
    steps: Vec<Option<i64>>,
    rows: Vec<usize>,
    /// The position of the first row for the last value of the index that was examined.
    latest: usize,
}

impl RowProduct {
    /// Returns the step to a part that continues this one along an index; none if the part does not continue this one.
    fn step_to(&self, next: &RowProduct, along: usize, evenly: bool) -> Option<Option<i64>> {
        let is_other = |at: usize| at != along;
        let others = |part: &RowProduct| -> Vec<_> {
            let both = part.ranges.iter().copied().zip(part.steps.iter().copied());
            both.enumerate()
                .filter(|(at, _)| is_other(*at))
                .map(|(_, each)| each)
                .collect()
        };
        if self.ranges[along].1.checked_add(1) != Some(next.ranges[along].0) || others(self) != others(next) {
            return None;
        }
        let step = next.rows[0] as i64 - self.latest as i64;
        let is_even = self.steps[along].is_none_or(|before| before == step);
        match evenly {
            true => is_even.then_some(Some(step)),
            false => Some(None),
        }
    }
}

/// Groups rows into few products of ranges: runs along the last index, then equal consecutive runs along the preceding index, and so on.
fn boxes(members: Members, evenly: bool) -> Vec<RowProduct> {
    let mut parts: Vec<RowProduct> = members
        .into_iter()
        .map(|(indices, row)| RowProduct {
            steps: vec![None; indices.len()],
            ranges: indices.into_iter().map(|index| (index, index)).collect(),
            rows: vec![row],
            latest: row,
        })
        .collect();
    let count = parts.first().map_or(0, |part| part.ranges.len());
    for along in (0..count).rev() {
        let others = |part: &RowProduct| -> Vec<(i64, i64)> {
            let kept = part.ranges.iter().enumerate().filter(|(at, _)| *at != along);
            kept.map(|(_, range)| *range).collect()
        };
        parts.sort_by(|a, b| others(a).cmp(&others(b)).then(a.ranges[along].cmp(&b.ranges[along])));
        let mut joined: Vec<RowProduct> = Vec::with_capacity(parts.len());
        for mut part in parts {
            part.latest = part.rows[0];
            let step = joined.last().and_then(|last| last.step_to(&part, along, evenly));
            match (joined.last_mut(), step) {
                (Some(last), Some(step)) => {
                    last.ranges[along].1 = part.ranges[along].1;
                    last.steps[along] = step;
                    last.latest = part.latest;
                    last.rows.extend(part.rows);
                }
                _ => joined.push(part),
            }
        }
        parts = joined;
    }
    parts
}

/// Prints the row of a pattern: constant indices are numbers, and the others have ranges.
fn with_ranges(relative: &[String], part: &RowProduct, letters: &[&'static str]) -> Pattern {
    let mut row: Vec<String> = relative.to_vec();
    let mut ranges = Vec::new();
    for (((first, last), step), letter) in part.ranges.iter().copied().zip(&part.steps).zip(letters) {
        match first == last {
            true => row.iter_mut().for_each(|text| *text = put_in(text, letter, first)),
            false => ranges.push(Range {
                letter,
                first,
                last,
                step: *step,
            }),
        }
    }
    (row, ranges)
}

/// Replaces an index in a relative text by a number.
fn put_in(text: &str, letter: &str, value: i64) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let Some(close) = rest[open..].find(']').map(|length| open + length) else {
            break;
        };
        written.push_str(&rest[..=open]);
        let parts = rest[open + 1..close].split(", ").map(|part| {
            let (name, shift) = match part.split_once(' ') {
                Some((name, shift)) => (name, shift.replace(' ', "").parse().unwrap_or(0)),
                None => (part, 0),
            };
            match name == letter {
                true => (value + shift).to_string(),
                false => part.to_string(),
            }
        });
        written.push_str(&parts.collect::<Vec<_>>().join(", "));
        written.push(']');
        rest = &rest[close + 1..];
    }
    written.push_str(rest);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let rows = lines.map(|line| (line.split(" = ").map(str::to_string).collect(), ()));
        let rows = gathered(rows.collect(), Manner::new(Letters::Free, false)).into_iter();
        let row = |row: Row<()>| {
            let ranges: Vec<String> = row.ranges.iter().map(Range::to_string).collect();
            let ranges = match ranges.is_empty() {
                true => String::new(),
                false => format!("   for {}", ranges.join(", ")),
            };
            format!("{}{ranges}", row.cells.join(" = "))
        };
        rows.map(row).collect()
    }

    #[test]
    fn rows_that_repeat_are_one_with_borders_beside_it() {
        let text = "
            der(c[1].v) = u - c[1].v + c[2].v
            der(c[2].v) = c[1].v - c[2].v + c[3].v
            der(c[3].v) = c[2].v - c[3].v + c[4].v
            der(c[4].v) = c[3].v - c[4].v + c[5].v
            der(c[5].v) = c[4].v - c[5].v/Rl";
        assert_eq!(
            shown(text),
            [
                "der(c[1].v) = u - c[1].v + c[2].v",
                "der(c[i].v) = c[i - 1].v - c[i].v + c[i + 1].v   for i in 2:4",
                "der(c[5].v) = c[4].v - c[5].v/Rl",
            ]
        );
    }

    #[test]
    fn grids_have_two_indices() {
        let mut text = String::new();
        for i in 1..=3 {
            for j in 1..=4 {
                text += &format!("g[{i}, {j}] = a[{i}, {}] + i\n", j + 1);
            }
        }
        // `i` is a name in the rows, so it is not used as an index.
        assert_eq!(shown(&text), ["g[j, k] = a[j, k + 1] + i   for j in 1:3, k in 1:4"]);
        let row = "x[2, 1] = 1\nx[2, 2] = 1\nx[2, 3] = 1";
        assert_eq!(shown(row), ["x[2, j] = 1   for j in 1:3"]);
    }

    #[test]
    fn letters_may_have_to_be_apart_from_last_parts_of_names() {
        let rows = |letters: Letters| {
            let rows = (1..=3).map(|at| (vec![format!("l[{at}].i"), format!("n.l[{at}].j_1")], ()));
            gathered(rows.collect(), Manner::new(letters, false))[0].cells.clone()
        };
        assert_eq!(rows(Letters::Free), ["l[i].i", "n.l[i].j_1"]);
        assert_eq!(rows(Letters::Apart), ["l[j].i", "n.l[j].j_1"]);
    }

    #[test]
    fn places_may_count() {
        let rows = [
            "a[1]", "b[1]", "a[2]", "b[2]", "a[3]", "b[3]", "x", "b[4]", "b[5]", "a[5]", "a[4]",
        ];
        let rows = rows.map(|name| (vec![name.to_string()], ())).to_vec();
        let rows = gathered(rows, Manner::new(Letters::Free, false).evenly());
        let shown = rows.iter().map(|row| {
            let ranges = row.ranges.iter().map(|range| (range.first, range.last, range.step));
            (&*row.cells[0], row.place, ranges.collect::<Vec<_>>())
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                ("a[i]", Some(0), vec![(1, 3, Some(2))]),
                ("b[i]", Some(1), vec![(1, 4, Some(2))]),
                ("x", Some(6), vec![]),
                ("b[5]", Some(8), vec![]),
                ("a[5]", Some(9), vec![]),
                ("a[4]", Some(10), vec![]),
            ]
        );
    }

    #[test]
    fn parts_of_parts_have_two_indices() {
        let mut text = String::new();
        for i in 1..=3 {
            for j in 1..=3 {
                text += &format!("a[{i}].b[{j}].v = k[{i}]*a[{i}].b[{}].v\n", j + 1);
            }
        }
        assert_eq!(
            shown(&text),
            ["a[i].b[j].v = k[i]*a[i].b[j + 1].v   for i in 1:3, j in 1:3"]
        );
    }

    #[test]
    fn other_rows_stay() {
        let text = "x = 1\ny[1] = 2\ny[2] = 2\nz[1] = k[1]\nz[2] = k[1]\nz[3] = k[1]\nw[1] = [0, 1]*a";
        assert_eq!(shown(text), text.lines().collect::<Vec<_>>());
    }

    #[test]
    fn a_pattern_with_an_index_is_the_text_of_its_row() {
        let text = "der(c[12].v) = 2*c[11].v - [a]*c[13].l[12] - k[2]";
        let written = relative(text, &[12], &["i"]);
        assert_eq!(written, "der(c[i].v) = 2*c[i - 1].v - [a]*c[i + 1].l[i] - k[i - 10]");
        assert_eq!(put_in(&written, "i", 12), text);
    }
}
