//! Where functions of time alone do something between two instants that looks at both do not show: a narrow pulse in a long rest.
//!
//! A solver chooses its steps by what it has met, and a pulse that is shorter than a step may lie between all points at which the
//! step looks. Bounds of a function's rate between two instants, by interval arithmetic, say whether there may be one; where there
//! may, the interval is halved until the pulse is met or ruled out. Nothing is guessed by samples.

use super::interval::{self, Bounds, Interval};
use crate::layout::Layout;
use crate::programs::operation::Space;
use crate::programs::walk::{ById, Walk};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation, to_f64};
use std::collections::VecDeque;

/// A rate that is so many times larger than all that were met is hidden.
const HIDDEN: f64 = 8.0;

/// A change within an interval of less than this share of the function's size does not matter.
const QUIET: f64 = 1e-6;

/// The parts of a piece between two corners that are looked at first.
const PARTS: usize = 16;

/// The same where there are many corners: as many as it takes for something within a piece to have a part beside it that is at rest.
const FEW: usize = 4;

/// No interval is shorter than this share of the whole time.
const SHORTEST: f64 = 1e-12;

/// So many operations on intervals are made at most.
const WORK: usize = 500_000;

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

/// Functions of time alone as operations on intervals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Looks {
    operations: Vec<Operation>,
    /// The functions themselves: the largest ones that depend on nothing else.
    roots: Vec<u32>,
}

/// An interval that is still to be looked at.
struct Part {
    from: f64,
    to: f64,
    is_within: bool,
}

impl Looks {
    /// The functions of time in some expressions.
    pub fn new(exprs: &Exprs, roots: &[ExprId], layout: &Layout) -> Looks {
        let mut walk = Walk::new(exprs, layout, roots.len());
        let mut order = Vec::new();
        for root in roots {
            walk.to(*root, &mut order);
        }
        let mut maker = Maker {
            exprs,
            layout,
            looks: Looks::default(),
            places: ById::new(exprs, roots.len()),
            is_root: Vec::new(),
        };
        for id in &order {
            maker.node(*id);
        }
        for root in roots {
            maker.mark(*root);
        }
        let Maker { mut looks, is_root, .. } = maker;
        looks.roots = (0..is_root.len())
            .filter(|at| is_root[*at])
            .map(|at| at as u32)
            .collect();
        if looks.roots.is_empty() {
            looks.operations.clear();
        }
        looks
    }

    /// Whether there is no function of time.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Instants at which a solver is to look, in order, between the first and the last of some times; the corners among them are
    /// looked at anyway.
    pub fn times(&self, parameters: &[f64], corners: &[f64]) -> Vec<f64> {
        let mut found = Vec::new();
        if self.roots.is_empty() || corners.len() < 2 {
            return found;
        }
        let whole = corners[corners.len() - 1] - corners[0];
        let mut scan = Scan {
            looks: self,
            parameters,
            bounds: Vec::with_capacity(self.operations.len()),
            sizes: vec![0.0; self.roots.len()],
            reached: Vec::new(),
        };
        let mut first: Vec<First> = Vec::new();
        let parts = if corners.len() > 2 * PARTS { FEW } else { PARTS };
        let mut waiting: VecDeque<Part> = VecDeque::new();
        for piece in corners.windows(2) {
            // The last double before a corner still lies in the old branch.
            let (from, to) = (piece[0], piece[1].next_down());
            let end = |k: usize| {
                if k == parts {
                    to
                } else {
                    from + (to - from) * (k as f64 / parts as f64)
                }
            };
            waiting.extend((0..parts).map(|k| Part {
                from: end(k),
                to: end(k + 1),
                is_within: false,
            }));
        }
        let mut left = (WORK / self.operations.len()).max(waiting.len());
        while let Some(part) = waiting.pop_front() {
            if left == 0 {
                break;
            }
            left -= 1;
            let middle = part.from + 0.5 * (part.to - part.from);
            let seen = scan.look(&part, middle);
            if !part.is_within {
                first.push(First {
                    instants: [part.from, middle, part.to],
                    moves: matches!(seen, Seen::Moving),
                    rates: std::mem::take(&mut scan.reached),
                });
            }
            match seen {
                Seen::Hidden if part.to - part.from > SHORTEST * whole => {
                    waiting.extend([(part.from, middle), (middle, part.to)].map(|(from, to)| Part {
                        from,
                        to,
                        is_within: true,
                    }));
                }
                Seen::Moving if part.is_within => found.extend([part.from, middle, part.to]),
                _ => {}
            }
        }
        for at in (0..first.len()).filter(|at| First::is_sudden(&first, *at)) {
            found.extend(first[at].instants);
        }
        found.sort_by(f64::total_cmp);
        found.dedup();
        found
    }
}

/// A part that was looked at first.
struct First {
    instants: [f64; 3],
    moves: bool,
    /// The largest rate of each function in it.
    rates: Vec<f64>,
}

