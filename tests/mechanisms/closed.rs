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

use super::jet::Jet;
use super::random::Dice;
use super::runs::{Rows, compile, finished};
use lgm::equations::StateSystem;
use lgm::kernels::{Arguments, KernelOptions, Kernels};
use lgm::simulate::Plan;
use nalgebra::{DMatrix, DVector};
use std::fmt::Write;

const GRAVITY: f64 = 9.81;

/// Positions count as singular where the equations of position and the independent angles determine the coordinates with a
/// condition number above this.
const SINGULAR: f64 = 150.0;

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Style {
    /// With transformers of its own.
    Arms,
    /// With the library's body over an angle that is declared beside it.
    Ideal,
    /// With the library's body that keeps its angle itself, which no link can that follows from others.
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
    /// To the ground.
    spring: Option<f64>,
    damper: Option<f64>,
    /// On the centre of mass.
    force: [f64; 2],
    style: Style,
    angle: f64,
    /// The angular velocity at the start, if the link is free to have one.
    rate: f64,
}

/// What the end of the left links is joined to, besides the right links or the guide.
#[derive(Clone, Debug)]
struct End {
    mass: Option<f64>,
    spring: Option<f64>,
    damper: Option<f64>,
}

/// A closed chain: links from the origin to its end, and links from another pivot to the same end, or, where there are none, a guide
/// that keeps the end at one height. The last links of both follow from the others.
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
        chain
    }

    fn is_slider(&self) -> bool {
        self.left == self.links.len()
    }

    fn follows(&self, link: usize) -> bool {
        link + 1 == self.left || link + 1 == self.links.len()
    }

    /// The links whose angles may be chosen.
    fn independent(&self) -> Vec<usize> {
        let free = (0..self.links.len()).filter(|k| !self.follows(*k));
        free.filter(|k| self.mesh.is_none() || *k == 0).collect()
    }

    /// The angle of a link as the model names it.
    fn angle(&self, link: usize) -> String {
        match (self.follows(link), self.links[link].style) {
            (true, _) if self.is_slider() => "q".to_string(),
            (true, _) if link + 1 == self.left => "q[1]".to_string(),
            (true, _) => "q[2]".to_string(),
            (false, Style::Frame) => format!("f{}.angle", link + 1),
            (false, _) => format!("t{}", link + 1),
        }
    }

    /// The end of the links up to one, from the pivot at which they begin, with the angles of the start.
    fn reach(&self, links: std::ops::Range<usize>) -> [f64; 2] {
        let sum = |part: fn(f64) -> f64| {
            links
                .clone()
                .map(|k| self.links[k].length * part(self.links[k].angle))
                .sum()
        };
        [sum(f64::cos), sum(f64::sin)]
    }

    /// The end at the start.
    fn end_at_start(&self) -> [f64; 2] {
        self.reach(0..self.left)
    }

    /// The pivot of the right links.
    fn pivot(&self) -> [f64; 2] {
        let (end, right) = (self.end_at_start(), self.reach(self.left..self.links.len()));
        [end[0] - right[0], end[1] - right[1]]
    }

    /// The model's text; `guesses` are the starts of the angles that follow.
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
        // As a person would write it: with two decimals.
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
            let is_given = self.independent().contains(&k);
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
        // The end of the left links carries more than the joint does.
        if k + 1 != self.left && (k + 1 != n || !self.is_slider()) {
            writeln!(text, "  output force{at} = through({tip});").unwrap();
        }
    }

    /// Coordinates: place and angle of each link, the place of the mass at the end, the angles of the flywheels.
    fn coordinates(&self) -> usize {
        let wheels = self.links.iter().filter(|link| link.flywheel.is_some()).count();
        3 * self.links.len() + 2 * usize::from(self.end.mass.is_some()) + wheels
    }

    /// The two ends of a link.
    fn ends(&self, q: &[Jet], k: usize) -> [[Jet; 2]; 2] {
        let (link, [x, y, angle]) = (&self.links[k], [q[3 * k], q[3 * k + 1], q[3 * k + 2]]);
        let point = |reach: f64| [x + angle.cos() * reach, y + angle.sin() * reach];
        [point(-link.centre), point(link.length - link.centre)]
    }

    /// What is zero: for each link the place of its first joint, then the closing, the mass at the end, the flywheels, the mesh.
    fn constraints(&self, q: &[Jet]) -> Vec<Jet> {
        let n = self.links.len();
        let mut list = Vec::new();
        let mut meet = |a: [Jet; 2], b: [Jet; 2]| list.extend([a[0] - b[0], a[1] - b[1]]);
        let fixed = |place: [f64; 2]| place.map(Jet::constant);
        for k in 0..n {
            let before = match k {
                0 => fixed([0.0; 2]),
                _ if k == self.left => fixed(self.pivot()),
                _ => self.ends(q, k - 1)[1],
            };
            meet(self.ends(q, k)[0], before);
        }
        let end = self.ends(q, self.left - 1)[1];
        if !self.is_slider() {
            meet(end, self.ends(q, n - 1)[1]);
        }
        let mut next = 3 * n;
        if self.end.mass.is_some() {
            meet([q[next], q[next + 1]], end);
            next += 2;
        }
        if self.is_slider() {
            list.insert(2 * n, end[1] + -self.end_at_start()[1]);
        }
        for (k, link) in self.links.iter().enumerate() {
            if let Some((ratio, _)) = link.flywheel {
                list.push(q[next] - q[3 * k + 2] * ratio);
                next += 1;
            }
        }
        if let Some(ratio) = self.mesh {
            let apart = self.links[2].angle - ratio * self.links[0].angle;
            list.push(q[8] - q[2] * ratio + -apart);
        }
        list
    }

    /// Masses and moments of inertia of the coordinates.
    fn masses(&self) -> Vec<f64> {
        let links = self
            .links
            .iter()
            .flat_map(|link| [link.mass, link.mass, link.inertia.unwrap_or(0.0)]);
        let end = self.end.mass.into_iter().flat_map(|mass| [mass, mass]);
        let wheels = self.links.iter().filter_map(|link| link.flywheel).map(|wheel| wheel.1);
        links.chain(end).chain(wheels).collect()
    }

    /// What pulls at the coordinates, joints apart.
    fn forces(&self, Place { q, v }: &Place) -> Vec<f64> {
        let mut forces = vec![0.0; q.len()];
        for (k, link) in self.links.iter().enumerate() {
            let at = 3 * k;
            forces[at] += link.force[0];
            forces[at + 1] += link.force[1] - GRAVITY * link.mass;
            forces[at + 2] -=
                link.spring.unwrap_or(0.0) * (q[at + 2] - link.angle) + link.damper.unwrap_or(0.0) * v[at + 2];
        }
        forces[2] += self.torque;
        if let Some((stiffness, damping)) = self.joint {
            let wound = (q[5] - q[2]) - (self.links[1].angle - self.links[0].angle);
            let torque = stiffness * wound + damping * (v[5] - v[2]);
            forces[5] -= torque;
            forces[2] += torque;
        }
        let end = self.ends(&variables(q), self.left - 1)[1];
        let axes = if self.is_slider() { 1 } else { 2 };
        for (axis, end) in end.iter().enumerate().take(axes) {
            let speed: f64 = (0..v.len()).map(|k| end.gradient[k] * v[k]).sum();
            let moved = end.value - self.end_at_start()[axis];
            let force = self.end.spring.unwrap_or(0.0) * moved + self.end.damper.unwrap_or(0.0) * speed;
            for (k, total) in forces.iter_mut().enumerate() {
                *total -= end.gradient[k] * force;
            }
        }
        forces
    }

    /// Accelerations of the coordinates, and the multipliers.
    fn accelerations(&self, place: &Place) -> (Vec<f64>, Vec<f64>) {
        let n = place.q.len();
        let constraints = self.constraints(&variables(&place.q));
        let count = constraints.len();
        let mut matrix = DMatrix::zeros(n + count, n + count);
        let mut right = DVector::zeros(n + count);
        for (k, (mass, force)) in self.masses().into_iter().zip(self.forces(place)).enumerate() {
            matrix[(k, k)] = mass;
            right[k] = force;
        }
        for (row, constraint) in constraints.iter().enumerate() {
            for i in 0..n {
                matrix[(n + row, i)] = constraint.gradient[i];
                matrix[(i, n + row)] = constraint.gradient[i];
                let bend: f64 = (0..n).map(|j| constraint.hessian[i][j] * place.v[j]).sum();
                right[n + row] -= bend * place.v[i];
            }
        }
        let solved = matrix
            .full_piv_lu()
            .solve(&right)
            .expect("a chain away from dead centres moves");
        (solved.as_slice()[..n].to_vec(), solved.as_slice()[n..].to_vec())
    }

    /// The position near coordinates at which some of the links have given angles, with the velocities that belong to their rates;
    /// none where that is singular, or not found.
    fn place(&self, near: &[f64], angles: &[f64], rates: &[f64]) -> Option<Place> {
        let (mut q, n, free) = (near.to_vec(), near.len(), self.independent());
        let system = |q: &[f64]| {
            let constraints = self.constraints(&variables(q));
            let mut matrix = DMatrix::zeros(n, n);
            let mut value = DVector::zeros(n);
            assert_eq!(constraints.len() + free.len(), n, "{self:?}");
            for (row, constraint) in constraints.iter().enumerate() {
                value[row] = constraint.value;
                (0..n).for_each(|k| matrix[(row, k)] = constraint.gradient[k]);
            }
            for (row, (link, angle)) in free.iter().zip(angles).enumerate() {
                value[constraints.len() + row] = q[3 * link + 2] - angle;
                matrix[(constraints.len() + row, 3 * link + 2)] = 1.0;
            }
            (value, matrix)
        };
        for _ in 0..30 {
            let (value, matrix) = system(&q);
            let step = matrix.lu().solve(&value)?;
            q.iter_mut().zip(step.iter()).for_each(|(q, step)| *q -= step);
        }
        let (value, matrix) = system(&q);
        let singular = matrix.singular_values();
        if value.amax() > 1e-12 || !(singular.max() < SINGULAR * singular.min()) {
            return None;
        }
        let mut right = DVector::zeros(n);
        rates
            .iter()
            .enumerate()
            .for_each(|(k, rate)| right[n - free.len() + k] = *rate);
        let v = matrix.lu().solve(&right)?.as_slice().to_vec();
        Some(Place { q, v })
    }

    /// Where the model starts; none where that is singular.
    fn start(&self) -> Option<Place> {
        let mut q = Vec::with_capacity(self.coordinates());
        for (k, link) in self.links.iter().enumerate() {
            let (base, first) = match k < self.left {
                true => ([0.0; 2], 0),
                false => (self.pivot(), self.left),
            };
            let before = self.reach(first..k);
            q.push(base[0] + before[0] + link.centre * link.angle.cos());
            q.push(base[1] + before[1] + link.centre * link.angle.sin());
            q.push(link.angle);
        }
        if self.end.mass.is_some() {
            q.extend(self.end_at_start());
        }
        let wheels = self.links.iter().filter_map(|link| Some(link.flywheel?.0 * link.angle));
        q.extend(wheels);
        let free = self.independent();
        let angles: Vec<f64> = free.iter().map(|k| self.links[*k].angle).collect();
        let rates: Vec<f64> = free.iter().map(|k| self.links[*k].rate).collect();
        self.place(&q, &angles, &rates)
    }

    /// The value of a state of the model.
    fn state(&self, name: &str, Place { q, v }: &Place) -> f64 {
        let end = self.ends(&variables(q), self.left - 1)[1];
        let start = self.end_at_start();
        let speed = |axis: usize| -> f64 { (0..v.len()).map(|k| end[axis].gradient[k] * v[k]).sum() };
        let pull = |axis: usize| self.end.spring.unwrap_or(0.0) * (end[axis].value - start[axis]);
        match name {
            "tie.F" | "tie.F[1]" => return pull(0),
            "tie.F[2]" => return pull(1),
            "load.v" | "load.v[1]" => return speed(0),
            "load.v[2]" => return speed(1),
            "elastic.tau" => {
                let turned = (q[5] - q[2]) - (self.links[1].angle - self.links[0].angle);
                return self.joint.map_or(0.0, |joint| joint.0) * turned;
            }
            _ => {}
        }
        for (k, link) in self.links.iter().enumerate() {
            let (at, angle, rate) = (k + 1, q[3 * k + 2], v[3 * k + 2]);
            let values = [
                (self.angle(k), angle),
                (format!("w[{at}].w"), rate),
                (format!("J{at}.w"), rate),
                (format!("fly{at}.w"), link.flywheel.map_or(0.0, |wheel| wheel.0) * rate),
                (format!("k{at}.tau"), link.spring.unwrap_or(0.0) * (angle - link.angle)),
                (format!("m{at}.v[1]"), v[3 * k]),
                (format!("m{at}.v[2]"), v[3 * k + 1]),
            ];
            if let Some(found) = values.iter().find(|entry| entry.0 == name) {
                return found.1;
            }
        }
        panic!("no state `{name}` is known")
    }

    /// What the model's outputs should be, by name.
    fn outputs(&self, place: &Place) -> Vec<(String, f64)> {
        let (accelerations, multipliers) = self.accelerations(place);
        let n = self.links.len();
        let mut list = Vec::new();
        for k in 0..n {
            let at = k + 1;
            list.push((format!("angle{at}"), place.q[3 * k + 2]));
            list.push((format!("rate{at}"), place.v[3 * k + 2]));
            list.push((format!("acceleration{at}"), accelerations[3 * k + 2]));
            // A joint is the first one of the link after it; the closing stands behind all links.
            let is_joint = k + 1 != self.left && k + 1 != n;
            let is_closing = !self.is_slider() && k + 1 == n;
            let row = if is_closing { 2 * n } else { 2 * (k + 1) };
            if is_joint || is_closing {
                for axis in 0..2 {
                    list.push((format!("force{at}[{}]", axis + 1), multipliers[row + axis]));
                }
            }
        }
        if self.is_slider() {
            list.push(("side".to_string(), multipliers[2 * n]));
        }
        list
    }

    /// The chain some time after the start, by the method of Runge and Kutta; none where it comes near a singular position.
    fn after(&self, time: f64, steps: usize) -> Option<Place> {
        let mut place = self.start()?;
        let h = time / steps as f64;
        for step in 0..steps {
            let slope = |q: &[f64], v: &[f64]| {
                let place = Place {
                    q: q.to_vec(),
                    v: v.to_vec(),
                };
                self.accelerations(&place).0
            };
            let moved = |from: &[f64], by: &[f64], share: f64| -> Vec<f64> {
                from.iter().zip(by).map(|(from, by)| from + share * h * by).collect()
            };
            let (q, v) = (place.q, place.v);
            let a = slope(&q, &v);
            let (qb, vb) = (moved(&q, &v, 0.5), moved(&v, &a, 0.5));
            let b = slope(&qb, &vb);
            let (qc, vc) = (moved(&q, &vb, 0.5), moved(&v, &b, 0.5));
            let c = slope(&qc, &vc);
            let (qd, vd) = (moved(&q, &vc, 1.0), moved(&v, &c, 1.0));
            let d = slope(&qd, &vd);
            let sum = |parts: [&[f64]; 4], k: usize| {
                h / 6.0 * (parts[0][k] + 2.0 * parts[1][k] + 2.0 * parts[2][k] + parts[3][k])
            };
            let count = q.len();
            let q: Vec<f64> = (0..count).map(|k| q[k] + sum([&v, &vb, &vc, &vd], k)).collect();
            let v: Vec<f64> = (0..count).map(|k| v[k] + sum([&a, &b, &c, &d], k)).collect();
            place = Place { q, v };
            // Back onto the constraints, from which the steps drift; and a look at whether the position is singular.
            if step % 8 == 7 || step + 1 == steps {
                let free = self.independent();
                let angles: Vec<f64> = free.iter().map(|k| place.q[3 * k + 2]).collect();
                let rates: Vec<f64> = free.iter().map(|k| place.v[3 * k + 2]).collect();
                place = self.place(&place.q, &angles, &rates)?;
            }
        }
        Some(place)
    }
}

