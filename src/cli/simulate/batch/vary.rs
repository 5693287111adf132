//! Parameter values for batches of runs: a grid, a table, or random numbers.

use super::runs::{Runs, Target};
use crate::cli::files::disk::read_named;
use crate::cli::report::misuse;
use lgm_elaborate::{Quantity, bare_number, quantity};
use lgm_equations::StateSystem;
use lgm_model::Scale;
use lgm_simulate::read_samples;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;
use lgm_source::{SourceId, SourceMap, Span};
use std::path::Path;

/// Maximum number of runs in a batch.
pub(super) const MOST: usize = 1_000_000;

/// A result, such as a parameter's value for one run, or the diagnostic that explains why none exists.
type Answer<T> = Result<T, Box<Diagnostic>>;

/// An option that a diagnostic can point into.
struct OptionText<'t> {
    text: &'t str,
    source: SourceId,
    example: &'static str,
}

impl OptionText<'_> {
    fn new<'t>(option: &str, text: &'t str, example: &'static str, map: &mut SourceMap) -> OptionText<'t> {
        OptionText {
            text,
            source: map.add(format!("{option} {text}"), text, None),
            example,
        }
    }

    /// Creates the diagnostic for a malformed part of the option.
    fn malformed(&self, part: &str, message: &str) -> Box<Diagnostic> {
        let base = self.text.as_ptr() as usize;
        let start = (part.as_ptr() as usize)
            .checked_sub(base)
            .filter(|at| *at <= self.text.len());
        let start = start.unwrap_or(0);
        let end = (start + part.len()).min(self.text.len());
        Box::new(
            Diagnostic::error(Code::LGM0924, "this option does not define how a parameter varies")
                .label(Span::new(self.source, start, end), message.to_string())
                .help(format!("use the form `{}`", self.example)),
        )
    }

    /// Splits the option into the name and the text after the `=`.
    fn halves(&self) -> Answer<(&str, &str)> {
        match self.text.split_once('=') {
            Some((name, rest)) if !name.trim().is_empty() => Ok((name.trim(), rest)),
            Some(_) => Err(self.malformed(self.text, "expected a name before `=`")),
            None => Err(self.malformed(self.text, "there is no `=`")),
        }
    }

    fn number(&self, part: &str) -> Answer<f64> {
        match part.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.malformed(part, "a finite number is required here")),
        }
    }

    /// Reads a number that may have a unit.
    fn quantity(&self, part: &str) -> Answer<Quantity> {
        let found = quantity(part);
        found.ok_or_else(|| {
            self.malformed(
                part,
                "a finite number is required here, with a unit in brackets or none",
            )
        })
    }

    /// Returns a number in the declared unit of a parameter, as a value of it or as a difference of two values.
    fn declared(&self, (part, given): (&str, &Quantity), target: &Target, is_difference: bool) -> Answer<f64> {
        let Some(unit) = &given.unit else {
            return Ok(given.number);
        };
        if let Some(own) = target.unit.as_ref().filter(|own| own.dimension != unit.dimension) {
            return Err(self.malformed(part, &format!("`{}` is in [{own}]", target.name)));
        }
        let scale = Scale::of(unit);
        Ok(match is_difference {
            true => given.number * scale.step / target.scale.step,
            false => target.scale.from_si(scale.to_si(given.number)),
        })
    }

    /// Returns the warning for numbers without a unit, if the text gives the parameter in another unit than that of SI.
    fn bare(&self, target: &Target, given: &[&Quantity], (value, place): (&str, &str)) -> Option<Diagnostic> {
        let unit = target.literal_unit.as_ref()?;
        let start = (place.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let span = Span::new(self.source, start, start + place.len());
        let is_bare = given.iter().all(|quantity| quantity.unit.is_none());
        is_bare.then(|| bare_number((&target.name, value), unit, span))
    }

    fn target(&self, name: &str, system: &StateSystem) -> Answer<Target> {
        let start = self.text.find(name).unwrap_or(0);
        target(name, Some(Span::new(self.source, start, start + name.len())), system)
    }
}

