//! A model as the text of a linear graph, in several equivalent forms.

use super::functions::{joined, product};
use super::model::{Curve, Domain, Element, Kind, Model, Node, Quantity, Shape, Sum};
use super::random::Random;

/// The location of functions of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Input,
    Signal,
    /// Written at each use.
    Written,
    /// As the argument of a component that contains the source.
    Component,
    /// As the argument of a user-defined element.
    Element,
}

/// Additions that make a linear model nonlinear without changing its behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    Nothing,
    /// An unconnected nonlinear part at rest.
    Island,
    /// Resistances multiplied by a state that is 1.
    Resistances,
    /// Source values multiplied by a state that is 1.
    Sources,
}

/// The form of a model's text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Writing {
    pub place: Place,
    pub idle: Idle,
    /// As a bond graph.
    pub bonds: bool,
    /// Domain-independent elements.
    pub generic: bool,
    /// Numbers as parameters, some of them derived.
    pub parameters: bool,
    /// Values with prefixed units, chosen by this seed.
    pub units: Option<u64>,
    /// Declarations in an order chosen by this seed.
    pub order: Option<u64>,
}

impl Writing {
    /// The plain form.
    pub const PLAIN: Writing = Writing {
        place: Place::Input,
        idle: Idle::Nothing,
        bonds: false,
        generic: false,
        parameters: false,
        units: None,
        order: None,
    };
}

/// A number with at most 15 digits.
pub fn number(value: f64) -> String {
    let short: f64 = format!("{value:.14e}").parse().expect("a number");
    match short.abs() {
        size if size == 0.0 || (1e-3..1e6).contains(&size) => format!("{short}"),
        _ => format!("{short:e}"),
    }
}

/// A text built definition by definition and statement by statement.
pub struct Text {
    pub writing: Writing,
    definitions: Vec<String>,
    pub statements: Vec<String>,
    parameters: Vec<String>,
    units: Random,
}

impl Text {
    fn new(writing: Writing) -> Text {
        Text {
            writing,
            definitions: Vec::new(),
            statements: Vec::new(),
            parameters: Vec::new(),
            units: Random::new(writing.units.unwrap_or(0)),
        }
    }

    /// A definition, once.
    pub fn define(&mut self, definition: String) {
        if !self.definitions.contains(&definition) {
            self.definitions.push(definition);
        }
    }

    /// A value as a number or a parameter.
    pub fn value(&mut self, value: f64) -> String {
        if !self.writing.parameters {
            return number(value);
        }
        let count = self.parameters.len() + 1;
        let name = format!("p{count}");
        // Some are derived from others.
        let line = match count % 3 {
            0 => format!("param h{count} = {}; param {name} = h{count}/2;", number(2.0 * value)),
            _ => format!("param {name} = {};", number(value)),
        };
        self.parameters.push(line);
        name
    }

    /// A value in a unit, with a prefix if requested.
    pub fn with_unit(&mut self, value: f64, unit: &str) -> String {
        if self.writing.units.is_none() || unit.is_empty() {
            return self.value(value);
        }
        let (prefix, factor) = self.units.choose(&[
            ("", 1.0),
            ("m", 1e-3),
            ("u", 1e-6),
            ("k", 1e3),
            ("M", 1e6),
            ("n", 1e-9),
            ("p", 1e-12),
        ]);
        match unit.strip_prefix("kg") {
            Some(rest) => format!("{} [{prefix}g{rest}]", number(value * 1e3 / factor)),
            None => format!("{} [{prefix}{unit}]", number(value / factor)),
        }
    }

    fn finish(mut self, model: &Model) -> String {
        let mut lines: Vec<String> = std::mem::take(&mut self.parameters);
        lines.append(&mut self.statements);
        if let Some(seed) = self.writing.order {
            let mut random = Random::new(seed);
            shuffle(&mut lines, &mut random);
            shuffle(&mut self.definitions, &mut random);
        }
        let points = "  experiment { stop = ".to_string() + &number(model.stop) + "; }\n";
        let body: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        let head: String = self.definitions.iter().map(|line| format!("{line}\n")).collect();
        format!("{head}model Random {{\n{body}{points}}}\n")
    }
}

