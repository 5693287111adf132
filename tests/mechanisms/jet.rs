//! Second-order automatic differentiation in four variables, for Lagrangians written as plain functions.

use std::ops::{Add, Mul, Neg, Sub};

/// A value with its gradient and its Hessian.
#[derive(Clone, Copy, Debug)]
pub struct Jet {
    pub value: f64,
    pub gradient: [f64; 4],
    pub hessian: [[f64; 4]; 4],
}

impl Jet {
    pub fn constant(value: f64) -> Jet {
        Jet {
            value,
            gradient: [0.0; 4],
            hessian: [[0.0; 4]; 4],
        }
    }

    pub fn variable(value: f64, index: usize) -> Jet {
        let mut jet = Jet::constant(value);
        jet.gradient[index] = 1.0;
        jet
    }

    /// f(self) from f, f' and f'' at the value.
    fn chain(self, value: f64, first: f64, second: f64) -> Jet {
        let mut jet = Jet::constant(value);
        for i in 0..4 {
            jet.gradient[i] = first * self.gradient[i];
            for j in 0..4 {
                jet.hessian[i][j] = first * self.hessian[i][j] + second * self.gradient[i] * self.gradient[j];
            }
        }
        jet
    }

    pub fn sin(self) -> Jet {
        self.chain(self.value.sin(), self.value.cos(), -self.value.sin())
    }

    pub fn cos(self) -> Jet {
        self.chain(self.value.cos(), -self.value.sin(), -self.value.cos())
    }

    pub fn square(self) -> Jet {
        self * self
    }
}

impl Add for Jet {
    type Output = Jet;
    fn add(self, other: Jet) -> Jet {
        let mut jet = Jet::constant(self.value + other.value);
        for i in 0..4 {
            jet.gradient[i] = self.gradient[i] + other.gradient[i];
            for j in 0..4 {
                jet.hessian[i][j] = self.hessian[i][j] + other.hessian[i][j];
            }
        }
        jet
    }
}

impl Neg for Jet {
    type Output = Jet;
    fn neg(self) -> Jet {
        self * -1.0
    }
}

impl Sub for Jet {
    type Output = Jet;
    fn sub(self, other: Jet) -> Jet {
        self + -other
    }
}

impl Mul for Jet {
    type Output = Jet;
    fn mul(self, other: Jet) -> Jet {
        let (a, b) = (self, other);
        let mut jet = Jet::constant(a.value * b.value);
        for i in 0..4 {
            jet.gradient[i] = a.gradient[i] * b.value + a.value * b.gradient[i];
            for j in 0..4 {
                jet.hessian[i][j] = a.hessian[i][j] * b.value
                    + a.gradient[i] * b.gradient[j]
                    + a.gradient[j] * b.gradient[i]
                    + a.value * b.hessian[i][j];
            }
        }
        jet
    }
}

impl Mul<f64> for Jet {
    type Output = Jet;
    fn mul(self, factor: f64) -> Jet {
        self.chain(self.value * factor, factor, 0.0)
    }
}

impl Add<f64> for Jet {
    type Output = Jet;
    fn add(self, number: f64) -> Jet {
        self + Jet::constant(number)
    }
}

/// The accelerations that Lagrange's equations give: `M a = Q + dL/dq - (d2L/dv dq) v`.
pub fn lagrange(lagrangian: impl Fn(&[Jet], &[Jet]) -> Jet, forces: &[f64], q: &[f64], v: &[f64]) -> Vec<f64> {
    let n = q.len();
    let jets = |values: &[f64], first: usize| -> Vec<Jet> {
        values
            .iter()
            .enumerate()
            .map(|(k, value)| Jet::variable(*value, first + k))
            .collect()
    };
    let found = lagrangian(&jets(q, 0), &jets(v, n));
    let right: Vec<f64> = (0..n)
        .map(|i| {
            let coupling: f64 = (0..n).map(|j| found.hessian[n + i][j] * v[j]).sum();
            forces[i] + found.gradient[i] - coupling
        })
        .collect();
    let mass = |i: usize, j: usize| found.hessian[n + i][n + j];
    match n {
        1 => vec![right[0] / mass(0, 0)],
        2 => {
            let determinant = mass(0, 0) * mass(1, 1) - mass(0, 1) * mass(1, 0);
            vec![
                (right[0] * mass(1, 1) - right[1] * mass(0, 1)) / determinant,
                (right[1] * mass(0, 0) - right[0] * mass(1, 0)) / determinant,
            ]
        }
        _ => panic!("one or two coordinates"),
    }
}
