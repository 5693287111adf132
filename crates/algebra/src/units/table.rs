//! The units of the language, and their prefixes.

use crate::units::Dimension;
use lgm_source::Span;
use lgm_source::nearest::{slips, suggestion};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// The meaning of a unit expression: a dimension, and an exact factor to SI that may contain a power of pi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The dimension of the unit.
    pub dimension: Dimension,
    /// The value of one unit in SI, without the power of pi.
    pub factor: BigRational,
    /// The power of pi in the factor: 1 for `deg` and `rpm`.
    pub pi_power: i32,
    /// The SI value of zero: 273.15 K for `degC`.
    pub offset: BigRational,
    /// True for `dB`, 20 times the decimal logarithm of a ratio.
    pub is_logarithmic: bool,
}

/// One factor of a unit expression: a name to a rational power.
#[derive(Clone, Copy, Debug)]
pub struct UnitPower<'a> {
    /// `kg`, `mH`; the literal `1` is the name `1`.
    pub name: &'a str,
    /// Exponent, numerator and positive denominator.
    pub exponent: (i32, i32),
    /// The location of the name.
    pub span: Span,
}

/// An error in a unit expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitFault {
    /// No unit has this name.
    Unknown(String, Span),
    /// The exponent is too large, or the factor to SI would be irrational.
    Exponent(String, Span),
    /// A logarithmic unit in a product.
    Product(String, Span),
}

/// Exponents of m, kg, s, A, K, mol, cd.
type Exponents = [i16; 7];

struct Known {
    name: &'static str,
    exponents: Exponents,
    /// Factor to SI as numerator and denominator.
    factor: (i64, i64),
    pi_power: i32,
    /// True if SI prefixes are allowed.
    prefixed: bool,
    /// The SI value of zero as numerator and denominator.
    offset: (i64, i64),
}

/// The name of the logarithmic unit of ratios.
const DECIBEL: &str = "dB";

const fn si(name: &'static str, exponents: Exponents) -> Known {
    Known {
        name,
        exponents,
        factor: (1, 1),
        pi_power: 0,
        prefixed: true,
        offset: (0, 1),
    }
}

const fn scaled(name: &'static str, exponents: Exponents, factor: (i64, i64), prefixed: bool) -> Known {
    Known {
        name,
        exponents,
        factor,
        pi_power: 0,
        prefixed,
        offset: (0, 1),
    }
}

/// An angle, or an angular velocity, as a fraction of pi.
const fn of_pi(name: &'static str, exponents: Exponents, factor: (i64, i64)) -> Known {
    Known {
        pi_power: 1,
        ..scaled(name, exponents, factor, false)
    }
}

/// A temperature scale.
const fn temperature(name: &'static str, factor: (i64, i64), offset: (i64, i64)) -> Known {
    Known {
        offset,
        ..scaled(name, TEMPERATURE, factor, false)
    }
}

const LENGTH: Exponents = [1, 0, 0, 0, 0, 0, 0];
const MASS: Exponents = [0, 1, 0, 0, 0, 0, 0];
const TIME: Exponents = [0, 0, 1, 0, 0, 0, 0];
const PURE: Exponents = [0; 7];
const PRESSURE: Exponents = [-1, 1, -2, 0, 0, 0, 0];
const ENERGY: Exponents = [2, 1, -2, 0, 0, 0, 0];
const VOLUME: Exponents = [3, 0, 0, 0, 0, 0, 0];
const TEMPERATURE: Exponents = [0, 0, 0, 0, 1, 0, 0];
const FORCE: Exponents = [1, 1, -2, 0, 0, 0, 0];
const POWER: Exponents = [2, 1, -3, 0, 0, 0, 0];
const FREQUENCY: Exponents = [0, 0, -1, 0, 0, 0, 0];

