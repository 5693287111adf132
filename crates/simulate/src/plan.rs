//! The options of a run, the receiver of its samples, and the summary.

use lgm_model::Experiment;
use lgm_runtime::events::instants::plain;
use lgm_source::diagnostic::Diagnostic;

/// Times with a relative difference below this value are equal.
pub(crate) const EQUAL_TIMES: f64 = 8.0 * f64::EPSILON;

/// The plan of one run. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Time of the first row; initial values apply here.
    pub start: f64,
    /// Time of the last row; not before `start`.
    pub stop: f64,
    /// Number of equidistant rows, including both ends; at least 1, which means only the first row.
    pub points: usize,
    /// Largest local error of each step, relative to a state's magnitude.
    pub rtol: f64,
    /// Largest local error of a state near zero, in the state's SI unit. If it is omitted, a thousandth of `rtol` times
    /// the scale of each state, which is its largest magnitude so far in the run.
    pub atol: Option<f64>,
    /// The method of solving the equations.
    pub method: Method,
    /// True if the run has additional rows at corners and events: just before and just after.
    pub events: bool,
    /// True if the run starts at rest: all derivatives are zero with the inputs of the first instant.
    pub from_equilibrium: bool,
    /// The maximum number of steps before the run fails.
    pub max_steps: u64,
}

impl Default for Plan {
    /// Returns a plan for one second and 501 rows, with `rtol` 1e-6 and, near zero, a tolerance from the scale of each state.
    fn default() -> Plan {
        Plan {
            start: 0.0,
            stop: 1.0,
            points: Experiment::ROWS as usize,
            rtol: 1e-6,
            atol: None,
            method: Method::Auto,
            events: false,
            from_equilibrium: false,
            max_steps: 1_000_000_000,
        }
    }
}

impl Plan {
    /// Returns the time of a row. The first row is exactly at the start, the last one at the stop.
    pub fn time(&self, row: usize) -> f64 {
        if row == 0 {
            return self.start;
        }
        if row + 1 >= self.points && self.points > 1 {
            return self.stop;
        }
        let share = row as f64 / (self.points.max(2) - 1) as f64;
        let time = self.start + share * (self.stop - self.start);
        plain(time, time.abs().max(self.start.abs()))
    }

    /// Returns true if a row is at this time, or earlier, within the round-off of both.
    pub(crate) fn is_row(&self, row: usize, time: f64) -> bool {
        row < self.points && self.time(row) <= time + EQUAL_TIMES * time.abs()
    }

    /// Returns the time that a row at an event shows. If the next sample is at the same time within round-off, it is the time of that
    /// sample, so that times never decrease.
    pub(crate) fn shown(&self, row: usize, time: f64) -> f64 {
        match self.is_row(row, time) {
            true => self.time(row),
            false => time,
        }
    }
}

/// The method of solving the equations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Tsitouras 5(4) unless stability limits it; otherwise an implicit method, for as long as it makes more progress:
    /// BDF for decays, ESDIRK for oscillations.
    #[default]
    Auto,
    /// Explicit Runge-Kutta of Tsitouras, order 5 with an error estimate of order 4.
    Tsit45,
    /// Backward differentiation, orders 1 to 5, for stiff equations.
    Bdf,
    /// Diagonally implicit Runge-Kutta ESDIRK 3(4), for stiff equations that also oscillate.
    Sdirk,
    /// TR-BDF2, order 2, for stiff equations at loose tolerances.
    TrBdf2,
}

impl Method {
    /// All methods with their names on the command line.
    pub const ALL: [(Method, &'static str); 5] = [
        (Method::Auto, "auto"),
        (Method::Tsit45, "tsit45"),
        (Method::Bdf, "bdf"),
        (Method::Sdirk, "sdirk"),
        (Method::TrBdf2, "tr-bdf2"),
    ];

    /// Returns its name on the command line.
    pub fn word(self) -> &'static str {
        Method::ALL
            .iter()
            .find(|entry| entry.0 == self)
            .map(|entry| entry.1)
            .expect("invariant: Method::ALL lists every method")
    }

