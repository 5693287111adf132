//! Derivations of models with vector elements, in vectors and matrices: one equation for all entries of a vector.
//!
//! A vector is represented by the symbol of its first entry. The equations of the graph are those of the first entries, which all other
//! entries must repeat; laws are products of named matrices and vectors. Models whose entries differ, such as those with an element at one
//! entry of a vector node, have no such derivation.

mod algebra;
mod blocks;
mod check;
mod eliminate;
mod equations;
mod lift;
mod print;

use super::check::Points;
use super::make::numbered;
use super::report::{Derivation, DerivationSource};
use super::variables::Table;
use crate::names::Names;
use eliminate::Work;
use lgm_algebra::expr::Exprs;
use lgm_equations::assigned;
use lgm_model::blocks::BlockForm;

/// The derivation of a model in vectors, and its result in blocks.
pub struct VectorDerivation {
    /// The steps.
    pub derivation: Derivation,
    /// The resulting equations and outputs, over the arena of the derivation.
    pub blocks: BlockForm,
    /// The arena of these expressions, which contains the arena of the equations.
    pub exprs: Exprs,
}

/// Derives the equations of a model with vector elements in vectors and matrices; `None` if a model has no vectors, or if the entries of a
/// vector have different equations.
///
/// Every step is evaluated entry by entry at random points before it is returned.
pub fn vector_derivation(given: DerivationSource<'_>) -> Option<VectorDerivation> {
    let assigned = assigned(given.model, given.graph, given.options);
    let names = Names {
        model: &assigned.model,
        graph: &assigned.graph,
    };
    let independent = &assigned.causality.independent;
    let table = Table::new(names, given.system, independent, |port| assigned.co_energy(port)).ok()?;
    let mut work = Work::new(table, &assigned.graph, given.causality, independent.len())?;
    work.results()?;
    let mut points = Points::new(given, &work.lift.table).ok()?;
    let steps = numbered(work.shown(&mut points)?);
    let blocks = work.blocks();
    let derivation = Derivation {
        model: given.model.heading.name.clone(),
        steps,
        exprs: work.lift.table.exprs.clone(),
    };
    Some(VectorDerivation {
        derivation,
        blocks,
        exprs: work.lift.table.exprs,
    })
}
