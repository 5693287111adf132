//! The message for a failed run.

use lgm_equations::StateSystem;
use lgm_simulate::{Failure, FailureKind, Inputs, Side, Signals, Stop};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};

/// The code, what happened, and what may fix it.
type Parts = (Code, String, &'static str);

/// Returns the first message followed by the responsible variable, or the second message if no variable is known.
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
                "the initial values contradict each other: {follows} follows from the others, and {}",
                of(&format!("{given} is given for"), &format!("{given} is given"))
            ),
            "remove the initial value of the dependent storage",
        ),
        FailureKind::StartsNotFound => (
            Code::LGM1005,
            "no initial values of the states give the signals and the dependent storage their initial \
             values"
                .to_string(),
            "check that such initial values exist for these parameters, and give a nearby `guess = ..`",
        ),
        FailureKind::NoEquilibrium => (
            Code::LGM1006,
            of("no equilibrium exists for", "no equilibrium exists"),
            "without friction or with an integral of a constant there is none: use the initial values, without \
             `--from-equilibrium`",
        ),
        FailureKind::RestNotReached(words) => (
            Code::LGM1006,
            format!("no equilibrium can be reached from the initial values: {words}"),
            "give the states other initial values, or start from them, without `--from-equilibrium`",
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

/// Describes a failure in which the step size vanishes.
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
            "a blocking element barely determines its voltage or pressure: put a large resistor in parallel, such as \
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
            "the solution may go to infinity; otherwise try another `--method`, or a looser `--rtol` and `--atol`",
        ),
        FailureKind::Unbounded => (
            Code::LGM1010,
            of(
                "the solution grows without bound, and with it",
                "the solution grows without bound",
            ),
            "find the cause of the growth, such as a negative resistance or a feedback with the wrong sign; an \
             earlier `--stop` shows how it starts",
        ),
        FailureKind::StepNotSolved => (
            Code::LGM1001,
            of(
                "the equations of an implicit step cannot be solved for",
                "the equations of an implicit step cannot be solved",
            ),
            "the solution may end here; otherwise try another `--method`",
        ),
        FailureKind::Chatter => (
            Code::LGM1007,
            of(
                "a condition keeps changing at one instant, which also changes the rate of",
                "a condition keeps changing at one instant",
            ),
            "write a steep law for the jump, such as `tanh(v/v0)` for `sign(v)`, or add hysteresis to the condition; \
             for an integrator with a limit use anti-windup: `int(e - (u - limited)/T)`",
        ),
        FailureKind::TooManySteps => (
            Code::LGM1008,
            of(
                "the limit on the number of steps is reached; the last steps are limited by",
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
            "fast motion throughout makes the run too long: choose an earlier `--stop`, remove the fast part, or \
             allow more steps with `--max-steps`",
        ),
        kind => unreachable!("invariant: {kind:?} is no failure of steps"),
    }
}

/// Describes a failure in which the result of an input step is undetermined.
fn parts_of_jumps(failure: &Failure) -> Parts {
    let of = |with: &str, alone: &str| of(failure, with, alone);
    let ramp = "give the input the rise time of the real one, such as `(ramp(0) - ramp(0.01))/0.01`";
    match &failure.kind {
        FailureKind::JumpNotFound(stepping) => (
            Code::LGM1011,
            format!("{stepping}, and the states after the step were not found: the laws have no solution on the way"),
            ramp,
        ),
        FailureKind::JumpEndless(stepping) => (
            Code::LGM1011,
            format!(
                "{stepping}, and the resulting change of {} is unbounded",
                of("the state", "a state")
            ),
            ramp,
        ),
        FailureKind::JumpOpen { stepping, one, other } => (
            Code::LGM1011,
            format!(
                "{stepping}, and {} becomes {} or {}, depending on which is first",
                of("the state", "a state"),
                six_digits(*one),
                six_digits(*other)
            ),
            "let one input step slightly later than the other, or use ramps",
        ),
        kind => unreachable!("invariant: {kind:?} is no failure of a jump"),
    }
}

/// Describes a failure in which the equations have no solution.
fn parts_of_points(failure: &Failure) -> Parts {
    let of = |with: &str, alone: &str| of(failure, with, alone);
    match &failure.kind {
        FailureKind::SingularMass => (
            Code::LGM1002,
            of(
                "the mass matrix is singular, so the equations do not determine the rate of",
                "the mass matrix is singular",
            ),
            "give the storage a value above zero",
        ),
        FailureKind::SingularPosition => (
            Code::LGM1002,
            of(
                "the mass matrix is singular at this position, so the equations do not determine the rate of",
                "the mass matrix is singular at this position",
            ),
            "an arm is straight, or two axes coincide: choose coordinates that are valid there, or give the massless \
             link some inertia in this direction",
        ),
        FailureKind::DeadCentre => (
            Code::LGM1002,
            of(
                "the closed chain is at a dead centre, where the other displacements do not determine",
                "the closed chain is at a dead centre",
            ),
            "choose another dependent displacement: move `close = ..` from this one to the other",
        ),
        FailureKind::LoopNotSolved => (
            Code::LGM1003,
            of(
                "no solution of the algebraic loop was found for",
                "no solution of the algebraic loop was found",
            ),
            "check the laws of the loop: they may contradict each other at this point",
        ),
        FailureKind::StorageWouldJump => (
            Code::LGM0450,
            of(
                "limit point: the stored quantity cannot change continuously any further, because of the law of",
                "limit point: the stored quantity cannot change continuously any further",
            ),
            "a small resistance in series with a capacitor or an inductor, or a small damper in parallel with a mass \
             or a spring, makes the model regular",
        ),
        FailureKind::ChainNotClosed => (
            Code::LGM1003,
            of("no position closes the chain of", "no position closes the chain"),
            "choose lengths with which the links reach each other, or start the mechanism at a position where they \
             do",
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
                    "a law solved for its argument has no value there, such as an `atan` beyond pi/2: check what \
                     drives it so far, or put a large resistor in parallel; a table continues beyond its rows with \
                     `outside = hold` or `outside = extend`"
                }
                Some(blame) if blame.is_log_of_state => {
                    "a law with `exp` determines no voltage while it blocks, such as a diode in series with an \
                     inductance: put a large resistor (1e9 ohm) in parallel, or guard the law with `if` or `max`"
                }
                _ => "check the argument of the law there, or guard it with `if` or `max`",
            },
        ),
        kind => unreachable!("invariant: {kind:?} is no failure at a point"),
    }
}

/// Formats a time with its significant digits. Further digits are round-off.
pub fn instant(time: f64) -> String {
    lgm_emit::significant(time, 10)
}

/// Returns one sentence that states the failure and its time.
pub fn sentence(failure: &Failure) -> String {
    let (code, words, _) = parts(failure);
    format!("[{code}] at {} s: {words}", instant(failure.time))
}

/// Returns the inputs without a finite value at the time of a failure, or a moment later.
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

/// Returns the complete diagnostic of a failure.
pub fn diagnostic(failure: &Failure, system: &StateSystem, inputs: &Inputs) -> Diagnostic {
    let (code, mut words, help) = parts(failure);
    let endless = endless_inputs(failure, system, inputs);
    // All other undefined values then follow from an input without a value.
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
        // If an input has no value, the states of a trial step carry no information.
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
