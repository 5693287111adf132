//! The stepwise reduction of a network to one branch, as in a textbook: series, parallel, source division, reflection (de Silva, section
//! 3).

use super::conversion::{branch, ends, is_across};
use super::equivalent::Ratio;
use super::probe::{Place, node_name};
use crate::transfer::Functions;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, SymbolKind};
use lgm_model::{ElementId, Law, Model, NodeId, PortId};

/// The maximum number of elements for a stepwise reduction.
const MOST: usize = 60;

/// One step of the reduction.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// The textbook's name of the step.
    pub rule: Rule,
    /// The branches that are replaced: an element's name, or the number of an earlier step.
    pub of: Vec<String>,
    /// The ends of the new branch; `None` is the reference. Its source counts from the first to the second.
    pub ends: (Option<String>, Option<String>),
    /// Across over through of the new branch; none for an ideal through source.
    pub impedance: Option<Ratio>,
    /// The source of the new branch as a function of the inputs: an across source in series with the impedance, or a through source if
    /// there is none.
    pub source: Option<Ratio>,
}

/// The kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A common through variable: impedances and across sources add up.
    Series,
    /// A common across variable: admittances and through sources add up.
    Parallel,
    /// A branch with a source, in parallel with one without a source.
    SourceDivision,
    /// The branch that closes one port of a coupler, seen from the other port.
    Reflection,
}

impl Rule {
    /// Returns the name of the step.
    pub fn word(self) -> &'static str {
        match self {
            Rule::Series => "series",
            Rule::Parallel => "parallel",
            Rule::SourceDivision => "source division",
            Rule::Reflection => "reflection",
        }
    }
}

/// An end of a branch; `None` is the reference.
type End = Option<NodeId>;

/// `a*across = b*through + c`, from the first end to the second; `a` is 1, or 0 for an ideal through source.
#[derive(Clone, Debug)]
struct Branch {
    name: String,
    ends: (End, End),
    a: ExprId,
    b: ExprId,
    c: ExprId,
}

/// A coupler with its two ports and its ratio.
struct Coupler {
    name: String,
    ends: [(End, End); 2],
    /// For each port, true if the law uses its across variable.
    is_across: [bool; 2],
    ratio: ExprId,
}

struct Network {
    exprs: Exprs,
    s: SymbolId,
    /// Names of all nodes of the model.
    nodes: Vec<String>,
    branches: Vec<Branch>,
    couplers: Vec<Coupler>,
    place: (End, End),
    steps: Vec<Reduction>,
}

/// Returns the steps that reduce the network between the ends of a port to one branch. `None` if series, parallel and reflection are
/// insufficient, or if the network contains bonds, controlled sources or nonlinear laws.
pub fn stepwise(model: &Model, place: &Place) -> Option<Vec<Reduction>> {
    let mut network = Network::of(model, place)?;
    while network.step()? {}
    match &network.branches[..] {
        [only] if network.couplers.is_empty() => {
            let (a, b) = only.ends;
            let is_there = network.place == (a, b) || network.place == (b, a);
            (is_there && !network.steps.is_empty()).then_some(network.steps)
        }
        _ => None,
    }
}

