//! What a run is asked to do, to whom it reports, and what.

use lgm_model::Experiment;
use lgm_runtime::events::instants::plain;
use lgm_source::diagnostic::Diagnostic;

/// How one run is to be made. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Time of the first row; starts hold here.
    pub start: f64,
    /// Time of the last row; not before `start`.
    pub stop: f64,
    /// Number of rows at equal distances, both ends counted; at least 1, which is the first row alone.
    pub points: usize,
    /// Largest local error relative to a state's size, for each step.
    pub rtol: f64,
    /// Largest local error of a state near zero, in the state's SI unit; without one, a thousandth of `rtol` times the scale of each
    /// state, which is the most that the run has seen of it.
    pub atol: Option<f64>,
    /// How the equations are solved.
    pub method: Method,
    /// Whether there are further rows at corners and events: just before and just after.
    pub events: bool,
    /// Whether the run starts at rest: where all derivatives are zero with the inputs of the first instant.
    pub from_equilibrium: bool,
    /// The run fails after this many steps.
    pub max_steps: u64,
}

impl Default for Plan {
    /// One second, 501 rows, `rtol` 1e-6, near zero what the scale of each state allows.
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
    /// The time of a row. The first row is exactly at the start, the last one at the stop.
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
}

/// How the equations are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Tsitouras 5(4) where that is not held back by stability; elsewhere an implicit method, for as long as it makes more way:
    /// BDF for decays, ESDIRK for vibrations.
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
    /// All of them with the words of the command line.
    pub const ALL: [(Method, &'static str); 5] = [
        (Method::Auto, "auto"),
        (Method::Tsit45, "tsit45"),
        (Method::Bdf, "bdf"),
        (Method::Sdirk, "sdirk"),
        (Method::TrBdf2, "tr-bdf2"),
    ];

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        Method::ALL
            .iter()
            .find(|entry| entry.0 == self)
            .map(|entry| entry.1)
            .expect("invariant: Method::ALL lists every method")
    }

    /// The method of a word, in either case.
    pub fn of_word(word: &str) -> Option<Method> {
        let found = Method::ALL.iter().find(|entry| entry.1.eq_ignore_ascii_case(word));
        found.map(|entry| entry.0)
    }

    /// Whether it needs no Jacobian.
    pub fn is_explicit(self) -> bool {
        self == Method::Tsit45
    }
}

/// Why a run ends early without a fault of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user asked for it.
    Interrupted,
    /// The sink takes no more rows, and says why.
    Refused(String),
}

/// Takes the rows of a run as they are made, in order of time.
pub trait Sink {
    /// The solution of the algebraic loops that the next row shows; nobody need know it.
    fn unknowns(&mut self, _unknowns: &[f64]) {}

    /// One row. At a corner it holds the values after it.
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop>;

    /// Returns true if the values before and behind each event are wanted beside the rows of the plan ([`Sink::beside`]).
    fn wants_events(&self) -> bool {
        false
    }

    /// Values just before an event or just behind it, which are no row of the plan.
    fn beside(&mut self, _time: f64, _outputs: &[f64], _states: &[f64]) {}
}

impl<F: FnMut(f64, &[f64], &[f64])> Sink for F {
    fn row(&mut self, time: f64, outputs: &[f64], states: &[f64]) -> Result<(), Stop> {
        self(time, outputs, states);
        Ok(())
    }
}

/// Receives how far a run has come, after every step; may end it.
pub trait Progress: Sync {
    /// The run has reached this time.
    fn reached(&self, time: f64) -> Result<(), Stop>;
}

/// Nobody is informed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn reached(&self, _time: f64) -> Result<(), Stop> {
        Ok(())
    }
}

/// What a finished run reports.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The method that made the last step.
    pub method: Method,
    /// Since when an implicit method has been at work under [`Method::Auto`], where one was to the end.
    pub stiff_from: Option<f64>,
    /// Steps taken.
    pub steps: u64,
    /// Steps rejected for their error or because Newton's iteration did not converge.
    pub rejected: u64,
    /// Evaluations of the right sides.
    pub evaluations: u64,
    /// Evaluations of the Jacobian.
    pub jacobians: u64,
    /// Factorisations of a matrix.
    pub factorisations: u64,
    /// Corners and events at which the solver was started anew.
    pub restarts: u64,
    /// Remarks, each made once.
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
                // Start and step in tenths to some power are whole numbers.
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
