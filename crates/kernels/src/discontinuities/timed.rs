//! Functions of time and parameters as operations on intervals: bounds between two instants, and the switches within them.

use super::interval::{self, Bounds, Interval};
use crate::programs::layout::Layout;
use crate::programs::operation::Space;
use crate::programs::walk::{ById, Walk};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation, to_f64};

/// One operation on the values of earlier ones.
#[derive(Clone, Debug)]
enum Operation {
    Number(f64),
    Parameter(u32),
    Time,
    Sum(Box<[u32]>),
    Product(Box<[u32]>),
    Power(u32, u32),
    Call(Function, Box<[u32]>),
    Relation(Relation, u32, u32),
    Not(u32),
    If(u32, u32, u32),
}

/// A piecewise constant value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    /// True for the integer part of an operation; false for the sign of an operation, or of the difference of two.
    pub is_whole: bool,
    pub a: u32,
    pub b: Option<u32>,
}

/// Functions of time, each operation after those that it reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timed {
    operations: Vec<Operation>,
    /// The piecewise constant values, inner switches first.
    pub switches: Vec<Switch>,
}

impl Timed {
    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Returns the terms of a sum, or the operation itself.
    pub fn terms<'t>(&'t self, at: &'t u32) -> &'t [u32] {
        match &self.operations[*at as usize] {
            Operation::Sum(list) => list,
            _ => std::slice::from_ref(at),
        }
    }

    /// Computes the bounds of all operations between two instants; at possible jumps, the rate is `jumps`.
    pub fn evaluate(&self, parameters: &[f64], (from, to): (f64, f64), jumps: Interval, bounds: &mut Vec<Bounds>) {
        let time = Bounds::time(from, to);
        bounds.clear();
        for operation in &self.operations {
            let of = |at: &u32| bounds[*at as usize];
            let jumping = |found: Bounds| match found.value.is_point() {
                true => found,
                false => Bounds {
                    rate: found.rate.hull(jumps),
                    ..found
                },
            };
            let found = match operation {
                Operation::Number(value) => Bounds::constant(*value),
                Operation::Parameter(index) => {
                    Bounds::constant(parameters.get(*index as usize).copied().unwrap_or(f64::NAN))
                }
                Operation::Time => time,
                Operation::Sum(list) => list.iter().map(of).fold(Bounds::constant(0.0), Bounds::add),
                Operation::Product(list) => list.iter().map(of).fold(Bounds::constant(1.0), Bounds::times),
                Operation::Power(a, b) => of(a).power(of(b)),
                Operation::Call(function, list) => {
                    let arguments: Vec<Bounds> = list.iter().map(of).collect();
                    let found = interval::call(*function, &arguments, time);
                    match function {
                        Function::Floor | Function::Sign | Function::Step | Function::Pulse => jumping(found),
                        _ => found,
                    }
                }
                Operation::Relation(relation, a, b) => jumping(interval::relation(*relation, of(a), of(b))),
                Operation::Not(a) => jumping(interval::opposite(of(a).value)),
                Operation::If(condition, a, b) => {
                    let found = interval::choice(of(condition).value, of(a), of(b));
                    match of(condition).value.is_point() {
                        true => found,
                        false => jumping(found),
                    }
                }
            };
            bounds.push(found);
        }
    }
}

/// The index of an expression among the operations, and true if it changes with time; none if it depends on more than time and parameters.
type Place = Option<(u32, bool)>;

pub(crate) struct Maker<'a> {
    exprs: &'a Exprs,
    layout: &'a Layout,
    timed: Timed,
    places: ById<Place>,
    /// True for operations that are functions of time within another expression.
    is_root: Vec<bool>,
}

