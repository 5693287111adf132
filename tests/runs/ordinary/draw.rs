//! Random models of 5 to 25 elements, as users write them.
//!
//! Each domain has a magnitude of its across and through variables, with a common power and time scale, so that values
//! are realistic and all time constants are comparable.

use super::model::{Domain, Element, Kind, Law, Model, Node, Signal};
use crate::equations::networks::random::Random;

/// The electrical magnitudes of a model: for a diode with a picoampere of saturation current, volts and not millivolts.
const JUNCTION: (f64, f64) = (1e-12, 0.02585);

struct Draw {
    random: Random,
    kind: Kind,
    model: Model,
    /// Magnitudes of power and of time.
    power: f64,
    span: f64,
    nonlinear: bool,
    starts: bool,
}

/// A number with three digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().expect("a number")
}

impl Draw {
    /// A random number between two bounds.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        let share = (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64;
        low + share * (high - low)
    }

    /// A power of ten with a random exponent between two bounds.
    fn decades(&mut self, low: f64, high: f64) -> f64 {
        rounded(10f64.powf(self.within(low, high)))
    }

    /// Magnitudes of across and through variables of a domain.
    fn sizes(&mut self, domain: Domain) -> (f64, f64) {
        let ratio = match domain {
            Domain::Electrical => self.decades(1.0, 3.5),
            Domain::Translational => self.decades(-3.0, 0.0),
            Domain::Rotational => self.decades(-1.0, 2.0),
            Domain::Fluid => self.decades(6.5, 9.0),
            Domain::Thermal => 50.0 * 50.0 / self.power,
        };
        match domain {
            Domain::Thermal => (50.0, self.power),
            _ => ((self.power * ratio).sqrt(), (self.power / ratio).sqrt()),
        }
    }

    fn node(&mut self, domain: Domain, sizes: (f64, f64)) -> usize {
        self.model.nodes.push(domain);
        self.model.sizes.push(sizes);
        self.model.nodes.len() - 1
    }

    fn element(&mut self, law: Law, ports: Vec<(Node, Node)>) -> usize {
        let (from, to) = ports[0];
        self.model.elements.push(Element {
            domain: self.model.nodes[from.or(to).expect("a branch has a node")],
            law,
            ports,
            start: None,
        });
        self.model.elements.len() - 1
    }

    /// A nonlinear law available in a domain; none if it has none.
    fn curved(&mut self, domain: Domain, (across, through): (f64, f64)) -> Option<Law> {
        let which = self.random.below(4);
        let factor = self.decades(-0.5, 0.5);
        let flow = through * factor;
        let corner = rounded(0.3 * across * factor);
        Some(match (domain, which) {
            (Domain::Electrical, 0 | 1) => Law::Diode(JUNCTION.0, JUNCTION.1),
            (Domain::Electrical, 2) if self.kind != Kind::Everyday => {
                Law::Clipper(rounded(through / across * self.decades(0.0, 3.0)), corner)
            }
            (Domain::Electrical, 2) => Law::Gap(rounded(flow / across), corner),
            (Domain::Electrical, _) => Law::Tanh(rounded(flow), rounded(across * self.steepness())),
            (Domain::Fluid, 0..=2) => match self.random.percent(50) {
                true => Law::Orifice(rounded(flow / across.sqrt())),
                false => Law::Bend(rounded(across / (flow * flow))),
            },
            (Domain::Fluid, _) => Law::Gap(rounded(flow / across), corner),
            (Domain::Thermal, _) => return None,
            (_, 0) => Law::Drag(rounded(flow / (across * across))),
            (_, 1) => Law::Tanh(rounded(flow), rounded(across * self.steepness())),
            (_, 2) => Law::Gap(rounded(flow / across), corner),
            _ => {
                let stiffness = flow / (across * self.span);
                Law::Hard(rounded(stiffness), rounded(stiffness / (across * self.span).powi(2)))
            }
        })
    }

    /// The sharpness of a law that saturates.
    fn steepness(&mut self) -> f64 {
        match self.kind {
            Kind::Everyday => self.decades(-1.0, 0.0),
            _ => self.decades(-3.0, -1.0),
        }
    }

    fn resistance(&mut self, (across, through): (f64, f64)) -> Law {
        Law::DType(rounded(across / through * self.decades(-1.0, 1.0)))
    }

    /// A branch that stores or dissipates.
    fn passive(&mut self, from: usize, to: Node) {
        let domain = self.model.nodes[from];
        let sizes = self.model.sizes[from];
        let (ratio, span) = (sizes.0 / sizes.1, self.span);
        let curved = if self.kind == Kind::Everyday { 35 } else { 65 };
        let storage = if self.kind == Kind::Everyday { 55 } else { 35 };
        let bent = match self.nonlinear && self.random.percent(curved) {
            true => self.curved(domain, sizes),
            false => None,
        };
        if let Some(law) = bent {
            self.element(law, vec![(Some(from), to)]);
            return;
        }
        let is_storage = self.random.percent(storage);
        let is_a_type = domain == Domain::Thermal || self.random.percent(55);
        let quick = if self.random.percent(15) {
            self.decades(-3.0, -1.0)
        } else {
            self.decades(-1.0, 0.5)
        };
        let (law, ends, start) = match (is_storage, is_a_type) {
            (false, _) => (self.resistance(sizes), (Some(from), to), 0.0),
            (true, true) => {
                // A mass moves relative to the ground, and the other end of a heat capacity is the ground.
                let is_free = matches!(domain, Domain::Electrical | Domain::Fluid);
                let ends = (Some(from), to.filter(|_| is_free));
                (Law::AType(rounded(span / ratio * quick)), ends, sizes.0)
            }
            (true, false) => (Law::TType(rounded(span * ratio * quick)), (Some(from), to), sizes.1),
        };
        let at = self.element(law, vec![ends]);
        if is_storage && self.starts && self.random.percent(40) {
            let share = self.within(-1.0, 1.0);
            self.model.elements[at].start = Some(rounded(start * share));
        }
    }

    fn signal(&mut self, size: f64) -> Signal {
        let height = rounded(size * self.decades(-0.3, 0.3));
        let stop = self.model.stop;
        let omega = rounded(std::f64::consts::TAU / self.span * self.decades(-0.7, 0.3));
        // Between the samples of a run with 41 samples.
        let at = rounded(stop * (self.random.between(1, 20) as f64 + 0.37) / 40.0);
        let width = rounded(stop * (self.random.between(2, 16) as f64 + 0.21) / 40.0);
        match self.random.below(6) {
            0 => Signal::Constant(height),
            1 | 2 => Signal::Sine(height, omega),
            3 => Signal::Step(height, at),
            4 => Signal::Pulse(height, at, width),
            _ => Signal::Rise(height, at, width),
        }
    }

    /// A source at a node: of the through variable, or of the across variable behind a resistance.
    fn source(&mut self, node: usize) {
        let sizes = self.model.sizes[node];
        if self.random.percent(35) {
            let signal = self.signal(sizes.1);
            self.element(Law::ThroughSource(signal), vec![(None, Some(node))]);
            return;
        }
        let signal = self.signal(sizes.0);
        let own = self.node(self.model.nodes[node], sizes);
        self.element(Law::AcrossSource(signal), vec![(Some(own), None)]);
        let law = self.resistance(sizes);
        self.element(law, vec![(Some(own), Some(node))]);
    }

    /// Nodes of one domain and the elements between them.
    fn region(&mut self, domain: Domain, count: usize) -> Vec<usize> {
        let sizes = self.sizes(domain);
        let mut nodes: Vec<usize> = Vec::new();
        for at in 0..count {
            let node = self.node(domain, sizes);
            let to = match at {
                0 => None,
                _ => Some(self.random.choose(&nodes)).filter(|_| self.random.percent(70)),
            };
            nodes.push(node);
            self.passive(node, to);
        }
        for _ in 0..self.random.between(1, count + 1) {
            let from = self.random.choose(&nodes);
            let to = Some(self.random.choose(&nodes)).filter(|to| *to != from);
            self.passive(from, to);
        }
        // Each node has a path to the ground, and each storage element has a dissipator.
        for node in &nodes {
            let has_leak = match (self.kind, domain) {
                (Kind::Electrical, _) => true,
                (_, Domain::Thermal) => self.random.percent(80),
                _ => self.random.percent(40),
            };
            if has_leak || node == &nodes[0] || self.may_float(*node) {
                let law = self.leak(sizes);
                self.element(law, vec![(Some(*node), None)]);
            }
        }
        nodes
    }

    /// Returns true if every branch at a node has zero through variable where its law is flat.
    fn may_float(&self, node: usize) -> bool {
        let is_flat = |law: &Law| matches!(law, Law::Gap(..) | Law::Clipper(..) | Law::Drag(_));
        let mut there = self.model.elements.iter().filter(|each| {
            let (from, to) = each.ports[0];
            from == Some(node) || to == Some(node)
        });
        there.all(|each| is_flat(&each.law))
    }

    /// A resistance to the ground: next to steep laws it has little effect, over a realistic range of decades.
    fn leak(&mut self, sizes: (f64, f64)) -> Law {
        match self.kind {
            Kind::Electrical => Law::DType(self.decades(4.0, 12.0)),
            _ => self.resistance(sizes),
        }
    }

    fn coupler(&mut self, one: usize, other: usize) {
        let (a, b) = (self.model.sizes[one], self.model.sizes[other]);
        let factor = self.decades(-0.4, 0.4) * if self.random.percent(25) { -1.0 } else { 1.0 };
        let law = match self.random.percent(50) {
            true => Law::Transformer(rounded(factor * b.0 / a.0)),
            false => Law::Gyrator(rounded(factor * b.0 / a.1)),
        };
        self.element(law, vec![(Some(one), None), (Some(other), None)]);
    }

    /// A source controlled by a variable measured elsewhere.
    fn controlled(&mut self, nodes: &[usize]) {
        let of = self.random.below(self.model.elements.len());
        let (from, to) = self.model.elements[of].ports[0];
        let measured = self.model.sizes[from.or(to).expect("a branch has a node")];
        let node = self.random.choose(nodes);
        let gain = rounded(-0.5 * self.model.sizes[node].1 / measured.0 * self.decades(-0.7, 0.0));
        self.element(Law::Controlled(gain, of), vec![(None, Some(node))]);
    }

    /// The dissipated power of a resistance heats a body.
    fn heat(&mut self) {
        let is_resistance =
            |element: &Element| matches!(element.law, Law::DType(_)) && element.domain != Domain::Thermal;
        let all: Vec<usize> = (0..self.model.elements.len())
            .filter(|at| is_resistance(&self.model.elements[*at]))
            .collect();
        let nodes = self.region(Domain::Thermal, 2);
        if all.is_empty() {
            self.source(nodes[0]);
            return;
        }
        let of = self.random.choose(&all);
        self.element(Law::Heat(of), vec![(None, Some(nodes[0]))]);
    }
}

