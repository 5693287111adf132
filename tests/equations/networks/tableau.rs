//! The reference: every junction and every element equation in one sparse pencil over all variables.

use super::eliminate::{Row, System, tidy};
use super::network::{Change, Connection, Domain, JunctionKind, Law, Linear, Network, Slot, Term};
use super::scalar::{Complex, Prime, Scalar};

/// Columns of the unknowns.
struct Columns {
    /// First column of each junction's common variables.
    junctions: Vec<usize>,
    /// First column of each port: its first variables, then its second ones.
    ports: Vec<Vec<usize>>,
    /// First column of each bond: efforts, then flows.
    bonds: Vec<usize>,
    /// Column of each integral.
    integrals: Vec<usize>,
    /// Number of unknowns.
    count: usize,
}

fn columns(network: &Network) -> Columns {
    let mut count = 0;
    let mut take = |width: usize| {
        count += width;
        count - width
    };
    let junctions = network
        .junctions
        .iter()
        .map(|junction| take(junction.width.unwrap_or(1)))
        .collect();
    let ports = (0..network.elements.len())
        .map(|element| {
            let ports = network.elements[element].ports.len();
            (0..ports)
                .map(|port| take(2 * network.port_width(element, port)))
                .collect()
        })
        .collect();
    let bonds = network
        .bonds
        .iter()
        .map(|bond| take(2 * network.width(bond.tail)))
        .collect();
    let integrals = network.integrals.iter().map(|_| take(1)).collect();
    Columns {
        junctions,
        ports,
        bonds,
        integrals,
        count,
    }
}

/// Column of a term, if it is an unknown.
fn column(network: &Network, columns: &Columns, term: Term) -> usize {
    match term {
        Term::Input(input) => columns.count + input,
        Term::First(element, port, entry) => columns.ports[element][port] + entry,
        Term::Second(element, port, entry) => columns.ports[element][port] + network.port_width(element, port) + entry,
        Term::Common(junction, entry) => columns.junctions[junction] + entry,
        Term::Integral(integral) => columns.integrals[integral],
    }
}

/// One end of a bond at a junction: the columns of its effort and flow, and whether power leaves the junction.
struct End {
    slot: Slot,
    effort: usize,
    flow: usize,
    width: usize,
    leaves: bool,
}

