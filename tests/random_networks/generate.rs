//! Random networks, the same for the same seed everywhere.

use super::network::*;
use super::random::{Random, coupling, definite, dissipative};

/// One-ports of a domain with their words; `A`-types of mechanical domains may only go to the reference.
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
    /// The numbers.
    pub random: Random,
    /// What there is so far.
    pub network: Network,
}

impl Builder {
    /// Nothing yet.
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

    /// A source branch whose values are inputs, new or old.
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

    /// A linear graph: nodes joined to earlier ones or to the reference, further branches, now and then a ladder.
    fn graph_region(&mut self) -> Vec<Slot> {
        let domain = self.random.choose(&Domain::ALL);
        let mut nodes: Vec<Slot> = Vec::new();
        let count = self.random.between(1, 4);
        for _ in 0..count {
            let width = if self.random.percent(12) {
                Some(self.random.between(2, 3))
            } else {
                None
            };
            let node = self.junction(JunctionKind::Node, Some(domain), width);
            let partners = self.partners(&nodes, node);
            let other = if partners.is_empty() || self.random.percent(40) {
                None
            } else {
                Some(self.random.choose(&partners))
            };
            let (from, to) = self.either_way(Some(node), other);
            if self.random.percent(15) {
                self.driven(domain, from, to)
            } else {
                self.passive(domain, from, to)
            }
            nodes.push(node);
            if width.is_some() && self.random.percent(60) {
                let entry = self.random.below(self.network.width(node));
                nodes.push(Slot {
                    entry: Some(entry),
                    ..node
                });
            }
        }
        if self.random.percent(8) {
            nodes.extend(self.ladder(
                domain,
                nodes.first().copied().filter(|slot| self.network.width(*slot) == 1),
            ));
        }
        for _ in 0..self.random.between(0, 5) {
            let from = self.random.choose(&nodes);
            let partners = self.partners(&nodes, from);
            let to = if partners.is_empty() || self.random.percent(45) {
                None
            } else {
                Some(self.random.choose(&partners))
            };
            let (from, to) = self.either_way(Some(from), to);
            if self.random.percent(12) {
                self.driven(domain, from, to)
            } else {
                self.passive(domain, from, to)
            }
        }
        if self.random.percent(15) {
            self.dissipative_mesh(domain, &nodes);
        }
        nodes
    }

    /// Resistors between all pairs of some scalar nodes and the reference: deltas, bridges, algebraic loops.
    fn dissipative_mesh(&mut self, domain: Domain, nodes: &[Slot]) {
        let mut ends: Vec<Option<Slot>> = nodes
            .iter()
            .filter(|slot| self.network.width(**slot) == 1)
            .take(3)
            .map(|slot| Some(*slot))
            .collect();
        ends.push(None);
        let word = match domain {
            Domain::Electrical => (Law::Resistance, "Resistor"),
            Domain::Fluid => (Law::Resistance, "FluidResistor"),
            Domain::Translational => (Law::Conductance, "Damper"),
            Domain::Rotational => (Law::Conductance, "RotaryDamper"),
        };
        for i in 0..ends.len() {
            for k in 0..i {
                self.branch(word.0, word.1, ends[i], ends[k]);
            }
        }
    }

    /// Other slots of the same width, not of the same junction.
    fn partners(&self, nodes: &[Slot], node: Slot) -> Vec<Slot> {
        let width = self.network.width(node);
        nodes
            .iter()
            .copied()
            .filter(|other| self.network.width(*other) == width && *other != node)
            .collect()
    }

    fn either_way(&mut self, a: Option<Slot>, b: Option<Slot>) -> (Option<Slot>, Option<Slot>) {
        if self.random.percent(50) { (a, b) } else { (b, a) }
    }

    /// A chain of equal cells that may begin at a node.
    fn ladder(&mut self, domain: Domain, start: Option<Slot>) -> Vec<Slot> {
        let number = self.network.ladders.len() + 1;
        let count = self.random.between(2, 3);
        let inner = self.random.percent(50);
        let nodes = format!("v{number}");
        let cells = format!("cell{number}");
        let mut body = Vec::new();
        let mut path = if inner {
            vec![(Place::Left, Place::Inner), (Place::Inner, Place::Right)]
        } else {
            vec![(Place::Left, Place::Right)]
        };
        path.push((Place::Right, Place::Reference));
        for (at, (from, to)) in path.into_iter().enumerate() {
            let (law, kind) = one_port(&mut self.random, domain, to == Place::Reference);
            body.push((format!("e{}", at + 1), law, kind, self.random.value(), from, to));
        }
        let hidden = |network: &mut Network, name: String| {
            network.junctions.push(Junction {
                name,
                kind: JunctionKind::Node,
                domain: Some(domain),
                width: None,
                hidden: true,
            });
            Slot {
                junction: network.junctions.len() - 1,
                entry: None,
            }
        };
        let chain: Vec<Slot> = (0..=count)
            .map(|at| hidden(&mut self.network, format!("{nodes}[{}]", at + 1)))
            .collect();
        for cell in 0..count {
            let own = inner.then(|| hidden(&mut self.network, format!("{cells}[{}].m", cell + 1)));
            for (name, law, kind, value, from, to) in body.clone() {
                let end = |place: Place| match place {
                    Place::Left => Some(chain[cell]),
                    Place::Right => Some(chain[cell + 1]),
                    Place::Inner => own,
                    Place::Reference => None,
                };
                let ports = vec![Connection::Branch {
                    from: end(from),
                    to: end(to),
                }];
                let index = self.element("e", law, kind, Matrix::scalar(value), ports);
                let element = &mut self.network.elements[index];
                element.name = format!("{cells}[{}].{name}", cell + 1);
                element.hidden = true;
                element.named = false;
            }
        }
        self.network.ladders.push(Ladder {
            nodes,
            cells,
            domain,
            count,
            inner,
            body,
        });
        self.passive(domain, Some(chain[0]), start);
        chain
    }

