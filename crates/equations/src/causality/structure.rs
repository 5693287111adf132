//! The junction structure as linear equations over port variables.
//!
//! Junctions, bonds and couplers form `E e + F f = 0` over the ports. A bond between junctions of different kinds has
//! no variables of its own: its effort is the common effort of one end, its flow the common flow of the other. A
//! junction with a port borrows that port's variable, so few inner columns remain to be eliminated.

use crate::bond::{BondGraph, End};
use crate::causality::elimination::Row;
use lgm_algebra::Field;
use lgm_algebra::expr::ExprId;
use lgm_model::{JunctionKind, Law, Matrix, Measure, Model, PortId, Variable};
use rustc_hash::FxHashSet;

/// A column with a sign: a variable of the graph in terms of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Column.
    pub column: u32,
    /// True if it is negated.
    pub negative: bool,
}

impl Signed {
    fn times(self, sign: i8) -> Signed {
        Signed {
            column: self.column,
            negative: self.negative != (sign < 0),
        }
    }
}

/// A coefficient of the junction structure.
#[derive(Clone, Copy, Debug)]
pub enum Coefficient {
    /// 1, or -1 if negative.
    Unit(bool),
    /// An entry of a coupler's matrix, negated or not.
    Modulus(ExprId, bool),
}

/// The meaning of a row of the junction structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equation {
    /// The two ends of a bond between junctions of the same kind have the same common variable.
    Bond(u32),
    /// The non-common variables of a junction's bonds add up to zero.
    Junction(u32),
    /// A port has the common variable of its junction.
    Port(PortId),
    /// A coupler gives this variable of one of its ports.
    Coupler(PortId, Variable),
}

/// The equations of the junction structure.
///
/// Columns: port p has its effort at `2 p` and its flow at `2 p + 1`; inner columns follow. The rows are one per
/// junction, one more for each further port at a junction, and one for each port of a coupler.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Number of columns.
    pub columns: usize,
    /// Rows, with repeated columns if a bond returns to its own junction.
    pub rows: Vec<Vec<(u32, Coefficient)>>,
    /// The meaning of each row.
    pub equations: Vec<Equation>,
    /// The common variable of each junction.
    pub common: Vec<Signed>,
    /// The effort and the flow of each bond.
    pub bonds: Vec<(Signed, Signed)>,
    /// Columns that belong to no storage, dissipator or source.
    pub inner: Vec<u32>,
}

/// Returns the column of a port's variable.
pub fn port_column(port: PortId, variable: Variable) -> u32 {
    2 * port.0
        + match variable {
            Variable::Effort => 0,
            Variable::Flow => 1,
        }
}

/// Returns the port and variable of a port column.
pub fn column_port(column: u32) -> (PortId, Variable) {
    let variable = if column.is_multiple_of(2) {
        Variable::Effort
    } else {
        Variable::Flow
    };
    (PortId(column / 2), variable)
}

/// Returns the priority of a port's variable as the common variable of a junction: sources and storage that set it come first.
fn rank(law: &Law, variable: Variable) -> u8 {
    match law {
        Law::Source { given, .. } if *given == variable => 0,
        Law::Storage { co_energy, .. } if *co_energy == variable => 1,
        Law::Dissipator(_) | Law::Nonlinear(_) => 2,
        Law::Storage { .. } | Law::Source { .. } => 3,
        Law::Coupler { .. } => 4,
    }
}

/// Returns the port whose variable each junction borrows.
fn lenders(model: &Model, graph: &BondGraph) -> Vec<Option<PortId>> {
    let port_of = |bond: u32| {
        let bond = &graph.bonds[bond as usize];
        [bond.tail, bond.head].into_iter().find_map(|end| match end {
            End::Port(port) => Some(port),
            End::Junction(_) => None,
        })
    };
    graph
        .junctions
        .iter()
        .map(|junction| {
            junction
                .bonds
                .iter()
                .filter_map(|bond| port_of(*bond))
                .min_by_key(|port| {
                    let law = &model.graph.elements[model.graph.ports[port.index()].element.index()].law;
                    (rank(law, junction.kind.common()), port.0)
                })
        })
        .collect()
}

