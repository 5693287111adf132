//! The state equations of a model: what every emitter, analysis and solver reads.
//!
//! AFTER THIS POINT there are no ports, junctions or bonds: ordered assignments, residual blocks, an optional sparse mass
//! matrix and the derivatives say everything; A..F are derived from them where they exist.

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
    /// States in declaration order of their storage; states added for `int(..)` outputs last.
    pub states: Vec<State>,
    /// Inputs in declaration order, then functions of time that the equations need the rates of.
    pub inputs: Vec<Input>,
    /// Symbols of the inputs' time derivatives, one an input.
    pub input_rates: Vec<SymbolId>,
    /// Outputs in declaration order.
    pub outputs: Vec<Quantity>,
    /// The equations.
    pub equations: Equations,
    /// A..F of linear equations.
    pub matrices: Matrices,
    /// Storage without a state of its own.
    pub dependent: Vec<DependentStorage>,
    /// How the model asks to be run.
    pub experiment: Experiment,
    /// Where the equations were linearised: states, inputs and outputs are deviations from there.
    pub linearized_at: Option<OperatingPoint>,
    /// Work that is left for consistent initial values.
    pub starts: Starts,
    /// The changes at events.
    pub events: SystemEvents,
}

/// The equations of a system: `assignments` in order, then `loops`, then rates and outputs.
#[derive(Clone, Debug, Default)]
pub struct Equations {
    /// Shared subexpressions, evaluated in order before anything else.
    pub assignments: Vec<Assignment>,
    /// Algebraic loops that are left to be solved at run time.
    pub loops: Vec<AlgebraicLoop>,
    /// The matrix M of `M x' = derivatives`; none stands for the identity.
    pub mass_matrix: Option<SparseMatrix<ExprId>>,
    /// The equations over a mass matrix, where that is shorter than what they are solved to.
    pub mass_form: Option<MassForm>,
    /// The matrices that rates of states were solved with: if one of them is singular, the rates do not follow. Only for reporting
    /// why a run failed.
    pub rate_blocks: Vec<RateBlock>,
    /// Right sides, one a state.
    pub derivatives: Vec<ExprId>,
    /// Values of the outputs.
    pub output_values: Vec<ExprId>,
    /// Affine in states, inputs and input rates with constant coefficients.
    pub linear: bool,
}

impl Equations {
    /// All expressions that are shown, to be changed: rates, outputs, assignments, residuals of loops, and the form over a mass matrix.
    pub fn shown_mut(&mut self) -> impl Iterator<Item = &mut ExprId> {
        let assignments = self.assignments.iter_mut().map(|assignment| &mut assignment.value);
        let residuals = self.loops.iter_mut().flat_map(|each| &mut each.residuals);
        let form = self.mass_form.iter_mut().flat_map(MassForm::expressions_mut);
        let sides = self.derivatives.iter_mut().chain(&mut self.output_values);
        sides.chain(assignments).chain(residuals).chain(form)
    }
}

/// The matrices of linear equations in the forms that were asked for.
#[derive(Clone, Debug, Default)]
pub struct Matrices {
    /// The equations in blocks.
    pub blocks: Option<BlockForm>,
    /// A..F over the parameters, unless they are too large.
    pub symbolic: Option<LinearForm<ExprId>>,
    /// A..F in numbers, exact arithmetic rounded once where the system is small.
    pub numeric: Option<LinearForm<f64>>,
}

/// Starts that do not stand in the states alone.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// Starts that were given for what states determine, over the parameters, where the equations are.
    pub constraints: Vec<StartConstraint>,
    /// Starts of states that follow from others and have no closed form: their values are those for the parameters given.
    pub search: Option<StartSearch>,
}

