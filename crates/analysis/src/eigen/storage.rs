//! The energy of storage elements in a mode.

use crate::eigen::rounding::ROUNDING;
use lgm_algebra::expr::{SymbolId, SymbolKind, to_f64};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_model::{ElementId, Law, Measure, Model, Output, PortId, StorageForm, Variable};
use nalgebra::{DMatrix, DVector};
use num_complex::Complex;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The energy of an element as a function of its port variables.
#[derive(Clone, Debug)]
enum Energy {
    /// `z' value z/2`, from the co-energy variables z.
    Direct(DMatrix<f64>),
    /// `z' value^-1 z/2`
    Inverse(DMatrix<f64>),
    /// From z and its conjugate w, the rate of the law's value at z, for a nonlinear law.
    FromRate,
}

/// A storage element and the outputs added for it.
#[derive(Clone, Debug)]
pub struct StorageOutputs {
    pub(crate) id: ElementId,
    element: Arc<str>,
    energy: Energy,
    /// The index of its first output: all co-energy variables, then their conjugates if needed.
    pub(crate) first: usize,
    pub(crate) ports: usize,
}

/// Returns the model with the co-energy variables of all storage as further outputs.
pub fn with_storage_outputs(model: &Model) -> (Model, Vec<StorageOutputs>) {
    let mut changed = model.clone();
    let values: FxHashMap<SymbolId, f64> = model
        .parameters
        .iter()
        .flat_map(|parameter| &parameter.entries)
        .map(|entry| (entry.symbol, to_f64(&entry.value)))
        .collect();
    let mut known: FxHashMap<Measure, SymbolId> = model
        .measures
        .iter()
        .map(|(symbol, measure)| (*measure, *symbol))
        .collect();
    let mut found = Vec::new();
    for (index, element) in model.graph.elements.iter().enumerate() {
        let ports: Vec<PortId> = element.ports.clone().map(PortId).collect();
        let first = changed.outputs.len();
        let (variables, energy): (Vec<Variable>, Energy) = match &element.law {
            Law::Storage { co_energy, value, form } => {
                let entries = model
                    .exprs
                    .evaluate_unchecked(&value.entries, &|symbol| values.get(&symbol).copied());
                let matrix = DMatrix::from_row_slice(value.rows, value.columns, &entries);
                let energy = match form {
                    StorageForm::Direct => Energy::Direct(matrix),
                    StorageForm::Inverse => Energy::Inverse(matrix),
                };
                (vec![*co_energy; ports.len()], energy)
            }
            Law::Nonlinear(law) if law.storage.iter().all(Option::is_some) && !law.storage.is_empty() => {
                let variables = law.storage.iter().flatten().map(|port| port.0);
                (variables.collect(), Energy::FromRate)
            }
            _ => continue,
        };
        let id = ElementId(index as u32);
        if element.is_velocity() {
            continue;
        }
        for (port, variable) in ports.iter().zip(&variables) {
            add(&mut changed, &mut known, (*port, *variable), id);
        }
        if matches!(energy, Energy::FromRate) {
            for (port, variable) in ports.iter().zip(&variables) {
                add(&mut changed, &mut known, (*port, variable.conjugate()), id);
            }
        }
        found.push(StorageOutputs {
            id,
            element: model.element_name(id).into(),
            energy,
            first,
            ports: ports.len(),
        });
    }
    (changed, found)
}

/// Adds an output that measures a variable of a port.
fn add(
    model: &mut Model,
    known: &mut FxHashMap<Measure, SymbolId>,
    (port, variable): (PortId, Variable),
    element: lgm_model::ElementId,
) {
    let measure = match variable {
        Variable::Effort => Measure::PortEffort(port),
        Variable::Flow => Measure::PortFlow(port),
    };
    let symbol = *known.entry(measure).or_insert_with(|| {
        let symbol = model.exprs.new_symbol(format!("port {}", port.0), SymbolKind::Measure);
        model.measures.push((symbol, measure));
        symbol
    });
    let value = model.exprs.symbol(symbol);
    let name: Arc<str> = format!("storage {}", model.outputs.len()).into();
    model.outputs.push(Output {
        written: name.clone(),
        name,
        value,
        unit: None,
        span: model.element_span(element),
    });
}

