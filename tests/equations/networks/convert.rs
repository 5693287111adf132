//! One network in another notation: a scalar linear graph as a bond graph, equal copies of a graph as a vector graph.

use super::network::*;
use super::random::Random;

/// The bond that replaced a port of a branch.
struct Place {
    /// The junction at which the bond ends.
    slot: Slot,
    /// True if the branch was reversed (its tail was the reference).
    turned: bool,
}

/// Converts a scalar linear graph to a bond graph by the textbook rules: a node is a 0-junction if the effort is the
/// across variable, otherwise a 1-junction; a branch between two nodes is attached to the opposite junction.
pub fn to_bonds(network: &Network) -> Network {
    let mut out = Network {
        inputs: network.inputs,
        ..Network::default()
    };
    let domain_of = |slot: Slot| network.junctions[slot.junction].domain.expect("a node has a domain");
    for junction in &network.junctions {
        let across = junction.domain.expect("a node has a domain").effort_is_across();
        out.junctions.push(Junction {
            name: format!("j{}", junction.name),
            kind: if across { JunctionKind::Zero } else { JunctionKind::One },
            domain: None,
            width: None,
            hidden: false,
        });
    }
    // For each port: the sign of its first and of its second variable relative to the branch, and whether they swapped.
    let mut signs: Vec<Vec<(i64, i64, bool)>> = Vec::new();
    for element in &network.elements {
        let port_domain: Vec<Domain> = element
            .ports
            .iter()
            .map(|port| match port {
                Connection::Branch { from, to } => domain_of(from.or(*to).expect("one end is a node")),
                Connection::Bond(_) => panic!("only branches here"),
            })
            .collect();
        let effort = |port: usize| port_domain[port].effort_is_across();
        let value = element.matrix.entries[0];
        // The outgoing port of the coupler, its law and its value before signs.
        let (law, kind, incoming, value) = match element.law {
            Law::Transformer => match (effort(0), effort(1)) {
                (true, true) => (Law::Tf, "TF", 1, value),
                (false, false) => (Law::Tf, "TF", 0, value),
                (true, false) => (Law::Gy, "GY", 0, value.inverse()),
                (false, true) => (Law::Gy, "GY", 1, value),
            },
            Law::Gyrator => match (effort(0), effort(1)) {
                (true, true) => (Law::Gy, "GY", 0, value),
                (false, false) => (Law::Gy, "GY", 0, value.inverse()),
                (true, false) => (Law::Tf, "TF", 0, value),
                (false, true) => (Law::Tf, "TF", 0, value.inverse()),
            },
            _ => one_port(element.law, effort(0), value),
        };
        let source = element.law.is_source();
        let places: Vec<Place> = element
            .ports
            .iter()
            .enumerate()
            .map(|(port, connection)| {
                let Connection::Branch { from, to } = *connection else {
                    panic!("only branches here")
                };
                let outgoing = source || (element.law.is_coupler() && port != incoming);
                place(&mut out, from, to, effort(port), outgoing)
            })
            .collect();
        signs.push(
            places
                .iter()
                .enumerate()
                .map(|(port, place)| {
                    let outgoing = source || (element.law.is_coupler() && port != incoming);
                    let first = if place.turned { -1 } else { 1 };
                    (first, if outgoing { -first } else { first }, !effort(port))
                })
                .collect(),
        );
        let turned = places.iter().filter(|place| place.turned).count() % 2 == 1;
        let value = if element.law.is_coupler() && turned {
            value.negative()
        } else {
            value
        };
        let given_sign = match element.law {
            Law::AcrossSource => signs[signs.len() - 1][0].0,
            _ => signs[signs.len() - 1][0].1,
        };
        let signals = element
            .signals
            .iter()
            .map(|signal| {
                let signed =
                    |(value, term): &(Value, Term)| (if given_sign < 0 { value.negative() } else { *value }, *term);
                signal.iter().map(signed).collect()
            })
            .collect();
        let mut ports: Vec<Connection> = places.iter().map(|place| Connection::Bond(place.slot)).collect();
        if element.law.is_coupler() && incoming == 1 {
            ports.reverse();
            signs.last_mut().expect("just pushed").reverse();
        }
        out.elements.push(Element {
            name: format!("b{}", element.name),
            law,
            matrix: Matrix::scalar(value),
            signals,
            ports,
            kind,
            named: false,
            hidden: false,
        });
    }
    for output in &network.outputs {
        let convert = |(value, term): &(Value, Term)| {
            let signed = |sign: i64| if sign < 0 { value.negative() } else { *value };
            match *term {
                Term::First(element, port, _) | Term::Second(element, port, _) => {
                    // The ports of a coupler may have swapped.
                    let reversed = out.elements[element].law.is_coupler() && incoming_of(network, element) == 1;
                    let port = if reversed { 1 - port } else { port };
                    let (first, second, swapped) = signs[element][port];
                    let is_first = matches!(term, Term::First(..));
                    let sign = if is_first { first } else { second };
                    let term = if is_first != swapped {
                        Term::First(element, port, 0)
                    } else {
                        Term::Second(element, port, 0)
                    };
                    (signed(sign), term)
                }
                other => (*value, other),
            }
        };
        out.outputs.push(Output {
            value: output.value.iter().map(convert).collect(),
            change: output.change,
        });
    }
    out
}

