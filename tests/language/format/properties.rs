//! Properties for every text: nothing is lost, the tree is unchanged, formatting is idempotent, and time is linear.

use crate::support::cases;

use super::{assert_harmless, formatted, tree, words};
use cases::cases;
use lgm::source::SourceId;
use lgm::syntax::{format, parse};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Every `.lgm` file below a folder of the repository.
fn models_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in entries {
        if path.is_dir() {
            models_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "lgm") {
            found.push(path);
        }
    }
}

static CORPUS: LazyLock<Vec<String>> = LazyLock::new(corpus);

/// Handwritten texts without errors: the snippets of the language page, the examples, the tests' models.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = concat!(
        include_str!("../../../docs/language.md"),
        include_str!("../../../docs/switching.md")
    );
    let snippets = pages.split("```lgm\n").skip(1);
    let mut texts: Vec<String> = snippets
        .map(|part| part.split("```").next().unwrap().to_string())
        .collect();
    let mut files = Vec::new();
    for folder in ["examples", "tests", "stdlib"] {
        if root.join(folder).is_dir() {
            models_below(&root.join(folder), &mut files);
        }
    }
    files.sort();
    texts.extend(files.iter().filter_map(|file| std::fs::read_to_string(file).ok()));
    texts.retain(|text| parse(SourceId(0), text).1.is_empty());
    texts
}

#[test]
fn what_people_wrote_stays_the_same_model() {
    assert!(CORPUS.len() > 40, "only {} texts", CORPUS.len());
    for text in CORPUS.iter() {
        assert_harmless(text);
        assert_harmless(&text.replace('\n', "\r\n"));
    }
}

/// Possible separators of two words.
const BETWEEN: &[&str] = &[
    " ",
    "  ",
    "      ",
    "\t",
    "\n",
    "\n",
    "\r\n",
    "\n\n",
    "\n   \n\n    ",
    " /* between */ ",
    "/**/",
    " /* over\n     lines */ ",
    " // at the end  \n",
    "\n  // alone\n",
    "\n\n// a\n// b\n\n",
    " /// documents\n",
    "\n/// documents more \t\n  ///\n",
];

/// The words of a text with other whitespace and comments between them, selected by one number for each word.
fn respaced(text: &str, choices: &[u8]) -> String {
    let words = words(text);
    let mut result = String::new();
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).map_or("", |before| &words[before]);
        let choice = choices[index % choices.len()] as usize;
        let touch = |word: &str| word.starts_with(['(', ')', '[', ']', ',', ';', '{', '}']);
        // A bracket after whitespace may be parsed as a unit, and a comment must end.
        let between = match () {
            _ if before.starts_with("//") => "\n",
            _ if word == "[" && !before.starts_with(['(', '[', '=', ',']) => match choice % 2 {
                0 => "",
                _ => " ",
            },
            _ if choice < 40 && (touch(before) || touch(word)) => "",
            _ if choice < 150 => " ",
            _ => BETWEEN[choice % BETWEEN.len()],
        };
        result.push_str(between);
        result.push_str(word);
    }
    result
}

const NAMES: &[&str] = &[
    "a",
    "bb",
    "in",
    "vector",
    "spring",
    "body_mass",
    "a_rather_long_name_of_it",
    "e5",
    "x1",
];
const VALUES: &[&str] = &[
    "1",
    "2 [kg]",
    "-a^-2",
    "a - -b*c/d",
    "f(x, y = [1, 2] [N])[1]",
    "if a < b and not c then 1 else if d then 2 else sum(i in 1:N, v[i + 1])",
    "[[1, -2, 3],\n [4, 5, 6]] [N.m/(rad.s^2)]",
    "[[cos(theta)*a_long_factor, sin(theta)*a_long_factor], [-sin(theta)*a_long_factor, cos(theta)*a_long_factor]]",
    "flow(J -> R1) + bar.port[1] + 3 [1 . 1] + 2 [1 .e5]",
    "first_of_many_terms*2 + second_of_many_terms*3 + third_of_many_terms*4 - fourth_of_many_terms*5 + the_last",
];
const BLANKS: &[&str] = &["", " ", " ", "  ", "   ", "      "];
const ENDS: &[&str] = &[
    "\n",
    "\n",
    "\n",
    "\n\n",
    " ",
    "  ",
    "   // end\n",
    "      // end\n",
    " // end\n                   // and on\n",
    " /* x */\n",
    " /* x */ ",
    "\n// alone\n",
    ";\n",
];

