//! Conditions over margins, printed in a target language.

use lgm_algebra::expr::Relation;
use lgm_equations::switching::Condition;

/// The syntax of a language for conditions.
pub(crate) struct ConditionWords {
    /// The number that margins are compared with.
    pub(crate) zero: &'static str,
    /// The condition that never holds, and the condition that always holds.
    pub(crate) decided: [&'static str; 2],
    /// The operator that negates a condition.
    pub(crate) not: &'static str,
    /// The operator of a conjunction.
    pub(crate) and: &'static str,
    /// The operator of a disjunction.
    pub(crate) or: &'static str,
    /// Selects one of two conditions, depending on a first condition.
    pub(crate) choice: fn(&str, &str, &str) -> String,
}

impl ConditionWords {
    /// Prints a condition over the margins `m`.
    pub(crate) fn text(&self, condition: &Condition) -> String {
        let of = |inner: &Condition| self.text(inner);
        match condition {
            Condition::Decided(holds) => self.decided[usize::from(*holds)].to_string(),
            Condition::Margin(at, relation) => {
                let sign = match relation {
                    Relation::Less => "<",
                    Relation::LessEqual => "<=",
                    Relation::Greater => ">",
                    Relation::GreaterEqual => ">=",
                    Relation::Equal => "==",
                    Relation::NotEqual | Relation::And | Relation::Or => "!=",
                };
                format!("m[{at}] {sign} {}", self.zero)
            }
            Condition::Not(inner) => format!("{}({})", self.not, of(inner)),
            Condition::And(a, b) => format!("({}) {} ({})", of(a), self.and, of(b)),
            Condition::Or(a, b) => format!("({}) {} ({})", of(a), self.or, of(b)),
            Condition::Choice(condition, a, b) => (self.choice)(&of(condition), &of(a), &of(b)),
        }
    }
}
