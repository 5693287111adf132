//! Where expressions step or bend: instants that are known beforehand, and conditions to be watched.

use super::bends;
use super::looks::Looks;
use crate::discontinuities::condition::Condition;
use crate::layout::Layout;
use crate::programs::graph::{Graph, ValueId};
use crate::programs::lower::Lowering;
use crate::programs::operation::{Binary, Space, Unary};
use crate::programs::reroll;
use crate::programs::walk::{ById, Walk};
use crate::{Arguments, Kernel, KernelOptions};
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation};
use std::f64::consts::{FRAC_PI_4, PI};

/// Evenly spaced instants at which what depends on time alone is looked at; more where something oscillates.
const SAMPLES: usize = 20_000;

/// No more than this many times as many.
const MOST_REFINED: usize = 64;

/// The part of a period, as an angle in rad, that what looks at an oscillation of time may pass over at once: samples for corners,
/// and steps of a solver through nonlinear equations ([`longest_step`]).
pub const LARGEST_TURN: f64 = FRAC_PI_4;

/// The longest step, in seconds, in which no turn of an oscillation of time of this angular frequency in rad/s is overlooked;
/// infinite where nothing oscillates.
///
/// Linear equations answer every part of an input in proportion, so that the error test of a step sees it, and need no bound.
/// Others may answer a short part of each period alone, as a rectifier does, and a method that is given long steps in between
/// never looks there.
pub fn longest_step(fastest: f64) -> f64 {
    match fastest > 0.0 && fastest.is_finite() {
        true => LARGEST_TURN / fastest,
        false => f64::INFINITY,
    }
}

/// Instants looked at inside each piece between two corners: a condition may change within every period of another.
const SAMPLES_OF_PIECE: usize = 8;

/// Everything in some expressions that is not smooth.
#[derive(Clone, Debug)]
pub struct Corners {
    /// Instants over the parameters.
    instants: Kernel,
    /// Values that are constant between corners, over time and parameters.
    switches: Kernel,
    /// Phases of oscillations, over time and parameters.
    phases: Kernel,
    conditions: Vec<Condition>,
    crossings: Kernel,
    looks: Looks,
}

/// What an expression depends on.
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
    /// Looks through all that the roots are made of, assignments included.
    pub fn new(exprs: &Exprs, roots: &[ExprId], layout: &Layout) -> Corners {
        Corners::with_shown(exprs, (roots, &[]), layout, &[])
    }

    /// The same for roots that move something, and others that are only shown in rows: of these, what depends on time alone is
    /// looked at, so that a row at such an instant shows what holds after it, and conditions on states are not watched. There may be
    /// further instants at which a solver is to begin anew: what [`Corners::looks`] found, for a program that cannot look itself.
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
        // Only what has a corner is lowered, with its parts.
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
        let kernel = |values: &[ValueId]| Kernel::new(reroll::program(graph, values), &KernelOptions { native: false });
        Corners {
            instants: kernel(&finder.instants),
            switches: kernel(&finder.switches),
            phases: kernel(&finder.phases),
            crossings: kernel(&finder.crossings),
            conditions: finder.conditions,
            looks: Looks::new(exprs, roots, layout),
        }
    }

    /// Instants between two times at which a solver is to look at what depends on time alone, in order, since its own steps may
    /// pass over what happens there: a narrow pulse in a long rest. A rate that is larger than what is met at such instants by an
    /// order of magnitude is nowhere in between.
    pub fn looks(&self, parameters: &[f64], from: f64, to: f64) -> Vec<f64> {
        if self.looks.is_empty() || from >= to {
            return Vec::new();
        }
        let mut ends = self.times(parameters, from, to);
        ends.extend([from, to]);
        sort(&mut ends);
        self.looks.times(parameters, &ends)
    }

    /// The conditions that depend on more than time and parameters, one for each output of [`Corners::crossings`].
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Functions of all arguments, each of which changes its sign where its condition changes.
    pub fn crossings(&self) -> &Kernel {
        &self.crossings
    }

    /// Instants at which `step`, `pulse` and `ramp` of constant arguments change, over the parameters.
    pub fn instants(&self) -> &Kernel {
        &self.instants
    }

    /// Values that are constant between corners, over time and parameters: what [`Corners::times`] looks at.
    pub fn switches(&self) -> &Kernel {
        &self.switches
    }

    /// Phases of oscillations, over time and parameters.
    pub fn phases(&self) -> &Kernel {
        &self.phases
    }

    /// Instants at which what depends on time alone steps or bends, both ends included, in order and each once: at each the
    /// value after the corner holds, and just before it ([`f64::next_down`]) the one before.
    ///
    /// The instants of `step`, `pulse` and `ramp` are those given. Other conditions are looked at between samples, which are
    /// closer together where a `sin` or `cos` of time oscillates; a condition that changes twice between two of them is missed.
    pub fn times(&self, parameters: &[f64], from: f64, to: f64) -> Vec<f64> {
        let at = |time| Arguments {
            time,
            parameters,
            ..Arguments::default()
        };
        let mut found: Vec<f64> = self.instants.values(&at(from));
        found.retain(|time| (from..=to).contains(time));
        if self.switches.outputs() > 0 && from <= to {
            let mut scan = Scan {
                kernel: &self.switches,
                parameters,
                scratch: vec![0.0; self.switches.scratch()],
            };
            let count = SAMPLES * self.refinement(parameters, from, to);
            let grid = (0..=count).map(|k| from + (to - from) * (k as f64 / count as f64));
            scan.between(from.next_down(), grid, &mut found);
            // What changes within the pieces that are there now.
            for _ in 0..3 {
                sort(&mut found);
                let mut ends = vec![from];
                ends.extend(&found);
                ends.push(to);
                let before = found.len();
                if before > count {
                    break;
                }
                for piece in ends.windows(2) {
                    let (start, end) = (piece[0], piece[1].next_down());
                    let inside =
                        (1..=SAMPLES_OF_PIECE).map(|k| start + (end - start) * (k as f64 / SAMPLES_OF_PIECE as f64));
                    if start < end {
                        scan.between(start, inside, &mut found);
                    }
                }
                if found.len() == before {
                    break;
                }
            }
        }
        sort(&mut found);
        found
    }

    /// How many times as many samples are needed for the fastest oscillation not to turn by more than [`LARGEST_TURN`] between two.
    fn refinement(&self, parameters: &[f64], from: f64, to: f64) -> usize {
        let needed = self.fastest(parameters, from, to) * (to - from) / LARGEST_TURN;
        // Not a number, where a phase is none, counts as slow.
        ((needed / SAMPLES as f64).ceil() as usize).clamp(1, MOST_REFINED)
    }

    /// The largest angular frequency of a `sin`, `cos` or `tan` of time alone, in rad/s: the mean of a thousandth of the time.
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