fn shuffle(lines: &mut [String], random: &mut Random) {
    for at in (1..lines.len()).rev() {
        lines.swap(at, random.below(at + 1));
    }
}

/// The text of a model.
pub fn write(model: &Model, writing: Writing) -> String {
    let mut text = Text::new(writing);
    for (at, function) in model.functions.iter().enumerate() {
        let keyword = match writing.place {
            Place::Input => "input",
            Place::Signal => "signal",
            _ => continue,
        };
        text.statements
            .push(format!("{keyword} f{} = {};", at + 1, function.text()));
    }
    idle(&mut text);
    match writing.bonds {
        true => super::bonds::graph(model, &mut text),
        false => graph(model, &mut text),
    }
    for (at, controller) in model.controllers.iter().enumerate() {
        let rate = sum(model, &controller.rate, writing);
        let start = number(controller.start);
        text.statements
            .push(format!("state z{} = int({rate}), start = {start};", at + 1));
    }
    for output in &model.outputs {
        let value = product(output.factor, &quantity(model, &output.quantity, writing));
        text.statements.push(format!("output {} = {value};", output.name));
    }
    text.finish(model)
}

/// Additions that force the nonlinear path.
fn idle(text: &mut Text) {
    let lines: &[&str] = match text.writing.idle {
        Idle::Nothing => &[],
        Idle::Island => {
            text.define("element IdleSpring(k, c) { through = k*int(across) + c*int(across)^3; }".into());
            &[
                "node idle : translational;",
                "idle_mass : Mass(1) idle -> gnd;",
                "idle_spring : IdleSpring(1, 1) idle -> gnd;",
            ]
        }
        Idle::Resistances | Idle::Sources => &["state unity = int(1 - unity), start = 1;"],
    };
    text.statements.extend(lines.iter().map(|line| line.to_string()));
}

fn graph(model: &Model, text: &mut Text) {
    for (at, domain) in model.nodes.iter().enumerate() {
        text.statements.push(format!("node n{} : {};", at + 1, domain.name()));
    }
    for at in 0..model.elements.len() {
        element(model, at, text);
    }
}

fn node(node: Node) -> String {
    node.map_or("gnd".to_string(), |at| format!("n{}", at + 1))
}

/// Name, whether the value is inverted, and unit of the library's passive elements: A-, T-, D-type.
type Library = [(&'static str, bool, &'static str); 3];

fn library(domain: Domain) -> Library {
    match domain {
        Domain::Electrical => [
            ("Capacitor", false, "F"),
            ("Inductor", false, "H"),
            ("Resistor", false, "ohm"),
        ],
        Domain::Translational => [
            ("Mass", false, "kg"),
            ("Spring", true, "N/m"),
            ("Damper", true, "N.s/m"),
        ],
        Domain::Rotational => [
            ("Inertia", false, "kg.m^2"),
            ("TorsionSpring", true, "N.m/rad"),
            ("RotaryDamper", true, "N.m.s/rad"),
        ],
        Domain::Fluid => [
            ("FluidCapacitor", false, "m^3/Pa"),
            ("Inertance", false, "kg/m^4"),
            ("FluidResistor", false, "Pa.s/m^3"),
        ],
    }
}

/// Sources of across and through variables.
fn sources(domain: Domain) -> [&'static str; 2] {
    match domain {
        Domain::Electrical => ["VoltageSource", "CurrentSource"],
        Domain::Translational => ["VelocitySource", "ForceSource"],
        Domain::Rotational => ["AngularVelocitySource", "TorqueSource"],
        Domain::Fluid => ["PressureSource", "FlowSource"],
    }
}

/// A resistance value may be multiplied by a state in the nonlinear path.
pub fn resistance(text: &Text, value: String) -> String {
    match text.writing.idle {
        Idle::Resistances => format!("{value}*unity"),
        _ => value,
    }
}

fn passive(model: &Model, at: usize, class: usize, value: f64, text: &mut Text) -> String {
    let generic = ["AType", "TType", "DType"][class];
    let (own, is_inverse, unit) = library(model.domain(at, 0))[class];
    let (name, value) = match text.writing.generic {
        true => (generic, text.value(value)),
        // A prefix inverts its meaning in the denominator of a unit.
        false if unit == "m^3/Pa" => (own, text.value(value)),
        false => (own, text.with_unit(if is_inverse { 1.0 / value } else { value }, unit)),
    };
    let value = if class == 2 { resistance(text, value) } else { value };
    format!("{name}({value})")
}