/// The model of a seed.
pub fn draw(seed: u64, kind: Kind) -> Model {
    let mut random = Random::new(seed ^ 0x0dd1);
    let span = 10f64.powi(random.below(5) as i32 - 3);
    let power = 10f64.powi(random.below(4) as i32 - 1);
    let mut draw = Draw {
        nonlinear: kind != Kind::Everyday || random.percent(60),
        starts: random.percent(40),
        random,
        kind,
        model: Model {
            stop: 5.0 * span,
            ..Model::default()
        },
        power,
        span,
    };
    let domains: Vec<Domain> = match kind {
        Kind::Electrical => vec![Domain::Electrical],
        Kind::Fluid => vec![Domain::Fluid],
        Kind::Everyday => {
            let any = [
                Domain::Electrical,
                Domain::Translational,
                Domain::Rotational,
                Domain::Fluid,
            ];
            let count = draw.random.choose(&[1, 1, 2, 2, 3]);
            (0..count).map(|_| draw.random.choose(&any)).collect()
        }
    };
    let most = if domains.len() == 1 { 5 } else { 3 };
    let mut regions: Vec<Vec<usize>> = Vec::new();
    for domain in &domains {
        let count = draw.random.between(most - 2, most);
        regions.push(draw.region(*domain, count));
    }
    for pair in regions.windows(2) {
        let ends = [&pair[0], &pair[1]].map(|nodes| draw.random.choose(nodes));
        draw.coupler(ends[0], ends[1]);
    }
    draw.source(regions[0][0]);
    if draw.random.percent(30) {
        let node = draw.random.choose(&regions[regions.len() - 1]);
        draw.source(node);
    }
    if kind == Kind::Everyday && draw.random.percent(25) {
        draw.controlled(&regions[0]);
    }
    if kind == Kind::Everyday && draw.random.percent(20) {
        draw.heat();
    }
    keep_consistent(&mut draw.model);
    draw.model
}

