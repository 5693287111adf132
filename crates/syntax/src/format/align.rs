//! Aligns consecutive rows of one kind. The `:` and the branches of instances are aligned if this adds few spaces; these and all other
//! columns are aligned if the author aligned them.
//!
//! The author aligned rows if at least half of them, and at least two, share the column, and not only because they have equal widths. A row
//! that is much wider than the others is left out. The result is read the same way, so that formatting is idempotent.

use super::rows::{Class, Keyword, Row, further_statements};
use super::words::{Kind, Stop, Word};
use crate::format::limits::COLUMNS;
use rustc_hash::FxHashMap;

/// Conditions and limits for alignment.
#[derive(Clone, Copy)]
struct Policy {
    /// The number of spaces before the column in the widest row.
    least: usize,
    /// The maximum number of spaces kept from the author.
    most: usize,
    /// Rows that differ by at most this many columns are aligned even if the author did not align them.
    cheap: Option<usize>,
    /// Rows that are wider than the narrowest one by more than this many columns are not aligned.
    reach: usize,
    /// True if all rows must be aligned.
    together: bool,
}

const AS_WRITTEN: Policy = Policy {
    least: 1,
    most: 2,
    cheap: None,
    reach: 24,
    together: false,
};

const NAMES: Policy = Policy {
    most: 1,
    cheap: Some(12),
    ..AS_WRITTEN
};

const BRANCHES: Policy = Policy {
    cheap: Some(8),
    ..AS_WRITTEN
};

const SIGNS: Policy = Policy { most: 1, ..AS_WRITTEN };

const STATEMENTS: Policy = Policy {
    least: 2,
    together: true,
    ..AS_WRITTEN
};

const COMMENTS: Policy = Policy {
    least: 2,
    most: 3,
    reach: 40,
    ..AS_WRITTEN
};

/// The data of one row for a decision.
struct Member {
    /// The row.
    row: usize,
    /// The word to be moved.
    word: usize,
    /// The number of columns before the word and its spaces.
    width: usize,
    /// Its column and spaces in the source, if it did not start a line there.
    written: Option<(usize, usize)>,
    /// The columns of the row from this word on that must stay on the line.
    rest: usize,
}

