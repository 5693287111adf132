//! Ranks of matrices of roots and cosines: random transformers behind free star points, compared with numbers of 60
//! digits.
//!
//! n sources behind resistors feed the windings of a transformer `M` with m sides, each with an inductor. Without a
//! path from the star point to the reference the currents of the resistors add up to 0: `h' i = 0`, where `h` contains
//! the sums of the rows of `M`. If all sums are 0, all m currents are states, otherwise one fewer. The sums are
//! computed here in integers scaled by 10^60, the responses from the mesh equations in doubles. `LGM_CASES=70 cargo
//! test --test all exact_ranks` runs 70 times the usual number; `LGM_SEED=1576` is the first seed.

use crate::support::cases::{first_seed, many};
use crate::support::linear::assert_same_poles;
use crate::support::program::{numeric, succeed};
use nalgebra::{Complex, DMatrix, DVector};
use num_bigint::BigInt;
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

/// Random networks in `cargo test`.
const CASES: u64 = 16;

/// Decimal digits.
const DIGITS: u32 = 60;

/// The bound for zero, in units of the last digit.
const ROUNDING: u32 = 1_000_000;

fn unit() -> BigInt {
    BigInt::from(10).pow(DIGITS)
}

/// The cosine of `2*pi*turn`, `turn` a ratio of integers.
fn cosine(above: i64, below: i64) -> BigInt {
    let one = unit();
    let arctangent = |n: i64| {
        let (mut power, mut sum, mut k) = (&one / n, BigInt::from(0), 1);
        while power != BigInt::from(0) {
            match k % 4 {
                1 => sum += &power / k,
                _ => sum -= &power / k,
            }
            power /= n * n;
            k += 2;
        }
        sum
    };
    let pi = arctangent(5) * 16 - arctangent(239) * 4;
    let angle: BigInt = pi * 2 * above.rem_euclid(below) / below;
    let square = &angle * &angle / &one;
    let (mut term, mut sum) = (one.clone(), BigInt::from(0));
    for k in 1..200 {
        sum += &term;
        term = -(term * &square / &one) / ((2 * k - 1) * 2 * k);
    }
    sum
}

fn root(number: i64) -> BigInt {
    (unit() * unit() * number).sqrt()
}

fn times(a: &BigInt, b: &BigInt) -> BigInt {
    a * b / unit()
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ (x >> 31)) % limit
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// An entry as written, and its value.
type Entry = (String, BigInt);

fn any(random: &mut Random) -> Entry {
    let n = random.of(&[3, 4, 5, 6, 7, 8, 9, 10, 12, 13]);
    let k = random.below(2 * n) as i64;
    let n = n as i64;
    match random.below(9) {
        0 => ("0".into(), BigInt::from(0)),
        1 => ("1/2".into(), unit() / 2),
        2 => ("sqrt(2)/2".into(), root(2) / 2),
        3 => ("sqrt(3)/2".into(), root(3) / 2),
        4 => (format!("sin(2*pi*{k}/{n})"), cosine(4 * k - n, 4 * n)),
        5 => ("sqrt(2)*sqrt(3)/4".into(), root(6) / 4),
        6 => ("(1 + sqrt(5))/4".into(), (unit() + root(5)) / 4),
        _ => (format!("cos(2*pi*{k}/{n})"), cosine(k, n)),
    }
}

