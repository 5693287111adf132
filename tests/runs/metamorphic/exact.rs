//! The samples of a linear model by the matrix exponential, in double-double arithmetic.
//!
//! The inputs are solutions of a linear system themselves, which augments that of the model. Between corners, one
//! exponential for each step advances the whole system from sample to sample. At corners the inputs are set again and
//! states move by E times their steps.

use super::model::Function;
use super::scalar::DoubleDouble;
use lgm::equations::{LinearForm, SparseMatrix};

const ZERO: DoubleDouble = DoubleDouble::ZERO;

/// A square matrix, row by row.
#[derive(Clone)]
struct Square {
    size: usize,
    entries: Vec<DoubleDouble>,
}

impl Square {
    fn zero(size: usize) -> Square {
        Square {
            size,
            entries: vec![ZERO; size * size],
        }
    }

    fn identity(size: usize) -> Square {
        let mut out = Square::zero(size);
        for at in 0..size {
            out.entries[at * size + at] = DoubleDouble::new(1.0);
        }
        out
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        let entry = &mut self.entries[row * self.size + column];
        *entry = entry.add(DoubleDouble::new(value));
    }

    fn times(&self, other: &Square) -> Square {
        let n = self.size;
        let mut out = Square::zero(n);
        for row in 0..n {
            for inner in 0..n {
                let factor = self.entries[row * n + inner];
                if factor == ZERO {
                    continue;
                }
                for column in 0..n {
                    let entry = &mut out.entries[row * n + column];
                    *entry = entry.add(factor.mul(other.entries[inner * n + column]));
                }
            }
        }
        out
    }

    fn scaled(&self, factor: f64) -> Square {
        let factor = DoubleDouble::new(factor);
        let entries = self.entries.iter().map(|entry| entry.mul(factor)).collect();
        Square {
            size: self.size,
            entries,
        }
    }

    /// By scaling to a norm below 1/32 and squaring back.
    fn exponential(&self) -> Square {
        let sums = self.entries.chunks(self.size.max(1));
        let norm = sums
            .map(|row| row.iter().map(|entry| entry.to_double().abs()).sum::<f64>())
            .fold(0.0, f64::max);
        let squarings = (norm.log2().ceil() + 5.0).clamp(0.0, 200.0) as i32;
        let small = self.scaled(0.5f64.powi(squarings));
        let mut sum = Square::identity(self.size);
        let mut term = Square::identity(self.size);
        for order in 1..=15 {
            term = term.times(&small).scaled(1.0 / f64::from(order));
            sum.entries
                .iter_mut()
                .zip(&term.entries)
                .for_each(|(sum, term)| *sum = sum.add(*term));
        }
        for _ in 0..squarings {
            sum = sum.times(&sum);
        }
        sum
    }

    fn apply(&self, vector: &[DoubleDouble]) -> Vec<DoubleDouble> {
        let rows = self.entries.chunks(self.size.max(1)).take(self.size);
        rows.map(|row| row.iter().zip(vector).fold(ZERO, |sum, (a, b)| sum.add(a.mul(*b))))
            .collect()
    }
}

/// The inputs as a linear system: the linear part and its slope for each, then sines and exponentials, then a one.
struct Generator<'a> {
    functions: &'a [Function],
    /// For each sine its input, factor, frequency and phase.
    sines: Vec<(usize, f64, f64, f64)>,
    decays: Vec<(usize, f64, f64)>,
}

impl Generator<'_> {
    fn new(functions: &[Function]) -> Generator<'_> {
        let all = || functions.iter().enumerate();
        Generator {
            functions,
            sines: all()
                .flat_map(|(at, f)| f.sines().map(move |(a, w, p)| (at, a, w, p)))
                .collect(),
            decays: all()
                .flat_map(|(at, f)| f.decays().map(move |(a, r)| (at, a, r)))
                .collect(),
        }
    }

    fn size(&self) -> usize {
        2 * self.functions.len() + 2 * self.sines.len() + self.decays.len() + 1
    }

    /// Its matrix, by rows.
    fn rates(&self) -> Vec<Vec<f64>> {
        let mut out = vec![vec![0.0; self.size()]; self.size()];
        for at in 0..self.functions.len() {
            out[2 * at][2 * at + 1] = 1.0;
        }
        let mut place = 2 * self.functions.len();
        for (_, _, omega, _) in &self.sines {
            out[place][place + 1] = *omega;
            out[place + 1][place] = -*omega;
            place += 2;
        }
        for (_, _, rate) in &self.decays {
            out[place][place] = -*rate;
            place += 1;
        }
        out
    }

    /// The inputs in terms of its states, by rows.
    fn inputs(&self) -> Vec<Vec<f64>> {
        let mut out = vec![vec![0.0; self.size()]; self.functions.len()];
        for (at, row) in out.iter_mut().enumerate() {
            row[2 * at] = 1.0;
        }
        let mut place = 2 * self.functions.len();
        for (input, factor, ..) in &self.sines {
            out[*input][place] = *factor;
            place += 2;
        }
        for (input, factor, _) in &self.decays {
            out[*input][place] = *factor;
            place += 1;
        }
        out
    }

    /// Its states just after a time.
    fn states(&self, time: f64) -> Vec<f64> {
        let mut out: Vec<f64> = self
            .functions
            .iter()
            .flat_map(|function| function.straight(time))
            .collect();
        for (_, _, omega, phase) in &self.sines {
            out.extend([(omega * time + phase).sin(), (omega * time + phase).cos()]);
        }
        out.extend(self.decays.iter().map(|(_, _, rate)| (-rate * time).exp()));
        out.push(1.0);
        out
    }
}

