//! The equations of one combination of modes over the symbols of all combinations, with its conditions and watched values.

use super::merged::{Copied, Merged};
use super::table::{Bound, Element, InCombination};
use lgm_algebra::expr::{ExprId, Relation, SymbolId};
use lgm_equations::switching::{Combination, Condition, InModes, Inside};
use rustc_hash::FxHashMap;

/// Indices of margins, by the two sides whose difference each margin is.
#[derive(Default)]
pub(super) struct Margins {
    pub(super) places: FxHashMap<(ExprId, ExprId), usize>,
}

impl Margins {
    fn place(&mut self, combination: &Combination, output: usize) -> usize {
        let next = self.places.len();
        *self.places.entry(combination.sides[&output]).or_insert(next)
    }

    /// Returns a condition over these indices.
    fn enter(&mut self, combination: &Combination, condition: &Condition) -> Condition {
        condition.margins(&mut |output, _| _ = self.place(combination, output));
        condition.in_places(&|output| self.places[&combination.sides[&output]])
    }
}

/// Enters the conditions and the bounds of a combination.
pub(super) fn enter_conditions(
    margins: &mut Margins,
    conditions: &mut [Condition],
    (elements, modes): (&mut [Element], &[usize]),
    combination: &Combination,
) {
    for (at, element) in elements.iter_mut().enumerate() {
        let changes = element.modes[modes[at]].changes.iter_mut();
        for (change, watched) in changes.zip(&combination.changes[at]) {
            conditions[change.condition] = margins.enter(combination, &watched.condition);
            if let Some(bound) = watched.bound {
                change.bound = Some(Bound {
                    margin: margins.place(combination, bound.margin),
                    is_positive: bound.is_positive,
                    is_above: bound.is_above,
                    far: bound.far,
                });
            }
        }
    }
    let first = conditions.len() - combination.blocks.len();
    for (at, block) in combination.blocks.iter().enumerate() {
        if let Some(condition) = block {
            conditions[first + at] = margins.enter(combination, condition);
        }
    }
}

/// Returns the equations of one combination over the symbols of all combinations.
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
    let values = watched.values;
    let mut own = vec![None; margins.places.len()];
    let mut timed = vec![false; margins.places.len()];
    let (mut crossings, mut untimed) = (Vec::new(), Vec::new());
    let mut enter = |condition: &Condition| {
        condition.margins(&mut |output, _| {
            let value = found.watched[output - combination.shown];
            let value = merged.system.exprs.import(&found.system.exprs, value, &mut copied);
            let place = margins.places[&combination.sides[&output]];
            own[place] = Some(value);
            if combination.free.contains(&output) {
                timed[place] = true;
                crossings.push(merged.system.exprs.relation(Relation::GreaterEqual, value, zero));
            } else {
                untimed.push(value);
            }
        });
    };
    combination
        .changes
        .iter()
        .flatten()
        .for_each(|change| enter(&change.condition));
    combination.blocks.iter().flatten().for_each(enter);
    let inside = Inside::of(&mut merged.system.exprs, &untimed);
    InCombination {
        derivatives,
        outputs,
        watched: values,
        margins: own,
        timed,
        inside,
        crossings,
        known,
        redundant: combination.is_redundant().collect(),
    }
}

/// The watched values of a combination, in sequence.
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

    /// Adds states by name, including those that follow from others.
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

    /// Adds efforts and flows of ports, the values that active modes impose there, the value of each mode's law, and the values that
    /// changes set.
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
}
