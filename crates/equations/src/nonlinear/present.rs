//! Ordered definitions: short ones are substituted, lowest terms are used if shorter, and repeated expressions get names.

use crate::assembly::linearity::varies;
use crate::formulation::matrices::is_worth_a_name;
use crate::nonlinear::definitions::Blame;
use crate::nonlinear::inline::{READABLE, inlined, named_length};
use crate::nonlinear::loops::{LoopBlock, Resolved};
use crate::nonlinear::masses::mass_form;
use crate::nonlinear::names::measure_name;
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, SymbolKind, text, to_f64};
use lgm_model::system::{AlgebraicLoop, Assignment, LinearForm, RateBlock, SparseMatrix, StateSystem};
use lgm_model::{ElementId, Measure, Model};
use lgm_readable::{LARGE, Shortening, lowest_terms};
use lgm_source::Span;
use num_rational::BigRational;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The maximum number of names whose removal is tried.
const TRIED: usize = 16;

/// Writes the resolved definitions into the system; returns the columns that were requested, over the system's symbols.
///
/// The simplification decides which definitions are shortened, and how; equations that are not displayed stay unchanged.
pub(crate) fn present(
    model: &Model,
    system: &mut StateSystem,
    resolved: Resolved,
    shortening: &mut Shortening,
) -> Vec<ExprId> {
    let mut exprs = std::mem::take(&mut system.exprs);
    let (resolved, mut numbered) = renamed(model, &mut exprs, resolved);
    let whole = inlined(&mut exprs, &resolved, |_| true);
    system.equations.rate_blocks = rate_blocks(&mut exprs, &resolved);
    let equations = resolved.states + resolved.outputs;
    let columns = whole.roots[equations..].to_vec();
    let shown: Vec<ExprId> = whole.roots[..equations]
        .iter()
        .chain(whole.loops.iter().flat_map(|each| &each.residuals))
        .copied()
        .collect();
    let sizes = exprs.written_sizes(&shown);
    let is_short = |id: &ExprId| sizes[id] <= LARGE;
    let mut chosen = None;
    if shown.iter().all(is_short) {
        let short = reduced(&mut exprs, whole, shortening);
        let readable = |id: &ExprId| text(&exprs, *id).len() <= READABLE;
        let residuals = short.loops.iter().flat_map(|each| &each.residuals);
        if short.roots[..equations].iter().chain(residuals).all(readable) {
            chosen = Some(short);
        }
    }
    let form = chosen.as_ref().and_then(|short| {
        linear_form(
            system,
            &mut exprs,
            &short.roots[..resolved.states],
            &short.roots[resolved.states..equations],
        )
    });
    let chosen = match chosen {
        Some(short) => short,
        None => {
            let names = worth_naming(&exprs, &resolved);
            fewest_names(&mut exprs, &resolved, names, shortening)
        }
    };
    let shortest = length_of(&exprs, &chosen).filter(|_| shortening.is_read());
    let names: FxHashSet<SymbolId> = chosen.assignments.iter().map(|entry| entry.0).collect();
    let mass_form = shortest.and_then(|length| mass_form(system, &mut exprs, &resolved, &names, shortening, length));
    write(model, system, exprs, &chosen);
    system.equations.mass_form = mass_form.filter(|_| !system.equations.linear);
    if let Some(form) = form.filter(|_| system.equations.loops.is_empty()) {
        set_form(system, form);
    }
    let assigned = system.equations.assignments.iter().map(|assignment| assignment.value);
    let is_long = system
        .right_sides()
        .chain(assigned)
        .any(|id| system.exprs.is_written_beyond(id, LARGE / 4));
    if is_long {
        share(system, &mut numbered);
    }
    renumber(system, &numbered);
    columns
}

