//! A model as differential-algebraic equations of its nodes: `M z' = f(t, z)`.
//!
//! The unknowns are the across variables of all nodes and, if these do not determine a law, a variable of the element:
//! the through variable, or the displacement of a hard spring. No causality is assigned, nothing is reduced and no loop
//! is torn.

use super::model::{Element, Law, Model, Node};
use nalgebra::{DMatrix, DVector};

/// The equations of a model.
pub struct Nodal<'m> {
    model: &'m Model,
    /// The unknown of each element that has one.
    own: Vec<Option<usize>>,
    pub size: usize,
    pub mass: DMatrix<f64>,
    /// The approximate magnitude of each unknown.
    pub sizes: Vec<f64>,
}

/// The slope that replaces a zero slope, relative to the usual one: laws that are flat at rest keep their equations
/// regular.
const FLAT: f64 = 1e-9;

/// The argument beyond which an exponential continues linearly.
const STEEP: f64 = 200.0;

/// Accumulated values and slopes.
struct Sums<'s> {
    values: &'s mut DVector<f64>,
    slopes: Option<&'s mut DMatrix<f64>>,
}

impl Sums<'_> {
    /// Adds a term to a row, with its slopes with respect to some unknowns.
    fn add(&mut self, row: Node, value: f64, slopes: &[(Node, f64)]) {
        let Some(row) = row else { return };
        self.values[row] += value;
        if let Some(matrix) = &mut self.slopes {
            for (column, slope) in slopes.iter().filter_map(|(column, slope)| Some(((*column)?, slope))) {
                matrix[(row, column)] += slope;
            }
        }
    }

    /// A through variable from one node to another.
    fn passes(&mut self, (from, to): (Node, Node), value: f64, slopes: &[(Node, f64)]) {
        self.add(from, value, slopes);
        let turned: Vec<(Node, f64)> = slopes.iter().map(|(column, slope)| (*column, -slope)).collect();
        self.add(to, -value, &turned);
    }
}

/// The slopes of a function of the across variable of a port.
fn of_across((from, to): (Node, Node), slope: f64) -> [(Node, f64); 2] {
    [(from, slope), (to, -slope)]
}

/// Through variable and its slope if the law is a function of the across variable.
fn given(law: Law, across: f64) -> Option<(f64, f64)> {
    Some(match law {
        Law::DType(value) => (across / value, 1.0 / value),
        Law::Diode(is, vt) => {
            let x = across / vt;
            let slope = is * x.min(STEEP).exp() / vt;
            let value = is * x.min(STEEP).exp_m1() + slope * (across - vt * x.min(STEEP));
            (value, slope)
        }
        Law::Tanh(f, s) => (f * (across / s).tanh(), f / s / (across / s).cosh().powi(2)),
        Law::Clipper(g, v) => (g * (across - v).max(0.0), g * f64::from(across > v)),
        Law::Gap(g, v) => (g * (across - across.clamp(-v, v)), g * f64::from(across.abs() > v)),
        Law::Drag(c) => (c * across * across.abs(), 2.0 * c * across.abs()),
        _ => return None,
    })
}

