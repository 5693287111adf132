//! Random networks, reproducible from their seed on every machine.

mod couplings;
mod regions;

use super::network::*;
use super::random::{Random, definite, dissipative};

/// One-ports of a domain with their keywords; mechanical A-types must be connected to the reference.
fn one_port(random: &mut Random, domain: Domain, grounded: bool) -> (Law, &'static str) {
    let generic = [(Law::AType, "AType"), (Law::TType, "TType"), (Law::Resistance, "DType")];
    if random.percent(8) {
        return random.choose(&generic);
    }
    let list: [(Law, &'static str); 3] = match domain {
        Domain::Electrical => [
            (Law::AType, "Capacitor"),
            (Law::TType, "Inductor"),
            (Law::Resistance, "Resistor"),
        ],
        Domain::Translational => [
            (Law::AType, "Mass"),
            (Law::Stiffness, "Spring"),
            (Law::Conductance, "Damper"),
        ],
        Domain::Rotational => [
            (Law::AType, "Inertia"),
            (Law::Stiffness, "TorsionSpring"),
            (Law::Conductance, "RotaryDamper"),
        ],
        Domain::Fluid => [
            (Law::AType, "FluidCapacitor"),
            (Law::TType, "Inertance"),
            (Law::Resistance, "FluidResistor"),
        ],
    };
    let found = random.choose(&list);
    if !grounded && !domain.effort_is_across() && found.0 == Law::AType {
        random.choose(&list[1..])
    } else {
        found
    }
}

fn source(random: &mut Random, domain: Domain) -> (Law, &'static str) {
    if random.percent(10) {
        return random.choose(&[
            (Law::AcrossSource, "AcrossSource"),
            (Law::ThroughSource, "ThroughSource"),
        ]);
    }
    let (across, through) = match domain {
        Domain::Electrical => ("VoltageSource", "CurrentSource"),
        Domain::Translational => ("VelocitySource", "ForceSource"),
        Domain::Rotational => ("AngularVelocitySource", "TorqueSource"),
        Domain::Fluid => ("PressureSource", "FlowSource"),
    };
    random.choose(&[(Law::AcrossSource, across), (Law::ThroughSource, through)])
}

/// A network under construction.
pub struct Builder {
    /// The random number generator.
    pub random: Random,
    /// The network built so far.
    pub network: Network,
}

impl Builder {
    /// An empty network.
    pub fn new(seed: u64) -> Builder {
        Builder {
            random: Random::new(seed),
            network: Network::default(),
        }
    }

    fn junction(&mut self, kind: JunctionKind, domain: Option<Domain>, width: Option<usize>) -> Slot {
        let index = self.network.junctions.len();
        let letter = if kind == JunctionKind::Node { "n" } else { "j" };
        self.network.junctions.push(Junction {
            name: format!("{letter}{}", index + 1),
            kind,
            domain,
            width,
            hidden: false,
        });
        Slot {
            junction: index,
            entry: None,
        }
    }

    fn element(&mut self, letter: &str, law: Law, kind: &'static str, matrix: Matrix, ports: Vec<Connection>) -> usize {
        let index = self.network.elements.len();
        let named = self.random.percent(20);
        self.network.elements.push(Element {
            name: format!("{letter}{}", index + 1),
            law,
            matrix,
            signals: Vec::new(),
            ports,
            kind,
            named: named && !law.is_source(),
            hidden: false,
        });
        index
    }

    fn matrix_for(&mut self, law: Law, width: usize) -> Matrix {
        if width == 1 || self.random.percent(15) {
            return Matrix::scalar(self.random.value());
        }
        match law {
            Law::Resistance | Law::Conductance | Law::BondR => dissipative(&mut self.random, width),
            _ => definite(&mut self.random, width),
        }
    }

    /// A passive branch.
    pub fn passive(&mut self, domain: Domain, from: Option<Slot>, to: Option<Slot>) {
        let (law, kind) = one_port(&mut self.random, domain, from.is_none() || to.is_none());
        self.branch(law, kind, from, to);
    }

    fn branch(&mut self, law: Law, kind: &'static str, from: Option<Slot>, to: Option<Slot>) -> usize {
        let width = from.or(to).map_or(1, |slot| self.network.width(slot));
        let matrix = self.matrix_for(law, width);
        self.element("e", law, kind, matrix, vec![Connection::Branch { from, to }])
    }

    /// A source branch whose values are new or existing inputs.
    pub fn driven(&mut self, domain: Domain, from: Option<Slot>, to: Option<Slot>) {
        let (law, kind) = source(&mut self.random, domain);
        let width = from.or(to).map_or(1, |slot| self.network.width(slot));
        let signals = (0..width).map(|_| self.signal()).collect();
        let matrix = Matrix::scalar(Value::new(1, 0));
        let index = self.element("s", law, kind, matrix, vec![Connection::Branch { from, to }]);
        self.network.elements[index].signals = signals;
    }

    fn signal(&mut self) -> Linear {
        let fresh = self.network.inputs == 0 || (self.network.inputs < 3 && self.random.percent(70));
        if fresh {
            self.network.inputs += 1;
            return vec![(Value::new(1, 0), Term::Input(self.network.inputs - 1))];
        }
        let inputs = self.network.inputs;
        let mut signal = vec![(self.random.modulus(), Term::Input(self.random.below(inputs)))];
        if inputs > 1 && self.random.percent(30) {
            let other = self.random.below(inputs);
            if signal[0].1 != Term::Input(other) {
                signal.push((self.random.modulus(), Term::Input(other)));
            }
        }
        signal
    }

    /// A random variable of the network.
    pub fn measure(&mut self) -> Term {
        if self.random.percent(15) {
            let junction = self.random.below(self.network.junctions.len());
            let width = self.network.junctions[junction].width.unwrap_or(1);
            return Term::Common(junction, self.random.below(width));
        }
        let element = self.random.below(self.network.elements.len());
        let port = self.random.below(self.network.elements[element].ports.len());
        let entry = self.random.below(self.network.port_width(element, port));
        if self.random.percent(50) {
            Term::First(element, port, entry)
        } else {
            Term::Second(element, port, entry)
        }
    }

    /// Random outputs.
    pub fn outputs(&mut self, changes: bool) {
        for _ in 0..self.random.between(1, 4) {
            let mut value = vec![(Value::new(1, 0), self.measure())];
            if self.random.percent(20) {
                let other = if self.random.percent(20) {
                    Term::Input(0)
                } else {
                    self.measure()
                };
                if other != value[0].1 {
                    value.push((self.random.modulus(), other));
                }
            }
            let change = match self.random.below(100) {
                0..5 if changes => Change::Derivative,
                5..10 if changes => Change::Integral,
                _ => Change::Value,
            };
            self.network.outputs.push(Output { value, change });
        }
    }

    /// A source that depends on the network, a controller's integral, or both.
    fn control(&mut self) {
        let sources: Vec<usize> = (0..self.network.elements.len())
            .filter(|&at| self.network.elements[at].law.is_source())
            .collect();
        if self.random.percent(50) {
            let mut rate = vec![(self.random.modulus(), self.measure())];
            if self.random.percent(60) {
                rate.push((Value::new(1, 0), Term::Input(0)));
            }
            self.network.integrals.push(rate);
        }
        let integral = self.network.integrals.len();
        let source = self.random.choose(&sources);
        let mut term = self.measure();
        if integral > 0 && self.random.percent(60) {
            term = Term::Integral(integral - 1);
        }
        if matches!(term, Term::First(element, ..) | Term::Second(element, ..) if element == source) {
            return;
        }
        let factor = self.random.modulus();
        let signals = &mut self.network.elements[source].signals;
        let entry = self.random.below(signals.len());
        signals[entry].push((factor, term));
    }
}

/// The random network of a seed.
pub fn generate(seed: u64) -> Network {
    let mut builder = Builder::new(seed);
    let regions = builder.random.choose(&[1, 1, 1, 2, 2, 3]);
    let mut slots: Vec<Vec<Slot>> = Vec::new();
    for _ in 0..regions {
        let region = if builder.random.percent(65) {
            builder.graph_region()
        } else {
            builder.bond_region()
        };
        if let Some(earlier) = slots.last().cloned() {
            builder.couple(&earlier, &region);
            if builder.random.percent(15) {
                builder.couple(&earlier, &region);
            }
        }
        slots.push(region);
    }
    if builder.random.percent(12) {
        // A coupler inside one region.
        let region = builder.random.below(slots.len());
        let region = slots[region].clone();
        builder.couple(&region, &region);
    }
    if builder.network.inputs == 0 {
        let region = slots[0].clone();
        let slot = builder.random.choose(&region);
        let junction = &builder.network.junctions[slot.junction];
        match (junction.kind, junction.domain) {
            (JunctionKind::Node, Some(domain)) => builder.driven(domain, None, Some(slot)),
            _ => {
                while builder.network.inputs == 0 {
                    builder.bond_element(slot);
                }
            }
        }
    }
    if builder.random.percent(8) {
        builder.control();
    }
    builder.outputs(true);
    builder.network
}

/// A random linear graph of scalar branches only: one-ports and couplers, sources with one input each.
pub fn generate_scalar_graph(seed: u64) -> Network {
    let mut builder = Builder::new(seed ^ 0x5ca1_a27f);
    let mut regions: Vec<Vec<Slot>> = Vec::new();
    for _ in 0..builder.random.between(1, 2) {
        let domain = builder.random.choose(&Domain::ALL);
        let mut nodes: Vec<Slot> = Vec::new();
        for _ in 0..builder.random.between(1, 4) {
            let node = builder.junction(JunctionKind::Node, Some(domain), None);
            let other = if nodes.is_empty() || builder.random.percent(40) {
                None
            } else {
                Some(builder.random.choose(&nodes))
            };
            builder.passive(domain, Some(node), other);
            nodes.push(node);
        }
        for _ in 0..builder.random.between(1, 5) {
            let from = builder.random.choose(&nodes);
            let partners = builder.partners(&nodes, from);
            let to = if partners.is_empty() || builder.random.percent(45) {
                None
            } else {
                Some(builder.random.choose(&partners))
            };
            builder.passive(domain, Some(from), to);
        }
        let node = builder.random.choose(&nodes);
        let (from, to) = builder.either_way(Some(node), None);
        builder.driven(domain, from, to);
        if let Some(earlier) = regions.last().cloned() {
            builder.couple(&earlier, &nodes);
        }
        regions.push(nodes);
    }
    builder.outputs(false);
    builder.network
}
