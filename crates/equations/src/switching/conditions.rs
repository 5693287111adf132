//! Conditions as margins: numbers whose signs decide them.

use lgm_algebra::expr::{ExprId, Exprs, Node, Relation};

/// Gives a margin its place among the outputs: the margin, and the two sides whose difference it is.
pub(super) type Margin<'m> = &'m mut dyn FnMut(ExprId, (ExprId, ExprId)) -> usize;

/// A condition over margins, by their places among the outputs of a combination.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// It does not change.
    Decided(bool),
    /// A margin stands in this relation to 0.
    Margin(usize, Relation),
    /// The other one does not hold.
    Not(Box<Condition>),
    /// Both hold.
    And(Box<Condition>, Box<Condition>),
    /// One of them holds.
    Or(Box<Condition>, Box<Condition>),
    /// The second one where the first holds, else the third.
    Choice(Box<Condition>, Box<Condition>, Box<Condition>),
}

impl Condition {
    /// Returns true if the condition holds for these signs of the margins.
    pub fn holds(&self, sign: &dyn Fn(usize) -> f64) -> bool {
        match self {
            Condition::Decided(holds) => *holds,
            Condition::Margin(at, relation) => lgm_algebra::expr::doubles::holds(*relation, sign(*at), 0.0),
            Condition::Not(inner) => !inner.holds(sign),
            Condition::And(a, b) => a.holds(sign) && b.holds(sign),
            Condition::Or(a, b) => a.holds(sign) || b.holds(sign),
            Condition::Choice(condition, a, b) => match condition.holds(sign) {
                true => a.holds(sign),
                false => b.holds(sign),
            },
        }
    }

    /// The same condition with its margins in other places.
    pub fn in_places(&self, place: &dyn Fn(usize) -> usize) -> Condition {
        let of = |inner: &Condition| Box::new(inner.in_places(place));
        match self {
            Condition::Decided(holds) => Condition::Decided(*holds),
            Condition::Margin(at, relation) => Condition::Margin(place(*at), *relation),
            Condition::Not(inner) => Condition::Not(of(inner)),
            Condition::And(a, b) => Condition::And(of(a), of(b)),
            Condition::Or(a, b) => Condition::Or(of(a), of(b)),
            Condition::Choice(condition, a, b) => Condition::Choice(of(condition), of(a), of(b)),
        }
    }

    /// Calls `visit` for each margin.
    pub fn margins(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Condition::Decided(_) => {}
            Condition::Margin(at, _) => visit(*at),
            Condition::Not(inner) => inner.margins(visit),
            Condition::And(a, b) | Condition::Or(a, b) => {
                a.margins(visit);
                b.margins(visit);
            }
            Condition::Choice(condition, a, b) => {
                condition.margins(visit);
                a.margins(visit);
                b.margins(visit);
            }
        }
    }

    /// A condition of the language; `margin` gives a number its place among the outputs, for the two sides whose difference it is.
    pub(super) fn of(exprs: &mut Exprs, id: ExprId, margin: Margin<'_>) -> Condition {
        let of = |exprs: &mut Exprs, id: ExprId, margin: Margin<'_>| Box::new(Condition::of(exprs, id, margin));
        match exprs.node(id).clone() {
            Node::Number(number) => Condition::Decided(*number != num_rational::BigRational::default()),
            Node::Relation(Relation::And, a, b) => Condition::And(of(exprs, a, margin), of(exprs, b, margin)),
            Node::Relation(Relation::Or, a, b) => Condition::Or(of(exprs, a, margin), of(exprs, b, margin)),
            Node::Relation(relation, a, b) => {
                let difference = exprs.sub(a, b);
                Condition::Margin(margin(difference, (a, b)), relation)
            }
            Node::Not(inner) => Condition::Not(of(exprs, inner, margin)),
            Node::If(condition, a, b) => {
                Condition::Choice(of(exprs, condition, margin), of(exprs, a, margin), of(exprs, b, margin))
            }
            // A number as a condition is refused where it is written; what is left is true where it is not 0.
            _ => Condition::Margin(margin(id, (id, id)), Relation::NotEqual),
        }
    }
}
