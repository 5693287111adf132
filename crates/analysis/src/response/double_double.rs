//! Sums of products in twice the working precision, for residuals and for outputs with strong cancellation.

use num_complex::Complex;

/// An unevaluated sum of two doubles, the second below half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    high: f64,
    low: f64,
}

impl Pair {
    /// Adds a double without losing its rounding error (Knuth's two-sum).
    fn add(&mut self, value: f64) {
        let sum = self.high + value;
        let virtual_value = sum - self.high;
        let error = (self.high - (sum - virtual_value)) + (value - virtual_value);
        self.high = sum;
        self.low += error;
    }

    /// Adds a product without losing its rounding error; a fused multiply-add yields that error exactly.
    fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.low += a.mul_add(b, -product);
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

/// A running complex sum of products in about twice double precision.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ComplexSum {
    re: Pair,
    im: Pair,
}

impl ComplexSum {
    /// Adds `a * b`.
    pub(super) fn add_product(&mut self, a: Complex<f64>, b: Complex<f64>) {
        self.re.add_product(a.re, b.re);
        self.re.add_product(-a.im, b.im);
        self.im.add_product(a.re, b.im);
        self.im.add_product(a.im, b.re);
    }

    /// Returns the sum, rounded once.
    pub(super) fn value(self) -> Complex<f64> {
        Complex::new(self.re.value(), self.im.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_a_plain_sum_would_lose() {
        let mut sum = ComplexSum::default();
        let one = Complex::new(1.0, 0.0);
        sum.add_product(Complex::new(1e16, 0.0), one);
        sum.add_product(one, one);
        sum.add_product(Complex::new(-1e16, 0.0), one);
        assert_eq!(sum.value(), one);
        // (1 + 2^-30)^2 - 1 - 2^-29 = 2^-60, which is lost when the square is rounded.
        let mut sum = ComplexSum::default();
        let near_one = Complex::new(1.0 + 2f64.powi(-30), 0.0);
        sum.add_product(near_one, near_one);
        sum.add_product(Complex::new(-1.0 - 2f64.powi(-29), 0.0), one);
        assert_eq!(sum.value().re, 2f64.powi(-60));
    }
}
