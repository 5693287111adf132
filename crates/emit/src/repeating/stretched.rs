//! The document of a system of many equal sections, extrapolated from documents of the same system with a few sections.
//!
//! A row represents all rows that repeat over an index ([`super::patterns`]), so the documents differ only in numbers: in indices and
//! ends of ranges, which are constant or grow with the number of sections, and in matrix sizes. Any other difference means
//! that the system has no such document.

use super::{Entries, Format, Names, Piece, Range, Row};

/// The growth of a document, starting from the first known document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// The number of additional sections, compared with the first document.
    more: i64,
    /// The maximum number of listed matrix entries.
    most: usize,
}

impl Growth {
    /// Returns the growth from `first` sections to `count`; matrices with more entries than `most` are not listed.
    pub(crate) fn new((first, count): (u64, u64), most: usize) -> Option<Growth> {
        let more = i64::try_from(count.checked_sub(first)?).ok()?;
        Some(Growth { more, most })
    }
}

/// Extrapolates the parts of the long document from documents that each have one section more than the previous one.
pub(crate) fn stretched<F: Format>(documents: Vec<Vec<Piece<F>>>, growth: Growth) -> Option<Vec<Piece<F>>> {
    let mut all: Vec<_> = documents.into_iter().map(Vec::into_iter).collect();
    let mut pieces = Vec::new();
    loop {
        let next: Vec<Option<Piece<F>>> = all.iter_mut().map(Iterator::next).collect();
        if next.iter().all(Option::is_none) {
            return Some(pieces);
        }
        pieces.push(piece(next.into_iter().collect::<Option<_>>()?, growth)?);
    }
}

/// Extrapolates one part of the long document.
fn piece<F: Format>(parts: Vec<Piece<F>>, growth: Growth) -> Option<Piece<F>> {
    let mut parts = parts.into_iter();
    match parts.next()? {
        Piece::Fixed(first) => {
            let is_same = |part: Piece<F>| matches!(part, Piece::Fixed(other) if other == first);
            parts.all(is_same).then_some(Piece::Fixed(first))
        }
        Piece::Rows(title, style, rows) => {
            let others = parts.map(|part| match part {
                Piece::Rows(other, own, rows) if other == title && own == style => Some(rows),
                _ => None,
            });
            let others = others.collect::<Option<_>>()?;
            let rows = table(rows, others, growth.more)?;
            Some(Piece::Rows(title, style, rows))
        }
        Piece::Entries(first) => {
            let mut all = vec![first];
            for part in parts {
                match part {
                    Piece::Entries(entries) => all.push(entries),
                    _ => return None,
                }
            }
            Some(Piece::Entries(matrix(all, growth)?))
        }
    }
}

fn table<P>(first: Vec<Row<P>>, others: Vec<Vec<Row<P>>>, more: i64) -> Option<Vec<Row<P>>> {
    if others.iter().any(|table| table.len() != first.len()) {
        return None;
    }
    let rows = first.into_iter().enumerate();
    rows.map(|(at, first)| {
        let others: Vec<&Row<P>> = others.iter().map(|table| &table[at]).collect();
        row(first, &others, more)
    })
    .collect()
}

fn row<P>(first: Row<P>, others: &[&Row<P>], more: i64) -> Option<Row<P>> {
    let has_shape = |row: &&Row<P>| row.cells.len() == first.cells.len() && row.ranges.len() == first.ranges.len();
    if !others.iter().all(has_shape) {
        return None;
    }
    let cells = (0..first.cells.len()).map(|column| {
        let others = others.iter().map(|row| &*row.cells[column]);
        let texts: Vec<&str> = std::iter::once(&*first.cells[column]).chain(others).collect();
        cell(&texts, more)
    });
    let cells: Vec<String> = cells.collect::<Option<_>>()?;
    let ranges = first.ranges.iter().enumerate().map(|(at, range)| {
        let all = || std::iter::once(range).chain(others.iter().map(|row| &row.ranges[at]));
        let end = |pick: fn(&Range) -> i64| index(&all().map(pick).collect::<Vec<_>>(), more);
        let is_same = |other: &Range| other.letter == range.letter && other.step == range.step;
        all().all(is_same).then_some(Range {
            first: end(|range| range.first)?,
            last: end(|range| range.last)?,
            ..*range
        })
    });
    let ranges = ranges.collect::<Option<_>>()?;
    let place = match first.place {
        Some(first) => Some(size(
            std::iter::once(Some(first)).chain(others.iter().map(|row| row.place)),
            more,
        )?),
        None => None,
    };
    let own = first.own.unwrap_or(first.cells);
    Names::between(&own, &cells)?;
    Some(Row {
        cells,
        ranges,
        place,
        own: Some(own),
        of: first.of,
    })
}

/// Extrapolates a cell whose indices are constant or grow with the number of sections.
fn cell(texts: &[&str], more: i64) -> Option<String> {
    let all: Vec<Vec<Token<'_>>> = texts.iter().map(|text| tokens(text)).collect();
    let first = all.first()?;
    if all.iter().any(|tokens| tokens.len() != first.len()) {
        return None;
    }
    let mut out = String::new();
    for (at, token) in first.iter().enumerate() {
        match token {
            Token::Plain(text) => {
                let is_same = |tokens: &Vec<Token<'_>>| matches!(tokens[at], Token::Plain(other) if other == *text);
                if !all.iter().all(is_same) {
                    return None;
                }
                out.push_str(text);
            }
            Token::Index(_) => {
                let number = |tokens: &Vec<Token<'_>>| match tokens[at] {
                    Token::Index(number) => Some(number),
                    Token::Plain(_) => None,
                };
                let numbers: Vec<i64> = all.iter().map(number).collect::<Option<_>>()?;
                out.push_str(&index(&numbers, more)?.to_string());
            }
        }
    }
    Some(out)
}