/// Finds the parameter with a name.
fn target(name: &str, place: Option<Span>, system: &StateSystem) -> Answer<Target> {
    let plain = |text: &str| text.replace(' ', "");
    let wanted = plain(name);
    let entries = system
        .parameters
        .iter()
        .flat_map(|parameter| parameter.entries.iter().map(move |entry| (parameter, entry)));
    let named = entries.map(|(parameter, entry)| (&*system.exprs.symbol_info(entry.symbol).name, parameter));
    for (position, (known, parameter)) in named.clone().enumerate() {
        let is_fixed = || system.is_fixed(position);
        if plain(known) == wanted && is_fixed() {
            let message = format!("`{known}` determines the instants of an `every` block, so it cannot vary");
            let diagnostic = Diagnostic::error(Code::LGM0925, message);
            let diagnostic = place
                .into_iter()
                .fold(diagnostic, |all, span| all.label(span, "fixed for all runs"));
            return Err(Box::new(
                diagnostic.help("run the command once for each value, with `--set`"),
            ));
        }
        if plain(known) == wanted {
            return Ok(Target {
                name: known.to_string(),
                unit: parameter.unit.clone(),
                position,
                scale: parameter.scale,
                literal_unit: parameter.literal_unit.clone(),
            });
        }
    }
    let mut diagnostic = Diagnostic::error(
        Code::LGM0925,
        format!("`{}` has no `param` named `{name}` that could vary", system.model),
    );
    if let Some(place) = place {
        diagnostic = diagnostic.label(place, "no number has this name");
    }
    diagnostic.help = did_you_mean(name, named.map(|entry| entry.0));
    diagnostic =
        diagnostic.note("a `const` is fixed at compile time: run the command once for each value, with `--set`");
    Err(Box::new(diagnostic))
}

/// Returns every combination of the values of `--sweep name=from:to:n[:log]`. The last parameter varies fastest.
pub(in crate::cli) fn grid(options: &[String], system: &StateSystem, map: &mut SourceMap) -> Answer<Runs> {
    let mut runs = Runs {
        parameters: Vec::new(),
        values: vec![Vec::new()],
        warnings: Vec::new(),
    };
    for text in options {
        let option = OptionText::new("--sweep", text, "--sweep k=20:200:10", map);
        let (name, rest) = option.halves()?;
        let parts: Vec<&str> = rest.split(':').collect();
        let is_log = match parts.get(3).map(|word| word.trim()) {
            None => false,
            Some("log") => true,
            Some(_) => return Err(option.malformed(parts[3], "only `log` is allowed here")),
        };
        let (3 | 4) = parts.len() else {
            return Err(option.malformed(rest, "this is not of the form `from:to:n`"));
        };
        // A unit after the last number belongs to both ends.
        let (number, unit) = parts[2].split_at(parts[2].find('[').unwrap_or(parts[2].len()));
        let ends = [parts[0], parts[1]].map(|part| match part.contains('[') || unit.is_empty() {
            true => part.to_string(),
            false => format!("{part} {unit}"),
        });
        let quantity = |at: usize| {
            let found = quantity(&ends[at]);
            found.ok_or_else(|| {
                option.malformed(
                    parts[at],
                    "a finite number is required here, with a unit in brackets or none",
                )
            })
        };
        let (from, to) = (quantity(0)?, quantity(1)?);
        let count = match number.trim().parse::<usize>() {
            Ok(count) if count > 0 => count,
            _ => return Err(option.malformed(parts[2], "a whole number above zero is required here")),
        };
        let target = option.target(name, system)?;
        let bare = option.bare(&target, &[&from, &to], (parts[0].trim(), rest));
        runs.warnings.extend(bare);
        let from = option.declared((parts[0], &from), &target, false)?;
        let to = option.declared((parts[1], &to), &target, false)?;
        if is_log && !(from > 0.0 && to > 0.0) {
            return Err(option.malformed(rest, "both ends must be above zero for equal factors"));
        }
        if runs.parameters.iter().any(|known| known.position == target.position) {
            return Err(option.malformed(name, "this parameter already varies"));
        }
        if runs.values.len().saturating_mul(count) > MOST {
            return Err(option.malformed(rest, "this would need more than a million runs"));
        }
        let values: Vec<f64> = (0..count)
            .map(|at| target.scale.to_si(spaced(from, to, count, at, is_log)))
            .collect();
        let longer = |run: &Vec<f64>, value: f64| run.iter().copied().chain([value]).collect::<Vec<f64>>();
        runs.values = runs
            .values
            .iter()
            .flat_map(|run| values.iter().map(move |value| longer(run, *value)))
            .collect();
        runs.parameters.push(target);
    }
    Ok(runs)
}

/// Returns one of `count` values between two ends. The ends are exact.
fn spaced(from: f64, to: f64, count: usize, at: usize, is_log: bool) -> f64 {
    if at == 0 {
        return from;
    }
    if at + 1 == count {
        return to;
    }
    let share = at as f64 / (count - 1) as f64;
    match is_log {
        true => from * (to / from).powf(share),
        false => from + share * (to - from),
    }
}

