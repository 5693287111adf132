//! The state equations of a model, which every emitter, analysis and solver reads.
//!
//! AFTER THIS POINT there are no ports, junctions or bonds: ordered assignments, residual blocks, an optional sparse mass matrix and the
//! derivatives are the complete equations. A..F are derived from them if they exist.

use crate::blocks::BlockForm;
use crate::switching::SystemEvents;
use crate::{Experiment, Input, Parameter, SiUnit};
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_source::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

pub use crate::sparse::SparseMatrix;

/// The state equations of one model: `M x' = derivatives` and `y = output_values` over the symbols of states, inputs, input rates,
/// parameters and time.
#[derive(Clone, Debug)]
pub struct StateSystem {
    /// The model's name.
    pub model: Arc<str>,
    /// Its `///` lines.
    pub doc: Option<Arc<str>>,
    /// The arena of all expressions here.
    pub exprs: Exprs,
    /// The symbol of `time`.
    pub time: SymbolId,
    /// Parameters in declaration order, with their values.
    pub parameters: Vec<Parameter>,
    /// States in declaration order of their storage, followed by states added for `int(..)` outputs.
    pub states: Vec<State>,
    /// Inputs in declaration order, then functions of time whose rates appear in the equations.
    pub inputs: Vec<Input>,
    /// Symbols of the inputs' time derivatives, one per input.
    pub input_rates: Vec<SymbolId>,
    /// Outputs in declaration order.
    pub outputs: Vec<Quantity>,
    /// The equations.
    pub equations: Equations,
    /// A..F of linear equations.
    pub matrices: Matrices,
    /// Storage without a state of its own.
    pub dependent: Vec<DependentStorage>,
    /// The run settings of the model.
    pub experiment: Experiment,
    /// The point of linearisation: states, inputs and outputs are deviations from it.
    pub linearized_at: Option<OperatingPoint>,
    /// Remaining work for consistent initial values.
    pub starts: Starts,
    /// The changes at events.
    pub events: SystemEvents,
}

/// The equations of a system: `assignments` in order, then `loops`, then rates and outputs.
#[derive(Clone, Debug, Default)]
pub struct Equations {
    /// Shared subexpressions, evaluated in order before anything else.
    pub assignments: Vec<Assignment>,
    /// Algebraic loops to be solved at run time.
    pub loops: Vec<AlgebraicLoop>,
    /// The matrix M of `M x' = derivatives`; none means the identity.
    pub mass_matrix: Option<SparseMatrix<ExprId>>,
    /// The equations with a mass matrix, if that is shorter than the solved form.
    pub mass_form: Option<MassForm>,
    /// The matrices from which rates of states were solved: if one of them is singular, the rates are undetermined. Used only to report why
    /// a run failed.
    pub rate_blocks: Vec<RateBlock>,
    /// Right-hand sides, one per state.
    pub derivatives: Vec<ExprId>,
    /// Values of the outputs.
    pub output_values: Vec<ExprId>,
    /// True if the equations are affine in states, inputs and input rates with constant coefficients.
    pub linear: bool,
}

impl Equations {
    /// Returns the residuals of all loops.
    pub fn residuals(&self) -> impl Iterator<Item = ExprId> {
        self.loops.iter().flat_map(|each| each.residuals.iter().copied())
    }

    /// Returns the unknowns of all loops.
    pub fn unknowns(&self) -> impl Iterator<Item = SymbolId> {
        self.loops.iter().flat_map(|each| each.unknowns.iter().copied())
    }

    /// Returns all displayed expressions, mutably: rates, outputs, assignments, residuals of loops, and the form with a mass matrix.
    pub fn shown_mut(&mut self) -> impl Iterator<Item = &mut ExprId> {
        let assignments = self.assignments.iter_mut().map(|assignment| &mut assignment.value);
        let residuals = self.loops.iter_mut().flat_map(|each| &mut each.residuals);
        let form = self.mass_form.iter_mut().flat_map(MassForm::expressions_mut);
        let sides = self.derivatives.iter_mut().chain(&mut self.output_values);
        sides.chain(assignments).chain(residuals).chain(form)
    }
}

/// The matrices of linear equations in the forms that were requested.
#[derive(Clone, Debug, Default)]
pub struct Matrices {
    /// The equations in blocks.
    pub blocks: Option<BlockForm>,
    /// A..F in terms of the parameters, unless they are too large.
    pub symbolic: Option<LinearForm<ExprId>>,
    /// Numerical A..F; for a small system, exact arithmetic rounded once.
    pub numeric: Option<LinearForm<f64>>,
}

/// Initial values that the states' own `start` values do not give.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// Initial values given for quantities that the states determine, in terms of the parameters.
    pub constraints: Vec<StartConstraint>,
    /// Initial values of states that follow from others and have no closed form; their values hold for the given parameters.
    pub search: Option<StartSearch>,
}

