//! The descriptions of keywords and of the settings of an experiment, for hovers.

use lgm_syntax::token::{Spanned, Token};

/// Returns the keywords of items and statements.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().filter_map(|entry| Some(entry.split_once(": ")?.0))
}

/// Keywords of items and statements, with their meanings.
const KEYWORDS: &[&str] = &[
    "import: imports the definitions of another file or library module: `import nonlinear;`, `import \"parts.lgm\";`",
    "domain: an energy domain: its across variable, its through variable, and which of them is the effort",
    "element: a kind of element with ports and the equations of its law",
    "component: a kind of element composed of other elements, with its own ports",
    "modal: a vibrating body, described by its modes",
    "model: a system to simulate; a file may contain several, and commands use the last one",
    "node: declares connection points of a domain: `node x, y : translational;`",
    "zero: declares 0-junctions of a bond graph: one effort, and flows add to zero",
    "one: declares 1-junctions of a bond graph: one flow, and efforts add to zero",
    "param: a symbol in the equations that is constant during a run; `--set` changes it",
    "const: a compile-time constant, such as a size; the equations contain its number",
    "input: an external signal with a default that may depend on `time`; `--input` overrides it",
    "output: a value that a run reports, `output v = across(mass);`",
    "signal: a name for an expression that may vary with time",
    "state: a state that integrates an expression: `state z = int(x), start = 0;`",
    "discrete: a number that changes only at events: `discrete hits = 0;`; `when` and `every` blocks assign it",
    "when: assigns values each time that a condition becomes true, `when x > 1 { n := n + 1; }`; in an element it \
     changes the mode",
    "every: assigns values periodically: `every Ts { u := k*e; }`, `every Ts from t0 { .. }`",
    "port: declares the connection points of a component or an element",
    "experiment: settings of the run: `experiment { stop = 5 [s]; plot = [v]; }`",
    "for: repeats statements for each value of an index: `for i in 1:N { .. }`",
    "if: selects statements at compile time, or a value: `if x > 0 then a else b`",
    "then: precedes the value for a true condition",
    "else: precedes the alternative",
    "and: true if both conditions are true",
    "or: true if at least one condition is true",
    "not: true if the condition is false",
];

/// Settings of an experiment.
const SETTINGS: &[&str] = &[
    "start: the start time of the run, in seconds; 0 by default",
    "stop: the stop time of the run, in seconds",
    "points: the number of equally spaced samples from start to stop",
    "step: the sample interval in seconds, an alternative to `points`; the integration steps follow from the \
     tolerances",
    "method: the integration method: `auto`, `tsit45`, `bdf`, `sdirk` or `tr-bdf2`",
    "rtol: the relative error tolerance per step",
    "atol: the absolute error tolerance per step, in SI units; by default it follows from the scale of each state",
    "plot: the curves of a plot: outputs, states and inputs, `plot = [v, mass.v]`",
    "events: 1 to add samples at events, otherwise 0",
];

/// Attributes of instances, junctions, states and signals.
const ATTRIBUTES: &[&str] = &[
    "start: the initial value, in the unit of its variable",
    "guess: the initial guess; the initial value itself follows from other equations",
    "close: the position equation `close = 0` that determines the displacement; `start` is then the initial guess",
    "mode: the mode assumed first at the start; by default the first mode of the element",
    "on: the condition of a junction: if it is off, a 1-junction has no flow, and a 0-junction has no effort",
    "nominal: the typical magnitude of a state: tolerances are relative to it if the state is near 0",
];

/// Words that are keywords only in certain positions.
const IN_PLACE: &[&str] = &[
    "mode: one of several laws of an element, `mode open { through = 0; }`; exactly one mode is active at a time",
    "initially: runs the block once, before the first row of a run",
    "from: precedes the first instant of the block; the default is 0 s",
];

/// Returns true if a word is in a position where it is a keyword.
fn is_in_place(tokens: &[Spanned<'_>], place: usize, word: &str) -> bool {
    let at = |index: usize| tokens.get(index).map(|token| token.1);
    let before = place.checked_sub(1).and_then(at);
    match word {
        "mode" => at(place + 2) == Some(Token::BraceOpen),
        "initially" => before == Some(Token::When),
        "from" => {
            let head = tokens[..place].iter().rev();
            let mut head =
                head.take_while(|token| !matches!(token.1, Token::Semicolon | Token::BraceOpen | Token::BraceClose));
            before != Some(Token::Every) && head.any(|token| token.1 == Token::Every)
        }
        _ => false,
    }
}

fn meaning(table: &[&'static str], word: &str) -> Option<String> {
    let of = |entry: &&'static str| entry.strip_prefix(word)?.strip_prefix(": ");
    Some(format!("`{word}`: {}", table.iter().find_map(of)?))
}

/// Returns the meaning of the word at a token of a text.
pub(crate) fn keyword(tokens: &[Spanned<'_>], place: usize, word: &str) -> Option<String> {
    let is_set = matches!(tokens.get(place + 1), Some((_, Token::Equals, _)));
    let own = match (is_set, in_experiment(&tokens[..place])) {
        (true, true) => meaning(SETTINGS, word),
        (true, false) => meaning(ATTRIBUTES, word),
        _ => None,
    };
    let in_place = || meaning(IN_PLACE, word).filter(|_| is_in_place(tokens, place, word));
    own.or_else(in_place).or_else(|| meaning(KEYWORDS, word))
}

/// Returns true if the tokens end within the braces of an experiment.
fn in_experiment(before: &[Spanned<'_>]) -> bool {
    let mut depth = 0_u32;
    for (at, token) in before.iter().enumerate().rev() {
        match token.1 {
            Token::BraceClose => depth += 1,
            Token::BraceOpen if depth > 0 => depth -= 1,
            Token::BraceOpen => return at > 0 && before[at - 1].1 == Token::Experiment,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_and_every_word_that_begins_a_statement_is_explained() {
        for name in lgm_elaborate::EXPERIMENT_ENTRIES {
            assert!(meaning(SETTINGS, name).is_some(), "{name}");
        }
        for method in lgm_elaborate::EXPERIMENT_METHODS {
            assert!(
                meaning(SETTINGS, "method").is_some_and(|words| words.contains(method)),
                "{method}"
            );
        }
        let reserved = "import domain element component modal model node zero one param const input output signal state port experiment \
                        discrete when every for if then else and or not";
        for word in reserved.split_whitespace() {
            assert!(meaning(KEYWORDS, word).is_some(), "{word}");
        }
    }
}
