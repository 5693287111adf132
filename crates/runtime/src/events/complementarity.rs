//! Linear complementarity problems `w = M z + q`: w and z are nonnegative, and one variable of each pair is zero. The changes of all
//! elements lead to such a problem, because the free variables of ports respond to offsets of the set variables.

use super::super::real::Real;

/// A pivot below this fraction of the largest entry of its column counts as zero.
const PIVOT: f64 = 1e-12;
/// Ratios that differ by less than this fraction are equal.
const TIE: f64 = 1e-13;

/// A sum below this fraction of its terms may be round-off: half of the digits.
const CANCELS: f64 = 1e-8;

/// A response below this fraction of the values whose difference it is counts as zero.
const NO_ANSWER: f64 = 1e-13;

/// A quantity that decides on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A margin, by its index.
    Margin(usize),
    /// The difference of two watched values: a free variable of a port, minus its value in the next mode.
    Difference(usize, usize),
}

/// A possible change, as an inequality: the quantity stays on one side of 0 unless the set variable of the port leaves its value
/// from the law. In that case the change is taken.
///
/// A blocking diode has a bounded voltage, and a sticking clutch has a torque bounded on both sides. The voltage of a transistor with
/// its gate on is bounded to 0 from both sides.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    /// The element.
    pub element: usize,
    /// The next mode.
    pub to: usize,
    /// The port whose set variable has the offset.
    pub port: usize,
    /// The quantity.
    pub quantity: Quantity,
    /// True if the quantity must be at most 0; false if it must be at least 0.
    pub is_upper: bool,
    /// True if the set variable increases once the free variable is at the bound: an upper bound.
    pub is_above: bool,
    /// True if the change is taken in any case.
    pub is_decided: bool,
}

impl Bounded {
    /// No change.
    pub const NONE: Bounded = Bounded {
        element: 0,
        to: 0,
        port: 0,
        quantity: Quantity::Margin(0),
        is_upper: false,
        is_above: false,
        is_decided: false,
    };

    /// Returns the two bounds of a decided change: a free variable must reach its value in the next mode.
    pub fn decided(element: usize, to: usize, port: usize, (free, wanted): (usize, usize)) -> [Bounded; 2] {
        [true, false].map(|is_above| Bounded {
            element,
            to,
            port,
            quantity: Quantity::Difference(free, wanted),
            is_upper: is_above,
            is_above,
            is_decided: true,
        })
    }
}

/// The result of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All bounds hold with the offsets found.
    Solved,
    /// No offsets satisfy all bounds: the changes contradict each other.
    Unsolvable,
    /// Too few elements are bounded, or bounds do not describe all changes.
    Unposed,
}

impl Outcome {
    /// Returns the result for all elements, if the problem is not whole: it contains no redundant elements, and decided changes read no
    /// impulses.
    pub fn of_whole(self, is_whole: bool) -> Outcome {
        match self {
            Outcome::Unsolvable if !is_whole => Outcome::Unposed,
            outcome => outcome,
        }
    }
}

/// The memory of a problem with n bounds.
#[derive(Debug)]
pub struct Problem<'m, T> {
    /// The response of the distance to each bound to the offset of each, n x n.
    pub matrix: &'m mut [T],
    /// The distances without offsets.
    pub distances: &'m mut [T],
    /// The memory of Lemke's method.
    pub memory: Memory<'m, T>,
}

/// Solves for the offsets with which all bounds hold, and takes the changes with nonzero offsets.
///
/// `answer` returns the watched values a short time after the instant, with the offset of a port equal to 1 from now on. `value` reads
/// a quantity from them. The problem is monotone because the network between the ports is passive.
pub fn take_bounded<T: Real, A>(
    bounds: &[Bounded],
    mut answer: impl FnMut(Option<usize>) -> Option<A>,
    value: impl Fn(&A, Quantity) -> T,
    problem: Problem<'_, T>,
    modes: &mut [usize],
) -> Outcome {
    let n = bounds.len();
    let Problem {
        matrix,
        distances,
        mut memory,
    } = problem;
    let distance = |answers: &A, of: &Bounded| match (value(answers, of.quantity), of.is_upper) {
        (value, true) => -value,
        (value, false) => value,
    };
    let Some(base) = answer(None) else {
        return Outcome::Unposed;
    };
    for (row, of) in bounds.iter().enumerate() {
        distances[row] = distance(&base, of);
    }
    let mut known: Option<(usize, A)> = None;
    for (column, of) in bounds.iter().enumerate() {
        if known.as_ref().is_none_or(|known| known.0 != of.port) {
            let Some(answers) = answer(Some(of.port)) else {
                return Outcome::Unposed;
            };
            known = Some((of.port, answers));
        }
        let Some((_, answers)) = &known else {
            return Outcome::Unposed;
        };
        for (row, other) in bounds.iter().enumerate() {
            let (own, with) = (distances[row], distance(answers, other));
            let is_answer = (with - own).abs() > T::c(NO_ANSWER) * with.abs().maximum(own.abs());
            let change = if is_answer { with - own } else { T::c(0.0) };
            matrix[row * n + column] = if of.is_above { change } else { -change };
        }
    }
    balance(matrix, distances);
    let outcome = lemke(matrix, distances, &mut memory);
    if outcome != Outcome::Solved {
        return outcome;
    }
    for (at, of) in bounds.iter().enumerate() {
        let is_larger = |other: usize| bounds[other].element == of.element && memory.z[other] > memory.z[at];
        if of.is_decided || memory.z[at] > T::c(0.0) && !(0..n).any(is_larger) {
            modes[of.element] = of.to;
        }
    }
    Outcome::Solved
}