/// The operating point of linearised equations.
#[derive(Clone, Debug)]
pub struct OperatingPoint {
    /// True if all derivatives are zero there.
    pub is_equilibrium: bool,
    /// The time in seconds, if the equations depend on it.
    pub time: f64,
    /// One value per state.
    pub states: Vec<PointValue>,
    /// One value per input.
    pub inputs: Vec<PointValue>,
    /// One value per output.
    pub outputs: Vec<PointValue>,
}

/// The value of one variable at a point.
#[derive(Clone, Debug)]
pub struct PointValue {
    /// The variable's name.
    pub name: Arc<str>,
    /// Its SI unit.
    pub unit: Option<SiUnit>,
    /// The value in SI.
    pub value: f64,
    /// The value in terms of the parameters.
    pub expression: ExprId,
}

impl StateSystem {
    /// Returns true if an entry of a parameter, by its index in all entries, is fixed: it determines instants.
    pub fn is_fixed(&self, entry: usize) -> bool {
        let mut entries = self.parameters.iter().flat_map(|parameter| &parameter.entries);
        let derived = entries.nth(entry).and_then(|entry| entry.derived);
        derived.is_some_and(|derived| self.exprs.symbols_of(&[derived]).is_empty())
    }

    /// Returns the declared inputs, which precede the internal ones.
    pub fn declared_inputs(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter().filter(|input| !input.is_internal)
    }

    /// Keeps only the first outputs, in all forms; returns the values of the others.
    pub fn keep_outputs(&mut self, count: usize) -> Vec<ExprId> {
        self.outputs.truncate(count);
        if let Some(form) = &mut self.equations.mass_form {
            form.outputs.truncate(count);
        }
        if let Some(form) = &mut self.matrices.symbolic {
            form.keep_outputs(count);
        }
        if let Some(form) = &mut self.matrices.numeric {
            form.keep_outputs(count);
        }
        self.equations.output_values.split_off(count)
    }

    /// Returns the right-hand sides: the derivatives, then the outputs.
    pub fn right_sides(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.equations
            .derivatives
            .iter()
            .chain(&self.equations.output_values)
            .copied()
    }

    /// Returns the result of a run with a name: an output, all entries of a vector of that name, a state or an input.
    pub fn recorded(&self, name: &str) -> Vec<Recorded> {
        let plain = |text: &str| text.replace(' ', "");
        let wanted = plain(name);
        let outputs = self.outputs.iter().map(|output| &output.name);
        let states = self.states.iter().map(|state| &state.name);
        let inputs = self.inputs.iter().map(|input| &input.name);
        let outputs = outputs.enumerate().map(|(at, name)| (name, Recorded::Output(at)));
        let states = states.enumerate().map(|(at, name)| (name, Recorded::State(at)));
        let inputs = inputs.enumerate().map(|(at, name)| (name, Recorded::Input(at)));
        let all: Vec<(String, Recorded)> = outputs
            .chain(states)
            .chain(inputs)
            .map(|(name, what)| (plain(name), what))
            .collect();
        // The exact name has priority over entries of a vector of that name.
        if let Some(found) = all.iter().find(|known| known.0 == wanted) {
            return vec![found.1];
        }
        let is_entry = |known: &str| known.strip_prefix(&*wanted).is_some_and(|rest| rest.starts_with('['));
        let entries = |is_meant: &dyn Fn(&str) -> bool| -> Vec<Recorded> {
            let meant = all.iter().filter(|known| is_meant(&known.0));
            meant.map(|known| known.1).collect()
        };
        match entries(&is_entry) {
            // For an array of components: `cell.c.v` names `cell[1].c.v` and the others.
            none if none.is_empty() => entries(&|known| known.contains('[') && without_indices(known) == wanted),
            found => found,
        }
    }

    /// Returns a number for each state; states with the same unit have the same number.
    pub fn kinds(&self) -> Vec<usize> {
        let mut units = Vec::new();
        let kinds = self.states.iter().map(|state| {
            let known = units.iter().position(|unit| *unit == &state.unit);
            known.unwrap_or_else(|| {
                units.push(&state.unit);
                units.len() - 1
            })
        });
        kinds.collect()
    }

    /// Returns the initial guesses of the unknowns of all loops; `otherwise` if unknown.
    pub fn first_unknowns(&self, otherwise: f64) -> Vec<f64> {
        let of = |each: &AlgebraicLoop| match each.guesses.is_empty() {
            true => vec![otherwise; each.unknowns.len()],
            false => each.guesses.clone(),
        };
        self.equations.loops.iter().flat_map(of).collect()
    }
}

