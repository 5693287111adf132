//! The classification of the equations of an element: the kind of its law, and its matrices.
//!
//! Equations are linear in effort and flow of n scalar ports and their rates. In `E0 e + F0 f + E1 e' + F1 f' = c` the pattern of the four
//! matrices determines the law, independent of names.

use crate::law_forms::linear::{Linear, NotLinear, linear_forms};
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId};
use lgm_algebra::{Field, PrimeField};
use lgm_model::{Dissipator, Law, Matrix, StorageForm, Variable};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

/// The largest order of a symbolic matrix whose inverse is written out.
pub(crate) const LARGEST_INVERSE: usize = 3;

/// The reason why a law has no class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An equation is nonlinear.
    NotLinear,
    /// The numbers of equations and of ports differ.
    Count(usize, usize),
    /// The equations are linearly dependent.
    Dependent,
    /// A linear law of an unsupported form, with its description.
    Form(&'static str),
}

/// The equations of a law over n ports, sorted by variable and order.
pub(crate) struct Rows {
    ports: usize,
    /// Effort and flow at order 0, and at order 1: each n by n.
    effort: Matrix,
    flow: Matrix,
    effort_rate: Matrix,
    flow_rate: Matrix,
    /// The right-hand side.
    given: Vec<ExprId>,
}

impl Rows {
    /// Sorts equations of the form `expression = 0`; variable 2j is the effort of port j, variable 2j + 1 its flow.
    pub fn new(
        exprs: &mut Exprs,
        equations: &[ExprId],
        variables: &FxHashMap<SymbolId, u32>,
        ports: usize,
    ) -> Result<Rows, Fault> {
        if equations.len() != ports {
            return Err(Fault::Count(equations.len(), ports));
        }
        let zero = exprs.zero();
        let empty = Matrix {
            rows: ports,
            columns: ports,
            entries: vec![zero; ports * ports],
        };
        let mut rows = Rows {
            ports,
            effort: empty.clone(),
            flow: empty.clone(),
            effort_rate: empty.clone(),
            flow_rate: empty,
            given: Vec::with_capacity(ports),
        };
        for (at, equation) in equations.iter().enumerate() {
            let form = match linear_forms(exprs, &[*equation], variables) {
                Ok(mut list) => list.remove(0),
                Err(NotLinear) => return Err(Fault::NotLinear),
            };
            rows.add(exprs, at, form)?;
        }
        Ok(rows)
    }

    fn add(&mut self, exprs: &mut Exprs, row: usize, form: Linear) -> Result<(), Fault> {
        let terms: Vec<((u32, i8), ExprId)> = form.terms.into_iter().filter(|term| !is_zero(exprs, term.1)).collect();
        let Some(lowest) = terms.iter().map(|term| term.0.1).min() else {
            return Err(Fault::Dependent);
        };
        // An integral is a variable of order -1; differentiating the equation once removes it.
        let shift = if lowest < 0 { -lowest } else { 0 };
        if shift > 0 && !exprs.is_zero(form.constant) {
            return Err(Fault::Form("it mixes an integral with a constant"));
        }
        for ((variable, order), coefficient) in terms {
            let place = row * self.ports + (variable / 2) as usize;
            let matrix = match (variable % 2 == 0, order + shift) {
                (true, 0) => &mut self.effort,
                (false, 0) => &mut self.flow,
                (true, 1) => &mut self.effort_rate,
                (false, 1) => &mut self.flow_rate,
                _ => return Err(Fault::Form("it contains a second derivative or a double integral")),
            };
            matrix.entries[place] = coefficient;
        }
        self.given.push(exprs.neg(form.constant));
        Ok(())
    }
}

/// Returns the law of the rows; `splits` are the numbers of scalar ports after which a declared port ends.
pub(crate) fn classify(exprs: &mut Exprs, rows: Rows, splits: &[usize]) -> Result<Law, Fault> {
    let empty = |exprs: &Exprs, matrix: &Matrix| matrix.entries.iter().all(|entry| exprs.is_zero(*entry));
    let (no_effort, no_flow) = (empty(exprs, &rows.effort), empty(exprs, &rows.flow));
    let (no_effort_rate, no_flow_rate) = (empty(exprs, &rows.effort_rate), empty(exprs, &rows.flow_rate));
    let homogeneous = rows.given.iter().all(|entry| exprs.is_zero(*entry));
    match (no_effort, no_flow, no_effort_rate, no_flow_rate) {
        (false, true, true, true) | (true, false, true, true) => source(exprs, &rows, no_flow),
        (_, _, false, _) | (_, _, _, false) if !homogeneous => {
            Err(Fault::Form("it adds a constant to the law of a storage element"))
        }
        (true, false, false, true) => storage(exprs, Variable::Effort, &rows.flow, &rows.effort_rate),
        (false, true, true, false) => storage(exprs, Variable::Flow, &rows.effort, &rows.flow_rate),
        (false, false, true, true) if !homogeneous => Err(Fault::Form(
            "it adds a constant to the law of a dissipator; use a separate source",
        )),
        (false, false, true, true) => match coupler(exprs, &rows, splits) {
            Some(law) => Ok(law),
            None => dissipator(exprs, &rows),
        },
        _ => Err(Fault::Form(
            "it mixes the variables of a storage element with others; use several elements between the same nodes",
        )),
    }
}

