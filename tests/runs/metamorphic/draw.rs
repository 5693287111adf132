//! Random models.

use super::model::{Controller, Curve, Domain, Element, Function, Kind, Model, Node, Output, Quantity, Shape, Sum};
use super::random::Random;
use super::rescale::Units;

/// The random choices for a model.
struct Flavour {
    /// The number of decades over which values are spread.
    decades: f64,
    nonlinear: bool,
    starts: bool,
    feedback: bool,
    blocks: bool,
}

struct Draw {
    random: Random,
    flavour: Flavour,
    model: Model,
}

/// A number with three digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("a number")
}

impl Draw {
    /// Between 0 and 1.
    fn share(&mut self) -> f64 {
        (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Around 1, spread over n decades.
    fn around(&mut self, decades: f64) -> f64 {
        let exponent = (self.share() - 0.5) * decades;
        rounded(10f64.powf(exponent))
    }

    fn value(&mut self) -> f64 {
        self.around(self.flavour.decades)
    }

    fn element(&mut self, kind: Kind, ports: Vec<(Node, Node)>) -> usize {
        let at = self.model.elements.len();
        self.model.elements.push(Element {
            name: format!("e{}", at + 1),
            kind,
            ports,
            start: None,
        });
        at
    }

    fn passive(&mut self, storage: [bool; 2], ports: (Node, Node)) {
        let domain = self.model.nodes[ports.0.or(ports.1).expect("a branch has a node")];
        let is_curved = self.flavour.nonlinear && self.random.percent(35);
        let is_storage = self.random.percent(60);
        let is_a_type = storage[0] && (!storage[1] || self.random.percent(50));
        let value = self.value();
        let (kind, ports) = match (is_storage, is_a_type) {
            (false, _) if is_curved => (self.curved(), ports),
            (false, _) => (Kind::DType(value), ports),
            (true, true) => {
                // A mass moves relative to the ground.
                let is_free = matches!(domain, Domain::Electrical | Domain::Fluid);
                let ports = if is_free { ports } else { (ports.1.or(ports.0), None) };
                match is_curved {
                    true => (self.cubic(true), ports),
                    false => (Kind::AType(value), ports),
                }
            }
            (true, false) if is_curved => (self.cubic(false), ports),
            (true, false) => (Kind::TType(value), ports),
        };
        let starts = is_storage && self.flavour.starts && self.random.percent(35);
        let at = self.element(kind, vec![ports]);
        if starts {
            let sign = if self.random.percent(50) { -1.0 } else { 1.0 };
            self.model.elements[at].start = Some(sign * self.around(1.0));
        }
    }

    fn cubic(&mut self, is_a_type: bool) -> Kind {
        let (linear, cubic) = (self.value(), self.around(1.0));
        match is_a_type {
            true => Kind::CubicA { linear, cubic },
            false => Kind::CubicT { linear, cubic },
        }
    }

    fn curved(&mut self) -> Kind {
        let curve = self.random.choose(&[
            Curve::Cubic,
            Curve::Tanh,
            Curve::Quadratic,
            Curve::Exponential,
            Curve::Gap,
            Curve::Atan,
        ]);
        Kind::Curved {
            curve,
            linear: if self.random.percent(80) { self.value() } else { 0.0 },
            part: self.value(),
            size: self.around(1.0),
        }
    }

    /// A part in one domain; returns its nodes.
    fn region(&mut self) -> Vec<usize> {
        let domain = self.random.choose(&Domain::ALL);
        let first = self.model.nodes.len();
        let count = self.random.between(1, 4);
        let both = self.flavour.decades < 5.0 || self.random.percent(25);
        let is_a_type = self.random.percent(50);
        let storage = [both || is_a_type, both || !is_a_type];
        for at in 0..count {
            self.model.nodes.push(domain);
            let to = match self.random.below(at + 2) {
                0 | 1 => None,
                other => Some(first + other - 2),
            };
            self.passive(storage, (Some(first + at), to));
        }
        let nodes: Vec<usize> = (first..first + count).collect();
        for _ in 0..self.random.between(1, 3) {
            let from = self.random.choose(&nodes);
            let to = Some(self.random.choose(&nodes)).filter(|to| *to != from);
            self.passive(storage, (Some(from), to));
        }
        let value = self.value();
        let from = self.random.choose(&nodes);
        self.element(Kind::DType(value), vec![(Some(from), None)]);
        nodes
    }

    fn coupler(&mut self, one: &[usize], other: &[usize]) {
        let decades = self.flavour.decades.min(2.0);
        let ratio = self.around(decades) * if self.random.percent(25) { -1.0 } else { 1.0 };
        let kind = match self.random.percent(60) {
            true => Kind::Transformer(ratio),
            false => Kind::Gyrator(ratio),
        };
        let ports = [one, other].map(|nodes| (Some(self.random.choose(nodes)), None));
        self.element(kind, ports.to_vec());
    }

    /// A time within the run: often that of a sample.
    fn instant(&mut self) -> f64 {
        let share = match self.random.percent(60) {
            true => self.random.between(0, 9) as f64 / 10.0,
            false => rounded(0.9 * self.share()),
        };
        rounded(share * self.model.stop)
    }

    fn shape(&mut self) -> Shape {
        let stop = self.model.stop;
        let width = rounded(stop * self.random.choose(&[0.001, 0.01, 0.1, 0.3]));
        let omega = rounded(6.3 * (0.3 + 15.0 * self.share().powi(3)) / stop);
        let at = self.instant();
        match self.random.below(12) {
            0 => Shape::Constant,
            1 | 2 => Shape::Step { at },
            3 => Shape::Pulse { at, width },
            4 => Shape::Ramp { at, unit: stop },
            5 | 6 => Shape::Sine {
                omega,
                phase: if self.random.percent(50) { 0.0 } else { 0.5 },
            },
            7 => Shape::Decay {
                rate: rounded(self.around(1.5) * 3.0 / stop),
            },
            8 => Shape::Bump { at, width },
            9 => Shape::When { at },
            10 => Shape::Rectified { omega },
            _ => self.lines(),
        }
    }

    fn lines(&mut self) -> Shape {
        let stop = self.model.stop;
        let mut times: Vec<f64> = (0..self.random.between(2, 5)).map(|_| self.instant()).collect();
        times.push(rounded(0.95 * stop));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let values = times.iter().map(|_| rounded(2.0 * self.share() - 1.0)).collect();
        Shape::Lines { times, values }
    }

    fn functions(&mut self) {
        for _ in 0..self.random.between(1, 2) {
            let mut terms = Vec::new();
            for _ in 0..self.random.choose(&[1, 1, 1, 2]) {
                let factor = self.around(1.0) * if self.random.percent(20) { -1.0 } else { 1.0 };
                terms.push((rounded(factor), self.shape()));
            }
            self.model.functions.push(Function(terms));
        }
    }

    /// A source with the first function, or with both.
    fn source(&mut self, nodes: &[usize]) {
        let mut terms = vec![(1.0, Quantity::Function(0))];
        if self.model.functions.len() > 1 && self.random.percent(50) {
            terms.push((self.around(1.0), Quantity::Function(1)));
        }
        if self.random.percent(10) {
            terms.push((self.around(1.0), Quantity::One));
        }
        let sum = Sum { terms, limit: None };
        self.place_source(sum, nodes);
    }

    fn place_source(&mut self, sum: Sum, nodes: &[usize]) {
        let node = self.random.choose(nodes);
        if self.random.percent(40) {
            self.element(Kind::ThroughSource(sum), vec![(None, Some(node))]);
        } else if self.random.percent(35) {
            self.element(Kind::AcrossSource(sum), vec![(Some(node), None)]);
        } else {
            let domain = self.model.nodes[node];
            self.model.nodes.push(domain);
            let own = self.model.nodes.len() - 1;
            self.element(Kind::AcrossSource(sum), vec![(Some(own), None)]);
            let value = self.value();
            self.element(Kind::DType(value), vec![(Some(own), Some(node))]);
        }
    }

    /// A random measure.
    fn measured(&mut self) -> Quantity {
        let at = self.random.below(self.model.elements.len());
        let element = &self.model.elements[at];
        let port = self.random.below(element.ports.len());
        match element.kind {
            Kind::Bar { .. } => Quantity::Across(at, 0),
            _ if self.random.percent(50) => Quantity::Across(at, port),
            _ => Quantity::Through(at, port),
        }
    }

    /// Controllers and controlled sources.
    fn feedback(&mut self, nodes: &[usize]) {
        if self.random.percent(60) {
            let measured = self.measured();
            let rate = Sum {
                terms: vec![(1.0, Quantity::Function(0)), (-self.around(1.0), measured)],
                limit: self.random.percent(20).then_some(1.0),
            };
            let start = if self.random.percent(30) { 0.5 } else { 0.0 };
            self.model.controllers.push(Controller { rate, start });
        }
        let mut terms = Vec::new();
        if !self.model.controllers.is_empty() {
            terms.push((rounded(0.3 * self.around(1.0)), Quantity::Controller(0)));
        }
        if terms.is_empty() || self.random.percent(50) {
            let measured = self.measured();
            let measured = match self.random.percent(25) {
                true => Quantity::Modulated(0, Box::new(measured)),
                false => measured,
            };
            terms.push((-rounded(0.3 * self.around(1.0)), measured));
        }
        let limit = self.random.percent(25).then(|| self.around(1.0));
        self.place_source(Sum { terms, limit }, nodes);
    }

    fn outputs(&mut self) {
        let mut wanted = Vec::new();
        for (at, element) in self.model.elements.iter().enumerate() {
            match element.kind {
                Kind::AType(_) | Kind::CubicA { .. } | Kind::Bar { .. } => wanted.push(Quantity::Across(at, 0)),
                Kind::TType(_) | Kind::CubicT { .. } => wanted.push(Quantity::Through(at, 0)),
                _ => {}
            }
        }
        wanted.truncate(5);
        for _ in 0..self.random.between(1, 3) {
            wanted.push(self.measured());
        }
        let at = self.random.below(self.model.elements.len());
        match self.model.elements[at].kind {
            Kind::AType(_) | Kind::TType(_) => wanted.push(match self.random.percent(50) {
                true => Quantity::Energy(at),
                false => Quantity::Power(at),
            }),
            Kind::DType(_) => wanted.push(Quantity::Power(at)),
            _ => {}
        }
        let starts = self.model.elements.iter().any(|element| element.start.is_some());
        if !starts && self.random.percent(20) && matches!(self.model.elements[at].kind, Kind::DType(_)) {
            wanted.push(Quantity::IntAcross(at));
        }
        if self.random.percent(20) {
            wanted.push(Quantity::Function(0));
        }
        if !self.model.controllers.is_empty() {
            wanted.push(Quantity::Controller(0));
        }
        let outputs = wanted.into_iter().enumerate().map(|(at, quantity)| Output {
            name: format!("y{}", at + 1),
            factor: 1.0,
            quantity,
        });
        self.model.outputs = outputs.collect();
    }

    /// Other base units, so that the magnitudes of numbers are those of practice.
    fn units(&mut self) -> Units {
        let power =
            |random: &mut Random, low: i32, high: i32| 10f64.powi(low + random.below((high - low + 1) as usize) as i32);
        let random = &mut self.random;
        Units {
            across: [0; 4].map(|_| power(random, -4, 4)),
            power: power(random, -6, 4),
            time: power(random, -9, 3),
        }
    }
}

/// A model in units in which its values are near 1, and the units in which it is run.
pub struct Drawn {
    pub model: Model,
    pub units: Units,
}

/// The model of a seed.
pub fn draw(seed: u64) -> Drawn {
    let mut random = Random::new(seed);
    let decades = random.choose(&[0.5, 1.0, 1.0, 2.0, 2.0, 3.0, 6.0, 10.0]);
    let flavour = Flavour {
        decades,
        nonlinear: random.percent(40),
        starts: random.percent(40),
        feedback: random.percent(35),
        blocks: random.percent(12),
    };
    let stop = random.choose(&[1.0, 3.0, 10.0]);
    let mut draw = Draw {
        random,
        flavour,
        model: Model {
            stop,
            ..Model::default()
        },
    };
    let regions: Vec<Vec<usize>> = (0..draw.random.choose(&[1, 1, 1, 2, 2, 3]))
        .map(|_| draw.region())
        .collect();
    for pair in regions.windows(2) {
        draw.coupler(&pair[0], &pair[1]);
    }
    if draw.flavour.blocks {
        let node = draw.random.choose(&regions[0]);
        let (density, modulus) = (draw.around(1.0), draw.around(1.0));
        let (zeta, modes) = (draw.random.choose(&[0.01, 0.05]), draw.random.between(1, 4));
        let bar = Kind::Bar {
            density,
            modulus,
            zeta,
            modes,
        };
        draw.element(bar, vec![(Some(node), None)]);
    }
    draw.functions();
    draw.source(&regions[0]);
    if draw.random.percent(30) {
        draw.source(regions.last().expect("there is a region"));
    }
    if draw.flavour.feedback {
        draw.feedback(&regions[0]);
    }
    draw.outputs();
    let units = match draw.random.percent(60) {
        true => draw.units(),
        false => Units::SAME,
    };
    Drawn {
        model: draw.model,
        units,
    }
}