/// An initial value of a quantity that the states determine: it must agree with the initial states (language 9).
#[derive(Clone, Debug)]
pub struct StartConstraint {
    /// The dependent storage, or the signal.
    pub name: Arc<str>,
    /// True if it is a storage.
    pub is_storage: bool,
    /// The given initial value, in terms of the parameters.
    pub given: ExprId,
    /// Its value from the initial states, in terms of the parameters; in a [`StartSearch`], also of states, assignments
    /// and loop unknowns.
    pub follows: ExprId,
    /// The location of the initial value.
    pub span: Span,
}

/// Initial values that Newton's method determines.
#[derive(Clone, Debug)]
pub struct StartSearch {
    /// The states, from 0.
    pub states: Vec<usize>,
    /// The equations of their initial values.
    pub constraints: Vec<StartConstraint>,
}

/// One state.
#[derive(Clone, Debug)]
pub struct State {
    /// `mass.v`
    pub name: Arc<str>,
    /// The owner: `mass`.
    pub element: Arc<str>,
    /// The choice of its variable.
    pub variable: StateVariable,
    /// For an integral, its expression in the model: `int(across(w))`; for a total, its terms.
    pub written: Option<Arc<str>>,
    /// The sorted elements of a total; empty for the state of one element. In another combination of modes, a state of the same name may be
    /// the total of other elements.
    pub total_of: Vec<Arc<str>>,
    /// Its SI unit.
    pub unit: Option<SiUnit>,
    /// Its symbol.
    pub symbol: SymbolId,
    /// Its value at time 0, in terms of the parameters.
    pub start: ExprId,
    /// The initial value as a number, at the values of the parameters.
    pub start_value: f64,
    /// True if the user gave the initial value, or quantities that determine it. It is then the value just after time 0, which no step of
    /// an input changes.
    pub start_given: bool,
    /// The location in the user's text.
    pub start_span: Option<Span>,
    /// Its magnitude given by the user, in terms of the parameters.
    pub nominal: Option<ExprId>,
    /// The location of the element, or of the declared state itself, in the source.
    pub span: Span,
}

impl State {
    /// Returns true for the total of several storage elements.
    pub fn is_total(&self) -> bool {
        !self.total_of.is_empty()
    }
}

/// The role of a state in its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateVariable {
    /// The across variable.
    Across,
    /// The through variable.
    Through,
    /// The integral of the across variable.
    IntegralOfAcross,
    /// The integral of the through variable.
    IntegralOfThrough,
    /// The momentum of a bond element, the integral of its effort.
    P,
    /// The displacement of a bond element, the integral of its flow.
    Q,
    /// The effort of a bond compliance, under `--states power`.
    Effort,
    /// The flow of a bond inertance, under `--states power`.
    Flow,
    /// A state declared with `state z = int(..)`, or added for an `int(..)` output.
    Integral,
}

impl StateVariable {
    /// Returns true for the co-energy variable of storage.
    pub fn is_co_energy(self) -> bool {
        use StateVariable::{Across, Effort, Flow, Through};
        matches!(self, Across | Through | Effort | Flow)
    }

    /// Returns the identifier in the `equations` JSON.
    pub fn word(self) -> &'static str {
        match self {
            StateVariable::Across => "across",
            StateVariable::Through => "through",
            StateVariable::IntegralOfAcross => "int_across",
            StateVariable::IntegralOfThrough => "int_through",
            StateVariable::P => "p",
            StateVariable::Q => "q",
            StateVariable::Effort => "effort",
            StateVariable::Flow => "flow",
            StateVariable::Integral => "int",
        }
    }
}

/// The equations in the usual form for mechanisms: masses times accelerations on the left, forces on the right, and the outputs in terms of
/// accelerations. Only for display: the derivatives and outputs of the system are equivalent.
#[derive(Clone, Debug)]
pub struct MassForm {
    /// Named parts of the equations, independent of rates.
    pub assignments: Vec<Assignment>,
    /// One equation per state: `sum of coefficient * der(state) = right`.
    pub equations: Vec<MassEquation>,
    /// Residuals of the algebraic loops, loop by loop.
    pub residuals: Vec<Vec<ExprId>>,
    /// The outputs; rates of states are symbols named `der(mass.v)`.
    pub outputs: Vec<ExprId>,
}

/// One equation of a [`MassForm`].
#[derive(Clone, Debug)]
pub struct MassEquation {
    /// States, from 0, with the coefficients of their rates.
    pub terms: Vec<(u32, ExprId)>,
    /// The right-hand side.
    pub right: ExprId,
}

/// The matrix of linear equations from which rates of states were solved, including constraint forces.
#[derive(Clone, Debug)]
pub struct RateBlock {
    /// For each unknown, the state whose rate it is; none for another variable.
    pub states: Vec<Option<u32>>,
    /// Unknowns, from 0, with their coefficients in terms of states, inputs, parameters and the unknowns of loops; one row per equation.
    pub rows: Vec<Vec<(u32, ExprId)>>,
}

