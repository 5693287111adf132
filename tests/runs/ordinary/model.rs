//! An ordinary model, and its text.

use crate::runs::metamorphic::number;

/// The kinds of parts in a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All domains, smooth and nonlinear laws.
    Everyday,
    /// Diodes, sharp knees and saturation, with resistances of 1e4 to 1e12 ohm.
    Electrical,
    /// Turbulent laws, including at rest, in series and in parallel.
    Fluid,
}

/// A physical domain of the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    Electrical,
    Translational,
    Rotational,
    Fluid,
    Thermal,
}

/// Names of the library's elements: A-, T- and D-type, across and through source.
type Library = [&'static str; 5];

impl Domain {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Domain::Electrical => "electrical",
            Domain::Translational => "translational",
            Domain::Rotational => "rotational",
            Domain::Fluid => "fluid",
            Domain::Thermal => "thermal",
        }
    }

    fn library(self) -> Library {
        match self {
            Domain::Electrical => ["Capacitor", "Inductor", "Resistor", "VoltageSource", "CurrentSource"],
            Domain::Translational => ["Mass", "Spring", "Damper", "VelocitySource", "ForceSource"],
            Domain::Rotational => [
                "Inertia",
                "TorsionSpring",
                "RotaryDamper",
                "AngularVelocitySource",
                "TorqueSource",
            ],
            Domain::Fluid => [
                "FluidCapacitor",
                "Inertance",
                "FluidResistor",
                "PressureSource",
                "FlowSource",
            ],
            Domain::Thermal => [
                "ThermalCapacitor",
                "TType",
                "ThermalResistor",
                "TemperatureSource",
                "HeatSource",
            ],
        }
    }

    /// Returns true if the library defines springs and dampers by compliance and conductance instead of stiffness and
    /// resistance.
    fn is_mechanical(self) -> bool {
        matches!(self, Domain::Translational | Domain::Rotational)
    }
}

/// A node; none is the ground.
pub type Node = Option<usize>;

/// A function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    Constant(f64),
    /// Amplitude and angular frequency.
    Sine(f64, f64),
    /// Height and instant.
    Step(f64, f64),
    /// Height, instant and width.
    Pulse(f64, f64, f64),
    /// Height, instant and width of a linear rise.
    Rise(f64, f64, f64),
}

impl Signal {
    /// The value at a time; at a corner, on the side given by another time.
    pub fn at(self, time: f64, side: f64) -> f64 {
        match self {
            Signal::Constant(height) => height,
            Signal::Sine(height, omega) => height * (omega * time).sin(),
            Signal::Step(height, at) => height * f64::from(side > at),
            Signal::Pulse(height, at, width) => height * f64::from(side > at && side < at + width),
            Signal::Rise(height, at, width) => height * ((time - at) / width).clamp(0.0, 1.0),
        }
    }

    /// The instants at which it is not smooth.
    pub fn corners(self) -> Vec<f64> {
        match self {
            Signal::Constant(_) | Signal::Sine(..) => Vec::new(),
            Signal::Step(_, at) => vec![at],
            Signal::Pulse(_, at, width) | Signal::Rise(_, at, width) => vec![at, at + width],
        }
    }

    fn text(self) -> String {
        match self {
            Signal::Constant(height) => number(height),
            Signal::Sine(height, omega) => format!("{}*sin({}*time)", number(height), number(omega)),
            Signal::Step(height, at) => format!("{}*step({})", number(height), number(at)),
            Signal::Pulse(height, at, width) => {
                format!("{}*pulse({}, {})", number(height), number(at), number(width))
            }
            Signal::Rise(height, at, width) => {
                let slope = number(height / width);
                format!("{slope}*(ramp({}) - ramp({}))", number(at), number(at + width))
            }
        }
    }
}

/// The law of an element. Values of storage and of resistances are those of the neutral form (`through = C*der(across)`,
/// `across = L*der(through)`, `across = R*through`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    AType(f64),
    TType(f64),
    DType(f64),
    /// `through = is*(exp(across/vt) - 1)`
    Diode(f64, f64),
    /// `through = f*tanh(across/s)`
    Tanh(f64, f64),
    /// `through = g*max(across - v, 0)`
    Clipper(f64, f64),
    /// `through = g*(across - min(max(across, -v), v))`
    Gap(f64, f64),
    /// `through = c*across*abs(across)`
    Drag(f64),
    /// `through = k*sign(across)*sqrt(abs(across))`
    Orifice(f64),
    /// `across = c*through*abs(through)`
    Bend(f64),
    /// `through = k1*x + k3*x^3` with x the integral of the across variable.
    Hard(f64, f64),
    AcrossSource(Signal),
    ThroughSource(Signal),
    /// A through source: a factor times the across variable of another element.
    Controlled(f64, usize),
    /// A heat source with the power of another element.
    Heat(usize),
    /// `b.across = r*a.across`, `a.through = -r*b.through`
    Transformer(f64),
    /// `b.across = g*a.through`, `a.across = -g*b.through`
    Gyrator(f64),
}

/// An element between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    pub domain: Domain,
    pub law: Law,
    pub ports: Vec<(Node, Node)>,
    /// Across of an A-type, through of a T-type.
    pub start: Option<f64>,
}

