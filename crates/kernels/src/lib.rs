//! Equations as compiled functions of arrays, for solvers.
//!
//! Expressions are lowered to a graph of values (shared subexpressions only once, powers as multiplications), and values to a [`program`]
//! of loops, which an evaluator runs. Jacobians are exact: the expressions are differentiated, through the assignments.
//!
//! AFTER THIS POINT there are no symbols and no expressions, only positions in arrays. Numbers are doubles in SI units. No operation fails:
//! undefined values are NaN or infinite.

mod arguments;
mod discontinuities;
mod factored;
mod jacobian;
mod kernel;
#[cfg(feature = "native")]
mod native;
mod portable;
mod programs;

pub use arguments::Arguments;
pub use discontinuities::condition::Condition;
pub use discontinuities::corners::{Corners, LARGEST_TURN, longest_step};
pub use discontinuities::signs::Signs;
pub use kernel::{Kernel, KernelOptions, SparseKernel};
pub use programs::layout::Layout;
pub use programs::{operation, program};

use lgm_algebra::expr::{ExprId, Exprs, SymbolId, to_f64};
use lgm_model::system::StateSystem;
use programs::operation::Space;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// All functions of a system that a solver needs: n states, m inputs, p outputs, k loop unknowns.
///
/// With x the states, u the inputs, w the loop unknowns, the system is `M x' = f(t, x, u, u', w)`, `0 = g(t, x, u, u', w)`,
/// `y = h(t, x, u, u', w)`.
#[derive(Clone, Debug)]
pub struct Kernels {
    /// f: n right-hand sides.
    pub derivatives: Kernel,
    /// h: p outputs.
    pub outputs: Kernel,
    /// M; none if it is the identity.
    pub mass: Option<SparseKernel>,
    /// g: k residuals of all loops.
    pub residuals: Kernel,
    /// n initial values of the states, in terms of the parameters.
    pub starts: Kernel,
    /// 2m numbers as functions of time and parameters: default signals of the inputs, then their exact time derivatives between jumps. NaN
    /// for an input without a signal.
    pub inputs: Kernel,
    options: KernelOptions,
    jacobians: OnceLock<Arc<Jacobians>>,
    base: Vec<f64>,
    /// Derived parameter entries, each after all entries from which it is computed.
    derived: Vec<(usize, Kernel)>,
}

/// The partial derivatives of a system. An explicit method needs none of them, unless loops must be solved.
#[derive(Clone, Debug)]
pub struct Jacobians {
    /// df/dx for fixed loop unknowns.
    pub rates_by_states: SparseKernel,
    /// df/dw
    pub rates_by_unknowns: SparseKernel,
    /// dg/dx
    pub residuals_by_states: SparseKernel,
    /// dg/dw
    pub residuals_by_unknowns: SparseKernel,
}

/// The partial derivatives of all functions with respect to all values that a caller can change. The columns are states, inputs, rates of
/// inputs and loop unknowns.
#[derive(Clone, Debug)]
pub struct Sensitivities {
    /// Derivatives of the right-hand sides f.
    pub rates: SparseKernel,
    /// Derivatives of the outputs h.
    pub outputs: SparseKernel,
    /// Derivatives of the residuals g.
    pub residuals: SparseKernel,
}

impl Sensitivities {
    /// Differentiates and compiles all functions.
    pub fn new(system: &StateSystem, options: &KernelOptions) -> Sensitivities {
        let layout = Layout::new(system);
        let columns = jacobian::everything(system);
        let lists = [&system.equations.derivatives[..], &system.equations.output_values, &[]];
        if let Some(found) = factored::factored(&system.exprs, system, &layout, &columns, lists, options) {
            let [rates, outputs, residuals] = found;
            return Sensitivities {
                rates,
                outputs,
                residuals,
            };
        }
        let mut exprs = system.exprs.clone();
        let [rates, outputs, residuals] = jacobian::by_everything(&mut exprs, system);
        let make = |roots: &[ExprId]| expression(&exprs, roots, &layout, options);
        Sensitivities {
            rates: rates.compile(make),
            outputs: outputs.compile(make),
            residuals: residuals.compile(make),
        }
    }
}

impl Kernels {
    /// Compiles all functions of a system; partial derivatives are compiled on request ([`Kernels::jacobians`]).
    pub fn new(system: &StateSystem, options: &KernelOptions) -> Kernels {
        let layout = Layout::new(system);
        let make = |roots: &[ExprId]| expression(&system.exprs, roots, &layout, options);
        let loops = system.equations.loops.iter().flat_map(|entry| &entry.residuals);
        let residual_roots: Vec<ExprId> = loops.copied().collect();
        let starts: Vec<ExprId> = system.states.iter().map(|state| state.start).collect();
        Kernels {
            derivatives: make(&system.equations.derivatives),
            outputs: make(&system.equations.output_values),
            mass: system
                .equations
                .mass_matrix
                .as_ref()
                .map(|mass| jacobian::pattern(mass).compile(make)),
            residuals: make(&residual_roots),
            starts: make(&starts),
            inputs: inputs(system, &layout, options),
            options: *options,
            jacobians: OnceLock::new(),
            base: parameter_base(system),
            derived: derived_parameters(system, &layout),
        }
    }

