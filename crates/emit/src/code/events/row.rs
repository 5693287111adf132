//! The equations of one combination of modes over the symbols of all, with its conditions and what is watched.

use super::merged::{Copied, Merged};
use super::table::{Change, Element, InCombination};
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_equations::switching::{Combination, Condition, InModes};
use rustc_hash::FxHashMap;

/// Places of margins, by the two sides that they are differences of.
#[derive(Default)]
pub(super) struct Margins {
    pub(super) places: FxHashMap<(ExprId, ExprId), usize>,
}

impl Margins {
    fn place(&mut self, combination: &Combination, output: usize) -> usize {
        let next = self.places.len();
        *self.places.entry(combination.sides[&output]).or_insert(next)
    }

    /// A condition over these places.
    fn enter(&mut self, combination: &Combination, condition: &Condition) -> Condition {
        condition.margins(&mut |output| _ = self.place(combination, output));
        condition.in_places(&|output| self.places[&combination.sides[&output]])
    }
}

/// Calls `visit` for each change of the modes in force, with its number among all changes.
fn changes_in_force<'e>(
    elements: &'e [Element],
    modes: &[usize],
    visit: &mut dyn FnMut(usize, usize, usize, &'e Change),
) {
    let mut number = 0;
    for (at, element) in elements.iter().enumerate() {
        for (mode, each) in element.modes.iter().enumerate() {
            for (own, change) in each.changes.iter().enumerate() {
                if mode == modes[at] {
                    visit(number, at, own, change);
                }
                number += 1;
            }
        }
    }
}

/// Enters the conditions of a combination.
pub(super) fn enter_conditions(
    margins: &mut Margins,
    conditions: &mut [Condition],
    (elements, modes): (&[Element], &[usize]),
    combination: &Combination,
) {
    changes_in_force(elements, modes, &mut |number, at, own, _| {
        conditions[number] = margins.enter(combination, &combination.changes[at][own].condition);
    });
    let first = conditions.len() - combination.blocks.len();
    for (at, block) in combination.blocks.iter().enumerate() {
        if let Some(condition) = block {
            conditions[first + at] = margins.enter(combination, condition);
        }
    }
}

/// The equations of one combination over the symbols of all.
pub(super) fn row(
    merged: &mut Merged,
    margins: &Margins,
    (elements, modes): (&[Element], &[usize]),
    found: &InModes,
) -> InCombination {
    let combination = &found.combination;
    let firsts: Vec<usize> = elements
        .iter()
        .scan(0, |first, element| {
            let own = *first;
            *first += element.ports;
            Some(own)
        })
        .collect();
    let offsets = combination.offsets.iter();
    let offsets: FxHashMap<SymbolId, usize> = offsets
        .map(|offset| (offset.symbol, firsts[offset.port.0] + offset.port.1))
        .collect();
    let mut copied = merged.take_over(&found.system, &offsets);
    let mut take = |merged: &mut Merged, id: ExprId| merged.system.exprs.import(&found.system.exprs, id, &mut copied);
    let zero = merged.system.exprs.zero();
    let mut derivatives = vec![zero; merged.system.states.len()];
    let mut known = vec![0; derivatives.len()];
    for (state, rate) in found.system.states.iter().zip(&found.system.equations.derivatives) {
        let at = merged.state(&state.name).expect("invariant: all states were entered");
        derivatives[at] = take(merged, *rate);
        known[at] = 1;
    }
    let outputs = found
        .system
        .equations
        .output_values
        .iter()
        .map(|value| take(merged, *value))
        .collect();
    let mut watched = Watched {
        merged,
        found,
        copied: &mut copied,
        values: Vec::new(),
    };
    watched.states(&mut known);
    watched.elements(elements, modes, &firsts);
    for output in &combination.read {
        watched.push(Some(*output));
    }
    watched.energy();
    let values = watched.values;
    let mut own = vec![None; margins.places.len()];
    let mut enter = |condition: &Condition| {
        condition.margins(&mut |output| {
            let value = found.watched[output - combination.shown];
            let value = merged.system.exprs.import(&found.system.exprs, value, &mut copied);
            own[margins.places[&combination.sides[&output]]] = Some(value);
        });
    };
    combination
        .changes
        .iter()
        .flatten()
        .for_each(|change| enter(&change.condition));
    combination.blocks.iter().flatten().for_each(enter);
    InCombination {
        derivatives,
        outputs,
        watched: values,
        margins: own,
        known,
    }
}

/// Watched values of a combination, one after the other.
struct Watched<'w> {
    merged: &'w mut Merged,
    found: &'w InModes,
    copied: &'w mut Copied,
    values: Vec<ExprId>,
}

impl Watched<'_> {
    fn value(&mut self, output: usize) -> ExprId {
        let value = self.found.watched[output - self.found.combination.shown];
        self.merged
            .system
            .exprs
            .import(&self.found.system.exprs, value, self.copied)
    }

    fn push(&mut self, output: Option<usize>) {
        let value = match output {
            Some(output) => self.value(output),
            None => self.merged.system.exprs.zero(),
        };
        self.values.push(value);
    }

    /// States by their names, those that follow included.
    fn states(&mut self, known: &mut [usize]) {
        let storage = self
            .found
            .combination
            .storage
            .iter()
            .map(|(name, output)| (&**name, *output));
        let storage: FxHashMap<&str, usize> = storage.collect();
        for (at, known) in known.iter_mut().enumerate() {
            let state = &self.merged.system.states[at];
            let output = storage.get(&*state.name).copied();
            if *known == 1 {
                let symbol = state.symbol;
                let value = self.merged.system.exprs.symbol(symbol);
                self.values.push(value);
            } else {
                *known = if output.is_some() { 2 } else { 0 };
                self.push(output);
            }
        }
    }

    /// Effort and flow of ports, what modes in force give there, what the law of each mode gives, and what changes set.
    fn elements(&mut self, elements: &[Element], modes: &[usize], firsts: &[usize]) {
        let combination = &self.found.combination;
        for (effort, flow) in combination.ports.iter().flatten() {
            self.push(Some(*effort));
            self.push(Some(*flow));
        }
        let count: usize = elements.iter().map(|element| element.ports).sum();
        let mut given = vec![None; count];
        for offset in &combination.offsets {
            given[firsts[offset.port.0] + offset.port.1] = Some(offset.value);
        }
        given.into_iter().for_each(|output| self.push(output));
        for law in combination.laws.iter().flatten() {
            self.push(law.map(|law| law.1));
        }
        let mut sets = Vec::new();
        for (at, element) in elements.iter().enumerate() {
            for (mode, each) in element.modes.iter().enumerate() {
                for (own, change) in each.changes.iter().enumerate() {
                    for set in 0..change.sets.len() {
                        let is_in_force = mode == modes[at];
                        sets.push(is_in_force.then(|| combination.changes[at][own].sets[set].2));
                    }
                }
            }
        }
        sets.into_iter().for_each(|output| self.push(output));
    }

    /// Half of the products of co-energy and energy variables; 0 where the energy is not known.
    fn energy(&mut self) {
        let pairs = self.found.combination.energy.clone().unwrap_or_default();
        let terms: Vec<ExprId> = pairs
            .into_iter()
            .map(|(z, p)| {
                let (z, p) = (self.value(z), self.value(p));
                self.merged.system.exprs.mul(z, p)
            })
            .collect();
        let exprs = &mut self.merged.system.exprs;
        let sum = exprs.sum(terms);
        let two = exprs.integer(2);
        let energy = exprs.div(sum, two);
        self.values.push(energy);
    }
}
