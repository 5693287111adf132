//! Unnatural texts: deep, long, faulty, random.

use super::ast::*;
use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::time::{Duration, Instant};

/// Parses a text and drops its tree on a small stack, in reasonable time.
fn survives(text: String) -> usize {
    let thread = std::thread::Builder::new().stack_size(512 * 1024).spawn(move || {
        let started = Instant::now();
        let (tree, diagnostics) = parse(SourceId(0), &text);
        drop(tree);
        let (expr, _) = parse_expression(SourceId(0), &text);
        drop(expr);
        assert!(
            started.elapsed() < Duration::from_secs(8),
            "{:?} for {} bytes",
            started.elapsed(),
            text.len()
        );
        diagnostics.len()
    });
    thread.unwrap().join().expect("no panic and no overflow")
}

#[test]
fn deep_nesting_is_refused_before_a_tree_is_built() {
    let deep = 200_000;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
        ("not ", ""),
        ("2^-", ""),
        ("sin(", ")"),
        ("", ".a"),
        ("", "[1]"),
        ("a[", "]"),
        ("(if a then b else ", ")"),
        ("-(", ")"),
        ("1 [(", ")"),
        ("if a { ", "}"),
        ("when a { ", "}"),
        ("when a { if b { ", "}"),
        ("mode a { ", "}"),
        ("for i in 1:2 {", "}"),
        ("model M {", "}"),
    ] {
        for text in [
            format!("model M {{ param a = {}1{}; }}", open.repeat(deep), close.repeat(deep)),
            format!("model M {{ {}one A;{} }}", open.repeat(deep), close.repeat(deep)),
            format!("x{}", close.repeat(deep)),
            format!("model M {{ output a = x{}; }}", close.repeat(deep)),
            open.repeat(deep),
        ] {
            survives(text);
        }
    }
    let nested = |levels: usize| {
        format!(
            "model M {{ param a = {}1{}; }}",
            "(1 + ".repeat(levels),
            ")".repeat(levels)
        )
    };
    assert_eq!(survives(nested(254)), 0);
    assert_eq!(survives(nested(256)), 1);
    // The depth of a tree matters, and not the length of a text.
    let actions = format!("model M {{ when a {{ {} }} }}", "x := -a.b[-1] + y; ".repeat(2000));
    assert_eq!(survives(actions), 0);
    let wide = format!(
        "model M {{ param a = [{}0]; }}",
        "-a.b[-1]^-2, not -a < -b, ".repeat(2000)
    );
    assert_eq!(survives(wide), 0);
}

#[test]
fn long_lines_are_flat_and_fast() {
    let chain = |sign: &str| format!("model M {{ param a = a{}; }}", format!(" {sign} a").repeat(250_000));
    for sign in ["+", "-", "*", "/", "^", "and", "or", ","] {
        survives(chain(sign));
    }
    let (tree, diagnostics) = parse(SourceId(0), &chain("+"));
    assert!(diagnostics.is_empty());
    let Item::Model(model) = &tree.items[0] else { panic!() };
    let StatementKind::Param(param) = &model.body[0].kind else {
        panic!()
    };
    assert!(matches!(&param.value.as_ref().unwrap().kind, ExprKind::Sum(terms) if terms.len() == 250_001));
    assert_eq!(survives(format!("model M {{ {} }}", "param a = 1; ".repeat(80_000))), 0);
    assert_eq!(survives(format!("model M {{ a{}; }}", " -> a".repeat(200_000))), 0);
    let branches = " else if a then b".repeat(50_000);
    assert_eq!(
        survives(format!("model M {{ param a = if a then b{branches} else c; }}")),
        0
    );
    let blocks = " else if a { one B; }".repeat(50_000);
    assert_eq!(survives(format!("model M {{ if a {{ }}{blocks} else {{ }} }}")), 0);
}