/// The coordinates as variables of automatic differentiation.
fn variables(q: &[f64]) -> Vec<Jet> {
    q.iter()
        .enumerate()
        .map(|(k, value)| Jet::variable(*value, k))
        .collect()
}

/// A model's outputs at given states, its loops solved beforehand.
fn evaluate(chain: &Closed, system: &StateSystem, kernels: &Kernels, place: &Place) -> Vec<f64> {
    let states: Vec<f64> = system
        .states
        .iter()
        .map(|state| chain.state(&state.name, place))
        .collect();
    let unknowns = system.loops.iter().flat_map(|each| &each.unknowns);
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

/// The largest difference of some outputs from what they should be, relative to the largest of its kind.
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
        if !(off <= worst.0) {
            worst = (off, format!("{name} is {} instead of {value}", found[at]));
        }
    }
    worst
}

#[test]
fn random_closed_chains_move_as_multipliers_say() {
    let (mut chains, mut points, mut runs) = (0, 0, 0);
    for seed in 0..20 {
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
            // The start itself, then positions beside it at any velocities.
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
        // Ten seconds of every run would pass many dead centres; most pass none in a tenth of one.
        let time = 0.1;
        let Some(end) = chain.after(time, 24) else { continue };
        runs += 1;
        let plan = Plan {
            stop: time,
            points: 2,
            rtol: 1e-10,
            atol: 1e-11,
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
        chains >= 15 && points >= 45 && runs >= 10,
        "{chains} chains, {points} points, {runs} runs"
    );
}
