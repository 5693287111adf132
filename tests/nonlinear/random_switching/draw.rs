//! Random models: circuits, hydraulic circuits and drives with 2 to 12 elements that switch.

mod text;

use crate::equations::networks::random::Random;

/// Samples of a run, including the first one.
pub const POINTS: usize = 81;

/// Gate instants: the gate is on during the first part of each period, or off if it is inverse.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    pub period: f64,
    pub is_inverse: bool,
}

/// The fraction of a period during which a gate is on.
const DUTY: f64 = 0.4;

impl Gate {
    /// Returns true if the gate is on just before an instant.
    pub fn is_on_before(self, time: f64) -> bool {
        let place = (time / self.period - 1e-9).rem_euclid(1.0);
        (place < DUTY) != self.is_inverse
    }

    /// Returns true if the gate switches at an instant.
    fn switches_at(self, time: f64) -> bool {
        [0.0, DUTY].iter().any(|offset| {
            let place = (time / self.period - offset).rem_euclid(1.0);
            place.min(1.0 - place) < 1e-3
        })
    }
}

/// The kind of an element, with its values in SI units; the value of a dissipator is across divided by through.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Across {
        offset: f64,
        amplitude: f64,
        phase: f64,
    },
    Through {
        amplitude: f64,
        phase: f64,
    },
    Dissipator(f64),
    AType(f64),
    TType(f64),
    /// The across variable of a second branch, between two nodes, per that of the first.
    Transformer(f64, (usize, usize)),
    /// A diode, freewheel, check valve or relief valve, with the across variable in its open direction.
    Diode(f64),
    Switch(Gate),
    Transistor(Gate),
    Thyristor(Gate),
    /// The through variables while it slides and up to which it sticks.
    Friction(f64, f64),
    Brake(f64, Gate),
    /// The gap and the coefficient of restitution.
    Wall(f64, f64),
    Backlash(f64),
}

impl Kind {
    pub fn is_switched(self) -> bool {
        !matches!(
            self,
            Kind::Across { .. }
                | Kind::Through { .. }
                | Kind::Dissipator(_)
                | Kind::AType(_)
                | Kind::TType(_)
                | Kind::Transformer(..)
        )
    }

    pub fn gate(self) -> Option<Gate> {
        match self {
            Kind::Switch(gate) | Kind::Transistor(gate) | Kind::Thyristor(gate) | Kind::Brake(_, gate) => Some(gate),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Element {
    pub name: String,
    pub kind: Kind,
    /// The node that its through variable leaves; 0 is the reference.
    pub from: usize,
    /// The node that it enters.
    pub to: usize,
}

/// The domain of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    Electrical,
    Fluid,
    Translational,
    Rotational,
}

/// A model.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The output nodes: 1 to this number.
    pub nodes: usize,
    /// All nodes.
    pub all: usize,
    pub elements: Vec<Element>,
    pub domain: Domain,
}

impl Drawn {
    /// A circuit of these elements, whose only output is node 1.
    pub fn of(elements: Vec<(Kind, usize, usize)>) -> Drawn {
        let mut drawn = Drawn {
            nodes: 1,
            all: elements
                .iter()
                .map(|element| element.1.max(element.2))
                .max()
                .unwrap_or(0),
            elements: Vec::new(),
            domain: Domain::Electrical,
        };
        for (kind, from, to) in elements {
            drawn.add(kind, from, to);
        }
        drawn
    }

    /// The model of a seed.
    pub fn new(seed: u64) -> Drawn {
        let mut random = Random::new(seed);
        let domains = [
            Domain::Electrical,
            Domain::Fluid,
            Domain::Translational,
            Domain::Rotational,
        ];
        let domain = domains[[0, 0, 0, 0, 1, 2, 2, 3, 3, 3][random.below(10)]];
        let switched = random.between(2, 12);
        let nodes = random.between(2, 3 + switched / 2);
        let mut drawn = Drawn {
            nodes,
            all: nodes,
            elements: Vec::new(),
            domain,
        };
        match domain {
            Domain::Electrical | Domain::Fluid => drawn.draw_circuit(&mut random, switched),
            Domain::Translational | Domain::Rotational => drawn.draw_drive(&mut random, switched),
        }
        drawn
    }

