//! Random closed chains of links in a plane: four-bars, slider-cranks and five-bars, written as models, and beside them
//! Lagrange's equations with multipliers in the coordinates of all bodies:
//!
//! ```text
//! M q'' + Phi_q' lambda = Q
//! Phi_q q''             = -(Phi_q q')_q q'
//! ```
//!
//! Every link has three coordinates there, every further mass two and every flywheel one. Each joint is an equation Phi = 0 with multipliers
//! of its own, which are its forces. The derivatives of Phi are by automatic differentiation.

#[path = "closed_motion.rs"]
mod motion;

use super::random::Dice;
use super::runs::{Rows, compile, finished};
use crate::support::cases::many;
use lgm::equations::StateSystem;
use lgm::kernels::{Arguments, KernelOptions, Kernels};
use lgm::simulate::Plan;
use std::fmt::Write;

const GRAVITY: f64 = 9.81;

/// The form of a link in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    /// With explicit transformers.
    Arms,
    /// With the library's body and a separately declared angle.
    Ideal,
    /// With the library's body and its own angle, which is impossible for a dependent link.
    Frame,
}

#[derive(Clone, Debug)]
struct Link {
    length: f64,
    /// Distance of the centre of mass from the link's first joint.
    centre: f64,
    mass: f64,
    inertia: Option<f64>,
    /// The ratio of a gear on the link, and the inertia behind it.
    flywheel: Option<(f64, f64)>,
    /// To ground.
    spring: Option<f64>,
    damper: Option<f64>,
    /// On the centre of mass.
    force: [f64; 2],
    style: Style,
    angle: f64,
    /// The initial angular velocity, if the link is free to have one.
    rate: f64,
}

/// The connection at the end of the left links, apart from the right links or the guide.
#[derive(Clone, Debug)]
struct End {
    mass: Option<f64>,
    spring: Option<f64>,
    damper: Option<f64>,
}

/// A closed chain: links from the origin to its end, and links from another pivot to the same end, or otherwise a guide
/// that keeps the end at one height. The last links of both depend on the others.
#[derive(Clone, Debug)]
pub struct Closed {
    left: usize,
    links: Vec<Link>,
    end: End,
    /// The ratio of a gear between the first link and the first of the right ones.
    mesh: Option<f64>,
    /// A spring and a damper in the joint of the first two links.
    joint: Option<(f64, f64)>,
    torque: f64,
}