/// Scales offsets and distances so that each bound has a response of 1 to its own offset. Zeros remain zeros.
fn balance<T: Real>(matrix: &mut [T], distances: &mut [T]) {
    let n = distances.len();
    for at in 0..n {
        let own = matrix[at * n + at];
        if own > T::c(0.0) {
            let scale = T::c(1.0) / own.sqrt();
            for other in 0..n {
                matrix[at * n + other] = matrix[at * n + other] * scale;
                matrix[other * n + at] = matrix[other * n + at] * scale;
            }
            distances[at] = distances[at] * scale;
        }
    }
}

/// The memory of Lemke's method for n pairs: a table of n rows and 2 n + 2 columns, the basic variable of each row, and
/// the solution z.
#[derive(Debug)]
pub struct Memory<'m, T> {
    /// The columns are w, z, the artificial variable and the right-hand side.
    pub table: &'m mut [T],
    /// The basic variables.
    pub basis: &'m mut [usize],
    /// The solution.
    pub z: &'m mut [T],
}

/// Solves `w = M z + q`, `w >= 0`, `z >= 0`, `w' z = 0` by Lemke's method (C. E. Lemke, 1965; Cottle, Pang and Stone, The Linear
/// Complementarity Problem, algorithm 4.4.5), with lexicographic tie-breaking; M is given row by row. For
/// positive semidefinite M, no solution exists if the method ends on a ray.
pub fn lemke<T: Real>(m: &[T], q: &[T], memory: &mut Memory<'_, T>) -> Outcome {
    let n = q.len();
    let (zero, one) = (T::c(0.0), T::c(1.0));
    let (width, artificial) = (2 * n + 2, 2 * n);
    memory.z[..n].fill(zero);
    let first = (0..n).reduce(|first, row| if q[row] < q[first] { row } else { first });
    let Some(first) = first.filter(|first| q[*first] < zero) else {
        return Outcome::Solved;
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
            return Outcome::Solved;
        }
        // The complement of the leaving variable enters.
        let entering = if leaving < n { leaving + n } else { leaving - n };
        let Some(row) = memory.limiting_row(n, entering) else {
            return match memory.is_contradiction(m, q, entering) {
                true => Outcome::Unsolvable,
                false => Outcome::Unposed,
            };
        };
        leaving = memory.pivot(n, row, entering);
    }
    Outcome::Unposed
}

impl<T: Real> Memory<'_, T> {
    /// Brings a variable into the basis in a row; returns the leaving variable.
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

    /// Returns the row that limits the growth of a variable; none if the growth is unlimited.
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

    /// Returns true if the ray on which a variable enters proves that no solution exists. Its direction y of z is nonnegative; with
    /// M' y <= 0 and y' q < 0, w >= 0 is impossible, because y' w = (M' y)' z + y' q (J. Farkas). Round-off also leads to rays.
    fn is_contradiction(&mut self, m: &[T], q: &[T], entering: usize) -> bool {
        let (n, zero) = (q.len(), T::c(0.0));
        self.z[..n].fill(zero);
        for row in (0..n).filter(|row| (n..2 * n).contains(&self.basis[*row])) {
            self.z[self.basis[row] - n] = (-self.table[row * (2 * n + 2) + entering]).maximum(zero);
        }
        if entering >= n {
            self.z[entering - n] = T::c(1.0);
        }
        // Returns the sum of y times these terms, and its possible round-off.
        let sum = |term: &dyn Fn(usize) -> T| {
            (0..n).fold((zero, zero), |(sum, noise), row| {
                let part = self.z[row] * term(row);
                (sum + part, noise + T::c(CANCELS) * part.abs())
            })
        };
        let (gain, noise) = sum(&|row| q[row]);
        gain < -noise
            && (0..n).all(|column| {
                let (response, noise) = sum(&|row| m[row * n + column]);
                response <= noise
            })
    }

    /// Compares two rows lexicographically: first the right-hand side, then the columns of the inverse of the basis, which are those of w.
    /// The artificial variable leaves if possible.
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
