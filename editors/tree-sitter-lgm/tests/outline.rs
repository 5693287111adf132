//! The grammar that editors colour by reads what the compiler reads: the same items, statements and expressions, at the same places.

use lgm_source::SourceMap;
use lgm_syntax::ast::{Expr, Item, Statement, StatementKind};
use lgm_syntax::visit::{child_expressions, statement_expressions, statements};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use tree_sitter::{Node, Parser, Query, Tree};

fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_lgm::LANGUAGE.into()).unwrap();
    parser
}

fn tree(text: &str) -> Tree {
    parser().parse(text, None).unwrap()
}

/// All models of the repository, but for what was built.
fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != "node_modules" && !name.starts_with('.') {
            models(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "lgm") {
            found.push(path);
        }
    }
}

/// Models in the pages, between fences.
fn snippets(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            snippets(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&path).unwrap();
            for (number, part) in text.split("```lgm").skip(1).enumerate() {
                let (_, part) = part.split_once('\n').unwrap();
                let snippet = part.split("```").next().unwrap();
                found.push((format!("{} {number}", path.display()), snippet.to_string()));
            }
        }
    }
}

/// Every text of this repository that is a model, with where it stands.
fn texts() -> Vec<(String, String)> {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    models(root, &mut paths);
    paths.sort();
    let read = |path: &PathBuf| Some((path.display().to_string(), std::fs::read_to_string(path).ok()?));
    let mut texts: Vec<(String, String)> = paths.iter().filter_map(read).collect();
    snippets(&root.join("docs"), &mut texts);
    texts
}

/// The kind of a node of the grammar, and its bytes.
type Part = (String, usize, usize);

fn item_part(item: &Item) -> Part {
    let (kind, span) = match item {
        Item::Import(import) => ("import", import.span),
        Item::Domain(domain) => ("domain", domain.span),
        Item::Element(element) => ("element", element.span),
        Item::Modal(modal) => ("modal", modal.span),
        Item::Component(component) => ("component", component.span),
        Item::Model(model) => ("model", model.span),
        Item::Function(function) => ("function", function.span),
        Item::Const(constant) => ("constant_declaration", constant.span),
    };
    (kind.to_string(), span.start as usize, span.end as usize)
}

fn statement_part(statement: &Statement) -> Part {
    let kind = match statement.kind {
        StatementKind::Node(_) => "node_declaration",
        StatementKind::Zero(_) | StatementKind::One(_) => "junction_declaration",
        StatementKind::Port(_) => "port_declaration",
        StatementKind::Param(_) => "parameter_declaration",
        StatementKind::Const(_) => "constant_declaration",
        StatementKind::Input(_) => "input_declaration",
        StatementKind::Signal(_) => "signal_declaration",
        StatementKind::Output(_) => "output_declaration",
        StatementKind::State(_) => "state_declaration",
        StatementKind::Discrete(_) => "discrete_declaration",
        StatementKind::Table(_) => "table_declaration",
        StatementKind::When(_) => "when_statement",
        StatementKind::Every(_) => "every_statement",
        StatementKind::Instance(_) => "instance",
        StatementKind::Chain(_) => "bond_chain",
        StatementKind::For(_) => "for_statement",
        StatementKind::If(_) => "if_statement",
        StatementKind::Experiment(_) => "experiment",
        StatementKind::Faulty(_) => unreachable!("only texts without faults are compared"),
    };
    (
        kind.to_string(),
        statement.span.start as usize,
        statement.span.end as usize,
    )
}

fn body(item: &Item) -> &[Statement] {
    match item {
        Item::Component(component) => &component.body,
        Item::Model(model) => &model.body,
        _ => &[],
    }
}

/// Items and statements of the compiler's tree, in the order of the text.
fn compiled_outline(items: &[Item]) -> Vec<Part> {
    let mut parts: Vec<Part> = items.iter().map(item_part).collect();
    for item in items {
        statements(body(item), &mut |statement| parts.push(statement_part(statement)));
    }
    parts.sort_by_key(|part| (part.1, usize::MAX - part.2));
    parts
}

/// Items and statements of the grammar's tree. Ports in the body of an element are no statements to the compiler.
fn grammar_outline(tree: &Tree) -> Vec<Part> {
    let mut parts = Vec::new();
    every_node(tree.root_node(), &mut |node| {
        let in_law = |node: Node| {
            let holder = node.parent().and_then(|block| block.parent());
            holder.is_some_and(|holder| matches!(holder.kind(), "element" | "modal"))
        };
        let counts = matches!(
            node.kind(),
            "import"
                | "domain"
                | "element"
                | "modal"
                | "component"
                | "model"
                | "function"
                | "instance"
                | "bond_chain"
                | "experiment"
        ) || node.kind().ends_with("_statement")
            || (node.kind().ends_with("_declaration") && !in_law(node));
        if node.is_named() && counts {
            parts.push((node.kind().to_string(), node.start_byte(), node.end_byte()));
        }
    });
    parts.sort_by_key(|part| (part.1, usize::MAX - part.2));
    parts
}