/// Extrapolates an index that is constant or grows with the number of sections.
fn index(numbers: &[i64], more: i64) -> Option<i64> {
    let step = numbers.get(1)?.checked_sub(numbers[0])?;
    (0..=1).contains(&step).then(|| further(numbers, more)).flatten()
}

/// Extends an arithmetic sequence: returns the number that is `more` steps after the first.
fn further(numbers: &[i64], more: i64) -> Option<i64> {
    let step = numbers.get(1)?.checked_sub(numbers[0])?;
    let is_even = numbers
        .windows(2)
        .all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
    is_even
        .then(|| step.checked_mul(more)?.checked_add(numbers[0]))
        .flatten()
}

/// Extrapolates a size that grows evenly.
fn size(sizes: impl Iterator<Item = Option<usize>>, more: i64) -> Option<usize> {
    let numbers = sizes.map(|size| i64::try_from(size?).ok());
    usize::try_from(further(&numbers.collect::<Option<Vec<_>>>()?, more)?).ok()
}

/// A part of a cell.
#[derive(Clone, Copy, Debug)]
enum Token<'a> {
    Plain(&'a str),
    /// A number in brackets.
    Index(i64),
}

/// Returns the numbers in brackets, and the text between them. Expressions around a number, such as `i + 1`, count as text.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut plain, mut at, mut depth) = (0, 0, 0usize);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let before = &bytes[..at];
        let begins = depth > 0 && (before.ends_with(b"[") || before.ends_with(b", "));
        if bytes[at].is_ascii_digit() && begins {
            let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let ends = bytes.get(at + length).is_some_and(|byte| b"],".contains(byte));
            if let (true, Ok(index)) = (ends, text[at..at + length].parse()) {
                tokens.push(Token::Plain(&text[plain..at]));
                tokens.push(Token::Index(index));
                plain = at + length;
            }
            at += length;
        } else {
            at += 1;
        }
    }
    tokens.push(Token::Plain(&text[plain..]));
    tokens
}

/// Extrapolates a matrix whose sizes grow with the number of sections. Its entries are too numerous to list, or the same up to a shift.
fn matrix<V: Clone + PartialEq>(matrices: Vec<Entries<V>>, growth: Growth) -> Option<Entries<V>> {
    let Growth { more, most } = growth;
    let size = |pick: &dyn Fn(&Entries<V>) -> usize| size(matrices.iter().map(|each| Some(pick(each))), more);
    let first = matrices.first()?;
    if matrices.iter().any(|each| each.name != first.name) {
        return None;
    }
    let count = size(&|each| each.count)?;
    let lists: Vec<_> = matrices.iter().map(|each| each.list.as_ref()).collect::<Option<_>>()?;
    let entry = |at: usize| {
        let list = |each: &Entries<V>| each.list.as_ref().map_or((0, 0), |list| (list[at].0, list[at].1));
        let value = &lists[0][at].2;
        let is_same = lists.iter().all(|list| list[at].2 == *value);
        let place = (size(&|each| list(each).0)?, size(&|each| list(each).1)?);
        is_same.then(|| (place.0, place.1, value.clone()))
    };
    let list = match count > most {
        true => None,
        false if lists.iter().all(|list| list.len() == count) => {
            Some((0..count).map(entry).collect::<Option<Vec<_>>>()?)
        }
        false => return None,
    };
    Some(Entries {
        name: first.name.clone(),
        rows: size(&|each| each.rows)?,
        columns: size(&|each| each.columns)?,
        count,
        list,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_and_ranges_go_with_the_sections() {
        let row = |n: i64| Row {
            cells: vec![
                format!("c[{n}].v"),
                format!("= 2*c[{n}].v - c[1, {}].l + c[i + 1].v*K[3]", n - 1),
            ],
            ranges: vec![Range {
                letter: "i",
                first: 2,
                last: n - 1,
                step: Some(2),
            }],
            place: Some(7 + n as usize),
            own: None,
            of: (),
        };
        let all: Vec<Row<()>> = (49..=53).map(row).collect();
        let found = super::row(row(48), &all.iter().collect::<Vec<_>>(), 952).unwrap();
        let long = row(1000);
        assert_eq!(
            (found.cells, found.ranges, found.place),
            (long.cells, long.ranges, long.place)
        );
        assert_eq!(found.own, Some(row(48).cells));
    }

    #[test]
    fn other_differences_have_no_text() {
        assert_eq!(cell(&["= c[2].v/48", "= c[2].v/49"], 1), None);
        assert_eq!(cell(&["= c[24].v", "= c[26].v"], 1), None);
        assert_eq!(cell(&["= c[24].v", "= c[25].v", "= c[25].v"], 1), None);
        assert_eq!(cell(&["= c[i + 24].v", "= c[i + 25].v"], 1), None);
        assert_eq!(cell(&["= 24", "= 25"], 1), None);
    }
}
