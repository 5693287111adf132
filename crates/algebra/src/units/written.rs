//! Dimensions as readable units.

use crate::units::{Dimension, table};

impl Dimension {
    /// Formats the dimension as a readable SI unit: `N/m`, `ohm`, `kg.m^2`, `1` for a pure number.
    pub fn text(&self) -> String {
        if self.is_none() {
            return "1".to_string();
        }
        if let Some(name) = table::READABLE.iter().find(|entry| table::derived(entry.1) == *self) {
            return name.0.to_string();
        }
        // A named unit times or divided by a few base units, if that requires fewer factors: `V.s/m`.
        let mut best = (base_factors(self).len(), base_text(self));
        for (name, exponents) in table::PREFERRED {
            let unit = table::derived(*exponents);
            for power in [1, -1, 2, -2] {
                let Some(rest) = self.times_power(&unit, -power, 1) else {
                    continue;
                };
                let count = base_factors(&rest).len() + 1;
                // `V^2` is readable by itself, but not mixed with other factors.
                if count < best.0 && (power.abs() == 1 || count == 1) {
                    best = (count, with_head(name, power, &rest));
                }
            }
        }
        best.1
    }
}

fn base_factors(dimension: &Dimension) -> Vec<(&'static str, i16, i16)> {
    // The customary order: mass before length.
    const ORDER: [(usize, &str); 7] = [(1, "kg"), (0, "m"), (2, "s"), (3, "A"), (4, "K"), (5, "mol"), (6, "cd")];
    ORDER
        .iter()
        .map(|(at, name)| (*name, dimension.exponents[*at].0, dimension.exponents[*at].1))
        .filter(|factor| factor.1 != 0)
        .collect()
}

fn factor_text(name: &str, numerator: i16, denominator: i16) -> String {
    match (numerator, denominator) {
        (1, 1) => name.to_string(),
        (numerator, 1) => format!("{name}^{numerator}"),
        (numerator, denominator) => format!("{name}^{numerator}/{denominator}"),
    }
}

fn fraction(top: Vec<String>, bottom: Vec<String>) -> String {
    let above = if top.is_empty() { "1".to_string() } else { top.join(".") };
    match bottom.len() {
        0 => above,
        1 => format!("{above}/{}", bottom[0]),
        _ => format!("{above}/({})", bottom.join(".")),
    }
}

fn split(dimension: &Dimension) -> (Vec<String>, Vec<String>) {
    let mut top = Vec::new();
    let mut bottom = Vec::new();
    for (name, numerator, denominator) in base_factors(dimension) {
        if numerator > 0 {
            top.push(factor_text(name, numerator, denominator));
        } else {
            bottom.push(factor_text(name, -numerator, denominator));
        }
    }
    (top, bottom)
}

fn base_text(dimension: &Dimension) -> String {
    let (top, bottom) = split(dimension);
    fraction(top, bottom)
}

fn with_head(head: &str, power: i64, rest: &Dimension) -> String {
    let (mut top, mut bottom) = split(rest);
    let head = match power.abs() {
        1 => head.to_string(),
        power => format!("{head}^{power}"),
    };
    if power > 0 {
        top.insert(0, head);
    } else {
        bottom.insert(0, head);
    }
    fraction(top, bottom)
}