/// Sets the spaces before the stops and the comments at the ends of rows.
pub(super) fn align(words: &mut [Word<'_>], rows: &mut [Row]) {
    let mut run: Vec<usize> = Vec::new();
    for index in 0..=rows.len() {
        let row = rows.get(index);
        let before = run.last().map(|last| &rows[*last]);
        let follows = match (before, row) {
            (Some(before), Some(row)) => !row.blank && row.block == before.block,
            _ => false,
        };
        let class = row.map_or(Class::Other, |row| row.class);
        if follows && class == Class::Comment
            || follows && class == Class::Chain && before_is(rows, &run, Class::Instance)
            || follows && class == Class::Change && before_is(rows, &run, Class::Mode)
        {
            continue;
        }
        if !(follows && before_is(rows, &run, class)) {
            align_run(words, rows, &run);
            run.clear();
        }
        if class != Class::Other && row.is_some() {
            run.push(index);
        }
    }
    align_changes(words, rows);
    align_comments(words, rows);
}

/// Aligns the arrows of the changes below a mode.
fn align_changes(words: &mut [Word<'_>], rows: &[Row]) {
    let mut run: Vec<usize> = Vec::new();
    for index in 0..=rows.len() {
        let follows = rows
            .get(index)
            .is_some_and(|row| row.class == Class::Change && !row.blank);
        if !follows {
            align_nth(words, rows, &run, Stop::Arrow, 0, SIGNS);
            run.clear();
        }
        if rows.get(index).is_some_and(|row| row.class == Class::Change) {
            run.push(index);
        }
    }
}

fn before_is(rows: &[Row], run: &[usize], class: Class) -> bool {
    run.last().is_some_and(|last| rows[*last].class == class)
}

fn align_run(words: &mut [Word<'_>], rows: &[Row], run: &[usize]) {
    let Some(first) = run.first() else { return };
    let stops: &[(Stop, Policy)] = match rows[*first].class {
        Class::Instance => &[(Stop::Colon, NAMES), (Stop::Branch, BRANCHES), (Stop::Arrow, SIGNS)],
        Class::Declaration(Keyword::Junction | Keyword::Port) => &[(Stop::Colon, SIGNS)],
        Class::Declaration(_) | Class::Equation => &[(Stop::Equals, SIGNS)],
        Class::Item(_) => &[(Stop::Colon, SIGNS), (Stop::Open, SIGNS)],
        Class::Mode => &[(Stop::Open, SIGNS)],
        Class::Comment | Class::Chain | Class::Change | Class::Other => return,
    };
    for (stop, policy) in stops {
        align_nth(words, rows, run, *stop, 0, *policy);
    }
    if matches!(rows[*first].class, Class::Item(_) | Class::Mode) {
        let statements: Vec<Vec<usize>> = run
            .iter()
            .map(|index| further_statements(words, rows[*index].first, rows[*index].last).collect())
            .collect();
        let most = statements.iter().map(Vec::len).max().unwrap_or(0);
        for nth in 0..most {
            let places = run.iter().zip(&statements);
            let places: Vec<_> = places
                .filter_map(|(index, starts)| Some((*index, *starts.get(nth)?)))
                .collect();
            align_places(words, rows, &places, STATEMENTS);
        }
    }
    if rows[*first].class == Class::Mode {
        let changes = |row: &Row| {
            let words = words[row.first..row.last].iter();
            words.filter(|word| word.stop == Some(Stop::Change)).count()
        };
        let most = run.iter().map(|index| changes(&rows[*index])).max().unwrap_or(0);
        for nth in 0..most {
            align_nth(words, rows, run, Stop::Change, nth, STATEMENTS);
            align_nth(words, rows, run, Stop::Arrow, nth, SIGNS);
        }
    }
}

/// Aligns the nth stop of one kind in each row.
fn align_nth(words: &mut [Word<'_>], rows: &[Row], run: &[usize], stop: Stop, nth: usize, policy: Policy) {
    let at = |row: &Row| {
        let places = row.first..row.last;
        places.filter(|at| words[*at].stop == Some(stop)).nth(nth)
    };
    let places = run.iter().filter_map(|index| Some((*index, at(&rows[*index])?)));
    let places: Vec<_> = places.collect();
    align_places(words, rows, &places, policy);
}

/// Returns the number of columns of words, without the spaces before the first word.
fn columns(words: &[Word<'_>], first: usize, last: usize) -> usize {
    let all: usize = words[first..last].iter().map(|word| word.gap + word.width()).sum();
    all - words.get(first).filter(|_| first < last).map_or(0, |word| word.gap)
}

fn align_places(words: &mut [Word<'_>], rows: &[Row], places: &[(usize, usize)], policy: Policy) {
    let members: Vec<Member> = places
        .iter()
        .map(|&(index, word)| {
            let row = &rows[index];
            Member {
                row: index,
                word,
                width: row.indent + columns(words, row.first, word),
                written: written(&words[word]),
                rest: columns(words, word, row.last),
            }
        })
        .collect();
    if let Some((column, widest)) = decide(&members, policy) {
        for member in members.iter().filter(|member| member.width <= widest) {
            words[member.word].gap = column - member.width;
        }
    }
}

fn written(word: &Word<'_>) -> Option<(usize, usize)> {
    (word.breaks == 0).then_some((word.column, word.spaces))
}

/// Returns the column to align the members to, and the width beyond which a member is not moved.
fn decide(members: &[Member], policy: Policy) -> Option<(usize, usize)> {
    if members.len() < 2 {
        return None;
    }
    let narrowest = members.iter().map(|member| member.width).min()?;
    let author = authors_column(members, policy);
    let (limit, most) = match author {
        Some(column) => {
            let limit = narrowest + policy.reach;
            let inside = || members.iter().filter(move |member| member.width <= limit);
            let few = inside().count() < 2 || inside().count() * 2 < members.len();
            if few || policy.together && inside().count() < members.len() {
                return None;
            }
            let kept = inside()
                .filter_map(|member| member.written)
                .filter(|written| written.0 == column);
            let least = kept.map(|(_, spaces)| spaces).min().unwrap_or(policy.least);
            (limit, least.clamp(policy.least, policy.most))
        }
        None => (narrowest + policy.cheap?, policy.least),
    };
    let inside = || members.iter().filter(move |member| member.width <= limit);
    let widest = inside().map(|member| member.width).max()?;
    let all = inside().count() == members.len();
    if widest == narrowest || author.is_none() && !all {
        return None;
    }
    let column = |spaces: usize| widest + spaces;
    let fits = |spaces: &usize| inside().all(|member| column(*spaces) + member.rest <= COLUMNS);
    [most, policy.least]
        .into_iter()
        .find(fits)
        .map(|spaces| (column(spaces), widest))
}

/// Returns the column in which the author aligned at least half of the members.
fn authors_column(members: &[Member], policy: Policy) -> Option<usize> {
    /// The number of members in one column, and their minimum and maximum numbers of spaces.
    type Column = (usize, usize, usize);
    let mut columns: FxHashMap<usize, Column> = FxHashMap::default();
    for (column, spaces) in members.iter().filter_map(|member| member.written) {
        let (count, least, most) = columns.entry(column).or_insert((0, spaces, spaces));
        *count += 1;
        *least = spaces.min(*least);
        *most = spaces.max(*most);
    }
    // Unaligned statements have one or two spaces each, which is no evidence of alignment.
    let says_so = |least: usize, most: usize| most > policy.least || least < most && !policy.together;
    let lined_up = columns
        .into_iter()
        .filter(|(_, (count, least, most))| *count * 2 >= members.len() && *count > 1 && says_so(*least, *most));
    // Two columns can each contain half of the members.
    lined_up.map(|(column, _)| column).min()
}

/// Aligns the comments at the ends of consecutive rows and, across a block, comments without commented neighbours.
fn align_comments(words: &[Word<'_>], rows: &mut [Row]) {
    let mut alone: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut run: Vec<usize> = Vec::new();
    for index in 0..=rows.len() {
        let continues = match (index.checked_sub(1), rows.get(index)) {
            (Some(before), Some(row)) => !row.blank && row.block == rows[before].block,
            _ => false,
        };
        if !continues {
            match run[..] {
                [] => {}
                [only] => alone.entry(rows[only].block).or_default().push(only),
                _ => align_ends(words, rows, &run),
            }
            run.clear();
        }
        if let Some(row) = rows.get(index)
            && !row.broken
            && row.trail > row.last
            && row.class != Class::Comment
            && words[row.last].kind == Kind::LineComment
        {
            run.push(index);
        }
    }
    for run in alone.into_values() {
        align_ends(words, rows, &run);
    }
}

fn align_ends(words: &[Word<'_>], rows: &mut [Row], run: &[usize]) {
    let members: Vec<Member> = run
        .iter()
        .map(|&index| {
            let row = &rows[index];
            Member {
                row: index,
                word: row.last,
                width: row.indent + columns(words, row.first, row.last),
                written: written(&words[row.last]),
                // A comment may exceed the maximum width.
                rest: 0,
            }
        })
        .collect();
    if let Some((column, widest)) = decide(&members, COMMENTS) {
        for member in members.iter().filter(|member| member.width <= widest) {
            rows[member.row].comment_gap = column - member.width;
        }
    }
}