/// A nonlinear element, of a domain or of bonds (` : bond`), and its values.
pub fn curved(text: &mut Text, name: &str, of: &str, law: &str, values: [f64; 3]) -> String {
    text.define(format!("element {name}(b, f, s){of} {{ {law} }}"));
    format!("{name}({})", values.map(|value| text.value(value)).join(", "))
}

/// The text of a curve of x, `linear*x + part*shape(x/size)`.
pub fn curve(curve: Curve, x: &str) -> String {
    let shape = match curve {
        Curve::Cubic => format!("({x}/s)^3"),
        Curve::Tanh => format!("tanh({x}/s)"),
        Curve::Quadratic => format!("({x}/s)*abs({x}/s)"),
        Curve::Exponential => format!("(exp({x}/s) - 1)"),
        Curve::Gap => format!("max({x}/s - 1, 0)"),
        Curve::Atan => format!("atan({x}/s)"),
    };
    format!("b*{x} + f*{shape}")
}

fn kind(model: &Model, at: usize, text: &mut Text) -> String {
    match &model.elements[at].kind {
        Kind::AType(value) => passive(model, at, 0, *value, text),
        Kind::TType(value) => passive(model, at, 1, *value, text),
        Kind::DType(value) => passive(model, at, 2, *value, text),
        Kind::CubicT { linear, cubic } => {
            text.define("element CubicT(a, c) { through = a*int(across) + c*int(across)^3; }".into());
            format!("CubicT({}, {})", text.value(*linear), text.value(*cubic))
        }
        Kind::CubicA { linear, cubic } => {
            text.define("element CubicA(a, c) { across = a*int(through) + c*int(through)^3; }".into());
            format!("CubicA({}, {})", text.value(*linear), text.value(*cubic))
        }
        Kind::Curved {
            curve: which,
            linear,
            part,
            size,
        } => {
            let law = format!("through = {};", curve(*which, "across"));
            curved(text, &format!("{which:?}D"), "", &law, [*linear, *part, *size])
        }
        Kind::AcrossSource(value) => source(model, at, 0, value, text),
        Kind::ThroughSource(value) => source(model, at, 1, value, text),
        Kind::Transformer(ratio) => format!("Transformer({})", text.value(*ratio)),
        Kind::Gyrator(ratio) => format!("Gyrator({})", text.value(*ratio)),
        Kind::Bar {
            density,
            modulus,
            zeta,
            modes,
        } => bar(model, at, [*density, *modulus, *zeta], *modes, text),
    }
}

fn source(model: &Model, at: usize, which: usize, value: &Sum, text: &mut Text) -> String {
    let value = source_value(model, value, text.writing);
    let variable = ["across", "through"][which];
    match text.writing.place {
        Place::Component => {
            let domain = model.domain(at, 0).name();
            let own = sources(model.domain(at, 0))[which];
            text.define(format!(
                "component Drive_{variable}_{domain}(x) {{ port p, q : {domain}; s : {own}(x) p -> q; }}"
            ));
            format!("Drive_{variable}_{domain}(x = {value})")
        }
        Place::Element => {
            text.define(format!("element Own_{variable}(x) {{ {variable} = x; }}"));
            format!("Own_{variable}({value})")
        }
        _ if text.writing.generic => format!("{}({value})", ["AcrossSource", "ThroughSource"][which]),
        _ => format!("{}({value})", sources(model.domain(at, 0))[which]),
    }
}

/// The value of a source.
pub fn source_value(model: &Model, value: &Sum, writing: Writing) -> String {
    let value = sum(model, value, writing);
    match writing.idle {
        Idle::Sources => format!("({value})*unity"),
        _ => value,
    }
}

