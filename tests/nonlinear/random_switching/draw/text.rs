//! The text of a model.

use super::{DUTY, Domain, Drawn, Element, Kind, POINTS};
use crate::equations::networks::random::Random;
use std::fmt::Write;

impl Drawn {
    /// The text of the model, with its lines shuffled by a seed.
    pub fn text(&self, shuffled: Option<u64>) -> String {
        let mut elements: Vec<&Element> = self.elements.iter().collect();
        if let Some(seed) = shuffled {
            let mut random = Random::new(seed.wrapping_add(0xabcd));
            for at in (1..elements.len()).rev() {
                elements.swap(at, random.below(at + 1));
            }
        }
        let domain = format!("{:?}", self.domain).to_lowercase();
        let nodes: Vec<String> = (1..=self.all).map(|node| format!("n{node}")).collect();
        let mut text = format!(
            "import switching;\nmodel Random {{\n  node {} : {domain};\n",
            nodes.join(", ")
        );
        for element in elements {
            let (law, branch) = (self.law(element), branch(element.from, element.to));
            let second = match element.kind {
                Kind::Transformer(_, (from, to)) => format!(", {}", self::branch(from, to)),
                _ => String::new(),
            };
            let _ = writeln!(text, "  {} : {law} {branch}{second};", element.name);
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

    fn law(&self, element: &Element) -> String {
        use Domain::{Electrical, Fluid, Rotational, Translational};
        let name = &element.name;
        let omega = format!("2*pi*{}*time", 2.0 / self.stop());
        let is_rotational = self.domain == Rotational;
        let rotary = if is_rotational { "Rotary" } else { "" };
        let of_domain = |names: [&str; 4]| match self.domain {
            Electrical => names[0].to_string(),
            Fluid => names[1].to_string(),
            Translational => names[2].to_string(),
            Rotational => names[3].to_string(),
        };
        match element.kind {
            Kind::Across {
                offset,
                amplitude,
                phase,
            } => {
                let source = of_domain(["Voltage", "Pressure", "Velocity", "AngularVelocity"]);
                format!("{source}Source({offset} + {amplitude:?}*sin({omega} + {phase}))")
            }
            Kind::Through { amplitude, phase } => {
                let source = of_domain(["Current", "Flow", "Force", "Torque"]);
                format!("{source}Source({amplitude:?}*sin({omega} + {phase}))")
            }
            Kind::Dissipator(value) => {
                let name = of_domain(["Resistor(", "FluidResistor(", "Damper(1/", "RotaryDamper(1/"]);
                format!("{name}{value:?})")
            }
            Kind::AType(value) => {
                let name = of_domain(["Capacitor", "FluidCapacitor", "Mass", "Inertia"]);
                format!("{name}({value:?})")
            }
            Kind::TType(value) => {
                let name = of_domain(["Inductor(", "Inertance(", "Spring(1/", "TorsionSpring(1/"]);
                format!("{name}{value:?})")
            }
            Kind::Transformer(ratio, _) => format!("Transformer({ratio:?})"),
            Kind::Diode(forward) => match self.domain {
                Electrical => format!("IdealDiode({forward:?})"),
                // Both have the same law.
                Fluid if forward > 1.0 => format!("ReliefValve({forward:?})"),
                Fluid => format!("CheckValve({forward:?})"),
                Translational | Rotational => "FreeWheel".to_string(),
            },
            Kind::Switch(_) if self.domain == Fluid => format!("Valve(g_{name} > 0.5)"),
            Kind::Switch(_) => format!("Switch(g_{name} > 0.5)"),
            Kind::Transistor(_) => format!("IdealTransistor(g_{name} > 0.5)"),
            Kind::Thyristor(_) => format!("Thyristor(g_{name} > 0.5)"),
            Kind::Friction(sliding, sticking) => format!("{rotary}DryFriction({sliding:?}, {sticking:?})"),
            Kind::Brake(limit, _) if element.from * element.to > 0 => format!("Clutch({limit:?}*g_{name})"),
            Kind::Brake(limit, _) => format!("Brake({limit:?}*g_{name})"),
            Kind::Wall(gap, restitution) => format!("{rotary}Wall({gap:?}, {restitution})"),
            Kind::Backlash(gap) => format!("{rotary}Backlash({gap:?})"),
        }
    }
}

fn branch(from: usize, to: usize) -> String {
    format!("{} -> {}", node(from), node(to))
}

fn node(at: usize) -> String {
    if at == 0 { "gnd".to_string() } else { format!("n{at}") }
}