/// Writes the balance of each junction: the variables that its bonds do not share sum to zero.
fn junction_rows(
    graph: &BondGraph,
    bonds: &[(Signed, Signed)],
    rows: &mut Vec<Vec<(u32, Coefficient)>>,
    equations: &mut Vec<Equation>,
) {
    for (index, junction) in graph.junctions.iter().enumerate() {
        let mut row = Vec::with_capacity(junction.bonds.len());
        let mut left_by: FxHashSet<u32> = FxHashSet::default();
        for bond in &junction.bonds {
            let (effort, flow) = bonds[*bond as usize];
            let added = match junction.kind {
                JunctionKind::Zero => flow,
                JunctionKind::One => effort,
            };
            let ends = &graph.bonds[*bond as usize];
            let here = End::Junction(index as u32);
            // A bond from a junction to itself appears twice in its list: once outgoing, once incoming.
            let into = if ends.tail == here && ends.head == here {
                !left_by.insert(*bond)
            } else {
                ends.head == here
            };
            row.push((added.column, Coefficient::Unit(added.negative == into)));
        }
        rows.push(row);
        equations.push(Equation::Junction(index as u32));
    }
}

/// Builds the junction structure of a graph.
pub fn structure(model: &Model, graph: &BondGraph) -> Structure {
    let mut columns = 2 * model.graph.ports.len() as u32;
    let mut inner = Vec::new();
    for element in &model.graph.elements {
        if matches!(element.law, Law::Coupler { .. }) {
            inner.extend(2 * element.ports.start..2 * element.ports.end);
        }
    }
    let mut fresh = || {
        columns += 1;
        inner.push(columns - 1);
        Signed {
            column: columns - 1,
            negative: false,
        }
    };
    let sign_of = |port: PortId, variable: Variable| match variable {
        Variable::Effort => graph.ports[port.index()].effort_sign,
        Variable::Flow => graph.ports[port.index()].flow_sign,
    };
    let lender = lenders(model, graph);
    let common: Vec<Signed> = graph
        .junctions
        .iter()
        .zip(&lender)
        .map(|(junction, lender)| match lender {
            Some(port) => {
                let variable = junction.kind.common();
                Signed {
                    column: port_column(*port, variable),
                    negative: sign_of(*port, variable) < 0,
                }
            }
            None => fresh(),
        })
        .collect();
    let mut rows = Vec::new();
    let mut equations = Vec::new();
    let bonds = bond_variables(graph, &common, &sign_of, &mut fresh, &mut rows, &mut equations);
    junction_rows(graph, &bonds, &mut rows, &mut equations);
    for (index, side) in graph.ports.iter().enumerate() {
        let port = PortId(index as u32);
        let junction = side.junction as usize;
        if lender[junction] != Some(port) {
            let variable = graph.junctions[junction].kind.common();
            let there = common[junction].times(sign_of(port, variable));
            rows.push(vec![
                (port_column(port, variable), Coefficient::Unit(false)),
                (there.column, Coefficient::Unit(!there.negative)),
            ]);
            equations.push(Equation::Port(port));
        }
    }
    for element in &model.graph.elements {
        if let Law::Coupler { input, output, matrix } = &element.law {
            let ports: Vec<PortId> = element.ports.clone().map(PortId).collect();
            coupler_rows(&ports, *input, *output, matrix, &mut rows);
            let (x, y) = ports.split_at(matrix.columns);
            equations.extend(y.iter().map(|port| Equation::Coupler(*port, *output)));
            equations.extend(x.iter().map(|port| Equation::Coupler(*port, input.conjugate())));
        }
    }
    Structure {
        columns: columns as usize,
        rows,
        equations,
        common,
        bonds,
        inner,
    }
}

/// Expresses the effort and flow of every bond over the columns; a bond between junctions of the same kind adds a column and a row.
fn bond_variables(
    graph: &BondGraph,
    common: &[Signed],
    sign_of: &dyn Fn(PortId, Variable) -> i8,
    fresh: &mut dyn FnMut() -> Signed,
    rows: &mut Vec<Vec<(u32, Coefficient)>>,
    equations: &mut Vec<Equation>,
) -> Vec<(Signed, Signed)> {
    let mut bonds = Vec::with_capacity(graph.bonds.len());
    for (index, bond) in graph.bonds.iter().enumerate() {
        let variables = match (bond.tail, bond.head) {
            (End::Port(port), End::Junction(junction)) | (End::Junction(junction), End::Port(port)) => {
                let variable = graph.junctions[junction as usize].kind.common();
                let shared = common[junction as usize];
                let own = Signed {
                    column: port_column(port, variable.conjugate()),
                    negative: sign_of(port, variable.conjugate()) < 0,
                };
                match variable {
                    Variable::Effort => (shared, own),
                    Variable::Flow => (own, shared),
                }
            }
            (End::Junction(a), End::Junction(b)) => {
                let (kind_a, kind_b) = (graph.junctions[a as usize].kind, graph.junctions[b as usize].kind);
                let (common_a, common_b) = (common[a as usize], common[b as usize]);
                match (kind_a, kind_b) {
                    (JunctionKind::Zero, JunctionKind::One) => (common_a, common_b),
                    (JunctionKind::One, JunctionKind::Zero) => (common_b, common_a),
                    (JunctionKind::Zero, JunctionKind::Zero) => {
                        rows.push(difference(common_a, common_b));
                        equations.push(Equation::Bond(index as u32));
                        (common_a, fresh())
                    }
                    (JunctionKind::One, JunctionKind::One) => {
                        rows.push(difference(common_a, common_b));
                        equations.push(Equation::Bond(index as u32));
                        (fresh(), common_a)
                    }
                }
            }
            (End::Port(_), End::Port(_)) => unreachable!("invariant: lowering puts a junction between two ports"),
        };
        bonds.push(variables);
    }
    bonds
}

