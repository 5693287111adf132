//! The columns of a reduction, how far it goes, and why it may be refused.

use crate::causality::Causality;
use crate::index_reduction::Known;
use lgm_algebra::expr::Evaluated;
use lgm_model::ElementId;

/// Why there are no explicit equations.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// A value cannot be computed.
    Value(ElementId, Evaluated),
    /// The numbers have a lower rank than the parameters in general.
    LowerRank,
    /// The dissipators' laws do not determine their variables; the element whose equation has no pivot.
    SingularLoop(ElementId),
    /// The storage laws do not determine the rates; the element whose equation has no pivot.
    SingularStorage(ElementId),
    /// A variable that was asked for is not determined: a circulating flow of an ideal loop. Index of the request.
    Undetermined(usize),
    /// The same of a column of the junction structure that stands for no measured variable.
    UndeterminedColumn(u32),
    /// The size limit of the field was passed.
    TooLarge,
    /// Written out, the rows have more entries than is allowed.
    TooManyEntries,
}

/// Column layout while dissipators and dependent storage are still unknown: [`Known`] columns, then w_d, then the given
/// variable of each dissipator.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) known: Known,
    pub(crate) dependent: usize,
}

impl Layout {
    pub(crate) fn of(causality: &Causality) -> Layout {
        Layout::leaving(causality, Solve::Rates)
    }
    pub(super) fn leaving(causality: &Causality, extent: Solve) -> Layout {
        Layout {
            known: Known {
                storage: causality.independent.len(),
                sources: causality.sources.len() + causality.nonlinear.len(),
                drifts: if causality.modulated {
                    causality.dependent.len()
                } else {
                    0
                },
                rates: match extent {
                    Solve::Rates => 0,
                    Solve::Conjugates => causality.independent.len(),
                },
            },
            dependent: causality.dependent.len(),
        }
    }
    pub(crate) fn conjugate(self, k: usize) -> u32 {
        (self.known.columns() + k) as u32
    }
    pub(crate) fn dissipator(self, k: usize) -> u32 {
        (self.known.columns() + self.dependent + k) as u32
    }
}

/// How far the storage laws are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solve {
    /// For the rates of independent storage.
    Rates,
    /// For the conjugates of dependent storage alone; the laws of independent storage are left as equations of their rates.
    Conjugates,
}
