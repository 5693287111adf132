//! The equations in the form for an implicit method: `M y' = g(t, y)` with loops, and rates after a changing mass
//! matrix, as further unknowns.
//!
//! y contains the states x, then the loop unknowns w, then, only if the mass matrix changes, the rates r:
//!
//! ```text
//! M x' = f(x, w)                  x' = r
//!    0 = h(x, w)        or         0 = h(x, w)
//!                                  0 = f(x, w) - M(x) r
//! ```

use crate::motion::BEYOND;
use crate::motion::{Mass, Motion};
use lgm_kernels::SparseKernel;
use lgm_numerics::newton::beside_rest;
use std::cell::RefCell;

/// The entries of a block of the Jacobian.
enum JacobianBlock<'a> {
    /// The entries of a kernel, times the sign.
    Kernel(&'a SparseKernel, f64),
    /// The identity.
    Identity(usize),
}

/// A block with the row and column of its first entry, and the positions of its entries in the complete matrix.
struct Placed<'a> {
    block: JacobianBlock<'a>,
    places: Vec<usize>,
}

/// The implicit form of a system.
pub(crate) struct Implicit<'a> {
    motion: &'a Motion<'a>,
    /// Length of y.
    pub size: usize,
    /// True if the rates are unknowns.
    with_rates: bool,
    /// The Jacobian's pattern by columns.
    pub column_starts: Vec<usize>,
    pub rows_of: Vec<usize>,
    blocks: Vec<Placed<'a>>,
    /// The left side's matrix by columns: pattern and values; none if it is the identity.
    pub mass: Option<Columns>,
    entries: RefCell<Vec<f64>>,
}

/// A constant matrix by columns.
pub(crate) struct Columns {
    pub column_starts: Vec<usize>,
    pub rows_of: Vec<usize>,
    pub values: Vec<f64>,
}

impl Columns {
    /// Creates a matrix from entries (row, column, value), with each position once.
    fn new(size: usize, mut entries: Vec<(usize, usize, f64)>) -> Columns {
        entries.sort_unstable_by_key(|entry| (entry.1, entry.0));
        let mut column_starts = vec![0; size + 1];
        for entry in &entries {
            column_starts[entry.1 + 1] += 1;
        }
        for column in 0..size {
            column_starts[column + 1] += column_starts[column];
        }
        Columns {
            column_starts,
            rows_of: entries.iter().map(|entry| entry.0).collect(),
            values: entries.iter().map(|entry| entry.2).collect(),
        }
    }

    /// Returns its entries (row, column, value).
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.column_starts.len() - 1).flat_map(move |column| {
            let range = self.column_starts[column]..self.column_starts[column + 1];
            range.map(move |at| (self.rows_of[at], column, self.values[at]))
        })
    }

    /// Computes `to = matrix * from + share * to`.
    pub fn multiply(&self, from: &[f64], share: f64, to: &mut [f64]) {
        for value in to.iter_mut() {
            *value = if share == 0.0 { 0.0 } else { *value * share };
        }
        for (column, value) in from.iter().enumerate() {
            for at in self.column_starts[column]..self.column_starts[column + 1] {
                to[self.rows_of[at]] += self.values[at] * value;
            }
        }
    }
}

