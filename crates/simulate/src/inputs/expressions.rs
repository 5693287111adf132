//! The inputs of a run: expressions of time and parameters, and tables in place of some of them.

use crate::inputs::signals::{Corner, Side, Signals};
use crate::inputs::table::Table;
use lgm_algebra::expr::ExprId;
use lgm_kernels::{Arguments, Corners, Kernel, Kernels, Layout};
use lgm_model::system::StateSystem;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// Working memory of the expressions, so that a value costs no allocation.
    static WORK: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// What all runs of one model share.
#[derive(Debug)]
struct Shared {
    count: usize,
    /// Values and rates of the expressions.
    kernel: Kernel,
    corners: Corners,
    /// In place of an expression, for some inputs.
    tables: Vec<Option<Table>>,
}

/// The signals of the inputs of one run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Inputs {
    shared: Arc<Shared>,
    parameters: Arc<[f64]>,
    start: f64,
    /// The corners that were found last: a run with events asks for the rest of them at each event.
    corners: Arc<Kept<Corner>>,
    /// The instants to look at, likewise.
    looks: Arc<Kept<f64>>,
}

/// The list that was found last, with the times between which it has all there is.
#[derive(Debug)]
struct Kept<T>(Mutex<Option<(f64, f64, Vec<T>)>>);

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept(Mutex::new(None))
    }
}

impl<T: Clone> Kept<T> {
    /// The list between two times: a part of the one that is there, or else one that is found and kept.
    fn between(&self, from: f64, to: f64, time: impl Fn(&T) -> f64, find: impl FnOnce() -> Vec<T>) -> Vec<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((first, last, list)) = &*kept
            && *first <= from
            && to <= *last
        {
            let is_within = |each: &&T| (from..=to).contains(&time(each));
            return list.iter().filter(is_within).cloned().collect();
        }
        let list = find();
        *kept = Some((from, to, list.clone()));
        list
    }
}

impl Inputs {
    /// The signals of a system's inputs; a table, where there is one, stands in place of the expression.
    ///
    /// `parameters` holds every entry of every parameter (see [`Kernels::parameters`]); before `start` every input is 0.
    pub fn new(
        system: &StateSystem,
        kernels: &Kernels,
        parameters: &[f64],
        tables: Vec<Option<Table>>,
        start: f64,
    ) -> Inputs {
        let signals = system.inputs.iter().zip(&tables);
        let roots: Vec<ExprId> = signals
            .filter(|(_, table)| table.is_none())
            .filter_map(|(input, _)| input.signal)
            .collect();
        Inputs {
            shared: Arc::new(Shared {
                count: system.inputs.len(),
                kernel: kernels.inputs.clone(),
                corners: Corners::new(&system.exprs, &roots, &Layout::new(system)),
                tables,
            }),
            parameters: parameters.into(),
            start,
            corners: Arc::default(),
            looks: Arc::default(),
        }
    }

    /// The same signals in a run with other parameters, from another start.
    pub fn with_parameters(&self, parameters: &[f64], start: f64) -> Inputs {
        Inputs {
            shared: self.shared.clone(),
            parameters: parameters.into(),
            start,
            corners: Arc::default(),
            looks: Arc::default(),
        }
    }

    fn find_corners(&self, from: f64, to: f64) -> Vec<Corner> {
        let mut times = self.shared.corners.times(&self.parameters, from, to);
        for table in self.shared.tables.iter().flatten() {
            times.extend(table.corners(from, to));
        }
        if (from..=to).contains(&self.start) {
            let count = self.shared.count;
            let (mut values, mut rates) = (vec![0.0; count], vec![0.0; count]);
            self.values(self.start, Side::After, &mut values, &mut rates);
            if values.iter().chain(&rates).any(|value| *value != 0.0) {
                times.push(self.start);
            }
        }
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
            .into_iter()
            .map(|time| Corner {
                time,
                steps: self.steps(time),
            })
            .collect()
    }

    /// The step of each input at a time, where it is more than rounding of a continuous signal.
    pub(crate) fn steps(&self, time: f64) -> Vec<(usize, f64)> {
        let count = self.shared.count;
        let (mut before, mut after) = (vec![0.0; count], vec![0.0; count]);
        let (mut slope, mut other) = (vec![0.0; count], vec![0.0; count]);
        self.values(time, Side::Before, &mut before, &mut slope);
        self.values(time, Side::After, &mut after, &mut other);
        // Between two neighbouring doubles a continuous signal moves by its rate, and is rounded.
        let apart = time - time.next_down();
        (0..count)
            .filter_map(|at| {
                let step = after[at] - before[at];
                let moved = 16.0 * apart * slope[at].abs().max(other[at].abs());
                let rounded = 64.0 * f64::EPSILON * before[at].abs().max(after[at].abs());
                (step.abs() > moved + rounded).then_some((at, step))
            })
            .collect()
    }
}

impl Signals for Inputs {
    fn count(&self) -> usize {
        self.shared.count
    }

    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]) {
        let shared = &*self.shared;
        if side == Side::Before && time <= self.start {
            values.fill(0.0);
            rates.fill(0.0);
            return;
        }
        let (writes, needs) = (shared.kernel.outputs(), shared.kernel.scratch());
        WORK.with_borrow_mut(|work| {
            if work.len() < writes + needs {
                work.resize(writes + needs, 0.0);
            }
            let (out, scratch) = work.split_at_mut(writes);
            let at = Arguments {
                // The last double before a corner still lies in the old branch.
                time: if side == Side::Before { time.next_down() } else { time },
                parameters: &self.parameters,
                ..Arguments::default()
            };
            shared.kernel.call(&at, scratch, out);
            values.copy_from_slice(&out[..shared.count]);
            rates.copy_from_slice(&out[shared.count..writes]);
        });
        for (at, table) in shared.tables.iter().enumerate() {
            if let Some(table) = table {
                (values[at], rates[at]) = table.at(time, side);
            }
        }
    }

    fn corners(&self, from: f64, to: f64) -> Vec<Corner> {
        let find = || self.find_corners(from, to);
        self.corners.between(from, to, |corner| corner.time, find)
    }

    fn looks(&self, from: f64, to: f64) -> Vec<f64> {
        let find = || self.shared.corners.looks(&self.parameters, from, to);
        self.looks.between(from, to, |time| *time, find)
    }

    fn is_measured(&self, input: usize) -> bool {
        self.shared.tables.get(input).is_some_and(Option::is_some)
    }

    fn frequency(&self, from: f64, to: f64) -> f64 {
        self.shared.corners.fastest(&self.parameters, from, to)
    }
}
