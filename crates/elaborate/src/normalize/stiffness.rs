//! A positive semidefinite stiffness of rank r has r states (language 9, "Matrices").
//!
//! With R the indices of r independent rows, `K = B K_RR B'` where `B = K_{:,R} K_RR^-1`. The field therefore becomes an r-port stiffness
//! K_RR after a coupler: the across variables reach it through B', and its through variables return through B. The states keep their names,
//! the entries R of the field's through variable.

use lgm_algebra::expr::ExprId;
use lgm_algebra::{ExactValues, Field, FromExpression, RationalFunctions, solve};
use lgm_model::{
    Bond, BondEnd, BondId, Connection, Element, ElementId, Law, Matrix, Measure, Model, Port, PortId, StorageForm,
    Variable,
};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_rational::BigRational;
use num_traits::{Signed, Zero};
use std::sync::Arc;

/// Replaces every stiffness field whose rank, at the given values, is below its width.
pub(crate) fn split_singular_stiffness(model: &mut Model) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut parts = Vec::new();
    for (index, element) in model.graph.elements.iter().enumerate() {
        let Law::Storage {
            value,
            form: StorageForm::Inverse,
            ..
        } = &element.law
        else {
            continue;
        };
        if value.rows < 2 {
            continue;
        }
        let Some(kept) = independent_rows(model, value) else {
            continue;
        };
        if kept.len() == value.rows {
            continue;
        }
        if kept.is_empty() {
            diagnostics.push(
                Diagnostic::error(
                    Code::LGM0426,
                    format!(
                        "the stiffness of `{}` is zero",
                        model.element_name(ElementId(index as u32))
                    ),
                )
                .label(element.law_span, "every entry of this matrix is zero")
                .help("remove the element: a spring without stiffness transmits nothing"),
            );
            continue;
        }
        parts.push((index, kept));
    }
    for (index, kept) in parts.iter().rev() {
        split(model, *index, kept);
    }
    diagnostics
}

/// Returns the indices of independent rows, found by pivots on the diagonal, largest first, which a semidefinite matrix always has. None if
/// a value cannot be computed, or has too many digits; reduction reports that.
fn independent_rows(model: &Model, value: &Matrix) -> Option<Vec<usize>> {
    let values = model
        .parameters
        .iter()
        .flat_map(|parameter| &parameter.entries)
        .map(|entry| (entry.symbol, entry.value.clone()))
        .collect();
    let mut field = ExactValues::new(values);
    let n = value.rows;
    let mut matrix: Vec<Vec<BigRational>> = Vec::with_capacity(n);
    for row in 0..n {
        let mut entries = Vec::with_capacity(n);
        for column in 0..n {
            entries.push(field.from_expression(&model.exprs, value.get(row, column)).ok()?);
        }
        matrix.push(entries);
    }
    let mut left: Vec<usize> = (0..n).collect();
    let mut kept = Vec::new();
    while let Some(position) = (0..left.len()).max_by(|a, b| {
        let size = |at: usize| matrix[left[at]][left[at]].abs();
        size(*a).cmp(&size(*b)).then(b.cmp(a))
    }) {
        let pivot = left[position];
        if matrix[pivot][pivot].is_zero() {
            break;
        }
        left.remove(position);
        kept.push(pivot);
        for &row in &left {
            let factor = field.div(&matrix[row][pivot], &matrix[pivot][pivot]);
            for &column in &left {
                let change = field.mul(&factor, &matrix[pivot][column]);
                matrix[row][column] = field.sub(&matrix[row][column], &change);
            }
        }
    }
    kept.sort_unstable();
    Some(kept).filter(|_| !field.exhausted())
}

/// Moves the field's ports to a coupler and leaves the kept ones as ports of the storage after it.
fn split(model: &mut Model, index: usize, kept: &[usize]) {
    let element = model.graph.elements[index].clone();
    let Law::Storage { co_energy, value, .. } = &element.law else {
        unreachable!("invariant: only stiffness fields are split")
    };
    let conjugate = co_energy.conjugate();
    let Some(spread) = spread_matrix(model, value, kept) else {
        return;
    };
    let r = kept.len();
    let coupler = ElementId(model.graph.elements.len() as u32);
    let matrix = coupler_matrix(model, &spread, conjugate, r);
    let first_outer = model.graph.ports.len() as u32;
    for port in element.ports.clone() {
        let port = Port {
            element: coupler,
            ..model.graph.ports[port as usize].clone()
        };
        model.graph.ports.push(port);
    }
    let first_inner = model.graph.ports.len() as u32;
    let first_storage = first_inner + r as u32;
    inner_ports(model, coupler, &element, kept, (first_inner, first_storage));
    let stiffness = Matrix {
        rows: r,
        columns: r,
        entries: kept
            .iter()
            .flat_map(|row| kept.iter().map(|column| value.get(*row, *column)))
            .collect(),
    };
    let old = element.ports.clone();
    model.graph.elements.push(Element {
        law: Law::Coupler {
            input: conjugate,
            output: conjugate,
            matrix,
        },
        ports: first_outer..first_storage,
        start: Vec::new(),
        start_span: None,
        nominal: Vec::new(),
        ..element.clone()
    });
    let of_kept = |given: &[Option<ExprId>]| match given.is_empty() {
        true => Vec::new(),
        false => kept.iter().map(|entry| given[*entry]).collect(),
    };
    let (start, nominal) = (of_kept(&element.start), of_kept(&element.nominal));
    model.graph.elements[index] = Element {
        law: Law::Storage {
            co_energy: *co_energy,
            value: stiffness,
            form: StorageForm::Inverse,
        },
        ports: first_storage..first_storage + r as u32,
        start,
        nominal,
        ..element.clone()
    };
    retarget(model, old, first_outer);
}

