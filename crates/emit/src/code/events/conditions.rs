//! Conditions over margins as texts of a language.

use lgm_algebra::expr::Relation;
use lgm_equations::switching::Condition;

/// The words of a language for conditions.
pub(crate) struct ConditionWords {
    /// The number that margins are compared with.
    pub(crate) zero: &'static str,
    /// A condition that never holds, and one that always does.
    pub(crate) decided: [&'static str; 2],
    /// The word in front of a condition that must not hold.
    pub(crate) not: &'static str,
    /// The word between conditions that must both hold.
    pub(crate) and: &'static str,
    /// The word between conditions of which one must hold.
    pub(crate) or: &'static str,
    /// One of two conditions, as a first one says.
    pub(crate) choice: fn(&str, &str, &str) -> String,
}

impl ConditionWords {
    /// A condition over the margins `m`.
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
