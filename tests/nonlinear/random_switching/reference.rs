//! Nodal equations with piecewise laws in implicit Euler steps.
//!
//! In each step the laws are monotone, so the across variables minimise a convex function. Newton's method with exact
//! line searches finds the minimum.

mod law;

use super::draw::{Drawn, Element, Kind, POINTS};
use law::{CONDUCTANCES, Law, Memory};
use nalgebra::DMatrix;
use std::collections::HashMap;

/// Steps in a sample interval.
pub const STEPS: usize = 250;

/// The largest number of Newton steps in a step of a run.
const MOST: usize = 300;

/// The largest error of a through variable in the solution of a step, in SI units.
const EXACT: f64 = 1e-3;

struct Reference<'a> {
    drawn: &'a Drawn,
    switched: Vec<&'a Element>,
    /// The rows after those of the nodes: the nodes and factors of a combination of across variables that is 0 or given by a source.
    constraints: Vec<Vec<(usize, f64)>>,
    step: f64,
    /// The matrix without switched elements.
    fixed: DMatrix<f64>,
    /// The inverse for the conductances of the switched elements, in rows.
    inverses: HashMap<Vec<u8>, Vec<f64>>,
}

/// The across variables of the nodes and the through variables of T-type elements in each sample; none if a step has no
/// solution, or if the current of a thyristor fades. There are `steps` in each sample interval.
pub fn solve(drawn: &Drawn, steps: usize) -> Option<Vec<Vec<f64>>> {
    let mut reference = Reference::new(drawn, steps * (POINTS - 1));
    let mut memories = vec![Memory::default(); reference.switched.len()];
    let mut stored = vec![0.0; drawn.elements.len()];
    let mut x = vec![0.0; reference.fixed.nrows()];
    let mut rows = vec![vec![0.0; drawn.nodes + drawn.stores().count()]];
    for step in 1..=steps * (POINTS - 1) {
        let time = step as f64 * reference.step;
        let right = reference.right_side(time, &stored);
        let laws = |reference: &Reference<'_>, memories: &[Memory]| -> Vec<Law> {
            let switched = reference.switched.iter().zip(memories);
            switched
                .map(|(element, memory)| Law::of(element, memory, drawn.domain, (time, reference.step)))
                .collect()
        };
        let found = laws(&reference, &memories);
        x = reference.advance(&right, &found, x)?;
        let mut is_struck = false;
        for ((element, memory), law) in reference.switched.iter().zip(&mut memories).zip(&found) {
            is_struck |= memory.strike(element, law, across(&x, element));
        }
        if is_struck {
            let found = laws(&reference, &memories);
            x = reference.advance(&right, &found, x)?;
        }
        let found = laws(&reference, &memories);
        for ((element, memory), law) in reference.switched.iter().zip(&mut memories).zip(&found) {
            if !memory.follow(element, law, across(&x, element), reference.step) {
                return None;
            }
        }
        for (stored, element) in stored.iter_mut().zip(&drawn.elements) {
            let across = across(&x, element);
            match element.kind {
                Kind::AType(_) => *stored = across,
                Kind::TType(value) => *stored += reference.step / value * across,
                _ => {}
            }
        }
        if step % steps == 0 {
            let through = drawn.elements.iter().zip(&stored);
            let through = through.filter(|entry| matches!(entry.0.kind, Kind::TType(_)));
            rows.push(
                x[..drawn.nodes]
                    .iter()
                    .copied()
                    .chain(through.map(|entry| *entry.1))
                    .collect(),
            );
        }
    }
    Some(rows)
}

fn at(x: &[f64], node: usize) -> f64 {
    if node == 0 { 0.0 } else { x[node - 1] }
}

fn across(x: &[f64], element: &Element) -> f64 {
    at(x, element.from) - at(x, element.to)
}