/// The point that linearised equations are about.
#[derive(Clone, Debug)]
pub struct OperatingPoint {
    /// Whether all derivatives are zero there.
    pub is_equilibrium: bool,
    /// The time, in seconds, where the equations depend on it.
    pub time: f64,
    /// One value a state.
    pub states: Vec<PointValue>,
    /// One value an input.
    pub inputs: Vec<PointValue>,
    /// One value an output.
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
    /// The same over the parameters.
    pub expression: ExprId,
}

impl StateSystem {
    /// The inputs that the user declared; internal ones stand behind them.
    pub fn declared_inputs(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter().filter(|input| !input.is_internal)
    }

    /// The right sides: the derivatives, then the outputs.
    pub fn right_sides(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.equations
            .derivatives
            .iter()
            .chain(&self.equations.output_values)
            .copied()
    }

    /// What a run has of a name: an output, all entries of a vector of that name, a state or an input.
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
        // The name itself counts before entries of a vector of that name.
        if let Some(found) = all.iter().find(|known| known.0 == wanted) {
            return vec![found.1];
        }
        let is_entry = |known: &str| known.strip_prefix(&*wanted).is_some_and(|rest| rest.starts_with('['));
        let entries = |is_meant: &dyn Fn(&str) -> bool| -> Vec<Recorded> {
            let meant = all.iter().filter(|known| is_meant(&known.0));
            meant.map(|known| known.1).collect()
        };
        match entries(&is_entry) {
            // Of an array of components: `cell.c.v` names `cell[1].c.v` and the others.
            none if none.is_empty() => entries(&|known| known.contains('[') && without_indices(known) == wanted),
            found => found,
        }
    }

    /// The unknowns of all loops where they are looked for at first; `otherwise` where nothing is known.
    pub fn first_unknowns(&self, otherwise: f64) -> Vec<f64> {
        let of = |each: &AlgebraicLoop| match each.guesses.is_empty() {
            true => vec![otherwise; each.unknowns.len()],
            false => each.guesses.clone(),
        };
        self.equations.loops.iter().flat_map(of).collect()
    }
}

/// A start given for what the states determine: it must be what the starts of the states make of it (language 9).
#[derive(Clone, Debug)]
pub struct StartConstraint {
    /// The dependent storage, or the signal.
    pub name: Arc<str>,
    /// Whether it is a storage.
    pub is_storage: bool,
    /// The start that was given, over the parameters.
    pub given: ExprId,
    /// What the starts of the states make of it, over the parameters; in a [`StartSearch`], over states, assignments and the
    /// unknowns of loops too.
    pub follows: ExprId,
    /// Where the start was given.
    pub span: Span,
}

/// Starts that are looked for by Newton's method.
#[derive(Clone, Debug)]
pub struct StartSearch {
    /// The states, from 0.
    pub states: Vec<usize>,
    /// What their starts must satisfy.
    pub constraints: Vec<StartConstraint>,
}

/// One state.
#[derive(Clone, Debug)]
pub struct State {
    /// `mass.v`
    pub name: Arc<str>,
    /// The element that carries it: `mass`.
    pub element: Arc<str>,
    /// Which of its variables it is.
    pub variable: StateVariable,
    /// What an integral is in the words of the model: `int(across(w))`; and of a total, what it is the total of.
    pub written: Option<Arc<str>>,
    /// The elements of which it is the total, sorted; none for the state of one element. In another combination of modes, a state of
    /// the same name may be the total of others.
    pub total_of: Vec<Arc<str>>,
    /// Its SI unit.
    pub unit: Option<SiUnit>,
    /// Its symbol.
    pub symbol: SymbolId,
    /// Its value at time 0 as an expression over the parameters.
    pub start: ExprId,
    /// The same as a number, with the parameters' values.
    pub start_value: f64,
    /// Whether the user gave the start, or what it follows from: it then is the value just after time 0, which no step of an input
    /// moves.
    pub start_given: bool,
    /// Where the user gave it.
    pub start_span: Option<Span>,
    /// Of what size it is as the user said, over the parameters.
    pub nominal: Option<ExprId>,
    /// Where the element, or the declared state itself, stands in the source.
    pub span: Span,
}