impl First {
    /// Whether a function moves in a part and nearly rests in the one beside it: a solver that comes from there steps over what was
    /// met here.
    fn is_sudden(all: &[First], at: usize) -> bool {
        let own = &all[at];
        let [from, _, to] = own.instants;
        let before = at
            .checked_sub(1)
            .map(|at| &all[at])
            .filter(|other| other.instants[2] == from);
        let after = all.get(at + 1).filter(|other| other.instants[0] == to);
        let rests = |other: &First| {
            let mut pairs = own.rates.iter().zip(&other.rates);
            pairs.any(|(own, other)| *own > HIDDEN * other)
        };
        own.moves && [before, after].into_iter().flatten().any(rests)
    }
}

/// What is met within a part.
enum Seen {
    /// No function changes.
    Quiet,
    /// What changes is met at the ends or in the middle.
    Moving,
    /// There may be more than is met.
    Hidden,
}

/// Looks at intervals with some parameters.
struct Scan<'a> {
    looks: &'a Looks,
    parameters: &'a [f64],
    bounds: Vec<Bounds>,
    /// The largest value that was met of each function.
    sizes: Vec<f64>,
    /// The largest rate of each function within the part that was looked at last; 0 where it is quiet.
    reached: Vec<f64>,
}

impl Scan<'_> {
    fn look(&mut self, part: &Part, middle: f64) -> Seen {
        let length = part.to - part.from;
        let count = self.looks.roots.len();
        let mut rates = vec![0.0_f64; count];
        let mut values = vec![None::<Interval>; count];
        for time in [part.from, middle, part.to] {
            self.evaluate(time, time);
            for (at, root) in self.looks.roots.iter().enumerate() {
                let Bounds { value, rate } = self.bounds[*root as usize];
                if value.size().is_finite() {
                    self.sizes[at] = self.sizes[at].max(value.size());
                    values[at] = Some(values[at].map_or(value, |known| known.hull(value)));
                }
                if rate.size().is_finite() {
                    rates[at] = rates[at].max(rate.size());
                }
            }
        }
        self.evaluate(part.from, part.to);
        let mut seen = Seen::Quiet;
        self.reached = vec![0.0; count];
        for (at, root) in self.looks.roots.iter().enumerate() {
            let Bounds { rate, .. } = self.bounds[*root as usize];
            let least = QUIET * self.sizes[at];
            if rate.size() * length <= least {
                continue;
            }
            self.reached[at] = rate.size();
            if rate.size() > HIDDEN * rates[at] {
                return Seen::Hidden;
            }
            let moved = values[at].map_or(f64::INFINITY, |known| known.high - known.low);
            if moved > least {
                seen = Seen::Moving;
            }
        }
        seen
    }

    /// The bounds of all operations between two instants.
    fn evaluate(&mut self, from: f64, to: f64) {
        let time = Bounds::time(from, to);
        self.bounds.clear();
        for operation in &self.looks.operations {
            let of = |at: &u32| self.bounds[*at as usize];
            let found = match operation {
                Operation::Number(value) => Bounds::constant(*value),
                Operation::Parameter(index) => {
                    Bounds::constant(self.parameters.get(*index as usize).copied().unwrap_or(f64::NAN))
                }
                Operation::Time => time,
                Operation::Sum(list) => list.iter().map(of).fold(Bounds::constant(0.0), Bounds::add),
                Operation::Product(list) => list.iter().map(of).fold(Bounds::constant(1.0), Bounds::times),
                Operation::Power(a, b) => of(a).power(of(b)),
                Operation::Call(function, list) => {
                    let arguments: Vec<Bounds> = list.iter().map(of).collect();
                    interval::call(*function, &arguments, time)
                }
                Operation::Relation(relation, a, b) => interval::relation(*relation, of(a), of(b)),
                Operation::Not(a) => interval::opposite(of(a).value),
                Operation::If(condition, a, b) => interval::choice(of(condition).value, of(a), of(b)),
            };
            self.bounds.push(found);
        }
    }
}

/// Where an expression stands among the operations, and whether it changes with time; nowhere where it depends on more than time
/// and parameters.
type Place = Option<(u32, bool)>;

struct Maker<'a> {
    exprs: &'a Exprs,
    layout: &'a Layout,
    looks: Looks,
    places: ById<Place>,
    /// Which operations are functions of time that something else is made of.
    is_root: Vec<bool>,
}

impl Maker<'_> {
    fn place(&self, id: ExprId) -> Place {
        self.places.get(id).expect("invariant: parts come first")
    }

    /// Something that is not of time alone is made of this, or it is a root itself.
    fn mark(&mut self, id: ExprId) {
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
        Some(self.push(operation, moves || is_of_time))
    }

    fn push(&mut self, operation: Operation, moves: bool) -> (u32, bool) {
        self.looks.operations.push(operation);
        self.is_root.push(false);
        ((self.looks.operations.len() - 1) as u32, moves)
    }
}
