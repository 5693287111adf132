//! Modes of elements that are complementary, found at once: of two variables of a port one is given in each of two modes, and the other
//! one has the right sign. Diodes, walls and valves are of this kind.
//!
//! The combination in force says how the free variables answer to offsets of the given ones over a short step (J. J. Moreau's time
//! stepping). That is a linear complementarity problem; the elements whose offsets are not 0 in its solution change their mode.

use crate::failure::Failure;
use crate::inputs::signals::Corner;
use crate::reinitialisation::jump::move_states;
use crate::switching::instant::standing::{Before, Standing};
use crate::switching::instant::transition::Instant;
use crate::switching::prepared::Prepared;
use lgm_algebra::expr::Relation;
use lgm_equations::switching::Condition;
use lgm_model::Variable;
use lgm_runtime::events::complementarity::{Answers, Memory};
use lgm_runtime::events::lemke::SHORT;

/// An element that is complementary in the mode in force.
struct Pair {
    element: usize,
    /// Its offset.
    offset: usize,
    /// The mode that it would change to.
    to: usize,
    /// The outputs with the variable that is free, and with the value that the other mode gives it.
    free: usize,
    other: usize,
    /// The margin of the change, and whether it is taken above 0.
    margin: usize,
    is_above: bool,
}

/// The complementary elements of a combination.
fn pairs(prepared: &Prepared) -> Vec<Pair> {
    let combination = &prepared.combination;
    let offsets = combination.offsets.iter().enumerate();
    offsets
        .filter_map(|(offset, found)| {
            let (element, port) = found.port;
            let [change] = &prepared.changes[element][..] else {
                return None;
            };
            let ports = &combination.ports[element];
            let (given, other) = combination.laws[element].get(change.to).copied().flatten()?;
            if ports.len() != 1 || given == found.given || !change.is_free || !change.sets.is_empty() {
                return None;
            }
            let (margin, relation) = only_margin(&change.condition)?;
            Some(Pair {
                element,
                offset,
                to: change.to,
                free: if given == Variable::Effort {
                    ports[port].0
                } else {
                    ports[port].1
                },
                other,
                margin,
                is_above: match relation {
                    Relation::Greater | Relation::GreaterEqual => true,
                    Relation::Less | Relation::LessEqual => false,
                    _ => return None,
                },
            })
        })
        .collect()
}

/// The margin of a condition that is one comparison.
fn only_margin(condition: &Condition) -> Option<(usize, Relation)> {
    match condition {
        Condition::Margin(at, relation) => Some((*at, *relation)),
        _ => None,
    }
}

impl Instant<'_, '_> {
    /// The modes in which all complementary elements agree, as far as the combination in force tells; none where they are less than two,
    /// or where the problem has no solution.
    pub(super) fn complementary_modes(
        &mut self,
        from: &Before,
        standing: &Standing,
    ) -> Result<Option<Vec<usize>>, Failure> {
        let prepared = &standing.prepared;
        let pairs = pairs(prepared);
        let count = pairs.len();
        if count < 2 {
            return Ok(None);
        }
        let (base, base_margins) = self.answer(from, standing, None)?;
        let value = |pair: &Pair, values: &[f64]| {
            prepared.of_output(pair.free, values) - prepared.of_output(pair.other, values)
        };
        let mut free: Vec<f64> = pairs.iter().map(|pair| value(pair, &base)).collect();
        let mut answers = Answers {
            matrix: &mut vec![0.0; count * count],
            margins: &mut vec![0.0; count * count],
            free: &mut free,
            signs: &mut vec![0.0; count],
        };
        for (column, of) in pairs.iter().enumerate() {
            let (values, margins) = self.answer(from, standing, Some(of.offset))?;
            for (row, pair) in pairs.iter().enumerate() {
                let moved = margins[pair.margin] - base_margins[pair.margin];
                answers.take((row, column), value(pair, &values), moved);
            }
        }
        let mut solution = vec![0.0; count];
        let mut memory = Memory {
            table: &mut vec![0.0; count * (2 * count + 2)],
            basis: &mut vec![0; count],
            z: &mut solution,
        };
        if !answers.solve(|row| pairs[row].is_above, &mut memory) {
            return Ok(None);
        }
        let mut modes = prepared.modes.clone();
        for (pair, value) in pairs.iter().zip(solution) {
            if value > 0.0 {
                modes[pair.element] = pair.to;
            }
        }
        Ok(Some(modes))
    }

    /// The watched outputs and the margins a short time behind this instant, where one offset is 1 from now on. Impulses count as values
    /// that last as long.
    fn answer(
        &mut self,
        from: &Before,
        standing: &Standing,
        offset: Option<usize>,
    ) -> Result<(Vec<f64>, Vec<f64>), Failure> {
        let prepared = &standing.prepared;
        let zeros = vec![0.0; prepared.offsets.len()];
        let mut after = zeros.clone();
        let mut steps = Vec::new();
        if let Some(offset) = offset {
            after[offset] = 1.0;
            steps.push((prepared.offsets[offset], 1.0));
        }
        let signals = self.signals(prepared, (&from.discretes, &zeros), (&from.discretes, &after));
        let motion = self.motion(prepared, &signals)?;
        let mut states = standing.states.clone();
        let corner = Corner {
            time: self.time,
            steps: steps.clone(),
        };
        let read = (&prepared.traits.rates_read, self.plan.rtol);
        move_states(&motion, &signals, read, &corner, &mut states, false)?;
        let short = (SHORT * (self.plan.stop - self.plan.start)).max(1e3 * f64::EPSILON * self.time.abs());
        let mut slopes = vec![0.0; states.len()];
        motion.rates(self.time, &states, &mut slopes);
        for (state, slope) in states.iter_mut().zip(&slopes) {
            *state += short * slope;
        }
        let mut rates = vec![0.0; prepared.system.inputs.len()];
        for (input, step) in steps {
            rates[input] = step / short;
        }
        let at = (self.time + short, &states[..]);
        let values = prepared.call(&motion, &prepared.watched, at, Some(&rates));
        let margins = prepared.call(&motion, &prepared.margins, at, Some(&rates));
        Ok((values, margins))
    }
}