impl MassForm {
    /// Removes the equations of former states; the others get the given indices.
    pub fn keep_states(&mut self, places: &FxHashMap<u32, u32>) {
        let equations = std::mem::take(&mut self.equations);
        for (state, mut equation) in equations.into_iter().enumerate() {
            if places.contains_key(&(state as u32)) {
                equation.terms.iter_mut().for_each(|term| term.0 = places[&term.0]);
                self.equations.push(equation);
            }
        }
    }

    /// Returns all expressions, mutably.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut ExprId> {
        let equations = self.equations.iter_mut().flat_map(|equation| {
            let terms = equation.terms.iter_mut().map(|term| &mut term.1);
            terms.chain([&mut equation.right])
        });
        let assignments = self.assignments.iter_mut().map(|assignment| &mut assignment.value);
        assignments
            .chain(equations)
            .chain(self.residuals.iter_mut().flatten())
            .chain(&mut self.outputs)
    }
}

/// A named value with its unit.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// The user's name.
    pub name: Arc<str>,
    /// Its SI unit.
    pub unit: Option<SiUnit>,
    /// The location of its declaration.
    pub span: Span,
}

/// A shared subexpression.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Its symbol (kind `Assignment`), named `w1`, `w2`, ...
    pub symbol: SymbolId,
    /// Its value.
    pub value: ExprId,
}

/// An algebraic loop.
#[derive(Clone, Debug)]
pub struct AlgebraicLoop {
    /// Its unknowns.
    pub unknowns: Vec<SymbolId>,
    /// Residuals that are zero at the solution, one for each unknown.
    pub residuals: Vec<ExprId>,
    /// True if the residuals are linear in the unknowns.
    pub linear: bool,
    /// The initial guesses of the unknowns, such as displacements of a closed chain; empty if unknown.
    pub guesses: Vec<f64>,
    /// For each residual, the element whose law it is and the location of the law; none if it is not the law of a single element.
    pub owners: Vec<Option<(Arc<str>, Span)>>,
    /// For each unknown, true if the rate of a state depends on its rate: it belongs to storage and does not jump.
    /// Empty if unknown.
    pub rated: Vec<bool>,
}

/// `x' = A x + B u + E u' + x_offset`, `y = C x + D u + F u' + y_offset`; n states, m inputs, p outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearForm<T> {
    /// n-by-n.
    pub a: SparseMatrix<T>,
    /// n-by-m.
    pub b: SparseMatrix<T>,
    /// p-by-n.
    pub c: SparseMatrix<T>,
    /// p-by-m.
    pub d: SparseMatrix<T>,
    /// n-by-m.
    pub e: SparseMatrix<T>,
    /// p-by-m.
    pub f: SparseMatrix<T>,
    /// One per state; none if all are zero. May depend on time.
    pub x_offset: Option<Vec<T>>,
    /// One per output; none if all are zero. May depend on time.
    pub y_offset: Option<Vec<T>>,
}

impl<T> LinearForm<T> {
    /// Returns A to F with their names.
    pub fn matrices(&self) -> [(&'static str, &SparseMatrix<T>); 6] {
        [
            ("A", &self.a),
            ("B", &self.b),
            ("C", &self.c),
            ("D", &self.d),
            ("E", &self.e),
            ("F", &self.f),
        ]
    }

    /// Keeps only the first outputs.
    pub fn keep_outputs(&mut self, count: usize) {
        for matrix in [&mut self.c, &mut self.d, &mut self.f] {
            matrix.rows.truncate(count);
        }
        if let Some(offset) = &mut self.y_offset {
            offset.truncate(count);
        }
    }
}

/// A storage element without a state of its own, and the storage that determines its energy.
#[derive(Clone, Debug)]
pub struct DependentStorage {
    /// The dependent element.
    pub element: Arc<str>,
    /// The independent storage elements that determine it; empty if only sources do.
    pub on: Vec<Arc<str>>,
    /// The equivalent parameter of the independent storage as an expression of the language.
    pub equivalent: String,
    /// Its SI unit, if all of its entries have one.
    pub unit: Option<SiUnit>,
}

/// The recordable results of a run, by their index within their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// An output.
    Output(usize),
    /// A state.
    State(usize),
    /// An input.
    Input(usize),
}
/// Returns a name without its brackets.
fn without_indices(name: &str) -> String {
    let mut depth = 0;
    let is_outside = |letter: &char| {
        depth += i32::from(*letter == '[');
        let is_outside = depth == 0;
        depth -= i32::from(*letter == ']');
        is_outside
    };
    name.chars().filter(is_outside).collect()
}
