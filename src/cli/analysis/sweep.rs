//! The models that an analysis of linear equations examines: a single model, or a model for each parameter value.

use super::shared::LinearModel;
use crate::cli::outcome::Outcome;
use crate::cli::report;
use crate::cli::simulate::grid;
use lgm_emit::significant;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// Maximum number of models in one result.
const MOST: usize = 1000;

/// One of the models.
pub(super) struct Case {
    pub(super) model: LinearModel,
    /// The varied parameters, with values in their declared units.
    pub(super) values: Vec<(String, f64)>,
}

impl Case {
    /// Returns a label such as `k = 20, b = 0.1`; empty for a single model.
    pub(super) fn label(&self) -> String {
        let values = self.values.iter();
        let texts: Vec<String> = values
            .map(|(name, value)| format!("{name} = {}", significant(*value, 4)))
            .collect();
        texts.join(", ")
    }
}

/// Returns the models. Errors in the options are printed.
pub(super) fn cases(asked: &LinearModel, sweep: &[String]) -> Result<Vec<Case>, Outcome> {
    if sweep.is_empty() {
        return Ok(vec![Case {
            model: asked.clone(),
            values: Vec::new(),
        }]);
    }
    let mut varying = asked.clone();
    varying.model = varying.model.varying(sweep);
    let (mut map, system, mut diagnostics) = varying.compile(false);
    let runs = match &system {
        Some(system) if report::outcome(&diagnostics) == Outcome::Success => {
            let runs = grid(sweep, system, &mut map);
            runs.map_err(|fault| diagnostics.push(*fault)).ok()
        }
        _ => None,
    };
    if let Some(count) = runs
        .as_ref()
        .map(|runs| runs.values.len())
        .filter(|count| *count > MOST)
    {
        let fault = Diagnostic::error(
            Code::LGM0924,
            format!("these are {count} sets of values; at most {MOST} are allowed"),
        );
        diagnostics.push(fault.help("use fewer values"));
    }
    let (Some(runs), Outcome::Success) = (runs, report::outcome(&diagnostics)) else {
        report::print(&map, &diagnostics);
        return Err(match report::outcome(&diagnostics) {
            Outcome::Success => Outcome::Failure,
            outcome => outcome,
        });
    };
    report::print(&map, &runs.warnings);
    let case = |run: &Vec<f64>| {
        let pairs = runs.parameters.iter().zip(run);
        let values: Vec<(String, f64)> = pairs
            .map(|(parameter, value)| (parameter.name.clone(), parameter.scale.from_si(*value)))
            .collect();
        let mut model = asked.clone();
        for (name, value) in &values {
            model.model = model.model.with_number(name, *value);
        }
        Case { model, values }
    };
    Ok(runs.values.iter().map(case).collect())
}
