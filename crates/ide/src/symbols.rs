//! The declarations, foldable ranges and names of a text.

use crate::modes::{element_of, uses};
use crate::{Colored, Link, NameKind, Snapshot, Symbol};
use lgm_elaborate::analysis::{DefinitionId, DefinitionKind};
use lgm_source::Span;
use lgm_syntax::ast::{ElementMode, Expr, ImportTarget, Item, Statement, StatementKind};
use lgm_syntax::token::{self, Token};
use lgm_syntax::visit::{child_expressions, child_statements, statement_expressions, statements};

/// Returns the editor's kind of a definition.
pub(crate) fn kind_of(kind: DefinitionKind) -> NameKind {
    match kind {
        DefinitionKind::Model => NameKind::Model,
        DefinitionKind::Component => NameKind::Component,
        DefinitionKind::Element | DefinitionKind::Modal => NameKind::Element,
        DefinitionKind::Domain => NameKind::Domain,
        DefinitionKind::Formal
        | DefinitionKind::StructuralFormal
        | DefinitionKind::Parameter
        | DefinitionKind::Constant => NameKind::Parameter,
        DefinitionKind::Input => NameKind::Input,
        DefinitionKind::Output => NameKind::Output,
        DefinitionKind::Signal => NameKind::Signal,
        DefinitionKind::State | DefinitionKind::Discrete => NameKind::State,
        DefinitionKind::Node | DefinitionKind::Junction => NameKind::Node,
        DefinitionKind::Port => NameKind::Port,
        DefinitionKind::Instance => NameKind::Instance,
        DefinitionKind::Index => NameKind::Index,
        DefinitionKind::Function | DefinitionKind::Table => NameKind::Function,
    }
}

/// Returns a short description of a name: its definition, or its unit.
pub(crate) fn detail_of(snapshot: &Snapshot, id: DefinitionId) -> Option<String> {
    let (analysis, map) = (snapshot.analysis(), snapshot.map());
    let definition = analysis.get(id);
    if definition.kind == DefinitionKind::Function {
        let head = map.slice(definition.span).split_once(") =").map(|parts| parts.0);
        return head.and_then(|head| Some(format!("{})", &head[head.find('(')?..])));
    }
    let of = definition.of.map(|of| analysis.get(of).name.to_string());
    of.or_else(|| definition.unit.map(|unit| map.slice(unit).to_string()))
}

/// Returns the names of the models of the root text, in text order.
pub(crate) fn models(snapshot: &Snapshot) -> Vec<Span> {
    let definitions = snapshot.analysis().definitions.iter();
    let models = definitions.filter(|definition| definition.kind == DefinitionKind::Model);
    let mut spans: Vec<Span> = models
        .map(|model| model.name_span)
        .filter(|span| span.source == snapshot.root())
        .collect();
    spans.sort();
    spans
}

/// Returns the declarations of the root text: its items, with the declarations in each.
pub(crate) fn symbols(snapshot: &Snapshot) -> Vec<Symbol> {
    let analysis = snapshot.analysis();
    let ids = (0..analysis.definitions.len() as u32).map(DefinitionId);
    let items = ids.filter(|id| {
        let definition = analysis.get(*id);
        definition.within.is_none() && definition.name_span.source == snapshot.root()
    });
    let mut list: Vec<Symbol> = items
        .map(|id| {
            let members = analysis.members(id);
            let members = members
                .into_iter()
                .filter(|member| analysis.get(*member).kind != DefinitionKind::Index);
            let mut item = symbol(snapshot, id);
            item.children = members.map(|member| symbol(snapshot, member)).collect();
            let modes = element_of(snapshot, id).map_or(&[][..], |element| &element.modes);
            item.children.extend(modes.iter().map(mode_symbol));
            item.children.sort_by_key(|child| child.name_span);
            item
        })
        .collect();
    list.sort_by_key(|item| item.span);
    list
}

fn mode_symbol(mode: &ElementMode) -> Symbol {
    Symbol {
        name: mode.name.text.to_string(),
        detail: None,
        kind: NameKind::Mode,
        span: mode.span,
        name_span: mode.name.span,
        children: Vec::new(),
    }
}

fn symbol(snapshot: &Snapshot, id: DefinitionId) -> Symbol {
    let definition = snapshot.analysis().get(id);
    Symbol {
        name: definition.name.to_string(),
        detail: detail_of(snapshot, id),
        kind: kind_of(definition.kind),
        span: definition.span,
        name_span: definition.name_span,
        children: Vec::new(),
    }
}

/// Returns the meanings of the names in the root text.
pub(crate) fn colors(snapshot: &Snapshot) -> Vec<Colored> {
    let analysis = snapshot.analysis();
    let here = analysis
        .uses
        .iter()
        .filter(|entry| entry.span.source == snapshot.root());
    let colored = here.map(|entry| Colored {
        span: entry.span,
        kind: kind_of(analysis.get(entry.definition).kind),
        declares: entry.declares,
    });
    let modes = uses(snapshot, snapshot.root()).into_iter().map(|entry| Colored {
        span: entry.span,
        kind: NameKind::Mode,
        declares: entry.declares(),
    });
    let mut colored: Vec<Colored> = colored.chain(modes).collect();
    colored.sort_by_key(|entry| entry.span);
    colored
}