    fn add(&mut self, kind: Kind, from: usize, to: usize) {
        let name = format!("e{}", self.elements.len() + 1);
        self.elements.push(Element { name, kind, from, to });
    }

    fn fresh(&mut self) -> usize {
        self.all += 1;
        self.all
    }

    /// Two different nodes, possibly the reference.
    fn pair(&self, random: &mut Random) -> (usize, usize) {
        let from = random.below(self.nodes + 1);
        let other = random.below(self.nodes);
        (from, if other >= from { other + 1 } else { other })
    }

    fn gate(&self, random: &mut Random) -> Gate {
        Gate {
            period: random.choose(&[0.125, 0.1825, 0.275]) * self.stop(),
            is_inverse: random.percent(50),
        }
    }

    /// The end of the run, two periods of the sources.
    pub fn stop(&self) -> f64 {
        match self.domain {
            Domain::Electrical | Domain::Fluid => 0.04,
            Domain::Translational | Domain::Rotational => 0.4,
        }
    }

    /// The value of a source.
    pub fn sine(&self, amplitude: f64, phase: f64, time: f64) -> f64 {
        amplitude * (std::f64::consts::TAU * 2.0 / self.stop() * time + phase).sin()
    }

    /// Returns true if a gate switches at the instant of a row.
    pub fn switches_at(&self, row: usize) -> bool {
        let time = row as f64 / (POINTS - 1) as f64 * self.stop();
        let mut gates = self.elements.iter().filter_map(|element| element.kind.gate());
        gates.any(|gate| gate.switches_at(time))
    }

    fn draw_circuit(&mut self, random: &mut Random, switched: usize) {
        for _ in 0..random.between(1, 2) {
            let (source, node) = (self.fresh(), random.between(1, self.nodes));
            let kind = Kind::Across {
                offset: random.choose(&[0.0, 0.0, 5.0]),
                amplitude: between(random, 5.0, 20.0),
                phase: random.choose(&[0.0, 0.7, 2.1, -1.3]),
            };
            self.add(kind, source, 0);
            self.add_path(random, source, node, 60);
        }
        for node in 1..=self.nodes {
            let other = random.below(self.nodes);
            let other = if other >= node { other + 1 } else { other };
            self.add(Kind::Dissipator(between(random, 5.0, 100.0)), node, other);
        }
        for _ in 0..switched {
            let (from, to) = self.pair(random);
            let gate = self.gate(random);
            // A thyristor whose gate ends as its current begins may conduct or block.
            let own = Gate {
                period: 1.09 * gate.period,
                ..gate
            };
            let diode = Kind::Diode(random.choose(&[0.0, 0.0, 0.7, 3.0]));
            let kinds = [
                diode,
                diode,
                diode,
                Kind::Switch(gate),
                Kind::Transistor(gate),
                Kind::Thyristor(own),
            ];
            let valves = kinds.len() - 2;
            let count = if self.domain == Domain::Fluid {
                valves
            } else {
                kinds.len()
            };
            self.add(random.choose(&kinds[..count]), from, to);
        }
        for _ in 0..random.between(0, 2) {
            let (from, to) = self.pair(random);
            self.add(Kind::AType(between(random, 1e-4, 1e-3)), from, to);
        }
        for _ in 0..random.between(0, 2) {
            let (from, to) = self.pair(random);
            self.add_path(random, from, to, 0);
        }
        self.draw_transformer(random);
        self.limit_thyristors();
    }

    /// Puts a resistor in series with each thyristor that closes a loop of ideal elements: in parallel with a closed switch it may conduct or
    /// block.
    fn limit_thyristors(&mut self) {
        for at in 0..self.elements.len() {
            let Element { kind, to, .. } = self.elements[at];
            if !matches!(kind, Kind::Thyristor(_)) || !self.are_joined(at) {
                continue;
            }
            let middle = self.fresh();
            self.elements[at].to = middle;
            self.add(Kind::Dissipator(20.0), middle, to);
        }
    }