#[test]
fn many_faults_take_linear_time() {
    for part in [
        "param a = ; ",
        "x ",
        "a b ",
        "( ",
        ") ",
        "} ",
        "{ ",
        "model ",
        "if { ",
        "else ",
        "for ",
        "[ ",
        "\n}\n",
        "\nmodel\n",
        "\na : b",
        "\nmodel A {\n",
        "\n  for i in 1:2 {\n",
        "\n a[1 ",
        "\" ",
        "/* ",
        "\u{e9} ",
        "5. ",
        "; ",
        "import x ",
        "\nif a {",
        "\nelse {",
        "param a = 1\n",
        "\na : b(",
        "one A ",
        "if a { one B; } ",
        "if a {\n} ",
        "sum(i in ",
        "a = b ",
        "a[[[[[[\n",
        "when a { ",
        "\nwhen a {\n",
        "when a -> b ",
        "\nwhen a -> b",
        "when a\nb := 1; ",
        "every ",
        "every a from ",
        "\nevery a from",
        "mode ",
        "mode a ",
        "mode a { ",
        "\nmode a\n",
        "\nmode a {\n",
        "mode a { b = 1 } ",
        "mode { } when a -> b; ",
        ":= ",
        "a := 1 ",
        "\na := f(1",
        "a = 1; ",
        "f(a := 1, ",
        "one a, on = b, ",
        "discrete ",
    ] {
        survives(format!("model M {{ {} }}", part.repeat(30_000)));
        survives(format!("model M {{ + ; {} }}", part.repeat(30_000)));
        survives(format!("model M {{ when a {{ + ; {} }} }}", part.repeat(30_000)));
        survives(format!("element M {{ + ; {} }}", part.repeat(30_000)));
        survives(format!("element M {{ mode a {{ + ; {} }} }}", part.repeat(30_000)));
        survives(part.repeat(30_000));
    }
}

const WORDS: &str = "import domain element component modal model node zero one param const input output signal state port \
    experiment discrete when every from for if then else and or not in vector a b mode kg 1 2.5 .5 5. \"x\" \" ' \
    + - * / ^ = == != < <= -> . , : ; ; ; ( ) [ ] { } \n /// // /* */ \u{3c9} $ := &&";

fn words() -> Vec<&'static str> {
    WORDS.split(' ').collect()
}

/// Checks that every location in a tree or a diagnostic is in the text, at a character boundary.
fn in_bounds(text: &str) {
    let (tree, diagnostics) = parse(SourceId(0), text);
    for diagnostic in &diagnostics {
        for label in &diagnostic.labels {
            let range = label.span.start as usize..label.span.end as usize;
            assert!(text.get(range.clone()).is_some(), "{range:?} in {text:?}");
            assert!(!label.message.is_empty(), "{diagnostic:?}");
        }
        assert!(diagnostic.help.is_some(), "{diagnostic:?}");
    }
    // Dropping part of the text is never silent.
    if tree.items.is_empty() && diagnostics.is_empty() {
        let lexed = token::lex(SourceId(0), text);
        assert!(
            lexed.tokens.iter().all(|(_, token, _)| *token == Token::Semicolon),
            "{text:?}"
        );
    }
    parse_expression(SourceId(0), text);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        // The texts are the same in every run.
        rng_seed: RngSeed::Fixed(20_261_121),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_parsed_without_panic(text in any::<String>()) {
        in_bounds(&text);
    }

    #[test]
    fn any_words_are_parsed_without_panic(words in prop::collection::vec(prop::sample::select(words()), 0..120)) {
        in_bounds(&words.join(" "));
        in_bounds(&words.concat());
        in_bounds(&format!("model M {{ {} }}", words.join(" ")));
        in_bounds(&format!("model M {{ when a {{ {} }} }}", words.join(" ")));
        in_bounds(&format!("element M {{ {} }}", words.join(" ")));
        in_bounds(&format!("element M {{ mode a {{ {} }} }}", words.join(" ")));
    }

    /// Tests texts with one character removed or one word added, as during typing.
    #[test]
    fn a_damaged_model_is_parsed_without_panic(at in 0..1000usize, length in 0..6usize, word in prop::sample::select(words())) {
        let pages = concat!(include_str!("../../../docs/language.md"), include_str!("../../../docs/switching.md"));
        let good: String = pages.split("```lgm\n").skip(1).filter_map(|part| part.split("```").next()).collect();
        let start = at * (good.len() - 10) / 1000;
        if good.is_char_boundary(start) && good.is_char_boundary(start + length) {
            in_bounds(&format!("{} {word} {}", &good[..start], &good[start + length..]));
        }
    }
}
