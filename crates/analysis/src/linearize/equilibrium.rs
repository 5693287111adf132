//! Points determined by equations: solutions of algebraic loops, and equilibria by Newton's method.

use crate::linearize::linearization::{Fault, Linearization};
use lgm_algebra::expr::{ExprId, GradientRow, SymbolId};
use lgm_model::system::{State, StateVariable};
use lgm_numerics::conserved::conserved;
use lgm_numerics::newton::{Linearised, Stuck, find_zero};
use lgm_numerics::rest::{Rest, Sought, find_rest, running};
use lgm_numerics::search::scattered;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use nalgebra::DMatrix;

/// The maximum number of states and unknowns for Newton's iteration on a dense matrix.
const DENSE: usize = 600;

impl Linearization<'_> {
    /// Returns the values of some roots and their dense Jacobian with respect to some symbols, after setting these symbols.
    fn linearised(&self, roots: &[ExprId], rows: &[GradientRow], columns: &[SymbolId], at: &[f64]) -> Linearised {
        let mut values = self.point.values.clone();
        values.extend(columns.iter().copied().zip(at.iter().copied()));
        let entries: Vec<ExprId> = rows.iter().flat_map(|row| row.iter().map(|entry| entry.1)).collect();
        let mut all = roots.to_vec();
        all.extend(entries);
        let found = self
            .system
            .exprs
            .evaluate_unchecked(&all, &|symbol| values.get(&symbol).copied());
        if found[..roots.len()].iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut jacobian = DMatrix::zeros(roots.len(), columns.len());
        let mut next = roots.len();
        for (row, list) in rows.iter().enumerate() {
            for (column, _) in list.iter() {
                jacobian[(row, *column as usize)] = found[next];
                next += 1;
            }
        }
        Some((found[..roots.len()].to_vec(), jacobian))
    }

    /// Solves the loops for the given values of the states.
    pub(super) fn solve_loops(&mut self) -> Result<(), Fault> {
        let unknowns = self.roots.unknowns.clone();
        if unknowns.is_empty() {
            return Ok(());
        }
        let first = self.roots.all.len() - unknowns.len();
        let residuals = self.roots.all[first..].to_vec();
        let rows = self.rows(&residuals, &unknowns)?;
        let mut last = None;
        for guess in [0.0, 1.0, -1.0, 1e-3, 1e3] {
            let guess = self.system.first_unknowns(guess);
            match find_zero(guess, |at| self.linearised(&residuals, &rows, &unknowns, at)) {
                Ok(zero) => {
                    self.point.values.extend(unknowns.into_iter().zip(zero.at));
                    return Ok(());
                }
                Err(stuck) => last = last.or(Some(stuck)),
            }
        }
        let row = last.and_then(|stuck| stuck.worst).map_or(0, |worst| worst.0);
        Err(Box::new(
            Diagnostic::error(
                Code::LGM0705,
                format!(
                    "the algebraic loop of `{}` has no solution at this point",
                    self.name(unknowns[row])
                ),
            )
            .label(self.model.heading.span, "in this model")
            .note(format!("at {}", self.state_words()))
            .help("choose another point with `--at`, or find an equilibrium with `--equilibrium`"),
        ))
    }

    /// Moves states and unknowns to a point at which all derivatives are zero; returns the states that the equilibrium determines.
    pub(super) fn equilibrium(&mut self) -> Result<Vec<usize>, Fault> {
        let states: Vec<SymbolId> = self.system.states.iter().map(|state| state.symbol).collect();
        let mut symbols = states.clone();
        symbols.extend(&self.roots.unknowns);
        if symbols.len() > DENSE {
            return Err(self.too_large(symbols.len()));
        }
        // The loop solution at the guess helps but is not required.
        if self.solve_loops().is_err() {
            let guesses = self.system.first_unknowns(0.0);
            self.point
                .values
                .extend(self.roots.unknowns.iter().copied().zip(guesses));
        }
        let mut roots = self.roots.all[..states.len()].to_vec();
        let first = self.roots.all.len() - self.roots.unknowns.len();
        roots.extend(&self.roots.all[first..]);
        let rows = self.rows(&roots, &symbols)?;
        let guess: Vec<f64> = symbols.iter().map(|symbol| self.point.values[symbol]).collect();
        let kept = self.invariants(&roots[..states.len()]);
        let starts: Vec<f64> = self.system.states.iter().map(|state| state.start_value).collect();
        let reads = rows.iter().enumerate();
        let reads = reads.flat_map(|(row, entries)| entries.iter().map(move |entry| (row, entry.0 as usize)));
        let is_integral = |state: &State| state.variable == StateVariable::Integral;
        let is_integral = self.system.states.iter().map(is_integral).collect();
        let sought = Sought {
            guess: &guess,
            starts: &starts,
            kept: &kept,
            mass: &DMatrix::identity(states.len(), states.len()),
            running: &running(is_integral, &reads.collect::<Vec<_>>()),
        };
        let motion = |at: &[f64]| self.linearised(&roots, &rows, &symbols, at);
        match find_rest(&sought, motion) {
            Ok(Rest { zero, running }) => {
                self.report_running(&running);
                let is_free = |at: &usize| *at < states.len() && !running.contains(at);
                let free: Vec<usize> = zero.free.into_iter().filter(is_free).collect();
                self.report_free(&free);
                self.point.values.extend(symbols.into_iter().zip(zero.at));
                // A conserved combination keeps the initial values of its states.
                let is_kept = |at: &usize| kept.iter().any(|combination| combination[*at] != 0.0);
                let is_found = |at: &usize| !free.contains(at) && !running.contains(at) && !is_kept(at);
                Ok((0..states.len()).filter(is_found).collect())
            }
            Err(stuck) => {
                let whole = find_zero(guess.clone(), motion);
                let fault = whole.ok().and_then(|zero| self.not_kept(&kept, &starts, &zero.at));
                Err(fault.unwrap_or_else(|| self.no_equilibrium(&stuck)))
            }
        }
    }

    fn report_free(&mut self, free: &[usize]) {
        if free.is_empty() {
            return;
        }
        let names = self.quoted(free);
        self.diagnostics.push(
            Diagnostic::information(Code::LGM0707, format!("the equilibrium does not determine {names}"))
                .label(self.model.heading.span, "in this model")
                .help("the nearest values are used; choose others with `--at`"),
        );
    }

    /// Formats the names of states for a message.
    fn quoted(&self, states: &[usize]) -> String {
        let names = states.iter().map(|at| format!("`{}`", self.system.states[*at].name));
        names.collect::<Vec<_>>().join(", ")
    }

    fn too_large(&self, count: usize) -> Fault {
        let words = format!("an equilibrium with {count} unknowns is too large to compute");
        let help = format!("give the point with `--at`; an equilibrium may have at most {DENSE} unknowns");
        Box::new(
            Diagnostic::error(Code::LGM0704, words)
                .label(self.model.heading.span, "in this model")
                .help(help),
        )
    }

    fn report_running(&mut self, running: &[usize]) {
        if running.is_empty() {
            return;
        }
        let names = self.quoted(running);
        self.diagnostics.push(
            Diagnostic::information(
                Code::LGM0707,
                format!("the equilibrium leaves {names} free: nothing else depends on it"),
            )
            .label(self.model.heading.span, "in this model")
            .help("it keeps changing at a constant rate"),
        );
    }

    /// Returns the combinations of states that the equations keep constant, one vector each. An example is an angle and the moment of the
    /// spring that it winds, if both are states. An equilibrium reachable from the initial values has the same combinations.
    fn invariants(&self, derivatives: &[ExprId]) -> Vec<Vec<f64>> {
        let symbols: Vec<SymbolId> = self
            .system
            .states
            .iter()
            .map(|state| state.symbol)
            .chain(self.roots.unknowns.iter().copied())
            .collect();
        conserved(derivatives.len(), |set| {
            let mut values = self.point.values.clone();
            for (k, symbol) in symbols.iter().enumerate() {
                *values.entry(*symbol).or_default() += scattered(k, set);
            }
            let value = |symbol: SymbolId| values.get(&symbol).copied();
            Some(self.system.exprs.evaluate_unchecked(derivatives, &value))
        })
    }

    /// Returns an error if equilibria exist but cannot be reached from the initial values.
    fn not_kept(&self, kept: &[Vec<f64>], starts: &[f64], at: &[f64]) -> Option<Fault> {
        let names = || self.system.states.iter().map(|state| &*state.name);
        let words = lgm_numerics::conserved::not_kept(kept, starts, at, names)?;
        Some(Box::new(
            Diagnostic::error(Code::LGM0704, "no equilibrium can be reached from the initial values")
                .label(self.model.heading.span, "in this model")
                .note(words)
                .help(
                    "give the states other initial values, or restrain the drifting states with a spring or a \
                    source",
                ),
        ))
    }

    fn no_equilibrium(&mut self, stuck: &Stuck) -> Fault {
        let count = self.system.states.len();
        for (state, value) in self.system.states.iter().zip(&stuck.at) {
            self.point.values.insert(state.symbol, *value);
        }
        let fault = Diagnostic::error(Code::LGM0704, "no equilibrium was found")
            .label(self.model.heading.span, "in this model");
        let fault = match stuck.worst {
            Some((row, value)) if row < count => fault.note(format!(
                "{} stays {value:.3e} at {}",
                self.row_name(row),
                self.state_words()
            )),
            Some((row, _)) if row >= count + self.roots.unknowns.len() => fault.note(format!(
                "quantities that the equations conserve cannot keep their initial values at {}",
                self.state_words()
            )),
            Some((row, _)) => fault.note(format!(
                "the algebraic loop of `{}` has no solution at {}",
                self.name(self.roots.unknowns[row - count]),
                self.state_words()
            )),
            None => fault.note(format!("the equations have no value at {}", self.state_words())),
        };
        Box::new(fault.help(
            "give another guess or other inputs with `--at`; a system that keeps moving has no \
                equilibrium",
        ))
    }
}