/// Numbers the names without a meaning in reading order, without gaps.
fn renumber(system: &mut StateSystem, numbered: &[SymbolId]) {
    let shown = system.equations.mass_form.iter().flat_map(|form| &form.assignments);
    let assigned = shown
        .chain(&system.equations.assignments)
        .map(|assignment| assignment.symbol);
    let unknowns = system.equations.unknowns();
    let all: Vec<SymbolId> = assigned.chain(unknowns).collect();
    let numbered: FxHashSet<SymbolId> = numbered.iter().copied().collect();
    // A parameter or a state of the user may also be called w1.
    let symbols = (0..system.exprs.symbol_count()).map(|k| SymbolId(k as u32));
    let others = symbols.filter(|symbol| !numbered.contains(symbol));
    let taken: FxHashSet<Arc<str>> = others
        .map(|symbol| system.exprs.symbol_info(symbol).name.clone())
        .filter(|name| name.starts_with('w'))
        .collect();
    let mut known: FxHashSet<SymbolId> = FxHashSet::default();
    let mut number = 0;
    for symbol in all {
        if numbered.contains(&symbol) && known.insert(symbol) {
            number += 1;
            while taken.contains(format!("w{number}").as_str()) {
                number += 1;
            }
            system.exprs.rename(symbol, format!("w{number}"));
        }
    }
}

/// Renames unknowns and assignments by their meaning; those without one, which are returned, become `w1`, `w2`, ...
fn renamed(model: &Model, exprs: &mut Exprs, mut resolved: Resolved) -> (Resolved, Vec<SymbolId>) {
    let measures: FxHashMap<SymbolId, String> = model
        .measures
        .iter()
        .filter_map(|(symbol, measure)| Some((*symbol, measure_name(model, *measure)?)))
        .collect();
    // The variable of a port belongs to the port's element.
    let owners: FxHashMap<SymbolId, ElementId> = model
        .measures
        .iter()
        .filter_map(|(symbol, measure)| match measure {
            Measure::PortEffort(port) | Measure::PortFlow(port) => {
                Some((*symbol, model.graph.ports[port.index()].element))
            }
            _ => None,
        })
        .collect();
    for each in &mut resolved.loops {
        for (symbol, blame) in each.unknowns.iter().zip(&mut each.blames) {
            if let (Blame::Model, Some(element)) = (*blame, owners.get(symbol)) {
                *blame = Blame::Element(*element);
            }
        }
    }
    let mut fresh: FxHashMap<SymbolId, SymbolId> = FxHashMap::default();
    let unknowns = resolved.loops.iter().flat_map(|each| each.unknowns.iter().copied());
    let assigned = resolved.assignments.iter().map(|entry| entry.0);
    let symbols: Vec<SymbolId> = unknowns.chain(assigned).collect();
    let mut numbered = Vec::new();
    for (k, symbol) in symbols.into_iter().enumerate() {
        let mut is_numbered = false;
        let name = match measures.get(&symbol) {
            Some(name) => name.clone(),
            None => {
                let own = &exprs.symbol_info(symbol).name;
                if own.contains('(') || own.contains(' ') {
                    is_numbered = true;
                    format!("w{}", k + 1)
                } else {
                    own.to_string()
                }
            }
        };
        let own = exprs.new_symbol(name, SymbolKind::Assignment);
        numbered.extend(is_numbered.then_some(own));
        fresh.insert(symbol, own);
    }
    let expressions: FxHashMap<SymbolId, ExprId> = fresh.iter().map(|(old, new)| (*old, exprs.symbol(*new))).collect();
    let mut known = FxHashMap::default();
    let mut change = |id: &mut ExprId| {
        *id = exprs.substitute_on(&[*id], &mut known, |symbol| expressions.get(&symbol).copied())[0];
    };
    for (symbol, value) in &mut resolved.assignments {
        *symbol = fresh[symbol];
        change(value);
    }
    for each in &mut resolved.loops {
        each.unknowns.iter_mut().for_each(|symbol| *symbol = fresh[symbol]);
        each.residuals.iter_mut().for_each(&mut change);
    }
    for row in &mut resolved.mass {
        row.rate = fresh[&row.rate];
        row.terms.iter_mut().for_each(|(symbol, id)| {
            *symbol = fresh[symbol];
            change(id);
        });
        change(&mut row.right);
    }
    for block in &mut resolved.blocks {
        block.members.iter_mut().for_each(|symbol| *symbol = fresh[symbol]);
        block.rows.iter_mut().flatten().for_each(|entry| change(&mut entry.1));
    }
    resolved.roots.iter_mut().for_each(change);
    (resolved, numbered)
}

