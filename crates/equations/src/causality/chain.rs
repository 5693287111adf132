//! The order in which a few equations force one variable, as a person would write it down step by step.
//!
//! Only equations that take part in one contradiction are considered, so each of them is needed. An equation with a
//! single unknown variable forces it. If no such equation remains, the rest determines its variables together.

use super::elimination::Row;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// One step towards the forced variable; each step follows those that it builds on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A variable that is known from the start.
    Given(u32),
    /// A variable that all others are measured against, because nothing fixes it and only differences matter.
    Reference(u32),
    /// An equation forces a variable.
    Forced {
        /// Index of the row.
        row: u32,
        /// The variable.
        column: u32,
    },
    /// Several equations that only together force variables for later use.
    Together {
        /// Indices of the rows.
        rows: Vec<u32>,
        /// The forced variables.
        column: u32,
    },
}

/// The reason why a column became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Given,
    Reference,
    Row(u32),
    ForcingRows,
}

/// Properties of the equations that influence the order of steps.
pub(super) trait Hints {
    /// Returns true if some rows are better explained in one sentence than step by step.
    fn is_one_sentence(&self, rows: &[u32]) -> bool;
    /// Returns the column in the list that is the best reference for the others.
    fn reference(&self, columns: &[u32]) -> Option<u32>;
}

/// Returns the steps that force `target` from the `given` columns. `used` are the rows that take part.
pub(super) fn steps<E>(rows: &[Row<E>], used: &[u32], given: &[u32], target: u32, hints: &dyn Hints) -> Vec<Step> {
    let mut search = Search::new(rows, used);
    for column in given {
        search.learn(*column, Cause::Given);
    }
    search.propagate();
    let mut block = ForcingRows::default();
    while !search.knows(target) {
        let stalled = search.open_rows();
        let (core, exit) = search.core(&stalled, target);
        if !hints.is_one_sentence(&core) {
            let unknown = search.open_columns(&stalled, target);
            // There is one fewer independent equation than rows; the rest is free.
            let reference = match unknown.len() >= stalled.len() {
                true => hints.reference(&unknown),
                false => None,
            };
            if let Some(reference) = reference {
                search.learn(reference, Cause::Reference);
                search.propagate();
                continue;
            }
        }
        let inputs = search.known_columns(&core);
        block = ForcingRows { rows: core, inputs };
        search.learn(exit, Cause::ForcingRows);
        search.propagate();
    }
    search.in_order(target, &block)
}

/// Rows that together force a column, and the columns that they build on.
#[derive(Default)]
struct ForcingRows {
    rows: Vec<u32>,
    inputs: Vec<u32>,
}

/// A search by propagation: rows with one unknown column force it.
struct Search<'a, E> {
    rows: &'a [Row<E>],
    used: &'a [u32],
    holders: FxHashMap<u32, Vec<u32>>,
    /// Unknown columns of each used row.
    unknown: FxHashMap<u32, usize>,
    cause: FxHashMap<u32, Cause>,
    queue: VecDeque<u32>,
}