    /// A bond graph: junctions joined as a tree with now and then a mesh, elements on them.
    fn bond_region(&mut self) -> Vec<Slot> {
        let vector = if self.random.percent(12) {
            Some((self.random.between(2, 3), self.random.choose(&Domain::ALL)))
        } else {
            None
        };
        let count = self.random.between(1, 5);
        let mut junctions: Vec<Slot> = Vec::new();
        for at in 0..count {
            let kind = self.random.choose(&[JunctionKind::Zero, JunctionKind::One]);
            let junction = self.junction(kind, vector.map(|it| it.1), vector.map(|it| it.0));
            if at > 0 {
                let other = self.random.choose(&junctions);
                self.join(other, junction);
            }
            junctions.push(junction);
        }
        for _ in 0..2 {
            if count > 2 && self.random.percent(30) {
                let a = self.random.choose(&junctions);
                let b = self.random.choose(&junctions);
                if a != b {
                    self.join(a, b);
                }
            }
        }
        for junction in junctions.clone() {
            for _ in 0..self.random.between(0, 2) {
                self.bond_element(junction);
            }
        }
        let first = junctions[0];
        self.bond_element(first);
        junctions
    }

    /// A storage, a dissipator or a source on a junction.
    fn bond_element(&mut self, junction: Slot) {
        if self.random.percent(15) {
            let (law, kind) = self.random.choose(&[(Law::Se, "Se"), (Law::Sf, "Sf")]);
            let width = self.network.width(junction);
            let signals = (0..width).map(|_| self.signal()).collect();
            let matrix = Matrix::scalar(Value::new(1, 0));
            let index = self.element("s", law, kind, matrix, vec![Connection::Bond(junction)]);
            self.network.elements[index].signals = signals;
            return;
        }
        let (law, kind) = self
            .random
            .choose(&[(Law::BondI, "I"), (Law::BondC, "C"), (Law::BondR, "R")]);
        let width = self.network.width(junction);
        let matrix = self.matrix_for(law, width);
        self.element("b", law, kind, matrix, vec![Connection::Bond(junction)]);
    }

    /// A bond, a transformer or a gyrator between two junctions, in either direction.
    fn join(&mut self, a: Slot, b: Slot) {
        let (tail, head) = if self.random.percent(50) { (a, b) } else { (b, a) };
        let widths = (self.network.width(tail), self.network.width(head));
        let domain = |slot: Slot| self.network.junctions[slot.junction].domain;
        let same_domain = domain(tail).is_none() || domain(head).is_none() || domain(tail) == domain(head);
        if widths.0 == widths.1 && same_domain && self.random.percent(60) {
            self.network.bonds.push(Bond { tail, head });
            return;
        }
        let (law, kind) = self.random.choose(&[(Law::Tf, "TF"), (Law::Tf, "TF"), (Law::Gy, "GY")]);
        let matrix = self.coupler_matrix(widths.0, widths.1);
        self.element(
            "t",
            law,
            kind,
            matrix,
            vec![Connection::Bond(tail), Connection::Bond(head)],
        );
    }

    fn coupler_matrix(&mut self, rows: usize, columns: usize) -> Matrix {
        if rows == columns && (rows == 1 || self.random.percent(25)) {
            return Matrix::scalar(self.random.modulus());
        }
        coupling(&mut self.random, rows, columns)
    }

    /// A transformer or a gyrator between branches of two graph nodes.
    fn couple_branches(&mut self, a: Slot, b: Slot) {
        let (law, kind) = self.random.choose(&[
            (Law::Transformer, "Transformer"),
            (Law::Transformer, "Transformer"),
            (Law::Gyrator, "Gyrator"),
        ]);
        let matrix = self.coupler_matrix(self.network.width(b), self.network.width(a));
        let ports = [a, b]
            .into_iter()
            .map(|slot| {
                let other = self.other_end(slot);
                let (from, to) = self.either_way(Some(slot), other);
                Connection::Branch { from, to }
            })
            .collect();
        self.element("t", law, kind, matrix, ports);
    }

    /// The reference, or now and then another node of the same domain and width.
    fn other_end(&mut self, slot: Slot) -> Option<Slot> {
        if !self.random.percent(25) {
            return None;
        }
        let domain = self.network.junctions[slot.junction].domain;
        let width = self.network.width(slot);
        let list: Vec<Slot> = (0..self.network.junctions.len())
            .filter(|&at| at != slot.junction)
            .map(|junction| Slot { junction, entry: None })
            .filter(|other| {
                let junction = &self.network.junctions[other.junction];
                junction.kind == JunctionKind::Node && junction.domain == domain && self.network.width(*other) == width
            })
            .collect();
        if list.is_empty() {
            None
        } else {
            Some(self.random.choose(&list))
        }
    }

    /// Couples two regions.
    fn couple(&mut self, a: &[Slot], b: &[Slot]) {
        let a = self.random.choose(a);
        let b = self.random.choose(b);
        let is_node = |slot: Slot| self.network.junctions[slot.junction].kind == JunctionKind::Node;
        if is_node(a) && is_node(b) {
            self.couple_branches(a, b);
        } else if a.junction != b.junction {
            self.join(a, b);
        }
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

    /// A source that measures the network, a controller's integral, or both.
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

/// A random linear graph of scalar branches alone: one-ports and couplers, sources of one input each.
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
