//! Nodal equations with piecewise laws in implicit Euler steps.

use super::draw::{Drawn, Element, Kind, POINTS};
use nalgebra::DMatrix;
use std::collections::HashMap;

/// Steps of a run: a multiple of its sample intervals.
const STEPS: usize = 250 * (POINTS - 1);

/// The conductances of closed, sticking and blocking elements, in SI units.
///
/// Springs integrate the residual velocity of sticking frictions, so these conduct better.
const CONDUCTING: f64 = 1e4;
const STUCK: f64 = 1e5;
const BLOCKING: f64 = 1e-7;

/// The active pieces of the laws of all switched elements: -1, 0 or 1 for frictions; for others, 0 blocks and 1
/// conducts.
type Pieces = Vec<i8>;

struct Reference<'a> {
    drawn: &'a Drawn,
    switched: Vec<&'a Element>,
    sources: Vec<&'a Element>,
    step: f64,
    /// The inverse for each set of pieces, in rows.
    inverses: HashMap<Pieces, Vec<f64>>,
}

/// The across variables of the nodes and the through variables of T-type elements in each sample; none if a step has no
/// solution.
pub fn solve(drawn: &Drawn) -> Option<Vec<Vec<f64>>> {
    let is_source = |element: &&Element| matches!(element.kind, Kind::Across { .. });
    let mut reference = Reference {
        drawn,
        switched: drawn
            .elements
            .iter()
            .filter(|element| element.kind.is_switched())
            .collect(),
        sources: drawn.elements.iter().filter(is_source).collect(),
        step: drawn.stop() / STEPS as f64,
        inverses: HashMap::new(),
    };
    let mut pieces = vec![0; reference.switched.len()];
    let mut stored = vec![0.0; drawn.elements.len()];
    let mut rows = vec![vec![0.0; drawn.nodes + drawn.stores().count()]];
    for step in 1..=STEPS {
        let time = step as f64 * reference.step;
        let x = reference.advance(time, &stored, &mut pieces)?;
        for (stored, element) in stored.iter_mut().zip(&drawn.elements) {
            let across = across(&x, element);
            match element.kind {
                Kind::AType(_) => *stored = across,
                Kind::TType(value) => *stored += reference.step / value * across,
                _ => {}
            }
        }
        if step % (STEPS / (POINTS - 1)) == 0 {
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
    fn size(&self) -> usize {
        self.drawn.all + self.sources.len()
    }

    /// One step: the pieces that agree with their solution.
    fn advance(&mut self, time: f64, stored: &[f64], pieces: &mut Pieces) -> Option<Vec<f64>> {
        let fixed = self.right_side(time, stored);
        let mut seen: Vec<Pieces> = Vec::new();
        let mut is_one_by_one = false;
        for _ in 0..500 {
            let mut right = fixed.clone();
            for (element, piece) in self.switched.iter().zip(pieces.iter()) {
                if let Some(limit) = limit(element, time) {
                    inject(&mut right, element, f64::from(*piece) * limit);
                }
            }
            let x = multiply(self.inverse(pieces), &right);
            let wanted: Pieces = self
                .switched
                .iter()
                .zip(pieces.iter())
                .map(|(element, now)| piece(element, *now, across(&x, element), time))
                .collect();
            if wanted == *pieces {
                return Some(x);
            }
            is_one_by_one |= seen.contains(pieces);
            seen.push(pieces.clone());
            match is_one_by_one {
                true => {
                    let first = wanted
                        .iter()
                        .zip(pieces.iter())
                        .position(|(wanted, piece)| wanted != piece)?;
                    pieces[first] = wanted[first];
                }
                false => *pieces = wanted,
            }
        }
        None
    }

    /// The through variables that sources and storage supply to the nodes.
    fn right_side(&self, time: f64, stored: &[f64]) -> Vec<f64> {
        let mut right = vec![0.0; self.size()];
        for (element, stored) in self.drawn.elements.iter().zip(stored) {
            match element.kind {
                Kind::AType(value) => inject(&mut right, element, -value / self.step * stored),
                Kind::TType(_) => inject(&mut right, element, *stored),
                Kind::Through { amplitude, phase } => {
                    inject(&mut right, element, self.drawn.sine(amplitude, phase, time))
                }
                _ => {}
            }
        }
        for (source, right) in self.sources.iter().zip(&mut right[self.drawn.all..]) {
            if let Kind::Across {
                offset,
                amplitude,
                phase,
            } = source.kind
            {
                *right = offset + self.drawn.sine(amplitude, phase, time);
            }
        }
        right
    }

    fn inverse(&mut self, pieces: &Pieces) -> &[f64] {
        if !self.inverses.contains_key(pieces) {
            let inverse = self.inverted(pieces);
            self.inverses.insert(pieces.clone(), inverse);
        }
        &self.inverses[pieces]
    }

    fn inverted(&self, pieces: &Pieces) -> Vec<f64> {
        let mut matrix = DMatrix::zeros(self.size(), self.size());
        let mut pieces = pieces.iter();
        for element in &self.drawn.elements {
            let conducts = match element.kind {
                Kind::Dissipator(value) => 1.0 / value,
                Kind::AType(value) => value / self.step,
                Kind::TType(value) => self.step / value,
                Kind::Friction(_) | Kind::Brake(..) if pieces.next() == Some(&0) => STUCK,
                Kind::Diode | Kind::Switch(_) | Kind::Transistor(_) if pieces.next() == Some(&1) => CONDUCTING,
                kind if kind.is_switched() => BLOCKING,
                _ => continue,
            };
            let ends = [(element.from, 1.0), (element.to, -1.0)];
            for (row, sign) in ends {
                for (column, other) in ends {
                    if row > 0 && column > 0 {
                        matrix[(row - 1, column - 1)] += sign * other * conducts;
                    }
                }
            }
        }
        for (at, source) in self.sources.iter().enumerate() {
            let (node, row) = (source.from - 1, self.drawn.all + at);
            matrix[(node, row)] = 1.0;
            matrix[(row, node)] = 1.0;
        }
        let inverse = matrix.try_inverse().expect("each node has a path to the reference");
        inverse.transpose().as_slice().to_vec()
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

/// The largest through variable of a friction.
fn limit(element: &Element, time: f64) -> Option<f64> {
    match element.kind {
        Kind::Friction(limit) => Some(limit),
        Kind::Brake(limit, gate) => Some(if gate.is_on_before(time) { limit } else { 0.0 }),
        _ => None,
    }
}

/// The piece of an element's law for an across variable.
fn piece(element: &Element, now: i8, across: f64, time: f64) -> i8 {
    match element.kind {
        Kind::Switch(gate) => i8::from(gate.is_on_before(time)),
        Kind::Transistor(gate) => i8::from(gate.is_on_before(time) || across < 0.0),
        Kind::Diode => i8::from(across > 0.0),
        _ => {
            let limit = limit(element, time).unwrap_or(0.0);
            if limit == 0.0 {
                // A released brake: neither sliding piece has a force.
                if now == 0 { 1 } else { now }
            } else if f64::from(now) * STUCK * across < -limit {
                // Between sliding in opposite directions, a friction sticks first.
                0
            } else if STUCK * across > limit {
                1
            } else if STUCK * across < -limit {
                -1
            } else {
                0
            }
        }
    }
}

fn multiply(inverse: &[f64], right: &[f64]) -> Vec<f64> {
    let rows = inverse.chunks(right.len());
    rows.map(|row| row.iter().zip(right).map(|(entry, right)| entry * right).sum())
        .collect()
}