impl<'a, E> Search<'a, E> {
    fn new(rows: &'a [Row<E>], used: &'a [u32]) -> Search<'a, E> {
        let mut holders: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut unknown = FxHashMap::default();
        let mut queue = VecDeque::new();
        for row in used {
            let entries = &rows[*row as usize];
            unknown.insert(*row, entries.len());
            for (column, _) in entries {
                holders.entry(*column).or_default().push(*row);
            }
            if entries.len() == 1 {
                queue.push_back(*row);
            }
        }
        Search {
            rows,
            used,
            holders,
            unknown,
            cause: FxHashMap::default(),
            queue,
        }
    }

    fn knows(&self, column: u32) -> bool {
        self.cause.contains_key(&column)
    }

    fn learn(&mut self, column: u32, cause: Cause) {
        if self.cause.contains_key(&column) {
            return;
        }
        self.cause.insert(column, cause);
        for row in self.holders.get(&column).into_iter().flatten() {
            let count = self
                .unknown
                .get_mut(row)
                .expect("invariant: every row that holds a column is used");
            *count -= 1;
            if *count == 1 {
                self.queue.push_back(*row);
            }
        }
    }

    fn propagate(&mut self) {
        while let Some(row) = self.queue.pop_front() {
            let unknown = self.rows[row as usize]
                .iter()
                .map(|entry| entry.0)
                .find(|column| !self.knows(*column));
            if let Some(column) = unknown {
                self.learn(column, Cause::Row(row));
            }
        }
    }

    /// Returns rows with unknown columns.
    fn open_rows(&self) -> Vec<u32> {
        self.used.iter().copied().filter(|row| self.unknown[row] > 0).collect()
    }

    /// Returns the unknown columns of some rows, except for one.
    fn open_columns(&self, rows: &[u32], except: u32) -> Vec<u32> {
        self.columns(rows, |column| column != except && !self.knows(column))
    }

    /// Returns the known columns of some rows.
    fn known_columns(&self, rows: &[u32]) -> Vec<u32> {
        self.columns(rows, |column| self.knows(column))
    }

    /// Returns the columns of some rows that satisfy a predicate, each once, in order.
    fn columns(&self, rows: &[u32], wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut seen = FxHashSet::default();
        rows.iter()
            .flat_map(|row| &self.rows[*row as usize])
            .map(|entry| entry.0)
            .filter(|column| wanted(*column) && seen.insert(*column))
            .collect()
    }

    /// Walks back from the target through rows that only pass one column on. The remaining rows force the column where
    /// the walk ends, because every other column in them cancels in the contradiction as a whole.
    fn core(&self, open: &[u32], target: u32) -> (Vec<u32>, u32) {
        let mut left: FxHashSet<u32> = open.iter().copied().collect();
        let mut exit = target;
        loop {
            let mut holding = self
                .holders
                .get(&exit)
                .into_iter()
                .flatten()
                .filter(|row| left.contains(row));
            let (Some(row), None) = (holding.next(), holding.next()) else {
                break;
            };
            let entries = self.rows[*row as usize].iter().map(|entry| entry.0);
            let others: Vec<u32> = entries
                .filter(|column| *column != exit && !self.knows(*column))
                .collect();
            let [only] = others[..] else {
                break;
            };
            left.remove(row);
            exit = only;
        }
        (open.iter().copied().filter(|row| left.contains(row)).collect(), exit)
    }

    /// Returns the steps that lead to a column, each after those it builds on.
    fn in_order(&self, target: u32, block: &ForcingRows) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut done: FxHashSet<u32> = FxHashSet::default();
        let mut stack = vec![(target, false)];
        while let Some((column, ready)) = stack.pop() {
            let Some(cause) = self.cause.get(&column).copied() else {
                continue;
            };
            if ready {
                match cause {
                    Cause::Given => steps.push(Step::Given(column)),
                    Cause::Reference => steps.push(Step::Reference(column)),
                    Cause::Row(row) => steps.push(Step::Forced { row, column }),
                    Cause::ForcingRows => {
                        steps.push(Step::Together {
                            rows: block.rows.clone(),
                            column,
                        });
                    }
                }
                continue;
            }
            if !done.insert(column) {
                continue;
            }
            stack.push((column, true));
            let before: Vec<u32> = match cause {
                Cause::Row(row) => self.rows[row as usize].iter().map(|entry| entry.0).collect(),
                Cause::ForcingRows => block.inputs.clone(),
                Cause::Given | Cause::Reference => Vec::new(),
            };
            // The last one pushed is examined first.
            for other in before.into_iter().rev() {
                if !done.contains(&other) {
                    stack.push((other, false));
                }
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Hints for Plain {
        fn is_one_sentence(&self, _rows: &[u32]) -> bool {
            false
        }
        fn reference(&self, columns: &[u32]) -> Option<u32> {
            columns.first().copied()
        }
    }

    fn order(rows: &[&[u32]], given: &[u32], target: u32) -> Vec<Step> {
        let rows: Vec<Row<()>> = rows
            .iter()
            .map(|row| row.iter().map(|column| (*column, ())).collect())
            .collect();
        let used: Vec<u32> = (0..rows.len() as u32).collect();
        steps(&rows, &used, given, target, &Plain)
    }

    #[test]
    fn a_chain_is_distinguished_from_its_start() {
        let found = order(&[&[2, 3], &[0, 1], &[1, 2]], &[0], 3);
        let forced = |row, column| Step::Forced { row, column };
        assert_eq!(found, [Step::Given(0), forced(1, 1), forced(2, 2), forced(0, 3)]);
    }

    #[test]
    fn equations_that_need_each_other_are_one_step() {
        // 1 and 2 follow from 0 only together; 3 follows from 2, because only 2 leaves the block.
        let found = order(&[&[0, 1, 2], &[1, 2], &[2, 3]], &[0], 3);
        let together = Step::Together {
            rows: vec![0, 1],
            column: 2,
        };
        assert_eq!(found, [Step::Given(0), together, Step::Forced { row: 2, column: 3 }]);
    }

    #[test]
    fn a_difference_is_distinguished_from_one_of_its_ends() {
        // Nothing fixes 1 or 2 individually; 0 fixes their difference, and thereby 3.
        let found = order(&[&[0, 1, 2], &[1, 2, 3]], &[0], 3);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.contains(&Step::Reference(1)));
        assert_eq!(found.last(), Some(&Step::Forced { row: 1, column: 3 }));
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let rows: Vec<Vec<u32>> = (0..200_000).map(|at| vec![at, at + 1]).collect();
        let rows: Vec<&[u32]> = rows.iter().map(Vec::as_slice).collect();
        let found = order(&rows, &[0], 200_000);
        assert_eq!(found.len(), 200_001);
        assert_eq!(found[0], Step::Given(0));
    }
}
