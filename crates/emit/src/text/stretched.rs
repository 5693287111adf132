//! The text of a system of many equal sections, from the texts of the same system with a few of them.
//!
//! A row stands for all those that repeat over an index ([`super::patterns`]), so that the texts differ in numbers alone: in indices and ends
//! of ranges, which stay or go with the number of sections, and in sizes of matrices. Any other difference means that the
//! system has no such text.

use super::pieces;
use super::pieces::{Entries, Piece};
use super::tables::TextOptions;
use crate::{MatrixOptions, SPARSE_STATES};
use lgm_model::system::StateSystem;

/// The result of [`text`](crate::text()) for `count` sections, if `systems` are the systems of `first` sections, one section more, and
/// so on; `states` are those of the long system.
pub fn stretched_text(
    systems: &[&StateSystem],
    (first, count): (u64, u64),
    states: usize,
    options: &TextOptions,
) -> Option<String> {
    // Matrices of smaller systems are drawn whole.
    if states <= SPARSE_STATES || options.flat || options.matrices.sparse || options.matrices.blocks {
        return None;
    }
    let matrices = MatrixOptions {
        sparse: true,
        ..options.matrices
    };
    let short = TextOptions { matrices, ..*options };
    let all = systems
        .iter()
        .map(|system| pieces(system, &short).into_list().into_iter());
    let mut all: Vec<_> = all.collect();
    let more = i64::try_from(count.checked_sub(first)?).ok()?;
    let mut out = String::new();
    loop {
        let next: Vec<Option<Piece>> = all.iter_mut().map(Iterator::next).collect();
        if next.iter().all(Option::is_none) {
            return Some(out);
        }
        let next: Vec<Piece> = next.into_iter().collect::<Option<_>>()?;
        stretched(next, (more, options.most_entries))?.write(&mut out);
    }
}

/// A part of the long text.
fn stretched(parts: Vec<Piece>, (more, most): (i64, usize)) -> Option<Piece> {
    match parts.first()? {
        Piece::Text(first) => {
            let is_same = |part: &Piece| matches!(part, Piece::Text(text) if text == first);
            let text = first.clone();
            parts.iter().all(is_same).then_some(Piece::Text(text))
        }
        Piece::Rows(title, style, _) => {
            let (title, style) = (title.clone(), *style);
            let rows = parts.into_iter().map(|part| match part {
                Piece::Rows(other, own, rows) if other == title && own == style => Some(rows),
                _ => None,
            });
            let rows = table(rows.collect::<Option<_>>()?, more)?;
            Some(Piece::Rows(title, style, rows))
        }
        Piece::Entries(_) => {
            let entries = parts.into_iter().map(|part| match part {
                Piece::Entries(entries) => Some(entries),
                _ => None,
            });
            Some(Piece::Entries(matrix(entries.collect::<Option<_>>()?, (more, most))?))
        }
    }
}

fn table(tables: Vec<Vec<Vec<String>>>, more: i64) -> Option<Vec<Vec<String>>> {
    let first = tables.first()?;
    let is_shaped = |table: &Vec<Vec<String>>| {
        let mut rows = table.iter().zip(first);
        table.len() == first.len() && rows.all(|(row, other)| row.len() == other.len())
    };
    if !tables.iter().all(is_shaped) {
        return None;
    }
    let cell = |row: usize, column: usize| {
        let texts: Vec<&str> = tables.iter().map(|table| &*table[row][column]).collect();
        cell(&texts, more)
    };
    let row = |(at, row): (usize, &Vec<String>)| (0..row.len()).map(|column| cell(at, column)).collect();
    first.iter().enumerate().map(row).collect()
}

/// A cell whose indices and ends of ranges stay or go with the number of sections.
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
                let index = |tokens: &Vec<Token<'_>>| match tokens[at] {
                    Token::Index(index) => Some(index),
                    Token::Plain(_) => None,
                };
                let indices: Vec<i64> = all.iter().map(index).collect::<Option<_>>()?;
                let step = indices[1].checked_sub(indices[0])?;
                if !(0..=1).contains(&step) {
                    return None;
                }
                out.push_str(&further(&indices, more)?.to_string());
            }
        }
    }
    Some(out)
}

/// The number that follows so many steps after the first.
fn further(numbers: &[i64], more: i64) -> Option<i64> {
    let step = numbers.get(1)?.checked_sub(numbers[0])?;
    let is_even = numbers
        .windows(2)
        .all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
    is_even
        .then(|| step.checked_mul(more)?.checked_add(numbers[0]))
        .flatten()
}

/// A part of a cell.
#[derive(Clone, Copy, Debug)]
enum Token<'a> {
    Plain(&'a str),
    /// A number in brackets, or an end of a range.
    Index(i64),
}

/// The numbers that stand in brackets or in the ranges at the end, and what is between them. What a number is part of, such as
/// `i + 1`, is plain.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let ranges = text.rfind("   for ").unwrap_or(text.len());
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
        let begins = match depth {
            0 => at > ranges && (before.ends_with(b" ") || before.ends_with(b":")),
            _ => before.ends_with(b"[") || before.ends_with(b", "),
        };
        if bytes[at].is_ascii_digit() && begins {
            let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let ends = bytes.get(at + length).is_none_or(|byte| b"],:".contains(byte));
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

/// A matrix whose sizes grow with the number of sections, and whose entries are too many to be listed, or the same ones, moved.
fn matrix(matrices: Vec<Entries>, (more, most): (i64, usize)) -> Option<Entries> {
    let size = |pick: &dyn Fn(&Entries) -> usize| -> Option<usize> {
        let numbers = matrices.iter().map(|each| i64::try_from(pick(each)).ok());
        usize::try_from(further(&numbers.collect::<Option<Vec<_>>>()?, more)?).ok()
    };
    let first = matrices.first()?;
    if matrices.iter().any(|each| each.name != first.name) {
        return None;
    }
    let count = size(&|each| each.count)?;
    let lists: Vec<_> = matrices.iter().map(|each| each.list.as_ref()).collect::<Option<_>>()?;
    let entry = |at: usize| {
        let list = |each: &Entries| each.list.as_ref().map_or((0, 0), |list| (list[at].0, list[at].1));
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
        let row = |n: i64| {
            format!(
                "= 2*c[{n}].v - c[1, {}].l + c[i + 1].v*K[3]   for i in 2:{}",
                n - 1,
                n - 1
            )
        };
        let texts = [row(48), row(49), row(50)];
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        assert_eq!(cell(&texts, 952).as_deref(), Some(&*row(1000)));
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
