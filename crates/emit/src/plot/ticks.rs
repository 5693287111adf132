//! Readable axes: round numbers at round distances, and a unit that keeps the numbers short.

/// An axis: its ends and ticks in the data's unit, and the unit that is displayed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// The lower end in the data's unit.
    pub from: f64,
    /// The upper end in the data's unit.
    pub to: f64,
    /// Ticks in the data's unit.
    pub ticks: Vec<f64>,
    /// Texts of the ticks.
    pub texts: Vec<String>,
    /// The displayed unit, with its power of ten if there is one: `ms`, `10⁶ N`; empty if there is none.
    pub unit: String,
}

/// Returns a tick distance of 1, 2 or 5 times a power of ten, so that about `count` ticks fit into the range.
fn round_distance(range: f64, count: usize) -> f64 {
    let rough = range / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let share = rough / power;
    let digit = match share {
        share if share < 1.5 => 1.0,
        share if share < 3.5 => 2.0,
        share if share < 7.5 => 5.0,
        _ => 10.0,
    };
    digit * power
}

/// Tick distances in hours, which divide a day evenly.
const HOURS: [f64; 6] = [1.0, 2.0, 3.0, 6.0, 12.0, 24.0];

/// Returns the round numbers from one end to the other, both in the unit of the axis.
fn round_numbers(from: f64, to: f64, distance: f64) -> (Vec<f64>, f64) {
    let first = (from / distance - 1e-9).ceil();
    let last = (to / distance + 1e-9).floor();
    let steps = (last - first).clamp(0.0, 100.0) as usize;
    let ticks = (0..=steps).map(|at| (first + at as f64) * distance).collect();
    (ticks, distance)
}

/// Formats ticks with the same number of decimals as the distance between them.
fn texts(ticks: &[f64], distance: f64) -> Vec<String> {
    let decimals = (-(distance * 1.000_001).log10().floor()).clamp(0.0, 12.0) as usize;
    let one = |tick: &f64| {
        let text = format!("{tick:.decimals$}");
        // A zero tick may be computed as a tiny negative number, and gets no sign; other ticks get a typographic minus.
        match text.strip_prefix('-') {
            Some(rest) if rest.chars().all(|letter| matches!(letter, '0' | '.')) => rest.to_string(),
            Some(rest) => format!("\u{2212}{rest}"),
            None => text,
        }
    };
    ticks.iter().map(one).collect()
}

fn axis(from: f64, to: f64, count: usize, scale: f64, unit: String) -> Axis {
    let range = (to - from) / scale;
    let is_hours = unit == "h" && range / count.max(1) as f64 > 0.5;
    let hours = HOURS.into_iter().find(|hours| range / hours <= count as f64);
    let distance = hours
        .filter(|_| is_hours)
        .unwrap_or_else(|| round_distance(range, count));
    let (ticks, distance) = round_numbers(from / scale, to / scale, distance);
    Axis {
        from,
        to,
        texts: texts(&ticks, distance),
        ticks: ticks.iter().map(|tick| tick * scale).collect(),
        unit,
    }
}

/// Returns the time axis, in a unit from ns to days that keeps its numbers short.
pub(super) fn of_time(from: f64, to: f64, count: usize) -> Axis {
    let (from, to) = match to > from {
        true => (from, to),
        false => (from, from + 1.0),
    };
    let longest = from.abs().max(to.abs());
    let (scale, unit) = match longest {
        longest if longest < 2e-7 => (1e-9, "ns"),
        longest if longest < 2e-4 => (1e-6, "\u{b5}s"),
        longest if longest < 0.2 => (1e-3, "ms"),
        longest if longest < 1.2e4 => (1.0, "s"),
        longest if longest < 4e5 => (3600.0, "h"),
        _ => (86_400.0, "d"),
    };
    axis(from, to, count, scale, unit.to_string())
}

