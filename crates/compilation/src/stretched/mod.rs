//! [`Stretched`]: a model of many equal sections, compiled with a few of them.
//!
//! *The claim.* Take a model of the kind that [`Sections`] finds. Its equations with [`Stretched::FIRST`] sections are those with any
//! larger number, up to the indices: those of a border stay or go with the end, and those of the middle repeat.
//!
//! *The proof.*
//!
//! 1. [`Sections`] decides on the syntax tree. Each equation of the long flat graph is one of the short flat graph, moved as a whole: those of
//!    the middle by any number of sections, those of the right border with the end. The elements at one node lie at most
//!    `local::NEIGHBOURS` sections apart, so that no equation reaches further.
//! 2. [`lgm_equations::reaches`] gives every variable of a port in the short model as a sum over states and inputs. `local` looks at each sum:
//!    - In section i it has states of sections i - d to i + d, states without an index, and inputs.
//!    - At a border it has states of borders alone.
//!    - In the middle it is the sum of the section before it, moved by one section.
//! 3. By 2 the sums can be moved as the equations are. An equation of the long graph with its sums put in is one of the short graph
//!    with its own sums put in, moved: the middle is wider than an equation with its sums reaches. The short equations hold of
//!    their sums, which verification shows, and so the long ones hold of theirs.
//! 4. Derivatives and outputs are such sums too. Six numbers of sections are compiled, each by one larger than the last, and the
//!    texts that are printed must differ by indices alone that stay or grow by one.
//!
//! The sums solve the long graph. That nothing else solves it may depend on the number of sections: a ring of ideal gyrators is singular
//! for odd numbers only. Each of the six models must have one solution and the same number of states a section. A pair of variables that
//! repeats through sections of rational ratios does so after 1, 2, 3, 4 or 6 of them, and so shows in six models.
//!
//! If any of this does not hold there is no [`Stretched`], and the model is compiled flat.

mod local;

use crate::{Compilation, Request};
use lgm_elaborate::{Sections, Settings};
use lgm_model::counts::{Count, Counts};
use lgm_model::system::StateSystem;
use lgm_source::cancellation::Cancellation;
use lgm_source::codes::Code;
use lgm_source::stack;
use std::sync::Arc;

/// A model with many sections, known by the same model with a few of them.
#[derive(Debug)]
pub struct Stretched {
    count: u64,
    short: Vec<Compilation>,
}

impl Stretched {
    /// The number of sections of the first short model.
    pub const FIRST: u64 = local::SECTIONS as u64;

    /// The number of short models; each has one section more than the one before it.
    pub const SIZES: u64 = 6;

    /// From so many sections on this takes less time than to compile the model as it is.
    pub const WORTHWHILE: u64 = 10_000;

    /// The short models of a compilation whose model has so many sections at least, if the claim holds of them.
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
            // That the equations hold is said too.
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
        // A model that the language does not allow is reported as such.
        let things = stretched.at(|each| each.model().map_or(0, |model| model.paths.len()))?;
        (things as u64 <= Settings::LARGEST.min(request.settings.largest)).then_some(stretched)
    }

    /// The number of sections.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The equations of the short models.
    pub fn systems(&self) -> Vec<&StateSystem> {
        self.short.iter().filter_map(Compilation::system).collect()
    }

    /// A count of the long model, from those of the short ones; none where these do not grow evenly.
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

    /// The size of the long model.
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

/// Returns true for one graph of fixed structure with linear equations, solved in full.
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