/// Returns the matrices of cycles that contain rates, in terms of states, inputs and the unknowns of loops.
fn rate_blocks(exprs: &mut Exprs, resolved: &Resolved) -> Vec<RateBlock> {
    let mut states: FxHashMap<SymbolId, u32> = FxHashMap::default();
    for (state, root) in resolved.roots[..resolved.states].iter().enumerate() {
        if let Node::Symbol(symbol) = exprs.node(*root) {
            states.insert(*symbol, state as u32);
        }
    }
    let (mut values, mut known) = (FxHashMap::default(), FxHashMap::default());
    let mut behind: Vec<ExprId> = Vec::new();
    for block in &resolved.blocks {
        behind.extend(block.rows.iter().flatten().map(|entry| entry.1));
    }
    if behind.is_empty() {
        return Vec::new();
    }
    for (symbol, value) in &resolved.assignments {
        let value = exprs.substitute_on(&[*value], &mut known, |symbol| values.get(&symbol).copied())[0];
        values.insert(*symbol, value);
    }
    let mut entries = exprs
        .substitute_on(&behind, &mut known, |symbol| values.get(&symbol).copied())
        .into_iter();
    let mut block_of = |block: &LoopBlock| RateBlock {
        states: block.members.iter().map(|symbol| states.get(symbol).copied()).collect(),
        rows: block
            .rows
            .iter()
            .map(|row| row.iter().map(|entry| entry.0 as u32).zip(entries.by_ref()).collect())
            .collect(),
    };
    resolved.blocks.iter().map(&mut block_of).collect()
}

/// Returns the equations with only the names that make them shorter.
fn fewest_names(
    exprs: &mut Exprs,
    resolved: &Resolved,
    mut names: Vec<SymbolId>,
    shortening: &mut Shortening,
) -> Resolved {
    let is_tried = shortening.is_read() && names.len() <= TRIED;
    let mut with = |exprs: &mut Exprs, names: &[SymbolId]| {
        let names: FxHashSet<SymbolId> = names.iter().copied().collect();
        let named = inlined(exprs, resolved, |symbol| !names.contains(&symbol));
        reduced(exprs, named, shortening)
    };
    let mut best = with(exprs, &names);
    let Some(mut length) = length_of(exprs, &best).filter(|_| is_tried) else {
        return best;
    };
    for name in names.clone() {
        let fewer: Vec<SymbolId> = names.iter().copied().filter(|other| *other != name).collect();
        let attempt = with(exprs, &fewer);
        if let Some(shorter) = length_of(exprs, &attempt).filter(|found| *found <= length) {
            (names, best, length) = (fewer, attempt, shorter);
        }
    }
    best
}

/// Returns the number of characters of all equations, including names of assignments; `None` if they are too large to be written.
fn length_of(exprs: &Exprs, resolved: &Resolved) -> Option<usize> {
    let equations = resolved.states + resolved.outputs;
    let all: Vec<ExprId> = resolved.roots[..equations]
        .iter()
        .chain(resolved.assignments.iter().map(|entry| &entry.1))
        .chain(resolved.loops.iter().flat_map(|each| &each.residuals))
        .copied()
        .collect();
    let sizes = exprs.written_sizes(&all);
    if all.iter().any(|id| sizes[id] > LARGE) {
        return None;
    }
    let names = resolved.assignments.iter().map(|entry| named_length(exprs, entry.0));
    Some(all.iter().map(|id| text(exprs, *id).len()).sum::<usize>() + names.sum::<usize>())
}

/// Returns the assignments that are worth a name: used more than once, and longer than a product.
fn worth_naming(exprs: &Exprs, resolved: &Resolved) -> Vec<SymbolId> {
    let mut uses: FxHashMap<SymbolId, usize> = FxHashMap::default();
    let equations = resolved.states + resolved.outputs;
    let all = resolved
        .assignments
        .iter()
        .map(|entry| entry.1)
        .chain(resolved.loops.iter().flat_map(|each| each.residuals.iter().copied()))
        .chain(resolved.roots[..equations].iter().copied());
    for id in all {
        for symbol in exprs.symbols_of(&[id]) {
            *uses.entry(symbol).or_default() += 1;
        }
    }
    let values: Vec<ExprId> = resolved.assignments.iter().map(|entry| entry.1).collect();
    let sizes = exprs.written_sizes(&values);
    resolved
        .assignments
        .iter()
        .filter(|(symbol, value)| uses.get(symbol).copied().unwrap_or(0) > 1 && sizes[value] > 5)
        .map(|entry| entry.0)
        .collect()
}

