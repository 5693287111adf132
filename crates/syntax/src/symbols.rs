//! The names that look like units. This list serves only to recognise misplaced units; `lgm_algebra` defines their meaning.

/// Symbols that take no prefix.
const PLAIN: &[&str] = &[
    "deg", "rpm", "rev", "min", "h", "kg", "rad", "l", "L", "degC", "degF", "dB", "percent", "inch", "in", "ft", "lb",
    "oz", "lbf", "ozf", "psi", "hp", "atm",
];

/// Symbols that take a prefix.
const PREFIXED: &[&str] = &[
    "m", "g", "s", "A", "K", "mol", "cd", "N", "J", "W", "Pa", "bar", "V", "C", "F", "ohm", "S", "H", "Wb", "T", "Hz",
    "eV", "lm", "lx", "cal", "Wh", "Ah",
];

/// SI prefixes.
const PREFIXES: &[&str] = &["p", "n", "u", "m", "c", "d", "k", "M", "G", "T", "h", "da"];

/// Returns true if a name is the symbol of a unit, with or without a prefix.
pub fn is_unit(name: &str) -> bool {
    PLAIN.contains(&name)
        || PREFIXED.contains(&name)
        || PREFIXES
            .iter()
            .filter_map(|prefix| name.strip_prefix(prefix))
            .any(|rest| PREFIXED.contains(&rest))
}
