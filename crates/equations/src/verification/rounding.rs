//! The emitted equations at a point with bounds on their round-off.

use crate::nonlinear::dual::Point;
use crate::nonlinear::evaluate::{linearised, loop_parts};
use crate::verification::bounds::{Ball, Places, Rated, rated};
use lgm_algebra::expr::SymbolId;
use lgm_model::system::StateSystem;
use nalgebra::DMatrix;

/// Returns values and rates of all symbols with their bounds, at a point at which the loops are solved, and the rates of the states.
///
/// Parameters are rounded, and the values of an instant are exact. `rates` are the rates of the states if they differ
/// from the emitted ones.
pub(crate) fn bounded(system: &StateSystem, point: &Point, rates: Option<&[Ball]>) -> Option<(Places, Vec<Ball>)> {
    let mut places = given(system, point)?;
    if let Some(rates) = rates {
        set_rates(system, &mut places, rates);
    }
    let loops = Loops::new(system, point)?;
    loops.enter_values(&mut places)?;
    let derivatives = match rates {
        Some(rates) => rates.to_vec(),
        None => {
            let found = rated(&system.exprs, &system.equations.derivatives, &places)?;
            let derivatives: Vec<Ball> = found.iter().map(|found| found.value).collect();
            set_rates(system, &mut places, &derivatives);
            derivatives
        }
    };
    loops.enter_rates(&mut places)?;
    Some((places, derivatives))
}

fn set_rates(system: &StateSystem, places: &mut Places, rates: &[Ball]) {
    for (state, rate) in system.states.iter().zip(rates) {
        if let Some(place) = places.get_mut(&state.symbol) {
            place.rate = *rate;
        }
    }
}

/// Returns parameters, time, states and inputs.
fn given(system: &StateSystem, point: &Point) -> Option<Places> {
    let mut places = Places::default();
    for entry in system.parameters.iter().flat_map(|parameter| &parameter.entries) {
        let value = point.get(&entry.symbol)?.0;
        let ball = match entry.value.is_integer() {
            true => Ball::exact(value),
            false => Ball::rounded(value),
        };
        places.insert(entry.symbol, Rated::still(ball));
    }
    let mut exact = |symbol: SymbolId| -> Option<()> {
        let (value, rate) = *point.get(&symbol)?;
        let (value, rate) = (Ball::exact(value), Ball::exact(rate));
        places.insert(symbol, Rated { value, rate });
        Some(())
    };
    exact(system.time)?;
    for (input, rate) in system.inputs.iter().zip(&system.input_rates) {
        exact(input.symbol)?;
        exact(*rate)?;
    }
    for state in &system.states {
        exact(state.symbol)?;
    }
    for state in &system.states {
        let place = places.get_mut(&state.symbol)?;
        place.rate = Ball::exact(0.0);
    }
    Some(places)
}

/// The loops of a system with the inverse of their Jacobian, which converts errors of the residuals to errors of the unknowns.
struct Loops<'a> {
    system: &'a StateSystem,
    unknowns: Vec<SymbolId>,
    at: Vec<(f64, f64)>,
    /// None if the Jacobian is singular: the errors of the unknowns are then unknown.
    inverse: Option<DMatrix<f64>>,
}

impl Loops<'_> {
    fn new<'a>(system: &'a StateSystem, point: &Point) -> Option<Loops<'a>> {
        let (unknowns, residuals) = loop_parts(system);
        let at: Option<Vec<(f64, f64)>> = unknowns.iter().map(|unknown| point.get(unknown).copied()).collect();
        let at = at?;
        let inverse = match unknowns.is_empty() {
            true => None,
            false => {
                let values: Vec<f64> = at.iter().map(|at| at.0).collect();
                linearised(system, point, &residuals, &unknowns, &values)
                    .filter(|found| found.1.iter().all(|entry| entry.is_finite()))
                    .and_then(|found| found.1.try_inverse())
            }
        };
        Some(Loops {
            system,
            unknowns,
            at,
            inverse,
        })
    }

    fn enter_values(&self, places: &mut Places) -> Option<()> {
        for (unknown, (value, _)) in self.unknowns.iter().zip(&self.at) {
            places.insert(*unknown, Rated::still(Ball::exact(*value)));
        }
        self.assign(places)?;
        if !self.unknowns.is_empty() {
            let errors = self.errors(places, |found| found.value)?;
            for ((unknown, (value, _)), error) in self.unknowns.iter().zip(&self.at).zip(errors) {
                places.insert(*unknown, Rated::still(Ball::new(*value, error)));
            }
            self.assign(places)?;
        }
        Some(())
    }

    fn enter_rates(&self, places: &mut Places) -> Option<()> {
        self.set_rates(places, &vec![0.0; self.unknowns.len()]);
        self.assign(places)?;
        if !self.unknowns.is_empty() {
            let errors = self.errors(places, |found| found.rate)?;
            self.set_rates(places, &errors);
            self.assign(places)?;
        }
        Some(())
    }

    fn set_rates(&self, places: &mut Places, errors: &[f64]) {
        for ((unknown, (_, rate)), error) in self.unknowns.iter().zip(&self.at).zip(errors) {
            if let Some(place) = places.get_mut(unknown) {
                place.rate = Ball::new(*rate, *error);
            }
        }
    }

    /// Returns the error bounds of the unknowns, from the residuals and their error bounds.
    fn errors(&self, places: &Places, part: impl Fn(&Rated) -> Ball) -> Option<Vec<f64>> {
        let (_, residuals) = loop_parts(self.system);
        let found = rated(&self.system.exprs, &residuals, places)?;
        let off: Vec<f64> = found
            .iter()
            .map(part)
            .map(|ball| ball.value.abs() + ball.error)
            .collect();
        if off.iter().all(|off| *off == 0.0) {
            return Some(off);
        }
        let Some(inverse) = &self.inverse else {
            return Some(vec![f64::INFINITY; off.len()]);
        };
        let row = |row: usize| {
            (0..off.len())
                .map(|column| inverse[(row, column)].abs() * off[column])
                .sum()
        };
        Some((0..off.len()).map(row).collect())
    }

    /// Enters the assignments, in order.
    fn assign(&self, places: &mut Places) -> Option<()> {
        for assignment in &self.system.equations.assignments {
            let found = rated(&self.system.exprs, &[assignment.value], places)?[0];
            places.insert(assignment.symbol, found);
        }
        Some(())
    }
}