impl Network {
    /// Returns the network reachable from a port without passing through the reference.
    fn of(model: &Model, place: &Place) -> Option<Network> {
        let ends = |port: PortId| ends(model, port).ok();
        let (place, left_out) = match *place {
            Place::Nodes(a, b) => ((a, b), None),
            Place::Port(port) => (ends(port)?, Some(model.graph.ports[port.index()].element)),
        };
        let ids = (0..model.graph.elements.len() as u32).map(ElementId);
        let elements: Vec<ElementId> = ids.filter(|id| Some(*id) != left_out).collect();
        let mut nodes: Vec<NodeId> = [place.0, place.1].into_iter().flatten().collect();
        let mut found: Vec<ElementId> = Vec::new();
        let mut at = 0;
        while at < nodes.len() {
            for id in elements
                .iter()
                .filter(|id| !found.contains(id))
                .copied()
                .collect::<Vec<_>>()
            {
                let of = model.ports_of(id).map(ends).collect::<Option<Vec<_>>>()?;
                let all: Vec<NodeId> = of.iter().flat_map(|ends| [ends.0, ends.1]).flatten().collect();
                if all.contains(&nodes[at]) {
                    found.push(id);
                    nodes.extend(all);
                    let mut seen = rustc_hash::FxHashSet::default();
                    nodes.retain(|node| seen.insert(*node));
                }
            }
            at += 1;
            if found.len() > MOST {
                return None;
            }
        }
        found.sort_unstable_by_key(|id| id.0);
        let mut model = model.clone();
        let symbol = model.exprs.new_symbol("s", SymbolKind::Parameter);
        let s = model.exprs.symbol(symbol);
        let (mut branches, mut couplers) = (Vec::new(), Vec::new());
        for id in found {
            match read(&mut model, id, s)? {
                BranchOrCoupler::Branch(one) => branches.push(one),
                BranchOrCoupler::Coupler(one) => couplers.push(one),
            }
        }
        let nodes = model.graph.nodes.iter().map(|node| node_name(&model, node)).collect();
        Some(Network {
            exprs: model.exprs,
            s: symbol,
            nodes,
            branches,
            couplers,
            place,
            steps: Vec::new(),
        })
    }

    /// Performs one step, if one is left; `None` if the branches cannot be joined.
    fn step(&mut self) -> Option<bool> {
        if let Some((first, second)) = self.parallel() {
            return self.join_parallel(first, second).map(|()| true);
        }
        if let Some((coupler, far, at)) = self.reflection() {
            return self.reflect(coupler, far, at).map(|()| true);
        }
        if let Some((node, first, second)) = self.series() {
            return self.join_series(node, first, second).map(|()| true);
        }
        Some(false)
    }

    fn parallel(&self) -> Option<(usize, usize)> {
        let count = self.branches.len();
        let mut pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        pairs.find(|(first, second)| {
            let ((a, b), other) = (self.branches[*first].ends, self.branches[*second].ends);
            other == (a, b) || other == (b, a)
        })
    }

    /// Returns an internal node and the only two branches at it.
    fn series(&self) -> Option<(End, usize, usize)> {
        let mut nodes: Vec<End> = self.branches.iter().flat_map(|one| [one.ends.0, one.ends.1]).collect();
        // With couplers, the reference represents one node in each domain.
        nodes.retain(|node| node.is_some() || self.couplers.is_empty());
        nodes.into_iter().find_map(|node| {
            let is_port = self
                .couplers
                .iter()
                .flat_map(|coupler| coupler.ends)
                .any(|ends| touches(ends, node));
            if touches(self.place, node) || is_port {
                return None;
            }
            let at: Vec<usize> = (0..self.branches.len())
                .filter(|at| touches(self.branches[*at].ends, node))
                .collect();
            match at[..] {
                [first, second] => Some((node, first, second)),
                _ => None,
            }
        })
    }

    /// Returns a coupler, its port that a single branch closes, and that branch.
    fn reflection(&self) -> Option<(usize, usize, usize)> {
        for (at, coupler) in self.couplers.iter().enumerate() {
            for far in [0, 1] {
                let ends = coupler.ends[far];
                let inner: Vec<End> = [ends.0, ends.1].into_iter().filter(Option::is_some).collect();
                let near: Vec<usize> = (0..self.branches.len())
                    .filter(|branch| inner.iter().any(|node| touches(self.branches[*branch].ends, *node)))
                    .collect();
                let others = self.couplers.iter().enumerate().filter(|(other, _)| *other != at);
                let mut taken = others
                    .flat_map(|(_, other)| other.ends)
                    .chain([self.place, coupler.ends[1 - far]]);
                let [only] = near[..] else { continue };
                let (a, b) = self.branches[only].ends;
                let closes = (a, b) == ends || (b, a) == ends;
                if closes && !taken.any(|ends| inner.iter().any(|node| touches(ends, *node))) {
                    return Some((at, far, only));
                }
            }
        }
        None
    }