/// Returns a logarithmic axis with ticks at powers of ten, and intermediate ticks if these are few.
pub(super) fn of_decades(from: f64, to: f64, unit: &str) -> Axis {
    let (from, to) = match from > 0.0 && to > from {
        true => (from, to),
        false => (0.1, 10.0),
    };
    let (first, last) = (from.log10().ceil() as i32, to.log10().floor() as i32);
    let step = ((last - first) / 10 + 1).max(1);
    let digits: &[f64] = if last - first < 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let powers = (first - 1..=last).filter(|power| (power - first).rem_euclid(step) == 0 || digits.len() > 1);
    let all = powers.flat_map(|power| digits.iter().map(move |digit| (*digit, power)));
    let value = |(digit, power): (f64, i32)| digit * 10f64.powi(power);
    let inside: Vec<(f64, i32)> = all
        .filter(|tick| (from * 0.999..=to * 1.001).contains(&value(*tick)))
        .collect();
    let text = |(digit, power): (f64, i32)| match power {
        -3..=4 => crate::significant(value((digit, power)), 3),
        _ => format!("{digit}e{power}"),
    };
    Axis {
        from,
        to,
        ticks: inside.iter().map(|tick| value(*tick)).collect(),
        texts: inside.iter().map(|tick| text(*tick)).collect(),
        unit: unit.to_string(),
    }
}

/// Returns the axis for values from the lowest to the highest, with a small margin, in the given unit.
pub(super) fn of_values(lowest: f64, highest: f64, count: usize, unit: Option<&str>) -> Axis {
    let (mut from, mut to) = match lowest <= highest {
        true => (lowest, highest),
        // There are no finite values.
        false => (0.0, 1.0),
    };
    let size = from.abs().max(to.abs());
    // A curve that is constant apart from round-off is drawn as a straight line in the middle.
    if to - from <= 1e-9 * size || size == 0.0 {
        let air = if size == 0.0 { 1.0 } else { 0.5 * size };
        (from, to) = (from - air, to + air);
    } else {
        let air = 0.06 * (to - from);
        (from, to) = (from - air, to + air);
    }
    let size = from.abs().max(to.abs());
    // Use powers of a thousand, like unit prefixes.
    let exponent = match size {
        size if (5e-3..1e5).contains(&size) => 0,
        size => 3 * (size.log10() / 3.0).floor() as i32,
    };
    let unit = unit.unwrap_or("");
    if exponent == 0 {
        return axis(from, to, count, 1.0, unit.to_string());
    }
    let space = if unit.is_empty() { "" } else { " " };
    let scaled = prefixed(unit, exponent).unwrap_or_else(|| format!("10{}{space}{unit}", raised(exponent)));
    axis(from, to, count, 10f64.powi(exponent), scaled)
}

/// SI prefixes by power of ten.
const PREFIXES: [(i32, &str); 8] = [
    (-12, "p"),
    (-9, "n"),
    (-6, "\u{b5}"),
    (-3, "m"),
    (3, "k"),
    (6, "M"),
    (9, "G"),
    (12, "T"),
];

/// SI units that accept a prefix. The kilogram already has one.
const PREFIXABLE: [&str; 18] = [
    "m", "s", "A", "V", "N", "W", "J", "Pa", "C", "F", "H", "Wb", "T", "Hz", "K", "rad", "ohm", "S",
];

/// Adds the prefix of a power of ten to the first factor of a typeset unit, `mm/s`; none if that factor is a power or accepts no prefix.
fn prefixed(unit: &str, exponent: i32) -> Option<String> {
    let end = unit
        .find(|letter: char| !letter.is_ascii_alphabetic())
        .unwrap_or(unit.len());
    let (first, rest) = unit.split_at(end);
    let is_linear = rest.is_empty() || rest.starts_with(['\u{b7}', '/']);
    let prefix = PREFIXES.iter().find(|prefix| prefix.0 == exponent)?.1;
    (is_linear && PREFIXABLE.contains(&first)).then(|| format!("{prefix}{unit}"))
}

/// Returns the quantity of a typeset unit; none if there are several.
pub(super) fn quantity(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "m" => "displacement",
        "m/s" => "velocity",
        "m/s\u{b2}" => "acceleration",
        "rad" => "angle",
        "rad/s" => "angular velocity",
        "N" => "force",
        "V" => "voltage",
        "A" => "current",
        "C" => "charge",
        "Pa" => "pressure",
        "m\u{b3}/s" => "flow rate",
        "m\u{b3}" => "volume",
        "K" => "temperature",
        "W" => "power",
        "J" => "energy",
        _ => return None,
    })
}

