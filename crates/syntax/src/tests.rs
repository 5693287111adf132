//! The tree that the parser builds. Rendered diagnostics are in tests/language/syntax_errors.rs.

use super::ast::*;
use super::*;

fn units(unit: &Option<UnitExpr>) -> String {
    let Some(unit) = unit else { return String::new() };
    let factors = unit.factors.iter().map(|factor| match factor.exponent {
        (1, 1) => factor.name.text.to_string(),
        (n, 1) => format!("{}^{n}", factor.name.text),
        (n, d) => format!("{}^({n}/{d})", factor.name.text),
    });
    format!(" [{}]", factors.collect::<Vec<_>>().join(" "))
}

/// Returns an expression with every operation in parentheses, preceded by its name.
fn shape(expr: &Expr) -> String {
    let all = |list: &[Expr]| list.iter().map(shape).collect::<Vec<_>>().join(" ");
    let signed = |list: &[(bool, Expr)], sign: &str| {
        let parts = list.iter().map(|(marked, part)| match marked {
            true => format!("{sign}{}", shape(part)),
            false => shape(part),
        });
        parts.collect::<Vec<_>>().join(" ")
    };
    match &expr.kind {
        ExprKind::Number(text, unit) => format!("{text}{}", units(unit)),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Name(name) => name.text.to_string(),
        ExprKind::Member(base, member) => format!("{}.{}", shape(base), member.text),
        ExprKind::Index(base, indices) => format!("{}[{}]", shape(base), all(indices)),
        ExprKind::Call(function, arguments) => {
            let arguments = arguments.iter().map(|argument| match &argument.name {
                Some(name) => format!(" {}={}", name.text, shape(&argument.value)),
                None => format!(" {}", shape(&argument.value)),
            });
            format!("({}{})", function.text, arguments.collect::<String>())
        }
        ExprKind::Over(over) => format!(
            "({} {} {} {} {})",
            over.function.text,
            over.index.text,
            shape(&over.from),
            shape(&over.to),
            shape(&over.body)
        ),
        ExprKind::InUnit(inner, unit) => format!("{}{}", shape(inner), units(&Some(unit.clone()))),
        ExprKind::List(entries, unit) => format!("[{}]{}", all(entries), units(unit)),
        ExprKind::Sum(terms) => format!("(+ {})", signed(terms, "-")),
        ExprKind::Product(factors) => format!("(* {})", signed(factors, "/")),
        ExprKind::Power(parts) => format!("(^ {})", all(parts)),
        ExprKind::Negate(inner) => format!("(neg {})", shape(inner)),
        ExprKind::Not(inner) => format!("(not {})", shape(inner)),
        ExprKind::And(terms) => format!("(and {})", all(terms)),
        ExprKind::Or(terms) => format!("(or {})", all(terms)),
        ExprKind::Compare(comparison, left, right) => format!("({comparison:?} {} {})", shape(left), shape(right)),
        ExprKind::If(branches, otherwise) => {
            let branches = branches.iter().map(|(c, v)| format!(" {}: {};", shape(c), shape(v)));
            format!("(if{} else: {})", branches.collect::<String>(), shape(otherwise))
        }
        ExprKind::Bond(from, to) => format!("({} -> {})", shape(from), shape(to)),
        ExprKind::Missing => "missing".to_string(),
    }
}