impl<'a> Maker<'a> {
    /// Converts all parts of some roots.
    pub fn new(exprs: &'a Exprs, layout: &'a Layout, roots: &[ExprId]) -> Maker<'a> {
        let mut walk = Walk::new(exprs, layout, roots.len());
        let mut order = Vec::new();
        for root in roots {
            walk.to(*root, &mut order);
        }
        let mut maker = Maker {
            exprs,
            layout,
            timed: Timed::default(),
            places: ById::new(exprs, roots.len()),
            is_root: Vec::new(),
        };
        for id in order {
            maker.node(id);
        }
        maker
    }

    /// Returns the operations, and the marked ones.
    pub fn functions(self) -> (Timed, Vec<u32>) {
        let marked = (0..).zip(&self.is_root).filter(|(_, is_root)| **is_root);
        let marked = marked.map(|(at, _)| at).collect();
        (self.timed, marked)
    }

    /// Returns the index of a root that changes with time and depends only on time and parameters.
    pub fn of_time(&self, id: ExprId) -> Option<u32> {
        self.place(id).filter(|place| place.1).map(|place| place.0)
    }

    fn place(&self, id: ExprId) -> Place {
        self.places.get(id).expect("invariant: parts come first")
    }

    /// Marks an expression that is a root, or a part of an expression that depends on more than time.
    pub fn mark(&mut self, id: ExprId) {
        if let Some((at, true)) = self.place(id) {
            self.is_root[at as usize] = true;
        }
    }

    fn node(&mut self, id: ExprId) {
        let node = self.exprs.node(id);
        let place = match node {
            Node::Symbol(symbol) => match (self.layout.value_of(*symbol), self.layout.place_of(*symbol)) {
                (Some(value), _) => self.place(value),
                (None, Some((Space::Time, _))) => Some(self.push(Operation::Time, true)),
                (None, Some((Space::Parameters, index))) => Some(self.push(Operation::Parameter(index), false)),
                (None, _) => None,
            },
            node => {
                let parts: Option<Vec<(u32, bool)>> = node.children().map(|child| self.place(child)).collect();
                match parts {
                    Some(parts) => self.operation(node, &parts),
                    None => None,
                }
            }
        };
        if place.is_none() {
            for child in node.children() {
                self.mark(child);
            }
        }
        self.places.insert(id, place);
    }

    fn operation(&mut self, node: &Node, parts: &[(u32, bool)]) -> Place {
        let moves = parts.iter().any(|part| part.1);
        let all = || parts.iter().map(|part| part.0).collect();
        let at = |k: usize| parts[k].0;
        let is_of_time = matches!(node, Node::Call(Function::Step | Function::Pulse | Function::Ramp, _));
        let operation = match node {
            Node::Number(value) => Operation::Number(to_f64(value)),
            Node::Pi => Operation::Number(std::f64::consts::PI),
            Node::Symbol(_) => return None,
            Node::Sum(_) => Operation::Sum(all()),
            Node::Product(_) => Operation::Product(all()),
            Node::Power(..) => Operation::Power(at(0), at(1)),
            Node::Call(Function::Int | Function::Der, _) => return None,
            Node::Call(function, _) => Operation::Call(*function, all()),
            Node::Relation(relation, ..) => Operation::Relation(*relation, at(0), at(1)),
            Node::Not(_) => Operation::Not(at(0)),
            Node::If(..) => Operation::If(at(0), at(1), at(2)),
        };
        if moves || is_of_time {
            self.switches_of(node, parts);
        }
        Some(self.push(operation, moves || is_of_time))
    }

    /// Adds the piecewise constant values of a node that changes with time.
    fn switches_of(&mut self, node: &Node, parts: &[(u32, bool)]) {
        let of = |is_whole: bool, a: u32, b: Option<u32>| Switch { is_whole, a, b };
        let at = |k: usize| parts[k].0;
        match node {
            Node::Relation(Relation::And | Relation::Or, ..) => {}
            Node::Relation(..) => self.timed.switches.push(of(false, at(0), Some(at(1)))),
            Node::Call(Function::Floor, _) => self.timed.switches.push(of(true, at(0), None)),
            Node::Call(Function::Abs | Function::Sign, _) => self.timed.switches.push(of(false, at(0), None)),
            Node::Call(Function::Min | Function::Max, _) => {
                let pairs = (0..parts.len()).flat_map(|k| (0..k).map(move |l| (k, l)));
                self.timed
                    .switches
                    .extend(pairs.map(|(k, l)| of(false, at(k), Some(at(l)))));
            }
            Node::Call(Function::Step | Function::Ramp | Function::Pulse, _) => {
                // The time is the last argument.
                let time = at(parts.len() - 1);
                self.timed.switches.push(of(false, time, Some(at(0))));
                if parts.len() > 2 {
                    let end = self.push(Operation::Sum([at(0), at(1)].into()), true).0;
                    self.timed.switches.push(of(false, time, Some(end)));
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, operation: Operation, moves: bool) -> (u32, bool) {
        self.timed.operations.push(operation);
        self.is_root.push(false);
        ((self.timed.operations.len() - 1) as u32, moves)
    }
}