impl State {
    /// Returns true if it is the total of what several storages hold.
    pub fn is_total(&self) -> bool {
        !self.total_of.is_empty()
    }
}

/// What a state is of its element.
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
    /// Whether it is the co-energy variable of storage.
    pub fn is_co_energy(self) -> bool {
        use StateVariable::{Across, Effort, Flow, Through};
        matches!(self, Across | Through | Effort | Flow)
    }

    /// The word of the `equations` JSON.
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

/// The equations as people write those of mechanisms: masses times accelerations on the left, forces on the right, and the outputs
/// over accelerations. Only for reading: everything is in the derivatives and outputs of the system too.
#[derive(Clone, Debug)]
pub struct MassForm {
    /// Named parts of the equations, none of which depends on a rate.
    pub assignments: Vec<Assignment>,
    /// One equation a state: `sum of coefficient * der(state) = right`.
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
    /// What they add up to.
    pub right: ExprId,
}

/// The matrix of linear equations that rates of states were solved from, with forces of constraint where these belong to them.
#[derive(Clone, Debug)]
pub struct RateBlock {
    /// For each unknown, the state whose rate it is; none for another variable.
    pub states: Vec<Option<u32>>,
    /// Unknowns, from 0, with their coefficients over states, inputs, parameters and the unknowns of loops, one row an equation.
    pub rows: Vec<Vec<(u32, ExprId)>>,
}

impl MassForm {
    /// Leaves out the equations of states that are none any more; the others get the places given.
    pub fn keep_states(&mut self, places: &FxHashMap<u32, u32>) {
        let equations = std::mem::take(&mut self.equations);
        for (state, mut equation) in equations.into_iter().enumerate() {
            if places.contains_key(&(state as u32)) {
                equation.terms.iter_mut().for_each(|term| term.0 = places[&term.0]);
                self.equations.push(equation);
            }
        }
    }

    /// All expressions, to be changed.
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
    /// Where it is declared.
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
    /// Residuals, as many as unknowns, to be made zero.
    pub residuals: Vec<ExprId>,
    /// Whether the residuals are linear in the unknowns.
    pub linear: bool,
    /// Where the unknowns are looked for at first, as for the displacements of a closed chain; empty where nothing is known.
    pub guesses: Vec<f64>,
    /// For each residual, the element whose law it is and where that stands; none where it is no single element's.
    pub owners: Vec<Option<(Arc<str>, Span)>>,
    /// Of each unknown, whether the rate of a state depends on its rate: storage is behind it, and it does not jump. Empty where that is
    /// not known.
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
    /// One a state; none where all are zero. May depend on time.
    pub x_offset: Option<Vec<T>>,
    /// One an output; none where all are zero. May depend on time.
    pub y_offset: Option<Vec<T>>,
}

impl<T> LinearForm<T> {
    /// Keeps the first outputs alone.
    pub fn keep_outputs(&mut self, count: usize) {
        for matrix in [&mut self.c, &mut self.d, &mut self.f] {
            matrix.rows.truncate(count);
        }
        if let Some(offset) = &mut self.y_offset {
            offset.truncate(count);
        }
    }
}

/// A storage element without a state of its own, and what carries its energy instead.
#[derive(Clone, Debug)]
pub struct DependentStorage {
    /// The dependent element.
    pub element: Arc<str>,
    /// The independent storage elements that determine it; empty where sources alone do.
    pub on: Vec<Arc<str>>,
    /// The equivalent parameter of the independent storage as an expression of the language.
    pub equivalent: String,
    /// Its SI unit, where all of its entries have one.
    pub unit: Option<SiUnit>,
}

/// What can be recorded of a run, by its place among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// An output.
    Output(usize),
    /// A state.
    State(usize),
    /// An input.
    Input(usize),
}
/// A name without what stands in brackets.
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
