//! Steps and kinks of expressions: instants known in advance, and conditions to be watched.

use super::bends;
use super::looks::Looks;
use super::roots::Search;
use super::timed::{Maker, Timed};
use crate::discontinuities::condition::Condition;
use crate::programs::graph::{Graph, ValueId};
use crate::programs::layout::Layout;
use crate::programs::lower::Lowering;
use crate::programs::operation::{Binary, Space, Unary};
use crate::programs::reroll;
use crate::programs::walk::{ById, Walk};
use crate::{Arguments, Kernel, KernelOptions};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation};
use std::f64::consts::{FRAC_PI_4, PI};

/// The largest phase angle, in rad, between two samples of an oscillation in time: for the corner search of emitted programs, and for
/// solver steps through nonlinear equations ([`longest_step`]).
pub const LARGEST_TURN: f64 = FRAC_PI_4;

/// Returns the longest step, in seconds, that resolves an oscillation in time with this angular frequency in rad/s; infinite without an
/// oscillation.
///
/// Linear equations respond proportionally to every part of an input, so the error test of a step detects it, and no bound is needed.
/// Nonlinear equations, such as a rectifier, may respond only to a short part of each period, which a method with long steps would miss.
pub fn longest_step(fastest: f64) -> f64 {
    match fastest > 0.0 && fastest.is_finite() {
        true => LARGEST_TURN / fastest,
        false => f64::INFINITY,
    }
}

/// All steps, kinks and oscillations of some expressions.
#[derive(Clone, Debug)]
pub struct Corners {
    /// Instants as functions of the parameters.
    instants: Kernel,
    /// Values that are constant between corners, as functions of time and parameters, and the operations that define them.
    switches: Kernel,
    timed: Timed,
    /// Phases of oscillations, as functions of time and parameters.
    phases: Kernel,
    conditions: Vec<Condition>,
    crossings: Kernel,
    looks: Looks,
}

/// The quantities that an expression depends on.
#[derive(Clone, Copy, Default)]
struct Depends {
    time: bool,
    others: bool,
}

impl Depends {
    fn or(self, other: Depends) -> Depends {
        Depends {
            time: self.time || other.time,
            others: self.others || other.others,
        }
    }
}

impl Corners {
    /// Examines all parts of the roots, including assignments.
    pub fn new(exprs: &Exprs, roots: &[ExprId], layout: &Layout) -> Corners {
        Corners::with_shown(exprs, (roots, &[]), layout, &[])
    }

    /// Examines roots that affect the motion, and others that are only shown. For shown roots, only functions of time are examined, so that
    /// the sample at such an instant shows the value after it; conditions on states are not watched. Further restart instants for a solver
    /// may be given: the results of [`Corners::looks`], for a program that cannot compute them.
    pub fn with_shown(
        exprs: &Exprs,
        (roots, shown): (&[ExprId], &[ExprId]),
        layout: &Layout,
        further: &[f64],
    ) -> Corners {
        let mut walk = Walk::new(exprs, layout, roots.len());
        let mut order = Vec::new();
        for root in roots {
            walk.to(*root, &mut order);
        }
        let size = order.len();
        for root in shown {
            walk.to(*root, &mut order);
        }
        // Only expressions with a corner are lowered, together with their parts.
        let mut lowering = Lowering::new(exprs, layout, 0);
        let mut finder = Finder::default();
        let mut depends: ById<Depends> = ById::new(exprs, roots.len());
        let known = |depends: &ById<Depends>, id: ExprId| depends.get(id).expect("invariant: parts come first");
        for (at, id) in order.into_iter().enumerate() {
            finder.is_shown = at >= size;
            let mut own = Depends::default();
            match exprs.node(id) {
                Node::Symbol(symbol) => match (layout.value_of(*symbol), layout.place_of(*symbol)) {
                    (Some(value), _) => own = known(&depends, value),
                    (None, Some((Space::Time, _))) => own.time = true,
                    (None, Some((Space::Parameters, _))) => {}
                    (None, _) => own.others = true,
                },
                node => {
                    let of = |children: &mut dyn Iterator<Item = ExprId>| {
                        children.fold(Depends::default(), |all, child| all.or(known(&depends, child)))
                    };
                    own = of(&mut node.children());
                    let arguments = match node {
                        Node::Call(function, list) => of(&mut function.written(list).iter().copied()),
                        _ => own,
                    };
                    finder.node(&mut lowering, id, arguments);
                }
            }
            depends.insert(id, own);
        }
        finder.join_shown_phases();
        finder
            .instants
            .extend(further.iter().map(|time| lowering.graph.number(*time)));
        bends::find(exprs, roots, layout, size, &mut finder.conditions);
        let graph = &lowering.graph;
        let all = [roots, shown].concat();
        let kernel = |values: &[ValueId]| Kernel::new(reroll::program(graph, values), &KernelOptions { native: false });
        Corners {
            instants: kernel(&finder.instants),
            switches: kernel(&finder.switches),
            phases: kernel(&finder.phases),
            crossings: kernel(&finder.crossings),
            conditions: finder.conditions,
            timed: match finder.switches.is_empty() {
                true => Timed::default(),
                false => Maker::new(exprs, layout, &all).functions().0,
            },
            looks: Looks::new(exprs, roots, layout),
        }
    }

