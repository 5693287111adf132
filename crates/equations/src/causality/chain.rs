//! The order in which a few equations force one variable: what a person would write down step by step.
//!
//! The equations are those that take part in one contradiction, so each of them is needed. An equation with a single
//! unknown variable forces it. Where none is left with a single one, the rest forces its variables together.

use super::elimination::Row;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// One step towards the variable that is forced; steps come after those that they build on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A variable that was known at the outset.
    Given(u32),
    /// A variable that all others are measured against, as nothing fixes it and only differences matter.
    Reference(u32),
    /// An equation forces a variable.
    Forced {
        /// Index of the row.
        row: u32,
        /// The variable.
        column: u32,
    },
    /// Several equations, none of which suffices alone, force variables that are used later.
    Together {
        /// Indices of the rows.
        rows: Vec<u32>,
        /// What they force.
        column: u32,
    },
}

/// How a column became known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Given,
    Reference,
    Row(u32),
    Block,
}

/// What the equations are about, as far as the order of steps depends on it.
pub(super) trait Hints {
    /// Whether some rows are better said in one sentence than step by step.
    fn is_one_sentence(&self, rows: &[u32]) -> bool;
    /// The column among these that the others are best measured against.
    fn reference(&self, columns: &[u32]) -> Option<u32>;
}

/// The steps that force `target` from the `given` columns. `used` are the rows that take part.
pub(super) fn steps<E>(rows: &[Row<E>], used: &[u32], given: &[u32], target: u32, hints: &dyn Hints) -> Vec<Step> {
    let mut search = Search::new(rows, used);
    for column in given {
        search.learn(*column, Cause::Given);
    }
    search.propagate();
    let mut block = Block::default();
    while !search.knows(target) {
        let stalled = search.open_rows();
        let (core, exit) = search.core(&stalled, target);
        if !hints.is_one_sentence(&core) {
            let unknown = search.open_columns(&stalled, target);
            // There are as many independent equations as there are rows but one; what is left over is free.
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
        block = Block { rows: core, inputs };
        search.learn(exit, Cause::Block);
        search.propagate();
    }
    search.in_order(target, &block)
}

/// Rows that force a column together, and what they build on.
#[derive(Default)]
struct Block {
    rows: Vec<u32>,
    inputs: Vec<u32>,
}

/// Rows with one unknown column force it.
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

    /// Rows with unknown columns.
    fn open_rows(&self) -> Vec<u32> {
        self.used.iter().copied().filter(|row| self.unknown[row] > 0).collect()
    }

    /// The unknown columns of some rows, but for one.
    fn open_columns(&self, rows: &[u32], except: u32) -> Vec<u32> {
        self.columns(rows, |column| column != except && !self.knows(column))
    }

    /// The known columns of some rows.
    fn known_columns(&self, rows: &[u32]) -> Vec<u32> {
        self.columns(rows, |column| self.knows(column))
    }

    /// The wanted ones of the columns of some rows, each once, in order.
    fn columns(&self, rows: &[u32], wanted: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut seen = FxHashSet::default();
        rows.iter()
            .flat_map(|row| &self.rows[*row as usize])
            .map(|entry| entry.0)
            .filter(|column| wanted(*column) && seen.insert(*column))
            .collect()
    }

    /// Walks back from the target through rows that only pass one column on: the rows that are left force the column
    /// where the walk ends, since in the contradiction as a whole every other column of theirs cancels.
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

    /// The steps that lead to a column, each after those it builds on.
    fn in_order(&self, target: u32, block: &Block) -> Vec<Step> {
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
                    Cause::Block => {
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
                Cause::Block => block.inputs.clone(),
                Cause::Given | Cause::Reference => Vec::new(),
            };
            // The last one pushed is looked at first.
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
        // 1 and 2 follow from 0 only together; 3 follows from 2, as 2 alone leaves the block.
        let found = order(&[&[0, 1, 2], &[1, 2], &[2, 3]], &[0], 3);
        let together = Step::Together {
            rows: vec![0, 1],
            column: 2,
        };
        assert_eq!(found, [Step::Given(0), together, Step::Forced { row: 2, column: 3 }]);
    }

    #[test]
    fn a_difference_is_distinguished_from_one_of_its_ends() {
        // Nothing fixes 1 and 2 alone; 0 fixes their difference, and with it 3.
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