/// Writes every expression in the shorter of its two forms: as built, and over one denominator in lowest terms.
fn reduced(exprs: &mut Exprs, mut resolved: Resolved, shortening: &mut Shortening) -> Resolved {
    let equations = resolved.states + resolved.outputs;
    let roots = resolved.roots[..equations].iter_mut();
    let values = resolved.assignments.iter_mut().map(|entry| &mut entry.1);
    let residuals = resolved.loops.iter_mut().flat_map(|each| &mut each.residuals);
    for id in roots.chain(values).chain(residuals) {
        *id = shortening.shortest(exprs, *id);
    }
    resolved
}

/// Returns A..F of equations that turn out to be affine with constant coefficients: laws given by residuals may be linear.
fn linear_form(
    system: &StateSystem,
    exprs: &mut Exprs,
    derivatives: &[ExprId],
    outputs: &[ExprId],
) -> Option<LinearForm<ExprId>> {
    let inputs = system.inputs.iter().map(|input| input.symbol);
    let lists: [Vec<SymbolId>; 3] = [
        system.states.iter().map(|state| state.symbol).collect(),
        inputs.collect(),
        system.input_rates.clone(),
    ];
    let columns = lists.each_ref().map(|list| -> FxHashMap<SymbolId, u32> {
        let numbered = list.iter().zip(0..);
        numbered.map(|(symbol, column)| (*symbol, column)).collect()
    });
    let is_variable = |exprs: &Exprs, id: ExprId| matches!(exprs.node(id), Node::Symbol(symbol) if columns.iter().any(|list| list.contains_key(symbol)));
    let mut parts = |roots: &[ExprId]| {
        let mut matrices = columns.each_ref().map(|list| SparseMatrix {
            columns: list.len(),
            rows: Vec::with_capacity(roots.len()),
        });
        let mut offsets = Vec::with_capacity(roots.len());
        for root in roots {
            let form = exprs.affine(*root, &is_variable)?;
            for (matrix, list) in matrices.iter_mut().zip(&columns) {
                let mut row = Vec::new();
                for (atom, coefficient) in &form.terms {
                    let Node::Symbol(symbol) = exprs.node(*atom) else {
                        continue;
                    };
                    if let Some(column) = list.get(symbol) {
                        row.push((*column, *coefficient));
                    }
                }
                row.sort_by_key(|entry| entry.0);
                matrix.rows.push(row);
            }
            if form.terms.iter().any(|term| varies(exprs, term.1)) {
                return None;
            }
            offsets.push(form.rest);
        }
        for (_, coefficient) in matrices.iter_mut().flat_map(|matrix| matrix.rows.iter_mut().flatten()) {
            *coefficient = lowest_terms(exprs, *coefficient);
        }
        let offset = offsets.iter().any(|id| !exprs.is_zero(*id)).then_some(offsets);
        Some((matrices, offset))
    };
    let ([a, b, e], x_offset) = parts(derivatives)?;
    let ([c, d, f], y_offset) = parts(outputs)?;
    Some(LinearForm {
        a,
        b,
        c,
        d,
        e,
        f,
        x_offset,
        y_offset,
    })
}

/// Stores A..F in symbols and, if they are constant in time, in numbers.
fn set_form(system: &mut StateSystem, form: LinearForm<ExprId>) {
    let values: FxHashMap<SymbolId, BigRational> = system
        .parameters
        .iter()
        .flat_map(|parameter| &parameter.entries)
        .map(|entry| (entry.symbol, entry.value.clone()))
        .collect();
    let exprs = &system.exprs;
    let number = |id: &ExprId| {
        exprs
            .evaluate_exact(&[*id], &|symbol| values.get(&symbol).cloned())
            .map_or(f64::NAN, |list| to_f64(&list[0]))
    };
    let offset = |list: &Option<Vec<ExprId>>| list.as_ref().map(|list| list.iter().map(number).collect::<Vec<f64>>());
    let numeric = LinearForm {
        a: form.a.map(number),
        b: form.b.map(number),
        c: form.c.map(number),
        d: form.d.map(number),
        e: form.e.map(number),
        f: form.f.map(number),
        x_offset: offset(&form.x_offset),
        y_offset: offset(&form.y_offset),
    };
    let offsets = numeric.x_offset.iter().chain(&numeric.y_offset).flatten();
    if offsets.into_iter().all(|value| value.is_finite()) {
        system.matrices.numeric = Some(numeric);
    }
    system.matrices.symbolic = Some(form);
    system.equations.linear = true;
}

