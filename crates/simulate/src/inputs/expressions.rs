//! The inputs of a run: expressions of time and parameters, some of them replaced by tables.

use crate::inputs::given::Signal;
use crate::inputs::signals::{Corner, Side, Signals};
use lgm_algebra::expr::ExprId;
use lgm_kernels::{Arguments, Corners, Kernel, Kernels, Layout};
use lgm_model::system::StateSystem;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// Working memory of the expressions, so that evaluation needs no allocation.
    static WORK: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Data shared by all runs of a model.
#[derive(Debug)]
struct Shared {
    count: usize,
    /// Values and rates of the expressions.
    kernel: Kernel,
    corners: Corners,
    /// True if an expression steps with time.
    steps: bool,
    /// Signals that replace expressions, for some inputs.
    tables: Vec<Option<Signal>>,
}

/// The part of the time by which signals that step are read later: a few units in the last place. A period of 0.1 s is then over at the
/// third of its instants, although 0.3 in doubles is less than 3 times 0.1. At the instant of a step, the value after it applies.
const LATER: f64 = 4.0 * f64::EPSILON;

/// The signals of the inputs of one run. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Inputs {
    shared: Arc<Shared>,
    parameters: Arc<[f64]>,
    start: f64,
    /// The whole run if it is performed in parts: it is analysed only once.
    whole: Option<(f64, f64)>,
    corners: Arc<Kept<Vec<Corner>>>,
}

/// The last result, and the times between which it applies.
#[derive(Debug)]
struct Kept<T>(Mutex<Option<((f64, f64), T)>>);

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept(Mutex::new(None))
    }
}

impl<T> Kept<T> {
    /// Reads the known result between two times, or computes it.
    fn read<R>(&self, within: (f64, f64), find: impl FnOnce() -> T, read: impl FnOnce(&T) -> R) -> R {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((known, found)) if *known == within => read(found),
            _ => {
                let found = find();
                let answer = read(&found);
                *kept = Some((within, found));
                answer
            }
        }
    }
}

impl Inputs {
    /// Creates the signals of a system's inputs; a table, if any, replaces the expression.
    ///
    /// `parameters` holds every entry of every parameter (see [`Kernels::parameters`]); before `start` every input is 0.
    pub fn new(
        system: &StateSystem,
        kernels: &Kernels,
        parameters: &[f64],
        tables: Vec<Option<Signal>>,
        start: f64,
    ) -> Inputs {
        let signals = system.inputs.iter().zip(&tables);
        let roots: Vec<ExprId> = signals
            .filter(|(_, table)| table.is_none())
            .filter_map(|(input, _)| input.signal)
            .collect();
        let corners = Corners::new(&system.exprs, &roots, &Layout::new(system));
        Inputs {
            shared: Arc::new(Shared {
                count: system.inputs.len(),
                kernel: kernels.inputs.clone(),
                steps: corners.switches().outputs() > 0,
                corners,
                tables,
            }),
            parameters: parameters.into(),
            start,
            whole: None,
            corners: Arc::default(),
        }
    }

    /// Does the same for the parts of a run between two times.
    pub(crate) fn within(
        system: &StateSystem,
        kernels: &Kernels,
        parameters: &[f64],
        tables: Vec<Option<Signal>>,
        whole: (f64, f64),
    ) -> Inputs {
        Inputs {
            whole: Some(whole),
            ..Inputs::new(system, kernels, parameters, tables, whole.0)
        }
    }

    /// Returns the same signals for a run with other parameters and another start time.
    pub fn with_parameters(&self, parameters: &[f64], start: f64) -> Inputs {
        Inputs {
            shared: self.shared.clone(),
            parameters: parameters.into(),
            start,
            whole: None,
            corners: Arc::default(),
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

    /// Returns the step of each input at a time, if it exceeds the round-off of a continuous signal.
    pub(crate) fn steps(&self, time: f64) -> Vec<(usize, f64)> {
        let count = self.shared.count;
        let (mut before, mut after) = (vec![0.0; count], vec![0.0; count]);
        let (mut slope, mut other) = (vec![0.0; count], vec![0.0; count]);
        self.values(time, Side::Before, &mut before, &mut slope);
        self.values(time, Side::After, &mut after, &mut other);
        // Between two adjacent doubles a continuous signal changes by its rate and by round-off.
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

    fn read_at(&self, time: f64, side: Side) -> f64 {
        match side {
            Side::Before => time.next_down(),
            Side::After if self.shared.steps => time + LATER * time.abs(),
            Side::After => time,
        }
    }

    fn values(&self, time: f64, side: Side, values: &mut [f64], rates: &mut [f64]) {
        let shared = &*self.shared;
        if side == Side::Before && time <= self.start {
            values.fill(0.0);
            rates.fill(0.0);
            // The history has a value before the start.
            for (at, table) in shared.tables.iter().enumerate() {
                if let Some(Signal::Delayed(history)) = table {
                    values[at] = history.at(time, side).0;
                }
            }
            return;
        }
        let (writes, needs) = (shared.kernel.outputs(), shared.kernel.scratch());
        WORK.with_borrow_mut(|work| {
            if work.len() < writes + needs {
                work.resize(writes + needs, 0.0);
            }
            let (out, scratch) = work.split_at_mut(writes);
            let at = Arguments {
                time: self.read_at(time, side),
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
        let Some(whole) = self.whole.filter(|whole| whole.0 <= from && to <= whole.1) else {
            return self.find_corners(from, to);
        };
        let find = || self.find_corners(whole.0, whole.1);
        self.corners.read(whole, find, |all| {
            let first = all.partition_point(|corner| corner.time < from);
            let within = all[first..].iter().take_while(|corner| corner.time <= to);
            within.cloned().collect()
        })
    }

    fn horizon(&self, from: f64, to: f64, most: usize) -> f64 {
        let Some(whole) = self.whole else { return to };
        let find = || self.find_corners(whole.0, whole.1);
        self.corners.read(whole, find, |all| {
            let first = all.partition_point(|corner| corner.time <= from);
            all.get(first + most).map_or(to, |corner| corner.time.min(to))
        })
    }

    fn looks(&self, from: f64, to: f64) -> Vec<f64> {
        self.shared.corners.looks(&self.parameters, from, to)
    }

    fn is_measured(&self, input: usize) -> bool {
        self.shared.tables.get(input).is_some_and(Option::is_some)
    }

    fn frequency(&self, from: f64, to: f64) -> f64 {
        self.shared.corners.fastest(&self.parameters, from, to)
    }
}