/// A row of n entries whose sum is 0, written in several ways; or an arbitrary row.
fn row(random: &mut Random, n: usize) -> Vec<Entry> {
    let kind = random.below(5);
    let shift = random.of(&[0i64, 1, 2]);
    let cosines = |written: &dyn Fn(usize) -> String, sine: bool| -> Vec<Entry> {
        let n_64 = n as i64;
        (0..n as i64)
            .map(|k| match sine {
                false => (written(k as usize), cosine(12 * k + shift * n_64, 12 * n_64)),
                true => (written(k as usize), cosine(12 * k + (shift - 3) * n_64, 12 * n_64)),
            })
            .collect()
    };
    match kind {
        0 => cosines(&|k| format!("cos(2*pi*{k}/{n} + pi*{shift}/6)"), false),
        1 => cosines(&|k| format!("sin(2*pi*{k}/{n} + pi*{shift}/6)"), true),
        2 => cosines(&|k| format!("cos({k}*a + pi*{shift}/6)"), false),
        3 => {
            // The last entry subtracts the others, each written in another way.
            let mut entries: Vec<Entry> = (0..n - 1).map(|_| any(random)).collect();
            let others = |text: &str| match text {
                "sqrt(2)/2" => "cos(pi/4)".to_string(),
                "sqrt(3)/2" => "sin(pi/3)".to_string(),
                "sqrt(2)*sqrt(3)/4" => "sqrt(6)/4".to_string(),
                "(1 + sqrt(5))/4" => "cos(pi/5)".to_string(),
                text if text.starts_with("cos(") => format!("sin(pi/2 + {}", &text[4..]),
                text => text.to_string(),
            };
            let written: Vec<String> = entries
                .iter()
                .map(|entry| format!(" - ({})", others(&entry.0)))
                .collect();
            let sum: BigInt = entries.iter().map(|entry| &entry.1).sum();
            entries.push((format!("0{}", written.concat()), -sum));
            entries
        }
        _ => (0..n).map(|_| any(random)).collect(),
    }
}

/// The same without zero rows, which would isolate an inductor.
fn coupled_row(random: &mut Random, n: usize) -> Vec<Entry> {
    loop {
        let found = row(random, n);
        if found.iter().any(|entry| !is_zero(&entry.1)) {
            return found;
        }
    }
}

fn is_zero(value: &BigInt) -> bool {
    value.magnitude() < BigInt::from(ROUNDING).magnitude()
}

struct Network {
    /// m by n.
    matrix: Vec<Vec<Entry>>,
    resistances: Vec<f64>,
    inductances: Vec<f64>,
    sources: Vec<f64>,
}

impl Network {
    fn random(seed: u64) -> Network {
        let mut random = Random(seed.wrapping_mul(0x1234_5678_9ABC_DEF1));
        let (n, m) = (3 + random.below(4) as usize, 1 + random.below(2) as usize);
        let quarters = |random: &mut Random| 0.25 * (1 + random.below(16)) as f64;
        Network {
            matrix: (0..m).map(|_| coupled_row(&mut random, n)).collect(),
            resistances: (0..n).map(|_| quarters(&mut random)).collect(),
            inductances: (0..m).map(|_| quarters(&mut random)).collect(),
            sources: (0..n).map(|_| quarters(&mut random) - 2.0).collect(),
        }
    }

    fn text(&self) -> String {
        let (n, m) = (self.resistances.len(), self.inductances.len());
        let mut text = format!(
            "model Random {{\n  param a = 2*pi/{n};\n  input u [V] = 1;\n  node e[{n}] : electrical;\n  node star : electrical, floating;\n  node p[{n}] vector : electrical;\n  node q[{m}] vector : electrical;\n"
        );
        for k in 0..n {
            let (source, resistance) = (self.sources[k], self.resistances[k]);
            text += &format!("  s{k} : VoltageSource({source:?}*u) e[{}] -> star;\n", k + 1);
            text += &format!("  r{k} : Resistor({resistance:?}) e[{}] -> p[{}];\n", k + 1, k + 1);
        }
        let line = |row: &Vec<Entry>| row.iter().map(|entry| entry.0.clone()).collect::<Vec<_>>().join(", ");
        let rows: Vec<String> = self.matrix.iter().map(|row| format!("[{}]", line(row))).collect();
        text += &format!("  t : Transformer([{}]) p -> gnd, q -> gnd;\n", rows.join(", "));
        for (k, inductance) in self.inductances.iter().enumerate() {
            text += &format!("  l{k} : Inductor({inductance:?}) q[{}] -> gnd;\n", k + 1);
            text += &format!("  output i{k} = through(l{k});\n");
        }
        text + "}\n"
    }

    /// The sums of the rows.
    fn sums(&self) -> Vec<BigInt> {
        let sum = |row: &Vec<Entry>| row.iter().map(|entry| &entry.1).sum();
        self.matrix.iter().map(sum).collect()
    }

