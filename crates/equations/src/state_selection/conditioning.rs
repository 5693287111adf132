//! The choice of states by how well they determine the rest.
//!
//! From mutually dependent storage, causality keeps the first elements as states. All choices have the same rank, but
//! not the same accuracy. For example, an amplifier may hold the difference of two voltages at 1e-8 of their value: if
//! both are states, the difference carries their errors, relatively a hundred million times larger. The dependent
//! storage is therefore expressed over the states, with controlled sources closed and scaled by the energies. The
//! largest entry selects the exchange, as long as one is worthwhile (approximately a maximal volume), and as long as
//! the junction structure admits it.

use crate::assembly::outputs::Plan;
use crate::assembly::problem::Problem;
use crate::assembly::run::{is_controlled, run};
use crate::assembly::states::StateRequest;
use crate::bond::BondGraph;
use crate::causality::elimination::{Row, add_scaled, find};
use crate::causality::structure::port_column;
use crate::causality::{Causality, Request};
use crate::index_reduction::solved_variable;
use lgm_algebra::expr::to_f64;
use lgm_algebra::{DoubleValues, FromExpression};
use lgm_model::{Law, Model, PortId, StorageForm};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashSet;

/// The smallest gain in conditioning that justifies an exchange of states; otherwise the order of declaration decides.
const WORTH: f64 = 1e3;

/// An amplification beyond this factor is reported (LGM0439).
const WARNED_BEYOND: f64 = 1e4;

/// Entries below this fraction of the largest entry of their row are round-off.
const ENTRY_NOISE: f64 = 1e-12;

/// Dependent storage with more entries than this is not examined: it belongs to meshes without amplifiers.
const ENTRIES: usize = 1_000_000;

/// The maximum number of variables followed from a dependent variable to the given ones.
const LONGEST: usize = 64;

/// Dependent storage in terms of the states, in numbers.
struct Choice<'a> {
    model: &'a Model,
    /// The ports of the columns, which change in exchanges.
    independent: Vec<PortId>,
    /// The ports of the rows.
    dependent: Vec<PortId>,
    /// `z_d` by the junction structure only, which determines the possible exchanges.
    structure: Vec<Row<f64>>,
    /// `z_d` with controlled sources closed. Columns of inputs follow those of storage.
    closed: Vec<Row<f64>>,
    /// The square root of the storage value of each port, by index.
    scales: Vec<f64>,
}

/// Returns a better choice of the ports with states, if any, and the message about the chosen one.
pub(crate) fn improved(
    model: &Model,
    graph: &BondGraph,
    causality: &Causality,
    request: &Request,
) -> (Option<Vec<PortId>>, Option<Diagnostic>) {
    let Some(mut choice) = Choice::of(model, graph, causality) else {
        return (None, None);
    };
    let retained: FxHashSet<PortId> = (choice.independent.iter().copied())
        .filter(|port| request.retain.contains(&model.graph.ports[port.index()].element))
        .collect();
    let mut exchanged = false;
    // Each exchange multiplies the volume; the bound guards against round-off.
    for _ in 0..10 * choice.dependent.len() + 10 {
        let admitted = |choice: &Choice, row: usize, column: u32| {
            let kept = retained.contains(&choice.independent[column as usize]);
            let largest = choice.structure[row]
                .iter()
                .map(|entry| entry.1.abs())
                .fold(0.0, f64::max);
            let own = find(&choice.structure[row], column).map_or(0.0, |at| choice.structure[row][at].1.abs());
            !kept && own > ENTRY_NOISE * largest
        };
        match choice.largest(admitted) {
            Some((row, column, size)) if size > WORTH => choice.exchange(row, column),
            _ => break,
        }
        exchanged = true;
    }
    let worst = choice.largest(|_, _, _| true).filter(|found| found.2 > WARNED_BEYOND);
    let diagnostic = worst.map(|(row, _, size)| choice.warning(row, size));
    (exchanged.then_some(choice.independent), diagnostic)
}

/// Returns true if a single variable determines each dependent storage, as a source determines the voltage of a
/// parallel capacitor.
///
/// A variable is determined by the equation that it was solved from, and by the equations of the other variables in it.
/// It therefore depends only on the given equations. Long chains of variables are not followed to their ends.
fn has_no_choice(causality: &Causality) -> bool {
    let structure = &causality.structure;
    let mut row_of: Vec<Option<u32>> = vec![None; structure.columns];
    for (row, column) in &causality.pivots {
        row_of[*column as usize] = Some(*row);
    }
    let is_single = |port: &PortId| {
        let (mut given, mut seen) = (None, FxHashSet::default());
        let mut stack = vec![port_column(*port, solved_variable(causality, *port))];
        while let Some(column) = stack.pop() {
            if !seen.insert(column) {
                continue;
            }
            match row_of[column as usize] {
                Some(row) => stack.extend(structure.rows[row as usize].iter().map(|entry| entry.0)),
                None if given.is_none() => given = Some(column),
                None => return false,
            }
            if seen.len() > LONGEST {
                return false;
            }
        }
        true
    };
    causality.tied.is_empty() && causality.dependent.iter().all(is_single)
}

