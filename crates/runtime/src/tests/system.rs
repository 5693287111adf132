//! Test models with one state, one input and one unknown.

use crate::cause::Cause;
use crate::model::Model;
use crate::run::{Plan, Run};
use crate::system::{At, Fault, Features, LoopTables, Pattern, Patterns, StateTables, System};
use std::marker::PhantomData;
use std::string::{String, ToString};
use std::vec::Vec;

/// The laws of a test model, with defaults for missing parts.
pub(super) trait Laws: Copy + std::fmt::Debug {
    const FEATURES: Features = NONE;
    const START_GIVEN: bool = false;
    const JUMPING: &'static [usize] = &[];
    const BENDING: &'static [usize] = &[];
    fn start() -> f64 {
        0.0
    }
    /// Returns the input and its rate.
    fn input(t: f64) -> [f64; 2] {
        let _ = t;
        [0.0; 2]
    }
    /// Returns the instant at which the input steps.
    fn instant() -> f64 {
        f64::INFINITY
    }
    fn rate(x: f64, u: f64, du: f64, w: f64) -> f64;
    /// Returns the residual of the loop and its slope.
    fn residual(x: f64, u: f64, w: f64) -> [f64; 2] {
        let _ = (x, u);
        [w, 1.0]
    }
    fn condition(x: f64, u: f64, w: f64) -> f64 {
        let _ = (x, u, w);
        1.0
    }
}

/// The features of a nonlinear model without other features.
pub(super) const NONE: Features = Features {
    moves: false,
    linear: false,
    branches: false,
    totals: false,
    bounds_steps: false,
    events: false,
    several: false,
};

/// The laws as a system with `JUMPS` conditions for discontinuities and `BENDS` conditions for derivative discontinuities.
#[derive(Clone, Copy, Debug)]
pub(super) struct One<L, const JUMPS: usize, const BENDS: usize>(PhantomData<L>);

impl<L: Laws, const JUMPS: usize, const BENDS: usize> System for One<L, JUMPS, BENDS> {
    type Real = f64;
    type Parameters = ();
    type Entries = [f64; 0];
    type States = [f64; 1];
    type Inputs = [f64; 1];
    type Signals = [f64; 2];
    type Outputs = [f64; 1];
    type Unknowns = [f64; 1];
    type Factors = [[f64; 1]; 1];
    type Pivots = [usize; 1];
    type Jacobian = [f64; 1];
    type LoopMatrix = [f64; 1];
    type Direct = [f64; 1];
    type ByUnknowns = [f64; 1];
    type ByStates = [f64; 1];
    type Constraints = [f64; 0];
    type Instants = [f64; 1];
    type Switches = [f64; 0];
    type Phases = [f64; 0];
    type Crossings = [f64; 1];
    type Conditions = [f64; JUMPS];
    type Bends = [f64; BENDS];

    const FEATURES: Features = L::FEATURES;
    const STATES: StateTables = StateTables {
        names: &["x"],
        scales: &[1.0],
        kinds: &[0],
        start_given: if L::START_GIVEN { &[true] } else { &[false] },
    };
    const LOOPS: LoopTables = LoopTables {
        elements: "`loop`",
        guesses: [&[0.0], &[1.0], &[-1.0], &[1e-3], &[1e3]],
        settled: if L::FEATURES.branches { &[false] } else { &[true] },
        stored: &[false],
        asides: 12,
    };
    const OUTPUT_NAMES: &'static [&'static str] = &["w"];
    const JUMPING: &'static [usize] = L::JUMPING;
    const BENDING: &'static [usize] = L::BENDING;

    fn patterns() -> Patterns {
        const ALL: Pattern = Pattern {
            rows: &[0, 1],
            columns: &[0],
        };
        Patterns {
            jacobian: ALL,
            loops: ALL,
            direct: ALL,
            by_unknowns: ALL,
            by_states: ALL,
        }
    }

    fn new(_: &()) -> Self {
        One(PhantomData)
    }

    fn entries(&self) -> &[f64; 0] {
        &[]
    }

    fn starts(&mut self, x: &mut [f64; 1]) {
        x[0] = L::start();
    }

    fn inputs(&mut self, t: f64, both: &mut [f64; 2]) {
        *both = L::input(t);
    }

    fn instants(&mut self, instants: &mut [f64; 1]) {
        instants[0] = L::instant();
    }

    fn derivatives(&mut self, at: At<'_, Self>, w: &[f64; 1], dx: &mut [f64; 1]) {
        dx[0] = L::rate(at.x[0], at.u[0], at.du[0], w[0]);
    }

    fn outputs(&mut self, _: At<'_, Self>, w: &[f64; 1], y: &mut [f64; 1]) {
        *y = *w;
    }

    fn residuals(&mut self, at: At<'_, Self>, w: &[f64; 1], residuals: &mut [f64; 1]) {
        residuals[0] = L::residual(at.x[0], at.u[0], w[0])[0];
    }

    fn loop_matrix(&mut self, at: At<'_, Self>, w: &[f64; 1], entries: &mut [f64; 1]) {
        entries[0] = L::residual(at.x[0], at.u[0], w[0])[1];
    }

    fn crossings(&mut self, at: At<'_, Self>, w: &[f64; 1], crossings: &mut [f64; 1]) {
        crossings[0] = L::condition(at.x[0], at.u[0], w[0]);
    }
}

/// A row: time, unknown and state.
pub(super) type Row = [f64; 3];

/// Returns the rows of a run, or the message of its early end with the rows before it.
pub(super) fn run<L: Laws, const JUMPS: usize, const BENDS: usize>(
    stop: f64,
    points: usize,
    rtol: f64,
) -> (Vec<Row>, Option<String>) {
    let (model, mut x) = Model::<One<L, JUMPS, BENDS>>::new(&()).unwrap();
    let plan = Plan {
        start: 0.0,
        stop,
        points,
        rtol,
        atol: 0.0,
    };
    let mut rows = Vec::new();
    let said = {
        let mut run = Run::new(model, plan, |t, y: &[f64; 1], x: &[f64; 1]| rows.push([t, y[0], x[0]]));
        run.run(&mut x).err().map(|fault: Fault| {
            let (_, cause): (f64, Cause<f64>) = run.cause(fault);
            cause.to_string()
        })
    };
    (rows, said)
}

/// Returns the samples of a completed run.
pub(super) fn rows<L: Laws, const JUMPS: usize, const BENDS: usize>(stop: f64, points: usize, rtol: f64) -> Vec<Row> {
    let (rows, said) = run::<L, JUMPS, BENDS>(stop, points, rtol);
    assert_eq!(said, None);
    assert_eq!(rows.len(), points);
    rows
}