/// All equations at one value of s. Inputs are on the right side.
pub fn tableau<T: Scalar>(network: &Network, s: T) -> System<T> {
    let columns = columns(network);
    let one = T::one();
    let minus = one.neg();
    let mut rows: Vec<Row<T>> = Vec::new();

    // A linear combination moved to the left side: inputs stay on the right, so their sign changes again.
    let moved = |linear: &Linear, row: &mut Row<T>| {
        for (factor, term) in linear {
            let factor: T = factor.to();
            let factor = if matches!(term, Term::Input(_)) {
                factor
            } else {
                factor.neg()
            };
            row.push((column(network, &columns, *term), factor));
        }
    };

    let mut balances: Vec<Vec<Row<T>>> = network
        .junctions
        .iter()
        .map(|junction| vec![Vec::new(); junction.width.unwrap_or(1)])
        .collect();
    let mut ends: Vec<End> = Vec::new();
    for (index, bond) in network.bonds.iter().enumerate() {
        let width = network.width(bond.tail);
        let effort = columns.bonds[index];
        for (slot, leaves) in [(bond.tail, true), (bond.head, false)] {
            ends.push(End {
                slot,
                effort,
                flow: effort + width,
                width,
                leaves,
            });
        }
    }

    for (index, element) in network.elements.iter().enumerate() {
        for (port, connection) in element.ports.iter().enumerate() {
            let width = network.port_width(index, port);
            let first = columns.ports[index][port];
            match *connection {
                Connection::Bond(slot) => {
                    let leaves = match element.law {
                        Law::Se | Law::Sf => false,
                        Law::Tf | Law::Gy => port == 0,
                        _ => true,
                    };
                    ends.push(End {
                        slot,
                        effort: first,
                        flow: first + width,
                        width,
                        leaves,
                    });
                }
                Connection::Branch { from, to } => {
                    for entry in 0..width {
                        let mut drop: Row<T> = vec![(first + entry, one)];
                        for (terminal, sign) in [(from, one), (to, minus)] {
                            let Some(slot) = terminal else { continue };
                            let place = slot.entry.unwrap_or(entry);
                            drop.push((columns.junctions[slot.junction] + place, sign.neg()));
                            balances[slot.junction][place].push((first + width + entry, sign));
                        }
                        rows.push(drop);
                    }
                }
            }
        }
        let width = network.port_width(index, 0);
        let x = columns.ports[index][0];
        let y = x + width;
        // `a_of - factor * M b_of = 0`, or with `factor` on the left for a stiffness.
        let mut law = |left: usize,
                       left_factor: T,
                       right: usize,
                       right_factor: T,
                       rows_of: usize,
                       columns_of: usize,
                       transposed: bool| {
            for i in 0..rows_of {
                let mut row: Row<T> = vec![(left + i, left_factor)];
                for k in 0..columns_of {
                    let value = if transposed {
                        element.matrix.entry::<T>(k, i)
                    } else {
                        element.matrix.entry::<T>(i, k)
                    };
                    row.push((right + k, right_factor.mul(value)));
                }
                rows.push(row);
            }
        };
        match element.law {
            Law::AType => law(y, one, x, s.neg(), width, width, false),
            Law::TType | Law::BondI => law(x, one, y, s.neg(), width, width, false),
            Law::BondC => law(y, one, x, s.neg(), width, width, false),
            Law::Stiffness => law(y, s, x, minus, width, width, false),
            Law::Resistance | Law::BondR => law(x, one, y, minus, width, width, false),
            Law::Conductance => law(y, one, x, minus, width, width, false),
            Law::AcrossSource | Law::Se | Law::ThroughSource | Law::Sf => {
                let given = if matches!(element.law, Law::AcrossSource | Law::Se) {
                    x
                } else {
                    y
                };
                for (entry, signal) in element.signals.iter().enumerate() {
                    let mut row = vec![(given + entry, one)];
                    moved(signal, &mut row);
                    rows.push(row);
                }
            }
            Law::Transformer | Law::Gyrator | Law::Tf | Law::Gy => {
                let other = network.port_width(index, 1);
                let x2 = columns.ports[index][1];
                let y2 = x2 + other;
                match element.law {
                    Law::Transformer => {
                        law(x2, one, x, minus, other, width, false);
                        law(y, one, y2, one, width, other, true);
                    }
                    Law::Gyrator => {
                        law(x2, one, y, minus, other, width, false);
                        law(x, one, y2, one, width, other, true);
                    }
                    Law::Tf => {
                        law(x, one, x2, minus, width, other, false);
                        law(y2, one, y, minus, other, width, true);
                    }
                    _ => {
                        law(x, one, y2, minus, width, other, false);
                        law(x2, one, y, minus, other, width, true);
                    }
                }
            }
        }
    }

    for end in &ends {
        let junction = &network.junctions[end.slot.junction];
        let effort_is_common = match junction.kind {
            JunctionKind::Zero => true,
            JunctionKind::One => false,
            JunctionKind::Node => junction.domain.is_some_and(Domain::effort_is_across),
        };
        let (common, summed) = if effort_is_common {
            (end.effort, end.flow)
        } else {
            (end.flow, end.effort)
        };
        for entry in 0..end.width {
            let place = end.slot.entry.unwrap_or(entry);
            rows.push(vec![
                (common + entry, one),
                (columns.junctions[end.slot.junction] + place, minus),
            ]);
            balances[end.slot.junction][place].push((summed + entry, if end.leaves { one } else { minus }));
        }
    }
    rows.extend(balances.into_iter().flatten());
    for (index, rate) in network.integrals.iter().enumerate() {
        let mut row = vec![(columns.integrals[index], s)];
        moved(rate, &mut row);
        rows.push(row);
    }
    System {
        rows: rows.into_iter().map(tidy).collect(),
        unknowns: columns.count,
        right_sides: network.inputs,
    }
}

/// Output rows over unknowns and inputs at one value of s.
fn output_rows<T: Scalar>(network: &Network, s: T) -> Vec<Row<T>> {
    let columns = columns(network);
    let row = |output: &super::network::Output| {
        let factor = match output.change {
            Change::Value => T::one(),
            Change::Derivative => s,
            Change::Integral => T::one().div(s),
        };
        let terms = output.value.iter();
        tidy(
            terms
                .map(|(value, term)| (column(network, &columns, *term), value.to::<T>().mul(factor)))
                .collect(),
        )
    };
    network.outputs.iter().map(row).collect()
}

