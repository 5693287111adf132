//! Linearisation about a point: A..F are the derivatives of the right-hand sides there.
//!
//! Derivatives are exact, by the rules of [`lgm_algebra::expr`] through all assignments. The unknowns z of algebraic loops `r(x, u, z) = 0`
//! are eliminated by the implicit function theorem, `dz = -r_z^-1 (r_x dx + r_u du)`. The equations must be smooth at the point: at a kink,
//! the derivatives on both sides are compared, and a difference is an error.
//!
//! The variables of the result are deviations from the point.

mod corners;
mod equilibrium;
mod linearization;
mod matrices;
mod point;

use crate::linearize::linearization::{Fault, Linearization, Roots};
use corners::{Ties, decimal};
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind, brief, text};
use lgm_equations::{is_large, lowest_terms};
use lgm_model::SiUnit;
use lgm_model::system::{OperatingPoint, PointValue, StateSystem};
use lgm_model::{Model, Parameter, ParameterEntry};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use point::Point;
use std::sync::Arc;

/// Derivatives with a relative difference below this value are equal.
const AGREEMENT: f64 = 1e-9;

/// An equilibrium closer to its guess than this is the guess itself, which may be exact.
const AT_THE_GUESS: f64 = 1e-12;

/// Output values with expressions longer than this are shown as numbers.
const SHOWN: usize = 60;

/// Options of the linearisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinearizeRequest {
    /// True if the point is an equilibrium, searched for from the given values.
    pub equilibrium: bool,
    /// True if A..F are also computed in terms of the parameters.
    pub symbolic: bool,
}

/// Linearises the equations at the initial values, at the values given by the model's options, or at an equilibrium near these.
///
/// Unless an option sets them, inputs are constant with the values of their signals at time 0.
pub fn linearize(
    model: &Model,
    system: &StateSystem,
    request: &LinearizeRequest,
) -> (Option<StateSystem>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut system = system.clone();
    let point = Point::asked_for(model, &mut system, &mut diagnostics);
    if has_errors(&diagnostics) {
        return (None, diagnostics);
    }
    let roots = Roots::of(&mut system);
    let mut linearization = Linearization {
        model,
        point,
        roots,
        system,
        diagnostics,
    };
    let found = linearization.run(request);
    let Linearization {
        system,
        mut diagnostics,
        ..
    } = linearization;
    match found {
        Ok(()) => (Some(system), diagnostics),
        Err(fault) => {
            diagnostics.push(*fault);
            (None, diagnostics)
        }
    }
}

