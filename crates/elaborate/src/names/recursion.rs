//! Components that contain themselves, and models that would be too large, found before expansion.

use crate::program::{ItemRef, Program};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Expr, ExprKind, Instance, Item, Name, Statement, StatementKind};
use rustc_hash::FxHashMap;

/// Reports components that contain themselves unconditionally, and models that are certainly too large.
pub(crate) fn check(program: &Program, largest: u64, diagnostics: &mut Vec<Diagnostic>) {
    let mut weights = Weights {
        program,
        known: FxHashMap::default(),
        open: Vec::new(),
        circle: false,
        largest,
        diagnostics,
    };
    for (file_index, file) in program.files.iter().enumerate().filter(|entry| !entry.1.library) {
        for (item_index, item) in file.ast.items.iter().enumerate() {
            match item {
                Item::Component(_) => {
                    let at = ItemRef {
                        file: file_index as u32,
                        item: item_index as u32,
                    };
                    weights.component(at);
                }
                Item::Model(model) => weights.model(model),
                _ => {}
            }
        }
    }
}

struct Weights<'a, 'd> {
    program: &'a Program,
    /// The minimum number of parts of each component.
    known: FxHashMap<ItemRef, u64>,
    /// Components under examination, with the names through which they were reached.
    open: Vec<(ItemRef, &'a Name)>,
    circle: bool,
    largest: u64,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'a> Weights<'a, '_> {
    fn model(&mut self, model: &'a ast::Model) {
        let weight = self.statements(&model.body);
        if weight > self.largest && !self.circle {
            let diagnostic = Diagnostic::error(Code::LGM0129, too_large(self.largest))
                .label(model.name.span, format!("at least {weight} parts"))
                .help("reduce the number of iterations");
            self.diagnostics.push(diagnostic);
        }
    }

    fn component(&mut self, at: ItemRef) -> u64 {
        if let Some(weight) = self.known.get(&at) {
            return *weight;
        }
        let Item::Component(component) = self.program.item(at) else {
            return 0;
        };
        self.open.push((at, &component.name));
        let weight = self.statements(&component.body);
        self.open.pop();
        self.known.insert(at, weight);
        weight
    }

    fn statements(&mut self, statements: &'a [Statement]) -> u64 {
        let mut weight: u64 = 0;
        for statement in statements {
            weight = weight.saturating_add(match &statement.kind {
                StatementKind::Instance(instance) => self.instance(instance),
                StatementKind::For(block) => match (literal(&block.from), literal(&block.to)) {
                    (Some(from), Some(to)) => {
                        let rounds = u64::try_from(to.saturating_sub(from).saturating_add(1)).unwrap_or(0);
                        self.statements(&block.body).saturating_mul(rounds)
                    }
                    // The iterations are known later; recursion inside is already found now.
                    _ => {
                        self.statements(&block.body);
                        0
                    }
                },
                // A condition may end a recursion: nothing is certain inside.
                _ => 0,
            });
        }
        weight
    }

    fn instance(&mut self, instance: &'a Instance) -> u64 {
        let Some(at) = self.program.definition(&instance.kind.text, instance.kind.span.source) else {
            return 1;
        };
        if let Some(from) = self.open.iter().position(|open| open.0 == at) {
            self.circle = true;
            let mut chain: Vec<&str> = self.open[from..].iter().map(|open| &*open.1.text).collect();
            chain.push(&instance.kind.text);
            let declared = self.open[from].1.span;
            let diagnostic = Diagnostic::error(
                Code::LGM0130,
                format!("the component `{}` contains itself", instance.kind.text),
            )
            .label(instance.kind.span, "this instance closes the cycle")
            .label(declared, "declared here")
            .note(format!("the chain is {}", chain.join(" holds ")))
            .help("a component may contain itself only inside an `if` on a `const` that ends the recursion");
            self.diagnostics.push(diagnostic);
            return 0;
        }
        // Components nest in the source as deep as their definitions; this recursion is limited to 256 levels.
        if self.open.len() > 256 {
            return 1;
        }
        1 + self.component(at)
    }
}

/// Returns the message for a model with more than this number of elements.
pub(crate) fn too_large(largest: u64) -> String {
    format!("the expanded model has more than {} elements", counted(largest))
}

/// Returns a limit in readable form.
pub(crate) fn counted(limit: u64) -> String {
    match limit % 1_000_000 {
        0 if limit > 0 => format!("{} million", limit / 1_000_000),
        _ => limit.to_string(),
    }
}

fn literal(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Number(text, None) => text.parse().ok(),
        _ => None,
    }
}
