//! Random models in a separate representation: branches between nodes, functions of time, controllers, and measures.
//!
//! Values are stored in the neutral form of each law (`through = C*der(across)`, `across = L*der(through)`, `across =
//! R*through`), so that a change of units is one rule for all domains.

pub use crate::support::domain::Domain;

/// A node; none is the ground.
pub type Node = Option<usize>;

/// The shape of a term of a function of time.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Constant,
    Step {
        at: f64,
    },
    Pulse {
        at: f64,
        width: f64,
    },
    /// Rises with slope 1 over `unit`.
    Ramp {
        at: f64,
        unit: f64,
    },
    /// `sin(omega*time + phase)`
    Sine {
        omega: f64,
        phase: f64,
    },
    /// `exp(-rate*time)`
    Decay {
        rate: f64,
    },
    /// `exp(-((time - at)/width)^2)`
    Bump {
        at: f64,
        width: f64,
    },
    /// `if time > at then 1 else 0`
    When {
        at: f64,
    },
    /// `abs(sin(omega*time))`
    Rectified {
        omega: f64,
    },
    /// Straight lines between points, constant beyond them; zero at the first point.
    Lines {
        times: Vec<f64>,
        values: Vec<f64>,
    },
}

/// A function of time: a sum of shapes.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Function(pub Vec<(f64, Shape)>);

/// A measurable quantity, or a signal for a source.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    One,
    Function(usize),
    /// The state of a controller.
    Controller(usize),
    /// The across variable of a port of an element.
    Across(usize, usize),
    /// The through variable of a port of an element.
    Through(usize, usize),
    /// The integral of an across variable.
    IntAcross(usize),
    Power(usize),
    Energy(usize),
    /// The product of a function, by its index, and a quantity: a time-varying coefficient.
    Modulated(usize, Box<Quantity>),
}

/// A sum of quantities, optionally limited.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sum {
    pub terms: Vec<(f64, Quantity)>,
    pub limit: Option<f64>,
}

/// A static characteristic `y = linear*x + part*shape(x/size)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    Cubic,
    Tanh,
    Quadratic,
    /// `exp(x) - 1`
    Exponential,
    /// `max(x - 1, 0)`
    Gap,
    Atan,
}

/// The law of an element.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    AType(f64),
    TType(f64),
    DType(f64),
    /// `through = linear*x + cubic*x^3` with x the integral of the across variable.
    CubicT {
        linear: f64,
        cubic: f64,
    },
    /// `across = linear*q + cubic*q^3` with q the integral of the through variable.
    CubicA {
        linear: f64,
        cubic: f64,
    },
    /// `through` as a curve of `across`.
    Curved {
        curve: Curve,
        linear: f64,
        part: f64,
        size: f64,
    },
    AcrossSource(Sum),
    ThroughSource(Sum),
    Transformer(f64),
    Gyrator(f64),
    /// A fixed-free bar with one port at its free end: density, Young's modulus, damping ratio, and number of modes.
    Bar {
        density: f64,
        modulus: f64,
        zeta: f64,
        modes: usize,
    },
}

/// An element between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    pub name: String,
    pub kind: Kind,
    /// One pair of nodes for each port.
    pub ports: Vec<(Node, Node)>,
    /// Across of an A-type, through of a T-type, the integral of a cubic storage.
    pub start: Option<f64>,
}

/// `state z = int(sum), start = ..`
#[derive(Clone, Debug, PartialEq)]
pub struct Controller {
    pub rate: Sum,
    pub start: f64,
}

/// An output: a factor times a measured quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub name: String,
    pub factor: f64,
    pub quantity: Quantity,
}

/// A model and the duration of its run.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Model {
    pub nodes: Vec<Domain>,
    pub elements: Vec<Element>,
    pub functions: Vec<Function>,
    pub controllers: Vec<Controller>,
    pub outputs: Vec<Output>,
    pub stop: f64,
}

impl Model {
    /// The domain of a port of an element.
    pub fn domain(&self, element: usize, port: usize) -> Domain {
        let (from, to) = self.elements[element].ports[port];
        self.nodes[from.or(to).expect("a branch has a node")]
    }

    /// All sums of the model.
    pub fn sums(&self) -> impl Iterator<Item = &Sum> {
        let sources = self.elements.iter().filter_map(|element| match &element.kind {
            Kind::AcrossSource(sum) | Kind::ThroughSource(sum) => Some(sum),
            _ => None,
        });
        sources.chain(self.controllers.iter().map(|controller| &controller.rate))
    }

    /// All sums of the model, mutable.
    pub fn sums_mut(&mut self) -> impl Iterator<Item = &mut Sum> {
        let sources = self.elements.iter_mut().filter_map(|element| match &mut element.kind {
            Kind::AcrossSource(sum) | Kind::ThroughSource(sum) => Some(sum),
            _ => None,
        });
        sources.chain(self.controllers.iter_mut().map(|controller| &mut controller.rate))
    }

    /// All measured quantities.
    pub fn quantities_mut(&mut self) -> Vec<(&mut f64, &mut Quantity)> {
        let Model {
            elements,
            controllers,
            outputs,
            ..
        } = self;
        let sources = elements.iter_mut().filter_map(|element| match &mut element.kind {
            Kind::AcrossSource(sum) | Kind::ThroughSource(sum) => Some(sum),
            _ => None,
        });
        let sums = sources.chain(controllers.iter_mut().map(|controller| &mut controller.rate));
        let terms = sums.flat_map(|sum| sum.terms.iter_mut().map(|term| (&mut term.0, &mut term.1)));
        let measured = outputs
            .iter_mut()
            .map(|output| (&mut output.factor, &mut output.quantity));
        terms.chain(measured).collect()
    }
}

impl Quantity {
    /// The element that is measured.
    pub fn element(&self) -> Option<usize> {
        match self {
            Quantity::Across(element, _)
            | Quantity::Through(element, _)
            | Quantity::IntAcross(element)
            | Quantity::Power(element)
            | Quantity::Energy(element) => Some(*element),
            Quantity::Modulated(_, of) => of.element(),
            Quantity::One | Quantity::Function(_) | Quantity::Controller(_) => None,
        }
    }

    /// The same with renumbered elements, functions and controllers; none if one of them is missing.
    pub fn renumbered(&self, with: &dyn Fn(Part, usize) -> Option<usize>) -> Option<Quantity> {
        Some(match self {
            Quantity::One => Quantity::One,
            Quantity::Function(at) => Quantity::Function(with(Part::Function, *at)?),
            Quantity::Controller(at) => Quantity::Controller(with(Part::Controller, *at)?),
            Quantity::Across(at, port) => Quantity::Across(with(Part::Element, *at)?, *port),
            Quantity::Through(at, port) => Quantity::Through(with(Part::Element, *at)?, *port),
            Quantity::IntAcross(at) => Quantity::IntAcross(with(Part::Element, *at)?),
            Quantity::Power(at) => Quantity::Power(with(Part::Element, *at)?),
            Quantity::Energy(at) => Quantity::Energy(with(Part::Element, *at)?),
            Quantity::Modulated(at, of) => {
                Quantity::Modulated(with(Part::Function, *at)?, Box::new(of.renumbered(with)?))
            }
        })
    }
}

/// The parts of a model that have indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Element,
    Function,
    Controller,
}