fn source(exprs: &mut Exprs, rows: &Rows, effort: bool) -> Result<Law, Fault> {
    let (given, matrix) = match effort {
        true => (Variable::Effort, &rows.effort),
        false => (Variable::Flow, &rows.flow),
    };
    let right = Matrix {
        rows: rows.ports,
        columns: 1,
        entries: rows.given.clone(),
    };
    let values = solve(exprs, matrix, &right).ok_or(Fault::Dependent)?;
    Ok(Law::Source {
        given,
        values: values.entries,
    })
}

/// Returns the law of `conjugate w + rate z' = 0`, as `w = M z'` or as `z' = K w`, whichever is shorter.
fn storage(exprs: &mut Exprs, co_energy: Variable, conjugate: &Matrix, rate: &Matrix) -> Result<Law, Fault> {
    let (direct, inverse) = both_ways(exprs, conjugate, rate);
    let (form, value) = shorter(exprs, (StorageForm::Direct, direct), (StorageForm::Inverse, inverse))?;
    Ok(Law::Storage { co_energy, value, form })
}

/// Solves `a x + b y = 0` for x and for y, unless that requires the inverse of a large symbolic matrix.
fn both_ways(exprs: &mut Exprs, a: &Matrix, b: &Matrix) -> (Option<Matrix>, Option<Matrix>) {
    let plain = (is_simple(exprs, a), is_simple(exprs, b));
    let mut way = |matrix: &Matrix, right: &Matrix, wanted: bool| {
        let solved = if wanted { solve(exprs, matrix, right) } else { None };
        solved.map(|value| negated(exprs, &value))
    };
    let neither = !plain.0 && !plain.1 && a.rows <= LARGEST_INVERSE;
    (way(a, b, plain.0 || neither), way(b, a, plain.1 || neither))
}

/// Returns true if solving with a matrix keeps expressions short: one entry in each row and column, or only numbers.
pub(crate) fn is_simple(exprs: &Exprs, matrix: &Matrix) -> bool {
    if matrix.entries.iter().all(|entry| exprs.as_number(*entry).is_some()) {
        return true;
    }
    let n = matrix.rows;
    let filled = |row: usize, column: usize| !exprs.is_zero(matrix.get(row, column));
    (0..n).all(|at| {
        let in_row = (0..n).filter(|column| filled(at, *column)).count();
        let in_column = (0..n).filter(|row| filled(*row, at)).count();
        in_row == 1 && in_column == 1
    })
}

fn dissipator(exprs: &mut Exprs, rows: &Rows) -> Result<Law, Fault> {
    let (resistance, conductance) = both_ways(exprs, &rows.effort, &rows.flow);
    if let Ok((resists, value)) = shorter(exprs, (true, resistance), (false, conductance)) {
        return Ok(Law::Dissipator(match resists {
            true => Dissipator::Resistance(value),
            false => Dissipator::Conductance(value),
        }));
    }
    let both = beside(&rows.effort, &rows.flow);
    let numbers = probed(exprs, &both).ok_or(Fault::Dependent)?;
    if rank(numbers, rows.ports, 2 * rows.ports) < rows.ports {
        return Err(Fault::Dependent);
    }
    Ok(Law::Dissipator(Dissipator::Implicit(
        rows.effort.clone(),
        rows.flow.clone(),
    )))
}