/// Returns the matrix of the coupler: x is the conjugate at the n outer ports, y the conjugate at the r inner ports. An inner bond keeps
/// the effort and reverses the flow, so y is minus the storage's variable if that is a flow.
fn coupler_matrix(model: &mut Model, spread: &[Vec<ExprId>], conjugate: Variable, r: usize) -> Matrix {
    let mut matrix = Matrix {
        rows: r,
        columns: spread.len(),
        entries: Vec::with_capacity(spread.len() * r),
    };
    for inner in 0..r {
        for outer in spread {
            let entry = outer[inner];
            let entry = if conjugate == Variable::Flow {
                model.exprs.neg(entry)
            } else {
                entry
            };
            matrix.entries.push(entry);
        }
    }
    matrix
}

/// Adds the inner ports of the coupler, their bonds, and the ports of the storage at the other ends, given the first indices of both kinds
/// of ports.
fn inner_ports(
    model: &mut Model,
    coupler: ElementId,
    element: &Element,
    kept: &[usize],
    (first_inner, first_storage): (u32, u32),
) {
    let r = kept.len();
    for (k, &entry) in kept.iter().enumerate() {
        let bond = BondId(model.graph.bonds.len() as u32);
        let original = model.graph.ports[element.ports.start as usize + entry].clone();
        model.graph.bonds.push(Bond {
            tail: BondEnd::Port(PortId(first_inner + k as u32)),
            head: BondEnd::Port(PortId(first_storage + k as u32)),
            span: element.law_span,
        });
        model.graph.ports.push(Port {
            element: coupler,
            name: Some(Arc::from("inner")),
            connection: Connection::Bond(bond),
            ..original
        });
    }
    for (k, &entry) in kept.iter().enumerate() {
        let original = model.graph.ports[element.ports.start as usize + entry].clone();
        let bond = BondId((model.graph.bonds.len() - r + k) as u32);
        model.graph.ports.push(Port {
            connection: Connection::Bond(bond),
            ..original
        });
    }
}

/// Returns `B = K_{:,R} K_RR^-1`, n rows of r entries; none if the generic matrix cannot be inverted, which reduction reports.
fn spread_matrix(model: &mut Model, value: &Matrix, kept: &[usize]) -> Option<Vec<Vec<ExprId>>> {
    let mut field = RationalFunctions::default();
    let mut read = |row: usize, column: usize| field.from_expression(&model.exprs, value.get(row, column)).ok();
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for &row in kept {
        let mut entries = Vec::new();
        for (k, &column) in kept.iter().enumerate() {
            entries.push((k as u32, read(row, column)?));
        }
        let mut all = Vec::new();
        for column in 0..value.columns {
            all.push((column as u32, read(row, column)?));
        }
        matrix.push(entries);
        right.push(all);
    }
    // K_RR X = K_{R,:}, X = B' because K is symmetric.
    let solution = solve(&mut field, matrix, right).ok()?;
    if field.exhausted() {
        return None;
    }
    let zero = model.exprs.zero();
    let mut spread = vec![vec![zero; kept.len()]; value.rows];
    for (k, row) in solution.iter().enumerate() {
        for (column, entry) in row {
            spread[*column as usize][k] = field.to_expression(&mut model.exprs, entry);
        }
    }
    Some(spread)
}

/// Removes the old ports and redirects all references to the coupler's outer ports.
fn retarget(model: &mut Model, old: std::ops::Range<u32>, first_outer: u32) {
    let count = old.end - old.start;
    let new = |port: PortId| {
        let moved = if old.contains(&port.0) {
            port.0 - old.start + first_outer
        } else {
            port.0
        };
        PortId(if moved >= old.end { moved - count } else { moved })
    };
    model.graph.ports.drain(old.start as usize..old.end as usize);
    for element in &mut model.graph.elements {
        if element.ports.start >= old.end {
            element.ports = element.ports.start - count..element.ports.end - count;
        }
    }
    for (_, measure) in &mut model.measures {
        match measure {
            Measure::PortEffort(port) | Measure::PortFlow(port) => *port = new(*port),
            Measure::Common(_) | Measure::BondEffort(_) | Measure::BondFlow(_) => {}
        }
    }
    for bond in &mut model.graph.bonds {
        for end in [&mut bond.tail, &mut bond.head] {
            if let BondEnd::Port(port) = end {
                *port = new(*port);
            }
        }
    }
}