/// Values of the outputs, `[output][input]`, given a solution.
fn output_values<T: Scalar>(network: &Network, s: T, unknowns: usize, solution: &[Vec<T>]) -> Vec<Vec<T>> {
    let value = |row: &Row<T>, input: usize| {
        row.iter().fold(T::zero(), |sum, (column, factor)| {
            let value = if *column < unknowns {
                solution[input][*column]
            } else if *column == unknowns + input {
                T::one()
            } else {
                T::zero()
            };
            sum.add(factor.mul(value))
        })
    };
    let rows = output_rows(network, s);
    rows.iter()
        .map(|row| (0..network.inputs).map(|input| value(row, input)).collect())
        .collect()
}

/// The frequency response, `[output][input]`.
pub fn response(network: &Network, omega: f64) -> Option<Vec<Vec<Complex>>> {
    let s = Complex::new(0.0, omega);
    let system = tableau(network, s);
    let solution = system.solve()?;
    Some(output_values(network, s, system.unknowns, &solution))
}

/// The classification of a network, determined exactly.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// A unique solution for every input.
    WellPosed {
        /// The degree of the determinant of the pencil: the number of finite modes.
        order: usize,
        /// The largest growth of an output with frequency: 1 needs u', 2 needs u''.
        growth: i64,
    },
    /// No solution for some input, or an undetermined output.
    IllPosed,
    /// All outputs are determined, but some other variable is not (such as in two equal parallel transformers).
    Loose,
}

/// The degree of the polynomial of least degree through points; none for the zero polynomial.
fn degree(points: &[Prime], values: &[Prime]) -> Option<usize> {
    // Newton's divided differences: the last nonzero coefficient belongs to the highest power.
    let mut table = values.to_vec();
    for step in 1..points.len() {
        for at in (step..points.len()).rev() {
            table[at] = table[at].sub(table[at - 1]).div(points[at].sub(points[at - step]));
        }
    }
    table.iter().rposition(|value| !value.is_zero())
}

/// Classifies a network by arithmetic modulo a prime, at more points than the determinant's degree in s.
pub fn verdict(network: &Network) -> Verdict {
    // Numerators are multiplied by s, so that those of integrals are polynomials too; those of derivatives then exceed
    // the degree of the pencil by two.
    let count = network.storage() + 3;
    let points: Vec<Prime> = (0..count).map(|at| Prime(1_000_003).power(at as u64 + 7)).collect();
    let mut determinants = Vec::new();
    let mut numerators = vec![vec![Vec::new(); network.inputs]; network.outputs.len()];
    for &s in &points {
        let system = tableau(network, s);
        let elimination = system.eliminate();
        let Some(solution) = elimination.substitute() else {
            return singular(network, &system, s);
        };
        determinants.push(elimination.determinant);
        let values = output_values(network, s, system.unknowns, &solution);
        for (row, values) in numerators.iter_mut().zip(values) {
            for (list, value) in row.iter_mut().zip(values) {
                list.push(value.mul(elimination.determinant).mul(s));
            }
        }
    }
    let order = degree(&points, &determinants).expect("a determinant that is not 0 at some point has a degree");
    let growth = numerators
        .iter()
        .flatten()
        .filter_map(|values| degree(&points, values))
        .max();
    Verdict::WellPosed {
        order,
        growth: growth.map_or(0, |growth| growth as i64 - 1 - order as i64),
    }
}

/// The classification of a network with a singular pencil.
fn singular(network: &Network, system: &System<Prime>, s: Prime) -> Verdict {
    let elimination = system.eliminate();
    if elimination.inconsistent {
        return Verdict::IllPosed;
    }
    let mut extended = system.clone();
    for row in output_rows(network, s) {
        extended
            .rows
            .push(row.into_iter().filter(|entry| entry.0 < system.unknowns).collect());
    }
    extended.right_sides = 0;
    for row in &mut extended.rows {
        row.retain(|entry| entry.0 < system.unknowns);
    }
    if extended.rank() > elimination.rank {
        Verdict::IllPosed
    } else {
        Verdict::Loose
    }
}