/// Returns one run for each row of a table whose columns are parameters.
pub(super) fn samples(path: &Path, system: &StateSystem, map: &mut SourceMap) -> Answer<Runs> {
    let name = path.display().to_string();
    let text = read_named(path).map_err(|reason| {
        Box::new(misuse(
            Code::LGM0922,
            format!("cannot read `{name}`: {reason}"),
            "name a CSV file whose first line names parameters",
        ))
    })?;
    let source = map.add(name, text, Some(path.to_path_buf()));
    let (columns, mut values) = read_samples(map, source).map_err(Box::new)?;
    let mut parameters: Vec<Target> = Vec::new();
    for (column, place) in columns {
        let target = target(&column, Some(place), system)?;
        if parameters.iter().any(|known| known.position == target.position) {
            return Err(Box::new(
                Diagnostic::error(Code::LGM0924, format!("two columns are named `{column}`"))
                    .label(place, "the second one"),
            ));
        }
        parameters.push(target);
    }
    if values.len() > MOST {
        let message = format!(
            "the table has {} rows, but at most a million runs are allowed",
            values.len()
        );
        return Err(Box::new(misuse(Code::LGM0924, message, "split the table")));
    }
    for row in &mut values {
        for (value, target) in row.iter_mut().zip(&parameters) {
            *value = target.scale.to_si(*value);
        }
    }
    Ok(Runs {
        parameters,
        values,
        ..Runs::default()
    })
}

/// The random distribution of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Distribution {
    /// Mean and standard deviation.
    Normal(f64, f64),
    /// Lower and upper limits.
    Uniform(f64, f64),
    /// Lower and upper limits; the logarithm is uniformly distributed.
    LogUniform(f64, f64),
    /// Median, and the factor that corresponds to one standard deviation of the logarithm.
    LogNormal(f64, f64),
    /// Lower limit, most likely value, upper limit.
    Triangular(f64, f64, f64),
}

impl Distribution {
    /// Reads a distribution over numbers in the declared unit of the parameter, and a warning of numbers without a unit.
    fn read(option: &OptionText<'_>, text: &str, target: &Target) -> Answer<(Distribution, Option<Diagnostic>)> {
        let words = "normal(mean, deviation), uniform(from, to), loguniform(from, to), lognormal(median, factor) or \
                     triangular(from, peak, to)";
        let written = text.trim();
        let Some((name, rest)) = written.strip_suffix(')').and_then(|text| text.split_once('(')) else {
            return Err(option.malformed(written, &format!("write {words}")));
        };
        let parts: Vec<&str> = rest.split(',').collect();
        let mut quantities = Vec::with_capacity(parts.len());
        let mut numbers = Vec::with_capacity(parts.len());
        for (at, part) in parts.iter().enumerate() {
            let found = option.quantity(part)?;
            numbers.push(match (name.trim(), at) {
                ("normal", 1) => option.declared((*part, &found), target, true)?,
                // A factor.
                ("lognormal", 1) => option.number(part)?,
                _ => option.declared((*part, &found), target, false)?,
            });
            quantities.push(found);
        }
        let all: Vec<&Quantity> = quantities.iter().collect();
        let bare = option.bare(target, &all, (parts[0].trim(), rest));
        let (found, holds, rule) = match (name.trim(), &numbers[..]) {
            ("normal", [mean, deviation]) => (
                Distribution::Normal(*mean, *deviation),
                *deviation >= 0.0,
                "the deviation must not be negative",
            ),
            ("uniform", [from, to]) => (
                Distribution::Uniform(*from, *to),
                from <= to,
                "the first end must not exceed the second",
            ),
            ("loguniform", [from, to]) => (
                Distribution::LogUniform(*from, *to),
                0.0 < *from && from <= to,
                "the ends must increase and be above zero",
            ),
            ("lognormal", [median, factor]) => (
                Distribution::LogNormal(*median, *factor),
                *median > 0.0 && *factor >= 1.0,
                "the median must be above zero and the factor at least 1",
            ),
            ("triangular", [from, peak, to]) => (
                Distribution::Triangular(*from, *peak, *to),
                from <= peak && peak <= to && from < to,
                "the three numbers must increase",
            ),
            _ => return Err(option.malformed(written, &format!("write {words}"))),
        };
        match holds {
            true => Ok((found, bare)),
            false => Err(option.malformed(rest, rule)),
        }
    }

    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Distribution::Normal(mean, deviation) => mean + deviation * random.normal(),
            Distribution::Uniform(from, to) => from + (to - from) * random.uniform(),
            Distribution::LogUniform(from, to) => from * (to / from).powf(random.uniform()),
            Distribution::LogNormal(median, factor) => median * factor.powf(random.normal()),
            Distribution::Triangular(from, peak, to) => {
                let share = random.uniform();
                let turn = (peak - from) / (to - from);
                match share < turn {
                    true => from + ((to - from) * (peak - from) * share).sqrt(),
                    false => to - ((to - from) * (to - peak) * (1.0 - share)).sqrt(),
                }
            }
        }
    }
}