    fn join_series(&mut self, node: End, first: usize, second: usize) -> Option<()> {
        let second = self.branches.remove(second);
        let first = self.branches.remove(first);
        let first = if first.ends.1 == node {
            first
        } else {
            self.turned(first)
        };
        let second = if second.ends.0 == node {
            second
        } else {
            self.turned(second)
        };
        let ends = (first.ends.0, second.ends.1);
        let of = vec![first.name.clone(), second.name.clone()];
        let exprs = &mut self.exprs;
        let (a, b, c) = match (exprs.is_zero(first.a), exprs.is_zero(second.a)) {
            (true, true) => return None,
            // A through source sets the through variable of all elements in series with it.
            (true, false) => (first.a, first.b, first.c),
            (false, true) => (second.a, second.b, second.c),
            (false, false) => (first.a, exprs.add(first.b, second.b), exprs.add(first.c, second.c)),
        };
        self.push(Rule::Series, of, ends, (a, b, c))
    }

    fn join_parallel(&mut self, first: usize, second: usize) -> Option<()> {
        let second = self.branches.remove(second);
        let first = self.branches.remove(first);
        let ends = first.ends;
        let second = if second.ends == ends {
            second
        } else {
            self.turned(second)
        };
        let of = vec![first.name.clone(), second.name.clone()];
        let exprs = &mut self.exprs;
        let is_source = |exprs: &Exprs, one: &Branch| !exprs.is_zero(one.c);
        let rule = match is_source(exprs, &first) != is_source(exprs, &second) {
            true => Rule::SourceDivision,
            false => Rule::Parallel,
        };
        let (a, b, c) = match (exprs.is_zero(first.b), exprs.is_zero(second.b)) {
            (true, true) => return None,
            // An across source sets the across variable of all elements in parallel with it.
            (true, false) => (first.a, first.b, first.c),
            (false, true) => (second.a, second.b, second.c),
            (false, false) => {
                // through = (a/b)*across - c/b for each branch.
                let mut admittance = |a, b| exprs.div(a, b);
                let (y, z) = (admittance(first.a, first.b), admittance(second.a, second.b));
                let (i, j) = (admittance(first.c, first.b), admittance(second.c, second.b));
                (exprs.add(y, z), exprs.one(), exprs.add(i, j))
            }
        };
        self.push(rule, of, ends, (a, b, c))
    }

    /// Transforms the branch that closes a port to the other port: with `y = m*x` and `x* = -m*y*` for the conjugate variables.
    fn reflect(&mut self, coupler: usize, far: usize, at: usize) -> Option<()> {
        let coupler = self.couplers.remove(coupler);
        let closing = self.branches.remove(at);
        let closing = match closing.ends == coupler.ends[far] {
            true => closing,
            false => self.turned(closing),
        };
        let exprs = &mut self.exprs;
        let (m, (a, b, c)) = (coupler.ratio, (closing.a, closing.b, closing.c));
        let is_last = far == 1;
        let (up, down) = match (coupler.is_across, is_last) {
            // Across to across, through to through: a transformer.
            ([true, true], true) | ([false, false], false) => (exprs.mul(a, m), exprs.div(b, m)),
            ([true, true], false) | ([false, false], true) => (exprs.div(a, m), exprs.mul(b, m)),
            // Across to through: a gyrator, which exchanges the sides of the law.
            ([true, false], _) => (exprs.mul(b, m), exprs.div(a, m)),
            ([false, true], _) => (exprs.div(b, m), exprs.mul(a, m)),
        };
        let is_minus = matches!(
            (coupler.is_across, is_last),
            ([false, false], _) | ([true, false], false) | ([false, true], true)
        );
        let c = if is_minus { exprs.neg(c) } else { c };
        let of = vec![closing.name, coupler.name];
        self.push(Rule::Reflection, of, coupler.ends[1 - far], (up, down, c))
    }

    fn turned(&mut self, one: Branch) -> Branch {
        Branch {
            ends: (one.ends.1, one.ends.0),
            c: self.exprs.neg(one.c),
            ..one
        }
    }

