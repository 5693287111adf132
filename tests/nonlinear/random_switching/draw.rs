//! Random models: circuits of diodes, switches and transistors, and drives with friction, brakes and freewheels.

use crate::equations::networks::random::Random;
use std::fmt::Write;

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

/// The kind of an element, with its value in SI units; the value of a dissipator is across divided by through.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Across { offset: f64, amplitude: f64, phase: f64 },
    Through { amplitude: f64, phase: f64 },
    Dissipator(f64),
    AType(f64),
    TType(f64),
    Diode,
    Switch(Gate),
    Transistor(Gate),
    Friction(f64),
    Brake(f64, Gate),
}

impl Kind {
    pub fn is_switched(self) -> bool {
        self.gate().is_some() || matches!(self, Kind::Diode | Kind::Friction(_))
    }

    pub fn gate(self) -> Option<Gate> {
        match self {
            Kind::Switch(gate) | Kind::Transistor(gate) | Kind::Brake(_, gate) => Some(gate),
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

/// A model.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The output nodes: 1 to this number.
    pub nodes: usize,
    /// All nodes.
    pub all: usize,
    pub elements: Vec<Element>,
    is_electrical: bool,
}

impl Drawn {
    /// A model of these elements, whose only output is node 1.
    pub fn of(elements: Vec<(Kind, usize, usize)>) -> Drawn {
        let mut drawn = Drawn {
            nodes: 1,
            all: elements
                .iter()
                .map(|element| element.1.max(element.2))
                .max()
                .unwrap_or(0),
            elements: Vec::new(),
            is_electrical: true,
        };
        for (kind, from, to) in elements {
            drawn.add(kind, from, to);
        }
        drawn
    }

    /// The model of a seed.
    pub fn new(seed: u64) -> Drawn {
        let mut random = Random::new(seed);
        let is_electrical = random.percent(65);
        let nodes = random.between(2, 5);
        let mut drawn = Drawn {
            nodes,
            all: nodes,
            elements: Vec::new(),
            is_electrical,
        };
        match is_electrical {
            true => drawn.draw_circuit(&mut random),
            false => drawn.draw_drive(&mut random),
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
        if self.is_electrical { 0.04 } else { 0.4 }
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

    fn draw_circuit(&mut self, random: &mut Random) {
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
        for _ in 0..random.between(2, 6) {
            let (from, to) = self.pair(random);
            let gate = self.gate(random);
            let kinds = [
                Kind::Diode,
                Kind::Diode,
                Kind::Diode,
                Kind::Switch(gate),
                Kind::Transistor(gate),
            ];
            self.add(random.choose(&kinds), from, to);
        }
        for _ in 0..random.between(0, 2) {
            let (from, to) = self.pair(random);
            self.add(Kind::AType(between(random, 1e-4, 1e-3)), from, to);
        }
        for _ in 0..random.between(0, 2) {
            let (from, to) = self.pair(random);
            self.add_path(random, from, to, 0);
        }
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

    fn draw_drive(&mut self, random: &mut Random) {
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
        for _ in 0..random.between(2, 6) {
            let (from, to) = self.pair(random);
            let (limit, gate) = (between(random, 0.5, 5.0), self.gate(random));
            let kinds = [
                Kind::Friction(limit),
                Kind::Friction(limit),
                Kind::Diode,
                Kind::Brake(limit, gate),
            ];
            self.add(random.choose(&kinds), from, to);
        }
        for _ in 0..random.between(0, 2) {
            let (from, to) = self.pair(random);
            self.add(Kind::TType(1.0 / between(random, 10.0, 200.0)), from, to);
        }
    }

    /// The text of the model, with its lines shuffled by a seed.
    pub fn text(&self, shuffled: Option<u64>) -> String {
        let mut elements: Vec<&Element> = self.elements.iter().collect();
        if let Some(seed) = shuffled {
            let mut random = Random::new(seed.wrapping_add(0xabcd));
            for at in (1..elements.len()).rev() {
                elements.swap(at, random.below(at + 1));
            }
        }
        let domain = if self.is_electrical { "electrical" } else { "rotational" };
        let nodes: Vec<String> = (1..=self.all).map(|node| format!("n{node}")).collect();
        let mut text = format!(
            "import switching;\nmodel Random {{\n  node {} : {domain};\n",
            nodes.join(", ")
        );
        for element in elements {
            let _ = writeln!(
                text,
                "  {} : {} {} -> {};",
                element.name,
                self.law(element),
                node(element.from),
                node(element.to)
            );
            if let Some(gate) = element.kind.gate() {
                let (name, off_at) = (&element.name, DUTY * gate.period);
                let (first, second) = (u8::from(!gate.is_inverse), u8::from(gate.is_inverse));
                let _ = writeln!(
                    text,
                    "  discrete g_{name} = {first};\n  every {:?} {{ g_{name} := {first}; }}\n  every {:?} from {off_at:?} {{ g_{name} := {second}; }}",
                    gate.period, gate.period
                );
            }
        }
        for node in 1..=self.nodes {
            let _ = writeln!(text, "  output v{node} = across(n{node});");
        }
        for element in self.stores() {
            let _ = writeln!(text, "  output i_{} = through({});", element.name, element.name);
        }
        let _ = write!(
            text,
            "  experiment {{ stop = {}; points = {POINTS}; }}\n}}\n",
            self.stop()
        );
        text
    }

    /// The elements whose through variables are outputs.
    pub fn stores(&self) -> impl Iterator<Item = &Element> {
        self.elements
            .iter()
            .filter(|element| matches!(element.kind, Kind::TType(_)))
    }

    fn law(&self, element: &Element) -> String {
        let name = &element.name;
        let omega = format!("2*pi*{}*time", 2.0 / self.stop());
        match (element.kind, self.is_electrical) {
            (
                Kind::Across {
                    offset,
                    amplitude,
                    phase,
                },
                _,
            ) => {
                format!("VoltageSource({offset} + {amplitude:?}*sin({omega} + {phase}))")
            }
            (Kind::Through { amplitude, phase }, _) => format!("TorqueSource({amplitude:?}*sin({omega} + {phase}))"),
            (Kind::Dissipator(value), true) => format!("Resistor({value:?})"),
            (Kind::Dissipator(value), false) => format!("RotaryDamper(1/{value:?})"),
            (Kind::AType(value), true) => format!("Capacitor({value:?})"),
            (Kind::AType(value), false) => format!("Inertia({value:?})"),
            (Kind::TType(value), true) => format!("Inductor({value:?})"),
            (Kind::TType(value), false) => format!("TorsionSpring(1/{value:?})"),
            (Kind::Diode, true) => "IdealDiode".to_string(),
            (Kind::Diode, false) => "FreeWheel".to_string(),
            (Kind::Switch(_), _) => format!("Switch(g_{name} > 0.5)"),
            (Kind::Transistor(_), _) => format!("IdealTransistor(g_{name} > 0.5)"),
            (Kind::Friction(limit), _) => format!("RotaryDryFriction({limit:?})"),
            (Kind::Brake(limit, _), _) => format!("Brake({limit:?}*g_{name})"),
        }
    }
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.below(10_000) as f64 / 10_000.0
}

fn node(at: usize) -> String {
    if at == 0 { "gnd".to_string() } else { format!("n{at}") }
}