/// Returns the coupler, which conserves power: with x at the first ports and y at the others, `y = K x` and `conj(x) = -K' conj(y)`.
fn coupler(exprs: &mut Exprs, rows: &Rows, splits: &[usize]) -> Option<Law> {
    use Variable::{Effort, Flow};
    let n = rows.ports;
    let mut best: Option<(usize, Law)> = None;
    for split in splits {
        for (input, output) in [(Effort, Effort), (Flow, Flow), (Flow, Effort), (Effort, Flow)] {
            let column = |port: usize, variable: Variable| match variable {
                Effort => (&rows.effort, port),
                Flow => (&rows.flow, port),
            };
            // Wanted: conj(x) at the first ports and y at the others; given: x and conj(y).
            let pick = |wanted: bool| {
                let mut entries = Vec::with_capacity(n * n);
                for row in 0..n {
                    for port in 0..n {
                        let variable = if port < *split { input.conjugate() } else { output };
                        let variable = if wanted { variable } else { variable.conjugate() };
                        let (matrix, at) = column(port, variable);
                        entries.push(matrix.get(row, at));
                    }
                }
                Matrix {
                    rows: n,
                    columns: n,
                    entries,
                }
            };
            let (wanted, given) = (pick(true), pick(false));
            if !conserves(exprs, &wanted, &given, *split) {
                continue;
            }
            if n > LARGEST_INVERSE && !is_simple(exprs, &wanted) {
                continue;
            }
            let Some(solved) = solve(exprs, &wanted, &given) else {
                continue;
            };
            let solved = negated(exprs, &solved);
            let mut entries = Vec::with_capacity((n - split) * split);
            for row in *split..n {
                for port in 0..*split {
                    entries.push(solved.get(row, port));
                }
            }
            let matrix = Matrix {
                rows: n - split,
                columns: *split,
                entries,
            };
            let size = size(exprs, &matrix);
            if best.as_ref().is_none_or(|found| size < found.0) {
                best = Some((size, Law::Coupler { input, output, matrix }));
            }
        }
    }
    best.map(|found| found.1)
}

/// Returns true if `wanted u + given w = 0` is a coupler with its first group of ports before `split`: this is decided modulo a prime, at
/// random values of the formal parameters. Modulo a prime, the numbers of a large matrix do not grow during elimination.
fn conserves(exprs: &Exprs, wanted: &Matrix, given: &Matrix, split: usize) -> bool {
    let n = wanted.rows;
    let (Some(wanted), Some(given)) = (probed(exprs, wanted), probed(exprs, given)) else {
        return false;
    };
    let Some(solved) = solve_numbers(wanted, given, n) else {
        return false;
    };
    // u = -solved w, and power is the sum of u w over the ports: skew, and 0 within each group.
    (0..n).all(|i| {
        (0..n).all(|j| {
            let (a, b) = (&solved[i * n + j], &solved[j * n + i]);
            let same_group = (i < split) == (j < split);
            PrimeField.add(a, b) == 0 && (!same_group || *a == 0)
        })
    })
}

fn negated(exprs: &mut Exprs, matrix: &Matrix) -> Matrix {
    Matrix {
        rows: matrix.rows,
        columns: matrix.columns,
        entries: matrix.entries.iter().map(|entry| exprs.neg(*entry)).collect(),
    }
}

fn shorter<F>(exprs: &Exprs, a: (F, Option<Matrix>), b: (F, Option<Matrix>)) -> Result<(F, Matrix), Fault> {
    match (a.1, b.1) {
        (Some(x), Some(y)) if size(exprs, &x) <= size(exprs, &y) => Ok((a.0, x)),
        (_, Some(y)) => Ok((b.0, y)),
        (Some(x), None) => Ok((a.0, x)),
        (None, None) => Err(Fault::Dependent),
    }
}

/// Returns the length of a written matrix.
fn size(exprs: &Exprs, matrix: &Matrix) -> usize {
    matrix
        .entries
        .iter()
        .map(|entry| exprs.reachable(&[*entry]).len())
        .sum()
}

fn beside(a: &Matrix, b: &Matrix) -> Matrix {
    let mut entries = Vec::with_capacity(a.entries.len() + b.entries.len());
    for row in 0..a.rows {
        entries.extend((0..a.columns).map(|column| a.get(row, column)));
        entries.extend((0..b.columns).map(|column| b.get(row, column)));
    }
    Matrix {
        rows: a.rows,
        columns: a.columns + b.columns,
        entries,
    }
}

/// Returns a value for a symbol at which a nonzero expression is nonzero with high probability.
fn probe(symbol: SymbolId) -> BigRational {
    // Any generic values are suitable; they are the same in every run.
    let word = u64::from(symbol.0).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    BigRational::new(BigInt::from(word % 10_007 + 2), BigInt::from((word >> 20) % 9_973 + 3))
}

/// Returns the numbers of a matrix at the probing values, modulo the prime.
fn probed(exprs: &Exprs, matrix: &Matrix) -> Option<Vec<u64>> {
    let numbers = exprs.evaluate_exact(&matrix.entries, &|symbol| Some(probe(symbol)));
    Some(numbers.ok()?.iter().map(|number| PrimeField.reduce(number)).collect())
}

