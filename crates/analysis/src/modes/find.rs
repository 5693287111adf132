//! Requests for poles, and the poles found.

use super::near::poles_near;
use super::sensitivity::{derivative_of_a, derivatives};
use crate::eigen::rounding::parts_without_rounding;
use crate::eigen::storage::{StorageOutputs, shares};
use crate::eigen::vectors::{Vectors, vectors};
use crate::state_space::zero::poles_with_zeros;
use crate::values::without_delays;
use lgm_algebra::expr::SymbolId;
use lgm_model::system::{SparseMatrix, StateSystem};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_complex::Complex;
use std::sync::Arc;

/// Up to this number of states, all poles are computed and the nearest ones selected.
const DENSE: usize = 400;

/// A request for poles.
#[derive(Clone, Debug, Default)]
pub struct ModeRequest {
    /// True if shapes and energies are requested.
    pub shapes: bool,
    /// Only the poles whose distance from 0 is closest to this value in rad/s, and their number.
    pub near: Option<(f64, usize)>,
    /// Parameters with respect to which sensitivities are requested.
    pub sensitivity: Vec<SymbolId>,
    /// The outputs that were added for storage.
    pub storage: Vec<StorageOutputs>,
}

/// A pole and its motion.
#[derive(Clone, Debug)]
pub struct Mode {
    /// The pole in 1/s; exactly 0 for a free motion.
    pub pole: Complex<f64>,
    /// The state vector of the motion, scaled so that its largest entry is 1; empty if shapes are not requested.
    pub shape: Vec<Complex<f64>>,
    /// The fraction of the stored energy in each storage element, averaged over a period; the sum is 1. Empty if no energy is stored.
    pub energy: Vec<(Arc<str>, f64)>,
    /// The derivative of the pole with respect to each requested parameter; none if it does not exist.
    pub sensitivity: Vec<Option<Complex<f64>>>,
}

/// Returns the modes of a system, sorted by the distance of the pole from 0 or from a requested value.
pub fn modes(
    system: &StateSystem,
    request: &ModeRequest,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Vec<Mode>, Box<Diagnostic>> {
    without_delays(system, "modes")?;
    let form = system
        .matrices
        .numeric
        .as_ref()
        .ok_or_else(|| without_poles(system.equations.linear))?;
    let found = poles_asked_for(system, &form.a, request.near, diagnostics)
        .ok_or_else(|| without_poles(system.equations.linear))?;
    let mut list: Vec<Mode> = found.iter().map(|pole| of_pole(*pole)).collect();
    if !request.shapes && request.sensitivity.is_empty() {
        return Ok(list);
    }
    // The lower poles of pairs have the conjugate vectors of the upper ones.
    let upper: Vec<usize> = (0..found.len()).filter(|at| found[*at].im >= 0.0).collect();
    let poles: Vec<Complex<f64>> = upper.iter().map(|at| found[*at]).collect();
    let vectors = vectors(&form.a, &poles).ok_or_else(|| without_poles(system.equations.linear))?;
    let mut sensitivities = vec![Vec::new(); poles.len()];
    for parameter in &request.sensitivity {
        let derivative = derivative_of_a(system, *parameter).ok_or_else(without_derivatives)?;
        for (list, value) in sensitivities.iter_mut().zip(derivatives(&vectors, &poles, &derivative)) {
            list.push(value);
        }
    }
    for ((at, Vectors { right, .. }), sensitivity) in upper.iter().zip(&vectors).zip(sensitivities) {
        let pole = found[*at];
        let largest = right.iter().copied().max_by(|a, b| a.norm().total_cmp(&b.norm()));
        let scaled = parts_without_rounding(&(right / largest.unwrap_or(Complex::new(1.0, 0.0))));
        let energy = match request.shapes {
            true => shares(system, &request.storage, pole, &scaled),
            false => Vec::new(),
        };
        let partner = (0..found.len())
            .find(|other| pole.im > 0.0 && found[*other] == pole.conj() && list[*other].shape.is_empty());
        let shape = match request.shapes {
            true => scaled.as_slice().to_vec(),
            false => Vec::new(),
        };
        if let Some(partner) = partner {
            let conjugate = |value: &Option<Complex<f64>>| value.map(|value| value.conj());
            list[partner].shape = shape.iter().map(Complex::conj).collect();
            list[partner].energy.clone_from(&energy);
            list[partner].sensitivity = sensitivity.iter().map(conjugate).collect();
        }
        list[*at].shape = shape;
        list[*at].energy = energy;
        list[*at].sensitivity = sensitivity;
    }
    Ok(list)
}

fn of_pole(pole: Complex<f64>) -> Mode {
    Mode {
        pole,
        shape: Vec::new(),
        energy: Vec::new(),
        sensitivity: Vec::new(),
    }
}

fn poles_asked_for(
    system: &StateSystem,
    a: &SparseMatrix<f64>,
    near: Option<(f64, usize)>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Vec<Complex<f64>>> {
    if let Some((omega, count)) = near.filter(|_| a.rows.len() > DENSE) {
        if !a.rows.iter().flatten().all(|entry| entry.1.is_finite()) {
            return None;
        }
        let (found, is_certain) = poles_near(a, omega, count)?;
        if !is_certain {
            let message = format!("there may be further poles at a similar distance from {omega} rad/s");
            let warning = Diagnostic::warning(Code::LGM0931, message);
            diagnostics.push(warning.help("request fewer poles, or more to see which belong to the range"));
        }
        return Some(found);
    }
    let mut all = poles_with_zeros(system, a)?;
    all.sort_by(|a, b| a.norm().total_cmp(&b.norm()).then(b.im.total_cmp(&a.im)));
    let Some((omega, count)) = near else {
        return Some(all);
    };
    let distance = |pole: &Complex<f64>| (pole.norm() - omega).abs();
    all.sort_by(|a, b| distance(a).total_cmp(&distance(b)).then(b.im.total_cmp(&a.im)));
    // Conjugates have the same distance; a pair is not split.
    let is_divided = count > 0 && count < all.len() && all[count - 1].im != 0.0 && all[count] == all[count - 1].conj();
    all.truncate(if is_divided { count + 1 } else { count });
    Some(all)
}

fn without_poles(is_linear: bool) -> Box<Diagnostic> {
    let fault = match is_linear {
        true => Diagnostic::error(Code::LGM0930, "the model has no poles")
            .note("poles require finite coefficients")
            .help("check `lgm equations` for a value out of range"),
        false => Diagnostic::error(
            Code::LGM0930,
            "the model is nonlinear, so it has no poles without a point of linearisation",
        )
        .help("use `--linearize` for the poles at the initial values, or `--equilibrium` for those at the equilibrium"),
    };
    Box::new(fault)
}

fn without_derivatives() -> Box<Diagnostic> {
    let fault = Diagnostic::error(Code::LGM0934, "the derivatives of the poles are not known");
    Box::new(
        fault
            .note("they require A in terms of the parameters, which is too long here or has no derivative")
            .help("compare `lgm modes --set NAME=VALUE` at two values, or declare other parameters as `const`"),
    )
}
