//! Random open chains of links in a plane, as models and as Lagrangians.

use crate::support::cases;

use super::jet::{Jet, lagrange};
use super::model::Compiled;
use cases::cases;
use proptest::prelude::*;
use std::fmt::Write;

const GRAVITY: f64 = 9.81;

/// A link, with the joint to the previous one.
#[derive(Clone, Debug)]
struct Link {
    length: f64,
    /// Distance of the centre of mass from the joint.
    centre: f64,
    mass: f64,
    inertia: Option<f64>,
    spring: Option<f64>,
    damper: Option<f64>,
    /// Written with the library's body, otherwise with explicit transformers.
    from_library: bool,
}

/// The support of the first link.
#[derive(Clone, Debug)]
enum Base {
    Ground,
    /// A cart on a level rail: its mass, and the stiffness of its spring.
    Cart(f64, Option<f64>),
}

#[derive(Clone, Debug)]
struct Chain {
    base: Base,
    links: Vec<Link>,
}

/// A number with two decimals.
fn between(low: u32, high: u32) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|hundredths| f64::from(hundredths) / 100.0)
}

fn link() -> impl Strategy<Value = Link> {
    let body = (between(30, 150), between(20, 140), between(30, 300));
    let inertia = proptest::option::of(between(5, 60));
    let joint = (
        proptest::option::of(between(50, 900)),
        proptest::option::of(between(5, 80)),
    );
    (body, inertia, joint, any::<bool>()).prop_map(
        |((length, centre, mass), inertia, (spring, damper), from_library)| Link {
            length,
            centre,
            mass,
            inertia,
            spring,
            damper,
            from_library,
        },
    )
}

fn chain() -> impl Strategy<Value = Chain> {
    let cart = (between(40, 400), proptest::option::of(between(100, 2000)));
    let base = prop_oneof![
        Just(Base::Ground),
        cart.prop_map(|(mass, spring)| Base::Cart(mass, spring))
    ];
    (base, proptest::collection::vec(link(), 1..=4)).prop_map(|(base, links)| Chain { base, links })
}

impl Chain {
    fn on_cart(&self) -> bool {
        matches!(self.base, Base::Cart(..))
    }

    fn coordinates(&self) -> usize {
        self.links.len() + usize::from(self.on_cart())
    }

    fn text(&self) -> String {
        let n = self.links.len();
        let mut text = format!("import planar;\nmodel Chain {{\n  node w[{n}] : rotational;\n");
        let mut before = "gnd".to_string();
        if let Base::Cart(mass, spring) = &self.base {
            text += "  node cart[2] vector : translational;\n  rail : VelocitySource(0) cart[2] -> gnd;\n";
            writeln!(text, "  trolley : Mass({mass:?}) cart[1] -> gnd;").unwrap();
            if let Some(stiffness) = spring {
                writeln!(text, "  tie : Spring({stiffness:?}) cart[1] -> gnd;").unwrap();
            }
            before = "cart".to_string();
        }
        for (at, link) in self.links.iter().enumerate() {
            let k = at + 1;
            let is_last = k == n;
            let Link { length, centre, .. } = link;
            writeln!(text, "  node c{k}[2] vector : translational;").unwrap();
            if !is_last {
                writeln!(text, "  node e{k}[2] vector : translational;").unwrap();
            }
            if link.from_library {
                let (count, marks, points) = match is_last {
                    true => (1, format!("[[-{centre:?}, 0]]"), format!("[{before}]")),
                    false => (
                        2,
                        format!("[[-{centre:?}, 0], [{:?}, 0]]", length - centre),
                        format!("[{before}, e{k}]"),
                    ),
                };
                writeln!(
                    text,
                    "  f{k} : PlanarFrame(n = {count}, marks = {marks}) (turn = w[{k}], centre = c{k}, point = {points});"
                )
                .unwrap();
            } else {
                writeln!(text, "  state a{k} = int(across(w[{k}]));").unwrap();
                let mut arm = |name: &str, reach: f64| {
                    writeln!(
                        text,
                        "  {name}_arm{k} : Transformer([[-{reach:?}*sin(a{k})], [{reach:?}*cos(a{k})]]) w[{k}] -> gnd, {name}{k} -> {before};"
                    )
                    .unwrap();
                };
                arm("c", *centre);
                if !is_last {
                    arm("e", *length);
                }
            }
            writeln!(text, "  m{k} : Mass({:?}) c{k} -> gnd;", link.mass).unwrap();
            writeln!(
                text,
                "  g{k} : ForceSource([0, -{:?}]) gnd -> c{k};",
                link.mass * GRAVITY
            )
            .unwrap();
            let joint = match at {
                0 => format!("w[{k}] -> gnd"),
                _ => format!("w[{k}] -> w[{at}]"),
            };
            if let Some(inertia) = link.inertia {
                writeln!(text, "  J{k} : Inertia({inertia:?}) w[{k}] -> gnd;").unwrap();
            }
            if let Some(stiffness) = link.spring {
                writeln!(text, "  k{k} : TorsionSpring({stiffness:?}) {joint};").unwrap();
            }
            if let Some(damping) = link.damper {
                writeln!(text, "  b{k} : RotaryDamper({damping:?}) {joint};").unwrap();
            }
            before = format!("e{k}");
        }
        text + "}\n"
    }

    /// The states of the velocities, in the order of the coordinates: the links' angles, then the cart's position.
    fn velocities(&self) -> Vec<String> {
        let links = self.links.iter().enumerate();
        let mut names: Vec<String> = links
            .map(|(at, link)| match link.inertia {
                Some(_) => format!("J{}.w", at + 1),
                None => format!("w[{}].w", at + 1),
            })
            .collect();
        if self.on_cart() {
            names.push("trolley.v".to_string());
        }
        names
    }