/// The number of kinds of statements.
const KINDS: usize = 18;

/// A statement with whitespace selected by numbers, which also select its parts.
fn statement(choices: &[usize; 8]) -> String {
    let name = |at: usize| NAMES[choices[at] % NAMES.len()];
    let blank = |at: usize| BLANKS[choices[at] / 16 % BLANKS.len()];
    let value = VALUES[choices[3] % VALUES.len()];
    let (b1, b2, b3) = (blank(1), blank(2), blank(4));
    match choices[0] % KINDS {
        0..4 => format!(
            "{}{b1}: {}({value}){b2} {}{b3} -> {};",
            name(1),
            name(2),
            name(4),
            name(5)
        ),
        4 => format!(
            "{}{b1}: {}({value}){b2} (p = {value}){b3} {} -> b, c -> d, start = 1;",
            name(1),
            name(2),
            name(4)
        ),
        5 => format!("{}{b1}-> {}{b2}-> {};", name(1), name(2), name(4)),
        6 => format!("param {}{b1}={b2}{value};", name(1)),
        7 => format!("param {}{b1} [kg]{b2}= 1;", name(1)),
        8 => format!("output {}{b1}={b2}{value};", name(1)),
        9 => format!("node {}[2]{b1} vector{b2} : translational,{b3}floating;", name(1)),
        10 => format!("for {} in 1:{b1}3 {{{b2} {}{b3} : R(1); }}", name(1), name(2)),
        11 => format!("if a{b1} {{{b2}one x;{b3} one y; }} else{b1} {{ {} -> x; }}", name(1)),
        12 => format!("experiment {{{b1}stop = {value};{b2}points = 5;{b3}}}"),
        13 => format!("discrete {}{b1}={b2}{value};", name(1)),
        14 => format!("when a > b{b1} {{{b2}{} := {value};{b3}{} := 1; }}", name(1), name(2)),
        15 => format!(
            "every {}{b1} from{b2} -{} {{\n{}{b1} := {value};{b3}if a {{ c{b2}:= 1; }}}}",
            name(1),
            name(2),
            name(4)
        ),
        16 => format!("one {}{b1},{b2} on = a <{b3} b;", name(1)),
        _ => format!("{}{b1}: {}{b2};", name(1), name(2)),
    }
}

/// A mode with its changes, with whitespace selected by numbers.
fn mode(choices: &[usize; 8], end: &str) -> String {
    let name = |at: usize| NAMES[choices[at] % NAMES.len()];
    let blank = |at: usize| BLANKS[choices[at] / 16 % BLANKS.len()];
    let (b1, b2, b3, b4) = (blank(1), blank(2), blank(3), blank(4));
    let (between, value) = (ENDS[choices[5] % ENDS.len()], VALUES[choices[6] % 5]);
    let law = match choices[0] % 3 {
        0 => format!("{b2}across = 0;{b3}"),
        1 => format!("{b2}a.across = {value};{b3}b.through = 0;"),
        _ => format!("\n{b2}a.across = {value};{end}{b3}b.through = 0;\n"),
    };
    let first = format!("mode {}{b1}{{{law}}}", name(1));
    let change = |at: usize| format!("when across >{b3} {}{b4} -> {};", name(at), name(at + 1));
    let set = format!("when {value} > 0{b4} -> {}, across{b1}= -across;", name(2));
    match choices[7] % 6 {
        0 => first,
        1 => format!("{first}{b4}{}", change(1)),
        2 => format!("{first}{b4}{}{between}{set}", change(2)),
        3 => format!("{first}{end}{}{between}{}", change(2), change(3)),
        4 => format!("{first}{between}{set}{between}{}", change(4)),
        _ => format!("{first}{b4}{set}{b3}{}{b2}{}", change(1), change(2)),
    }
}

