//! Functions as the equations of a model read: its quantities by their names, and no arrays but the arguments and results.
//!
//! [`Book`] has the names, legal in a language and each once. [`Formulas`] has what the functions of a model compute, and
//! [`Formulas::body`] prints it in a [`Dialect`]: values that several formulas share get a name where that saves work. Models of
//! more than [`MOST_NAMED`] states keep their arrays and loops ([`super::program`]).

mod body;
mod book;
mod formula;

pub(crate) use body::Body;
pub(crate) use book::{Book, Naming};

use super::dialect::Dialect;
use super::names::Scope;
use super::subject::Subject;
use lgm_algebra::expr::{ExprId, Exprs, Gradient, SymbolId, print};
use lgm_model::system::StateSystem;
use rustc_hash::FxHashMap;

/// The most states of a model whose functions name them one by one.
pub(crate) const MOST_NAMED: usize = 100;

/// A line of a text in the language of models is shown in a remark up to this length.
const LONGEST_REMARK: usize = 160;

/// An entry of a matrix: row, column and value.
pub(crate) type Entry = (usize, usize, ExprId);

/// The expressions that the functions of a model compute.
pub(crate) struct Formulas<'a> {
    system: &'a StateSystem,
    exprs: Exprs,
    definitions: FxHashMap<SymbolId, ExprId>,
    gradient: FxHashMap<Vec<SymbolId>, Gradient>,
}

/// The reason that differentiation always succeeds.
const KNOWN: &str = "invariant: `int` and `der` are gone from the equations";

