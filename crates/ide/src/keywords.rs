//! What the words of the language and the settings of an experiment mean, for those who point at them.

use lgm_syntax::token::{Spanned, Token};

/// Words that begin items and statements, or stand in them.
const KEYWORDS: &[(&str, &str)] = &[
    (
        "import",
        "takes over what another file or a module of the library defines: `import nonlinear;`, `import \"parts.lgm\";`",
    ),
    (
        "domain",
        "a kind of power: its across variable, its through variable, and which of them is the effort",
    ),
    ("element", "a kind of part with ports and the equations of its law"),
    ("component", "a kind of part made of other parts, with ports of its own"),
    ("modal", "a kind of body that vibrates, as a sum of its modes"),
    (
        "model",
        "a system that is simulated; a text may hold several, and commands take the last one",
    ),
    (
        "node",
        "declares points of a domain that parts are joined at: `node x, y : translational;`",
    ),
    (
        "zero",
        "declares 0-junctions of a bond graph: one effort, and flows add to zero",
    ),
    (
        "one",
        "declares 1-junctions of a bond graph: one flow, and efforts add to zero",
    ),
    (
        "param",
        "a value that stands as a symbol in the equations and is fixed during a run; `--set` changes it",
    ),
    (
        "const",
        "a value that is known when the model is compiled, such as a size; the equations hold its number",
    ),
    (
        "input",
        "a signal from outside, with a default that may depend on `time`; `--input` changes it",
    ),
    ("output", "a value that a run reports, `output v = across(mass);`"),
    ("signal", "a name for an expression that may change with time"),
    (
        "state",
        "a state that integrates an expression: `state z = int(x), start = 0;`",
    ),
    (
        "discrete",
        "a number that changes at events only: `discrete hits = 0;`; `when` and `every` blocks assign it",
    ),
    (
        "when",
        "assigns values each time that a condition becomes true, `when x > 1 { n := n + 1; }`; in an element it changes the mode",
    ),
    (
        "every",
        "assigns values at equal distances of time: `every Ts { u := k*e; }`, `every Ts from t0 { .. }`",
    ),
    (
        "port",
        "declares the points at which a component or an element is joined to others",
    ),
    (
        "experiment",
        "how the model is run: `experiment { stop = 5 [s]; plot = [v]; }`",
    ),
    (
        "for",
        "repeats statements for each value of an index: `for i in 1:N { .. }`",
    ),
    (
        "if",
        "chooses statements when the model is compiled, or a value: `if x > 0 then a else b`",
    ),
    ("then", "stands before the value for the case that the condition holds"),
    ("else", "stands before what holds otherwise"),
    ("and", "both conditions hold"),
    ("or", "at least one of the conditions holds"),
    ("not", "the condition does not hold"),
];

/// Settings of an experiment.
const SETTINGS: &[(&str, &str)] = &[
    (
        "start",
        "the time at which the run begins, in seconds; 0 if it is not given",
    ),
    ("stop", "the time at which the run ends, in seconds"),
    (
        "points",
        "how many rows the run has, at equal distances from its start to its stop",
    ),
    (
        "step",
        "the time from row to row in seconds, where `points` is not given; it does not set the steps of the method, which follow from the tolerances",
    ),
    (
        "method",
        "the integration method: `auto`, `tsit45`, `bdf`, `sdirk` or `tr-bdf2`",
    ),
    ("rtol", "how large the error of a step may be relative to each state"),
    (
        "atol",
        "how large the error of a step may be where a state is near 0, in SI units; without it, it follows from the scale of each state",
    ),
    (
        "plot",
        "what is drawn of a run: outputs, states and inputs, `plot = [v, mass.v]`",
    ),
    ("events", "whether the run has rows at its events too: 1 or 0"),
];

/// Attributes of instances, junctions, states and signals.
const ATTRIBUTES: &[(&str, &str)] = &[
    (
        "start",
        "the value at the start of the run, in the unit of what it is given to",
    ),
    (
        "guess",
        "where the search for the start begins; the start itself follows from other equations",
    ),
    (
        "close",
        "the equation of position `close = 0` that the displacement follows from; `start` is then where it is looked for first",
    ),
    (
        "mode",
        "the mode in which the search for the one at the start begins; the first mode of the element if it is not given",
    ),
    (
        "on",
        "the condition of a junction: off, a 1-junction lets no flow through, and a 0-junction has no effort",
    ),
    (
        "nominal",
        "of what size a state usually is: tolerances are relative to it where the state is near 0",
    ),
];

/// Words that mean something in their place only.
const IN_PLACE: &[(&str, &str)] = &[
    (
        "mode",
        "a law of an element that holds while it is in force, `mode open { through = 0; }`; one mode is in force at a time",
    ),
    ("initially", "runs the block once, before the first row of a run"),
    (
        "from",
        "stands before the first instant of the block; without it that is 0 s",
    ),
];

/// Returns true if a word stands in the place in which it means something.
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

fn meaning(table: &[(&str, &str)], word: &str) -> Option<String> {
    let found = table.iter().find(|entry| entry.0 == word)?;
    Some(format!("`{word}`: {}", found.1))
}

/// What the word at a place among the tokens of a text means there.
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

/// Whether the tokens end within the braces of an experiment.
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
