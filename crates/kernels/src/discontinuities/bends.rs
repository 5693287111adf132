//! Tests whether values jump when a condition changes, or only have a kink.
//!
//! The two branches of `if v > 0 then v/Ron else Goff*v` agree at v = 0, and so do the two signs of `sign(p)*sqrt(abs(p))`. Such a
//! condition has no effect that an error test would miss, and watching it would interrupt a run repeatedly while the condition rests on its
//! boundary. Each condition that may jump is therefore evaluated on its boundary at pseudo-random points, with pseudo-random parameters,
//! and its two values are compared.

use crate::programs::graph::ValueId;
use crate::programs::layout::Layout;
use crate::programs::lower::Lowering;
use crate::programs::operation::Space;
use crate::programs::reroll;
use crate::{Arguments, Condition, Kernel, KernelOptions};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation};
use lgm_numerics::search::scattered;
use rustc_hash::FxHashSet;

/// The maximum number of expressions times conditions examined; in larger systems every condition is watched.
const WORK: usize = 2_000_000;

/// The number of points at which a condition is examined.
const TRIES: u64 = 16;

/// The number of points that must show that the condition has an effect but no jump.
const ENOUGH: usize = 4;

/// The number of variables of a condition that are varied until it changes.
const MOVED: usize = 6;

/// The relative distance from the boundary of a condition at which both sides are evaluated.
const OFFSET: f64 = 1e-6;

/// A difference on the boundary above this fraction of the difference next to it is a jump; roots are accurate only to 1e-8 there.
const JUMP: f64 = 1e-2;

/// One number of the arguments.
type Coordinate = (Space, u32);

/// Finds the conditions that only cause kinks in the values of the roots, and marks them as not jumping.
pub(crate) fn find(exprs: &Exprs, roots: &[ExprId], layout: &Layout, size: usize, conditions: &mut [Condition]) {
    let doubtful: Vec<usize> = (0..conditions.len())
        .filter(|at| conditions[*at].jumps && may_bend(exprs, conditions[*at].expression))
        .collect();
    if doubtful.is_empty() || doubtful.len().saturating_mul(size) > WORK {
        return;
    }
    let ids: Vec<ExprId> = doubtful.iter().map(|at| conditions[*at].expression).collect();
    let look = Look::new(exprs, roots, layout, &ids);
    for (slot, at) in doubtful.iter().enumerate() {
        conditions[*at].jumps = !look.only_bends(slot, &coordinates(exprs, layout, ids[slot]));
    }
}

/// Returns true if an expression has two values, one on each side of its boundary.
fn may_bend(exprs: &Exprs, id: ExprId) -> bool {
    match exprs.node(id) {
        Node::Relation(relation, ..) => !matches!(relation, Relation::Equal | Relation::NotEqual),
        Node::Call(Function::Sign, _) => true,
        _ => false,
    }
}

/// Returns the first few variables that an expression depends on.
fn coordinates(exprs: &Exprs, layout: &Layout, root: ExprId) -> Vec<Coordinate> {
    let (mut found, mut seen, mut stack) = (Vec::new(), FxHashSet::default(), vec![root]);
    while let Some(id) = stack.pop() {
        if found.len() == MOVED {
            break;
        }
        if !seen.insert(id) {
            continue;
        }
        match exprs.node(id) {
            Node::Symbol(symbol) => match layout.place_of(*symbol) {
                Some(place) if place.0 != Space::Parameters => found.push(place),
                Some(_) => {}
                None => stack.extend(layout.value_of(*symbol)),
            },
            node => stack.extend(node.children()),
        }
    }
    found
}

/// A point, with room for all arguments.
struct Point {
    time: f64,
    parameters: Vec<f64>,
    states: Vec<f64>,
    inputs: Vec<f64>,
    rates: Vec<f64>,
    unknowns: Vec<f64>,
}

impl Point {
    fn arguments(&self) -> Arguments<'_> {
        Arguments {
            time: self.time,
            parameters: &self.parameters,
            states: &self.states,
            inputs: &self.inputs,
            rates: &self.rates,
            unknowns: &self.unknowns,
        }
    }

    fn set(&mut self, (space, index): Coordinate, value: f64) {
        let list = match space {
            Space::Time => {
                self.time = value;
                return;
            }
            Space::Parameters => &mut self.parameters,
            Space::States => &mut self.states,
            Space::Inputs => &mut self.inputs,
            Space::Rates => &mut self.rates,
            Space::Unknowns => &mut self.unknowns,
            Space::Numbers | Space::Temporaries => unreachable!("invariant: no symbol stands for these"),
        };
        list[index as usize] = value;
    }
}

/// Evaluates some conditions on both sides of their boundaries.
struct Look {
    /// The values of the conditions, then the crossing functions that change sign with them.
    sides: Kernel,
    /// The roots, with the values of the conditions as additional parameters.
    forced: Kernel,
    /// The number of parameters before the additional ones.
    parameters: usize,
    /// The two values of each condition.
    values: Vec<[f64; 2]>,
}

/// The result of a condition at a point.
enum Shown {
    Jump,
    Bend,
    Nothing,
}