/// Looks for changes of piecewise constant functions of time.
struct Scan<'a> {
    kernel: &'a Kernel,
    parameters: &'a [f64],
    scratch: Vec<f64>,
}

impl Scan<'_> {
    fn values(&mut self, time: f64) -> Vec<f64> {
        let at = Arguments {
            time,
            parameters: self.parameters,
            ..Arguments::default()
        };
        let mut out = vec![0.0; self.kernel.outputs()];
        self.kernel.call(&at, &mut self.scratch, &mut out);
        out
    }

    /// Adds the first double after each change, from one sample to the next.
    fn between(&mut self, start: f64, samples: impl Iterator<Item = f64>, found: &mut Vec<f64>) {
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        let (mut low, mut values) = (start, self.values(start));
        for sample in samples {
            let reached = self.values(sample);
            while !same(&values, &reached) {
                let (mut before, mut after) = (low, sample);
                let mut at_after = reached.clone();
                loop {
                    let middle = before + (after - before) / 2.0;
                    if middle <= before || middle >= after {
                        break;
                    }
                    let at_middle = self.values(middle);
                    if same(&at_middle, &values) {
                        before = middle;
                    } else {
                        (after, at_after) = (middle, at_middle);
                    }
                }
                found.push(after);
                (low, values) = (after, at_after);
            }
            low = sample;
        }
    }
}

/// Whether a function steps, bends, or oscillates with time alone.
fn may_have_a_corner(function: Function, depends: Depends) -> bool {
    match function {
        Function::Step | Function::Ramp | Function::Pulse | Function::Floor => true,
        Function::Abs | Function::Sign | Function::Min | Function::Max => true,
        Function::Sin | Function::Cos | Function::Tan => depends.time && !depends.others,
        _ => false,
    }
}

/// What was found so far, as values of one graph.
#[derive(Default)]
struct Finder {
    /// Whether what is looked at is only shown and moves nothing.
    is_shown: bool,
    /// Phases of what is only shown: they say how close together its switches are looked at, where it has any.
    shown_phases: Vec<ValueId>,
    shows_switches: bool,
    instants: Vec<ValueId>,
    switches: Vec<ValueId>,
    phases: Vec<ValueId>,
    crossings: Vec<ValueId>,
    conditions: Vec<Condition>,
}

impl Finder {
    /// Adds what a node has, given what its children, as they are written, depend on.
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

    /// A solver's steps follow the oscillations of what is only shown where there is a switch to be met alone.
    fn join_shown_phases(&mut self) {
        if self.shows_switches {
            self.phases.append(&mut self.shown_phases);
        }
    }

    /// Something changes when time passes an instant.
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

    /// Something changes with a piecewise constant value, where another crosses zero.
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
