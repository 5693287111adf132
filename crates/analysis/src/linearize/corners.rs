//! One-sided expressions near possible kinks, for comparison at a point.
//!
//! Each kink depends on the sign of a quantity: `abs(x)` on the sign of x, `a < b` and `min(a, b)` on the sign of a - b. If the quantity is
//! zero at the point, all expressions that depend on its sign are evaluated on the same side. As a result, `x*abs(x)` is recognised as
//! smooth.

use lgm_algebra::expr::{ExprId, Exprs, Function, Node, Relation, SymbolId};
use num_rational::BigRational;
use num_traits::Zero;
use rustc_hash::{FxHashMap, FxHashSet};

/// An argument below this fraction of its terms is zero.
const ZERO_ARGUMENT: f64 = 1e-12;

/// The form of one node: the group of its sign, and its expression on either side.
#[derive(Clone, Copy, Debug)]
struct Tie {
    group: usize,
    /// True if the node depends on the negative of the group's expression.
    reversed: bool,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// `abs`, `sign`, or a relation of two values.
    Plain,
    /// `floor` of a value near this integer.
    Floor(i64),
    /// `min` or `max` with two equal arguments: their indices.
    Choice(usize, usize),
}

/// The form of a node on the side of its kink that contains the point.
#[derive(Clone, Copy, Debug)]
enum Taken {
    /// The argument with this index.
    Argument(usize),
    /// The negative of the only argument.
    Negative,
    Number(i64),
}

/// All kinks of some expressions at one point.
#[derive(Clone, Debug, Default)]
pub(super) struct Ties {
    /// For each group, the expression to show.
    pub(super) shown: Vec<ExprId>,
    /// The conditions and choices that are constant near the point.
    decided: FxHashMap<ExprId, bool>,
    /// The local forms of `abs`, `sign`, `min` and `max` away from their kinks.
    taken: FxHashMap<ExprId, Taken>,
    nodes: FxHashMap<ExprId, Tie>,
    signs: Vec<ExprId>,
}

impl Ties {
    /// Finds all possible kinks at the point if the values of `moving` vary.
    pub(super) fn find(
        exprs: &mut Exprs,
        roots: &[ExprId],
        moving: &[SymbolId],
        value: &dyn Fn(SymbolId) -> Option<f64>,
    ) -> Ties {
        let mut ties = Ties::default();
        let all = exprs.reachable(roots);
        let values = exprs.evaluate_unchecked(&all, value);
        let at: FxHashMap<ExprId, f64> = all.iter().copied().zip(values).collect();
        let moving: FxHashSet<SymbolId> = moving.iter().copied().collect();
        let mut moves: FxHashSet<ExprId> = FxHashSet::default();
        for id in all {
            let node = exprs.node(id);
            let is_moved = matches!(node, Node::Symbol(symbol) if moving.contains(symbol))
                || node.children().any(|child| moves.contains(&child));
            if is_moved {
                moves.insert(id);
            }
            match exprs.node(id).clone() {
                Node::Call(Function::Abs | Function::Sign, list) if is_zero(exprs, &at, list[0]) => {
                    ties.add(exprs, id, list[0], Kind::Plain);
                }
                Node::Call(Function::Floor, list) => {
                    let nearest = at[&list[0]].round();
                    if (at[&list[0]] - nearest).abs() <= ZERO_ARGUMENT * nearest.abs().max(1.0) && nearest.abs() < 1e15
                    {
                        let number = exprs.integer(nearest as i64);
                        let sign = exprs.sub(list[0], number);
                        ties.add(exprs, id, sign, Kind::Floor(nearest as i64));
                    }
                }
                Node::Call(function @ (Function::Min | Function::Max), list) => {
                    let first = chosen(function, &list, &at);
                    let tied = (0..list.len()).find(|k| *k != first && equal(&at, list[*k], list[first]));
                    if let Some(second) = tied {
                        let sign = exprs.sub(list[first], list[second]);
                        ties.add(exprs, id, sign, Kind::Choice(first, second));
                    } else if is_moved && list.iter().all(|argument| at[argument].is_finite()) {
                        ties.taken.insert(id, Taken::Argument(first));
                    }
                }
                Node::Call(Function::Abs, list) if is_moved && at[&id].is_finite() => {
                    let is_above = at[&list[0]] >= 0.0;
                    ties.taken
                        .insert(id, if is_above { Taken::Argument(0) } else { Taken::Negative });
                }
                Node::Call(Function::Sign, list) if is_moved && at[&id].is_finite() => {
                    ties.taken
                        .insert(id, Taken::Number(if at[&list[0]] > 0.0 { 1 } else { -1 }));
                }
                Node::Relation(relation, a, b) if !matches!(relation, Relation::And | Relation::Or) => {
                    if equal(&at, a, b) {
                        let sign = exprs.sub(a, b);
                        ties.add(exprs, id, sign, Kind::Plain);
                    } else {
                        ties.decided.insert(id, at[&id] != 0.0);
                    }
                }
                Node::If(condition, ..) => {
                    ties.decided.insert(id, at[&condition] != 0.0);
                }
                _ => {}
            }
        }
        ties
    }

