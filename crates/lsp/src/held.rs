//! A text while a line of it is half-written.
//!
//! The *steady* text contains the previous version of lines with errors, and the current version of all others. Each
//! difference between the two is a [`Hunk`]. The errors of a hunk are those of the current text. Everything else that is shown comes from
//! the steady text, so that it does not flicker with each keystroke.

use std::ops::Range;

/// Lines of the steady text, and the lines that replace them in the current text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Lines of the steady text.
    pub old: Range<u32>,
    /// Lines of the current text.
    pub new: Range<u32>,
}

/// An error found while reading a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The line of the error.
    pub line: u32,
    /// The message of a syntax error.
    pub syntax: Option<String>,
}

impl Fault {
    /// Returns a syntax error with its line and its message.
    pub(crate) fn of_syntax((line, words): (u32, String)) -> Fault {
        let syntax = Some(words);
        Fault { line, syntax }
    }
}

/// A larger change than this many pairs of lines is one hunk.
const MOST_PAIRS: usize = 40_000;

/// Returns the differences between two texts, in text order.
pub(crate) fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (old, new) = (lines(old), lines(new));
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(&new).take_while(same).count();
    let backwards = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = backwards.take_while(same).count();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut found: Vec<Hunk> = Vec::new();
    let mut differ = |old: Range<usize>, new: Range<usize>| {
        let lines = |range: Range<usize>| (head + range.start) as u32..(head + range.end) as u32;
        let (old, new) = (lines(old), lines(new));
        match found.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                (last.old.end, last.new.end) = (old.end, new.end);
            }
            _ => found.push(Hunk { old, new }),
        }
    };
    if old.len() * new.len() > MOST_PAIRS {
        differ(0..old.len(), 0..new.len());
        return found;
    }
    // The number of lines that two ends have in common.
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for (i, line) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            common[i * width + j] = match line == other {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1] {
            differ(i..i + 1, j..j);
            i += 1;
        } else {
            differ(i..i, j..j + 1);
            j += 1;
        }
    }
    found
}

/// Returns the hunk of an error in the current text. The steady text has the errors `known`. Any other syntax error belongs to the
/// preceding hunk, wherever the error is.
pub(crate) fn hunk_of(hunks: &[Hunk], fault: &Fault, known: &[Fault]) -> Option<usize> {
    let within = hunks.iter().position(|hunk| hunk.new.contains(&fault.line));
    let is_new = || {
        let same = |old: &Fault| old.syntax == fault.syntax && now(hunks, old.line) == Some(fault.line);
        fault.syntax.is_some() && !hunks.is_empty() && !known.iter().any(same)
    };
    let before = || hunks.iter().rposition(|hunk| hunk.new.start <= fault.line);
    within.or_else(|| is_new().then(|| before().unwrap_or(0)))
}

/// Returns the line of the current text that corresponds to a line of the steady text; none if that line is in a hunk.
pub(crate) fn now(hunks: &[Hunk], line: u32) -> Option<u32> {
    moved(hunks, line, |hunk| (&hunk.old, &hunk.new))
}

/// Returns the line of the steady text that corresponds to a line of the current text; none if that line is in a hunk.
pub(crate) fn before(hunks: &[Hunk], line: u32) -> Option<u32> {
    moved(hunks, line, |hunk| (&hunk.new, &hunk.old))
}

fn moved(hunks: &[Hunk], line: u32, sides: impl Fn(&Hunk) -> (&Range<u32>, &Range<u32>)) -> Option<u32> {
    let last = hunks
        .iter()
        .map(sides)
        .take_while(|(from, _)| from.start <= line)
        .last();
    match last {
        None => Some(line),
        Some((from, _)) if from.contains(&line) => None,
        Some((from, _)) if from.end > line => Some(line),
        Some((from, to)) => Some(line - from.end + to.end),
    }
}