    /// Returns instants between two times at which a solver must sample functions of time, in order. Its own steps may miss a feature such
    /// as a narrow pulse in a long rest. Between these instants, no rate exceeds the sampled rates by an order of magnitude.
    pub fn looks(&self, parameters: &[f64], from: f64, to: f64) -> Vec<f64> {
        if self.looks.is_empty() || from >= to {
            return Vec::new();
        }
        let mut ends = self.times(parameters, from, to);
        ends.extend([from, to]);
        sort(&mut ends);
        self.looks.times(parameters, &ends)
    }

    /// Returns the conditions that depend on more than time and parameters, one for each output of [`Corners::crossings`].
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Returns functions of all arguments, each of which changes sign when its condition changes.
    pub fn crossings(&self) -> &Kernel {
        &self.crossings
    }

    /// Returns the instants at which `step`, `pulse` and `ramp` with constant arguments change, in terms of the parameters.
    pub fn instants(&self) -> &Kernel {
        &self.instants
    }

    /// Returns the values that are constant between corners, as functions of time and parameters: the values that [`Corners::times`]
    /// examines.
    pub fn switches(&self) -> &Kernel {
        &self.switches
    }

    /// Returns the phases of oscillations, as functions of time and parameters.
    pub fn phases(&self) -> &Kernel {
        &self.phases
    }

    /// Returns the instants at which functions of time have steps or kinks, including both ends, in order and without duplicates. At each
    /// instant the value after the corner applies, and just before it ([`f64::next_down`]) the value before.
    ///
    /// Instants of `step`, `pulse` and `ramp` are known exactly; changes of other conditions are found by interval arithmetic.
    pub fn times(&self, parameters: &[f64], from: f64, to: f64) -> Vec<f64> {
        self.first_times(parameters, (from, to), usize::MAX).0
    }

    /// Returns the first of these instants, about `most` of them, and the time up to which they are complete.
    pub fn first_times(&self, parameters: &[f64], (from, to): (f64, f64), most: usize) -> (Vec<f64>, f64) {
        let at = |time| Arguments {
            time,
            parameters,
            ..Arguments::default()
        };
        let mut found: Vec<f64> = self.instants.values(&at(from));
        found.retain(|time| (from..=to).contains(time));
        let mut until = to;
        if self.switches.outputs() > 0 && from <= to {
            let mut scratch = vec![0.0; self.switches.scratch()];
            let mut values = |time: f64, values: &mut Vec<f64>| {
                values.resize(self.switches.outputs(), 0.0);
                self.switches.call(&at(time), &mut scratch, values);
            };
            let mut search = Search::new(&self.timed, parameters);
            let changes = search.changes((from.next_down(), to), most, &mut values);
            if let Some(last) = changes.last().filter(|_| changes.len() >= most) {
                until = *last;
                found.retain(|time| *time <= until);
            }
            found.extend(changes);
        }
        sort(&mut found);
        (found, until)
    }

    /// Returns the largest angular frequency of a `sin`, `cos` or `tan` of time, in rad/s, averaged over a thousandth of the time.
    pub fn fastest(&self, parameters: &[f64], from: f64, to: f64) -> f64 {
        if self.phases.outputs() == 0 || from >= to {
            return 0.0;
        }
        let mut largest: f64 = 0.0;
        let phases = |time| {
            self.phases.values(&Arguments {
                time,
                parameters,
                ..Arguments::default()
            })
        };
        let mut last = phases(from);
        let coarse = 1000;
        for k in 1..=coarse {
            let next = phases(from + (to - from) * (f64::from(k) / f64::from(coarse)));
            for (a, b) in last.iter().zip(&next) {
                largest = largest.max((b - a).abs());
            }
            last = next;
        }
        largest * f64::from(coarse) / (to - from)
    }
}

fn sort(times: &mut Vec<f64>) {
    times.sort_by(f64::total_cmp);
    times.dedup();
}