    /// Returns the method with a name, ignoring case.
    pub fn of_word(word: &str) -> Option<Method> {
        let found = Method::ALL.iter().find(|entry| entry.1.eq_ignore_ascii_case(word));
        found.map(|entry| entry.0)
    }

    /// Returns true if it needs no Jacobian.
    pub fn is_explicit(self) -> bool {
        self == Method::Tsit45
    }
}

/// The reason why a run ends early without an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user requested it.
    Interrupted,
    /// The sink accepts no more rows, for the given reason.
    Refused(String),
}

/// Receives the samples of a run in order of time.
pub trait Sink {
    /// Receives the solution of the algebraic loops for the next sample, which is not available elsewhere.
    fn unknowns(&mut self, _unknowns: &[f64]) {}

    /// Receives one row. At a corner it contains the values after it.
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop>;

    /// Returns true if the values before and after each event are requested in addition to the samples of the plan
    /// ([`Sink::beside`]).
    fn wants_events(&self) -> bool {
        false
    }

    /// Receives values just before or after an event that are not a row of the plan.
    fn beside(&mut self, _time: f64, _outputs: &[f64], _states: &[f64]) {}
}

impl<F: FnMut(f64, &[f64], &[f64])> Sink for F {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        self(time, outputs, states);
        Ok(())
    }
}

/// Receives the progress of a run after every step; may end it.
pub trait Progress: Sync {
    /// Reports that the run has reached this time.
    fn reached(&self, time: f64) -> Result<(), Stop>;
}

/// Ignores the progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn reached(&self, _time: f64) -> Result<(), Stop> {
        Ok(())
    }
}

/// The report of a completed run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The method of the last step.
    pub method: Method,
    /// The time from which an implicit method was used under [`Method::Auto`], if it was in use until the end.
    pub stiff_from: Option<f64>,
    /// The number of accepted steps.
    pub steps: u64,
    /// The number of steps rejected because of their error, or because Newton's iteration did not converge.
    pub rejected: u64,
    /// The number of evaluations of the right sides.
    pub evaluations: u64,
    /// The number of evaluations of the Jacobian.
    pub jacobians: u64,
    /// The number of factorisations of a matrix.
    pub factorisations: u64,
    /// The number of corners and events at which the solver was restarted.
    pub restarts: u64,
    /// Remarks, each reported once.
    pub notes: Vec<Diagnostic>,
}

#[cfg(test)]
mod tests {
    use super::Plan;

    #[test]
    fn rows_are_at_the_times_that_were_asked_for() {
        for (start, step, points) in [
            ("0", "0.005", 41),
            ("-0.7", "0.1", 31),
            ("0", "1e-10", 1001),
            ("3", "0.7", 301),
            ("0", "1e-6", 1001),
            ("0", "250", 61),
        ] {
            let (first, width): (f64, f64) = (start.parse().unwrap(), step.parse().unwrap());
            let (whole, exponent) = step.split_once('e').unwrap_or((step, "0"));
            let digits = whole.split_once('.').map_or(0, |(_, digits)| digits.len());
            let unit = 10f64.powi(digits as i32);
            let decimal = |row: usize| -> f64 {
                // Start and step are integer multiples of a power of ten.
                let count =
                    (first * unit * 10.0).round() + row as f64 * (whole.parse::<f64>().unwrap() * unit * 10.0).round();
                let exponent: i32 = exponent.parse::<i32>().unwrap() - digits as i32 - 1;
                format!("{count}e{exponent}").parse().unwrap()
            };
            let plan = Plan {
                start: first,
                stop: decimal(points - 1),
                points,
                ..Plan::default()
            };
            for row in 0..points {
                assert_eq!(plan.time(row), decimal(row), "{row} of {width} from {start}");
            }
        }
    }

    #[test]
    fn times_that_are_no_decimals_stay() {
        let plan = Plan {
            stop: 1.0,
            points: 4,
            ..Plan::default()
        };
        assert_eq!(plan.time(1), 1.0 / 3.0);
        let none = Plan { stop: 0.0, ..plan };
        assert_eq!(none.time(0), 0.0);
    }
}
