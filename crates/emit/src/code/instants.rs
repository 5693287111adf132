//! Blocks that run between fixed steps: the variables that they read and assign, and their instants in steps.

use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_kernels::Kernel;

/// The blocks of a model, and the values that they read.
#[derive(Clone, Debug)]
pub(crate) struct Sampled {
    /// The number of discrete variables, which are the last inputs of the system.
    pub(crate) discretes: usize,
    /// The values that blocks read, as they are just before an instant.
    pub(crate) read: Vec<Read>,
    /// Symbols for intermediate values of assignments.
    pub(crate) temporaries: Vec<SymbolId>,
    /// The blocks in source order.
    pub(crate) blocks: Vec<SampledBlock>,
    /// The conditions of `when` blocks, in source order.
    pub(crate) conditions: Vec<ExprId>,
    /// The initial values of the discrete variables.
    pub(crate) starts: Vec<ExprId>,
    /// The same as functions of arrays.
    pub(crate) kernels: SampledKernels,
}

/// A value that blocks read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) symbol: SymbolId,
    /// The value just before the instant.
    pub(crate) value: ExprId,
    /// The value as the source writes it: `across(rotor)`.
    pub(crate) name: String,
}

/// A block with its instants.
#[derive(Clone, Debug)]
pub(crate) struct SampledBlock {
    /// `every 0.001 s, line 16`
    pub(crate) title: String,
    pub(crate) clock: Clock,
    /// The assignments, numbered over all blocks.
    pub(crate) assignments: Vec<Assigned>,
}

/// The instants of a block in steps from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Once, before the first outputs.
    Initially,
    /// At each step at which the condition with this index has become true.
    Becomes(usize),
    /// At the step `first`, and each `period` steps after it.
    Every {
        /// The number of steps between two instants.
        period: u32,
        /// The number of steps before the first instant.
        first: u32,
    },
}

impl Clock {
    /// True if a block runs at every step.
    pub(crate) fn is_each_step(self) -> bool {
        self == Clock::Every { period: 1, first: 0 }
    }
}

/// An assignment of a block.
#[derive(Clone, Debug)]
pub(crate) struct Assigned {
    pub(crate) target: Place,
    pub(crate) value: ExprId,
    /// The place of its function in [`SampledKernels::assigned`].
    pub(crate) number: usize,
}

/// A target, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Discrete(usize),
    Temporary(usize),
    State(usize),
}

/// The functions of blocks over arrays. Values that blocks read take the place of states, temporaries that of unknowns.
#[derive(Clone, Debug)]
pub(crate) struct SampledKernels {
    pub(crate) starts: Kernel,
    pub(crate) read: Kernel,
    pub(crate) conditions: Kernel,
    pub(crate) assigned: Vec<Kernel>,
}

impl SampledKernels {
    /// Returns the functions that are evaluated at a point of the equations.
    pub(crate) fn at_points(&self) -> [&Kernel; 2] {
        [&self.read, &self.conditions]
    }
}

impl Sampled {
    /// Returns the clocks of blocks that do not run at every step, each once.
    pub(crate) fn clocks(&self) -> Vec<(u32, u32)> {
        let mut clocks = Vec::new();
        for block in &self.blocks {
            if let Clock::Every { period, first } = block.clock
                && !block.clock.is_each_step()
                && !clocks.contains(&(period, first))
            {
                clocks.push((period, first));
            }
        }
        clocks
    }

    /// Returns the blocks that run at instants.
    pub(crate) fn timed(&self) -> impl Iterator<Item = &SampledBlock> {
        let blocks = self.blocks.iter();
        blocks.filter(|block| matches!(block.clock, Clock::Every { .. }))
    }

    /// Returns the blocks that run when their conditions become true.
    pub(crate) fn conditional(&self) -> impl Iterator<Item = &SampledBlock> {
        let blocks = self.blocks.iter();
        blocks.filter(|block| matches!(block.clock, Clock::Becomes(_)))
    }

    /// Returns the indices of conditions from which on they are tested at the start: all at first, and then behind each initial block
    /// those of the blocks after it.
    pub(crate) fn tested_at_start(&self) -> impl Iterator<Item = Option<usize>> {
        let count = self.conditions.len();
        let from = move |first: usize| (first < count).then_some(first);
        let before = |at: usize| {
            self.blocks[..at]
                .iter()
                .filter(|block| matches!(block.clock, Clock::Becomes(_)))
                .count()
        };
        let initial = self
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| block.clock == Clock::Initially);
        std::iter::once(from(0)).chain(initial.map(move |(at, _)| from(before(at))))
    }

    /// True if a block sets a state.
    pub(crate) fn sets_states(&self) -> bool {
        let mut assignments = self.blocks.iter().flat_map(|block| &block.assignments);
        assignments.any(|assigned| matches!(assigned.target, Place::State(_)))
    }
}