/// Returns the bodies of items, modes, blocks, loops and conditions, and comments of several lines.
pub(crate) fn folds(snapshot: &Snapshot) -> Vec<Span> {
    let Some(ast) = snapshot.compilation().program().ast(snapshot.root()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in &ast.items {
        found.push(item.span());
        if let Item::Element(element) = item {
            found.extend(element.modes.iter().map(|mode| mode.span));
        }
        let mut visit = |statement: &Statement| {
            if matches!(
                statement.kind,
                StatementKind::For(_)
                    | StatementKind::If(_)
                    | StatementKind::When(_)
                    | StatementKind::Every(_)
                    | StatementKind::Experiment(_)
            ) {
                found.push(statement.span);
            }
        };
        statements(body_of(item), &mut visit);
    }
    found.extend(comments(snapshot));
    let source = snapshot.map().get(snapshot.root());
    let line = |offset: u32| source.position(offset, lgm_source::Encoding::Utf8).0;
    found.retain(|span| line(span.start) < line(span.end));
    found.sort();
    found
}

/// Returns groups of consecutive comment lines, and comments of several lines.
fn comments(snapshot: &Snapshot) -> Vec<Span> {
    let text = &snapshot.map().get(snapshot.root()).text;
    let mut runs: Vec<Span> = Vec::new();
    let (mut at, mut open) = (0, false);
    for line in text.split_inclusive('\n') {
        let is_comment = line.trim_start().starts_with("//");
        let end = at + line.trim_end().len();
        match (is_comment, open, runs.last_mut()) {
            (true, true, Some(run)) => run.end = end as u32,
            (true, _, _) => runs.push(Span::new(snapshot.root(), at, end)),
            (false, ..) => {}
        }
        open = is_comment;
        at += line.len();
    }
    let lexed = token::lex(snapshot.root(), text);
    let blocks = lexed
        .comments
        .iter()
        .filter(|comment| text[comment.start..].starts_with("/*"));
    runs.extend(blocks.map(|comment| Span::new(snapshot.root(), comment.start, comment.end)));
    runs
}

/// Returns the statements of an item.
pub(crate) fn body_of(item: &Item) -> &[Statement] {
    match item {
        Item::Component(component) => &component.body,
        Item::Model(model) => &model.body,
        _ => &[],
    }
}

/// Returns the parts of the root text that contain a byte, the smallest first.
pub(crate) fn selections(snapshot: &Snapshot, at: u32) -> Vec<Span> {
    let root = snapshot.root();
    let text = &snapshot.map().get(root).text;
    let mut found = vec![Span::new(root, 0, text.len())];
    let holds = |span: Span| span.start <= at && at <= span.end;
    let tokens = token::lex(root, text).tokens;
    let words = tokens
        .iter()
        .filter(|token| matches!(token.1, Token::Name(_) | Token::Number(_) | Token::Text(_)));
    found.extend(
        words
            .map(|(start, _, end)| Span::new(root, *start, *end))
            .filter(|span| holds(*span)),
    );
    let items = snapshot
        .compilation()
        .program()
        .ast(root)
        .map_or(&[][..], |ast| &ast.items);
    for item in items.iter().filter(|item| holds(item.span())) {
        found.push(item.span());
        if let Item::Element(element) = item {
            let mode = element.modes.iter().find(|mode| holds(mode.span));
            mode.iter().for_each(|mode| within_mode(mode, &holds, &mut found));
        }
        within_body(body_of(item), &holds, &mut found);
    }
    found.sort_by_key(|span| (span.end - span.start, span.start));
    found.dedup();
    found
}

fn within_mode(mode: &ElementMode, holds: &dyn Fn(Span) -> bool, found: &mut Vec<Span>) {
    found.push(mode.span);
    for equation in mode.law.equations.iter().filter(|equation| holds(equation.span)) {
        found.push(equation.span);
        within_expression(&equation.left, holds, found);
        within_expression(&equation.right, holds, found);
    }
    for change in mode.changes.iter().filter(|change| holds(change.span)) {
        found.push(change.span);
        within_expression(&change.condition, holds, found);
        change
            .sets
            .iter()
            .for_each(|set| within_expression(&set.value, holds, found));
    }
}

fn within_body(body: &[Statement], holds: &dyn Fn(Span) -> bool, found: &mut Vec<Span>) {
    for statement in body.iter().filter(|statement| holds(statement.span)) {
        found.push(statement.span);
        statement_expressions(statement, &mut |expr| within_expression(expr, holds, found));
        child_statements(statement, &mut |body| within_body(body, holds, found));
    }
}

fn within_expression(expr: &Expr, holds: &dyn Fn(Span) -> bool, found: &mut Vec<Span>) {
    if holds(expr.span) {
        found.push(expr.span);
        child_expressions(expr, &mut |child| within_expression(child, holds, found));
    }
}

/// Returns quoted imports, with the texts that they refer to.
pub(crate) fn links(snapshot: &Snapshot) -> Vec<Link> {
    let items = snapshot
        .compilation()
        .program()
        .ast(snapshot.root())
        .map_or(&[][..], |ast| &ast.items);
    let quoted = items.iter().filter_map(|item| match item {
        Item::Import(import) => match &import.target {
            ImportTarget::Path(_, span) => Some(*span),
            ImportTarget::Module(_) => None,
        },
        _ => None,
    });
    let program = snapshot.compilation().program();
    let link = |span| program.imported(span).map(|target| Link { span, target });
    quoted.filter_map(link).collect()
}
