//! The report on dependent storage: the variables that determine it, and the equivalent parameter (McCalla 1991, eq. 18).

use crate::assembly::states::storage_row;
use crate::causality::Causality;
use crate::causality::elimination::Row;
use crate::formulation::matrices::{LONGEST_WRITTEN, Present};
use crate::index_reduction::Known;
use lgm_algebra::expr::{ExprId, Exprs};
use lgm_algebra::units::Dimension;
use lgm_model::system::DependentStorage;
use lgm_model::{Law, Model, PortId, SiUnit, Variable};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// With more dependent ports than this, a report per element is unreadable.
const REPORTED: usize = 1_000;
/// With more independent ports than this, the equivalent field is not written out.
const WRITTEN: usize = 4;

/// Describes each dependent storage element; `present` writes an entry in its displayed form. `couplings` are the rows
/// `z_d = S_di z_i + S_du u` over [`Known`] columns.
pub(crate) fn report<F: Present>(
    model: &Model,
    exprs: &mut Exprs,
    field: &mut F,
    causality: &Causality,
    couplings: &[Row<F::Element>],
    present: &mut dyn FnMut(&mut Exprs, &mut F, &F::Element) -> ExprId,
) -> Vec<DependentStorage> {
    let (independent, dependent) = (&causality.independent[..], &causality.dependent[..]);
    if dependent.len() > REPORTED {
        return Vec::new();
    }
    let known = Known {
        storage: independent.len(),
        sources: 0,
        drifts: 0,
        rates: 0,
    };
    // For each independent port, the dependent ports that follow it.
    let mut followers: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    let is_tied = |d: usize| causality.tied.contains(&dependent[d]);
    // Storage tied by an ideal element adds nothing to the storage that determines it: the element draws its power from elsewhere.
    for (d, row) in couplings.iter().enumerate().filter(|entry| !is_tied(entry.0)) {
        for (column, _) in row.iter().filter(|entry| (entry.0 as usize) < known.storage) {
            followers.entry(*column).or_default().push(d);
        }
    }
    // A multi-port element is reported once, over everything that its ports depend on.
    let mut reports: Vec<DependentStorage> = Vec::new();
    let mut columns: Vec<Vec<u32>> = Vec::new();
    let mut done: FxHashMap<u32, usize> = FxHashMap::default();
    for (d, row) in couplings.iter().enumerate() {
        let element = model.graph.ports[dependent[d].index()].element;
        let position = *done.entry(element.0).or_insert_with(|| {
            reports.push(DependentStorage {
                element: model.element_name(element).into(),
                on: Vec::new(),
                equivalent: String::new(),
                unit: None,
            });
            columns.push(Vec::new());
            reports.len() - 1
        });
        let (report, equivalent_over) = (&mut reports[position], &mut columns[position]);
        for (column, _) in row.iter().filter(|entry| (entry.0 as usize) < known.storage) {
            let port = independent[*column as usize];
            let name: Arc<str> = model.element_name(model.graph.ports[port.index()].element).into();
            if !report.on.contains(&name) {
                report.on.push(name);
            }
            if !is_tied(d) && !equivalent_over.contains(column) {
                equivalent_over.push(*column);
            }
        }
    }
    // Many elements may depend on one: its equivalent is the same for all of them.
    let mut written: FxHashMap<(u32, u32), Option<String>> = FxHashMap::default();
    let mut entry = |i: u32, j: u32| {
        let entry = written.entry((i, j)).or_insert_with(|| {
            let entry = equivalent(model, field, independent, dependent, couplings, &followers, i, j);
            let id = present(exprs, field, &entry);
            (!exprs.is_written_beyond(id, LONGEST_WRITTEN)).then(|| lgm_algebra::expr::text(exprs, id))
        });
        entry.clone()
    };
    for (report, on) in reports.iter_mut().zip(&columns) {
        if on.is_empty() || on.len() > WRITTEN {
            continue;
        }
        let rows = on.iter().map(|i| on.iter().map(|j| entry(*i, *j)).collect());
        let Some(rows) = rows.collect::<Option<Vec<Vec<String>>>>() else {
            continue;
        };
        let mut units = on.iter().map(|column| unit(model, independent[*column as usize]));
        let first = units.next().flatten();
        report.unit = first.filter(|first| units.all(|other| other.as_ref() == Some(first)));
        report.equivalent = match &rows[..] {
            [row] => row.concat(),
            rows => {
                let rows: Vec<String> = rows.iter().map(|row| format!("[{}]", row.join(", "))).collect();
                format!("[{}]", rows.join(", "))
            }
        };
    }
    reports
}

/// Returns the unit of the storage parameter at a port: the unit of the rate that its law gives, divided by the unit of
/// the rate of its energy variable.
fn unit(model: &Model, port: PortId) -> Option<SiUnit> {
    let port = &model.graph.ports[port.index()];
    let domain = &model.graph.domains[port.domain?.index()];
    let Law::Storage { co_energy, .. } = &model.graph.elements[port.element.index()].law else {
        return None;
    };
    let is_across = domain.effort_is_across == (*co_energy == Variable::Effort);
    let (own, other) = (domain.dimension(is_across)?, domain.dimension(!is_across)?);
    Some(SiUnit::of(other.times(&Dimension::TIME)?.over(&own)?))
}

/// Returns one entry of `[I; S_di]' M [I; S_di]`.
#[allow(clippy::too_many_arguments)]
fn equivalent<F: Present>(
    model: &Model,
    field: &mut F,
    independent: &[PortId],
    dependent: &[PortId],
    couplings: &[Row<F::Element>],
    followers: &FxHashMap<u32, Vec<usize>>,
    i: u32,
    j: u32,
) -> F::Element {
    let gains = |field: &F, column: u32| -> FxHashMap<PortId, F::Element> {
        let mut gains = FxHashMap::default();
        gains.insert(independent[column as usize], field.one());
        for d in followers.get(&column).into_iter().flatten() {
            if let Ok(at) = couplings[*d].binary_search_by_key(&column, |entry| entry.0) {
                gains.insert(dependent[*d], couplings[*d][at].1.clone());
            }
        }
        gains
    };
    let (left, right) = (gains(field, i), gains(field, j));
    let mut ports: Vec<&PortId> = left.keys().collect();
    ports.sort_unstable();
    let mut sum = field.zero();
    for port in ports {
        let Ok(row) = storage_row(model, field, *port) else {
            continue;
        };
        for (other, value) in row {
            if let Some(gain) = right.get(&other) {
                let product = field.mul(&left[port], &value);
                let product = field.mul(&product, gain);
                sum = field.add(&sum, &product);
            }
        }
    }
    sum
}