/// The port of a branch coupler that becomes the incoming bond.
fn incoming_of(network: &Network, element: usize) -> usize {
    let element = &network.elements[element];
    let effort = |port: usize| match element.ports[port] {
        Connection::Branch { from, to } => from
            .or(to)
            .and_then(|slot| network.junctions[slot.junction].domain)
            .is_some_and(Domain::effort_is_across),
        Connection::Bond(_) => false,
    };
    usize::from(element.law == Law::Transformer && effort(1))
}

/// The bond element of a one-port branch.
fn one_port(law: Law, effort_is_across: bool, value: Value) -> (Law, &'static str, usize, Value) {
    let (law, kind, value) = match (law, effort_is_across) {
        (Law::AType, true) => (Law::BondC, "C", value),
        (Law::AType, false) => (Law::BondI, "I", value),
        (Law::TType, true) => (Law::BondI, "I", value),
        (Law::TType, false) => (Law::BondC, "C", value),
        (Law::Stiffness, true) => (Law::BondI, "I", value.inverse()),
        (Law::Stiffness, false) => (Law::BondC, "C", value.inverse()),
        (Law::Resistance, true) | (Law::Conductance, false) => (Law::BondR, "R", value),
        (Law::Resistance, false) | (Law::Conductance, true) => (Law::BondR, "R", value.inverse()),
        (Law::AcrossSource, true) | (Law::ThroughSource, false) => (Law::Se, "Se", value),
        (Law::AcrossSource, false) | (Law::ThroughSource, true) => (Law::Sf, "Sf", value),
        other => panic!("{other:?} is no one-port branch"),
    };
    (law, kind, 0, value)
}

/// The junction of a branch; between two nodes a new one, opposite to theirs.
fn place(out: &mut Network, from: Option<Slot>, to: Option<Slot>, effort_is_across: bool, outgoing: bool) -> Place {
    let (from, to) = match (from, to) {
        (Some(slot), None) => return Place { slot, turned: false },
        (None, Some(slot)) => return Place { slot, turned: true },
        (Some(from), Some(to)) => (from, to),
        (None, None) => panic!("a branch has a node"),
    };
    let slot = Slot {
        junction: out.junctions.len(),
        entry: None,
    };
    out.junctions.push(Junction {
        name: format!("x{}", out.junctions.len() + 1),
        kind: if effort_is_across {
            JunctionKind::One
        } else {
            JunctionKind::Zero
        },
        domain: None,
        width: None,
        hidden: false,
    });
    // A bond directed away from its element has the opposite sign at the new junction.
    let (tail, head) = if outgoing { (to, from) } else { (from, to) };
    out.bonds.push(Bond { tail, head: slot });
    out.bonds.push(Bond { tail: slot, head });
    Place { slot, turned: false }
}