    /// The other states at given coordinates.
    fn states(&self, q: &[f64]) -> Vec<(String, f64)> {
        let mut states = Vec::new();
        for (at, link) in self.links.iter().enumerate() {
            let name = if link.from_library { "f" } else { "a" };
            let tail = if link.from_library { ".angle" } else { "" };
            states.push((format!("{name}{}{tail}", at + 1), q[at]));
            if let Some(stiffness) = link.spring {
                let turned = q[at] - if at > 0 { q[at - 1] } else { 0.0 };
                states.push((format!("k{}.tau", at + 1), stiffness * turned));
            }
        }
        if let Base::Cart(_, Some(stiffness)) = self.base {
            states.push(("tie.F".to_string(), stiffness * q[self.links.len()]));
        }
        states
    }

    fn lagrangian(&self, q: &[Jet], v: &[Jet]) -> Jet {
        let zero = Jet::constant(0.0);
        let n = self.links.len();
        // Velocity of the joint, and its height.
        let (mut across, mut up, mut height) = (zero, zero, zero);
        let mut sum = zero;
        if let Base::Cart(mass, spring) = &self.base {
            across = v[n];
            sum = v[n].square() * (mass / 2.0) - q[n].square() * (spring.unwrap_or(0.0) / 2.0);
        }
        for (at, link) in self.links.iter().enumerate() {
            let (sine, cosine) = (q[at].sin(), q[at].cos());
            let (x_rate, y_rate) = (-(sine * v[at]), cosine * v[at]);
            let centre = (across + x_rate * link.centre).square() + (up + y_rate * link.centre).square();
            sum = sum + centre * (link.mass / 2.0) + v[at].square() * (link.inertia.unwrap_or(0.0) / 2.0);
            sum = sum - (height + sine * link.centre) * (link.mass * GRAVITY);
            let turned = if at > 0 { q[at] - q[at - 1] } else { q[at] };
            sum = sum - turned.square() * (link.spring.unwrap_or(0.0) / 2.0);
            across = across + x_rate * link.length;
            up = up + y_rate * link.length;
            height = height + sine * link.length;
        }
        sum
    }

    fn forces(&self, v: &[f64]) -> Vec<f64> {
        let mut forces = vec![0.0; v.len()];
        for (at, link) in self.links.iter().enumerate() {
            let torque = link.damper.unwrap_or(0.0) * (v[at] - if at > 0 { v[at - 1] } else { 0.0 });
            forces[at] -= torque;
            if at > 0 {
                forces[at - 1] += torque;
            }
        }
        forces
    }
}

impl Chain {
    /// The largest deviation of an acceleration from Lagrange's equations at a state, relative to the largest
    /// acceleration.
    fn difference(&self, compiled: &Compiled, q: &[f64], v: &[f64]) -> f64 {
        let mut states = compiled.starts();
        for (name, value) in self.states(q) {
            states[compiled.position(&name)] = value;
        }
        let names = self.velocities();
        for (name, value) in names.iter().zip(v) {
            states[compiled.position(name)] = *value;
        }
        let found = compiled.evaluate(&states);
        let wanted = lagrange(|q, v| self.lagrangian(q, v), &self.forces(v), q, v);
        let scale = wanted.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
        let pairs = names.iter().zip(&wanted);
        let off = pairs.map(|(name, wanted)| (found[compiled.position(name)] - wanted).abs());
        // NaN differs from everything.
        off.fold(
            0.0,
            |most: f64, off| if off.is_nan() { f64::INFINITY } else { most.max(off) },
        ) / scale
    }
}

proptest! {
    #![proptest_config(cases(3))]

    #[test]
    fn random_chains_move_as_lagrange_says(
        chain in chain(),
        points in proptest::collection::vec((proptest::collection::vec(-3.0..3.0_f64, 5), proptest::collection::vec(-3.0..3.0_f64, 5)), 4),
    ) {
        let text = chain.text();
        let compiled = Compiled::of_text("random chain", text.clone(), &[]);
        let n = chain.coordinates();
        for (q, v) in &points {
            let difference = chain.difference(&compiled, &q[..n], &v[..n]);
            prop_assert!(difference <= 1e-9, "{text}\nat {q:?}, {v:?}: off by {difference:e}");
        }
    }
}

/// A mass matrix of twelve accelerations is factorised in the equations. If all links are aligned, many of its entries
/// are equal, and differences vanish that are nonzero in general.
#[test]
fn a_long_chain_moves_as_lagrange_says_also_in_line() {
    let link = Link {
        length: 0.25,
        centre: 0.125,
        mass: 0.5,
        inertia: Some(0.01),
        spring: None,
        damper: Some(0.02),
        from_library: true,
    };
    let chain = Chain {
        base: Base::Ground,
        links: vec![link; 12],
    };
    let compiled = Compiled::of_text("long chain", chain.text(), &[]);
    for trial in 0..10 {
        let spread = |first: usize, size: f64| -> Vec<f64> {
            (0..12)
                .map(|k| size * super::spread(1000 * trial + first + k))
                .collect()
        };
        let v = spread(50, 2.0);
        for q in [spread(0, 3.0), vec![spread(0, 3.0)[0]; 12]] {
            let difference = chain.difference(&compiled, &q, &v);
            assert!(difference < 1e-9, "at {q:?}, {v:?}: off by {difference:e}");
        }
    }
}