const KNOWN: &[Known] = &[
    si("m", LENGTH),
    scaled("g", MASS, (1, 1000), true),
    si("s", TIME),
    si("A", [0, 0, 0, 1, 0, 0, 0]),
    si("K", [0, 0, 0, 0, 1, 0, 0]),
    si("mol", [0, 0, 0, 0, 0, 1, 0]),
    si("cd", [0, 0, 0, 0, 0, 0, 1]),
    si("N", [1, 1, -2, 0, 0, 0, 0]),
    si("Pa", PRESSURE),
    si("J", ENERGY),
    si("W", [2, 1, -3, 0, 0, 0, 0]),
    si("C", [0, 0, 1, 1, 0, 0, 0]),
    si("V", [2, 1, -3, -1, 0, 0, 0]),
    si("ohm", [2, 1, -3, -2, 0, 0, 0]),
    si("Ohm", [2, 1, -3, -2, 0, 0, 0]),
    si("S", [-2, -1, 3, 2, 0, 0, 0]),
    si("F", [-2, -1, 4, 2, 0, 0, 0]),
    si("H", [2, 1, -2, -2, 0, 0, 0]),
    si("Wb", [2, 1, -2, -1, 0, 0, 0]),
    si("T", [0, 1, -2, -1, 0, 0, 0]),
    si("Hz", [0, 0, -1, 0, 0, 0, 0]),
    si("rad", PURE),
    si("sr", PURE),
    si("lm", [0, 0, 0, 0, 0, 0, 1]),
    si("lx", [-2, 0, 0, 0, 0, 0, 1]),
    si("Bq", [0, 0, -1, 0, 0, 0, 0]),
    si("Gy", [2, 0, -2, 0, 0, 0, 0]),
    si("Sv", [2, 0, -2, 0, 0, 0, 0]),
    si("kat", [0, 0, -1, 0, 0, 1, 0]),
    scaled("min", TIME, (60, 1), false),
    scaled("h", TIME, (3600, 1), false),
    scaled("d", TIME, (86_400, 1), false),
    scaled("bar", PRESSURE, (100_000, 1), true),
    scaled("atm", PRESSURE, (101_325, 1), false),
    scaled("L", VOLUME, (1, 1000), true),
    scaled("l", VOLUME, (1, 1000), true),
    // No prefixes: `ft` is rejected instead of being read as a femtotonne, and `pt` as a picotonne.
    scaled("t", MASS, (1000, 1), false),
    scaled("eV", ENERGY, (1_602_176_634, 1_000_000_000), true),
    scaled("percent", PURE, (1, 100), false),
    scaled("%", PURE, (1, 100), false),
    scaled(DECIBEL, PURE, (1, 1), false),
    of_pi("deg", PURE, (1, 180)),
    of_pi("rpm", FREQUENCY, (2, 60)),
    of_pi("rev", PURE, (2, 1)),
    temperature("degC", (1, 1), (27_315, 100)),
    // 459.67 degF above absolute zero, at 5/9 K each.
    temperature("degF", (5, 9), (45_967 * 5, 900)),
    // The pound, the inch and the mechanical horsepower of the international agreement of 1959 and of NIST SP 811.
    scaled("inch", LENGTH, (254, 10_000), false),
    scaled("in", LENGTH, (254, 10_000), false),
    scaled("ft", LENGTH, (3048, 10_000), false),
    scaled("lb", MASS, (45_359_237, 100_000_000), false),
    scaled("oz", MASS, (28_349_523_125, 1_000_000_000_000), false),
    scaled("lbf", FORCE, (44_482_216_152_605, 10_000_000_000_000), false),
    scaled("ozf", FORCE, (44_482_216_152_605, 160_000_000_000_000), false),
    scaled("psi", PRESSURE, (44_482_216_152_605, 6_451_600_000), false),
    scaled("hp", POWER, (74_569_987_158_227_022, 100_000_000_000_000), false),
    // The thermochemical calorie.
    scaled("cal", ENERGY, (4184, 1000), true),
    scaled("Wh", ENERGY, (3600, 1), true),
    scaled("Ah", [0, 0, 1, 1, 0, 0, 0], (3600, 1), true),
    scaled("1", PURE, (1, 1), false),
];

/// Returns every unit with its own name, without prefixes, and the dimension that it measures.
pub fn named_units() -> impl Iterator<Item = (&'static str, Dimension)> {
    KNOWN.iter().map(|known| (known.name, derived(known.exponents)))
}