/// Returns true if a function steps, has a kink, or oscillates with time.
fn may_have_a_corner(function: Function, depends: Depends) -> bool {
    match function {
        Function::Step | Function::Ramp | Function::Pulse | Function::Floor => true,
        Function::Abs | Function::Sign | Function::Min | Function::Max => true,
        Function::Sin | Function::Cos | Function::Tan => depends.time && !depends.others,
        _ => false,
    }
}

/// The results so far, as values of one graph.
#[derive(Default)]
struct Finder {
    /// True while examining roots that are only shown and do not affect the motion.
    is_shown: bool,
    /// Phases of shown roots: if these have switches, the phases determine how closely the switches are sampled.
    shown_phases: Vec<ValueId>,
    shows_switches: bool,
    instants: Vec<ValueId>,
    switches: Vec<ValueId>,
    phases: Vec<ValueId>,
    crossings: Vec<ValueId>,
    conditions: Vec<Condition>,
}

impl Finder {
    /// Adds the corners of a node; `depends` lists the dependencies of its children as written.
    fn node(&mut self, lowering: &mut Lowering<'_>, id: ExprId, depends: Depends) {
        let exprs = lowering.exprs;
        match exprs.node(id) {
            Node::Relation(Relation::And | Relation::Or, ..) => {}
            Node::Relation(..) => {
                let difference = lowering.crossing(id);
                let own = lowering.root(id);
                self.switch(&mut lowering.graph, id, depends, own, difference, true);
            }
            Node::Call(function, list) if may_have_a_corner(*function, depends) => {
                let arguments: Vec<ValueId> = list.iter().map(|child| lowering.root(*child)).collect();
                let own = lowering.root(id);
                let graph = &mut lowering.graph;
                match function {
                    Function::Step | Function::Ramp => {
                        self.instant(graph, id, depends, arguments[0], *function == Function::Step);
                    }
                    Function::Pulse => {
                        let end = graph.binary(Binary::Add, arguments[0], arguments[1]);
                        self.instant(graph, id, depends, arguments[0], true);
                        self.instant(graph, id, depends, end, true);
                    }
                    Function::Floor => {
                        let pi = graph.number(PI);
                        let angle = graph.binary(Binary::Multiply, pi, arguments[0]);
                        let wave = graph.unary(Unary::Sin, angle);
                        self.switch(graph, id, depends, own, wave, true);
                    }
                    Function::Abs | Function::Sign => {
                        let sign = graph.unary(Unary::Sign, arguments[0]);
                        self.switch(graph, id, depends, sign, arguments[0], *function == Function::Sign);
                    }
                    Function::Min | Function::Max => {
                        for (position, a) in arguments.iter().enumerate() {
                            for b in &arguments[..position] {
                                let less = graph.binary(Binary::Less, *a, *b);
                                let difference = graph.binary(Binary::Subtract, *a, *b);
                                self.switch(graph, id, depends, less, difference, false);
                            }
                        }
                    }
                    Function::Sin | Function::Cos | Function::Tan if self.is_shown => {
                        self.shown_phases.push(arguments[0]);
                    }
                    Function::Sin | Function::Cos | Function::Tan => self.phases.push(arguments[0]),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Adds the phases of shown roots, so that solver steps follow them, only if the shown roots contain a switch.
    fn join_shown_phases(&mut self) {
        if self.shows_switches {
            self.phases.append(&mut self.shown_phases);
        }
    }

    /// Adds a change at the time when an instant passes.
    fn instant(&mut self, graph: &mut Graph, id: ExprId, depends: Depends, instant: ValueId, jumps: bool) {
        if !depends.time && !depends.others {
            self.instants.push(instant);
            return;
        }
        let time = graph.argument(Space::Time, 0);
        let passed = graph.binary(Binary::LessEqual, instant, time);
        let since = graph.binary(Binary::Subtract, time, instant);
        let depends = Depends { time: true, ..depends };
        self.switch(graph, id, depends, passed, since, jumps);
    }

    /// Adds a change of a piecewise constant value at the zero crossing of another value.
    fn switch(
        &mut self,
        graph: &mut Graph,
        id: ExprId,
        depends: Depends,
        constant: ValueId,
        crossing: ValueId,
        jumps: bool,
    ) {
        if depends.others {
            if !self.is_shown && graph.as_number(crossing).is_none() {
                self.conditions.push(Condition {
                    expression: id,
                    jumps,
                    is_sharp: jumps,
                });
                self.crossings.push(crossing);
            }
        } else if depends.time {
            self.shows_switches |= self.is_shown;
            self.switches.push(constant);
        }
    }
}