/// Returns P of the stored energy `x' P x/2` over the states; `None` if storage has a nonlinear law.
pub(crate) fn energy_matrix(form: &LinearForm<f64>, storage: &[StorageOutputs]) -> Option<SparseMatrix<f64>> {
    let size = form.a.rows.len();
    let mut rows: Vec<FxHashMap<u32, f64>> = vec![FxHashMap::default(); size];
    for each in storage {
        let values = match &each.energy {
            Energy::Direct(matrix) => matrix.clone(),
            Energy::Inverse(matrix) => matrix.clone().try_inverse()?,
            Energy::FromRate => return None,
        };
        let outputs = &form.c.rows[each.first..each.first + each.ports];
        for (a, left) in outputs.iter().enumerate() {
            for (b, right) in outputs.iter().enumerate().filter(|(b, _)| values[(a, *b)] != 0.0) {
                for (row, factor) in left {
                    for (column, other) in right {
                        *rows[*row as usize].entry(*column).or_insert(0.0) += factor * values[(a, b)] * other;
                    }
                }
            }
        }
    }
    let sorted = |row: FxHashMap<u32, f64>| {
        let mut list: Vec<(u32, f64)> = row.into_iter().collect();
        list.sort_unstable_by_key(|entry| entry.0);
        list
    };
    Some(SparseMatrix {
        columns: size,
        rows: rows.into_iter().map(sorted).collect(),
    })
}

/// Returns the fraction of the stored energy in each storage element, averaged over a period; elements with the same name are added up.
/// Empty if the mode stores no energy, or if storage has a nonlinear law and the motion has no rate.
pub(crate) fn shares(
    system: &StateSystem,
    storage: &[StorageOutputs],
    pole: Complex<f64>,
    shape: &DVector<Complex<f64>>,
) -> Vec<(Arc<str>, f64)> {
    let Some(form) = &system.matrices.numeric else {
        return Vec::new();
    };
    let value = |output: usize| -> Complex<f64> {
        let row = form.c.rows[output].iter();
        let terms = row.map(|(state, factor)| shape[*state as usize] * *factor);
        let (mut sum, mut size) = (Complex::default(), 0.0);
        for term in terms {
            sum += term;
            size += term.norm();
        }
        match sum.norm() <= ROUNDING * size {
            true => Complex::default(),
            false => sum,
        }
    };
    let mut shares: Vec<(Arc<str>, f64)> = Vec::new();
    for each in storage {
        let z = DVector::from_fn(each.ports, |port, _| value(each.first + port));
        let complex = |matrix: &DMatrix<f64>| matrix.map(|entry| Complex::new(entry, 0.0));
        let energy = match &each.energy {
            Energy::Direct(matrix) => z.dotc(&(complex(matrix) * &z)).re,
            Energy::Inverse(matrix) => match complex(matrix).lu().solve(&z) {
                Some(solved) => z.dotc(&solved).re,
                None => return Vec::new(),
            },
            Energy::FromRate if pole.norm() == 0.0 => return Vec::new(),
            Energy::FromRate => {
                let w = DVector::from_fn(each.ports, |port, _| value(each.first + each.ports + port));
                (z.dotc(&w) / pole).re
            }
        };
        match shares.iter_mut().find(|known| known.0 == each.element) {
            Some(known) => known.1 += energy,
            None => shares.push((each.element.clone(), energy)),
        }
    }
    let total: f64 = shares.iter().map(|share| share.1).sum();
    if !(total.is_finite() && total > 0.0) {
        return Vec::new();
    }
    shares.iter_mut().for_each(|share| share.1 /= total);
    shares
}