impl Reference<'_> {
    fn new(drawn: &Drawn, steps: usize) -> Reference<'_> {
        let constraint = |element: &Element| match element.kind {
            Kind::Across { .. } => Some(vec![(element.from, 1.0), (element.to, -1.0)]),
            Kind::Transformer(ratio, (from, to)) => Some(vec![
                (element.from, ratio),
                (element.to, -ratio),
                (from, -1.0),
                (to, 1.0),
            ]),
            _ => None,
        };
        let constraints: Vec<_> = drawn.elements.iter().filter_map(constraint).collect();
        let size = drawn.all + constraints.len();
        let mut reference = Reference {
            drawn,
            switched: drawn
                .elements
                .iter()
                .filter(|element| element.kind.is_switched())
                .collect(),
            constraints,
            step: drawn.stop() / steps as f64,
            fixed: DMatrix::zeros(size, size),
            inverses: HashMap::new(),
        };
        let step = reference.step;
        for element in &drawn.elements {
            match element.kind {
                Kind::Dissipator(value) => conduct(&mut reference.fixed, element, 1.0 / value),
                Kind::AType(value) => conduct(&mut reference.fixed, element, value / step),
                Kind::TType(value) => conduct(&mut reference.fixed, element, step / value),
                _ => {}
            }
        }
        for (row, constraint) in reference.constraints.iter().enumerate() {
            for (node, factor) in constraint.iter().filter(|entry| entry.0 > 0) {
                reference.fixed[(drawn.all + row, node - 1)] += factor;
                reference.fixed[(node - 1, drawn.all + row)] += factor;
            }
        }
        reference
    }

    /// One step: the solution of the nodal equations with these laws.
    fn advance(&mut self, right: &[f64], laws: &[Law], start: Vec<f64>) -> Option<Vec<f64>> {
        let pieces = |reference: &Self, x: &[f64]| -> Vec<usize> {
            let switched = reference.switched.iter().zip(laws);
            switched.map(|(element, law)| law.piece(across(x, element))).collect()
        };
        // The first step satisfies the constraints, and the others keep them.
        let mut x = start;
        for step in 0..MOST {
            let now = pieces(self, &x);
            let next = self.newton(right, laws, &now);
            let errors = self.switched.iter().zip(laws).zip(&now).map(|((element, law), piece)| {
                let across = across(&next, element);
                (law.through(across) - law.line(*piece, across)).abs()
            });
            if errors.fold(0.0, f64::max) < EXACT {
                return Some(next);
            }
            let part = if step == 0 {
                1.0
            } else {
                self.nearest(right, laws, &x, &next)
            };
            x.iter_mut().zip(&next).for_each(|(x, next)| *x += part * (next - *x));
        }
        None
    }

    /// The solution if each law is that of one of its pieces.
    fn newton(&mut self, right: &[f64], laws: &[Law], pieces: &[usize]) -> Vec<f64> {
        let mut right = right.to_vec();
        for ((element, law), piece) in self.switched.iter().zip(laws).zip(pieces) {
            inject(&mut right, element, law.offsets[*piece]);
        }
        let kinds: Vec<u8> = laws
            .iter()
            .zip(pieces)
            .map(|(law, piece)| law.conductances[*piece])
            .collect();
        if !self.inverses.contains_key(&kinds) {
            let mut matrix = self.fixed.clone();
            for (element, kind) in self.switched.iter().zip(&kinds) {
                conduct(&mut matrix, element, CONDUCTANCES[usize::from(*kind)]);
            }
            let inverse = matrix.try_inverse().expect("each node has a path to the reference");
            let inverse = inverse.transpose().as_slice().to_vec();
            self.inverses.insert(kinds.clone(), inverse);
        }
        let rows = self.inverses[&kinds].chunks(right.len());
        rows.map(|row| row.iter().zip(&right).map(|(entry, right)| entry * right).sum())
            .collect()
    }

    /// The part of the way between two points at which the convex function is least.
    fn nearest(&self, right: &[f64], laws: &[Law], x: &[f64], next: &[f64]) -> f64 {
        let way: Vec<f64> = next.iter().zip(x).map(|(next, x)| next - x).collect();
        let nodes = self.drawn.all;
        // The through variables of constraints do no work along the way.
        let slope_of = |y: &[f64]| -> f64 {
            let rows = 0..nodes;
            rows.map(|row| {
                way[row]
                    * (0..nodes)
                        .map(|column| self.fixed[(row, column)] * y[column])
                        .sum::<f64>()
            })
            .sum()
        };
        let given: f64 = way[..nodes].iter().zip(right).map(|(way, right)| way * right).sum();
        let (constant, linear) = (slope_of(x) - given, slope_of(&way));
        let slope = |part: f64| {
            let switched = self.switched.iter().zip(laws);
            let through = switched.map(|(element, law)| {
                let along = across(&way, element);
                law.through(across(x, element) + part * along) * along
            });
            constant + part * linear + through.sum::<f64>()
        };
        let (mut low, mut high) = (0.0, 1.0);
        if slope(high) <= 0.0 {
            return high;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if slope(middle) <= 0.0 {
                low = middle
            } else {
                high = middle
            }
        }
        high
    }

    /// The through variables that sources and storage supply to the nodes, and the values of the constraints.
    fn right_side(&self, time: f64, stored: &[f64]) -> Vec<f64> {
        let mut right = vec![0.0; self.fixed.nrows()];
        let mut constraint = self.drawn.all;
        for (element, stored) in self.drawn.elements.iter().zip(stored) {
            match element.kind {
                Kind::AType(value) => inject(&mut right, element, -value / self.step * stored),
                Kind::TType(_) => inject(&mut right, element, *stored),
                Kind::Through { amplitude, phase } => {
                    inject(&mut right, element, self.drawn.sine(amplitude, phase, time))
                }
                Kind::Across {
                    offset,
                    amplitude,
                    phase,
                } => {
                    right[constraint] = offset + self.drawn.sine(amplitude, phase, time);
                    constraint += 1;
                }
                Kind::Transformer(..) => constraint += 1,
                _ => {}
            }
        }
        right
    }
}

/// Adds a conductance between the nodes of an element.
fn conduct(matrix: &mut DMatrix<f64>, element: &Element, conductance: f64) {
    let ends = [(element.from, 1.0), (element.to, -1.0)];
    for (row, sign) in ends {
        for (column, other) in ends {
            if row > 0 && column > 0 {
                matrix[(row - 1, column - 1)] += sign * other * conductance;
            }
        }
    }
}

/// Subtracts a through variable at the element's first node, and adds it at the second one.
fn inject(right: &mut [f64], element: &Element, through: f64) {
    if element.from > 0 {
        right[element.from - 1] -= through;
    }
    if element.to > 0 {
        right[element.to - 1] += through;
    }
}