    /// Returns true if other ideal elements join the nodes of an element.
    fn are_joined(&self, at: usize) -> bool {
        let mut group: Vec<usize> = (0..=self.all).collect();
        let others = self.elements.iter().enumerate().filter(|(other, _)| *other != at);
        for (_, other) in others {
            let nodes = match other.kind {
                Kind::Transformer(_, (from, to)) => vec![other.from, other.to, from, to],
                Kind::Across { .. } => vec![other.from, other.to],
                kind if kind.is_switched() => vec![other.from, other.to],
                _ => continue,
            };
            for node in &nodes[1..] {
                let (old, new) = (group[*node], group[nodes[0]]);
                group.iter_mut().filter(|of| **of == old).for_each(|of| *of = new);
            }
        }
        group[self.elements[at].from] == group[self.elements[at].to]
    }

    /// A resistor, in series with an inductor with the given probability in percent.
    fn add_path(&mut self, random: &mut Random, from: usize, to: usize, resistor_alone: u64) {
        let resistor = Kind::Dissipator(between(random, 0.5, 5.0));
        if random.percent(resistor_alone) {
            return self.add(resistor, from, to);
        }
        let middle = self.fresh();
        self.add(resistor, from, middle);
        self.add(Kind::TType(between(random, 1e-3, 1e-2)), middle, to);
    }

    /// A transformer in four models of ten, from a node to another one, both against the reference or against further nodes.
    fn draw_transformer(&mut self, random: &mut Random) {
        if random.percent(40) {
            let (from, to) = self.pair(random);
            let second = self.fresh();
            let ratio = random.choose(&[0.5, 2.0, -1.0, 1.6, -0.4]);
            self.add(Kind::Transformer(ratio, (second, 0)), from, to);
            let node = random.between(1, self.nodes);
            let resistance = match self.domain {
                Domain::Electrical | Domain::Fluid => between(random, 0.5, 5.0),
                Domain::Translational | Domain::Rotational => 1.0 / between(random, 0.5, 5.0),
            };
            self.add(Kind::Dissipator(resistance), second, node);
        }
    }

    fn draw_drive(&mut self, random: &mut Random, switched: usize) {
        for node in 1..=self.nodes {
            if random.percent(80) {
                self.add(Kind::AType(between(random, 0.01, 0.1)), node, 0);
            }
            self.add(Kind::Dissipator(1.0 / between(random, 0.05, 0.5)), node, 0);
        }
        for _ in 0..random.between(1, 2) {
            let kind = Kind::Through {
                amplitude: between(random, 2.0, 8.0),
                phase: random.choose(&[0.0, 0.7, 2.1, -1.3]),
            };
            let node = random.between(1, self.nodes);
            self.add(kind, 0, node);
        }
        for _ in 0..switched {
            let (from, to) = self.pair(random);
            let (limit, gate) = (between(random, 0.5, 5.0), self.gate(random));
            let gap = between(random, 0.02, 0.5);
            let kinds = [
                Kind::Friction(limit, limit),
                Kind::Friction(limit, limit * random.choose(&[1.0, 1.5])),
                Kind::Wall(gap, random.choose(&[0.0, 0.0, 0.5])),
                Kind::Backlash(gap),
                Kind::Diode(0.0),
                Kind::Brake(limit, gate),
            ];
            let count = if self.domain == Domain::Translational {
                4
            } else {
                kinds.len()
            };
            self.add(random.choose(&kinds[..count]), from, to);
        }
        for _ in 0..random.between(0, 2) {
            let (from, to) = self.pair(random);
            self.add(Kind::TType(1.0 / between(random, 10.0, 200.0)), from, to);
        }
        self.draw_transformer(random);
        self.limit_rebounds();
    }

    /// Lets no wall rebound beside other rigid contacts: whether these share its impulse is a matter of definition.
    fn limit_rebounds(&mut self) {
        let is_rigid = |element: &&Element| matches!(element.kind, Kind::Wall(..) | Kind::Backlash(_) | Kind::Diode(_));
        if self.elements.iter().filter(is_rigid).count() > 1 {
            for element in &mut self.elements {
                if let Kind::Wall(_, restitution) = &mut element.kind {
                    *restitution = 0.0;
                }
            }
        }
    }

    /// The elements whose through variables are outputs.
    pub fn stores(&self) -> impl Iterator<Item = &Element> {
        self.elements
            .iter()
            .filter(|element| matches!(element.kind, Kind::TType(_)))
    }
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.below(10_000) as f64 / 10_000.0
}
