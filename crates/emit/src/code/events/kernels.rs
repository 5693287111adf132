//! The compiled functions of a model with events.

use super::table::{Gathered, InCombination};
use lgm_algebra::expr::ExprId;
use lgm_kernels::operation::Space;
use lgm_kernels::program::Program;
use lgm_kernels::{Kernel, KernelOptions, Layout, expression};

/// Kernels selected by the active combination.
pub(crate) type Modal = Vec<(usize, Kernel)>;

/// The compiled functions of a model with events.
pub(crate) struct ChangeKernels {
    pub(crate) derivatives: Modal,
    pub(crate) outputs: Modal,
    pub(crate) watched: Modal,
    pub(crate) margins: Modal,
    pub(crate) assigned: Vec<Kernel>,
}

/// All data of a program with events, and its functions; none for a model without events.
pub(crate) type Changing<'c> = Option<(&'c Gathered, &'c ChangeKernels)>;

/// Returns the programs of kernels selected by the active combination.
pub(crate) fn chosen(modal: &Modal) -> Vec<(usize, &Program)> {
    modal.iter().map(|(at, kernel)| (*at, kernel.program())).collect()
}

impl ChangeKernels {
    pub(crate) fn new(gathered: &Gathered) -> ChangeKernels {
        let system = &gathered.system;
        let mut exprs = system.exprs.clone();
        let zero = exprs.zero();
        let options = KernelOptions { native: false };
        let layout = Layout::new(system);
        let modal = |roots: &dyn Fn(&InCombination) -> Vec<ExprId>| -> Modal {
            let rows = gathered.rows.iter().enumerate();
            let with = rows.filter_map(|(at, row)| Some((at, row.equations.as_ref().ok()?)));
            with.map(|(at, row)| (at, expression(&exprs, &roots(row), &layout, &options)))
                .collect()
        };
        let margins = |row: &InCombination| {
            let margins = row.margins.iter().map(|margin| margin.unwrap_or(zero));
            let padded = |parts: &[ExprId], count: usize| {
                let parts = parts.iter().copied().chain(std::iter::repeat(zero));
                parts.take(count).collect::<Vec<_>>()
            };
            let turns = padded(&row.inside.turns, gathered.turns);
            margins
                .chain(turns)
                .chain(padded(&row.inside.phases, gathered.phases))
                .collect()
        };
        let values = gathered.blocks.iter().flat_map(|block| &block.assignments);
        let own = Layout::new(system)
            .placing(Space::States, gathered.held.iter().copied())
            .placing(Space::Unknowns, gathered.temporaries.iter().copied());
        ChangeKernels {
            derivatives: modal(&|row| row.derivatives.clone()),
            outputs: modal(&|row| row.outputs.clone()),
            watched: modal(&|row| row.watched.clone()),
            margins: modal(&margins),
            assigned: values
                .map(|assignment| expression(&exprs, &[assignment.2], &own, &options))
                .collect(),
        }
    }

    /// Returns all programs that use the working memory of the model.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Program> {
        let modal = [&self.derivatives, &self.outputs, &self.watched, &self.margins];
        let modal = modal.into_iter().flatten().map(|entry| &entry.1);
        modal.chain(&self.assigned).map(Kernel::program)
    }
}
