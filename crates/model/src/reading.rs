//! The equations as displayed, one by one: with a mass matrix if that is shorter. The terminal, the pages and the editor share this form,
//! so that they agree.

use crate::system::{Assignment, StateSystem};
use lgm_algebra::expr::{ExprId, Node, print};

/// One equation as displayed.
#[derive(Clone, Debug)]
pub struct ReadEquation {
    /// The left side: `der(mass.v)`, or masses times rates.
    pub left: String,
    /// The factors of the rates on the left.
    pub factors: Vec<ExprId>,
    /// The right side.
    pub right: ExprId,
}

impl StateSystem {
    /// Returns the named parts of the displayed equations, in order.
    pub fn read_assignments(&self) -> &[Assignment] {
        match &self.equations.mass_form {
            Some(form) => &form.assignments,
            None => &self.equations.assignments,
        }
    }

    /// Returns the residuals of an algebraic loop.
    pub fn read_residuals(&self, at: usize) -> &[ExprId] {
        let of_form = self
            .equations
            .mass_form
            .as_ref()
            .and_then(|form| form.residuals.get(at));
        of_form.unwrap_or(&self.equations.loops[at].residuals)
    }

    /// Returns the value of an output; with a mass matrix it may contain rates.
    pub fn read_output(&self, at: usize) -> ExprId {
        match &self.equations.mass_form {
            Some(form) => form.outputs[at],
            None => self.equations.output_values[at],
        }
    }

    /// Returns the equation of a state.
    pub fn read_equation(&self, state: usize) -> ReadEquation {
        if let Some(form) = &self.equations.mass_form {
            let equation = &form.equations[state];
            return ReadEquation {
                left: self.masses_times_rates(&equation.terms),
                factors: equation.terms.iter().map(|term| term.1).collect(),
                right: equation.right,
            };
        }
        let right = self.equations.derivatives[state];
        let Some(mass) = &self.equations.mass_matrix else {
            let left = format!("der({})", self.states[state].name);
            let factors = Vec::new();
            return ReadEquation { left, factors, right };
        };
        let terms = mass.rows[state].iter().map(|(column, factor)| {
            let rate = format!("der({})", self.states[*column as usize].name);
            match self.exprs.is_one(*factor) {
                true => rate,
                false => format!("({})*{rate}", print::text(&self.exprs, *factor)),
            }
        });
        let terms: Vec<String> = terms.collect();
        ReadEquation {
            left: match terms.is_empty() {
                true => "0".to_string(),
                false => terms.join(" + "),
            },
            factors: mass.rows[state].iter().map(|entry| entry.1).collect(),
            right,
        }
    }

    /// Returns the left-hand side `(J + m*r^2)*der(wheel.w) - m*r*der(cart.v)`.
    fn masses_times_rates(&self, terms: &[(u32, ExprId)]) -> String {
        let exprs = &self.exprs;
        let mut left = String::new();
        for (state, factor) in terms {
            let rate = format!("der({})", self.states[*state as usize].name);
            let written = print::text(exprs, *factor);
            let (sign, written) = match (written.strip_prefix('-'), exprs.node(*factor)) {
                (Some(rest), Node::Product(_) | Node::Number(_)) => ("-", rest.to_string()),
                _ => ("+", written),
            };
            let product = match exprs.node(*factor) {
                Node::Number(_) if written == "1" => rate,
                Node::Sum(_) | Node::If(..) | Node::Relation(..) => format!("({written})*{rate}"),
                _ => format!("{written}*{rate}"),
            };
            match (left.is_empty(), sign) {
                (true, "+") => left.push_str(&product),
                (true, _) => left.push_str(&format!("-{product}")),
                (false, sign) => left.push_str(&format!(" {sign} {product}")),
            }
        }
        left
    }
}