impl Linearization<'_> {
    fn run(&mut self, request: &LinearizeRequest) -> Result<(), Fault> {
        let guesses: Vec<f64> = self
            .system
            .states
            .iter()
            .map(|state| self.point.values[&state.symbol])
            .collect();
        let found = match request.equilibrium {
            true => self.equilibrium()?,
            false => {
                self.solve_loops()?;
                Vec::new()
            }
        };
        self.values_are_finite()?;
        self.name_equilibrium(&guesses, &found);
        let smooth = self.smooth_roots()?;
        let form = match self.system.equations.linear {
            true => None,
            false => Some(matrices::at_point(self, &smooth, request.symbolic)?),
        };
        self.write(form, &smooth, request)
    }

    /// Keeps the exact values of equilibria that coincide with the guess, and creates numeric parameters for the others. States that the
    /// equilibrium determines are `found`; those that it sets to 0 are 0 for all initial values.
    fn name_equilibrium(&mut self, guesses: &[f64], found: &[usize]) {
        for (at, guess) in guesses.iter().copied().enumerate() {
            let (symbol, name, unit) = {
                let state = &self.system.states[at];
                (state.symbol, state.name.clone(), state.unit.clone())
            };
            let value = self.point.values[&symbol];
            let near = |other: f64| (value - other).abs() <= AT_THE_GUESS * (1.0 + other.abs());
            let is_found_zero = found.contains(&at) && near(0.0);
            if near(guess) && !is_found_zero {
                self.point.values.insert(symbol, guess);
            } else if near(0.0) {
                self.point.values.insert(symbol, 0.0);
                let zero = self.system.exprs.zero();
                self.point.exact.insert(symbol, zero);
            } else {
                self.new_parameter(symbol, &name, unit, value);
            }
        }
        for symbol in self.roots.unknowns.clone() {
            let (name, value) = (self.name(symbol), self.point.values[&symbol]);
            if value.abs() <= AT_THE_GUESS {
                self.point.values.insert(symbol, 0.0);
                let zero = self.system.exprs.zero();
                self.point.exact.insert(symbol, zero);
            } else {
                self.new_parameter(symbol, &name, None, value);
            }
        }
    }

    /// Creates a parameter for a value of the point that has no expression.
    fn new_parameter(&mut self, of: SymbolId, name: &str, unit: Option<SiUnit>, value: f64) {
        let mut fresh = format!("{name}_0");
        while self.system.parameters.iter().any(|parameter| *parameter.name == *fresh) {
            fresh.push('0');
        }
        let exprs = &mut self.system.exprs;
        let symbol = exprs.new_symbol(fresh.as_str(), SymbolKind::Parameter);
        let expression = exprs.symbol(symbol);
        self.point.exact.insert(of, expression);
        self.point.values.insert(symbol, value);
        self.system.parameters.push(Parameter {
            name: fresh.into(),
            shape: Vec::new(),
            entries: vec![ParameterEntry {
                symbol,
                derived: None,
                exact: None,
                value: lgm_equations::shortest_decimal(value),
            }],
            unit,
            scale: lgm_model::Scale::SI,
            literal_unit: None,
            span: self.model.heading.span,
            value_span: self.model.heading.span,
            is_constant: false,
        });
    }

    /// Returns the roots on one side of all kinks at the point; reports an error if the sides have different derivatives.
    fn smooth_roots(&mut self) -> Result<Vec<ExprId>, Fault> {
        let moving = self.columns();
        let point = &self.point;
        let ties = Ties::find(&mut self.system.exprs, &self.roots.all, &moving, &|symbol| {
            point.value(symbol)
        });
        let roots = self.roots.all.clone();
        let mut above = vec![true; ties.shown.len()];
        let smooth = ties.one_sided(&mut self.system.exprs, &roots, &above);
        for group in 0..above.len() {
            above[group] = false;
            let other = ties.one_sided(&mut self.system.exprs, &roots, &above);
            above[group] = true;
            for row in 0..roots.len() {
                if smooth[row] == other[row] {
                    continue;
                }
                let (one, two) = (self.side(smooth[row])?, self.side(other[row])?);
                let same = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= AGREEMENT * a.abs().max(b.abs());
                if !one.iter().zip(&two).all(same) {
                    let shown = brief(&self.system.exprs, ties.shown[group]);
                    return Err(self.corner(row, &shown));
                }
            }
        }
        Ok(smooth)
    }

    /// Returns a value and all its derivatives.
    fn side(&mut self, root: ExprId) -> Result<Vec<f64>, Fault> {
        let columns = self.columns();
        let rows = self.rows(&[root], &columns)?;
        let mut all = vec![0.0; columns.len() + 1];
        let entries: Vec<ExprId> = rows[0].iter().map(|entry| entry.1).collect();
        for ((column, _), value) in rows[0].iter().zip(self.evaluate(&entries)) {
            all[*column as usize] = value;
        }
        all[columns.len()] = self.evaluate(&[root])[0];
        Ok(all)
    }

    fn corner(&self, row: usize, shown: &str) -> Fault {
        Box::new(
            Diagnostic::error(
                Code::LGM0703,
                format!(
                    "{} has a kink at this point and no derivative there",
                    self.row_name(row)
                ),
            )
            .label(self.model.heading.span, "in this model")
            .note(format!("`{shown}` changes sides at {}", self.state_words()))
            .help("move the point to one side of it with `--at`"),
        )
    }

    /// Returns the outputs at the point, in terms of the parameters if these expressions are short.
    fn output_values(&mut self, roots: &[ExprId], numbers: &[f64]) -> Vec<(ExprId, f64)> {
        let mut found = Vec::with_capacity(numbers.len());
        for (root, number) in roots.iter().copied().zip(numbers) {
            let exact = &self.point.exact;
            let exprs = &mut self.system.exprs;
            let value = exprs.substitute(&[root], |symbol| exact.get(&symbol).copied())[0];
            let short = lowest_terms(exprs, value);
            let is_shown = !is_large(exprs, short) && text(exprs, short).len() <= SHOWN;
            let evaluated = self.evaluate(&[short])[0];
            found.push(match is_shown && evaluated.is_finite() {
                true => (short, evaluated),
                false => (decimal(&mut self.system.exprs, *number), *number),
            });
        }
        found
    }

    /// Writes the matrices, the equations that they define, and the point.
    fn write(
        &mut self,
        form: Option<matrices::Form>,
        smooth: &[ExprId],
        request: &LinearizeRequest,
    ) -> Result<(), Fault> {
        let values = self.evaluate(&self.roots.all);
        let counts = (self.system.states.len(), self.system.outputs.len());
        let shown = counts.0..counts.0 + counts.1;
        let outputs = self.output_values(&smooth[shown.clone()], &values[shown]);
        if let Some(form) = form {
            self.system.matrices.symbolic = form.symbolic;
            self.system.matrices.numeric = Some(form.numeric);
        }
        let offsets = match request.equilibrium {
            true => vec![0.0; counts.0],
            false => values[..counts.0].to_vec(),
        };
        matrices::set_offsets(self, &offsets);
        let entry = |name: &Arc<str>, unit: &Option<SiUnit>, value: f64, expression: ExprId| PointValue {
            name: name.clone(),
            unit: unit.clone(),
            value,
            expression,
        };
        let mut point = OperatingPoint {
            is_equilibrium: request.equilibrium,
            time: self.point.time,
            states: Vec::with_capacity(counts.0),
            inputs: Vec::new(),
            outputs: Vec::with_capacity(counts.1),
        };
        for state in &self.system.states {
            let (value, exact) = (self.point.values[&state.symbol], self.point.exact[&state.symbol]);
            point.states.push(entry(&state.name, &state.unit, value, exact));
        }
        for input in &self.system.inputs {
            let (value, exact) = (self.point.values[&input.symbol], self.point.exact[&input.symbol]);
            point.inputs.push(entry(&input.name, &input.unit, value, exact));
        }
        for (at, output) in self.system.outputs.iter().enumerate() {
            let (expression, value) = outputs[at];
            point.outputs.push(entry(&output.name, &output.unit, value, expression));
        }
        let system = &mut self.system;
        for state in &mut system.states {
            let at = self.point.exact[&state.symbol];
            let at_value = self.point.values[&state.symbol];
            state.start = system.exprs.sub(state.start, at);
            state.start_value = if system.exprs.is_zero(state.start) {
                0.0
            } else {
                state.start_value - at_value
            };
        }
        matrices::set_equations(system);
        system.starts.constraints.clear();
        system.starts.search = None;
        system.equations.rate_blocks.clear();
        system.linearized_at = Some(point);
        Ok(())
    }
}