/// Equal copies of a graph with different values: as separate scalar graphs, and as one graph of vectors. Further
/// storage branches connect the first nodes of adjacent copies; in the vector graph they form a full matrix.
pub fn copies(base: &Network, count: usize, seed: u64) -> (Network, Network) {
    let mut random = Random::new(seed ^ 0x00c0_91e5);
    let mut scalar = Network {
        inputs: base.inputs * count,
        ..Network::default()
    };
    let mut vector = scalar.clone();
    for copy in 0..count {
        for junction in &base.junctions {
            scalar.junctions.push(Junction {
                name: format!("{}_{}", junction.name, copy + 1),
                ..junction.clone()
            });
        }
    }
    for junction in &base.junctions {
        vector.junctions.push(Junction {
            width: Some(count),
            ..junction.clone()
        });
    }
    let moved = |slot: Option<Slot>, copy: usize| {
        slot.map(|slot| Slot {
            junction: slot.junction + copy * base.junctions.len(),
            entry: None,
        })
    };
    let mut single: Vec<Vec<Element>> = vec![Vec::new(); count];
    for element in &base.elements {
        let values: Vec<Value> = (0..count)
            .map(|_| {
                if element.law.is_coupler() {
                    random.modulus()
                } else {
                    random.value()
                }
            })
            .collect();
        let mut entries = vec![Value::new(0, 0); count * count];
        let mut signals = Vec::new();
        for (copy, value) in values.iter().enumerate() {
            entries[copy * count + copy] = *value;
            let input = |(factor, term): &(Value, Term)| match term {
                Term::Input(input) => (*factor, Term::Input(input + copy * base.inputs)),
                other => panic!("{other:?} is no input"),
            };
            let own: Vec<Linear> = element
                .signals
                .iter()
                .map(|signal| signal.iter().map(input).collect())
                .collect();
            signals.extend(own.clone());
            let ports = element.ports.iter().map(|port| match *port {
                Connection::Branch { from, to } => Connection::Branch {
                    from: moved(from, copy),
                    to: moved(to, copy),
                },
                bond => bond,
            });
            single[copy].push(Element {
                name: format!("{}_{}", element.name, copy + 1),
                matrix: Matrix::scalar(*value),
                signals: own,
                ports: ports.collect(),
                named: false,
                ..element.clone()
            });
        }
        vector.elements.push(Element {
            matrix: Matrix {
                rows: count,
                columns: count,
                entries,
            },
            signals,
            named: false,
            ..element.clone()
        });
    }
    scalar.elements = single.into_iter().flatten().collect();
    for output in &base.outputs {
        let copy = random.below(count);
        let on_scalar = |(value, term): &(Value, Term)| {
            let element = |index: usize| index + copy * base.elements.len();
            let term = match *term {
                Term::First(index, port, _) => Term::First(element(index), port, 0),
                Term::Second(index, port, _) => Term::Second(element(index), port, 0),
                Term::Common(junction, _) => Term::Common(junction + copy * base.junctions.len(), 0),
                Term::Input(input) => Term::Input(input + copy * base.inputs),
                Term::Integral(integral) => Term::Integral(integral),
            };
            (*value, term)
        };
        let on_vector = |(value, term): &(Value, Term)| {
            let term = match *term {
                Term::First(index, port, _) => Term::First(index, port, copy),
                Term::Second(index, port, _) => Term::Second(index, port, copy),
                Term::Common(junction, _) => Term::Common(junction, copy),
                Term::Input(input) => Term::Input(input + copy * base.inputs),
                Term::Integral(integral) => Term::Integral(integral),
            };
            (*value, term)
        };
        scalar.outputs.push(Output {
            value: output.value.iter().map(on_scalar).collect(),
            change: output.change,
        });
        vector.outputs.push(Output {
            value: output.value.iter().map(on_vector).collect(),
            change: output.change,
        });
    }
    tie(base, count, &mut random, &mut scalar, &mut vector);
    (scalar, vector)
}

/// Storage between the copies: branches of the scalar graphs, one full matrix of the vector graph.
fn tie(base: &Network, count: usize, random: &mut Random, scalar: &mut Network, vector: &mut Network) {
    let domain = base.junctions[0].domain.expect("a node has a domain");
    let (law, kind) = match domain {
        Domain::Electrical => (Law::AType, "Capacitor"),
        Domain::Fluid => (Law::AType, "FluidCapacitor"),
        Domain::Translational => (Law::Stiffness, "Spring"),
        Domain::Rotational => (Law::Stiffness, "TorsionSpring"),
    };
    let exponent = -1;
    let mut matrix = vec![0i64; count * count];
    let mut add = |name: String, value: i64, from: usize, to: Option<usize>| {
        let slot = |copy: usize| Slot {
            junction: copy * base.junctions.len(),
            entry: None,
        };
        scalar.elements.push(Element {
            name,
            law,
            matrix: Matrix::scalar(Value::new(value, exponent)),
            signals: Vec::new(),
            ports: vec![Connection::Branch {
                from: Some(slot(from)),
                to: to.map(slot),
            }],
            kind,
            named: false,
            hidden: false,
        });
        matrix[from * count + from] += value;
        if let Some(to) = to {
            matrix[to * count + to] += value;
            matrix[from * count + to] -= value;
            matrix[to * count + from] -= value;
        }
    };
    for copy in 0..count {
        add(format!("ground{}", copy + 1), random.between(1, 90) as i64, copy, None);
        if copy > 0 {
            add(
                format!("tie{}", copy + 1),
                random.between(1, 90) as i64,
                copy - 1,
                Some(copy),
            );
        }
    }
    vector.elements.push(Element {
        name: "ties".to_string(),
        law,
        matrix: Matrix {
            rows: count,
            columns: count,
            entries: matrix.into_iter().map(|value| Value::new(value, exponent)).collect(),
        },
        signals: Vec::new(),
        ports: vec![Connection::Branch {
            from: Some(Slot {
                junction: 0,
                entry: None,
            }),
            to: None,
        }],
        kind,
        named: false,
        hidden: false,
    });
}