fn difference(a: Signed, b: Signed) -> Vec<(u32, Coefficient)> {
    vec![
        (a.column, Coefficient::Unit(a.negative)),
        (b.column, Coefficient::Unit(!b.negative)),
    ]
}

/// Adds the rows of couplers, `y = M x`, `conj(x) = -M' conj(y)`; see [`Law::Coupler`].
fn coupler_rows(
    ports: &[PortId],
    input: Variable,
    output: Variable,
    matrix: &Matrix,
    rows: &mut Vec<Vec<(u32, Coefficient)>>,
) {
    let (x, y) = ports.split_at(matrix.columns);
    for (row, port) in y.iter().enumerate() {
        let mut entries = vec![(port_column(*port, output), Coefficient::Unit(false))];
        for (column, from) in x.iter().enumerate() {
            entries.push((
                port_column(*from, input),
                Coefficient::Modulus(matrix.get(row, column), true),
            ));
        }
        rows.push(entries);
    }
    for (column, port) in x.iter().enumerate() {
        let mut entries = vec![(port_column(*port, input.conjugate()), Coefficient::Unit(false))];
        for (row, to) in y.iter().enumerate() {
            entries.push((
                port_column(*to, output.conjugate()),
                Coefficient::Modulus(matrix.get(row, column), false),
            ));
        }
        rows.push(entries);
    }
}

impl Structure {
    /// Returns the rows in the numbers of a field: sorted, repeated columns added up, zeros dropped.
    pub fn rows_in<F: Field, X>(
        &self,
        field: &mut F,
        mut modulus: impl FnMut(&mut F, ExprId) -> Result<F::Element, X>,
    ) -> Result<Vec<Row<F::Element>>, X> {
        let (one, minus) = (field.one(), {
            let one = field.one();
            field.neg(&one)
        });
        let mut rows = Vec::with_capacity(self.rows.len());
        for sparse in &self.rows {
            let mut row: Row<F::Element> = Vec::with_capacity(sparse.len());
            for (column, coefficient) in sparse {
                let value = match coefficient {
                    Coefficient::Unit(false) => one.clone(),
                    Coefficient::Unit(true) => minus.clone(),
                    Coefficient::Modulus(id, negative) => {
                        let value = modulus(field, *id)?;
                        if *negative { field.neg(&value) } else { value }
                    }
                };
                row.push((*column, value));
            }
            row.sort_by_key(|entry| entry.0);
            let mut merged: Row<F::Element> = Vec::with_capacity(row.len());
            for (column, value) in row {
                match merged.last_mut() {
                    Some(last) if last.0 == column => last.1 = field.add(&last.1, &value),
                    _ => merged.push((column, value)),
                }
            }
            merged.retain(|entry| !field.is_zero(&entry.1));
            rows.push(merged);
        }
        Ok(rows)
    }
}

/// Returns the column of each measured variable, with its sign.
pub fn measure_columns(model: &Model, graph: &BondGraph, structure: &Structure) -> Vec<Signed> {
    let plain = |column| Signed {
        column,
        negative: false,
    };
    model
        .measures
        .iter()
        .map(|(_, measure)| match measure {
            Measure::PortEffort(port) => plain(port_column(*port, Variable::Effort)),
            Measure::PortFlow(port) => plain(port_column(*port, Variable::Flow)),
            Measure::Common(node) => structure.common[graph.node_junctions[node.index()] as usize],
            Measure::BondEffort(bond) => structure.bonds[graph.drawn[bond.index()] as usize].0,
            Measure::BondFlow(bond) => structure.bonds[graph.drawn[bond.index()] as usize].1,
        })
        .collect()
}
