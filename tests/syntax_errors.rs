//! Syntax errors as a person meets them: the source, what is said about it, and what still reaches the tree.

use lgm::diagnostic::Diagnostic;
use lgm::rendering::render;
use lgm::source::SourceMap;
use lgm::syntax::ast::{Ast, Item, Statement};
use lgm::syntax::{parse, parse_expression};

/// The source with the rendered errors and the parts that survived, one a line.
fn report(source: &str) -> String {
    let mut sources = SourceMap::default();
    let id = sources.add("model.lgm", source, None);
    let (tree, diagnostics) = parse(id, source);
    assert!(!diagnostics.is_empty(), "an error case without an error:\n{source}");
    check_codes(&diagnostics);
    format!(
        "{source}\n================ errors\n{}================ kept\n{}",
        trimmed(&render(&sources, &diagnostics, false)),
        survivors(&sources, &tree)
    )
}

/// The same for an expression alone.
fn report_expression(source: &str) -> String {
    let mut sources = SourceMap::default();
    let id = sources.add("--set", source, None);
    let (_, diagnostics) = parse_expression(id, source);
    assert!(!diagnostics.is_empty(), "an error case without an error:\n{source}");
    check_codes(&diagnostics);
    format!(
        "{source}\n================ errors\n{}",
        trimmed(&render(&sources, &diagnostics, false))
    )
}

fn check_codes(diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        let number: u32 = diagnostic.code.as_str()["LGM".len()..]
            .parse()
            .expect("a numbered code");
        assert!((1..100).contains(&number), "{} is not a syntax code", diagnostic.code);
        assert!(!diagnostic.labels.is_empty(), "{} has no place", diagnostic.message);
        // A label without words is not drawn, so the place would be lost.
        let silent = diagnostic.labels.iter().any(|label| label.message.is_empty());
        assert!(!silent, "{} has a label without words", diagnostic.message);
        assert!(diagnostic.help.is_some(), "{} has no help", diagnostic.message);
    }
}

fn trimmed(rendered: &str) -> String {
    rendered.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn survivors(sources: &SourceMap, tree: &Ast) -> String {
    let one_line = |span| sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
    let body = |body: &[Statement]| {
        body.iter()
            .map(|statement| format!("  {}\n", one_line(statement.span)))
            .collect::<String>()
    };
    let mut out = String::new();
    for item in &tree.items {
        match item {
            Item::Model(model) => out += &format!("model {}\n{}", model.name.text, body(&model.body)),
            Item::Component(component) => {
                out += &format!("component {}\n{}", component.name.text, body(&component.body));
            }
            Item::Element(element) => {
                out += &format!("element {}\n", element.name.text);
                for equation in &element.equations {
                    out += &format!("  {}\n", one_line(equation.span));
                }
            }
            Item::Modal(modal) => {
                out += &format!("modal {}\n", modal.name.text);
                for equation in &modal.equations {
                    out += &format!("  {}\n", one_line(equation.span));
                }
            }
            Item::Domain(domain) => out += &format!("{}\n", one_line(domain.span)),
            Item::Import(import) => out += &format!("{}\n", one_line(import.span)),
        }
    }
    out
}

macro_rules! error_cases {
    ($($name:ident: $source:expr;)*) => { $(
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), report($source));
        }
    )* };
}