/// A modal block: with area and length 1, `mass = density/2` and `stiffness = mass*modulus/density*((2*i - 1)*pi/2)^2`.
fn bar(model: &Model, at: usize, [density, modulus, zeta]: [f64; 3], modes: usize, text: &mut Text) -> String {
    let domain = model.domain(at, 0).name();
    text.define(format!(
        "modal Bar_{domain}(rho, E, zeta) : {domain} {{ mode i; a_type = rho/2; \
         t_type = (E/2)*((2*i - 1)*pi/2)^2; d_type = 2*zeta*sqrt(a_type*t_type); shape(x) = sin((2*i - 1)*pi*x/2); }}"
    ));
    format!(
        "Bar_{domain}(rho = {}, E = {}, zeta = {}, modes = {modes}, at = [1])",
        number(density),
        number(modulus),
        number(zeta)
    )
}

/// `name : kind from -> to, start = ..;`
pub fn element(model: &Model, at: usize, text: &mut Text) {
    let Element { name, ports, start, .. } = &model.elements[at];
    let kind = kind(model, at, text);
    let is_component = text.writing.place == Place::Component && is_source(&model.elements[at]);
    let branches: Vec<String> = ports
        .iter()
        .map(|(from, to)| format!("{} -> {}", node(*from), node(*to)))
        .collect();
    let mut line = match is_component {
        true => format!("{name} : {kind} (p = {}, q = {})", node(ports[0].0), node(ports[0].1)),
        false => format!("{name} : {kind} {}", branches.join(", ")),
    };
    if let Some(start) = start {
        line += &format!(", start = {}", number(*start));
    }
    text.statements.push(line + ";");
}

fn is_source(element: &Element) -> bool {
    matches!(element.kind, Kind::AcrossSource(_) | Kind::ThroughSource(_))
}

/// The name of a port of an element in measures.
fn port_name(model: &Model, at: usize, port: usize, writing: Writing) -> String {
    let element = &model.elements[at];
    match element.kind {
        Kind::Transformer(_) | Kind::Gyrator(_) => format!("{}.{}", element.name, ["a", "b"][port]),
        _ if writing.place == Place::Component && is_source(element) => format!("{}.s", element.name),
        _ => element.name.clone(),
    }
}

/// The text of a function at its use.
fn function(model: &Model, at: usize, place: Place) -> String {
    match place {
        Place::Input | Place::Signal => format!("f{}", at + 1),
        _ => match &model.functions[at].0[..] {
            [(1.0, Shape::Step { .. } | Shape::Pulse { .. })] => model.functions[at].text(),
            _ => format!("({})", model.functions[at].text()),
        },
    }
}

/// The text of a quantity.
pub fn quantity(model: &Model, of: &Quantity, writing: Writing) -> String {
    let name = |at: usize, port: usize| port_name(model, at, port, writing);
    match of {
        Quantity::One => "1".to_string(),
        Quantity::Function(at) => function(model, *at, writing.place),
        Quantity::Controller(at) => format!("z{}", at + 1),
        Quantity::Modulated(at, of) => {
            format!(
                "{}*{}",
                function(model, *at, writing.place),
                quantity(model, of, writing)
            )
        }
        Quantity::Power(at) => format!("power({})", name(*at, 0)),
        Quantity::Energy(at) => format!("energy({})", name(*at, 0)),
        _ if writing.bonds => super::bonds::measure(model, of),
        Quantity::Across(at, _) if matches!(model.elements[*at].kind, Kind::Bar { .. }) => {
            let (from, to) = model.elements[*at].ports[0];
            match from {
                Some(_) => format!("across({})", node(from)),
                None => format!("(-across({}))", node(to)),
            }
        }
        Quantity::Across(at, port) => format!("across({})", name(*at, *port)),
        Quantity::Through(at, port) => format!("through({})", name(*at, *port)),
        Quantity::IntAcross(at) => format!("int(across({}))", name(*at, 0)),
    }
}

/// The text of a sum.
pub fn sum(model: &Model, sum: &Sum, writing: Writing) -> String {
    let terms = sum.terms.iter().map(|(factor, of)| match of {
        Quantity::One => number(*factor),
        of => product(*factor, &quantity(model, of, writing)),
    });
    let whole = joined(&terms.collect::<Vec<_>>());
    match sum.limit {
        Some(limit) => format!("min(max({whole}, -{}), {})", number(limit), number(limit)),
        None => whole,
    }
}
