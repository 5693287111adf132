//! Random mechanisms of two coordinates: point masses whose positions are sums of sines of both, with or without
//! inertia at the coordinates themselves.

use super::jet::Jet;
use std::fmt::Write;

/// `amplitude * sin(a*q1 + b*q2 + phase)`
#[derive(Clone, Copy)]
struct Wave {
    amplitude: f64,
    a: f64,
    b: f64,
    phase: f64,
}

/// A mass at `x`, `y`, each a sum of sines.
struct Body {
    mass: f64,
    places: [Vec<Wave>; 2],
}

pub struct Mechanism {
    inertia: [Option<f64>; 2],
    bodies: Vec<Body>,
}

const GRAVITY: f64 = 9.81;

pub struct Dice(u64);

impl Dice {
    /// The random parameters of one mechanism.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(77) + 5)
    }

    /// A number with two decimals between bounds.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let unit = (self.0 >> 40) as f64 / (1u64 << 24) as f64;
        ((low + (high - low) * unit) * 100.0).round() / 100.0
    }
}

impl Mechanism {
    pub fn new(seed: u64) -> Mechanism {
        let mut dice = Dice::new(seed);
        let mut inertia = [None, None];
        for each in &mut inertia {
            if dice.between(0.0, 1.0) < 0.5 {
                *each = Some(dice.between(0.5, 2.0));
            }
        }
        let count = 2 + (dice.between(0.0, 0.99) * 2.0) as usize;
        let bodies = (0..count)
            .map(|k| {
                let mut wave = |on: usize| Wave {
                    amplitude: dice.between(0.5, 1.5),
                    a: if on == 1 { 0.0 } else { [1.0, 2.0, -1.0][k % 3] },
                    b: if on == 0 { 0.0 } else { [1.0, 1.0, 2.0][k % 3] },
                    phase: dice.between(-1.0, 1.0),
                };
                let places = [vec![wave(0), wave(2)], vec![wave(1), wave(0)]];
                Body {
                    mass: dice.between(0.5, 2.0),
                    places,
                }
            })
            .collect();
        Mechanism { inertia, bodies }
    }

    /// The states of the two velocities.
    pub fn velocities(&self) -> [String; 2] {
        [0, 1].map(|k| match self.inertia[k] {
            Some(_) => format!("J{}.w", k + 1),
            None => format!("w{}.w", k + 1),
        })
    }

    /// The model's text.
    pub fn text(&self) -> String {
        let mut text = String::from("model Random {\n  node w1, w2 : rotational;\n");
        for k in 1..=2 {
            writeln!(text, "  state q{k} = int(across(w{k}));").unwrap();
            if let Some(inertia) = self.inertia[k - 1] {
                writeln!(text, "  J{k} : Inertia({inertia:?}) w{k} -> gnd;").unwrap();
            }
        }
        for (at, body) in self.bodies.iter().enumerate() {
            writeln!(text, "  node m{at}[2] vector, n{at}[2] vector : translational;").unwrap();
            for (k, from) in [(1, format!("m{at} -> n{at}")), (2, format!("n{at} -> gnd"))] {
                let slope = |place: &Vec<Wave>| {
                    let terms: Vec<String> = place
                        .iter()
                        .map(|wave| {
                            let factor = wave.amplitude * if k == 1 { wave.a } else { wave.b };
                            format!("{factor:?}*cos({:?}*q1 + {:?}*q2 + {:?})", wave.a, wave.b, wave.phase)
                        })
                        .collect();
                    terms.join(" + ")
                };
                let (x, y) = (slope(&body.places[0]), slope(&body.places[1]));
                writeln!(text, "  t{k}_{at} : Transformer([[{x}], [{y}]]) w{k} -> gnd, {from};").unwrap();
            }
            writeln!(text, "  b{at} : Mass({:?}) m{at} -> gnd;", body.mass).unwrap();
            writeln!(
                text,
                "  g{at} : ForceSource([0, -{:?}]) gnd -> m{at};",
                body.mass * GRAVITY
            )
            .unwrap();
        }
        text.push_str("}\n");
        text
    }

    pub fn lagrangian(&self, q: &[Jet], v: &[Jet]) -> Jet {
        let mut sum = Jet::constant(0.0);
        for (k, inertia) in self.inertia.iter().enumerate() {
            sum = sum + v[k].square() * (inertia.unwrap_or(0.0) / 2.0);
        }
        for body in &self.bodies {
            let angle = |wave: &Wave| q[0] * wave.a + q[1] * wave.b + wave.phase;
            let rate = |place: &Vec<Wave>| {
                place.iter().fold(Jet::constant(0.0), |sum, wave| {
                    sum + angle(wave).cos() * (v[0] * wave.a + v[1] * wave.b) * wave.amplitude
                })
            };
            let height = body.places[1]
                .iter()
                .fold(Jet::constant(0.0), |sum, wave| sum + angle(wave).sin() * wave.amplitude);
            let (x, y) = (rate(&body.places[0]), rate(&body.places[1]));
            sum = sum + (x.square() + y.square()) * (body.mass / 2.0) - height * (body.mass * GRAVITY);
        }
        sum
    }
}
