//! Lagrange's equations by automatic differentiation.
//!
//! A Lagrangian is written as a plain function of [`Jet`]s, numbers that carry their gradient and their Hessian by the
//! coordinates q and the velocities v. [`lagrange`] reads off what `d/dt dL/dv - dL/dq = Q` asks for:
//!
//! - the mass matrix `M = d2L/dv dv`,
//! - the coupling `d2L/dv dq v`, which holds the centripetal and Coriolis terms,
//! - the forces `dL/dq` of the potential and of the changing mass matrix.
//!
//! Nothing here knows of graphs, bonds or the library's expressions, so that agreement means something.

use nalgebra::{DMatrix, DVector};
use std::ops::{Add, Mul, Neg, Sub};

/// The maximum total number of coordinates and velocities.
pub const MOST: usize = 24;

/// A value with its gradient and its Hessian.
#[derive(Clone, Copy, Debug)]
pub struct Jet {
    pub value: f64,
    pub gradient: [f64; MOST],
    pub hessian: [[f64; MOST]; MOST],
}

impl Jet {
    pub fn constant(value: f64) -> Jet {
        Jet {
            value,
            gradient: [0.0; MOST],
            hessian: [[0.0; MOST]; MOST],
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
        for i in 0..MOST {
            jet.gradient[i] = first * self.gradient[i];
            for j in 0..MOST {
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
        for i in 0..MOST {
            jet.gradient[i] = self.gradient[i] + other.gradient[i];
            for j in 0..MOST {
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
        for i in 0..MOST {
            jet.gradient[i] = a.gradient[i] * b.value + a.value * b.gradient[i];
            for j in 0..MOST {
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

/// A Lagrangian with its derivatives: coordinates first, then velocities.
fn evaluated(lagrangian: impl Fn(&[Jet], &[Jet]) -> Jet, q: &[f64], v: &[f64]) -> Jet {
    assert!(q.len() == v.len() && 2 * q.len() <= MOST);
    let jets = |values: &[f64], first: usize| -> Vec<Jet> {
        let values = values.iter().enumerate();
        values.map(|(k, value)| Jet::variable(*value, first + k)).collect()
    };
    lagrangian(&jets(q, 0), &jets(v, q.len()))
}

/// The accelerations from Lagrange's equations: `M a = Q + dL/dq - (d2L/dv dq) v`.
pub fn lagrange(lagrangian: impl Fn(&[Jet], &[Jet]) -> Jet, forces: &[f64], q: &[f64], v: &[f64]) -> Vec<f64> {
    let n = q.len();
    let found = evaluated(lagrangian, q, v);
    let right = DVector::from_fn(n, |i, _| {
        let coupling: f64 = (0..n).map(|j| found.hessian[n + i][j] * v[j]).sum();
        forces[i] + found.gradient[i] - coupling
    });
    let mass = DMatrix::from_fn(n, n, |i, j| found.hessian[n + i][n + j]);
    let solved = mass.lu().solve(&right).expect("a mass matrix has an inverse");
    solved.iter().copied().collect()
}

/// The energy `v dL/dv - L`, which is constant without drive or damping if L does not depend on time.
pub fn energy(lagrangian: impl Fn(&[Jet], &[Jet]) -> Jet, q: &[f64], v: &[f64]) -> f64 {
    let found = evaluated(lagrangian, q, v);
    let momenta: f64 = v.iter().enumerate().map(|(k, v)| v * found.gradient[q.len() + k]).sum();
    momenta - found.value
}