fn shape_of(text: &str) -> String {
    let (expr, diagnostics) = parse_expression(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:#?}");
    assert_eq!(
        (expr.span.start as usize, expr.span.end as usize),
        (0, text.len()),
        "{text}"
    );
    shape(&expr)
}

#[test]
fn expressions_bind_as_the_language_says() {
    let cases = [
        ("a + b - c + 1e9", "(+ a b -c 1e9)"),
        ("a*b/c*d", "(* a b /c d)"),
        ("a + b*c^d", "(+ a (* b (^ c d)))"),
        ("-a^2", "(neg (^ a 2))"),
        ("-a*b", "(* (neg a) b)"),
        ("a*-b", "(* a (neg b))"),
        ("a - -b", "(+ a -(neg b))"),
        ("2^-1", "(^ 2 (neg 1))"),
        ("a^b^c", "(^ a b c)"),
        ("a^-b^c*d", "(* (^ a (neg (^ b c))) d)"),
        (
            "not a < b and c or d and not e",
            "(or (and (not (Less a b)) c) (and d (not e)))",
        ),
        ("a + 1 >= b*2", "(GreaterEqual (+ a 1) (* b 2))"),
        (
            "if a then b else if c then d else e + 1",
            "(if a: b; c: d; else: (+ e 1))",
        ),
        ("1/2 [kg]", "(* 1 /2 [kg])"),
        ("2*pi*1 [rad/s]", "(* 2 pi 1 [rad s^-1])"),
        ("[0, -m*g] [N]", "[0 (* (neg m) g)] [N]"),
        ("[[a, b], [c, d]]", "[[a b] [c d]]"),
        ("K[i + 1, j].x[2]", "K[(+ i 1) j].x[2]"),
        ("across(cell[2].c)[2]", "(across cell[2].c)[2]"),
        ("flow(J -> R1[2])", "(flow (J -> R1[2]))"),
        ("sum(i in 1:N, x[i]^2)", "(sum i 1 N (^ x[i] 2))"),
        ("root(in in a:b, in)", "(root in a b in)"),
        ("f(x, y = 2, vector)", "(f x y=2 vector)"),
        ("effort(T.in) + bar.port[1]", "(+ (effort T.in) bar.port[1])"),
        ("5 [N.m.s/rad]", "5 [N m s rad^-1]"),
        ("5 [J/(kg.K)^2]", "5 [J kg^-2 K^-2]"),
        ("5 [m^2.s^-1]", "5 [m^2 s^-1]"),
        ("5 [V/m^(1/2)/s]", "5 [V m^(-1/2) s^-1]"),
        ("5 [1/s]", "5 [1 s^-1]"),
    ];
    for (text, expected) in cases {
        assert_eq!(shape_of(text), expected, "{text}");
    }
    // Parentheses create no node, but they end a chain.
    assert_eq!(shape(&parse_expression(SourceId(0), "(a + b) + c").0), "(+ (+ a b) c)");
}

#[test]
fn every_snippet_of_the_language_parses() {
    let pages = concat!(
        include_str!("../../../docs/language.md"),
        include_str!("../../../docs/switching.md")
    );
    let mut count = 0;
    for part in pages.split("```lgm\n").skip(1) {
        let snippet = part.split("```").next().unwrap();
        let (tree, diagnostics) = parse(SourceId(0), snippet);
        assert!(diagnostics.is_empty(), "{snippet}\n{diagnostics:#?}");
        assert!(!tree.items.is_empty());
        count += 1;
    }
    assert!(count >= 12, "only {count} snippets found");
}

/// Features that section 9 and the text of other sections mention.
#[test]
fn the_fine_print_parses() {
    let text = "
        import \"parts.lgm\"; import name;
        element HardC(k1, k3) : bond { effort = k1*int(flow) + k3*int(flow)^3; }
        component Ladder(const N, R [ohm] = 5) { port p[N], q[2] vector, n : electrical; state s = int(1); }
        modal Pipe(rho) : fluid { mode i; drive across; a_type = rho; t_loss = 0; wave = root(z in i*pi:(i + 1)*pi, cos(z)); shape(x) = cos(x); }
        model M {
          zero J; one A : translational; one q[2] vector : translational; node a, b[3] : electrical, floating;
          node g[N][2] vector : translational; node v[N, 2] : electrical;
          param K = [[5, -1], [-1, 4]] [N/m]; param unset; param R [ohm]; input u = [0, 0] [N];
          R : R(R); output theta = theta; mass : Mass(m) x -> gnd, start = 1;
          beam : Cantilever(rho = 1, at = [0.4, 1.0]) a -> gnd, b -> gnd;
          arm : Transformer([[1], [2]]) w -> gnd, p -> gnd, start = 2, k = 3;
          bare : Se; a[i, j] : R(1) v[i, j] -> gnd;
          c : Filter() (p = a, n = gnd); SE -> A -> I1; cell[1].J -> A;
          if N > 1 { one B; } else if N == 1 { one C; } else { for k in 1:N { one D[k]; } }
          experiment { stop = 5 [s]; points = 501; plot = [v, y]; method = \"bdf\"; }
        }";
    let (tree, diagnostics) = parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let Some(Item::Model(model)) = tree.items.last() else {
        panic!("the model is the last item")
    };
    let arm = model.body.iter().find_map(|statement| match &statement.kind {
        StatementKind::Instance(instance) if &*instance.declared.name.text == "arm" => Some(instance),
        _ => None,
    });
    let arm = arm.expect("the transformer is in the tree");
    assert_eq!((arm.branches.len(), arm.attributes.len()), (2, 2));
    let brackets = model.body.iter().find_map(|statement| match &statement.kind {
        StatementKind::Instance(instance) if &*instance.declared.name.text == "a" => Some(&instance.declared.brackets),
        _ => None,
    });
    assert_eq!(brackets.expect("the array is in the tree")[0].len(), 2);
}

#[test]
fn laws_that_switch_and_blocks_parse() {
    let text = "
        element E(c) : electrical {
          port a, b;
          mode in { a.across = 0; b.through = c; }  when not c and a.across > 1 -> vector, a.across = -before(a.across), b.through = 0;
          ;
          mode vector { } when c -> in; when time > 1 -> in;
        }
        model M {
          discrete z[2] = [0, 0]; one A, B[2], on = c > 0; zero J : d, floating, on = not c;
          when initially { z[1] := 1; across(m)[2] := f(x); }
          every 1 [ms] { if a { } else if b { z[2] := 3; } else { z[1] := 4; ; } }
          every from from from { } every (from) from -from { } every T { }
          from : from(mode = 1) initially -> on, mode = conducting;
        }";
    let (tree, diagnostics) = parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let [Item::Element(element), Item::Model(model)] = &tree.items[..] else {
        panic!()
    };
    let modes = element.modes.iter().map(|mode| {
        let changes = mode.changes.iter().map(|change| {
            let sets = change.sets.iter();
            let sets = sets.map(|set| format!(" {}={}", shape(&set.target), shape(&set.value)));
            format!(
                "{} -> {}{}",
                shape(&change.condition),
                change.to.text,
                sets.collect::<String>()
            )
        });
        let changes: Vec<String> = changes.collect();
        format!(
            "{} {}: {}",
            mode.name.text,
            mode.law.equations.len(),
            changes.join("; ")
        )
    });
    assert_eq!(
        modes.collect::<Vec<_>>(),
        [
            "in 2: (and (not c) (Greater a.across 1)) -> vector a.across=(neg (before a.across)) b.through=0",
            "vector 0: c -> in; (Greater time 1) -> in",
        ]
    );
    let blocks = model.body.iter().filter_map(|statement| match &statement.kind {
        StatementKind::One(list) | StatementKind::Zero(list) => {
            let on = list
                .attributes
                .iter()
                .map(|attribute| format!(" {}", shape(&attribute.value)));
            Some(format!("{}{}", list.names.len(), on.collect::<String>()))
        }
        StatementKind::When(when) => Some(format!("when {} {}", when.is_initial(), actions(&when.body))),
        StatementKind::Every(every) => {
            let first = every
                .first
                .iter()
                .map(|first| format!(" {} {}", first.0.text, shape(&first.1)));
            let first: String = first.collect();
            Some(format!(
                "every {}{first} {}",
                shape(&every.period),
                actions(&every.body)
            ))
        }
        _ => None,
    });
    assert_eq!(
        blocks.collect::<Vec<_>>(),
        [
            "2 (Greater c 0)",
            "1 (not c)",
            "when true [z[1] := 1; (across m)[2] := (f x); ]",
            "every 1 [ms] [if a [] b [z[2] := 3; ] else [z[1] := 4; ]]",
            "every from from from []",
            "every from from (neg from) []",
            "every T []",
        ]
    );
}

/// Returns assignments with their two sides.
fn actions(body: &[Action]) -> String {
    let one = |action: &Action| match action {
        Action::Assign(assignment) => format!("{} := {}; ", shape(&assignment.target), shape(&assignment.value)),
        Action::If(choice) => {
            let branches = choice.branches.iter();
            let branches = branches.map(|(condition, body)| format!(" {} {}", shape(condition), actions(body)));
            format!("if{} else {}", branches.collect::<String>(), actions(&choice.otherwise))
        }
    };
    format!("[{}]", body.iter().map(one).collect::<String>())
}

#[test]
fn doc_comments_belong_to_what_follows() {
    let text = "/// One.\n///\n///  Two.\n//// plain\nmodel M {\n  param a = 1; /// of b\n  /// and more\n  param b = 2;\n  /// of nothing\n}";
    let (tree, diagnostics) = parse(SourceId(0), text);
    assert!(diagnostics.is_empty(), "{diagnostics:#?}");
    let Item::Model(model) = &tree.items[0] else { panic!() };
    assert_eq!(model.doc.as_deref(), Some("One.\n\n Two."));
    assert_eq!(model.body[0].doc, None);
    assert_eq!(model.body[1].doc.as_deref(), Some("of b\nand more"));
}

#[test]
fn faulty_statements_stay_in_the_tree_with_their_names() {
    let text = "model M {\n  spring : Spring(k = 2*) x.p -> gnd;\n  half :\n  a -> -> b.c;\n  param g = ) + h;\n  last : Mass(1) x -> gnd;\n}";
    let (tree, diagnostics) = parse(SourceId(0), text);
    assert_eq!(diagnostics.len(), 3, "{diagnostics:#?}");
    let Item::Model(model) = &tree.items[0] else { panic!() };
    let kept: Vec<String> = model
        .body
        .iter()
        .map(|statement| match &statement.kind {
            StatementKind::Faulty(Faulty { declared, kind, uses }) => {
                let word = |name: &Option<Name>| name.as_ref().map_or("_".to_string(), |name| name.text.to_string());
                let uses: Vec<String> = uses.iter().map(shape).collect();
                format!("{} : {} | {}", word(declared), word(kind), uses.join(" "))
            }
            StatementKind::Param(assigned) => format!("param {}", assigned.name.text),
            StatementKind::Instance(instance) => format!("instance {}", instance.declared.name.text),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        "spring : Spring | x.p gnd",
        "half : _ | a b.c",
        "param g",
        "_ : _ | h",
        "instance last",
    ];
    assert_eq!(kept, expected);
}

#[test]
fn all_names_that_are_not_reserved_can_be_declared() {
    for word in "across start mass in vector floating mode before on from initially drive through effort flow bond at modes port1".split(' ') {
        let text = format!(
            "model {word} {{ param {word} = {word}; node {word}[2] vector : {word}; {word} : {word}({word} = {word}) {word} -> {word}; for {word} in {word}:{word} {{ one {word}; }} }}"
        );
        let (_, diagnostics) = parse(SourceId(0), &text);
        assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    }
}
