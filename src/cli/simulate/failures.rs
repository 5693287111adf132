//! What is reported of a run that failed.

use lgm_equations::StateSystem;
use lgm_simulate::{Failure, FailureKind, Inputs, Side, Signals, Stop};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};

/// The code, what happened, and what may mend it.
type Parts = (Code, String, &'static str);

/// What is said with the variable to blame, which follows, and what is said without one.
fn of(failure: &Failure, with: &str, alone: &str) -> String {
    match &failure.blame {
        Some(blame) if !blame.variable.is_empty() => format!("{with} `{}`", blame.variable),
        _ => alone.to_string(),
    }
}

fn parts(failure: &Failure) -> Parts {
    let of = |with: &str, alone: &str| of(failure, with, alone);
    match &failure.kind {
        FailureKind::Starts { given, follows } => (
            Code::LGM1005,
            format!(
                "the starts contradict each other: {follows} follows from the others, and {}",
                of(&format!("{given} is given for"), &format!("{given} is given"))
            ),
            "leave out the start of the storage that depends on others",
        ),
        FailureKind::StartsNotFound => (
            Code::LGM1005,
            "no starts of the states were found that give the signals and the dependent storage theirs".to_string(),
            "see whether there is such a start with these parameters, and give `guess = ..` near it",
        ),
        FailureKind::NoEquilibrium => (
            Code::LGM1006,
            of(
                "there is no state of rest, for want of one of",
                "there is no state of rest",
            ),
            "without friction or with an integral of a constant there is none: start from the starts, without `--from-equilibrium`",
        ),
        FailureKind::RestNotReached(words) => (
            Code::LGM1006,
            format!("no state of rest can be reached from the starts: {words}"),
            "give the states other starts, or start from them, without `--from-equilibrium`",
        ),
        FailureKind::Events(found) => (found.code, found.message.clone(), ""),
        FailureKind::Refused(words) => (Code::LGM1009, words.clone(), "see `lgm simulate --help`"),
        FailureKind::Stopped(Stop::Interrupted) => (Code::LGM1009, "interrupted".to_string(), ""),
        FailureKind::Stopped(Stop::Refused(words)) => (Code::LGM1009, words.clone(), ""),
        FailureKind::StepTooSmall
        | FailureKind::Unbounded
        | FailureKind::StepNotSolved
        | FailureKind::Chatter
        | FailureKind::TooManySteps
        | FailureKind::NoHeadway(_) => parts_of_steps(failure),
        FailureKind::JumpNotFound(_) | FailureKind::JumpEndless(_) | FailureKind::JumpOpen { .. } => {
            parts_of_jumps(failure)
        }
        FailureKind::SingularMass
        | FailureKind::SingularPosition
        | FailureKind::DeadCentre
        | FailureKind::LoopNotSolved
        | FailureKind::ChainNotClosed
        | FailureKind::StorageWouldJump
        | FailureKind::LeftDomain(_) => parts_of_points(failure),
    }
}

/// Where the steps of a method come to nothing.
fn parts_of_steps(failure: &Failure) -> Parts {
    let of = |with: &str, alone: &str| of(failure, with, alone);
    if failure.blame.as_ref().is_some_and(|blame| blame.is_undetermined) {
        let code = match failure.kind {
            FailureKind::TooManySteps | FailureKind::NoHeadway(_) => Code::LGM1008,
            _ => Code::LGM1001,
        };
        return (
            code,
            of("within the tolerance, the states do not determine", ""),
            "an element that blocks determines its voltage or pressure by next to nothing: lay a large resistor beside it, such as \
             `Resistor(1e9 [ohm])`",
        );
    }
    match &failure.kind {
        FailureKind::StepTooSmall => (
            Code::LGM1001,
            of(
                "no step is small enough for the tolerance of",
                "no step is small enough for the tolerance",
            ),
            "the solution may go to infinity; else try another `--method`, or a looser `--rtol` and `--atol`",
        ),
        FailureKind::Unbounded => (
            Code::LGM1010,
            of(
                "the solution grows beyond all bounds, and with it",
                "the solution grows beyond all bounds",
            ),
            "look for what feeds the growth, such as a resistance below zero or a feedback of the wrong sign; an earlier `--stop` shows \
             how it begins",
        ),
        FailureKind::StepNotSolved => (
            Code::LGM1001,
            of(
                "the equations of an implicit step cannot be solved for",
                "the equations of an implicit step cannot be solved",
            ),
            "the solution may end here; else try another `--method`",
        ),
        FailureKind::Chatter => (
            Code::LGM1007,
            of(
                "a condition changes again and again within no time, and with it the rate of",
                "a condition changes again and again within no time",
            ),
            "write a steep law for the jump, such as `tanh(v/v0)` for `sign(v)`, or give the condition a hysteresis; where a limit stops an \
             integral, let it follow the limit: `int(e - (u - limited)/T)`",
        ),
        FailureKind::TooManySteps => (
            Code::LGM1008,
            of(
                "the limit on the number of steps is reached, with the last steps spent on",
                "the limit on the number of steps is reached",
            ),
            "try `--method bdf`, or a looser `--rtol`",
        ),
        FailureKind::NoHeadway(needed) => (
            Code::LGM1008,
            of(
                &format!("about {needed:.0e} more steps would be needed, above all for"),
                &format!("about {needed:.0e} more steps would be needed"),
            ),
            "something moves so fast throughout that the run would take too long: ask for an earlier `--stop`, or leave out what is so \
             fast; `--max-steps` allows more",
        ),
        kind => unreachable!("invariant: {kind:?} is no failure of steps"),
    }
}

/// Where a step of inputs does not say what comes after it.
fn parts_of_jumps(failure: &Failure) -> Parts {
    let of = |with: &str, alone: &str| of(failure, with, alone);
    let ramp = "let the input take the time that the real one takes, as `(ramp(0) - ramp(0.01))/0.01` does";
    match &failure.kind {
        FailureKind::JumpNotFound(stepping) => (
            Code::LGM1011,
            format!("{stepping}, and the states after that were not found: the laws have no solution on the way there"),
            ramp,
        ),
        FailureKind::JumpEndless(stepping) => (
            Code::LGM1011,
            format!(
                "{stepping}, and there is no bound of what that adds to {}",
                of("the state", "a state")
            ),
            ramp,
        ),
        FailureKind::JumpOpen { stepping, one, other } => (
            Code::LGM1011,
            format!(
                "{stepping}, and {} is {} or {} afterwards: that depends on which of them is ahead",
                of("the state", "a state"),
                six_digits(*one),
                six_digits(*other)
            ),
            "let one step a little later than the other, or give them ramps",
        ),
        kind => unreachable!("invariant: {kind:?} is no failure of a jump"),
    }
}

/// Where the equations have no solution at a point.
fn parts_of_points(failure: &Failure) -> Parts {
    let of = |with: &str, alone: &str| of(failure, with, alone);
    match &failure.kind {
        FailureKind::SingularMass => (
            Code::LGM1002,
            of(
                "the mass matrix is singular, and no rate follows from the equations for",
                "the mass matrix is singular",
            ),
            "give the storage a value above zero",
        ),
        FailureKind::SingularPosition => (
            Code::LGM1002,
            of(
                "the mass matrix is singular at this position, and no rate follows from the equations for",
                "the mass matrix is singular at this position",
            ),
            "an arm is straight, or an axis has turned onto another: take coordinates that hold there, or give the part that has no \
             inertia in this direction some of its own",
        ),
        FailureKind::DeadCentre => (
            Code::LGM1002,
            of(
                "the closed chain is at a dead centre, where no value follows from the other displacements for",
                "the closed chain is at a dead centre",
            ),
            "let another displacement be the one that follows: `close = ..` behind it, and no `close` behind this one",
        ),
        FailureKind::LoopNotSolved => (
            Code::LGM1003,
            of(
                "no solution of the algebraic loop was found for",
                "no solution of the algebraic loop was found",
            ),
            "look at the laws of the loop: they may contradict each other at this point",
        ),
        FailureKind::StorageWouldJump => (
            Code::LGM0450,
            of(
                "limit point: what is stored can change no further little by little, by the law of",
                "limit point: what is stored can change no further little by little",
            ),
            "a small resistance in series with a capacitor or an inductor, or a small damper beside a mass or a spring, makes the model \
             regular",
        ),
        FailureKind::ChainNotClosed => (
            Code::LGM1003,
            of("no position closes the chain of", "no position closes the chain"),
            "give the parts lengths with which they reach each other, or start the mechanism where they do",
        ),
        FailureKind::LeftDomain(words) => (
            Code::LGM1004,
            format!(
                "{}: {words}",
                of(
                    "a value leaves the domain of its law in the equation of",
                    "a value leaves the domain of its law"
                )
            ),
            match failure.blame.as_deref() {
                Some(blame) if blame.is_beyond_range => {
                    "no root is negative, and no `atan` beyond pi/2: a law that is solved for its argument gives nothing there; look at \
                     what drives it so far, or lay a large resistor beside it"
                }
                Some(blame) if blame.is_log_of_state => {
                    "a law with `exp` gives no voltage for what it blocks, as a diode in series with an inductance does: lay a large \
                     resistor beside it, as 1e9 ohm; or guard the law with `if` or `max`"
                }
                _ => "look at what the law is given there, or guard it with `if` or `max`",
            },
        ),
        kind => unreachable!("invariant: {kind:?} is no failure at a point"),
    }
}

/// A time in as many digits as a person can use; further ones are rounding.
pub(super) fn instant(time: f64) -> String {
    lgm_emit::significant(time, 10)
}

/// One sentence: what happened and when.
pub(super) fn sentence(failure: &Failure) -> String {
    let (code, words, _) = parts(failure);
    format!("[{code}] at {} s: {words}", instant(failure.time))
}

/// The inputs that have no finite value at the time of a failure, or a moment later.
fn endless_inputs(failure: &Failure, system: &StateSystem, inputs: &Inputs) -> Vec<String> {
    let count = system.inputs.len();
    let (mut values, mut rates) = (vec![0.0; count], vec![0.0; count]);
    let mut found = Vec::new();
    for time in [failure.time, failure.time * (1.0 + 1e-12) + 1e-300] {
        inputs.values(time, Side::After, &mut values, &mut rates);
        for (input, value) in system.inputs.iter().zip(&values) {
            let name = format!("`{}`", input.name);
            if !value.is_finite() && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// All that is known of a failure.
pub(super) fn diagnostic(failure: &Failure, system: &StateSystem, inputs: &Inputs) -> Diagnostic {
    let (code, mut words, help) = parts(failure);
    let endless = endless_inputs(failure, system, inputs);
    // Whatever else has no value then follows from an input that has none.
    if matches!(failure.kind, FailureKind::LeftDomain(_)) && !endless.is_empty() {
        words = format!("the input {} has no finite value", endless.join(", "));
    }
    if let FailureKind::Events(found) = &failure.kind {
        return (**found).clone();
    }
    let mut diagnostic = Diagnostic::error(code, format!("the run fails at {} s: {words}", instant(failure.time)));
    if let Some(blame) = &failure.blame {
        match (&blame.element, blame.span) {
            (Some(element), Some(span)) => diagnostic = diagnostic.label(span, format!("the element is `{element}`")),
            (Some(element), None) => diagnostic = diagnostic.note(format!("the element is `{element}`")),
            (None, Some(span)) => diagnostic = diagnostic.label(span, "declared here"),
            (None, None) => {}
        }
        if !blame.expression.is_empty() {
            diagnostic = diagnostic.note(format!("the expression is `{}`", blame.expression));
        }
        if !blame.seen.is_empty() {
            diagnostic = diagnostic.note(blame.seen.clone());
        }
        // Beside an input without a value, the states of a trial step say nothing.
        if !blame.states.is_empty() && endless.is_empty() {
            diagnostic = diagnostic.note(format!("the states there: {}", blame.states));
        }
    }
    if failure.steps > 0 {
        diagnostic = diagnostic.note(format!("after {} steps", failure.steps));
    }
    if help.is_empty() {
        diagnostic
    } else {
        diagnostic.help(help)
    }
}
