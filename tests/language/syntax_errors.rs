//! Syntax errors as users see them: the source, the messages, and the parts that still reach the tree.

use lgm::diagnostic::Diagnostic;
use lgm::rendering::render;
use lgm::source::SourceMap;
use lgm::syntax::ast::{Action, Ast, Item, Statement, StatementKind};
use lgm::syntax::{parse, parse_expression};

/// The source with the rendered errors and the remaining parts, one on each line.
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

/// The same for a single expression.
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
        // A label without text is not drawn, so its location would be lost.
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
    let statement = |statement: &Statement| match &statement.kind {
        StatementKind::When(when) => format!(
            "  when {} {{\n{}  }}\n",
            one_line(when.condition.span),
            actions(sources, &when.body)
        ),
        StatementKind::Every(every) => {
            let first = every
                .first
                .iter()
                .map(|first| format!(" from {}", one_line(first.1.span)));
            format!(
                "  every {}{} {{\n{}  }}\n",
                one_line(every.period.span),
                first.collect::<String>(),
                actions(sources, &every.body)
            )
        }
        _ => format!("  {}\n", one_line(statement.span)),
    };
    let body = |body: &[Statement]| body.iter().map(statement).collect::<String>();
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
                for mode in &element.modes {
                    out += &format!("  mode {}\n", mode.name.text);
                    for equation in &mode.law.equations {
                        out += &format!("    {}\n", one_line(equation.span));
                    }
                    for change in &mode.changes {
                        out += &format!("    {}\n", one_line(change.span));
                    }
                }
            }
            Item::Modal(modal) => {
                out += &format!("modal {}\n", modal.name.text);
                for equation in &modal.equations {
                    out += &format!("  {}\n", one_line(equation.span));
                }
            }
            Item::Domain(_) | Item::Import(_) | Item::Function(_) | Item::Const(_) => {
                out += &format!("{}\n", one_line(item.span()));
            }
        }
    }
    out
}

/// The assignments of a block, including both branches of a condition.
fn actions(sources: &SourceMap, body: &[Action]) -> String {
    let one = |action: &Action| match action {
        Action::Assign(assignment) => format!("    {}\n", sources.slice(assignment.span)),
        Action::If(choice) => {
            let branches = choice.branches.iter().map(|branch| actions(sources, &branch.1));
            format!(
                "    if\n{}    else\n{}",
                branches.collect::<String>(),
                actions(sources, &choice.otherwise)
            )
        }
    };
    body.iter().map(one).collect()
}

/// A unit after an instance, or before an assignment, is an index; it has no panic and no meaning.
#[test]
fn units_after_parts_of_the_graph_are_indices() {
    for text in [
        "model M { r [V] : R(1); }",
        "model M { a [m] -> b [kg]; }",
        "model M { when a { x [V] := 1; } }",
    ] {
        let mut sources = SourceMap::default();
        let source = sources.add("m.lgm", text, None);
        let (tree, diagnostics) = lgm::syntax::parse(source, text);
        assert!(diagnostics.is_empty() && tree.items.len() == 1, "{text}");
    }
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
    assignments_with_equals: "model M {\n  discrete hits = 0;\n  discrete z[2] = [0, 0];\n  when a > 1 { hits = hits + 1; z[1] := 2; }\n  every 1 [ms] { z[2] == 3; hits += 1; across(ball) = 0; hits := 4; }\n  output n = hits;\n}\n";
    assignments_outside_of_blocks: "model M {\n  hits := hits + 1;\n  across(ball) := 0;\n  z[1] := 2;\n  discrete n := 0;\n  one A, on := c;\n  d : Mass(m := 2) a -> b, start := 1;\n  signal s = if a := 1 then 2 else 3;\n  output y = hits;\n}\nelement E(k) : translational { through := k*across; }\n";
    faults_in_blocks: "model M {\n  when a > 0 {\n    x := (1 + ;\n    y := 2\n    z := 3;\n    param p = 1;\n    r : Resistor(1) a -> b;\n    if a { u := ; v := 4; } else { w = 5; }\n    when b { q := 1; }\n    s := 6;\n  }\n  every Ts { x := 1 }\n  output y = z;\n}\n";
    unclosed_blocks_of_assignments: "model M {\n  when a > 0 {\n    x := 1;\n\n  every Ts {\n    y := 2;\n  output z = x;\n}\nmodel K { one A; }\n";
    unclosed_brackets_in_blocks: "model M {\n  when a > 0 {\n    x := f(1\n    y := 2;\n    z[1] := 3;\n  }\n  output z = x;\n}\n";
    blocks_without_braces: "model M {\n  when a > 0\n    x := 1;\n  }\n  every Ts y := 2;\n  when b > 0 z := 2;\n  output z = x;\n}\n";
    heads_of_blocks: "model M {\n  when { x := 1; }\n  when a > { x := 1; }\n  when a = 1 { x := 1; }\n  when a := 1 { x := 1; }\n  every { x := 1; }\n  every 100 ms { x := 1; }\n  every Ts at 2 { x := 1; }\n  every Ts from { x := 1; }\n  every Ts, 2 { x := 1; }\n  every Ts from 2 { x := 1; }\n  when a { x := 1; } else { y := 1; }\n  output z = x;\n}\n";
    changes_of_modes: "element E(c) : electrical {\n  mode open { through = 0; }  when c -> shut\n  mode shut { across = 0; }   when not c -> open;  when across > -> open;\n  when c -> ;\n  when c -> open across = 1;\n  when c -> open, across := 1;\n  when c -> open, 2 = 1;\n  when c then open;\n  when c { x := 1; }\n  every Ts { x := 1; }\n  through = 3;\n}\n";
    faults_in_modes: "element E : electrical {\n  mode open {\n    through = ;\n    across = 1\n    across == 2;\n    port a;\n    across;\n    param p = 1;\n    through = 3;\n  }\n  when c -> shut;\n  mode { across = 0; }\n  mode shut\n    across = 4;\n  }\n  mode 2 { across = 0; }\n  state last { across = 5; }\n  node n;\n  through = 6;\n}\n";
    unclosed_modes: "element E : electrical {\n  mode open { through = 0;\n  when c -> shut;\n  mode shut {\n    across = 0;\n  mode other { across = 1; }\n}\nmodel M { one A; }\n";
    changes_without_a_mode: "element E : electrical {\n  when c -> open;\n  block open { through = 0; }\n  mode i;\n  mode shut { across = 0; };  when c -> open;\n}\n";
    modes_outside_of_elements: "model M {\n  mode open { through = 0; }  when c -> shut;  when d -> shut;\n  when c -> shut;\n  when a { mode shut { across = 0; } x := 1; }\n  mode { x = 0; }\n  output y = z;\n}\nmode open { through = 0; } when c -> shut;\nmodal B(k) : translational { mode i; mode open { through = 0; } when c -> shut; mass = 2; }\n";
    modulated_junctions: "model M {\n  one A = 1, B;\n  one A, on = c, B;\n  zero J, on = x > 0 : electrical;\n  one on = c;\n  one on, on = c;\n  node x : electrical, on = ;\n}\n";
    semicolons_behind_blocks: "model M {\n  when a { x := 1; };\n  every Ts { y := 1; ; };\n  if a { } ; else { }\n}\n";
    declarations_of_discrete_variables: "model M {\n  discrete;\n  discrete n;\n  discrete a = 1, b = 2;\n  discrete x [m] = 1;\n  param when = 1;\n  node every : electrical;\n  output y = discrete + 1;\n}\n";
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