/// Returns runs with random parameters, which depend on the seed but not on the number of cores.
pub(super) fn drawn(
    options: &[String],
    count: usize,
    seed: u64,
    system: &StateSystem,
    map: &mut SourceMap,
) -> Answer<Runs> {
    let mut parameters: Vec<Target> = Vec::new();
    let (mut distributions, mut warnings) = (Vec::new(), Vec::new());
    for text in options {
        let option = OptionText::new("--vary", text, "--vary \"k=normal(50, 2)\"", map);
        let (name, rest) = option.halves()?;
        let target = option.target(name, system)?;
        let (distribution, bare) = Distribution::read(&option, rest, &target)?;
        warnings.extend(bare);
        if parameters.iter().any(|known| known.position == target.position) {
            return Err(option.malformed(name, "this parameter already varies"));
        }
        parameters.push(target);
        distributions.push(distribution);
    }
    let mut random = Random::new(seed);
    let one = |random: &mut Random| {
        let pairs = distributions.iter().zip(&parameters);
        pairs
            .map(|(distribution, target)| target.scale.to_si(distribution.draw(random)))
            .collect()
    };
    let values = (0..count).map(|_| one(&mut random)).collect();
    Ok(Runs {
        parameters,
        values,
        warnings,
    })
}

/// The generator xoshiro256++ of Blackman and Vigna, seeded by splitmix64. It is small and public, and gives the same numbers on all
/// platforms.
#[derive(Clone, Debug)]
struct Random {
    state: [u64; 4],
    spare: Option<f64>,
}

impl Random {
    fn new(seed: u64) -> Random {
        let mut seed = seed;
        let mut split = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = seed;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        };
        Random {
            state: [split(), split(), split(), split()],
            spare: None,
        }
    }

    fn next(&mut self) -> u64 {
        let state = &mut self.state;
        let word = state[0].wrapping_add(state[3]).rotate_left(23).wrapping_add(state[0]);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        word
    }

    /// Returns a random number from 0 (inclusive) to 1 (exclusive).
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a normally distributed number with mean 0 and standard deviation 1, by the polar method.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare = Some(y * factor);
                return x * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_numbers() {
        let mut random = Random {
            state: [1, 2, 3, 4],
            spare: None,
        };
        // The first numbers from the reference implementation for this state.
        let first: Vec<u64> = (0..4).map(|_| random.next()).collect();
        assert_eq!(
            first,
            [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]
        );
    }

    #[test]
    fn distributions_have_their_means_and_deviations() {
        let count = 200_000;
        let moments = |distribution: Distribution| {
            let mut random = Random::new(7);
            let list: Vec<f64> = (0..count).map(|_| distribution.draw(&mut random)).collect();
            let mean = list.iter().sum::<f64>() / f64::from(count);
            let square = list.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / f64::from(count);
            (mean, square.sqrt())
        };
        let near = |found: (f64, f64), mean: f64, deviation: f64| {
            assert!((found.0 - mean).abs() < 0.01 * deviation, "{found:?}");
            assert!((found.1 - deviation).abs() < 0.01 * deviation, "{found:?}");
        };
        near(moments(Distribution::Normal(50.0, 2.0)), 50.0, 2.0);
        near(moments(Distribution::Uniform(0.0, 12.0)), 6.0, 12.0 / 12f64.sqrt());
        near(moments(Distribution::Triangular(0.0, 0.0, 3.0)), 1.0, 0.5f64.sqrt());
        let log = moments(Distribution::LogUniform(1.0, std::f64::consts::E));
        assert!((log.0 - (std::f64::consts::E - 1.0)).abs() < 0.01, "{log:?}");
        let log = moments(Distribution::LogNormal(1.0, std::f64::consts::E));
        assert!((log.0 - 0.5f64.exp()).abs() < 0.03, "{log:?}");
    }

    #[test]
    fn both_ends_of_a_sweep_are_exact() {
        let list: Vec<f64> = (0..4).map(|at| spaced(0.1, 100.0, 4, at, true)).collect();
        assert_eq!((list[0], list[3]), (0.1, 100.0));
        assert!((list[1] - 1.0).abs() < 1e-14 && (list[2] - 10.0).abs() < 1e-13);
        assert_eq!(spaced(3.0, 4.0, 1, 0, false), 3.0);
    }
}
