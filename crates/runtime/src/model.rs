//! One instance of a model: right-hand sides, outputs and the Jacobian, with the loops solved.

use super::array::Array;
use super::linear::solve_factors;
use super::loops::{are_finite, zeros, Loops};
use super::real::Real;
use super::system::{At, Fault, System};

/// One instance of a model with all its memory.
#[derive(Clone, Debug)]
pub struct Model<S: System> {
    /// The equations.
    pub(crate) system: S,
    /// The algebraic loops.
    pub(crate) loops: Loops<S>,
}

/// Returns an error unless all values are finite.
fn finite<A: Array<Item: Real>>(values: &A) -> Result<(), Fault> {
    if are_finite(values) {
        Ok(())
    } else {
        Err(Fault::NotFinite)
    }
}

impl<S: System> Model<S> {
    /// Stores the parameters, and computes derived parameters and the initial states.
    pub fn new(parameters: &S::Parameters) -> Result<(Model<S>, S::States), Fault> {
        let mut model = Model {
            system: S::new(parameters),
            loops: Loops::new(),
        };
        let mut x = zeros();
        model.system.starts(&mut x);
        finite(&x)?;
        let mut pairs = zeros::<S::Constraints>();
        model.system.constraints(&mut pairs);
        for pair in pairs.as_ref().chunks_exact(2) {
            let most = pair[0].abs().maximum(pair[1].abs());
            if (pair[1] - pair[0]).abs() > S::Real::c(1e-9_f64.max(1e3 * S::Real::EPSILON)) * most {
                return Err(Fault::StartsDisagree);
            }
        }
        Ok((model, x))
    }

    /// Returns all entries of all parameters in order of declaration, including derived ones.
    pub fn parameters(&self) -> &S::Entries {
        self.system.entries()
    }

    /// Computes the time derivatives of the states, `dx`, at time `t` in seconds for states `x`, inputs `u` and their time
    /// derivatives `du`.
    pub fn rhs(
        &mut self,
        t: S::Real,
        x: &S::States,
        u: &S::Inputs,
        du: &S::Inputs,
        dx: &mut S::States,
    ) -> Result<(), Fault> {
        self.rates(At { t, x, u, du }, dx)
    }

    fn rates(&mut self, at: At<'_, S>, dx: &mut S::States) -> Result<(), Fault> {
        self.loops.solve(&mut self.system, at)?;
        self.system.derivatives(at, &self.loops.w, dx);
        finite(dx)
    }

    /// Computes the time derivatives with the solution of the loops nearest to `w`, and stores this solution in `w`.
    pub(crate) fn rates_near(&mut self, w: &mut S::Unknowns, at: At<'_, S>, dx: &mut S::States) -> Result<(), Fault> {
        self.loops.set(*w);
        self.rates(at, dx)?;
        *w = self.loops.w;
        Ok(())
    }

    /// Computes the outputs `y`.
    pub fn outputs(
        &mut self,
        t: S::Real,
        x: &S::States,
        u: &S::Inputs,
        du: &S::Inputs,
        y: &mut S::Outputs,
    ) -> Result<(), Fault> {
        let at = At { t, x, u, du };
        self.loops.solve(&mut self.system, at)?;
        self.system.outputs(at, &self.loops.w, y);
        finite(y)
    }

    /// Computes the stored entries of d(dx)/dx, row by row, in the order of [`super::system::Patterns::jacobian`].
    pub fn jacobian(
        &mut self,
        t: S::Real,
        x: &S::States,
        u: &S::Inputs,
        du: &S::Inputs,
        entries: &mut S::Jacobian,
    ) -> Result<(), Fault> {
        const {
            assert!(
                !S::FEATURES.several,
                "the Jacobian of several combinations of modes is not available in a package"
            )
        }
        let at = At { t, x, u, du };
        self.loops.solve(&mut self.system, at)?;
        if S::Unknowns::LENGTH == 0 {
            self.system.jacobian(at, &self.loops.w, entries);
        } else {
            self.through_loops(at, entries)?;
        }
        finite(entries)
    }

    /// Computes df/dx - df/dw (dg/dw)^-1 dg/dx for loops g(x, w) = 0, column by column.
    fn through_loops(&mut self, at: At<'_, S>, entries: &mut S::Jacobian) -> Result<(), Fault> {
        let mut direct = zeros::<S::Direct>();
        let mut by_unknowns = zeros::<S::ByUnknowns>();
        let mut by_states = zeros::<S::ByStates>();
        self.system.direct(at, &self.loops.w, &mut direct);
        self.system.by_unknowns(at, &self.loops.w, &mut by_unknowns);
        self.system.by_states(at, &self.loops.w, &mut by_states);
        self.loops.factor(&mut self.system, at)?;
        let patterns = S::patterns();
        for column in 0..S::States::LENGTH {
            let mut step = zeros::<S::Unknowns>();
            for (row, step) in step.entries_mut().enumerate() {
                let found = patterns.by_states.row(row).filter(|entry| entry.1 == column);
                for (at, _) in found {
                    *step = by_states[at];
                }
            }
            solve_factors(&self.loops.factors, &self.loops.pivots, &mut step);
            for row in 0..S::States::LENGTH {
                let mut entry = S::Real::c(0.0);
                for (at, _) in patterns.direct.row(row).filter(|entry| entry.1 == column) {
                    entry = direct[at];
                }
                for (at, unknown) in patterns.by_unknowns.row(row) {
                    entry = entry - by_unknowns[at] * step[unknown];
                }
                for (at, _) in patterns.jacobian.row(row).filter(|entry| entry.1 == column) {
                    entries[at] = entry;
                }
            }
        }
        Ok(())
    }
}
