//! Random numbers and matrices, reproducible from their seed on every machine.

use super::network::{Matrix, Value};

/// A small deterministic generator of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator for a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// An integer of a range, including both ends.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True with a given probability in percent.
    pub fn percent(&mut self, probability: u64) -> bool {
        self.bits() % 100 < probability
    }

    /// One of a list.
    pub fn choose<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A positive value between 1e-3 and 1e3 with two digits.
    pub fn value(&mut self) -> Value {
        Value::new(self.between(10, 99) as i64, self.between(0, 5) as i32 - 4)
    }

    /// A modulus: of moderate size, either sign.
    pub fn modulus(&mut self) -> Value {
        let mantissa = self.between(2, 60) as i64;
        Value::new(if self.percent(25) { -mantissa } else { mantissa }, -1)
    }
}

/// A symmetric positive definite matrix: dominant diagonal.
pub fn definite(random: &mut Random, width: usize) -> Matrix {
    let exponent = random.between(0, 5) as i32 - 4;
    let mut entries = vec![Value::new(0, 0); width * width];
    for i in 0..width {
        entries[i * width + i] = Value::new(random.between(50, 99) as i64, exponent);
        for k in 0..i {
            if random.percent(70) {
                let value = Value::new(random.between(0, 44) as i64 - 22, exponent);
                entries[i * width + k] = value;
                entries[k * width + i] = value;
            }
        }
    }
    Matrix {
        rows: width,
        columns: width,
        entries,
    }
}

/// A dissipator's matrix: positive, not always symmetric.
pub fn dissipative(random: &mut Random, width: usize) -> Matrix {
    let mut matrix = definite(random, width);
    if random.percent(30) {
        let change = random.between(1, 40) as i64;
        matrix.entries[1].mantissa += change;
        matrix.entries[width].mantissa -= change;
    }
    matrix
}

/// A coupling matrix.
pub fn coupling(random: &mut Random, rows: usize, columns: usize) -> Matrix {
    let entries = (0..rows * columns)
        .map(|_| {
            if random.percent(20) {
                Value::new(0, 0)
            } else {
                random.modulus()
            }
        })
        .collect();
    Matrix { rows, columns, entries }
}