error_cases! {
    missing_semicolon: "model M {\n  param m = 2 [kg]\n  node x : translational;\n  mass : Mass(m) x -> gnd\n  spring : Spring(3) x -> gnd\n}\n";
    missing_semicolon_on_one_line: "model M { param a = 1 param b = 2; SE -> A I1 : I(a); }\n";
    missing_semicolon_before_a_block: "model M {\n  const N = 3\n  for i in 1:N { r[i] : R(1); }\n}\n";
    missing_semicolon_in_an_element: "element E(k) : translational {\n  y = k*across\n  through = y;\n}\n";
    colon_for_equals: "model M { param m : 2; input F [N] : 3; }\n";
    equals_for_colon: "model M {\n  mass = Mass(2) x -> gnd;\n  node x = translational;\n  e = ref - y;\n}\n";
    walrus: "model M { param m := 2; signal s := m; }\n";
    two_equals_as_equation: "element E(k) : translational {\n  through == k*across;\n  y = 2;\n}\nmodel M { param m == 2; }\n";
    one_equals_as_comparison: "model M { param a = 1; signal s = if a = 2 then 1 else 3; if a = 1 { one A; } }\n";
    reserved_word_as_name: "model M {\n  node node : electrical;\n  param input = 3;\n  signal s = 2*state;\n  port : Resistor(1) a -> gnd;\n}\n";
    unit_on_an_expression: "model M { param m = 1/2*(3) [kg]; param w = 2*pi [rad/s]; param a = m [kg]; param ok = 2*pi*1 [rad/s]; }\n";
    unit_after_a_call: "model M { const N = 3; output y = across(mass) [m/s]; output z = across(mass)[N]; output u = across(mass) [N]; }\n";
    unit_without_brackets: "model M { param m = 2 kg; param F = 3 N; param y = 2 m2; }\n";
    unit_product_after_division: "model M { param c = 1 [J/kg.K]; param d = 2 [N*m]; param e = 3 [m^1.5]; param f = 4 [m^-1/2]; }\n";
    index_of_a_literal: "model M { param a = [1, 2][1]; input u[2] = 3; }\n";
    unclosed_parenthesis: "model M {\n  mass : Mass(m x -> gnd;\n  param a = 2*(3 + 4;\n  param b = [1, 2;\n  output y = sin(2*(a + 1);\n}\n";
    mismatched_brackets: "model M { param a = (1 + 2]; param b = [1, 2); param c = 1); output v = a]; }\n";
    unclosed_model: "model A {\n  param a = 1;\n  node x : electrical;\n\nmodel B {\n  param b = 2;\n}\n";
    unclosed_block: "model A {\n  const N = 2;\n  for i in 1:N {\n    r[i] : R(1);\n  param b = 2;\n}\nmodel B { param c = 1; }\n";
    unclosed_block_found_by_its_indentation: "model A {\n  for i in 1:2 {\n    if i > 1 {\n      r[i] : R(1);\n  }\n  param b = 2;\n}\n";
    one_brace_too_many: "model A {\n  const N = 2;\n  for i in 1:N {\n    r[i] : R(1);\n  }\n  }\n  param b = 2;\n}\nmodel B { param c = 1; }\n";
    one_brace_too_many_at_the_end: "model A { param a = 1; }\n}\n";
    missing_opening_brace: "model A\n  param a = 1;\n  node x : electrical;\n}\n";
    statement_outside: "param a = 1;\nx : Mass(2) a -> b;\nmodel M { param b = 2; }\nfoo\n";
    unclosed_string: "import \"lib.lgm;\nimport \"other.lgm\";\nmodel M { param a = 1; }\n";
    unclosed_comment: "model M { param a = 1; } /* and so on\n";
    numbers: "model M { param a = .5; param b = 5.; param c = 1.e3; param d = 2 [m^2.s]; param e = [1., .2]; }\n";
    foreign_signs: "model M { signal a = b && c || !d; signal e = x**2; if a <> b { one A; } }\n";
    foreign_letters: "model M { param ω = 2 [rad/s]; param Länge = 3; param R = 2 [Ω]; param A = 4 [m²]; param ж = 1; }\n";
    unknown_characters: "model M { param a = 1 $ 2; param b = 3; signal c = a@b; param d = 2 − 1; param e = 'x'; }\n";
    comparison_chain: "model M { signal s = 0 < a < b; signal t = a == b == c; }\n";
    several_parameters: "model M { param a = 1, b = 2; const N = 2, K = 3; param z = 4; }\n";
    missing_values: "model M { param a = ; signal s; output y = ; state z = int(), start = ; param b = sin(1, ); param c = 1 + ; }\n";
    missing_operator: "model M { param a = 2 b; param c = (a)(b); param d = a b; param e = 2(a + b); }\n";
    conditional_expressions: "model M { signal a = 1 + if b > 0 then 1 else 2; signal c = if a then 1; signal d = if a 1 else 2; signal e = if a then if b then 1 else 2 else 3; }\n";
    loops: "model M { for i = 1:3 { r[i] : R(1); } for i in 1 { r : R(1); } for 1:3 { one A; } for i in 1:N one B; param a = 1; }\n";
    two_else_blocks: "model M {\n  const N = 2;\n  if N > 1 { one A; } else { one B; } else { one C; }\n  param a = 1;\n}\nmodel K { one D; }\n";
    blocks: "model M { if a > 1 one A; if { one B; } else { one C; } else { one D; } experiment { stop: 5; points = 3 } param a = 1; }\n";
    experiment: "model M {\n  experiment {\n    stop = 5 [s]\n    points = 501;\n    plot [v];\n  }\n  param a = 1;\n}\n";
    instances: "model M {\n  a : Mass(m) x -> ;\n  b : x -> gnd;\n  c : Mass(m) x, gnd;\n  d : Mass m x -> gnd;\n  e : Mass(m) x -> gnd start = 1;\n  f : Mass(m) x -> y -> z;\n  g.h : Mass(m) x -> gnd;\n  mass Mass(m) x -> gnd;\n  r : Resistor 5 x -> gnd;\n}\n";
    chains: "model M { A -> ; A -> B C; -> A; A - B; A > B; A; }\n";
    heads: "model {\n  param a = 1;\n}\nmodel M(R) { param a = R; }\nelement E(k [N/m] { through = k*across; }\ncomponent C R { param a = 1; }\nelement Good(k) { through = k*across; }\n";
    elements: "element E(k) : translational {\n  through = ;\n  k*across;\n  param a = 2;\n  mode i;\n  through = k*across;\n}\nmodal B(k) : translational { port a; mode i; mode j; mass 2; stiffness = 3; }\n";
    domains: "domain d { across v [V]; across w [V]; through i A; effort = v; pseudo; }\ndomain e { across v; through i }\n";
    imports: "import foo.lgm;\nimport \"a.lgm\"\nimport;\nimport name;\nmodel M { param a = 1; }\n";
    ranges_of_other_functions: "model M { output y = product(i in 1:3, i); output z = sum(i in 1:3); output w = sum(1:3, i); }\n";
    deep_brackets: &format!("model M {{\n  param a = {}1{};\n  param b = 2;\n}}\n", "(((((((((\n".repeat(30), ")".repeat(270));
    many_faults: "model M {\n  param = 2;\n  param b 3;\n  node : electrical;\n  r1 : Resistor(2)) a -> b;\n  r2 : Resistor(3) a -> b;\n  output = across(r2);\n  output w = across(r2;\n  input u [V = 2;\n  state z int(w);\n  fine : Resistor(4) a -> gnd;\n}\n";
}

#[test]
fn each_line_with_an_unclosed_bracket_has_its_own_diagnostic() {
    let lines: String = (0..100)
        .map(|line| format!("  r{line} : Resistor(((2 a -> gnd;\n"))
        .collect();
    let mut sources = SourceMap::default();
    let text = format!("model M {{\n  node a : electrical;\n{lines}}}\n");
    let root = sources.add("model.lgm", text.as_str(), None);
    let (_, diagnostics) = parse(root, &text);
    let mut at: Vec<usize> = diagnostics
        .iter()
        .map(|diagnostic| sources.line_column(root, diagnostic.labels[0].span.start).0)
        .collect();
    at.sort_unstable();
    assert_eq!(at, (3..103).collect::<Vec<usize>>());
}

#[test]
fn expressions_of_the_command_line() {
    let cases = [
        "",
        "1 +",
        "2 kg",
        "1 2",
        "[1, 2",
        "a = 3",
        "1;",
        "(1))",
        "\"x",
        "1 [kg",
        "if a then b",
        "$",
    ];
    let reports: Vec<String> = cases.iter().map(|case| report_expression(case)).collect();
    insta::assert_snapshot!("expressions_of_the_command_line", reports.join("\n\n"));
}
