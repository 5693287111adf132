//! Branches and states as lines of source text.

use crate::one_port::Kind;
use lgm_model::Domain;

/// The names of a domain's elements in the standard library.
struct ElementNames {
    domain: &'static str,
    /// A-type to the reference, and between nodes.
    a: [&'static str; 2],
    /// T-type, and whether its value is 1/L.
    t: (&'static str, bool),
    /// D-type, and whether its value is 1/R.
    d: (&'static str, bool),
    across: &'static str,
    through: &'static str,
}

const LIBRARIES: [ElementNames; 5] = [
    ElementNames {
        domain: "electrical",
        a: ["Capacitor", "Capacitor"],
        t: ("Inductor", false),
        d: ("Resistor", false),
        across: "VoltageSource",
        through: "CurrentSource",
    },
    ElementNames {
        domain: "translational",
        a: ["Mass", "Inerter"],
        t: ("Spring", true),
        d: ("Damper", true),
        across: "VelocitySource",
        through: "ForceSource",
    },
    ElementNames {
        domain: "rotational",
        a: ["Inertia", "RotaryInerter"],
        t: ("TorsionSpring", true),
        d: ("RotaryDamper", true),
        across: "AngularVelocitySource",
        through: "TorqueSource",
    },
    ElementNames {
        domain: "fluid",
        a: ["FluidCapacitor", "FluidCapacitor"],
        t: ("Inertance", false),
        d: ("FluidResistor", false),
        across: "PressureSource",
        through: "FlowSource",
    },
    ElementNames {
        domain: "thermal",
        a: ["ThermalCapacitor", "AType"],
        t: ("TType", false),
        d: ("ThermalResistor", false),
        across: "TemperatureSource",
        through: "HeatSource",
    },
];

/// Elements that work in any domain.
const GENERIC: ElementNames = ElementNames {
    domain: "",
    a: ["AType", "AType"],
    t: ("TType", false),
    d: ("DType", false),
    across: "AcrossSource",
    through: "ThroughSource",
};

/// The lines so far.
pub(super) struct Parts {
    library: &'static ElementNames,
    /// Name, element with its value, and ends.
    pub(super) branches: Vec<(String, String, (String, String))>,
    pub(super) states: Vec<String>,
}

impl Parts {
    pub(super) fn new(domain: &Domain) -> Parts {
        let library = LIBRARIES.iter().find(|library| *library.domain == *domain.name);
        Parts {
            library: library.unwrap_or(&GENERIC),
            branches: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Returns true if the domain is one of the standard library.
    pub(super) fn is_standard(&self) -> bool {
        !self.library.domain.is_empty()
    }

    /// Adds a passive element with the value C, L or R, and its reciprocal.
    pub(super) fn passive(&mut self, name: String, kind: Kind, value: &str, inverse: &str, ends: (String, String)) {
        let is_grounded = ends.0 == "gnd" || ends.1 == "gnd";
        let (element, is_inverse) = match kind {
            Kind::AType => (self.library.a[usize::from(!is_grounded)], false),
            Kind::TType => self.library.t,
            Kind::DType => self.library.d,
        };
        let value = if is_inverse { inverse } else { value };
        self.branches.push((name, format!("{element}({value})"), ends));
    }

    /// Adds a source of the across variable or of the through variable.
    pub(super) fn source(&mut self, name: String, is_across: bool, value: &str, ends: (String, String)) {
        let element = if is_across {
            self.library.across
        } else {
            self.library.through
        };
        self.branches.push((name, format!("{element}({value})"), ends));
    }

    pub(super) fn state(&mut self, name: &str, rate: &str) {
        self.states.push(format!("state {name} = int({rate});"));
    }
}