impl<'m> Nodal<'m> {
    pub fn new(model: &'m Model) -> Nodal<'m> {
        let mut size = model.nodes.len();
        let mut sizes: Vec<f64> = model.sizes.iter().map(|size| size.0).collect();
        let mut own = Vec::new();
        for element in &model.elements {
            let (from, to) = element.ports[0];
            let (across, through) = model.sizes[from.or(to).expect("a branch has a node")];
            own.push(match element.law {
                Law::AType(_)
                | Law::TType(_)
                | Law::Orifice(_)
                | Law::Bend(_)
                | Law::Hard(..)
                | Law::AcrossSource(_)
                | Law::Transformer(_) => {
                    size += 1;
                    let is_moved = matches!(element.law, Law::Hard(..));
                    sizes.push(if is_moved { across * 0.1 * model.stop } else { through });
                    Some(size - 1)
                }
                _ => None,
            });
        }
        let mut mass = DMatrix::zeros(size, size);
        for (element, own) in model.elements.iter().zip(&own) {
            let Some(row) = *own else { continue };
            match element.law {
                Law::AType(value) => {
                    for (column, factor) in of_across(element.ports[0], value) {
                        if let Some(column) = column {
                            mass[(row, column)] += factor;
                        }
                    }
                }
                Law::TType(value) => mass[(row, row)] = value,
                Law::Hard(..) => mass[(row, row)] = 1.0,
                _ => {}
            }
        }
        Nodal {
            model,
            own,
            size,
            mass,
            sizes,
        }
    }

    /// `M z` at the start: the stored quantities.
    pub fn start(&self) -> DVector<f64> {
        let mut held = DVector::zeros(self.size);
        for (element, own) in self.model.elements.iter().zip(&self.own) {
            if let (Law::AType(value) | Law::TType(value), Some(row), Some(start)) = (element.law, own, element.start) {
                held[*row] = value * start;
            }
        }
        held
    }

    fn across(z: &DVector<f64>, (from, to): (Node, Node)) -> f64 {
        let at = |node: Node| node.map_or(0.0, |node| z[node]);
        at(from) - at(to)
    }

    /// `f(t, z)`, and its slopes with respect to z if requested; `side` selects the side of corners.
    pub fn right(&self, (time, side): (f64, f64), z: &DVector<f64>, slopes: Option<&mut DMatrix<f64>>) -> DVector<f64> {
        let mut values = DVector::zeros(self.size);
        let mut sums = Sums {
            values: &mut values,
            slopes,
        };
        if let Some(matrix) = &mut sums.slopes {
            matrix.fill(0.0);
        }
        for (at, element) in self.model.elements.iter().enumerate() {
            self.stamp(at, element, (time, side), z, &mut sums);
        }
        values
    }

    fn stamp(&self, at: usize, element: &Element, (time, side): (f64, f64), z: &DVector<f64>, sums: &mut Sums<'_>) {
        let port = element.ports[0];
        let across = Self::across(z, port);
        let row = self.own[at];
        let own = row.map_or(0.0, |row| z[row]);
        if let Some((value, slope)) = given(element.law, across) {
            let slope = match element.law {
                Law::Drag(c) => slope.max(2.0 * c * FLAT * self.sizes[port.0.or(port.1).expect("a branch has a node")]),
                _ => slope,
            };
            sums.passes(port, value, &of_across(port, slope));
            return;
        }
        match element.law {
            Law::AType(_) => {
                sums.passes(port, own, &[(row, 1.0)]);
                sums.add(row, own, &[(row, 1.0)]);
            }
            Law::TType(_) => {
                sums.passes(port, own, &[(row, 1.0)]);
                sums.add(row, across, &of_across(port, 1.0));
            }
            Law::Hard(k1, k3) => {
                let value = k1 * own + k3 * own.powi(3);
                sums.passes(port, value, &[(row, k1 + 3.0 * k3 * own * own)]);
                sums.add(row, across, &of_across(port, 1.0));
            }
            Law::Orifice(_) | Law::Bend(_) => {
                let c = match element.law {
                    Law::Orifice(k) => 1.0 / (k * k),
                    Law::Bend(c) => c,
                    _ => unreachable!(),
                };
                let usual = self.sizes[row.expect("the flow is an unknown")];
                sums.passes(port, own, &[(row, 1.0)]);
                sums.add(row, across - c * own * own.abs(), &of_across(port, 1.0));
                sums.add(row, 0.0, &[(row, -2.0 * c * own.abs().max(FLAT * usual))]);
            }
            Law::AcrossSource(signal) => {
                sums.passes(port, own, &[(row, 1.0)]);
                sums.add(row, across - signal.at(time, side), &of_across(port, 1.0));
            }
            Law::ThroughSource(signal) => sums.passes(port, signal.at(time, side), &[]),
            Law::Controlled(factor, of) => {
                let other = self.model.elements[of].ports[0];
                sums.passes(port, factor * Self::across(z, other), &of_across(other, factor));
            }
            Law::Heat(of) => {
                let other = self.model.elements[of].ports[0];
                let over = Self::across(z, other);
                let (value, slope) = given(self.model.elements[of].law, over).expect("a resistance is heated");
                sums.passes(port, value * over, &of_across(other, value + slope * over));
            }
            Law::Transformer(ratio) => {
                let second = element.ports[1];
                sums.passes(port, own, &[(row, 1.0)]);
                sums.passes(second, -own / ratio, &[(row, -1.0 / ratio)]);
                sums.add(row, Self::across(z, second), &of_across(second, 1.0));
                sums.add(row, -ratio * across, &of_across(port, -ratio));
            }
            Law::Gyrator(ratio) => {
                let second = element.ports[1];
                let over = Self::across(z, second);
                sums.passes(port, over / ratio, &of_across(second, 1.0 / ratio));
                sums.passes(second, -across / ratio, &of_across(port, -1.0 / ratio));
            }
            _ => {}
        }
    }

    /// The fraction of a Newton correction that is applied: it limits the growth of exponentials.
    pub fn share(&self, z: &DVector<f64>, change: &DVector<f64>) -> f64 {
        let mut share = 1.0f64;
        for element in &self.model.elements {
            if let Law::Diode(is, vt) = element.law {
                let (now, more) = (
                    Self::across(z, element.ports[0]),
                    Self::across(change, element.ports[0]),
                );
                let highest = now.max(vt * (0.1 * vt / is).ln().max(1.0)) + 2.0 * vt;
                if now + more > highest {
                    share = share.min((highest - now) / more);
                }
            }
        }
        share
    }

    /// Every across and through variable, in the order of [`Model::measures`].
    pub fn measured(&self, (time, side): (f64, f64), z: &DVector<f64>) -> Vec<f64> {
        let one = |(at, port, is_through): (usize, usize, bool)| {
            let element = &self.model.elements[at];
            let across = Self::across(z, element.ports[port]);
            match is_through {
                false => across,
                true => self.through(at, port, (time, side), z),
            }
        };
        self.model.measures().into_iter().map(one).collect()
    }

    fn through(&self, at: usize, port: usize, (time, side): (f64, f64), z: &DVector<f64>) -> f64 {
        let element = &self.model.elements[at];
        let over = |port: usize| Self::across(z, element.ports[port]);
        let own = self.own[at].map_or(0.0, |row| z[row]);
        match element.law {
            Law::Hard(k1, k3) => k1 * own + k3 * own.powi(3),
            Law::ThroughSource(signal) => signal.at(time, side),
            Law::Controlled(factor, of) => factor * Self::across(z, self.model.elements[of].ports[0]),
            Law::Heat(of) => {
                let across = Self::across(z, self.model.elements[of].ports[0]);
                given(self.model.elements[of].law, across).map_or(0.0, |(value, _)| value * across)
            }
            Law::Transformer(ratio) if port == 1 => -own / ratio,
            Law::Gyrator(ratio) => match port {
                0 => over(1) / ratio,
                _ => -over(0) / ratio,
            },
            law => given(law, over(0)).map_or(own, |(value, _)| value),
        }
    }
}
