//! The body of a function: named values that are used more than once, then the results.

use super::book::Book;
use super::formula::{Factor, Fraction, Known, Writer, cost, operands};
use crate::code::dialect::{Dialect, Operation, Text};
use crate::code::names::Scope;
use lgm_algebra::expr::{ExprId, Exprs, Function, Node, SymbolId, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The minimum number of operations that a separate name must save.
const WORTH: u32 = 4;

/// A formula of more operations is split, so that lines can be read.
const LONGEST: u32 = 60;

/// The number of divisions by one product of parameters from which its reciprocal gets a name.
const SHARED_DIVISIONS: u32 = 3;

/// The statements and results of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    /// Names of values in between, with the formulas for them.
    pub(crate) statements: Vec<(String, String)>,
    /// The results.
    pub(crate) values: Vec<String>,
    /// The results as conditions.
    pub(crate) conditions: Vec<String>,
    /// The symbols that are read.
    pub(crate) reads: FxHashSet<SymbolId>,
    /// The functions that are called, each once.
    pub(crate) operations: Vec<Operation>,
}

/// Prints roots over the symbols of a book; `definitions` are the values of symbols that are none of its arguments.
pub(crate) fn body(
    exprs: &Exprs,
    definitions: &FxHashMap<SymbolId, ExprId>,
    roots: &[ExprId],
    book: &Book,
    dialect: &dyn Dialect,
) -> Body {
    body_in(exprs, definitions, roots, (book, &mut book.locals()), dialect)
}

/// Prints roots in a scope with further names.
pub(crate) fn body_in(
    exprs: &Exprs,
    definitions: &FxHashMap<SymbolId, ExprId>,
    roots: &[ExprId],
    (book, scope): (&Book, &mut Scope),
    dialect: &dyn Dialect,
) -> Body {
    let has_powers = dialect.whole_power(&Text::atom("a"), 2).is_some();
    let parts = |id: ExprId| match exprs.node(id) {
        Node::Symbol(symbol) => definitions.get(symbol).copied().into_iter().collect(),
        _ => operands(exprs, id, has_powers),
    };
    let (order, uses) = ordered(roots, &parts);
    let mut body = Body::default();
    let mut writer = Writer {
        exprs,
        dialect,
        operations: Vec::new(),
        reciprocals: FxHashMap::default(),
    };
    let shared = match dialect.shares_reciprocals() {
        true => shared_denominators(exprs, definitions, &order),
        false => FxHashSet::default(),
    };
    // Each expression's text, whether it is a name for it, and the operations in it.
    let mut known: FxHashMap<ExprId, (Known, bool, u32)> = FxHashMap::default();
    for id in order {
        if let Node::Symbol(symbol) = exprs.node(id) {
            let Some(value) = definitions.get(symbol) else {
                body.reads.insert(*symbol);
                known.insert(id, ((Text::atom(book.name(*symbol)), false), true, 0));
                continue;
            };
            let (text, is_named, operations) = known[value].clone();
            if is_named || operations < 2 || uses[&id] < 2 {
                known.insert(id, (text, is_named, operations));
                continue;
            }
            let name = book.name(*symbol).to_string();
            declare(&mut body, dialect, &name, &text);
            known.insert(id, ((Text::atom(name), false), true, 0));
            continue;
        }
        let of = |part: ExprId| {
            let (text, is_named, _) = &known[&part];
            (text.clone(), *is_named)
        };
        if let Some(below) = denominator(exprs, id)
            && shared.contains(&below)
            && !writer.reciprocals.contains_key(&below)
        {
            let reciprocal = writer.reciprocal(&below, &of);
            let name = scope.name(&format!("inv_{}", suffix(exprs, &below, book)));
            body.statements.push((name.clone(), reciprocal.text));
            writer.reciprocals.insert(below, name);
        }
        let text = writer.text(id, &of);
        let inner: u32 = parts(id).iter().map(|part| known[part].2).sum();
        let operations = inner + cost(exprs, id);
        let saved = (uses[&id] - 1) * operations;
        let is_constant = matches!(exprs.node(id), Node::Number(_) | Node::Pi);
        if is_constant || (saved < WORTH && operations < LONGEST) || (uses[&id] == 1 && roots.contains(&id)) {
            known.insert(id, (text, false, operations));
            continue;
        }
        let name = scope.name(&suggested(exprs, id, book));
        declare(&mut body, dialect, &name, &text);
        known.insert(id, ((Text::atom(name), false), true, 0));
    }
    body.values = roots
        .iter()
        .map(|root| match &known[root].0 {
            (text, true) => dialect.as_number(text).text,
            (text, false) => text.text.clone(),
        })
        .collect();
    let condition = |root: &ExprId| match &known[root].0 {
        (text, true) => text.text.clone(),
        (text, false) => dialect.holds(text).text,
    };
    body.conditions = roots.iter().map(condition).collect();
    body.operations = writer.operations;
    body
}

