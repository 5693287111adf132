//! The columns of a reduction, its extent, and the reasons why it may fail.

use crate::causality::Causality;
use crate::index_reduction::Known;
use lgm_algebra::expr::Evaluated;
use lgm_model::ElementId;

/// The reason why no explicit equations exist.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// A value cannot be computed.
    Value(ElementId, Evaluated),
    /// The numbers have a lower rank than the parameters in general.
    LowerRank,
    /// The dissipators' laws do not determine their variables; contains the element whose equation has no pivot.
    SingularLoop(ElementId),
    /// The storage laws do not determine the rates; contains the element whose equation has no pivot.
    SingularStorage(ElementId),
    /// The index of a requested variable that is undetermined: a circulating flow of an ideal loop.
    Undetermined(usize),
    /// An undetermined column of the junction structure that does not belong to a measured variable.
    UndeterminedColumn(u32),
    /// The size limit of the field was exceeded.
    TooLarge,
    /// Written out, the rows would have too many entries.
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

/// The unknowns that the storage laws are solved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solve {
    /// The rates of independent storage.
    Rates,
    /// Only the conjugates of dependent storage; the laws of independent storage remain as equations for their rates.
    Conjugates,
}
