//! Expressions as programs that `lgm/_sympy.py` runs: a list of nodes, each over nodes before it, as JSON.

use lgm_algebra::expr::{ExprId, Exprs, Node, Relation, SymbolId, SymbolKind};
use lgm_model::system::{SparseMatrix, StateSystem};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Expressions of one arena.
pub struct Program<'e> {
    exprs: &'e Exprs,
    /// Shared subexpressions, which are written where they are used.
    values: HashMap<SymbolId, ExprId>,
    places: HashMap<ExprId, usize>,
    nodes: Vec<Value>,
}

impl<'e> Program<'e> {
    /// A program over the expressions of a system, without their shared parts.
    pub fn new(system: &'e StateSystem) -> Program<'e> {
        let assignments = system.equations.assignments.iter();
        let values = assignments.map(|assignment| (assignment.symbol, assignment.value));
        Program::over(&system.exprs, values.collect())
    }

    /// A program over the expressions of an arena, with these values in place of symbols.
    pub fn over(exprs: &'e Exprs, values: HashMap<SymbolId, ExprId>) -> Program<'e> {
        Program {
            exprs,
            values,
            places: HashMap::new(),
            nodes: Vec::new(),
        }
    }

    /// The place of an expression, whose nodes are added. Depth costs no stack.
    pub fn place(&mut self, root: ExprId) -> usize {
        let mut pending = vec![root];
        while let Some(&id) = pending.last() {
            if self.places.contains_key(&id) {
                pending.pop();
                continue;
            }
            let node = self.exprs.node(id);
            let value = match node {
                Node::Symbol(symbol) => self.values.get(symbol).copied(),
                _ => None,
            };
            let children: Vec<ExprId> = match value {
                Some(value) => vec![value],
                None => node.children().collect(),
            };
            let missing: Vec<ExprId> = children
                .iter()
                .copied()
                .filter(|child| !self.places.contains_key(child))
                .collect();
            if !missing.is_empty() {
                pending.extend(missing);
                continue;
            }
            pending.pop();
            let place = match value {
                Some(value) => self.places[&value],
                None => {
                    let places: Vec<usize> = children.iter().map(|child| self.places[child]).collect();
                    self.nodes.push(written(self.exprs, node, &places));
                    self.nodes.len() - 1
                }
            };
            self.places.insert(id, place);
        }
        self.places[&root]
    }

    /// The places of the entries of a matrix, `[[row, column, place], ..]`, with its shape.
    pub fn matrix(&mut self, matrix: &SparseMatrix<ExprId>) -> Value {
        let mut entries = Vec::new();
        for (row, list) in matrix.rows.iter().enumerate() {
            for (column, entry) in list {
                entries.push(json!([row, column, self.place(*entry)]));
            }
        }
        json!({"shape": [matrix.rows.len(), matrix.columns], "entries": entries})
    }

    /// The JSON of the program and of what refers to it.
    pub fn finish(self, roots: Value) -> String {
        json!({"nodes": self.nodes, "roots": roots}).to_string()
    }
}

/// A node over the places of its children.
fn written(exprs: &Exprs, node: &Node, places: &[usize]) -> Value {
    match node {
        Node::Number(value) => json!(["number", value.numer().to_string(), value.denom().to_string()]),
        Node::Pi => json!(["pi"]),
        Node::Symbol(symbol) => {
            let info = exprs.symbol_info(*symbol);
            let kind = match info.kind {
                SymbolKind::Parameter => "parameter",
                SymbolKind::Input => "input",
                SymbolKind::InputRate => "rate",
                SymbolKind::State => "state",
                SymbolKind::Measure => "measure",
                SymbolKind::Assignment => "unknown",
                SymbolKind::Time => "time",
            };
            json!(["symbol", &*info.name, kind])
        }
        Node::Sum(_) => json!(["sum", places]),
        Node::Product(_) => json!(["product", places]),
        Node::Power(..) => json!(["power", places[0], places[1]]),
        Node::Call(function, _) => json!(["call", function.name(), places]),
        Node::Relation(relation, ..) => {
            let word = match relation {
                Relation::Less => "<",
                Relation::LessEqual => "<=",
                Relation::Greater => ">",
                Relation::GreaterEqual => ">=",
                Relation::Equal => "==",
                Relation::NotEqual => "!=",
                Relation::And => "and",
                Relation::Or => "or",
            };
            json!(["relation", word, places[0], places[1]])
        }
        Node::Not(_) => json!(["not", places[0]]),
        Node::If(..) => json!(["if", places[0], places[1], places[2]]),
    }
}