    /// `L i' + S i - h v = g u`, `h' i = 0`: S, g and h.
    fn equations(&self) -> (DMatrix<f64>, DVector<f64>, DVector<f64>) {
        let double = |value: &BigInt| value.to_string().parse::<f64>().expect("digits") / 1e60;
        let (m, n) = (self.inductances.len(), self.resistances.len());
        let entry = |row: usize, column: usize| double(&self.matrix[row][column].1);
        let matrix = DMatrix::from_fn(m, n, entry);
        let resistances = DMatrix::from_diagonal(&DVector::from_vec(self.resistances.clone()));
        let sums = self.sums();
        let h = sums.iter().map(|sum| if is_zero(sum) { 0.0 } else { double(sum) });
        let g = &matrix * DVector::from_vec(self.sources.clone());
        (
            &matrix * resistances * matrix.transpose(),
            g,
            DVector::from_iterator(m, h),
        )
    }

    /// The currents per volt at an angular frequency.
    fn response(&self, omega: f64) -> DMatrix<Complex<f64>> {
        let (s, g, h) = self.equations();
        let m = g.len();
        let is_free = h.iter().all(|sum| *sum == 0.0);
        let size = m + usize::from(!is_free);
        let mut left = DMatrix::zeros(size, size);
        let mut right = DMatrix::zeros(size, 1);
        for row in 0..m {
            for column in 0..m {
                left[(row, column)] = Complex::new(s[(row, column)], 0.0);
            }
            left[(row, row)] += Complex::new(0.0, omega * self.inductances[row]);
            right[(row, 0)] = Complex::new(g[row], 0.0);
            if !is_free {
                left[(row, m)] = Complex::new(-h[row], 0.0);
                left[(m, row)] = Complex::new(h[row], 0.0);
            }
        }
        let all = left.lu().solve(&right).expect("a regular mesh");
        all.rows(0, m).into_owned()
    }

    /// The poles of the currents that the star point allows.
    fn poles(&self) -> Vec<Complex<f64>> {
        let (s, _, h) = self.equations();
        let m = h.len();
        let basis = match (h.iter().all(|sum| *sum == 0.0), m) {
            (true, _) => DMatrix::identity(m, m),
            (false, 1) => return Vec::new(),
            (false, _) => DMatrix::from_column_slice(2, 1, &[h[1] / h.norm(), -h[0] / h.norm()]),
        };
        let inductances = DMatrix::from_diagonal(&DVector::from_vec(self.inductances.clone()));
        let mass = basis.transpose() * inductances * &basis;
        let a = -mass
            .lu()
            .solve(&(basis.transpose() * s * &basis))
            .expect("a regular mesh");
        a.complex_eigenvalues().iter().copied().collect()
    }
}

#[test]
fn orders_poles_and_responses_agree_with_sixty_digits() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("random.lgm");
    let mut orders: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for seed in first_seed()..first_seed() + many(CASES) {
        let network = Network::random(seed);
        let text = network.text();
        fs::write(&file, &text).expect("a file");
        let what = format!("seed {seed}:\n{text}");
        succeed(&["check".into(), "--verify".into(), file.display().to_string()]);
        let found = numeric(&file, &Default::default());
        let expected = network.poles();
        assert_eq!(found.states.len(), expected.len(), "{what}");
        *orders.entry((network.inductances.len(), expected.len())).or_default() += 1;
        assert_same_poles(&what, &found.poles(), &expected, 1e-9);
        for omega in [0.5, 3.0] {
            let (found, expected) = (found.response(omega), network.response(omega));
            let error = (&found - &expected).norm();
            assert!(
                error <= 1e-9 * expected.norm().max(0.1),
                "{found} is not {expected}, {what}"
            );
        }
    }
    // Both kinds of sums occur.
    let of_rank = |lost: usize| {
        orders
            .iter()
            .filter(|entry| entry.0.0 - entry.0.1 == lost)
            .map(|entry| entry.1)
            .sum::<usize>()
    };
    assert!(of_rank(0) > 2 && of_rank(1) > 2, "{orders:?}");
}

#[test]
fn products_of_roots_are_those_of_sixty_digits() {
    assert!(is_zero(&(times(&root(2), &root(3)) - root(6))));
    assert!(is_zero(&(cosine(1, 6) * 2 - unit())));
    assert!(is_zero(&(cosine(1, 10) * 4 - unit() - root(5))));
}