/// The factors below the line of a product.
fn denominator(exprs: &Exprs, id: ExprId) -> Option<Vec<Factor>> {
    match exprs.node(id) {
        Node::Product(_) | Node::Power(..) => Some(Fraction::new(exprs, id).below).filter(|below| !below.is_empty()),
        _ => None,
    }
}

/// The products of parameters by which at least [`SHARED_DIVISIONS`] of these expressions divide.
fn shared_denominators(
    exprs: &Exprs,
    definitions: &FxHashMap<SymbolId, ExprId>,
    order: &[ExprId],
) -> FxHashSet<Vec<Factor>> {
    let is_parameter = |factor: &Factor| {
        let is_constant = |symbol: &SymbolId| {
            let is_parameter = exprs.symbol_info(*symbol).kind == SymbolKind::Parameter;
            is_parameter && !definitions.contains_key(symbol)
        };
        matches!(exprs.node(factor.base), Node::Symbol(symbol) if is_constant(symbol))
    };
    let mut counts: FxHashMap<Vec<Factor>, u32> = FxHashMap::default();
    for below in order.iter().filter_map(|id| denominator(exprs, *id)) {
        if below.iter().all(is_parameter) {
            *counts.entry(below).or_insert(0) += 1;
        }
    }
    counts.retain(|_, count| *count >= SHARED_DIVISIONS);
    counts.into_keys().collect()
}

/// The parameters of a denominator as the end of a name: `C`, `m_L`.
fn suffix(exprs: &Exprs, below: &[Factor], book: &Book) -> String {
    let symbols = below.iter().filter_map(|factor| match exprs.node(factor.base) {
        Node::Symbol(symbol) => Some(book.name(*symbol)),
        _ => None,
    });
    let names = symbols.map(|name| name.rsplit(['>', '.']).next().unwrap_or(name).to_string());
    names.collect::<Vec<_>>().join("_")
}

fn declare(body: &mut Body, dialect: &dyn Dialect, name: &str, known: &Known) {
    let value = match known.1 {
        true => dialect.as_number(&known.0).text,
        false => known.0.text.clone(),
    };
    body.statements.push((name.to_string(), value));
}

/// `sin_theta` for a function of one quantity; `s` for anything else.
fn suggested(exprs: &Exprs, id: ExprId, book: &Book) -> String {
    match exprs.node(id) {
        Node::Call(
            function @ (Function::Sin | Function::Cos | Function::Exp | Function::Abs | Function::Sqrt),
            list,
        ) => match exprs.node(list[0]) {
            Node::Symbol(symbol) if !book.name(*symbol).contains('.') => {
                format!("{}_{}", function.name(), book.name(*symbol))
            }
            _ => "s".to_string(),
        },
        _ => "s".to_string(),
    }
}

/// All parts of some roots, each after its own parts, in the order in which a reader meets them; and how often each is used.
fn ordered(roots: &[ExprId], parts: &dyn Fn(ExprId) -> Vec<ExprId>) -> (Vec<ExprId>, FxHashMap<ExprId, u32>) {
    let mut order = Vec::new();
    let mut uses: FxHashMap<ExprId, u32> = FxHashMap::default();
    for root in roots {
        let mut stack = vec![(*root, false)];
        while let Some((id, is_done)) = stack.pop() {
            if is_done {
                order.push(id);
                continue;
            }
            let count = uses.entry(id).or_insert(0);
            *count += 1;
            if *count > 1 {
                continue;
            }
            stack.push((id, true));
            stack.extend(parts(id).into_iter().rev().map(|part| (part, false)));
        }
    }
    (order, uses)
}