/// A point of the chain.
struct Place {
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Closed {
    pub fn new(seed: u64) -> Closed {
        let mut dice = Dice::new(seed);
        let (left, right) = [(2, 1), (2, 0), (2, 2), (3, 1), (3, 0)][seed as usize % 5];
        let links = (0..left + right).map(|k| {
            let mut some = |share: f64, low: f64, high: f64| {
                let is_there = dice.between(0.0, 1.0) < share;
                let value = dice.between(low, high);
                is_there.then_some(value)
            };
            let follows = k + 1 == left || k + 1 == left + right;
            let inertia = some(0.6, 0.05, 0.5);
            let (ratio, wheel) = (some(0.3, 1.2, 3.0), some(1.0, 0.02, 0.1).unwrap_or(0.1));
            Link {
                inertia,
                flywheel: ratio.map(|ratio| (ratio, wheel)),
                spring: some(0.3, 2.0, 20.0),
                damper: some(0.3, 0.1, 1.0),
                force: [some(0.3, -5.0, 5.0).unwrap_or(0.0), some(0.3, -5.0, 5.0).unwrap_or(0.0)],
                length: dice.between(0.4, 1.2),
                centre: dice.between(0.1, 0.7),
                mass: dice.between(0.3, 2.0),
                style: match dice.between(0.0, 3.0) {
                    ..1.0 => Style::Arms,
                    ..2.0 if !follows => Style::Frame,
                    _ => Style::Ideal,
                },
                angle: dice.between(-3.0, 3.0),
                rate: match (follows, inertia) {
                    (false, Some(_)) => dice.between(-3.0, 3.0),
                    _ => 0.0,
                },
            }
        });
        let links: Vec<Link> = links.collect();
        let mut some = |share: f64, low: f64, high: f64| {
            let is_there = dice.between(0.0, 1.0) < share;
            let value = dice.between(low, high);
            is_there.then_some(value)
        };
        let mesh = some(0.5, -2.0, 2.0).filter(|ratio| (left, right) == (2, 2) && ratio.abs() > 0.3);
        let mut chain = Closed {
            left,
            links,
            end: End {
                mass: some(0.5, 0.3, 2.0),
                spring: some(0.4, 5.0, 40.0),
                damper: some(0.4, 0.5, 4.0),
            },
            mesh,
            joint: some(0.4, 1.0, 10.0).map(|stiffness| (stiffness, 0.1 * stiffness)),
            torque: some(0.5, -5.0, 5.0).unwrap_or(0.0),
        };
        if let Some(ratio) = mesh {
            chain.links[2].rate = ratio * chain.links[0].rate;
        }
        if !chain.gives_rates() {
            chain.links.iter_mut().for_each(|link| link.rate = 0.0);
        }
        chain
    }

    fn is_slider(&self) -> bool {
        self.left == self.links.len()
    }

    fn follows(&self, link: usize) -> bool {
        link + 1 == self.left || link + 1 == self.links.len()
    }

    /// The links whose angles are independent.
    fn independent(&self) -> Vec<usize> {
        let free = (0..self.links.len()).filter(|k| !self.follows(*k));
        free.filter(|k| self.mesh.is_none() || *k == 0).collect()
    }

    /// Returns true if all rates have initial values in the model. If one has no inertia to define its initial value, the chain
    /// starts at rest: its rate would otherwise follow from the others by impulses.
    fn gives_rates(&self) -> bool {
        self.independent().iter().all(|k| self.links[*k].inertia.is_some())
    }

    /// The name of a link's angle in the model.
    fn angle(&self, link: usize) -> String {
        match (self.follows(link), self.links[link].style) {
            (true, _) if self.is_slider() => "q".to_string(),
            (true, _) if link + 1 == self.left => "q[1]".to_string(),
            (true, _) => "q[2]".to_string(),
            (false, Style::Frame) => format!("f{}.angle", link + 1),
            (false, _) => format!("t{}", link + 1),
        }
    }

    /// The end of the links up to one, from their pivot, with the initial angles.
    fn reach(&self, links: std::ops::Range<usize>) -> [f64; 2] {
        let sum = |part: fn(f64) -> f64| {
            links
                .clone()
                .map(|k| self.links[k].length * part(self.links[k].angle))
                .sum()
        };
        [sum(f64::cos), sum(f64::sin)]
    }

    /// The initial end position.
    fn end_at_start(&self) -> [f64; 2] {
        self.reach(0..self.left)
    }

    /// The pivot of the right links.
    fn pivot(&self) -> [f64; 2] {
        let (end, right) = (self.end_at_start(), self.reach(self.left..self.links.len()));
        [end[0] - right[0], end[1] - right[1]]
    }

    /// The model's text; `guesses` are the initial values of the dependent angles.
    pub fn text(&self, guesses: &[f64]) -> String {
        let n = self.links.len();
        let mut text = format!(
            "import planar;\nmodel Closed {{\n  node w[{n}] : rotational;\n  node B[2] vector : translational;\n"
        );
        let side = |part: &str, links: std::ops::Range<usize>, sign: &str| -> String {
            let terms = links.map(|k| format!(" {sign} {:?}*{part}({})", self.links[k].length, self.angle(k)));
            terms.collect()
        };
        let equation = |part: &str, place: f64| {
            let (left, right) = (side(part, 0..self.left, "+"), side(part, self.left..n, "-"));
            format!("0{left}{right} - ({place:?})")
        };
        let (end, pivot) = (self.end_at_start(), self.pivot());
        match self.is_slider() {
            true => writeln!(
                text,
                "  state q = int(across(w[{n}])), start = {:?}, close = {};\n  guide : AcrossSource(0) B[2] -> gnd;",
                guesses[0],
                equation("sin", end[1])
            ),
            false => writeln!(
                text,
                "  state q = int([across(w[{}]), across(w[{n}])]), start = {guesses:?},\n    close = [{}, {}];",
                self.left,
                equation("cos", pivot[0]),
                equation("sin", pivot[1])
            ),
        }
        .unwrap();
        for k in 0..n {
            self.write_link(&mut text, k);
        }
        let end = if self.is_slider() { "B[1]" } else { "B" };
        let mut element = |name: &str, law: &str, value: Option<f64>, at: &str| {
            if let Some(value) = value {
                writeln!(text, "  {name} : {law}({value:?}) {at};").unwrap();
            }
        };
        element("load", "Mass", self.end.mass, &format!("{end} -> gnd"));
        element("tie", "Spring", self.end.spring, &format!("{end} -> gnd"));
        element("drag", "Damper", self.end.damper, &format!("{end} -> gnd"));
        element(
            "elastic",
            "TorsionSpring",
            self.joint.map(|joint| joint.0),
            "w[2] -> w[1]",
        );
        element(
            "sticky",
            "RotaryDamper",
            self.joint.map(|joint| joint.1),
            "w[2] -> w[1]",
        );
        element("drive", "TorqueSource", Some(self.torque), "gnd -> w[1]");
        if let Some(ratio) = self.mesh {
            writeln!(text, "  mesh : Transformer({ratio:?}) w[1] -> gnd, w[3] -> gnd;").unwrap();
        }
        if self.is_slider() {
            text += "  output side = through(guide);\n";
        }
        text + "}\n"
    }

    fn write_link(&self, text: &mut String, k: usize) {
        let link = &self.links[k];
        let (at, angle, n) = (k + 1, self.angle(k), self.links.len());
        let is_first = k == 0 || k == self.left;
        let before = if is_first { "gnd".to_string() } else { format!("e{k}") };
        let is_last = self.follows(k);
        let after = if is_last { "B".to_string() } else { format!("e{at}") };
        let Link { length, centre, .. } = link;
        writeln!(text, "  node c{at}[2] vector : translational;").unwrap();
        if !is_last {
            writeln!(text, "  node e{at}[2] vector : translational;").unwrap();
        }
        if !is_last && link.style != Style::Frame {
            writeln!(text, "  state t{at} = int(across(w[{at}])), start = {:?};", link.angle).unwrap();
        }
        // Formatted with two decimals.
        let behind = ((length - centre) * 100.0).round() / 100.0;
        let tip = match link.style {
            Style::Arms => {
                for (name, reach, to) in [("arm", *length, &after), ("mid", *centre, &format!("c{at}"))] {
                    writeln!(
                        text,
                        "  {name}{at} : Transformer([[-{reach:?}*sin({angle})], [{reach:?}*cos({angle})]]) w[{at}] -> gnd, {to} -> {before};"
                    )
                    .unwrap();
                }
                format!("arm{at}.b")
            }
            Style::Ideal => {
                writeln!(
                    text,
                    "  f{at} : IdealPlanarBody(n = 2, r = [[-{centre:?}*cos({angle}), -{centre:?}*sin({angle})], [{behind:?}*cos({angle}), {behind:?}*sin({angle})]]) (turn = w[{at}], centre = c{at}, point = [{before}, {after}]);"
                )
                .unwrap();
                format!("f{at}.arm[2].b")
            }
            Style::Frame => {
                writeln!(
                    text,
                    "  f{at} : PlanarFrame(n = 2, marks = [[-{centre:?}, 0], [{behind:?}, 0]], angle_0 = {:?}) (turn = w[{at}], centre = c{at}, point = [{before}, {after}]);",
                    link.angle
                )
                .unwrap();
                format!("f{at}.ideal.arm[2].b")
            }
        };
        writeln!(text, "  m{at} : Mass({:?}) c{at} -> gnd;", link.mass).unwrap();
        let [x, y] = link.force;
        writeln!(
            text,
            "  g{at} : ForceSource([{x:?}, {:?}]) gnd -> c{at};",
            y - GRAVITY * link.mass
        )
        .unwrap();
        if let Some(inertia) = link.inertia {
            let is_given = self.gives_rates() && self.independent().contains(&k);
            let start = if is_given {
                format!(", start = {:?}", link.rate)
            } else {
                String::new()
            };
            writeln!(text, "  J{at} : Inertia({inertia:?}) w[{at}] -> gnd{start};").unwrap();
        }
        if let Some((ratio, inertia)) = link.flywheel {
            writeln!(
                text,
                "  node y{at} : rotational;\n  gear{at} : Transformer({ratio:?}) w[{at}] -> gnd, y{at} -> gnd;"
            )
            .unwrap();
            writeln!(text, "  fly{at} : Inertia({inertia:?}) y{at} -> gnd;").unwrap();
        }
        if let Some(stiffness) = link.spring {
            writeln!(text, "  k{at} : TorsionSpring({stiffness:?}) w[{at}] -> gnd;").unwrap();
        }
        if let Some(damping) = link.damper {
            writeln!(text, "  b{at} : RotaryDamper({damping:?}) w[{at}] -> gnd;").unwrap();
        }
        writeln!(
            text,
            "  output angle{at} = {angle};\n  output rate{at} = across(w[{at}]);"
        )
        .unwrap();
        writeln!(text, "  output acceleration{at} = der(across(w[{at}]));").unwrap();
        // The end of the left links carries more than the joint force.
        if k + 1 != self.left && (k + 1 != n || !self.is_slider()) {
            writeln!(text, "  output force{at} = through({tip});").unwrap();
        }
    }
}

/// A model's outputs at given states, after its loops are solved.
fn evaluate(chain: &Closed, system: &StateSystem, kernels: &Kernels, place: &Place) -> Vec<f64> {
    let states: Vec<f64> = system
        .states
        .iter()
        .map(|state| chain.state(&state.name, place))
        .collect();
    let unknowns = system.equations.loops.iter().flat_map(|each| &each.unknowns);
    let unknowns: Vec<f64> = unknowns
        .map(|unknown| chain.state(&system.exprs.symbol_info(*unknown).name, place))
        .collect();
    kernels.outputs.values(&Arguments {
        parameters: &kernels.parameters(&[]),
        states: &states,
        unknowns: &unknowns,
        ..Arguments::default()
    })
}

/// The largest deviation of outputs from their expected values, relative to the largest of their kind.
fn difference(system: &StateSystem, found: &[f64], wanted: &[(String, f64)]) -> (f64, String) {
    let mut worst = (0.0, String::new());
    for (name, value) in wanted {
        let kind = |name: &str| {
            name.chars()
                .take_while(|letter| letter.is_alphabetic())
                .collect::<String>()
        };
        let alike = wanted.iter().filter(|other| kind(&other.0) == kind(name));
        let scale = alike.map(|other| other.1.abs()).fold(1.0, f64::max);
        let at = system.outputs.iter().position(|output| *output.name == **name);
        let at = at.unwrap_or_else(|| panic!("no output `{name}`"));
        let off = (found[at] - value).abs() / scale;
        if off.is_nan() || off > worst.0 {
            worst = (off, format!("{name} is {} instead of {value}", found[at]));
        }
    }
    worst
}

#[test]
fn random_closed_chains_move_as_multipliers_say() {
    let (mut chains, mut points, mut runs) = (0, 0, 0);
    for seed in 0..many(4) {
        let chain = Closed::new(seed);
        let Some(start) = chain.start() else { continue };
        chains += 1;
        let followers: Vec<usize> = (0..chain.links.len()).filter(|k| chain.follows(*k)).collect();
        let guesses: Vec<f64> = followers
            .iter()
            .enumerate()
            .map(|(k, link)| chain.links[*link].angle + 0.1 * super::spread(10 * seed as usize + k))
            .collect();
        let text = chain.text(&guesses);
        let system = compile(&text);
        let kernels = Kernels::new(&system, &KernelOptions::default());
        let independent = chain.independent();
        for trial in 0..4 {
            let key = 100 * seed as usize + 10 * trial;
            // The start itself, then positions near it with arbitrary velocities.
            let reach = if trial == 0 { 0.0 } else { 0.3 };
            let angles: Vec<f64> = independent
                .iter()
                .map(|link| chain.links[*link].angle + reach * super::spread(key + link))
                .collect();
            let rates: Vec<f64> = independent
                .iter()
                .map(|link| 3.0 * super::spread(key + 5 + link))
                .collect();
            let Some(place) = chain.place(&start.q, &angles, &rates) else {
                continue;
            };
            points += 1;
            let found = evaluate(&chain, &system, &kernels, &place);
            let (off, words) = difference(&system, &found, &chain.outputs(&place));
            assert!(off <= 1e-9, "seed {seed}, off by {off:e}: {words}\n{text}");
        }
        // Runs of ten seconds would pass many dead centres; most runs of a tenth of a second pass none.
        let time = 0.1;
        let Some(end) = chain.after(time, 24) else { continue };
        runs += 1;
        let plan = Plan {
            stop: time,
            points: 2,
            rtol: 1e-10,
            atol: Some(1e-11),
            ..Plan::default()
        };
        let rows: Rows = finished(&system, &[], &plan).0;
        for (row, place) in rows.outputs.iter().zip([&start, &end]) {
            let (off, words) = difference(&system, row, &chain.outputs(place));
            assert!(off <= 1e-6, "seed {seed}, a run is off by {off:e}: {words}\n{text}");
        }
    }
    println!("{chains} chains, {points} points, {runs} runs");
    assert!(
        chains >= 3 && points >= 9 && runs >= 2,
        "{chains} chains, {points} points, {runs} runs"
    );
}
