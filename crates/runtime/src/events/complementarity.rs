//! Linear complementarity problems: `w = M z + q`, where both are nonnegative and of each pair one is zero; and the one of elements that
//! are complementary, whose free variables answer to offsets of the given ones.

use super::super::real::Real;

/// A pivot below this share of the largest entry of its column is none.
const PIVOT: f64 = 1e-12;
/// Ratios that differ by less than this share are the same.
const TIE: f64 = 1e-13;

/// Below this share of the values that it is a difference of, an answer is none.
const NO_ANSWER: f64 = 1e-13;

/// The answers of n complementary elements: row by row, how the free variable of an element and the margin of its change move with the
/// offset of each element.
#[derive(Debug)]
pub struct Answers<'m, T> {
    /// Changes of free variables, n x n.
    pub matrix: &'m mut [T],
    /// Changes of margins, n x n.
    pub margins: &'m mut [T],
    /// The free variables without any offset.
    pub free: &'m mut [T],
    /// The sign that each free variable must have; 0 where it answers to no offset.
    pub signs: &'m mut [T],
}

impl<T: Real> Answers<'_, T> {
    /// Takes the answer of an element to the offset of another one: its free variable with it, and the change of its margin.
    pub fn take(&mut self, (row, column): (usize, usize), with: T, margin: T) {
        let (own, at) = (self.free[row], row * self.free.len() + column);
        let is_answer = (with - own).abs() > T::c(NO_ANSWER) * with.abs().maximum(own.abs());
        self.matrix[at] = if is_answer { with - own } else { T::c(0.0) };
        self.margins[at] = margin;
    }

    /// The sign that the free variable of an element must have, whose change is taken where its margin is above 0, or below.
    fn sign(&self, row: usize, is_above: bool) -> T {
        let n = self.free.len();
        let (answers, margins) = (
            &self.matrix[row * n..(row + 1) * n],
            &self.margins[row * n..(row + 1) * n],
        );
        let larger = |a: usize, b: usize| if answers[b].abs() >= answers[a].abs() { b } else { a };
        let strongest = (0..n).reduce(larger).unwrap_or(0);
        if answers[strongest] == T::c(0.0) {
            return T::c(0.0);
        }
        let is_same = margins[strongest] * answers[strongest] > T::c(0.0);
        T::c(if is_same == is_above { -1.0 } else { 1.0 })
    }

    /// Finds the offsets with which all free variables have their signs; false where there are none. Those that are above 0 in the
    /// solution are of elements that change their mode.
    pub fn solve(self, is_above: impl Fn(usize) -> bool, memory: &mut Memory<'_, T>) -> bool {
        let n = self.free.len();
        for row in 0..n {
            self.signs[row] = self.sign(row, is_above(row));
            self.free[row] = self.signs[row] * self.free[row];
        }
        for row in 0..n {
            for column in 0..n {
                // Passive elements take power: what one variable gives, its conjugate takes with the other sign.
                let entry = &mut self.matrix[row * n + column];
                *entry = *entry * -self.signs[row] * self.signs[column];
            }
        }
        lemke(self.matrix, self.free, memory)
    }
}

/// The memory of Lemke's method for n pairs: a table of n rows and 2 n + 2 columns, the variable in the basis of each row, and the
/// solution z.
#[derive(Debug)]
pub struct Memory<'m, T> {
    /// Columns: w, z, the artificial variable, the right side.
    pub table: &'m mut [T],
    /// The variables in the basis.
    pub basis: &'m mut [usize],
    /// The solution.
    pub z: &'m mut [T],
}

/// Solves `w = M z + q`, `w >= 0`, `z >= 0`, `w' z = 0` by Lemke's method (C. E. Lemke, 1965; Cottle, Pang and Stone, The Linear
/// Complementarity Problem, algorithm 4.4.5), with ties broken lexicographically; M is given row by row. False where the method ends on
/// a ray: for positive semidefinite M there is no solution then.
pub fn lemke<T: Real>(m: &[T], q: &[T], memory: &mut Memory<'_, T>) -> bool {
    let n = q.len();
    let (zero, one) = (T::c(0.0), T::c(1.0));
    let (width, artificial) = (2 * n + 2, 2 * n);
    memory.z[..n].fill(zero);
    let first = (0..n).reduce(|first, row| if q[row] < q[first] { row } else { first });
    let Some(first) = first.filter(|first| q[*first] < zero) else {
        return true;
    };
    for row in 0..n {
        let entries = &mut memory.table[row * width..(row + 1) * width];
        entries.fill(zero);
        entries[row] = one;
        for column in 0..n {
            entries[n + column] = -m[row * n + column];
        }
        entries[artificial] = -one;
        entries[width - 1] = q[row];
        memory.basis[row] = row;
    }
    let mut leaving = memory.pivot(n, first, artificial);
    for _ in 0..50 * (n + 1) {
        if leaving == artificial {
            for row in 0..n {
                let variable = memory.basis[row];
                if (n..2 * n).contains(&variable) {
                    memory.z[variable - n] = memory.table[row * width + width - 1].maximum(zero);
                }
            }
            return true;
        }
        // The complement of what has left comes in.
        let entering = if leaving < n { leaving + n } else { leaving - n };
        let Some(row) = memory.limiting_row(n, entering) else {
            return false;
        };
        leaving = memory.pivot(n, row, entering);
    }
    false
}

impl<T: Real> Memory<'_, T> {
    /// Brings a variable into the basis in a row; returns the one that leaves.
    fn pivot(&mut self, n: usize, row: usize, entering: usize) -> usize {
        let width = 2 * n + 2;
        let by = self.table[row * width + entering];
        for column in 0..width {
            self.table[row * width + column] = self.table[row * width + column] / by;
        }
        for other in (0..n).filter(|other| *other != row) {
            let factor = self.table[other * width + entering];
            if factor != T::c(0.0) {
                for column in 0..width {
                    let part = factor * self.table[row * width + column];
                    self.table[other * width + column] = self.table[other * width + column] - part;
                }
            }
        }
        core::mem::replace(&mut self.basis[row], entering)
    }

    /// The row that limits how far a variable can grow; none where none does.
    fn limiting_row(&self, n: usize, entering: usize) -> Option<usize> {
        let entry = |row: usize| self.table[row * (2 * n + 2) + entering];
        let largest = (0..n).fold(T::c(0.0), |most, row| most.maximum(entry(row).abs()));
        let candidates = (0..n).filter(|row| entry(*row) > T::c(PIVOT) * largest);
        candidates.reduce(|best, row| {
            if self.is_less(n, entering, row, best) {
                row
            } else {
                best
            }
        })
    }

    /// Lexicographic: the right side first, then the columns of the inverse of the basis, which are those of w. The artificial
    /// variable leaves where it may.
    fn is_less(&self, n: usize, entering: usize, a: usize, b: usize) -> bool {
        let (width, artificial) = (2 * n + 2, 2 * n);
        let ratio = |row: usize, column: usize| self.table[row * width + column] / self.table[row * width + entering];
        for column in core::iter::once(width - 1).chain(0..n) {
            let (x, y) = (ratio(a, column), ratio(b, column));
            let size = x.abs().maximum(y.abs()).maximum(T::c(f64::MIN_POSITIVE));
            if (x - y).abs() > T::c(TIE) * size {
                return x < y;
            }
            if column == width - 1 && (self.basis[a] == artificial || self.basis[b] == artificial) {
                return self.basis[a] == artificial;
            }
        }
        false
    }
}
