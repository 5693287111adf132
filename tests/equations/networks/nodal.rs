//! A second reference for scalar linear graphs: modified nodal analysis, to check the tableau.

use super::eliminate::{Row, System, tidy};
use super::network::{Connection, Law, Network, Slot, Term};
use super::scalar::{Complex, Scalar};

/// The frequency response of outputs that are single node potentials, `[output][input]`.
pub fn node_response(network: &Network, omega: f64) -> Option<Vec<Vec<Complex>>> {
    let s = Complex::new(0.0, omega);
    let nodes = network.junctions.len();
    let needs_current = |law: Law| matches!(law, Law::AcrossSource | Law::Transformer);
    let extra: Vec<usize> = (0..network.elements.len())
        .filter(|&index| needs_current(network.elements[index].law))
        .collect();
    let unknowns = nodes + extra.len();
    // Rows of nodes are sums of outgoing through variables.
    let mut rows: Vec<Row<Complex>> = vec![Vec::new(); unknowns];
    let sign = |positive: bool| if positive { Complex::one() } else { Complex::one().neg() };
    for (index, element) in network.elements.iter().enumerate() {
        let ends: Vec<[(Option<Slot>, bool); 2]> = element
            .ports
            .iter()
            .map(|port| match *port {
                Connection::Branch { from, to } => [(from, true), (to, false)],
                Connection::Bond(_) => panic!("only branches here"),
            })
            .collect();
        let value: Complex = element.matrix.entry(0, 0);
        // Adds `factor * (across of one port)` to the balances at the ends of another.
        let mut admit = |of: usize, on: usize, factor: Complex| {
            for (at, leaves) in ends[on] {
                let Some(at) = at else { continue };
                for (potential, plus) in ends[of] {
                    let Some(potential) = potential else { continue };
                    rows[at.junction].push((potential.junction, factor.mul(sign(leaves == plus))));
                }
            }
        };
        let one = Complex::one();
        match element.law {
            Law::AType => admit(0, 0, s.mul(value)),
            Law::TType => admit(0, 0, one.div(s.mul(value))),
            Law::Stiffness => admit(0, 0, value.div(s)),
            Law::Resistance => admit(0, 0, one.div(value)),
            Law::Conductance => admit(0, 0, value),
            Law::Gyrator => {
                admit(1, 0, one.div(value));
                admit(0, 1, one.div(value).neg());
            }
            Law::ThroughSource => {
                for (factor, term) in &element.signals[0] {
                    let Term::Input(input) = *term else {
                        panic!("independent sources here")
                    };
                    for (at, leaves) in ends[0] {
                        let Some(at) = at else { continue };
                        let factor: Complex = factor.to();
                        rows[at.junction].push((unknowns + input, factor.mul(sign(!leaves))));
                    }
                }
            }
            Law::AcrossSource | Law::Transformer => {
                let current = nodes + extra.iter().position(|&other| other == index)?;
                let is_source = element.law == Law::AcrossSource;
                let last = ends.len() - 1;
                for (port, ends) in ends.iter().enumerate() {
                    // The unknown is the through variable of the last port; a.through = -r b.through.
                    let factor = if port == last { one } else { value.neg() };
                    let across = if port == last { one } else { value.neg() };
                    for (at, leaves) in ends {
                        let Some(at) = at else { continue };
                        rows[at.junction].push((current, factor.mul(sign(*leaves))));
                        rows[current].push((at.junction, across.mul(sign(*leaves))));
                    }
                }
                if is_source {
                    for (factor, term) in &element.signals[0] {
                        let Term::Input(input) = *term else {
                            panic!("independent sources here")
                        };
                        rows[current].push((unknowns + input, factor.to()));
                    }
                }
            }
            _ => panic!("only branches here"),
        }
    }
    let system = System {
        rows: rows.into_iter().map(tidy).collect(),
        unknowns,
        right_sides: network.inputs,
    };
    let solution = system.solve()?;
    let value = |output: &super::network::Output| {
        let Term::Common(junction, _) = output.value[0].1 else {
            panic!("node potentials here")
        };
        (0..network.inputs).map(|input| solution[input][junction]).collect()
    };
    Some(network.outputs.iter().map(value).collect())
}