/// Prints a whole number as an exponent.
fn raised(number: i32) -> String {
    let one = |letter: char| match letter {
        '-' => '\u{207b}',
        '1' => '\u{b9}',
        '2' => '\u{b2}',
        '3' => '\u{b3}',
        digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    number.to_string().chars().map(one).collect()
}

/// Typesets a unit: `N·s/m`, `m³/s`.
pub(super) fn typeset(unit: &str) -> String {
    let letters: Vec<char> = unit.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        at += 1;
        if letter != '^' {
            out.push(if letter == '.' { '\u{b7}' } else { letter });
            continue;
        }
        let digits = letters[at..]
            .iter()
            .take_while(|next| next.is_ascii_digit() || **next == '-')
            .count();
        let power: String = letters[at..at + digits].iter().collect();
        at += digits;
        // A root, `m^1/2`, stays unchanged: a slash between numbers does not divide units.
        let is_root = letters.get(at) == Some(&'/') && letters.get(at + 1).is_some_and(char::is_ascii_digit);
        match power.parse() {
            Ok(number) if !is_root => out.push_str(&raised(number)),
            _ => {
                out.push('^');
                out.push_str(&power);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_their_texts_short() {
        let axis = of_time(0.0, 0.04, 8);
        assert_eq!(axis.unit, "ms");
        assert_eq!(axis.texts, ["0", "5", "10", "15", "20", "25", "30", "35", "40"]);
        let axis = of_time(0.0, 172_800.0, 8);
        assert_eq!(axis.unit, "h");
        assert_eq!(axis.texts, ["0", "6", "12", "18", "24", "30", "36", "42", "48"]);
        let axis = of_values(-0.02, 0.05, 5, Some("m"));
        assert_eq!(axis.texts, ["\u{2212}0.02", "0.00", "0.02", "0.04"]);
        assert_eq!(axis.unit, "m");
        let axis = of_values(0.0, 2.1e11, 5, Some("Pa"));
        assert_eq!(axis.unit, "GPa");
        assert_eq!(axis.texts, ["0", "50", "100", "150", "200"]);
        let axis = of_values(0.0, 3e-7, 4, None);
        assert_eq!(axis.unit, "10\u{207b}\u{2079}");
    }

    #[test]
    fn what_is_constant_or_empty_has_an_axis_too() {
        let axis = of_values(2.0, 2.0, 4, None);
        assert!(axis.from < 2.0 && axis.to > 2.0 && axis.ticks.len() > 2);
        let axis = of_values(0.0, 0.0, 4, None);
        assert_eq!((axis.from, axis.to), (-1.0, 1.0));
        let axis = of_values(f64::INFINITY, f64::NEG_INFINITY, 4, None);
        assert!(axis.from < axis.to);
        assert!(of_time(0.0, 0.0, 5).ticks.len() > 2);
    }

    /// A prefix at a power would be raised too: 1e-6 m\u{b3} is 1 cm\u{b3}, not 1 \u{b5}m\u{b3}.
    #[test]
    fn prefixes_stand_at_linear_units_only() {
        let unit = |unit: &str, highest: f64| of_values(0.0, highest, 4, Some(&typeset(unit))).unit;
        assert_eq!(unit("m", 3e-3), "mm");
        assert_eq!(unit("m/s", 4e-6), "\u{b5}m/s");
        assert_eq!(unit("N.m", 2e6), "MN\u{b7}m");
        assert_eq!(unit("m^3/s", 2e-4), "10\u{207b}\u{2076} m\u{b3}/s");
        assert_eq!(unit("kg.m/s", 2e-4), "10\u{207b}\u{2076} kg\u{b7}m/s");
        assert_eq!(unit("1/s", 2e6), "10\u{2076} 1/s");
    }

    #[test]
    fn units_are_typeset() {
        assert_eq!(typeset("N.s/m"), "N\u{b7}s/m");
        assert_eq!(typeset("m^3/s"), "m\u{b3}/s");
        assert_eq!(typeset("kg.m^-2"), "kg\u{b7}m\u{207b}\u{b2}");
        assert_eq!(typeset("m^2/s^2"), "m\u{b2}/s\u{b2}");
        assert_eq!(typeset("m^1/2"), "m^1/2");
    }
}