/// A model and the duration of its run, with the magnitudes of across and through variables at each node.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Model {
    pub nodes: Vec<Domain>,
    pub sizes: Vec<(f64, f64)>,
    pub elements: Vec<Element>,
    pub stop: f64,
}

/// A measure: an element, its port, and true for the through variable.
pub type Measure = (usize, usize, bool);

impl Model {
    /// Across and through of every port.
    pub fn measures(&self) -> Vec<Measure> {
        let ports = |at: usize| (0..self.elements[at].ports.len()).map(move |port| (at, port));
        let all = (0..self.elements.len()).flat_map(ports);
        all.flat_map(|(at, port)| [(at, port, false), (at, port, true)])
            .collect()
    }

    /// Instants at which an input is not smooth.
    pub fn corners(&self) -> Vec<f64> {
        let sources = self.elements.iter().filter_map(|element| match element.law {
            Law::AcrossSource(signal) | Law::ThroughSource(signal) => Some(signal.corners()),
            _ => None,
        });
        let mut all: Vec<f64> = sources.flatten().filter(|at| *at > 0.0 && *at < self.stop).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The text of the model, with n samples.
    pub fn text(&self, points: usize) -> String {
        let mut definitions: Vec<&str> = Vec::new();
        let mut lines = Vec::new();
        for (at, domain) in self.nodes.iter().enumerate() {
            lines.push(format!("node n{} : {};", at + 1, domain.name()));
        }
        for (at, element) in self.elements.iter().enumerate() {
            let (definition, kind) = element.kind();
            if !definition.is_empty() && !definitions.contains(&definition) {
                definitions.push(definition);
            }
            let ports = element.ports.iter();
            let ports: Vec<String> = ports
                .map(|ends| format!("{} -> {}", node(ends.0), node(ends.1)))
                .collect();
            let start = element
                .start
                .map_or(String::new(), |start| format!(", start = {}", number(start)));
            lines.push(format!("e{} : {kind} {}{start};", at + 1, ports.join(", ")));
        }
        for (at, measure) in self.measures().iter().enumerate() {
            let port = match self.elements[measure.0].ports.len() {
                1 => "",
                _ => [".a", ".b"][measure.1],
            };
            let of = if measure.2 { "through" } else { "across" };
            lines.push(format!("output y{} = {of}(e{}{port});", at + 1, measure.0 + 1));
        }
        lines.push(format!(
            "experiment {{ stop = {}; points = {points}; }}",
            number(self.stop)
        ));
        let head: String = definitions.iter().map(|line| format!("{line}\n")).collect();
        let body: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        format!("{head}model Ordinary {{\n{body}}}\n")
    }
}

fn node(node: Node) -> String {
    node.map_or("gnd".to_string(), |at| format!("n{}", at + 1))
}

impl Element {
    /// The required definition of the element, and its kind with its values.
    fn kind(&self) -> (&'static str, String) {
        let library = self.domain.library();
        let own = |definition: &'static str, values: &[f64]| {
            let name = definition.split([' ', '(']).nth(1).expect("a definition has a name");
            let values: Vec<String> = values.iter().map(|value| number(*value)).collect();
            (definition, format!("{name}({})", values.join(", ")))
        };
        let of_library = |class: usize, value: String| ("", format!("{}({value})", library[class]));
        let inverse = |value: f64| {
            number(if self.domain.is_mechanical() {
                1.0 / value
            } else {
                value
            })
        };
        match self.law {
            Law::AType(value) => of_library(0, number(value)),
            Law::TType(value) => of_library(1, inverse(value)),
            Law::DType(value) => of_library(2, inverse(value)),
            Law::Diode(is, vt) => own(
                "element Junction(Is, Vt) { through = Is*(exp(across/Vt) - 1); }",
                &[is, vt],
            ),
            Law::Tanh(f, s) => own("element Friction(f, s) { through = f*tanh(across/s); }", &[f, s]),
            Law::Clipper(g, v) => own("element Clipper(g, v) { through = g*max(across - v, 0); }", &[g, v]),
            Law::Gap(g, v) => own(
                "element Gap(g, v) { through = g*(across - min(max(across, -v), v)); }",
                &[g, v],
            ),
            Law::Drag(c) => own("element Drag(c) { through = c*across*abs(across); }", &[c]),
            Law::Orifice(k) => own(
                "element Orifice(k) { through = k*sign(across)*sqrt(abs(across)); }",
                &[k],
            ),
            Law::Bend(c) => own("element Bend(c) { across = c*through*abs(through); }", &[c]),
            Law::Hard(k1, k3) => own(
                "element Hard(k1, k3) { through = k1*int(across) + k3*int(across)^3; }",
                &[k1, k3],
            ),
            Law::AcrossSource(signal) => of_library(3, signal.text()),
            Law::ThroughSource(signal) => of_library(4, signal.text()),
            Law::Controlled(factor, of) => of_library(4, format!("{}*across(e{})", number(factor), of + 1)),
            Law::Heat(of) => of_library(4, format!("power(e{})", of + 1)),
            Law::Transformer(ratio) => ("", format!("Transformer({})", number(ratio))),
            Law::Gyrator(ratio) => ("", format!("Gyrator({})", number(ratio))),
        }
    }
}