/// Returns the element responsible for a definition, with its location.
fn owner(model: &Model, blame: Blame) -> Option<(Arc<str>, Span)> {
    match blame {
        Blame::Element(id) => {
            let element = &model.graph.elements[id.index()];
            Some((model.element_name(id).into(), model.paths[element.path.index()].span))
        }
        Blame::Integral(index) => {
            let path = model.integrals[index].path;
            Some((model.path_name(path).into(), model.paths[path.index()].span))
        }
        Blame::Output(_) | Blame::Model => None,
    }
}

fn write(model: &Model, system: &mut StateSystem, exprs: Exprs, resolved: &Resolved) {
    system.exprs = exprs;
    system.equations.assignments = resolved
        .assignments
        .iter()
        .map(|(symbol, value)| Assignment {
            symbol: *symbol,
            value: *value,
        })
        .collect();
    system.equations.loops = resolved
        .loops
        .iter()
        .map(|each| AlgebraicLoop {
            unknowns: each.unknowns.clone(),
            residuals: each.residuals.clone(),
            linear: false,
            guesses: Vec::new(),
            owners: each.blames.iter().map(|blame| owner(model, *blame)).collect(),
            rated: each.rated.clone(),
        })
        .collect();
    system.equations.derivatives = resolved.roots[..resolved.states].to_vec();
    system.equations.output_values = resolved.roots[resolved.states..resolved.states + resolved.outputs].to_vec();
    system.equations.linear = false;
}

/// Names every subexpression that is used more than once, and adds the names to the numbered ones. A name is assigned
/// before its first use.
fn share(system: &mut StateSystem, numbered: &mut Vec<SymbolId>) {
    let mut exprs = std::mem::take(&mut system.exprs);
    let old = std::mem::take(&mut system.equations.assignments);
    let mut roots: Vec<ExprId> = old.iter().map(|assignment| assignment.value).collect();
    roots.extend(system.equations.residuals());
    roots.extend(system.right_sides());
    let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
    for id in exprs.reachable(&roots) {
        for child in exprs.node(id).children() {
            *uses.entry(child).or_default() += 1;
        }
    }
    for root in &roots {
        *uses.entry(*root).or_default() += 1;
    }
    let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    let mut assignments: Vec<Assignment> = Vec::new();
    let mut rewrite = |exprs: &mut Exprs, assignments: &mut Vec<Assignment>, root: ExprId| {
        for id in exprs.reachable_beyond(&[root], |id| replaced.contains_key(&id)) {
            let node: Node = exprs.node(id).clone();
            let rebuilt = exprs.rebuild(&node, &replaced);
            let now = if uses.get(&id).copied().unwrap_or(0) > 1 && is_worth_a_name(exprs, rebuilt) {
                // All names are numbered together at the end.
                let symbol = exprs.new_symbol("w", SymbolKind::Assignment);
                assignments.push(Assignment { symbol, value: rebuilt });
                numbered.push(symbol);
                exprs.symbol(symbol)
            } else {
                rebuilt
            };
            replaced.insert(id, now);
        }
        replaced[&root]
    };
    for assignment in old {
        let value = rewrite(&mut exprs, &mut assignments, assignment.value);
        assignments.push(Assignment {
            symbol: assignment.symbol,
            value,
        });
    }
    let residuals = system.equations.loops.iter_mut().flat_map(|each| &mut each.residuals);
    for id in residuals
        .chain(&mut system.equations.derivatives)
        .chain(&mut system.equations.output_values)
    {
        *id = rewrite(&mut exprs, &mut assignments, *id);
    }
    system.exprs = exprs;
    system.equations.assignments = assignments;
}