    /// Adds a branch that replaces others, with a message; `None` if its impedance is too long.
    fn push(
        &mut self,
        rule: Rule,
        of: Vec<String>,
        ends: (End, End),
        (a, b, c): (ExprId, ExprId, ExprId),
    ) -> Option<()> {
        let exprs = &mut self.exprs;
        let is_open = exprs.is_zero(a);
        let unit = if is_open { b } else { a };
        let (one, zero) = (exprs.one(), exprs.zero());
        let (a, b) = if is_open {
            (zero, one)
        } else {
            (one, exprs.div(b, unit))
        };
        let c = exprs.div(c, unit);
        let name = (self.steps.len() + 1).to_string();
        let mut new = Branch { name, ends, a, b, c };
        // Between the ends of the port, the source has the direction of the equivalent; elsewhere it points to the reference.
        let is_backward = ends.0.is_none() && ends.1.is_some();
        if ends == (self.place.1, self.place.0) || ends != self.place && is_backward {
            new = self.turned(new);
        }
        // An ideal through source has `through = -c`.
        let shown = if is_open { self.exprs.neg(new.c) } else { new.c };
        let impedance = match is_open {
            true => None,
            false => Some(self.written(new.b)?),
        };
        let source = match self.exprs.is_zero(shown) {
            true => None,
            false => Some(self.written(shown)?),
        };
        let named = |end: End| end.map(|node| self.nodes[node.index()].clone());
        let ends = (named(new.ends.0), named(new.ends.1));
        self.steps.push(Reduction {
            rule,
            of,
            ends,
            impedance,
            source,
        });
        self.branches.push(new);
        Some(())
    }

    /// Converts a value in terms of the parameters to coefficients of powers of s.
    fn written(&self, value: ExprId) -> Option<Ratio> {
        let mut functions = Functions::of_expressions(&self.exprs, self.s, &[value])?;
        let (numerator, denominator) = functions.written(0);
        Some(Ratio { numerator, denominator })
    }
}

fn touches(ends: (End, End), node: End) -> bool {
    ends.0 == node || ends.1 == node
}

enum BranchOrCoupler {
    Branch(Branch),
    Coupler(Coupler),
}

/// Converts an element to a branch or a coupler.
fn read(model: &mut Model, id: ElementId, s: ExprId) -> Option<BranchOrCoupler> {
    let ports: Vec<PortId> = model.ports_of(id).collect();
    match ports[..] {
        [port] => {
            let ends = ends(model, port).ok()?;
            let part = branch(model, id, port).ok()?;
            let exprs = &mut model.exprs;
            let (one, zero) = (exprs.one(), exprs.zero());
            let (a, b, c) = match (&part.impedance, part.source) {
                (Some((above, below)), None) => {
                    let (above, below) = (polynomial(exprs, above, s), polynomial(exprs, below, s));
                    (one, exprs.div(above, below), zero)
                }
                (None, Some((true, value))) => (one, zero, value),
                (None, Some((false, value))) => (zero, one, exprs.neg(value)),
                _ => return None,
            };
            if !is_given(exprs, &[a, b, c]) {
                return None;
            }
            let name = part.name;
            Some(BranchOrCoupler::Branch(Branch { name, ends, a, b, c }))
        }
        [first, last] => {
            let Law::Coupler { input, output, matrix } = model.graph.elements[id.index()].law.clone() else {
                return None;
            };
            if !is_given(&model.exprs, &matrix.entries) {
                return None;
            }
            Some(BranchOrCoupler::Coupler(Coupler {
                name: model.element_name(id),
                ends: [ends(model, first).ok()?, ends(model, last).ok()?],
                is_across: [is_across(model, first, input), is_across(model, last, output)],
                ratio: matrix.entries[0],
            }))
        }
        _ => None,
    }
}

/// Returns true if the expressions depend only on parameters and inputs.
fn is_given(exprs: &Exprs, list: &[ExprId]) -> bool {
    let kinds = [SymbolKind::Parameter, SymbolKind::Input];
    let mut symbols = exprs.symbols_of(list).into_iter();
    symbols.all(|symbol| kinds.contains(&exprs.symbol_info(symbol).kind))
}

fn polynomial(exprs: &mut Exprs, coefficients: &[ExprId], s: ExprId) -> ExprId {
    let zero = exprs.zero();
    coefficients.iter().fold(zero, |sum, coefficient| {
        let raised = exprs.mul(sum, s);
        exprs.add(raised, *coefficient)
    })
}
