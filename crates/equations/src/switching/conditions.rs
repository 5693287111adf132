//! Conditions in terms of margins: numbers whose signs decide them.

use lgm_algebra::expr::{ExprId, Exprs, Node, Relation};

/// Assigns a margin an output index; the arguments are the margin, and the two sides whose difference it is.
pub(super) type Margin<'m> = &'m mut dyn FnMut(ExprId, (ExprId, ExprId)) -> usize;

/// A condition over margins, by index in the outputs of a combination.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// It does not change.
    Decided(bool),
    /// A margin has this relation to 0.
    Margin(usize, Relation),
    /// The other one does not hold.
    Not(Box<Condition>),
    /// Both hold.
    And(Box<Condition>, Box<Condition>),
    /// One of them holds.
    Or(Box<Condition>, Box<Condition>),
    /// The second one if the first holds, otherwise the third.
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

    /// Returns the value of the condition if it does not depend on the sides of margins with sign 0 that do not rest there; `None` if these
    /// decide.
    fn decided(&self, sign: &dyn Fn(usize) -> f64, rests: &dyn Fn(usize) -> bool) -> Option<bool> {
        let of = |inner: &Condition| inner.decided(sign, rests);
        match self {
            Condition::Decided(holds) => Some(*holds),
            Condition::Margin(at, _) => (sign(*at) != 0.0 || rests(*at)).then(|| self.holds(sign)),
            Condition::Not(inner) => of(inner).map(|holds| !holds),
            Condition::And(a, b) => match (of(a), of(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (a, b) => a.and(b),
            },
            Condition::Or(a, b) => match (of(a), of(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (a, b) => a.and(b),
            },
            Condition::Choice(condition, a, b) => match of(condition) {
                Some(true) => of(a),
                Some(false) => of(b),
                None => of(a).filter(|a| of(b) == Some(*a)),
            },
        }
    }

    /// Returns true if the condition of a block holds, or has held and is not left yet: a margin with sign 0 has not changed its side, unless
    /// it rests there.
    pub fn is_kept(&self, held: bool, sign: &dyn Fn(usize) -> f64, rests: &dyn Fn(usize) -> bool) -> bool {
        self.holds(sign) || held && self.decided(sign, rests) != Some(false)
    }

    /// Returns the same condition with its margins at other indices.
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
    pub fn margins(&self, visit: &mut dyn FnMut(usize, Relation)) {
        match self {
            Condition::Decided(_) => {}
            Condition::Margin(at, relation) => visit(*at, *relation),
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

    /// Converts a condition of the language; `margin` assigns a number its output index, given the two sides whose difference it is.
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
            // Numbers as conditions are rejected earlier; other expressions are true if nonzero.
            _ => Condition::Margin(margin(id, (id, id)), Relation::NotEqual),
        }
    }
}
