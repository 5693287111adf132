//! Ranges of the parameters of library components and elements, checked at the instance.
//!
//! Only values that are constant are checked: numbers, `const` values and parameters. A limit that is a signal changes during a run.

use crate::context::values::Value;
use crate::context::{EnvId, FrameId, Origin, Place, ValueSlot};
use crate::evaluate::Evaluator;
use crate::syntax_queries::argument_for;
use lgm_algebra::expr::to_f64;
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, six_digits};
use lgm_syntax::ast::{Expr, ExprKind, Formal, Instance, Name};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// A condition on the parameters of a component or an element.
#[derive(Clone, Copy)]
enum Range {
    /// A whole number from 1.
    Whole(&'static str),
    /// 0 or more.
    NotNegative(&'static str),
    /// From 0 to 1.
    Share(&'static str),
    /// The first of two limits is not above the second.
    Ordered(&'static str, &'static str),
    /// A time whose default is the ratio of two gains: without a value, neither gain may be 0.
    RatioOfGains(&'static str, [&'static str; 2]),
}

/// The conditions of the library's components and elements.
const RANGES: [(&str, &[Range]); 22] = [
    ("LowPass", &[Range::Whole("order")]),
    ("HighPass", &[Range::Whole("order")]),
    ("PadeDelay", &[Range::Whole("order")]),
    (
        "RateLimiter",
        &[Range::NotNegative("rising"), Range::NotNegative("falling")],
    ),
    ("Limiter", &[Range::Ordered("low", "high")]),
    ("DeadZone", &[Range::Ordered("low", "high")]),
    ("SampledPID", &[Range::Ordered("low", "high")]),
    (
        "PI",
        &[Range::Ordered("low", "high"), Range::RatioOfGains("Tt", ["Kp", "Ki"])],
    ),
    (
        "PID",
        &[Range::Ordered("low", "high"), Range::RatioOfGains("Tt", ["Kp", "Ki"])],
    ),
    ("IdealDiode", &[Range::NotNegative("Von")]),
    ("DryFriction", &[Range::NotNegative("Fc"), Range::NotNegative("Fs")]),
    (
        "RotaryDryFriction",
        &[Range::NotNegative("Tc"), Range::NotNegative("Ts")],
    ),
    (
        "StribeckFriction",
        &[Range::NotNegative("Fc"), Range::NotNegative("Fs")],
    ),
    ("BearingFriction", &[Range::NotNegative("tau_c")]),
    ("Clutch", &[Range::NotNegative("capacity")]),
    ("Brake", &[Range::NotNegative("capacity")]),
    ("Wall", &[Range::Share("e")]),
    ("RotaryWall", &[Range::Share("e")]),
    ("Backlash", &[Range::NotNegative("gap")]),
    ("RotaryBacklash", &[Range::NotNegative("gap")]),
    ("CheckValve", &[Range::NotNegative("Popen")]),
    ("ReliefValve", &[Range::NotNegative("Pset")]),
];

/// Functions whose value is constant if their arguments are.
const PLAIN_FUNCTIONS: [&str; 8] = ["abs", "cos", "exp", "max", "min", "round", "sin", "sqrt"];

/// The maximum depth at which an expression is examined.
const DEEPEST: usize = 32;

/// The source of the arguments of an instance.
#[derive(Clone, Copy)]
pub(crate) enum Arguments<'v, 'a> {
    /// The frame of a component.
    Frame(FrameId),
    /// The parameters of an element, and their values.
    Values(&'a [Formal], &'v [Value]),
}

/// A constant argument, or a default.
struct Known {
    value: BigRational,
    /// The location of the argument; for a default, that of the instance.
    span: Span,
    /// True for a number without parameters.
    is_number: bool,
}

impl<'a> Evaluator<'a> {
    /// Returns true if the constant arguments of a library component or element are within their ranges; errors are reported.
    pub(crate) fn is_within_ranges(
        &mut self,
        instance: &'a Instance,
        definition: &'a Name,
        arguments: Arguments<'_, 'a>,
    ) -> bool {
        if !self.program.is_library(definition.span.source) {
            return true;
        }
        let Some((_, ranges)) = RANGES.iter().find(|entry| entry.0 == &*definition.text) else {
            return true;
        };
        for range in *ranges {
            if let Some(fault) = self.fault_of_range(*range, instance, arguments) {
                self.report(fault);
                return false;
            }
        }
        true
    }

    fn fault_of_range(
        &mut self,
        range: Range,
        instance: &'a Instance,
        arguments: Arguments<'_, 'a>,
    ) -> Option<Diagnostic> {
        let (name, kind) = (&instance.declared.name.text, &instance.kind.text);
        let shown = |value: &BigRational| six_digits(to_f64(value));
        match range {
            Range::Whole(formal) => {
                let known = self.known_argument(formal, instance, arguments)?;
                let is_good = known.value.is_integer() && known.value >= BigRational::one();
                (!is_good).then(|| {
                    Diagnostic::error(
                        Code::LGM0401,
                        format!("`{formal}` of `{kind}` must be a whole number from 1"),
                    )
                    .label(known.span, format!("this is {}", shown(&known.value)))
                    .help(format!("write a whole number, such as `{kind}({formal} = 2, ..)`"))
                })
            }
            Range::NotNegative(formal) => {
                let known = self.known_argument(formal, instance, arguments)?;
                known.value.is_negative().then(|| {
                    Diagnostic::error(Code::LGM0414, format!("`{formal}` of `{kind}` must not be negative"))
                        .label(known.span, format!("this is {}", shown(&known.value)))
                        .help(match arguments {
                            Arguments::Frame(_) => "write its magnitude: the component applies the sign",
                            Arguments::Values(..) => "give a value from 0",
                        })
                })
            }
            Range::Share(formal) => {
                let known = self.known_argument(formal, instance, arguments)?;
                let is_good = !known.value.is_negative() && known.value <= BigRational::one();
                (!is_good).then(|| {
                    Diagnostic::error(Code::LGM0414, format!("`{formal}` of `{kind}` must be from 0 to 1"))
                        .label(known.span, format!("this is {}", shown(&known.value)))
                        .help("0 does not rebound, and 1 rebounds without loss")
                })
            }
            Range::Ordered(low, high) => {
                let lowest = self.known_argument(low, instance, arguments)?;
                let highest = self.known_argument(high, instance, arguments)?;
                (lowest.value > highest.value).then(|| {
                    let diagnostic = Diagnostic::error(Code::LGM0414, format!("`{low}` of `{name}` is above `{high}`"))
                        .label(highest.span, format!("`{high}` is {}", shown(&highest.value)));
                    let words = format!("`{low}` is {}", shown(&lowest.value));
                    let diagnostic = match lowest.span == highest.span {
                        true => diagnostic,
                        false => diagnostic.label(lowest.span, words.clone()),
                    };
                    diagnostic.help(format!(
                        "{words} here; give limits with `{low} <= {high}`, such as `{kind}({high} = 2, {low} = -2)`"
                    ))
                })
            }
            Range::RatioOfGains(time, [above, below]) => {
                if let Arguments::Frame(frame) = arguments
                    && self.given(time, instance, frame).is_some()
                {
                    return None;
                }
                // Parameters that are 0 may divide: their products with 0 vanish.
                let zero = |known: &Known| known.value.is_zero();
                let above_known = self.known_argument(above, instance, arguments).filter(zero);
                let (gain, known) = match above_known {
                    Some(known) => (above, known),
                    None => {
                        let known = self.known_argument(below, instance, arguments).filter(zero)?;
                        (below, Some(known).filter(|known| known.is_number)?)
                    }
                };
                Some(
                    Diagnostic::error(
                        Code::LGM0414,
                        format!("`{name}` requires a value for `{time}`, because `{gain}` is 0"),
                    )
                    .label(
                        known.span,
                        format!("the default of `{time}`, `{above}/{below}`, is not a time longer than 0 s"),
                    )
                    .help(format!(
                        "give the time in which the integral returns from beyond a limit, such as `{time} = 0.1 [s]`"
                    )),
                )
            }
        }
    }

    /// Returns the position of a formal parameter of an instance, with its declaration.
    fn formal_of(&self, name: &str, frame: FrameId) -> Option<(usize, &'a Formal)> {
        let formals = self.scopes.bodies[self.scopes.frames[frame.0 as usize].body as usize].formals;
        formals.iter().enumerate().find(|formal| &*formal.1.name.text == name)
    }

    /// Returns the argument for a formal parameter; none for a default.
    fn given(&self, name: &str, instance: &'a Instance, frame: FrameId) -> Option<&'a Expr> {
        let (at, formal) = self.formal_of(name, frame)?;
        argument_for(instance, formal, at)
    }

    /// Returns the value of a formal parameter if it is constant.
    fn known_argument(&mut self, name: &str, instance: &'a Instance, arguments: Arguments<'_, 'a>) -> Option<Known> {
        let span_of = |formal: &Formal, at: usize| {
            argument_for(instance, formal, at).map_or(instance.declared.span, |expr| expr.span)
        };
        let (value, span) = match arguments {
            Arguments::Frame(frame) => {
                let (at, formal) = self.formal_of(name, frame)?;
                let slot = self.scopes.value_slot(name, frame)?;
                let origin = self.scopes.values[slot].clone();
                if !self.is_constant_slot(&origin, frame, DEEPEST) {
                    return None;
                }
                let span = span_of(formal, at);
                (self.slot_value(slot, None, name, span, frame), span)
            }
            Arguments::Values(formals, values) => {
                let at = formals.iter().position(|formal| &*formal.name.text == name)?;
                (values.get(at)?.clone(), span_of(&formals[at], at))
            }
        };
        let [scalar] = value.entries() else { return None };
        let expr = scalar.expr;
        let values = &self.parameter_values;
        let exprs = &self.arena.exprs;
        let value = exprs
            .evaluate_exact(&[expr], &|symbol| values.get(&symbol).cloned())
            .ok()?
            .pop()?;
        let is_number = exprs.symbols_of(&[expr]).is_empty();
        Some(Known { value, span, is_number })
    }

    fn is_constant_slot(&mut self, slot: &ValueSlot<'a>, frame: FrameId, depth: usize) -> bool {
        match slot {
            ValueSlot::Done(value) => !value.is_error(),
            ValueSlot::Deferred(Origin::Param(_) | Origin::Const(_), _) => true,
            ValueSlot::Deferred(Origin::Formal(at), _) => {
                let about = self.scopes.frames[frame.0 as usize];
                let formals: &'a [Formal] = self.scopes.bodies[about.body as usize].formals;
                let formal = &formals[*at as usize];
                let argument = about
                    .instance
                    .and_then(|instance| argument_for(instance, formal, *at as usize));
                match (argument, &formal.default) {
                    (Some(argument), _) => self.is_constant(argument, about.outer, depth),
                    (None, Some(default)) => self.is_constant(default, Place { frame, env: EnvId(0) }, depth),
                    (None, None) => false,
                }
            }
            _ => false,
        }
    }

    /// Returns true if an expression contains only numbers, constants and parameters, so that it can be evaluated before the graph is
    /// complete.
    fn is_constant(&mut self, expr: &'a Expr, place: Place, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        match &expr.kind {
            ExprKind::Number(..) => true,
            ExprKind::Name(name) => {
                if &*name.text == "pi" || self.scopes.loop_index(&name.text, place).is_some() {
                    return true;
                }
                match self.scopes.value_slot(&name.text, place.frame) {
                    Some(slot) => {
                        let slot = self.scopes.values[slot].clone();
                        self.is_constant_slot(&slot, place.frame, depth)
                    }
                    None => false,
                }
            }
            ExprKind::Negate(inner) | ExprKind::InUnit(inner, _) => self.is_constant(inner, place, depth),
            ExprKind::Sum(parts) | ExprKind::Product(parts) => {
                parts.iter().all(|part| self.is_constant(&part.1, place, depth))
            }
            ExprKind::Power(parts) => parts.iter().all(|part| self.is_constant(part, place, depth)),
            ExprKind::Call(name, arguments) if PLAIN_FUNCTIONS.contains(&&*name.text) => arguments
                .iter()
                .all(|argument| self.is_constant(&argument.value, place, depth)),
            _ => false,
        }
    }

    /// Warns of a frequency in hertz for a parameter in radians per second: it would be too small by a factor of 2*pi.
    pub(super) fn warn_of_hertz(&mut self, formal: &Formal, expr: &'a Expr) {
        let is_angular = formal.unit.as_ref().is_some_and(|unit| {
            let has = |name: &str, exponent: i32| {
                unit.factors
                    .iter()
                    .any(|factor| &*factor.name.text == name && factor.exponent == (exponent, 1))
            };
            unit.factors.len() == 2 && has("rad", 1) && has("s", -1)
        });
        if !is_angular {
            return;
        }
        let Some(given) = self.in_hertz(expr, DEEPEST) else {
            return;
        };
        let words = self.sources.slice(given.span);
        let better = match &given.kind {
            ExprKind::Number(number, Some(_)) if words.ends_with("[Hz]") => format!("2*pi*{number} [rad/s]"),
            ExprKind::Number(..) | ExprKind::Name(_) => format!("2*pi*{words}"),
            _ => format!("2*pi*({words})"),
        };
        let diagnostic = Diagnostic::warning(
            Code::LGM0212,
            format!(
                "`{}` is an angular frequency in [rad/s], but is given in [Hz]",
                formal.name.text
            ),
        )
        .label(given.span, "1 Hz is read as 1 rad/s, without the factor 2*pi")
        .help(format!("write `{better}`"))
        .fix(format!("write `{better}`"), given.span, better);
        self.report(diagnostic);
    }
}
