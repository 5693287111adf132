//! Dependent storage and algebraic loops: graph and causality to explicit rates.
//!
//! AFTER THIS POINT no ports with unknown variables remain: the rate of every independent storage port, the co-energy
//! of every dependent one, and every requested variable are rows over [`Known`] columns.

mod defect;
mod explicit;
pub(crate) mod input_owner;
mod laws;
mod layout;
pub(crate) mod read;
mod replay;
mod rows;

use crate::causality::elimination::Row;
use lgm_model::PortId;

pub(crate) use defect::{Defect, are_tied, defects};
pub use explicit::reduce;
pub(crate) use layout::Layout;
pub use layout::{Refusal, Solve};
pub(crate) use replay::{UNDETERMINED, solve_structure, solved_variable};
pub(crate) use rows::substitute;

/// The columns that reduction leaves: co-energies z of independent storage, source values u, their rates u', and the
/// drifts `dS_di/dt z_i + dS_du/dt u` of dependent storage under moduli that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Number of independent storage ports.
    pub storage: usize,
    /// Number of source ports, including those of nonlinear laws.
    pub sources: usize,
    /// Number of dependent storage ports whose co-energy changes with the moduli; 0 if no modulus changes.
    pub drifts: usize,
    /// Number of independent storage ports whose rates remain as columns; 0 if the storage laws are solved for them.
    pub rates: usize,
}

impl Known {
    /// Returns the column of the co-energy of the k-th independent storage port.
    pub fn co_energy(self, k: usize) -> u32 {
        k as u32
    }

    /// Returns the column of the value of the k-th source port.
    pub fn source(self, k: usize) -> u32 {
        (self.storage + k) as u32
    }

    /// Returns the column of the rate of the k-th source port.
    pub fn source_rate(self, k: usize) -> u32 {
        (self.storage + self.sources + k) as u32
    }

    /// Returns the column of the drift of the k-th dependent storage port: the part of its co-energy variable's rate
    /// beyond `S_di z_i' + S_du u'`.
    pub fn drift(self, k: usize) -> u32 {
        (self.storage + 2 * self.sources + k) as u32
    }

    /// Returns the column of the rate of the co-energy of the k-th independent storage port, if these rates remain as columns.
    pub fn rate(self, k: usize) -> u32 {
        (self.storage + 2 * self.sources + self.drifts + k) as u32
    }

    /// Returns the number of columns.
    pub fn columns(self) -> usize {
        self.storage + 2 * self.sources + self.drifts + self.rates
    }
}

/// The reduced graph over a field: rows over the columns of [`Known`].
#[derive(Clone, Debug)]
pub struct Reduced<E> {
    /// The columns.
    pub known: Known,
    /// Independent storage ports, in declaration order.
    pub independent: Vec<PortId>,
    /// Dependent storage ports, in declaration order.
    pub dependent: Vec<PortId>,
    /// Source ports in declaration order, then the ports of nonlinear laws.
    pub sources: Vec<PortId>,
    /// `z_i'`, one row per independent port; if rates remain as columns, the law of the port instead, as a row that equals 0.
    pub rates: Vec<Row<E>>,
    /// `z_d = S_di z_i + S_du u`, one row per dependent port.
    pub dependent_co_energy: Vec<Row<E>>,
    /// The requested columns of the junction structure, in the order of the request.
    pub wanted: Vec<Row<E>>,
    /// Rows that the rates, the requested columns and later shared rows refer to; the k-th by the column `SHARED + k`.
    pub shared: Vec<Row<E>>,
}