/// Removes initial values that may contradict each other or the requirements of couplers and sources: next to couplers,
/// in loops of storage and across sources, and at nodes that connect only springs and through sources.
fn keep_consistent(model: &mut Model) {
    let has_coupler = model.elements.iter().any(|element| element.ports.len() > 1);
    let ends = |element: &Element| element.ports[0];
    let holds = |law: &Law| matches!(law, Law::AType(_) | Law::AcrossSource(_));
    let passes = |law: &Law| {
        matches!(
            law,
            Law::TType(_) | Law::Hard(..) | Law::ThroughSource(_) | Law::Controlled(..) | Law::Heat(_)
        )
    };
    let held: Vec<(Node, Node)> = model
        .elements
        .iter()
        .filter(|each| holds(&each.law))
        .map(ends)
        .collect();
    let others: Vec<(Node, Node)> = model
        .elements
        .iter()
        .filter(|each| !passes(&each.law))
        .map(ends)
        .collect();
    let (loops, _) = joined(model.nodes.len(), &held);
    let (_, parts) = joined(model.nodes.len(), &others);
    for element in &mut model.elements {
        let is_bound = match element.law {
            Law::AType(_) => loops,
            _ => parts > 1,
        };
        if has_coupler || is_bound {
            element.start = None;
        }
    }
}

/// Returns true if branches close a loop, and the number of connected components of nodes and ground.
fn joined(nodes: usize, branches: &[(Node, Node)]) -> (bool, usize) {
    let mut part: Vec<usize> = (0..=nodes).collect();
    let mut closes = false;
    for (from, to) in branches {
        let (one, other) = (part[from.unwrap_or(nodes)], part[to.unwrap_or(nodes)]);
        closes |= one == other;
        part.iter_mut()
            .filter(|each| **each == other)
            .for_each(|each| *each = one);
    }
    part.sort_unstable();
    part.dedup();
    (closes, part.len())
}