impl Choice<'_> {
    fn of<'a>(model: &'a Model, graph: &BondGraph, causality: &Causality) -> Option<Choice<'a>> {
        let is_settled = causality.dependent.is_empty() || !is_controlled(model) && has_no_choice(causality);
        if is_settled || crate::assembly::linearity::applies(model) {
            return None;
        }
        let entries = model.parameters.iter().flat_map(|parameter| &parameter.entries);
        let values = entries.map(|entry| (entry.symbol, to_f64(&entry.value)));
        let mut field = DoubleValues::new(values.collect());
        // Outputs are irrelevant here.
        let mut bare = model.clone();
        bare.outputs.clear();
        let mut exprs = bare.exprs.clone();
        let problem = Problem {
            model: &bare,
            graph,
            causality,
            states: StateRequest::Power,
        };
        let found = run(problem, &mut exprs, &mut field, &mut Plan::default(), &[]).ok()?;
        if found.dependent_co_energy.iter().map(Vec::len).sum::<usize>() > ENTRIES {
            return None;
        }
        let scale = |port: usize| {
            let element = &model.graph.elements[model.graph.ports[port].element.index()];
            let Law::Storage { value, form, .. } = &element.law else {
                return 1.0;
            };
            let at = port - element.ports.start as usize;
            let value = field
                .from_expression(&model.exprs, value.get(at, at))
                .unwrap_or(1.0)
                .abs()
                .sqrt();
            match form {
                StorageForm::Direct => value,
                StorageForm::Inverse => 1.0 / value,
            }
        };
        let scales: Vec<f64> = (0..model.graph.ports.len()).map(scale).collect();
        let storage = causality.independent.len() as u32;
        let of_storage = |row: &Row<f64>| row.iter().filter(|entry| entry.0 < storage).copied().collect();
        Some(Choice {
            model,
            independent: causality.independent.clone(),
            dependent: causality.dependent.clone(),
            structure: found.couplings.iter().map(of_storage).collect(),
            closed: found.dependent_co_energy,
            scales,
        })
    }

    /// Returns the largest admitted scaled entry: its row, column and magnitude. A variable determined by a single
    /// variable keeps all digits for every factor.
    fn largest(&self, admitted: impl Fn(&Self, usize, u32) -> bool) -> Option<(usize, u32, f64)> {
        let mut best: Option<(usize, u32, f64)> = None;
        for (row, entries) in self.closed.iter().enumerate().filter(|entry| entry.1.len() > 1) {
            let own = self.scales[self.dependent[row].index()];
            for (column, value) in entries {
                let Some(port) = self.independent.get(*column as usize) else {
                    continue;
                };
                let size = (value * own / self.scales[port.index()]).abs();
                let is_larger = best.is_none_or(|best| size > best.2);
                if size.is_finite() && is_larger && admitted(self, row, *column) {
                    best = Some((row, *column, size));
                }
            }
        }
        best
    }

    /// Exchanges a dependent port and an independent one.
    fn exchange(&mut self, row: usize, column: u32) {
        for rows in [&mut self.structure, &mut self.closed] {
            let pivot = std::mem::take(&mut rows[row]);
            let at = find(&pivot, column).expect("invariant: an exchange has an entry in both");
            let own = pivot[at].1;
            let mut turned: Row<f64> = Vec::with_capacity(pivot.len());
            for (other, value) in &pivot {
                let value = if *other == column { 1.0 } else { -value };
                turned.push((*other, value / own));
            }
            for entries in rows.iter_mut() {
                if let Some(at) = find(entries, column) {
                    let factor = entries[at].1;
                    let mut rest = std::mem::take(entries);
                    rest.remove(at);
                    *entries = add_scaled(&mut DoubleValues::default(), &rest, &turned, &factor, None, |_| {});
                    let largest = entries.iter().map(|entry| entry.1.abs()).fold(0.0, f64::max);
                    entries.retain(|entry| entry.1.abs() > ENTRY_NOISE * ENTRY_NOISE * largest);
                }
            }
            rows[row] = turned;
        }
        std::mem::swap(&mut self.independent[column as usize], &mut self.dependent[row]);
    }

    fn warning(&self, row: usize, size: f64) -> Diagnostic {
        let model = self.model;
        let name = |port: PortId| model.element_name(model.graph.ports[port.index()].element);
        let own = self.dependent[row];
        let entries = self.closed[row].iter().filter_map(|(column, value)| {
            let port = *self.independent.get(*column as usize)?;
            let scaled = (value * self.scales[own.index()] / self.scales[port.index()]).abs();
            (scaled > size / 10.0).then_some(port)
        });
        let mut names: Vec<String> = entries.map(|port| format!("`{}`", name(port))).collect();
        names.sort();
        names.dedup();
        let digits = size.log10().round();
        let message = format!(
            "`{}` follows from {} with a factor of {size:.0e}, which costs {digits} of the digits that the tolerance \
             requires",
            name(own),
            names.join(" and ")
        );
        let span = model.element_span(model.graph.ports[own.index()].element);
        Diagnostic::warning(Code::LGM0439, message)
            .label(span, "this has no state of its own")
            .help(format!(
                "reduce the tolerance by that factor, try other states with `--retain {}`, or choose parameter \
                 values of similar magnitude",
                name(own)
            ))
    }
}
