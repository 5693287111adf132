//! The bounds of a mode: values of the free variable of a port at which a change leaves the mode.

use lgm_algebra::expr::{ExprId, Exprs, Node, Relation, SymbolId};

/// A change as a bound on the free variable of its port: the comparison in its condition that contains the variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    /// The two sides of the comparison.
    pub sides: (ExprId, ExprId),
    /// True if the change occurs above the bound, false if below.
    pub is_above: bool,
    /// True if it occurs when the first side is the larger one.
    pub is_positive: bool,
    /// The value of the variable at the bound.
    pub value: ExprId,
}

impl Bound {
    /// Returns the bound that a condition sets on a variable; `None` unless exactly one comparison in it contains the
    /// variable, and is linear in it.
    pub fn of(exprs: &mut Exprs, condition: ExprId, variable: SymbolId) -> Option<Bound> {
        let mut found = Vec::new();
        comparisons(exprs, condition, variable, false, &mut found)?;
        let [(sides, relation, is_negated)] = found[..] else {
            return None;
        };
        let is_greater = match relation {
            Relation::Greater | Relation::GreaterEqual => true,
            Relation::Less | Relation::LessEqual => false,
            _ => return None,
        };
        let difference = exprs.sub(sides.0, sides.1);
        let slope = exprs.differentiate(difference, variable)?;
        let is_rising = *exprs.as_number(slope)? > num_rational::BigRational::default();
        let zero = exprs.zero();
        let at_zero = exprs.substitute(&[difference], |symbol| (symbol == variable).then_some(zero))[0];
        let quotient = exprs.div(at_zero, slope);
        let is_positive = is_greater != is_negated;
        Some(Bound {
            sides,
            is_positive,
            is_above: is_positive == is_rising,
            value: exprs.neg(quotient),
        })
    }
}

/// Collects the comparisons in a condition that contain a variable, each with true if it is negated. Returns `None` if
/// a choice contains the variable.
fn comparisons(
    exprs: &Exprs,
    condition: ExprId,
    variable: SymbolId,
    is_negated: bool,
    found: &mut Vec<((ExprId, ExprId), Relation, bool)>,
) -> Option<()> {
    match *exprs.node(condition) {
        Node::Relation(Relation::And | Relation::Or, a, b) => {
            comparisons(exprs, a, variable, is_negated, found)?;
            comparisons(exprs, b, variable, is_negated, found)
        }
        Node::Not(inner) => comparisons(exprs, inner, variable, !is_negated, found),
        Node::Relation(relation, a, b) => {
            if exprs.symbols_of(&[a, b]).contains(&variable) {
                found.push(((a, b), relation, is_negated));
            }
            Some(())
        }
        _ => (!exprs.symbols_of(&[condition]).contains(&variable)).then_some(()),
    }
}
