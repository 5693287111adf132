//! Motion of closed chains by Lagrange's equations with multipliers in the coordinates of all bodies.

use super::super::jet::Jet;
use super::{Closed, GRAVITY, Place};
use nalgebra::{DMatrix, DVector};

/// The condition number of the position equations with the independent angles above which a position counts as
/// singular.
const SINGULAR: f64 = 150.0;

impl Closed {
    /// Coordinates: position and angle of each link, the position of the mass at the end, the angles of the flywheels.
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

    /// The constraints: for each link the position of its first joint, then the closure, the mass at the end, the
    /// flywheels, the gear mesh.
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

    /// The applied forces on the coordinates, without joint forces.
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
    pub(super) fn accelerations(&self, place: &Place) -> (Vec<f64>, Vec<f64>) {
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

    /// The position near given coordinates at which some of the links have given angles, with the velocities for given
    /// rates; none if it is singular or not found.
    pub(super) fn place(&self, near: &[f64], angles: &[f64], rates: &[f64]) -> Option<Place> {
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
        let is_regular = singular.max() < SINGULAR * singular.min();
        if value.amax() > 1e-12 || !is_regular {
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

    /// The initial position of the model; none if it is singular.
    pub(super) fn start(&self) -> Option<Place> {
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
    pub(super) fn state(&self, name: &str, Place { q, v }: &Place) -> f64 {
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

    /// The expected outputs of the model, by name.
    pub(super) fn outputs(&self, place: &Place) -> Vec<(String, f64)> {
        let (accelerations, multipliers) = self.accelerations(place);
        let n = self.links.len();
        let mut list = Vec::new();
        for k in 0..n {
            let at = k + 1;
            list.push((format!("angle{at}"), place.q[3 * k + 2]));
            list.push((format!("rate{at}"), place.v[3 * k + 2]));
            list.push((format!("acceleration{at}"), accelerations[3 * k + 2]));
            // A joint is the first one of the next link; the closure follows all links.
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

    /// The chain some time after the start, by the Runge-Kutta method; none if it approaches a singular position.
    pub(super) fn after(&self, time: f64, steps: usize) -> Option<Place> {
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
            // Projects onto the constraints, from which the steps drift, and checks for a singular position.
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