impl<'a> Implicit<'a> {
    pub fn new(motion: &'a Motion<'a>) -> Implicit<'a> {
        let kernels = motion.kernels;
        let jacobians = kernels.jacobians(motion.system);
        let (n, k) = (motion.states, motion.unknowns);
        let with_rates = matches!(motion.mass, Mass::Changing);
        let first_rate = n + k;
        let size = if with_rates { 2 * n + k } else { n + k };
        let right_sides = if with_rates { first_rate } else { 0 };
        let mut blocks = vec![
            (right_sides, 0, JacobianBlock::Kernel(&jacobians.rates_by_states, 1.0)),
            (right_sides, n, JacobianBlock::Kernel(&jacobians.rates_by_unknowns, 1.0)),
            (n, 0, JacobianBlock::Kernel(&jacobians.residuals_by_states, 1.0)),
            (n, n, JacobianBlock::Kernel(&jacobians.residuals_by_unknowns, 1.0)),
        ];
        if let (true, Some(mass)) = (with_rates, &kernels.mass) {
            blocks.push((0, first_rate, JacobianBlock::Identity(n)));
            blocks.push((first_rate, first_rate, JacobianBlock::Kernel(mass, -1.0)));
        }
        let mut all: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (index, (row, column, block)) in blocks.iter().enumerate() {
            match block {
                JacobianBlock::Identity(size) => all.extend((0..*size).map(|at| (row + at, column + at, index, at))),
                JacobianBlock::Kernel(kernel, _) => {
                    for inner in 0..kernel.rows {
                        for at in kernel.row_starts[inner]..kernel.row_starts[inner + 1] {
                            all.push((row + inner, column + kernel.columns_of[at], index, at));
                        }
                    }
                }
            }
        }
        all.sort_unstable_by_key(|entry| (entry.1, entry.0));
        let mut column_starts = vec![0; size + 1];
        let mut placed: Vec<Placed<'a>> = blocks
            .into_iter()
            .map(|(_, _, block)| Placed {
                places: match &block {
                    JacobianBlock::Identity(size) => vec![0; *size],
                    JacobianBlock::Kernel(kernel, _) => vec![0; kernel.stored()],
                },
                block,
            })
            .collect();
        for (place, (_, column, index, at)) in all.iter().enumerate() {
            column_starts[column + 1] += 1;
            placed[*index].places[*at] = place;
        }
        for column in 0..size {
            column_starts[column + 1] += column_starts[column];
        }
        Implicit {
            motion,
            size,
            with_rates,
            column_starts,
            rows_of: all.iter().map(|entry| entry.0).collect(),
            blocks: placed,
            mass: Implicit::left_side(motion, size),
            entries: RefCell::new(Vec::new()),
        }
    }

    fn left_side(motion: &Motion<'_>, size: usize) -> Option<Columns> {
        let identity = (0..motion.states).map(|row| (row, row, 1.0));
        match (&motion.mass, &motion.kernels.mass) {
            (Mass::Identity, _) if motion.unknowns == 0 => None,
            (Mass::Constant { values, .. }, Some(mass)) => {
                let entries = crate::linear_factors::pattern(mass);
                let entries = entries.entries().map(|(row, column, at)| (row, column, values[at]));
                Some(Columns::new(size, entries.collect()))
            }
            _ => Some(Columns::new(size, identity.collect())),
        }
    }

    /// Computes y at the start of a piece: consistent unknowns and rates in addition to the states. Returns false if none exist.
    pub fn begin(&self, time: f64, states: &[f64], y: &mut [f64]) -> bool {
        let n = self.motion.states;
        y[..n].copy_from_slice(states);
        let mut rates = vec![0.0; n];
        let regular = self.motion.rates(time, states, &mut rates);
        self.motion.copy_unknowns(&mut y[n..n + self.motion.unknowns]);
        if self.with_rates {
            y[n + self.motion.unknowns..].copy_from_slice(&rates);
        }
        regular
    }

    /// Computes g(t, y).
    pub fn right_sides(&self, time: f64, y: &[f64], to: &mut [f64]) {
        let motion = self.motion;
        let (n, k) = (motion.states, motion.unknowns);
        let (states, unknowns) = (&y[..n], &y[n..n + k]);
        motion.evaluations.set(motion.evaluations.get() + 1);
        let (first, rest) = to.split_at_mut(n);
        let (residuals, last) = rest.split_at_mut(k);
        motion.call(&motion.kernels.residuals, time, states, unknowns, None, residuals);
        let right = if self.with_rates { last } else { &mut *first };
        motion.call(&motion.kernels.derivatives, time, states, unknowns, None, right);
        if let (true, Some(mass)) = (self.with_rates, &motion.kernels.mass) {
            let rates = &y[n + k..];
            let mut entries = self.entries.borrow_mut();
            entries.resize(mass.stored(), 0.0);
            motion.call(&mass.values, time, states, unknowns, None, &mut entries);
            for (row, column, at) in crate::linear_factors::pattern(mass).entries() {
                right[row] -= entries[at] * rates[column];
            }
            first.copy_from_slice(rates);
        }
        let mut finite = true;
        for value in to.iter_mut().filter(|value| !value.is_finite()) {
            *value = BEYOND;
            finite = false;
        }
        if !finite {
            motion.note_domain(time, states);
        }
    }

    /// Computes the entries of dg/dy by columns. The dependence of M on the states is ignored: this makes Newton's
    /// method slightly slower, without changing its solution.
    pub fn jacobian(&self, time: f64, y: &[f64], to: &mut [f64]) {
        let motion = self.motion;
        let (n, k) = (motion.states, motion.unknowns);
        motion.jacobians.set(motion.jacobians.get() + 1);
        let mut entries = self.entries.borrow_mut();
        let beside = self.beside_rest(time, y, &mut entries);
        let y = beside.as_deref().unwrap_or(y);
        for Placed { block, places } in &self.blocks {
            match block {
                JacobianBlock::Identity(_) => places.iter().for_each(|place| to[*place] = 1.0),
                JacobianBlock::Kernel(kernel, sign) => {
                    entries.resize(kernel.stored(), 0.0);
                    motion.call(&kernel.values, time, &y[..n], &y[n..n + k], None, &mut entries);
                    for (place, value) in places.iter().zip(entries.iter()) {
                        // An infinite slope (of a root at zero) does not help Newton's iteration.
                        to[*place] = if value.is_finite() { sign * value } else { 0.0 };
                    }
                }
            }
        }
    }

    /// Returns a point near y if some equation of the loops has no slope at y, as for turbulent laws at rest; `None` if all have one.
    fn beside_rest(&self, time: f64, y: &[f64], entries: &mut Vec<f64>) -> Option<Vec<f64>> {
        let motion = self.motion;
        let (n, k) = (motion.states, motion.unknowns);
        let kernel = &motion.kernels.jacobians(motion.system).residuals_by_unknowns;
        if k == 0 || motion.held_unknowns().contains(&true) {
            return None;
        }
        entries.resize(kernel.stored(), 0.0);
        motion.call(&kernel.values, time, &y[..n], &y[n..n + k], None, entries);
        // Find residuals without any slope, and unknowns with respect to which no residual has one.
        let (mut in_row, mut in_column) = (vec![false; k], vec![false; k]);
        for (row, column, at) in crate::linear_factors::pattern(kernel).entries() {
            let has_slope = entries[at] != 0.0 && entries[at].is_finite();
            in_row[row] |= has_slope;
            in_column[column] |= has_slope;
        }
        // Away from rest, such as for a blocking diode, a law without a slope is valid.
        let at_rest: Vec<bool> = (0..k).map(|at| y[n + at].abs() <= motion.small_unknown(at)).collect();
        let mut beside: Vec<bool> = (0..k).map(|at| !in_column[at] && at_rest[at]).collect();
        for (row, column, _) in crate::linear_factors::pattern(kernel).entries() {
            beside[column] |= !in_row[row] && at_rest[column];
        }
        beside.contains(&true).then(|| {
            let mut moved = y.to_vec();
            for at in (0..k).filter(|at| beside[*at]) {
                moved[n + at] = beside_rest(at);
            }
            moved
        })
    }

    /// Returns the rows of the loops.
    pub fn loops(&self) -> std::ops::Range<usize> {
        self.motion.states..self.motion.states + self.motion.unknowns
    }

    /// Returns true if some loop is a closed chain, which continues from its last solution without jumps.
    pub fn holds_chains(&self) -> bool {
        self.motion.held_unknowns().contains(&true)
    }

    /// Returns the unknowns of the loops at the end of the last accepted step, if they are kept.
    pub fn kept_unknowns(&self) -> Option<Vec<f64>> {
        self.motion.kept_unknowns()
    }

    /// Multiplies the matrix of the rates by a vector.
    pub fn left_times(&self, from: &[f64]) -> Vec<f64> {
        let Some(mass) = &self.mass else {
            return from.to_vec();
        };
        let mut to = vec![0.0; from.len()];
        mass.multiply(from, 0.0, &mut to);
        to
    }

    /// Returns the entries (row, column, value) of `M - length * dg/dy`; entries at the same position add up.
    pub fn step_matrix(&self, time: f64, y: &[f64], length: f64) -> Vec<(usize, usize, f64)> {
        let mut values = vec![0.0; self.rows_of.len()];
        self.jacobian(time, y, &mut values);
        let mut entries: Vec<(usize, usize, f64)> = Vec::with_capacity(values.len() + self.size);
        for column in 0..self.size {
            let stored = self.column_starts[column]..self.column_starts[column + 1];
            for (row, value) in self.rows_of[stored.clone()].iter().zip(&values[stored]) {
                entries.push((*row, column, -length * value));
            }
        }
        match &self.mass {
            None => entries.extend((0..self.size).map(|at| (at, at, 1.0))),
            Some(mass) => entries.extend(mass.entries()),
        }
        entries
    }

    /// Computes `to = dg/dy * from`.
    pub fn jacobian_times(&self, time: f64, y: &[f64], from: &[f64], to: &mut [f64]) {
        let mut values = vec![0.0; self.rows_of.len()];
        self.jacobian(time, y, &mut values);
        to.fill(0.0);
        for (column, value) in from.iter().enumerate() {
            for at in self.column_starts[column]..self.column_starts[column + 1] {
                to[self.rows_of[at]] += values[at] * value;
            }
        }
    }
}

/// A point at which the right sides were evaluated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Point {
    pub time: f64,
    pub y: Vec<f64>,
    pub right: Vec<f64>,
    /// The last y for which all right sides had a value, before this one.
    pub good: Vec<f64>,
}

impl Point {
    pub fn set(&mut self, time: f64, y: &[f64], right: &[f64]) {
        self.time = time;
        self.y.clear();
        self.y.extend(y);
        self.right.clear();
        self.right.extend(right);
    }
}