fn dense(matrix: &SparseMatrix<f64>, columns: usize) -> Vec<Vec<f64>> {
    let one = |row: &Vec<(u32, f64)>| {
        let mut out = vec![0.0; columns];
        row.iter().for_each(|(column, value)| out[*column as usize] = *value);
        out
    };
    matrix.rows.iter().map(one).collect()
}

fn product(a: &[Vec<f64>], b: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    let entry = |row: &Vec<f64>, column: usize| row.iter().zip(b).map(|(factor, other)| factor * other[column]).sum();
    a.iter()
        .map(|row| (0..columns).map(|column| entry(row, column)).collect())
        .collect()
}

/// Samples of outputs at times in equal steps from 0, from the states just after the start; none if this solution does
/// not support a function, or if numbers overflow.
pub fn rows(form: &LinearForm<f64>, functions: &[Function], first: &[f64], times: &[f64]) -> Option<Vec<Vec<f64>>> {
    let generator = Generator::new(functions);
    let (n, m, w) = (first.len(), functions.len(), generator.size());
    let (inputs, own) = (generator.inputs(), generator.rates());
    let input_rates = product(&inputs, &own, w);
    // Rows of a matrix over states and the generator, from one over states, inputs and their rates.
    let joined = |by_states: &SparseMatrix<f64>, by_inputs, by_rates, offset: &Option<Vec<f64>>| {
        let states = dense(by_states, n);
        let from_inputs = product(&dense(by_inputs, m), &inputs, w);
        let from_rates = product(&dense(by_rates, m), &input_rates, w);
        let rows = states.into_iter().enumerate().map(|(at, mut row)| {
            row.extend(from_inputs[at].iter().zip(&from_rates[at]).map(|(a, b)| a + b));
            row[n + w - 1] += offset.as_ref().map_or(0.0, |offset| offset[at]);
            row
        });
        rows.collect::<Vec<_>>()
    };
    let mut whole = Square::zero(n + w);
    let own = own.into_iter().map(|row| [vec![0.0; n], row].concat());
    let rates = joined(&form.a, &form.b, &form.e, &form.x_offset);
    for (row, entries) in rates.into_iter().chain(own).enumerate() {
        entries
            .iter()
            .enumerate()
            .for_each(|(column, value)| whole.add(row, column, *value));
    }
    let outputs = joined(&form.c, &form.d, &form.f, &form.y_offset);
    let jumps = dense(&form.e, m);
    let mut corners: Vec<f64> = functions
        .iter()
        .map(Function::corners)
        .collect::<Option<Vec<_>>>()?
        .concat();
    corners.retain(|time| *time > 0.0);
    corners.sort_by(f64::total_cmp);
    corners.dedup();
    let mut motion = Motion {
        whole: &whole,
        known: Vec::new(),
        point: first.iter().map(|value| DoubleDouble::new(*value)).collect(),
        time: 0.0,
    };
    motion
        .point
        .extend(generator.states(0.0).iter().map(|value| DoubleDouble::new(*value)));
    let mut corners = corners.into_iter().peekable();
    let mut out = Vec::new();
    for time in times {
        // At the instant of a corner the value after it applies, within the round-off of the two.
        while let Some(corner) = corners.next_if(|corner| *corner <= time * (1.0 + 8.0 * f64::EPSILON)) {
            motion.go(corner);
            let value = |point: &[DoubleDouble], input: usize| -> f64 {
                (0..w).map(|at| inputs[input][at] * point[n + at].to_double()).sum()
            };
            let before: Vec<f64> = (0..m).map(|input| value(&motion.point, input)).collect();
            let states = generator.states(corner);
            motion.point.truncate(n);
            motion
                .point
                .extend(states.iter().map(|value| DoubleDouble::new(*value)));
            for (state, row) in jumps.iter().enumerate() {
                let step: f64 = (0..m)
                    .map(|input| row[input] * (value(&motion.point, input) - before[input]))
                    .sum();
                motion.point[state] = motion.point[state].add(DoubleDouble::new(step));
            }
        }
        motion.go(*time);
        let point: Vec<f64> = motion.point.iter().map(|value| value.to_double()).collect();
        let row: Vec<f64> = outputs
            .iter()
            .map(|row| row.iter().zip(&point).map(|(a, b)| a * b).sum())
            .collect();
        if row.iter().any(|value| !value.is_finite()) {
            return None;
        }
        out.push(row);
    }
    Some(out)
}

/// A point that is advanced by exponentials.
struct Motion<'a> {
    whole: &'a Square,
    /// Exponentials by the length of their step.
    known: Vec<(f64, Square)>,
    point: Vec<DoubleDouble>,
    time: f64,
}

impl Motion<'_> {
    fn go(&mut self, time: f64) {
        let step = time - self.time;
        if step <= 0.0 {
            return;
        }
        // Steps from sample to sample differ only by the round-off of their times.
        let same = |known: &(f64, Square)| (known.0 - step).abs() <= 4.0 * f64::EPSILON * time;
        let at = match self.known.iter().position(same) {
            Some(at) => at,
            None => {
                self.known.push((step, self.whole.scaled(step).exponential()));
                self.known.len() - 1
            }
        };
        self.point = self.known[at].1.apply(&self.point);
        self.time = time;
    }
}