impl Look {
    fn new(exprs: &Exprs, roots: &[ExprId], layout: &Layout, ids: &[ExprId]) -> Look {
        let kernel = |lowering: &Lowering<'_>, values: &[ValueId]| {
            Kernel::new(
                reroll::program(&lowering.graph, values),
                &KernelOptions { native: false },
            )
        };
        let mut plain = Lowering::new(exprs, layout, roots.len());
        let mut sides: Vec<ValueId> = ids.iter().map(|id| plain.root(*id)).collect();
        sides.extend(ids.iter().map(|id| plain.crossing(*id)));
        let parameters = layout.parameters();
        let mut forced = Lowering::new(exprs, layout, roots.len());
        for (slot, id) in ids.iter().enumerate() {
            forced.replace(*id, Space::Parameters, (parameters + slot) as u32);
        }
        let values: Vec<ValueId> = roots.iter().map(|root| forced.root(*root)).collect();
        Look {
            sides: kernel(&plain, &sides),
            forced: kernel(&forced, &values),
            parameters,
            values: ids
                .iter()
                .map(|id| match exprs.node(*id) {
                    Node::Relation(..) => [0.0, 1.0],
                    _ => [-1.0, 1.0],
                })
                .collect(),
        }
    }

    /// Returns a point of pseudo-random numbers, with positive parameters.
    fn point(&self, attempt: u64) -> Point {
        let count = |space: Space| {
            let needed = |kernel: &Kernel| kernel.program().needs(space);
            needed(&self.sides).max(needed(&self.forced))
        };
        let mut unknown = 0;
        let mut list = |count: usize, is_positive: bool| -> Vec<f64> {
            let mut next = || {
                unknown += 1;
                let value = scattered(unknown, attempt);
                if is_positive { 0.2 + value.abs() } else { 2.0 * value }
            };
            (0..count).map(|_| next()).collect()
        };
        Point {
            time: 0.7,
            parameters: list(self.parameters + self.values.len(), true),
            states: list(count(Space::States), false),
            inputs: list(count(Space::Inputs), false),
            rates: list(count(Space::Rates), false),
            unknowns: list(count(Space::Unknowns), false),
        }
    }

    fn only_bends(&self, slot: usize, coordinates: &[Coordinate]) -> bool {
        let mut bends = 0;
        for attempt in 0..TRIES {
            for coordinate in coordinates {
                let mut point = self.point(attempt);
                let Some(boundary) = self.boundary(&mut point, *coordinate, slot) else {
                    continue;
                };
                match self.shown(&mut point, *coordinate, boundary, slot) {
                    Shown::Jump => return false,
                    Shown::Bend => bends += 1,
                    Shown::Nothing => {}
                }
            }
            if bends >= ENOUGH {
                return true;
            }
        }
        false
    }

    /// Finds the value of one variable at which a condition changes.
    fn boundary(&self, point: &mut Point, coordinate: Coordinate, slot: usize) -> Option<f64> {
        let sizes = (-6..=12).map(|half| 10f64.powf(0.5 * f64::from(half)));
        let mut samples: Vec<f64> = sizes.flat_map(|size| [-size, size]).collect();
        samples.push(0.0);
        samples.sort_by(f64::total_cmp);
        let mut side = |value: f64| {
            point.set(coordinate, value);
            self.sides.values(&point.arguments())[self.values.len() + slot]
        };
        let mut last: Option<(f64, f64)> = None;
        for sample in samples {
            let here = side(sample);
            if !here.is_finite() {
                last = None;
                continue;
            }
            if here == 0.0 {
                return Some(sample);
            }
            if let Some((mut low, below)) = last.filter(|last| last.1 * here < 0.0) {
                let mut high = sample;
                loop {
                    let middle = low + 0.5 * (high - low);
                    if middle <= low || middle >= high {
                        return Some(low);
                    }
                    match side(middle) * below > 0.0 {
                        true => low = middle,
                        false => high = middle,
                    }
                }
            }
            last = Some((sample, here));
        }
        None
    }

    /// Returns the values of the roots on both sides of a condition, with all other conditions fixed.
    fn both(&self, point: &mut Point, slot: usize) -> [Vec<f64>; 2] {
        let truths = self.sides.values(&point.arguments());
        self.values[slot].map(|value| {
            for (other, truth) in truths[..self.values.len()].iter().enumerate() {
                point.parameters[self.parameters + other] = if other == slot { value } else { *truth };
            }
            self.forced.values(&point.arguments())
        })
    }

    /// Compares the difference between the two sides of a condition on its boundary with the difference next to it.
    fn shown(&self, point: &mut Point, coordinate: Coordinate, boundary: f64, slot: usize) -> Shown {
        let reach = OFFSET * (1.0 + boundary.abs());
        let mut at = |place: f64| {
            point.set(coordinate, place);
            self.both(point, slot)
        };
        let (here, left, right) = (at(boundary), at(boundary - reach), at(boundary + reach));
        let apart = |[a, b]: &[Vec<f64>; 2], row: usize| {
            let difference = (a[row] - b[row]).abs();
            let rounded = 64.0 * f64::EPSILON * a[row].abs().max(b[row].abs());
            if difference <= rounded { 0.0 } else { difference }
        };
        let mut shown = Shown::Nothing;
        for row in 0..here[0].len() {
            let (on, beside) = (apart(&here, row), apart(&left, row).max(apart(&right, row)));
            if !(on.is_finite() && beside.is_finite()) {
                return Shown::Nothing;
            }
            if on > JUMP * beside {
                return Shown::Jump;
            }
            if beside > 0.0 {
                shown = Shown::Bend;
            }
        }
        shown
    }
}