/// A one-line item with whitespace selected by numbers.
fn item(choices: &[usize; 8]) -> String {
    let name = NAMES[choices[1] % NAMES.len()];
    let blank = |at: usize| BLANKS[choices[at] / 16 % BLANKS.len()];
    let (b1, b2, b3, b4) = (blank(1), blank(2), blank(3), blank(4));
    match choices[0] % 3 {
        0 => format!("domain {name} {b1}{{{b2} across {name} [V];{b3}through i [A/m];{b4}effort = across; }}"),
        1 => format!("element {name}(k [N.m]{b1}= 2){b2} : {name} {b3}{{ through = k*across; }}"),
        _ => format!("element {name}{b1}{{ port a,{b2} b;{b3}b.across = r*a.across;{b4}a.through = -b.through; }}"),
    }
}

fn choices() -> impl Strategy<Value = [usize; 8]> {
    proptest::array::uniform8(0..960usize)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn blanks_and_comments_anywhere_do_no_harm(
        which in any::<prop::sample::Index>(),
        choices in prop::collection::vec(any::<u8>(), 1..300),
    ) {
        let text = respaced(which.get::<String>(&CORPUS), &choices);
        prop_assume!(parse(SourceId(0), &text).1.is_empty());
        assert_harmless(&text);
    }

    #[test]
    fn random_statements_in_random_columns_settle_at_once(
        parts in prop::collection::vec((choices(), prop::sample::select(ENDS)), 0..14),
        kind in prop::option::of(0..KINDS),
        items in prop::collection::vec((choices(), prop::sample::select(ENDS)), 0..6),
    ) {
        let mut text = String::new();
        for (choices, end) in &items {
            text.push_str(&item(choices));
            text.push_str(end);
        }
        text.push_str("model M {");
        for (choices, end) in &parts {
            let mut choices = *choices;
            // Half of the texts have statements of one kind, so that columns can be aligned.
            choices[0] = kind.unwrap_or(choices[0]);
            text.push_str(&statement(&choices));
            text.push_str(end);
        }
        text.push('}');
        prop_assume!(parse(SourceId(0), &text).1.is_empty());
        assert_harmless(&text);
    }

    #[test]
    fn random_modes_in_random_columns_settle_at_once(
        parts in prop::collection::vec((choices(), prop::sample::select(ENDS)), 0..8),
        kind in prop::option::of(0..6usize),
    ) {
        let mut text = "element E : translational {\n".to_string();
        for (choices, end) in &parts {
            let mut choices = *choices;
            choices[7] = kind.unwrap_or(choices[7]);
            text.push_str(&mode(&choices, end));
            text.push_str(end);
        }
        text.push('}');
        prop_assume!(parse(SourceId(0), &text).1.is_empty());
        assert_harmless(&text);
    }

    #[test]
    fn any_text_is_formatted_without_panic(text in any::<String>()) {
        if format(SourceId(0), &text).is_ok() {
            assert_harmless(&text);
        }
    }

    #[test]
    fn a_damaged_text_is_refused_or_stays_what_it_is(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        length in 0..6usize,
        put in prop::sample::select(&[";", "\n", "//", "/*", "*/", "{", "}", "[1]", "-", " ", "else", "in", "1", "\u{FEFF}", "é"][..]),
    ) {
        let words = words(which.get::<String>(&CORPUS));
        let at = at.index(words.len());
        let end = (at + length).min(words.len());
        let text = [&words[..at], &[put.to_string()], &words[end..]].concat().join("\n ");
        match format(SourceId(0), &text) {
            Ok(_) => { assert_harmless(&text); }
            Err(diagnostics) => prop_assert!(diagnostics.iter().any(|diagnostic| diagnostic.is_error())),
        }
    }
}

