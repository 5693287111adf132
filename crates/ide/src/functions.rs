//! The functions of the language: their descriptions and arguments.

use std::ops::Range;

/// An example call of each function, and its meaning.
const WORDS: &[&str] = &[
    "`across(e)`: the across variable of an element, from its first node to its second, or of a node against `gnd`",
    "`through(e)`: the through variable of an element, positive from its first node through it to its second",
    "`effort(e)`: the effort at a port or on a bond, `effort(J -> R1)`",
    "`flow(e)`: the flow at a port or on a bond, `flow(J -> R1)`",
    "`delay(x, T)`: the signal `x` a constant time `T` earlier",
    "`before(x)`: the value just before an event, for mode changes and for `when` and `every` blocks",
    "`power(e)`: the power that an element absorbs",
    "`energy(e)`: the energy stored in an element",
    "`int(x)`: the integral over time, from the initial value for a stored variable and otherwise from 0",
    "`der(x)`: the derivative with respect to time",
    "`step(t0)`: 0 before `t0`, 1 from then on",
    "`pulse(t0, width)`: 1 from `t0` for `width` seconds, otherwise 0",
    "`ramp(t0)`: 0 before `t0`, then `time - t0`",
    "`sin(x)`: the sine of an angle in radians",
    "`cos(x)`: the cosine of an angle in radians",
    "`tan(x)`: the tangent of an angle in radians",
    "`atan2(y, x)`: the angle of the point (x, y), from -pi to pi",
    "`exp(x)`: the exponential function",
    "`log(x)`: the natural logarithm",
    "`sqrt(x)`: the square root",
    "`abs(x)`: the absolute value",
    "`sign(x)`: -1, 0 or 1",
    "`floor(x)`: the largest whole number not above `x`",
    "`round(x)`: the nearest whole number",
    "`mod(x, y)`: the remainder of `x/y`, with the sign of `y`",
    "`log10(x)`: the logarithm to base 10",
    "`square(period)`: 1 in the first half of each period, otherwise -1",
    "`sawtooth(period)`: rises from -1 to 1 in each period",
    "`trapezoid(rise, width, fall, period)`: rises to 1, stays there for `width`, and falls to 0 in each period",
    "`sum(i in 1:n, x[i])`: the sum over an index",
    "`root(z in a:b, f)`: the zero of `f` between `a` and `b`",
    "`min(a, b)`: the smaller of two values",
    "`max(a, b)`: the larger of two values",
    "`asin(x)`: the angle in radians whose sine is `x`, from -pi/2 to pi/2",
    "`acos(x)`: the angle in radians whose cosine is `x`, from 0 to pi",
    "`atan(x)`: the angle in radians whose tangent is `x`, from -pi/2 to pi/2",
    "`sinh(x)`: the hyperbolic sine",
    "`cosh(x)`: the hyperbolic cosine",
    "`tanh(x)`: the hyperbolic tangent",
    "`asinh(x)`: the number whose hyperbolic sine is `x`",
    "`displacement(body, x)`: how far a modal block is displaced at a position",
    "`velocity(body, x)`: how fast a modal block moves at a position",
    "`force(body, x)`: the force inside a modal block at a position",
    "`shear(body, x)`: the shear force inside a modal block at a position",
    "`moment(body, x)`: the bending moment inside a modal block at a position",
    "`transpose(m)`: a matrix with its rows as columns",
    "`diag(v)`: the matrix with these entries on its diagonal",
    "`identity(n)`: the identity matrix with n rows",
    "`list(i in 1:n, x[i])`: a value for each index: a column of scalars, or a matrix whose rows are vectors",
];

/// Returns the description of a function of the language, with an example.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    WORDS.iter().copied().find(|words| name_of(words) == Some(name))
}

/// Returns the name of the function that a description begins with.
fn name_of(words: &str) -> Option<&str> {
    Some(words.strip_prefix('`')?.split_once('(')?.0)
}

/// Returns the call of a function as written, with the byte ranges of its arguments; and the function.
pub(crate) fn call(name: &str) -> Option<(&'static str, Vec<Range<usize>>, &'static str)> {
    let (call, meaning) = function(name)?.strip_prefix('`')?.split_once("`: ")?;
    let inside = call.find('(')? + 1..call.rfind(')')?;
    let (mut arguments, mut from, mut depth) = (Vec::new(), inside.start, 0);
    for (place, letter) in call[inside.clone()].char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(from..inside.start + place);
                from = inside.start + place + 2;
            }
            _ => {}
        }
    }
    arguments.push(from..inside.end);
    Some((call, arguments, meaning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_language_is_explained() {
        for name in lgm_elaborate::function_names() {
            let (call, arguments, _) = call(name).unwrap_or_else(|| panic!("{name}"));
            assert!(
                call.starts_with(name) && arguments.iter().all(|range| !call[range.clone()].is_empty()),
                "{call}"
            );
        }
        assert!(
            WORDS
                .iter()
                .all(|entry| lgm_elaborate::function_names().any(|name| name_of(entry) == Some(name)))
        );
    }

    #[test]
    fn arguments_are_those_between_commas() {
        let parts = |name: &str| {
            let (call, arguments, _) = call(name).expect("a function");
            arguments.iter().map(|range| &call[range.clone()]).collect::<Vec<_>>()
        };
        assert_eq!(parts("atan2"), ["y", "x"]);
        assert_eq!(parts("sum"), ["i in 1:n", "x[i]"]);
        assert_eq!(parts("flow"), ["e"]);
    }
}