fn every_node<'t>(node: Node<'t>, visit: &mut dyn FnMut(Node<'t>)) {
    visit(node);
    for at in 0..node.child_count() {
        every_node(node.child(at).unwrap(), visit);
    }
}

/// The bytes of every expression that the compiler has read in statements and laws.
fn compiled_expressions(items: &[Item]) -> Vec<(usize, usize)> {
    fn all(expr: &Expr, found: &mut Vec<(usize, usize)>) {
        found.push((expr.span.start as usize, expr.span.end as usize));
        child_expressions(expr, &mut |child| all(child, found));
    }
    let mut found = Vec::new();
    for item in items {
        statements(body(item), &mut |statement| {
            statement_expressions(statement, &mut |expr| all(expr, &mut found));
        });
        let equations = match item {
            Item::Element(element) => &element.equations[..],
            Item::Modal(modal) => &modal.equations,
            _ => &[],
        };
        for equation in equations {
            all(&equation.left, &mut found);
            all(&equation.right, &mut found);
        }
        if let Item::Element(element) = item {
            for mode in &element.modes {
                for equation in &mode.law.equations {
                    all(&equation.left, &mut found);
                    all(&equation.right, &mut found);
                }
                for change in &mode.changes {
                    all(&change.condition, &mut found);
                    for set in &change.sets {
                        all(&set.target, &mut found);
                        all(&set.value, &mut found);
                    }
                }
            }
        }
    }
    found
}

#[test]
fn every_model_has_the_outline_that_the_compiler_reads() {
    let (mut whole, mut expressions) = (0, 0);
    for (name, text) in texts() {
        let mut map = SourceMap::default();
        let source = map.add(&name, &*text, None);
        let (ast, diagnostics) = lgm_syntax::parse(source, &text);
        let tree = tree(&text);
        if !diagnostics.is_empty() {
            continue;
        }
        whole += 1;
        assert!(!tree.root_node().has_error(), "{name}: {}", tree.root_node().to_sexp());
        assert_eq!(compiled_outline(&ast.items), grammar_outline(&tree), "{name}");
        let mut nodes = HashSet::new();
        every_node(tree.root_node(), &mut |node| {
            nodes.insert((node.start_byte(), node.end_byte()));
        });
        for (start, end) in compiled_expressions(&ast.items) {
            expressions += 1;
            assert!(
                nodes.contains(&(start, end)),
                "{name}: no node for `{}`",
                &text[start..end]
            );
        }
    }
    assert!(
        whole > 150 && expressions > 5000,
        "{whole} texts, {expressions} expressions"
    );
}

#[test]
fn what_the_compiler_refuses_for_its_syntax_is_no_model_to_the_grammar_either() {
    let faulty = [
        "model M { node a b; }",
        "model M { param k = ; }",
        "model M { r : Resistor(1 a -> gnd; }",
        "model M {",
        "element E { across = ; }",
        "component C(x y) { }",
        "model M { output y = (1 + ; }",
        "model M { for i in 1 { } }",
        "model M { signal s; }",
        "model M { /* open }",
        "model M { a -> ; }",
        "model M { when { x := 1; } }",
        "model M { when a { x = 1; } }",
        "model M { every { x := 1; } }",
        "model M { discrete n; }",
        "model M { when a -> b; }",
        "element E { mode { } }",
        "element E { when a -> ; }",
        "element E { mode a { x := 1; } }",
        "import ;",
    ];
    for text in faulty {
        let mut map = SourceMap::default();
        let source = map.add("m.lgm", text, None);
        assert!(!lgm_syntax::parse(source, text).1.is_empty(), "{text}");
        assert!(tree(text).root_node().has_error(), "{text}");
    }
}

#[test]
fn queries_hold_and_know_every_function() {
    let language = tree_sitter_lgm::LANGUAGE.into();
    let queries = [
        tree_sitter_lgm::HIGHLIGHTS_QUERY,
        tree_sitter_lgm::FOLDS_QUERY,
        tree_sitter_lgm::LOCALS_QUERY,
        tree_sitter_lgm::INJECTIONS_QUERY,
        tree_sitter_lgm::INDENTS_QUERY,
    ];
    for text in queries {
        Query::new(&language, text).unwrap();
    }
    for name in lgm_elaborate::function_names() {
        let quoted = format!("\"{name}\"");
        assert!(
            tree_sitter_lgm::HIGHLIGHTS_QUERY.contains(&quoted),
            "no colour for the function `{name}`"
        );
    }
}

/// A fault in one statement leaves the others as they are.
#[test]
fn a_fault_stays_where_it_is() {
    let text =
        "model M {\n  node a : electrical;\n  r : Resistor(1 [ohm) a -> gnd;\n  c : Capacitor(2 [uF]) a -> gnd;\n}\n";
    let mut kinds = Vec::new();
    let tree = tree(text);
    every_node(tree.root_node(), &mut |node| {
        kinds.push((node.kind(), node.start_position().row))
    });
    assert!(
        kinds.contains(&("node_declaration", 1)),
        "{}",
        tree.root_node().to_sexp()
    );
    assert!(kinds.contains(&("instance", 3)), "{}", tree.root_node().to_sexp());
}