/// Prefixes with their powers of ten; `da` before `d`, so that the longest is tried first.
const PREFIXES: &[(&str, i32)] = &[
    ("da", 1),
    ("Q", 30),
    ("R", 27),
    ("Y", 24),
    ("Z", 21),
    ("E", 18),
    ("P", 15),
    ("T", 12),
    ("G", 9),
    ("M", 6),
    ("k", 3),
    ("h", 2),
    ("d", -1),
    ("c", -2),
    ("m", -3),
    ("u", -6),
    ("n", -9),
    ("p", -12),
    ("f", -15),
    ("a", -18),
    ("z", -21),
    ("y", -24),
];

/// Dimensions with their customary units, tried in order.
pub(super) const READABLE: &[(&str, Exponents)] = &[
    ("m", LENGTH),
    ("kg", MASS),
    ("s", TIME),
    ("A", [0, 0, 0, 1, 0, 0, 0]),
    ("K", [0, 0, 0, 0, 1, 0, 0]),
    ("mol", [0, 0, 0, 0, 0, 1, 0]),
    ("cd", [0, 0, 0, 0, 0, 0, 1]),
    ("N", [1, 1, -2, 0, 0, 0, 0]),
    ("Pa", PRESSURE),
    ("J", ENERGY),
    ("W", [2, 1, -3, 0, 0, 0, 0]),
    ("C", [0, 0, 1, 1, 0, 0, 0]),
    ("V", [2, 1, -3, -1, 0, 0, 0]),
    ("ohm", [2, 1, -3, -2, 0, 0, 0]),
    ("S", [-2, -1, 3, 2, 0, 0, 0]),
    ("F", [-2, -1, 4, 2, 0, 0, 0]),
    ("H", [2, 1, -2, -2, 0, 0, 0]),
    ("V.s", [2, 1, -2, -1, 0, 0, 0]),
    ("T", [0, 1, -2, -1, 0, 0, 0]),
    ("m/s", [1, 0, -1, 0, 0, 0, 0]),
    ("m/s^2", [1, 0, -2, 0, 0, 0, 0]),
    ("m^2", [2, 0, 0, 0, 0, 0, 0]),
    ("m^3", VOLUME),
    ("m^3/s", [3, 0, -1, 0, 0, 0, 0]),
    ("1/s", [0, 0, -1, 0, 0, 0, 0]),
    ("1/s^2", [0, 0, -2, 0, 0, 0, 0]),
    ("N/m", [0, 1, -2, 0, 0, 0, 0]),
    ("N/m^3", [-2, 1, -2, 0, 0, 0, 0]),
    ("m/N", [0, -1, 2, 0, 0, 0, 0]),
    ("N.s/m", [0, 1, -1, 0, 0, 0, 0]),
    ("N.s", [1, 1, -1, 0, 0, 0, 0]),
    ("N/s", [1, 1, -3, 0, 0, 0, 0]),
    ("N.m.s", [2, 1, -1, 0, 0, 0, 0]),
    ("kg.m^2", [2, 1, 0, 0, 0, 0, 0]),
    ("kg/m^3", [-3, 1, 0, 0, 0, 0, 0]),
    ("kg/m^4", [-4, 1, 0, 0, 0, 0, 0]),
    ("Pa.s", [-1, 1, -1, 0, 0, 0, 0]),
    ("Pa/s", [-1, 1, -3, 0, 0, 0, 0]),
    ("Pa.s/m^3", [-4, 1, -1, 0, 0, 0, 0]),
    ("Pa/m^3", [-4, 1, -2, 0, 0, 0, 0]),
    ("m^3/Pa", [4, -1, 2, 0, 0, 0, 0]),
    ("V/m", [1, 1, -3, -1, 0, 0, 0]),
    ("V/s", [2, 1, -4, -1, 0, 0, 0]),
    ("A/s", [0, 0, -1, 1, 0, 0, 0]),
    ("1/H", [-2, -1, 2, 2, 0, 0, 0]),
    ("W/K", [2, 1, -3, 0, -1, 0, 0]),
    ("K/W", [-2, -1, 3, 0, 1, 0, 0]),
    ("J/K", [2, 1, -2, 0, -1, 0, 0]),
    ("K/s", [0, 0, -1, 0, 1, 0, 0]),
];

