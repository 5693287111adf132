//! [`Stretched`]: a model of many equal sections, compiled with a small number of them.
//!
//! *The claim.* Take a model of the kind that [`Sections`] finds. Its equations with [`Stretched::FIRST`] sections are those with any
//! larger number, up to the indices. Indices of a border are fixed or move with the end; indices of the middle repeat.
//!
//! *The proof.*
//!
//! 1. [`Sections`] decides on the syntax tree. Each equation of the long flat graph is an equation of the short flat graph with shifted
//!    indices. Equations of the middle are shifted by any number of sections, those of the right border with the end. The elements at one
//!    node are at most
//!    `local::NEIGHBOURS` sections apart, so no equation reaches further.
//! 2. [`lgm_equations::reaches`] gives every variable of a port in the short model as a sum over states and inputs.
//!    `local` examines each sum:
//!    - In section i it contains states of sections i - d to i + d, states without an index, and inputs.
//!    - At a border it contains only states of borders.
//!    - In the middle it is the sum of the previous section, shifted by one section.
//! 3. By 2 the sums can be shifted like the equations. An equation of the long graph with its sums substituted is a shifted equation of the
//!    short graph with its sums substituted. This holds because the middle is wider than the reach of an equation with its sums.
//!    Verification shows that the
//!    sums satisfy the short equations, and therefore they satisfy the long equations.
//! 4. Derivatives and outputs are also such sums. Six consecutive numbers of sections are compiled. The printed texts may differ only in
//!    indices, which must stay fixed or grow by one.
//!
//! The sums solve the long graph. Uniqueness of the solution may depend on the number of sections: a ring of ideal gyrators is singular
//! only for odd numbers. Each of the six models must have one solution and the same number of states per section. A pair of variables that
//! repeats through sections of rational ratios does so after 1, 2, 3, 4 or 6 sections, and is therefore visible in six models.
//!
//! If a condition is violated there is no [`Stretched`], and the model is compiled flat.

mod local;

use crate::{Compilation, Request};
use lgm_elaborate::{Sections, Settings};
use lgm_model::counts::{Count, Counts};
use lgm_model::system::StateSystem;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::stack;
use std::sync::Arc;

/// A model with many sections, represented by short models with a small number of sections.
#[derive(Debug)]
pub struct Stretched {
    count: u64,
    short: Vec<Compilation>,
}

impl Stretched {
    /// The number of sections of the first short model.
    pub const FIRST: u64 = local::SECTIONS as u64;

    /// The number of short models; each has one section more than the previous model.
    pub const SIZES: u64 = 6;

    /// The number of sections from which this is faster than compiling the full model.
    pub const WORTHWHILE: u64 = 10_000;

    /// Returns the short models of a compilation with at least this number of sections, if the claim holds for them.
    pub fn of(compilation: &Compilation, least: u64) -> Option<Stretched> {
        let least = least.max(Self::FIRST + Self::SIZES);
        let request = &compilation.request;
        let is_plain = request.linearize.is_none() && !request.verify && request.equations.retain.is_empty();
        if !is_plain || !compilation.loading.is_empty() {
            return None;
        }
        let (program, map) = (&compilation.program, &compilation.map);
        let sections = stack::deep(|| Sections::find(program, map, &request.settings, least))?;
        let mut short = Vec::new();
        for more in 0..Self::SIZES {
            let shortened = sections.shortened(program, map, &request.settings, Self::FIRST + more);
            let (program, settings) = shortened?;
            let request = Request {
                settings,
                equations: request.equations.clone(),
                verify: more == 0,
                cancellation: Cancellation::clone(&request.cancellation),
                ..Request::default()
            };
            let each = Compilation::of(
                Arc::clone(map),
                compilation.root,
                request,
                Arc::new(program),
                Vec::new(),
            );
            let things = each.model().map_or(0, |model| model.paths.len() as u64);
            if least >= Self::WORTHWHILE && 2 * Self::SIZES * things > sections.count() {
                return None;
            }
            // A message also confirms that the equations are verified.
            let diagnostics = each.diagnostics();
            let is_verified = diagnostics.iter().all(|found| found.code == Code::LGM0712);
            if !is_verified || diagnostics.is_empty() == (more == 0) || !is_of_one_piece(&each) {
                return None;
            }
            if more == 0 && !is_local(&each) {
                return None;
            }
            short.push(each);
        }
        let stretched = Stretched {
            count: sections.count(),
            short,
        };
        // An invalid model is reported as such.
        let things = stretched.at(|each| each.model().map_or(0, |model| model.paths.len()))?;
        (things as u64 <= Settings::LARGEST.min(request.settings.largest)).then_some(stretched)
    }

    /// Returns the number of sections.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the equations of the short models.
    pub fn systems(&self) -> Vec<&StateSystem> {
        self.short.iter().filter_map(Compilation::system).collect()
    }

    /// Returns a count of the long model, extrapolated from the short models; none if the counts do not grow linearly.
    pub fn at(&self, number: impl Fn(&Compilation) -> usize) -> Option<usize> {
        let numbers: Vec<usize> = self.short.iter().map(number).collect();
        let step = numbers[1].checked_sub(numbers[0])?;
        let is_even = numbers
            .windows(2)
            .all(|pair| pair[1].checked_sub(pair[0]) == Some(step));
        let more = usize::try_from(self.count - Self::FIRST).ok()?;
        is_even
            .then(|| step.checked_mul(more)?.checked_add(numbers[0]))
            .flatten()
    }

    /// Returns the size of the long model.
    pub fn counts(&self) -> Option<Counts> {
        let count = |of: fn(&Counts) -> &Count| {
            let one = |pick: fn(&Count) -> usize| {
                self.at(|each| each.model().map_or(0, |model| pick(of(&model.heading.counts))))
            };
            Some(Count {
                branches: one(|count| count.branches)?,
                nodes: one(|count| count.nodes)?,
                elements: one(|count| count.elements)?,
                constitutive: one(|count| count.constitutive)?,
            })
        };
        Some(Counts {
            scalar: count(|counts| &counts.scalar)?,
            vector: count(|counts| &counts.vector)?,
            written: count(|counts| &counts.written)?,
        })
    }
}

/// Returns true for a single graph of fixed structure whose linear equations are solved completely.
fn is_of_one_piece(compilation: &Compilation) -> bool {
    let is_fixed = |model: &lgm_model::Model| model.switching.is_empty() && model.integrals.is_empty();
    let is_solved = |system: &StateSystem| {
        system.equations.linear && system.equations.loops.is_empty() && system.equations.mass_matrix.is_none()
    };
    compilation.model().is_some_and(is_fixed) && compilation.system().is_some_and(is_solved)
}

/// Returns true if the variables of the first short model are local.
fn is_local(compilation: &Compilation) -> bool {
    let (Some(model), Some(graph), Some(system)) = (
        compilation.formulated_model(),
        compilation.bond_graph(),
        compilation.system(),
    ) else {
        return false;
    };
    let states = compilation.request.equations.states;
    let reaches = stack::deep(|| lgm_equations::reaches(model, graph, &compilation.retained(), states));
    reaches.is_some_and(|reaches| local::are_local(model, system, &reaches))
}