fn is_zero(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.as_number(id) {
        Some(number) => number.is_zero(),
        None => match exprs.evaluate_exact(&[id], &|symbol| Some(probe(symbol))) {
            Ok(list) => list[0].is_zero(),
            Err(_) => false,
        },
    }
}

/// Returns the inverse of a square matrix times another, by elimination over expressions; `None` if it is singular.
pub(crate) fn solve(exprs: &mut Exprs, matrix: &Matrix, right: &Matrix) -> Option<Matrix> {
    let (n, m) = (matrix.rows, right.columns);
    let mut rows: Vec<Vec<ExprId>> = (0..n)
        .map(|row| {
            let left = (0..n).map(|column| matrix.get(row, column));
            left.chain((0..m).map(|column| right.get(row, column))).collect()
        })
        .collect();
    for column in 0..n {
        // A numerical pivot, preferably 1, keeps the results short.
        let pivot = (column..n)
            .filter(|row| !is_zero(exprs, rows[*row][column]))
            .min_by_key(|row| {
                let entry = rows[*row][column];
                match exprs.as_number(entry) {
                    Some(number) if number.is_one() => 0,
                    Some(_) => 1,
                    None => 1 + exprs.reachable(&[entry]).len(),
                }
            })?;
        rows.swap(column, pivot);
        let divisor = rows[column][column];
        if !exprs.is_one(divisor) {
            let inverse = reciprocal(exprs, divisor);
            for entry in &mut rows[column] {
                *entry = if *entry == divisor {
                    exprs.one()
                } else {
                    exprs.mul(*entry, inverse)
                };
            }
        }
        let pivot_row = rows[column].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if at == column || is_zero(exprs, factor) {
                continue;
            }
            for (entry, above) in row.iter_mut().zip(&pivot_row) {
                let product = exprs.mul(factor, *above);
                let difference = exprs.sub(*entry, product);
                *entry = if is_zero(exprs, difference) {
                    exprs.zero()
                } else {
                    difference
                };
            }
        }
    }
    let entries = rows.into_iter().flat_map(|row| row.into_iter().skip(n)).collect();
    Some(Matrix {
        rows: n,
        columns: m,
        entries,
    })
}

/// Returns the reciprocal of an expression, factor by factor: `1/(-1/k)` is `-k`.
fn reciprocal(exprs: &mut Exprs, id: ExprId) -> ExprId {
    let minus_one = exprs.integer(-1);
    match exprs.node(id).clone() {
        Node::Product(list) => {
            let parts: Vec<ExprId> = list.iter().map(|factor| exprs.power(*factor, minus_one)).collect();
            exprs.product(parts)
        }
        _ => exprs.power(id, minus_one),
    }
}

/// Solves `a x = b` for square matrices of order n modulo the prime; `None` if `a` is singular.
fn solve_numbers(mut a: Vec<u64>, mut b: Vec<u64>, n: usize) -> Option<Vec<u64>> {
    let mut field = PrimeField;
    for column in 0..n {
        let pivot = (column..n).find(|row| a[row * n + column] != 0)?;
        let inverse = field.invert(&a[pivot * n + column]);
        for matrix in [&mut a, &mut b] {
            for at in 0..n {
                matrix.swap(column * n + at, pivot * n + at);
                matrix[column * n + at] = field.mul(&matrix[column * n + at], &inverse);
            }
        }
        for row in (0..n).filter(|row| *row != column) {
            let factor = field.neg(&a[row * n + column]);
            if factor == 0 {
                continue;
            }
            for matrix in [&mut a, &mut b] {
                for at in 0..n {
                    let product = field.mul(&factor, &matrix[column * n + at]);
                    matrix[row * n + at] = field.add(&matrix[row * n + at], &product);
                }
            }
        }
    }
    Some(b)
}

/// Returns the rank of a matrix of numbers modulo the prime.
fn rank(mut a: Vec<u64>, rows: usize, columns: usize) -> usize {
    let mut field = PrimeField;
    let mut rank = 0;
    for column in 0..columns {
        let Some(pivot) = (rank..rows).find(|row| a[row * columns + column] != 0) else {
            continue;
        };
        for at in 0..columns {
            a.swap(rank * columns + at, pivot * columns + at);
        }
        let inverse = field.invert(&a[rank * columns + column]);
        for row in rank + 1..rows {
            let factor = field.mul(&a[row * columns + column], &inverse);
            let factor = field.neg(&factor);
            if factor == 0 {
                continue;
            }
            for at in column..columns {
                let product = field.mul(&factor, &a[rank * columns + at]);
                a[row * columns + at] = field.add(&a[row * columns + at], &product);
            }
        }
        rank += 1;
    }
    rank
}
