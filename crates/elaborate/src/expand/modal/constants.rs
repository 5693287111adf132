//! The values of the modes' parts as constants: `m_1` and `k_1` of a bar, `C_1`, `I_1` and `R_1` of a pipe.

use crate::context::modal::Owner;
use crate::context::values::Scalar;
use crate::expand::Expansion;
use crate::expand::modal::ModeValues;
use crate::modal_rules::Rules;
use lgm_model::DomainId;

/// A value of the modes' parts.
type ModeField<'a> = for<'m> fn(&'m mut ModeValues<'a>) -> Option<&'m mut Scalar>;

/// The name of a value, or of its inverse: a line's restoring T-type is defined by the inverse of its inertance, but the inertance is the
/// usual parameter.
struct Word {
    stem: &'static str,
    is_inverse: bool,
}

impl<'a> Expansion<'_, 'a> {
    /// Makes constants of the values of the modes' parts. A value shared by all modes is one constant.
    pub(crate) fn name_values(
        &mut self,
        owner: &Owner,
        rules: &Rules<'a>,
        domain: DomainId,
        values: &mut [ModeValues<'a>],
    ) {
        let domain = self.graph.model.graph.domains[domain.index()].name.to_string();
        let roles = rules.roles();
        let loss = [roles.loss];
        let parts: [(&[&str], ModeField<'a>); 4] = [
            (&roles.primary, |mode| Some(&mut mode.primary)),
            (&roles.restoring, |mode| mode.restoring.as_mut()),
            (&roles.dissipation, |mode| mode.dissipation.as_mut()),
            // A rigid mode has no loss.
            (&loss, |mode| mode.loss.as_mut().filter(|_| mode.restoring.is_some())),
        ];
        for (names, part) in parts {
            let given = rules.values.iter().find(|value| names.contains(&value.0));
            let Some(word) = given.and_then(|value| word(value.0, rules.across, &domain)) else {
                continue;
            };
            for mode in values.iter_mut() {
                if let Some(value) = part(mode) {
                    *value = self.settled(owner, *value);
                }
            }
            let first = values.first_mut().and_then(|mode| part(mode).copied());
            let is_shared = values.len() > 1 && values.iter_mut().all(|mode| part(mode).copied() == first);
            for (mode, number) in values.iter_mut().zip(1..) {
                if let Some(value) = part(mode) {
                    let mode = (!is_shared).then_some(number);
                    *value = self.called(owner, &word, mode, *value);
                    self.keep_constants(value.expr);
                }
            }
        }
    }

    fn called(&mut self, owner: &Owner, word: &Word, mode: Option<u32>, value: Scalar) -> Scalar {
        if !word.is_inverse {
            return self.constant(owner, word.stem, mode, value);
        }
        let one = self.arena.exprs.one();
        let inverse = Scalar {
            expr: self.arena.exprs.div(one, value.expr),
            dim: self.dims.over(crate::context::values::DimId::NONE, value.dim),
        };
        let named = self.constant(owner, word.stem, mode, inverse);
        Scalar {
            expr: self.arena.exprs.div(one, named.expr),
            dim: value.dim,
        }
    }
}

/// Returns the usual letter for a value of a domain's parts; `across` selects the dual.
fn word(name: &str, across: bool, domain: &str) -> Option<Word> {
    let inertance = if domain == "fluid" { "I" } else { "L" };
    let (stem, is_inverse) = match (name, across) {
        ("mass", _) if domain == "rotational" => ("J", false),
        ("mass", _) => ("m", false),
        ("stiffness", _) => ("k", false),
        ("damping", _) => ("b", false),
        ("a_type", _) => ("C", across),
        ("t_type", _) => (inertance, !across),
        ("d_type" | "t_loss" | "a_loss", _) => {
            let is_resistance = name == "t_loss" || name == "d_type" && across;
            (if is_resistance { "R" } else { "G" }, false)
        }
        _ => return None,
    };
    Some(Word { stem, is_inverse })
}