    /// Returns the derived parameter entries by position, each after all entries from which it is computed.
    pub fn derived(&self) -> &[(usize, Kernel)] {
        &self.derived
    }

    /// Returns the partial derivatives of the system from which these kernels were built. They are differentiated and compiled on the first
    /// request: a fully coupled model has dense ones, which an explicit method never needs.
    pub fn jacobians(&self, system: &StateSystem) -> &Jacobians {
        self.jacobians.get_or_init(|| {
            let layout = Layout::new(system);
            let states: Vec<SymbolId> = system.states.iter().map(|state| state.symbol).collect();
            let lists = [&system.equations.derivatives[..]];
            if let Some([rates_by_states]) =
                factored::factored(&system.exprs, system, &layout, &states, lists, &self.options)
            {
                // Without loops, these are empty.
                let nothing = |rows: usize, columns: usize| {
                    let make = |roots: &[ExprId]| expression(&system.exprs, roots, &layout, &self.options);
                    jacobian::Entries::empty(rows, columns).compile(make)
                };
                return Arc::new(Jacobians {
                    rates_by_states,
                    rates_by_unknowns: nothing(states.len(), 0),
                    residuals_by_states: nothing(0, states.len()),
                    residuals_by_unknowns: nothing(0, 0),
                });
            }
            let mut exprs = system.exprs.clone();
            let (rates, residuals) = jacobian::derive(&mut exprs, system);
            let make = |roots: &[ExprId]| expression(&exprs, roots, &layout, &self.options);
            Arc::new(Jacobians {
                rates_by_states: rates.by_states.compile(make),
                rates_by_unknowns: rates.by_unknowns.compile(make),
                residuals_by_states: residuals.by_states.compile(make),
                residuals_by_unknowns: residuals.by_unknowns.compile(make),
            })
        })
    }

    /// Returns all parameter entries, with some set by position. Derived entries are recomputed unless they are set themselves.
    pub fn parameters(&self, set: &[(usize, f64)]) -> Vec<f64> {
        let mut values = self.base.clone();
        for (position, value) in set {
            values[*position] = *value;
        }
        if set.is_empty() {
            return values;
        }
        for (position, kernel) in &self.derived {
            if !set.iter().any(|entry| entry.0 == *position) {
                let at = Arguments {
                    parameters: &values,
                    ..Arguments::default()
                };
                values[*position] = kernel.values(&at)[0];
            }
        }
        values
    }
}

/// Compiles any expressions over the symbols of a layout.
pub fn expression(exprs: &Exprs, roots: &[ExprId], layout: &Layout, options: &KernelOptions) -> Kernel {
    let (graph, values) = programs::lower::lower(exprs, layout, roots);
    Kernel::new(programs::reroll::program(&graph, &values), options)
}

/// Compiles the signals of the inputs and their rates. Rates are new expressions; they are built in a separate arena, because a copy of a
/// large system's arena is expensive.
fn inputs(system: &StateSystem, layout: &Layout, options: &KernelOptions) -> Kernel {
    let mut exprs = Exprs::default();
    let mut copied = FxHashMap::default();
    let signals: Vec<Option<ExprId>> = system
        .inputs
        .iter()
        .map(|input| Some(exprs.import(&system.exprs, input.signal?, &mut copied)))
        .collect();
    let roots = jacobian::signals(&mut exprs, &signals, system.time);
    expression(&exprs, &roots, layout, options)
}

fn parameter_base(system: &StateSystem) -> Vec<f64> {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| to_f64(&entry.value)).collect()
}

/// Compiles the derived entries, ordered so that one pass suffices in any order of declarations.
fn derived_parameters(system: &StateSystem, layout: &Layout) -> Vec<(usize, Kernel)> {
    let entries: Vec<Option<ExprId>> = system
        .parameters
        .iter()
        .flat_map(|parameter| &parameter.entries)
        .map(|entry| entry.derived)
        .collect();
    let mut placed: Vec<bool> = entries.iter().map(Option::is_none).collect();
    let mut order = Vec::new();
    for first in 0..entries.len() {
        let mut stack = vec![first];
        while let Some(position) = stack.last().copied() {
            let Some(value) = entries[position].filter(|_| !placed[position]) else {
                stack.pop();
                continue;
            };
            let before = system.exprs.symbols_of(&[value]);
            let before = before.iter().filter_map(|symbol| layout.place_of(*symbol));
            let waiting: Vec<usize> = before
                .filter(|(space, index)| *space == Space::Parameters && !placed[*index as usize])
                .map(|(_, index)| index as usize)
                .collect();
            if waiting.is_empty() {
                placed[position] = true;
                order.push((position, value));
                stack.pop();
            }
            stack.extend(waiting);
        }
    }
    let options = KernelOptions { native: false };
    order
        .into_iter()
        .map(|(position, value)| (position, expression(&system.exprs, &[value], layout, &options)))
        .collect()
}