impl<'a> Formulas<'a> {
    /// Returns the formulas of a model; `None` if it has more than [`MOST_NAMED`] states, so its functions read arrays.
    pub(crate) fn new(subject: &Subject<'a>) -> Option<Formulas<'a>> {
        let system = subject.system;
        let size = system.states.len() + system.inputs.len() + system.outputs.len() + subject.unknowns();
        if system.states.len() > MOST_NAMED || size > 4 * MOST_NAMED || system.exprs.len() > 100_000 {
            return None;
        }
        Some(Formulas::of(system))
    }

    /// Returns the formulas of a model of any size.
    pub(crate) fn of(system: &'a StateSystem) -> Formulas<'a> {
        let assignments = system.equations.assignments.iter();
        Formulas {
            system,
            exprs: system.exprs.clone(),
            definitions: assignments.map(|each| (each.symbol, each.value)).collect(),
            gradient: FxHashMap::default(),
        }
    }

    /// The default signals of some inputs; `None` for an input without one.
    pub(crate) fn signals(&self) -> Vec<Option<ExprId>> {
        self.system.inputs.iter().map(|input| input.signal).collect()
    }

    /// The time derivatives of the default signals.
    pub(crate) fn signal_rates(&mut self) -> Vec<Option<ExprId>> {
        let time = self.system.time;
        let mut rate = |signal: ExprId| self.exprs.differentiate(signal, time).expect(KNOWN);
        let signals = self.system.inputs.iter().map(|input| input.signal);
        signals.map(|signal| signal.map(&mut rate)).collect()
    }

    /// Prints formulas as the body of a function.
    pub(crate) fn body(&self, roots: &[ExprId], book: &Book, dialect: &dyn Dialect) -> Body {
        body::body(&self.exprs, &self.definitions, roots, book, dialect)
    }

    /// Prints formulas in a scope with further names; `inlined` are the values of further symbols.
    pub(crate) fn body_in(
        &self,
        roots: &[ExprId],
        inlined: &[(SymbolId, ExprId)],
        names: (&Book, &mut Scope),
        dialect: &dyn Dialect,
    ) -> Body {
        let mut definitions = self.definitions.clone();
        definitions.extend(inlined.iter().copied());
        body::body_in(&self.exprs, &definitions, roots, names, dialect)
    }

    /// True if a symbol has a definition.
    pub(crate) fn is_defined(&self, symbol: SymbolId) -> bool {
        self.definitions.contains_key(&symbol)
    }

    /// The time derivatives of the states.
    pub(crate) fn rates(&self) -> Vec<ExprId> {
        self.system.equations.derivatives.clone()
    }

    /// The outputs.
    pub(crate) fn outputs(&self) -> Vec<ExprId> {
        self.system.equations.output_values.clone()
    }

    /// The residuals of all loops.
    pub(crate) fn residuals(&self) -> Vec<ExprId> {
        let loops = self.system.equations.loops.iter();
        loops.flat_map(|each| each.residuals.iter().copied()).collect()
    }

    /// The initial values of the states.
    pub(crate) fn starts(&self) -> Vec<ExprId> {
        self.system.states.iter().map(|state| state.start).collect()
    }

    /// The derived entries of parameters, by their places among all.
    pub(crate) fn derived(&self, place: usize) -> Option<ExprId> {
        let mut entries = self.system.parameters.iter().flat_map(|parameter| &parameter.entries);
        entries.nth(place)?.derived
    }

    /// The symbols of the states.
    pub(crate) fn states(&self) -> Vec<SymbolId> {
        self.system.states.iter().map(|state| state.symbol).collect()
    }

    /// The symbols of the unknowns of all loops.
    pub(crate) fn unknowns(&self) -> Vec<SymbolId> {
        let loops = self.system.equations.loops.iter();
        loops.flat_map(|each| each.unknowns.iter().copied()).collect()
    }

    /// The nonzero partial derivatives of some formulas by some symbols, through the values in between.
    pub(crate) fn partials(&mut self, roots: &[ExprId], columns: &[SymbolId]) -> Vec<Entry> {
        let exprs = &mut self.exprs;
        let assignments = &self.system.equations.assignments;
        let gradient = self.gradient.entry(columns.to_vec()).or_insert_with(|| {
            let mut gradient = Gradient::new(exprs, columns);
            for assignment in assignments {
                gradient
                    .define(exprs, assignment.symbol, assignment.value)
                    .expect(KNOWN);
            }
            gradient
        });
        let mut entries = Vec::new();
        for (row, root) in roots.iter().enumerate() {
            for (column, value) in gradient.row(exprs, *root).expect(KNOWN).iter() {
                entries.push((row, *column as usize, *value));
            }
        }
        entries
    }

    /// The equation of each state as the language of models writes it, where it is short.
    pub(crate) fn equations(&self) -> Vec<Option<String>> {
        let states = 0..self.system.states.len();
        let equation = |state: usize| {
            let equation = self.system.read_equation(state);
            short(format!(
                "{} = {}",
                equation.left,
                print::text(&self.system.exprs, equation.right)
            ))
        };
        states.map(equation).collect()
    }

    /// The same of the outputs.
    pub(crate) fn output_equations(&self) -> Vec<Option<String>> {
        let outputs = self.system.outputs.iter().enumerate();
        let equation = |(at, name): (usize, &lgm_model::system::Quantity)| {
            short(format!(
                "{} = {}",
                name.name,
                print::text(&self.system.exprs, self.system.read_output(at))
            ))
        };
        outputs.map(equation).collect()
    }
}

/// Returns the partial derivatives of residuals and rates with respect to unknowns and states, with their row numbers.
pub(crate) fn matrices(formulas: &mut Formulas<'_>) -> [(usize, Vec<Entry>); 4] {
    let (residuals, rates) = (formulas.residuals(), formulas.rates());
    let (unknowns, states) = (formulas.unknowns(), formulas.states());
    [
        (residuals.len(), formulas.partials(&residuals, &unknowns)),
        (rates.len(), formulas.partials(&rates, &states)),
        (rates.len(), formulas.partials(&rates, &unknowns)),
        (residuals.len(), formulas.partials(&residuals, &states)),
    ]
}

fn short(text: String) -> Option<String> {
    (text.len() <= LONGEST_REMARK).then_some(text)
}
