//! The reduction of a compilation, and its model in the syntax tree.

use crate::Compilation;
use lgm_explain::reduce::{Reduction, reduction};
use lgm_source::stack;
use lgm_syntax::ast::{self, Item};

/// Returns the reduction; None if no equations exist.
pub(super) fn reduced(compilation: &Compilation, merge_conserved: bool) -> Option<Reduction<'_>> {
    let system = compilation.system()?;
    let model = compilation.formulated_model()?;
    let (graph, causality) = (compilation.bond_graph()?, compilation.causality()?);
    let options = &compilation.request().equations;
    Some(stack::deep(|| {
        reduction(model, graph, options, system, causality, merge_conserved)
    }))
}

/// Returns the dependent elements with the causal path of their first port, in declaration order.
pub(super) fn dependents(compilation: &Compilation) -> Vec<(String, Vec<String>)> {
    let found = reduced(compilation, false);
    let list = found.map(|found| found.report.dependent).unwrap_or_default();
    let each = list.into_iter().map(|dependent| {
        let path = dependent.paths.into_iter().next();
        (dependent.element, path.map(|path| path.through).unwrap_or_default())
    });
    each.collect()
}

/// Returns the model in the syntax tree of the root text.
pub(super) fn declared<'c>(compilation: &'c Compilation, name: &str) -> Option<&'c ast::Model> {
    let tree = compilation.program().ast(compilation.root())?;
    let mut models = tree.items.iter().filter_map(|item| match item {
        Item::Model(model) => Some(model),
        _ => None,
    });
    models.find(|model| *model.name.text == *name)
}