/// Named units from which longer texts are built.
pub(super) const PREFERRED: &[(&str, Exponents)] = &[
    ("N", [1, 1, -2, 0, 0, 0, 0]),
    ("Pa", PRESSURE),
    ("V", [2, 1, -3, -1, 0, 0, 0]),
    ("W", [2, 1, -3, 0, 0, 0, 0]),
    ("J", ENERGY),
    ("ohm", [2, 1, -3, -2, 0, 0, 0]),
    ("F", [-2, -1, 4, 2, 0, 0, 0]),
    ("H", [2, 1, -2, -2, 0, 0, 0]),
];

pub(super) fn derived(exponents: Exponents) -> Dimension {
    Dimension::integers(exponents)
}

fn ten_to(power: i32) -> BigRational {
    BigRational::from_integer(BigInt::from(10)).pow(power)
}

/// Returns the unit of a name, possibly with a prefix: a known name takes precedence over prefix plus unit.
fn named(name: &str) -> Option<Unit> {
    let unit = |known: &Known, power: i32| Unit {
        dimension: derived(known.exponents),
        factor: BigRational::new(known.factor.0.into(), known.factor.1.into()) * ten_to(power),
        pi_power: known.pi_power,
        offset: BigRational::new(known.offset.0.into(), known.offset.1.into()),
        is_logarithmic: known.name == DECIBEL,
    };
    // The factor of the electronvolt times its power of ten does not fit a machine word.
    let adjusted = |known: &Known, power: i32| {
        if known.name == "eV" {
            unit(known, power - 19)
        } else {
            unit(known, power)
        }
    };
    if let Some(known) = KNOWN.iter().find(|known| known.name == name) {
        return Some(adjusted(known, 0));
    }
    PREFIXES.iter().find_map(|(prefix, power)| {
        let rest = name.strip_prefix(prefix)?;
        let known = KNOWN.iter().find(|known| known.prefixed && known.name == rest)?;
        Some(adjusted(known, *power))
    })
}

/// Returns the meaning of a product of units.
///
/// A temperature scale by itself has its offset; in a product, as in `W/degC`, it measures a difference.
pub fn unit_of<'a>(factors: impl IntoIterator<Item = UnitPower<'a>>) -> Result<Unit, UnitFault> {
    let factors: Vec<UnitPower<'_>> = factors.into_iter().collect();
    if let [only] = &factors[..]
        && only.exponent == (1, 1)
        && let Some(unit) = named(only.name)
    {
        return Ok(unit);
    }
    let mut unit = Unit {
        dimension: Dimension::NONE,
        factor: BigRational::one(),
        pi_power: 0,
        offset: BigRational::zero(),
        is_logarithmic: false,
    };
    for factor in factors {
        let (numerator, denominator) = factor.exponent;
        let fault = || UnitFault::Exponent(factor.name.to_string(), factor.span);
        let Some(one) = named(factor.name) else {
            return Err(UnitFault::Unknown(factor.name.to_string(), factor.span));
        };
        if one.is_logarithmic {
            return Err(UnitFault::Product(factor.name.to_string(), factor.span));
        }
        if numerator.unsigned_abs() > 64 {
            return Err(fault());
        }
        unit.dimension = unit
            .dimension
            .times_power(&one.dimension, i64::from(numerator), i64::from(denominator))
            .ok_or_else(fault)?;
        if denominator == 1 {
            unit.factor *= one.factor.pow(numerator);
            unit.pi_power += one.pi_power * numerator;
        } else if !one.factor.is_one() || one.pi_power != 0 {
            // The root of a factor other than 1 is taken only if it is exact.
            let root = exact_root(&one.factor, denominator).filter(|_| one.pi_power == 0);
            unit.factor *= root.ok_or_else(fault)?.pow(numerator);
        }
    }
    Ok(unit)
}

fn exact_root(value: &BigRational, degree: i32) -> Option<BigRational> {
    let degree_word = u32::try_from(degree).ok()?;
    let root = BigRational::new(value.numer().nth_root(degree_word), value.denom().nth_root(degree_word));
    (root.pow(degree) == *value).then_some(root)
}

/// Likely prefixes of a misspelt name, the likeliest first.
const USUAL_PREFIXES: [&str; 9] = ["m", "k", "u", "n", "M", "p", "G", "c", "h"];