/// Returns the text with the current lines of all hunks except broken ones, and the remaining hunks between the two.
pub(crate) fn steady(old: &str, new: &str, hunks: &[Hunk], is_broken: &[bool]) -> (String, Vec<Hunk>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let (mut text, mut left, mut at, mut written) = (String::new(), Vec::new(), 0, 0);
    for (hunk, is_broken) in hunks.iter().zip(is_broken) {
        let kept = &old[at..hunk.old.start as usize];
        let lines = match is_broken {
            true => &old[hunk.old.start as usize..hunk.old.end as usize],
            false => &new[hunk.new.start as usize..hunk.new.end as usize],
        };
        text.extend(kept.iter().chain(lines).copied());
        let start = written + kept.len() as u32;
        written = start + lines.len() as u32;
        if *is_broken {
            left.push(Hunk {
                old: start..written,
                new: hunk.new.clone(),
            });
        }
        at = hunk.old.end as usize;
    }
    text.extend(old[at..].iter().copied());
    (text, left)
}

/// Returns true if a nonempty line of a text is outside all hunks.
pub(crate) fn leave_any(hunks: &[Hunk], new: &str) -> bool {
    let mut lines = (0..).zip(new.lines());
    lines.any(|(line, words)| !words.trim().is_empty() && !hunks.iter().any(|hunk| hunk.new.contains(&line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(old: Range<u32>, new: Range<u32>) -> Hunk {
        Hunk { old, new }
    }

    #[test]
    fn texts_differ_in_hunks() {
        for (old, new, expected) in [
            ("a\nb\n", "a\nb\n", vec![]),
            ("a\nb\n", "a\nx\nb\n", vec![hunk(1..1, 1..2)]),
            ("a\nb\nc\n", "a\nc\n", vec![hunk(1..2, 1..1)]),
            (
                "a\nb\nc\nd\n",
                "x\nb\ny\nz\nd\n",
                vec![hunk(0..1, 0..1), hunk(2..3, 2..4)],
            ),
            ("", "a\n", vec![hunk(0..0, 0..1)]),
            ("a\na\na\n", "a\n", vec![hunk(1..3, 1..1)]),
        ] {
            let found = hunks(old, new);
            assert_eq!(found, expected, "{old:?} {new:?}");
            // With all of them taken over it is the new text, with none the old one.
            let all = |is_broken| steady(old, new, &found, &vec![is_broken; found.len()]);
            assert_eq!(all(false), (new.to_string(), vec![]));
            assert_eq!(all(true), (old.to_string(), found.clone()));
        }
    }

    #[test]
    fn lines_keep_their_places_beside_a_hunk() {
        let (old, new) = ("a\nb\nc\nd\ne\n", "a\nB\nb2\nc\nd\nf\ne\n");
        let found = hunks(old, new);
        let (text, left) = steady(old, new, &found, &[false, true]);
        assert_eq!(
            (text.as_str(), &left[..]),
            ("a\nB\nb2\nc\nd\ne\n", &[hunk(5..5, 5..6)][..])
        );
        for (line, words) in (0..).zip(text.lines()) {
            let there = now(&left, line).expect("no line of the steady text is in the hunk");
            assert_eq!(new.lines().nth(there as usize), Some(words));
            assert_eq!(before(&left, there), Some(line));
        }
        assert_eq!(before(&left, 5), None);
        assert!(leave_any(&left, new) && !leave_any(&hunks("", new), new));
    }

    #[test]
    fn a_new_fault_of_syntax_belongs_to_the_hunk_before_it() {
        let found = [hunk(3..3, 3..4), hunk(7..8, 8..9)];
        let fault = |line, words: &str| Fault {
            line,
            syntax: Some(words.to_string()),
        };
        assert_eq!(hunk_of(&found, &fault(3, "a"), &[]), Some(0));
        assert_eq!(hunk_of(&found, &fault(5, "a"), &[]), Some(0));
        assert_eq!(hunk_of(&found, &fault(0, "a"), &[]), Some(0));
        assert_eq!(hunk_of(&found, &fault(11, "a"), &[]), Some(1));
        // The steady text has it too.
        assert_eq!(hunk_of(&found, &fault(5, "a"), &[fault(4, "a")]), None);
        let other = Fault { line: 5, syntax: None };
        assert_eq!(hunk_of(&found, &other, &[]), None);
    }
}
