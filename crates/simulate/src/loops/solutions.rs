//! A further search in algebraic loops: for a solution if none was found, and for others than the one with which a run begins.

use crate::finite::all_finite;
use crate::motion::Motion;
use lgm_numerics::newton::Linearised;
use lgm_numerics::search::{TRIES, closest, is_same, scattered, zeros};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use nalgebra::DMatrix;
use std::f64::consts::PI;

/// Loops with more unknowns than this are not examined.
const SEARCHED: usize = 12;

/// Guesses are spread over this many powers of ten on both sides of 1.
const DECADES: f64 = 3.0;

/// The maximum number of displayed unknowns.
const SHOWN: usize = 6;

impl Motion<'_> {
    /// Returns a solution of the loops from scattered guesses: the nearest one to the first guess.
    pub fn solution_elsewhere(&self, time: f64, states: &[f64]) -> Option<Vec<f64>> {
        if self.unknowns > SEARCHED {
            return None;
        }
        let first = self.system.first_unknowns(0.0);
        let evaluate = |at: &[f64]| self.linearised_loops(time, states, at);
        let found = zeros(self.guesses(&first), f64::INFINITY, &evaluate);
        let far = |at: &[f64]| -> f64 { at.iter().zip(&first).map(|(a, b)| (a - b).powi(2)).sum() };
        found.into_iter().min_by(|a, b| far(a).total_cmp(&far(b)))
    }

    /// Returns the findings about the loops at a point without a solution: a solution elsewhere, or the closest approach of the laws.
    pub fn solutions_in_words(&self, time: f64, states: &[f64]) -> Option<String> {
        if self.unknowns == 0 || self.unknowns > SEARCHED {
            return None;
        }
        let mut last = vec![0.0; self.unknowns];
        self.copy_unknowns(&mut last);
        let evaluate = |at: &[f64]| self.linearised_loops(time, states, at);
        if let Some(found) = zeros(self.guesses(&last), f64::INFINITY, &evaluate).first() {
            return Some(format!(
                "there is a solution at {}, which the search from the last solution did not reach",
                self.unknowns_in_words(found)
            ));
        }
        let tries = [last.clone()].into_iter().chain(self.guesses(&last));
        let mut nearest: Vec<_> = tries.filter_map(|guess| closest(&guess, &evaluate)).collect();
        nearest.sort_by(|a, b| a.value.abs().total_cmp(&b.value.abs()));
        let nearest = nearest.first()?;
        Some(format!(
            "no solution is near: {TRIES} other guesses also fail, and the two sides come closest at {}, where they \
             still differ by {}",
            self.unknowns_in_words(&nearest.at),
            six_digits(nearest.value.abs())
        ))
    }

    /// Returns a remark on other solutions of the laws at the start of a run. For closed chains the initial values select the position.
    pub fn other_solutions(&self, time: f64, states: &[f64]) -> Option<Diagnostic> {
        let is_open: Vec<bool> = self.held_unknowns().iter().map(|is_held| !is_held).collect();
        if !is_open.contains(&true) || self.unknowns > SEARCHED {
            return None;
        }
        let mut taken = vec![0.0; self.unknowns];
        self.copy_unknowns(&mut taken);
        let evaluate = |at: &[f64]| self.linearised_loops(time, states, at);
        let open = |at: &[f64]| -> Vec<f64> {
            let open = at.iter().zip(&is_open).filter(|pair| *pair.1);
            open.map(|pair| *pair.0).collect()
        };
        let found = zeros(self.guesses(&taken), f64::INFINITY, &evaluate);
        let other = found.iter().find(|other| !is_same(&open(other), &open(&taken)))?;
        let shown = |at: &[f64]| self.words_of(at, &is_open);
        let first = is_open.iter().position(|is_open| *is_open)?;
        let blame = self.unknown(first)?;
        let message = format!("the algebraic loop of `{}` has several solutions", blame.variable);
        // Storage does not pass from one solution to another.
        let stored = self.stored_jump(&taken, other).and_then(|at| self.unknown(at));
        let mut remark = match stored {
            Some(_) => Diagnostic::warning(Code::LGM1023, message),
            None => Diagnostic::information(Code::LGM1023, message),
        };
        if let Some(span) = blame.span {
            remark = remark.label(span, "its law is satisfied by more than one value");
        }
        let remark = remark
            .note(format!("the run starts with {}", shown(&taken)))
            .note(format!("another one is {}", shown(other)));
        Some(match stored.and_then(|stored| stored.element) {
            Some(element) => remark.note("the run stops where two solutions meet").help(format!(
                "a small resistance in series with `{element}`, or a small damper in parallel, gives it a state \
                     of its own"
            )),
            None => {
                remark.help("write a law with a unique solution: exclude part of a curve with `if .. then .. else ..`")
            }
        })
    }

    /// Returns guesses far and near; displacements of closed chains stay within half a turn of the last ones.
    fn guesses<'g>(&'g self, last: &'g [f64]) -> impl Iterator<Item = Vec<f64>> + 'g {
        (0..TRIES).map(move |attempt| {
            let guess = |(k, is_held): (usize, &bool)| {
                let share = scattered(k, attempt);
                match is_held {
                    true => last[k] + PI * share,
                    false => share.signum() * 10f64.powf(DECADES * (2.0 * share.abs() - 1.0)),
                }
            };
            self.held_unknowns().iter().enumerate().map(guess).collect()
        })
    }

    /// Returns residuals of the loops and their derivatives with respect to the unknowns.
    fn linearised_loops(&self, time: f64, states: &[f64], at: &[f64]) -> Linearised {
        let matrix = &self.kernels.jacobians(self.system).residuals_by_unknowns;
        let mut values = vec![0.0; self.unknowns];
        let mut entries = vec![0.0; matrix.stored()];
        self.call(&self.kernels.residuals, time, states, at, None, &mut values);
        self.call(&matrix.values, time, states, at, None, &mut entries);
        if !all_finite(&values) {
            return None;
        }
        let mut jacobian = DMatrix::zeros(self.unknowns, self.unknowns);
        for (row, column, at) in crate::linear_factors::pattern(matrix).entries() {
            jacobian[(row, column)] = entries[at];
        }
        Some((values, jacobian))
    }

    fn unknowns_in_words(&self, at: &[f64]) -> String {
        self.words_of(at, &vec![true; at.len()])
    }

    /// Formats unknowns as `diode.v = 0.6, lamp.i = 2`.
    fn words_of(&self, at: &[f64], is_shown: &[bool]) -> String {
        let unknowns = self.system.equations.loops.iter().flat_map(|each| &each.unknowns);
        let shown = unknowns.zip(at).zip(is_shown).filter(|entry| *entry.1).take(SHOWN);
        let each = shown.map(|((symbol, value), _)| {
            let name = &self.system.exprs.symbol_info(*symbol).name;
            format!("`{name} = {}`", six_digits(*value))
        });
        each.collect::<Vec<_>>().join(", ")
    }
}