/// Returns the known unit whose name is nearest to a misspelt one, if one is similar.
pub fn nearest_unit(name: &str) -> Option<String> {
    const WORDS: &[(&str, &str)] = &[
        ("newton", "N"),
        ("volt", "V"),
        ("amp", "A"),
        ("ampere", "A"),
        ("meter", "m"),
        ("metre", "m"),
        ("sec", "s"),
        ("second", "s"),
        ("Ω", "ohm"),
        ("ohms", "ohm"),
        ("pascal", "Pa"),
        ("joule", "J"),
        ("watt", "W"),
        ("farad", "F"),
        ("henry", "H"),
        ("kilogram", "kg"),
        ("litre", "L"),
        ("liter", "L"),
        ("degree", "deg"),
        ("degrees", "deg"),
        ("deg_C", "degC"),
        ("Celsius", "degC"),
        ("centigrade", "degC"),
        ("oC", "degC"),
        ("deg_F", "degF"),
        ("Fahrenheit", "degF"),
        ("in", "inch"),
        ("inches", "inch"),
        ("foot", "ft"),
        ("feet", "ft"),
        ("lbs", "lb"),
        ("lbm", "lb"),
        ("pound", "lb"),
        ("horsepower", "hp"),
        ("t", "Mg"),
        ("ton", "Mg"),
        ("tonne", "Mg"),
    ];
    if let Some(entry) = WORDS.iter().find(|entry| entry.0.eq_ignore_ascii_case(name)) {
        return Some(entry.1.to_string());
    }
    let plain = || KNOWN.iter().map(|known| known.name.to_string());
    let prefixed = || {
        let known = KNOWN.iter().filter(|known| known.prefixed);
        known.flat_map(|known| {
            USUAL_PREFIXES
                .iter()
                .map(move |prefix| format!("{prefix}{}", known.name))
        })
    };
    let all: Vec<String> = plain().chain(prefixed()).collect();
    // `mh` has the wrong capitalisation; `kohn` has one wrong character, which is meaningful only for names that are long enough.
    let same = all.iter().find(|known| known.eq_ignore_ascii_case(name));
    let near = || {
        suggestion(name, all.iter().map(String::as_str))
            .filter(|near| name.chars().count() > 2 && slips(name, near) == 1)
    };
    same.map(String::as_str).or_else(near).map(str::to_string)
}

/// Units that are often written as one name: `Nm`, `kgm2`.
const JOINED: [&str; 14] = [
    "N", "m", "s", "kg", "rad", "A", "V", "W", "J", "K", "h", "Pa", "Wb", "mol",
];

/// Splits an unknown name into units without dots, each with its exponent: `kgm2` is kg and m^2.
pub fn joined_units(name: &str) -> Option<Vec<(&str, i32)>> {
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut found: Vec<(&str, i32)> = Vec::new();
    let mut rest = letters;
    while !rest.is_empty() {
        let is_new = |unit: &str| JOINED.contains(&unit) && found.iter().all(|other| other.0 != unit);
        // A prefix probably applies to the whole name: `kNm`.
        let is_prefixed = |unit: &str| {
            let mut prefixes = USUAL_PREFIXES.iter().filter_map(|prefix| unit.strip_prefix(prefix));
            found.is_empty() && prefixes.any(|unit| JOINED.contains(&unit))
        };
        let fits = |end: &usize| rest.get(..*end).is_some_and(|unit| is_new(unit) || is_prefixed(unit));
        let end = (1..=rest.len()).rev().find(fits)?;
        found.push((&rest[..end], 1));
        rest = &rest[end..];
    }
    // `mh` and `KW` have the wrong capitalisation, which `nearest_unit` corrects.
    let is_slip = match &found[..] {
        [one] => !JOINED.contains(&one.0),
        _ => matches!(found[0].0, "m" | "K"),
    };
    if is_slip {
        return None;
    }
    let last = found.last_mut()?;
    if letters.len() < name.len() {
        last.1 = name[letters.len()..]
            .parse()
            .ok()
            .filter(|power| (1..=9).contains(power))?;
    }
    Some(found)
}