#[test]
fn random_statements_are_right_more_often_than_not() {
    // Otherwise the property above would be trivial.
    let pick = |seed: usize| std::array::from_fn(|at| (seed * 7919 + at * 104_729 + seed * seed * 31) % 960);
    let right = (0..400).filter(|seed| {
        let text = format!("{} model M {{ {} }}", item(&pick(seed + 1000)), statement(&pick(*seed)));
        parse(SourceId(0), &text).1.is_empty()
    });
    let right = right.count();
    assert!(right > 300, "{right} of 400");
    let right = (0..400).filter(|seed| {
        let text = format!("element E : d {{ {} }}", mode(&pick(*seed), ENDS[seed % ENDS.len()]));
        parse(SourceId(0), &text).1.is_empty()
    });
    let right = right.count();
    assert!(right > 300, "{right} of 400 modes");
}

/// Formats a long text, for which a quadratic algorithm would take many minutes; the result is stable.
fn assert_stable(text: String) {
    let first = formatted(&text);
    assert_eq!(words(&text), words(&first));
    assert!(first == formatted(&first), "formatting again changes it");
}

#[test]
fn twenty_thousand_statements_are_formatted() {
    let model = |statement: fn(usize) -> String, end: &str| {
        let statements: Vec<String> = (0..20_000).map(statement).collect();
        format!("model M {{\n{}\n}}\n", statements.join(end))
    };
    assert_stable(model(|i| format!("e{i} : R({i}) a{} -> b;  // {i}", i % 7), "\n"));
    assert_stable(model(|i| format!("e{i} : R(1) a -> b;"), " "));
    assert_stable(model(|i| format!("param p{i} = {i};"), " /* c */ "));
    assert_stable(model(|i| format!("for i in 1:{i} {{ e[i] : R(1); }}"), "\n\n"));
    assert_stable(model(|_| "if a { one b; }".to_string(), " else "));
    assert_stable(model(|i| format!("when x > {i} {{ n := {i}; }}"), "\n"));
    let element = |entry: &str, end: &str| format!("element E : d {{\n{}}}\n", format!("{entry}{end}").repeat(20_000));
    assert_stable(element("mode a { across = 0; }  when through > 0 -> b;", "\n"));
    assert_stable(element("when through > 0 -> b;", " ").replacen("when", "mode a { across = 0; } when", 1));
    assert_stable(element("// c\nwhen through > 0 -> b;", "\n").replacen("//", "mode a {}\n//", 1));
    assert_stable(element("mode a { across = 0; } /* c */", " "));
}

#[test]
fn a_line_of_two_hundred_kilobytes_is_formatted() {
    let long = |part: &str, joint: &str| vec![part; 200_000 / (part.len() + joint.len())].join(joint);
    assert_stable(format!("model M {{ signal s = {}; }}", long("a*b", " + ")));
    assert_stable(format!("model M {{ signal s = {}; }}", long("a", "*")));
    assert_stable(format!("model M {{ node {}; }}", long("abc", ", ")));
    assert_stable(format!("model M {{ param K = [{}]; }}", long("[a, b + c]", ", ")));
    assert_stable(format!("model M {{ signal s = {}; }}", long("[[a], [b]]", "*")));
    assert_stable(format!("model M {{ signal s = {}; }}", long("f(a, [[b, c]])", "*")));
    assert_stable(format!("model M {{ {} }}", long("/* c */", " ")));
    assert_stable(format!("model M {{ {} }}", long(";", " ")));
    assert_stable(format!("model M {{ one a; {}\n}}", long("// c", "\n")));
}

#[test]
fn what_is_deep_is_formatted_or_refused() {
    for depth in [10, 100, 250, 5000] {
        let braces = format!("model M {{ {} {} }}", "if a { ".repeat(depth), "}".repeat(depth));
        let brackets = format!("model M {{ signal s = {}1{}; }}", "[".repeat(depth), "]".repeat(depth));
        for text in [braces, brackets] {
            if format(SourceId(0), &text).is_ok() {
                assert_eq!(tree(&text), tree(&assert_harmless(&text)));
            }
        }
    }
}