    fn add(&mut self, exprs: &mut Exprs, node: ExprId, sign: ExprId, kind: Kind) {
        let minus = exprs.neg(sign);
        let known = self.signs.iter().position(|known| *known == sign || *known == minus);
        let group = known.unwrap_or(self.signs.len());
        if known.is_none() {
            self.signs.push(sign);
            self.shown.push(node);
        }
        let reversed = self.signs[group] == minus && sign != minus;
        self.nodes.insert(node, Tie { group, reversed, kind });
    }

    /// Returns the roots with every group on one side: true for a positive expression. Conditions that do not change at the point are
    /// replaced by their values.
    pub(super) fn one_sided(&self, exprs: &mut Exprs, roots: &[ExprId], above: &[bool]) -> Vec<ExprId> {
        let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in exprs.reachable(roots) {
            let node = exprs.node(id).clone();
            let now = match self.nodes.get(&id) {
                Some(tie) => self.side(exprs, &node, *tie, above[tie.group] != tie.reversed, &replaced),
                None => self.decide(exprs, id, &node, &replaced),
            };
            replaced.insert(id, now);
        }
        roots.iter().map(|id| replaced[id]).collect()
    }

    /// Replaces a node without a kink: relations and conditions by their values at the point, limits by the active branch.
    fn decide(&self, exprs: &mut Exprs, id: ExprId, node: &Node, replaced: &FxHashMap<ExprId, ExprId>) -> ExprId {
        if let (Node::Call(_, list), Some(taken)) = (node, self.taken.get(&id)) {
            return match *taken {
                Taken::Argument(place) => replaced[&list[place]],
                Taken::Negative => exprs.neg(replaced[&list[0]]),
                Taken::Number(number) => exprs.integer(number),
            };
        }
        let known = |exprs: &Exprs, id: &ExprId| exprs.as_number(replaced[id]).map(|number| !number.is_zero());
        let truth = match node {
            Node::Relation(Relation::And, a, b) => known(exprs, a).zip(known(exprs, b)).map(|(a, b)| a && b),
            Node::Relation(Relation::Or, a, b) => known(exprs, a).zip(known(exprs, b)).map(|(a, b)| a || b),
            Node::Relation(..) => self.decided.get(&id).copied(),
            Node::Not(a) => known(exprs, a).map(|a| !a),
            Node::If(condition, a, b) => {
                let holds = known(exprs, condition).unwrap_or_else(|| self.decided[&id]);
                return replaced[if holds { a } else { b }];
            }
            _ => None,
        };
        match truth {
            Some(holds) => exprs.integer(i64::from(holds)),
            None => exprs.rebuild(node, replaced),
        }
    }

    fn side(
        &self,
        exprs: &mut Exprs,
        node: &Node,
        tie: Tie,
        above: bool,
        replaced: &FxHashMap<ExprId, ExprId>,
    ) -> ExprId {
        let truth = |exprs: &mut Exprs, holds: bool| exprs.integer(i64::from(holds));
        match (node, tie.kind) {
            (Node::Call(Function::Abs, list), _) => match above {
                true => replaced[&list[0]],
                false => exprs.neg(replaced[&list[0]]),
            },
            (Node::Call(Function::Sign, _), _) => exprs.integer(if above { 1 } else { -1 }),
            (_, Kind::Floor(number)) => exprs.integer(if above { number } else { number - 1 }),
            (Node::Call(Function::Min, list), Kind::Choice(first, second)) => {
                replaced[&list[if above { second } else { first }]]
            }
            (Node::Call(_, list), Kind::Choice(first, second)) => replaced[&list[if above { first } else { second }]],
            (Node::Relation(Relation::Less | Relation::LessEqual, ..), _) => truth(exprs, !above),
            (Node::Relation(Relation::Greater | Relation::GreaterEqual, ..), _) => truth(exprs, above),
            (Node::Relation(Relation::NotEqual, ..), _) => truth(exprs, true),
            _ => truth(exprs, false),
        }
    }
}

/// Returns the index of the least or greatest argument.
fn chosen(function: Function, list: &[ExprId], at: &FxHashMap<ExprId, f64>) -> usize {
    let mut best = 0;
    for k in 1..list.len() {
        let (new, old) = (at[&list[k]], at[&list[best]]);
        if (function == Function::Min && new < old) || (function == Function::Max && new > old) {
            best = k;
        }
    }
    best
}

fn equal(at: &FxHashMap<ExprId, f64>, a: ExprId, b: ExprId) -> bool {
    let (a, b) = (at[&a], at[&b]);
    (a - b).abs() <= ZERO_ARGUMENT * a.abs().max(b.abs())
}

/// Returns true if a value is zero to within the round-off of its terms.
fn is_zero(exprs: &Exprs, at: &FxHashMap<ExprId, f64>, id: ExprId) -> bool {
    let terms: f64 = match exprs.node(id) {
        Node::Sum(list) => list.iter().map(|term| at[term].abs()).sum(),
        _ => 0.0,
    };
    at[&id].abs() <= ZERO_ARGUMENT * terms
}

/// Converts a number to an exact expression: the shortest decimal that reads back as the same double.
pub(super) fn decimal(exprs: &mut Exprs, value: f64) -> ExprId {
    let exact: BigRational = lgm_equations::shortest_decimal(value);
    exprs.number(exact)
}
