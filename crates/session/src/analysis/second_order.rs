//! Second-order equations: matrices over displacements, as data and as JSON.

use crate::analysis::modes::with_storage;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, text, to_f64};
use lgm_analysis::{Eliminated, LinearizeRequest, Mechanism, SecondOrder, mechanism, mechanism_at_rest, second_order};
use lgm_compilation::Whole;
use lgm_equations::StateSystem;
use lgm_source::diagnostic::Diagnostic;
use serde_json::{Map, Value, json};

/// The equations of either kind of model.
#[derive(Debug)]
pub enum SecondOrderEquations {
    /// `M*X'' + B*X' + K*X = input*U + input_integral*int(U) + input_derivative*U'`
    Linear(SecondOrder),
    /// `M(q)*v' + C(q, v)*v + D*v + g(q) = Q`, with `q' = v`
    Mechanism(Mechanism),
}

impl SecondOrderEquations {
    /// Returns the arena of the entries.
    pub fn exprs(&self) -> &Exprs {
        match self {
            SecondOrderEquations::Linear(found) => &found.exprs,
            SecondOrderEquations::Mechanism(found) => &found.exprs,
        }
    }

    /// Returns the matrices with their names. Vectors have one column.
    pub fn parts(&self) -> Vec<(&'static str, Vec<Vec<ExprId>>)> {
        let column = |list: &[ExprId]| list.iter().map(|id| vec![*id]).collect();
        match self {
            SecondOrderEquations::Linear(found) => vec![
                ("M", found.mass.clone()),
                ("B", found.damping.clone()),
                ("K", found.stiffness.clone()),
                ("gyroscopic", found.gyroscopic.clone()),
                ("circulatory", found.circulatory.clone()),
                ("input", found.input.clone()),
                ("input_integral", found.input_integral.clone()),
                ("input_derivative", found.input_derivative.clone()),
            ],
            SecondOrderEquations::Mechanism(found) => vec![
                ("M", found.mass.clone()),
                ("C", found.coriolis.clone()),
                ("D", found.damping.clone()),
                ("g", column(&found.potential)),
                ("Q", column(&found.forces)),
            ],
        }
    }

    /// Returns the matrices with their names, in symbols or in numbers. Expressions that depend on states stay symbolic.
    pub fn matrices(&self, system: &StateSystem, numeric: bool) -> Vec<(&'static str, Vec<Vec<Value>>)> {
        let list = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        let list: Vec<_> = list.collect();
        let value = |symbol: SymbolId| {
            let entry = list.iter().find(|entry| entry.symbol == symbol);
            entry.map(|entry| to_f64(&entry.value))
        };
        let exprs = self.exprs();
        let number = |id: ExprId| exprs.evaluate_unchecked(&[id], &value)[0];
        let entry = |id: &ExprId| match numeric {
            true if number(*id).is_finite() => json!(number(*id)),
            _ => json!(text(exprs, *id)),
        };
        let rows = |rows: Vec<Vec<ExprId>>| rows.iter().map(|row| row.iter().map(entry).collect()).collect();
        let parts = self.parts().into_iter();
        parts.map(|(name, entries)| (name, rows(entries))).collect()
    }

    /// Returns the symbols of all matrices.
    pub fn symbols(&self) -> Vec<SymbolId> {
        let parts = self.parts();
        let entries: Vec<ExprId> = parts.iter().flat_map(|part| &part.1).flatten().copied().collect();
        self.exprs().symbols_of(&entries)
    }

    /// Returns the value and the formula of each constant and derived parameter in the matrices.
    fn definitions(&self, system: &StateSystem) -> Map<String, Value> {
        let symbols = self.symbols();
        let mut found = Map::new();
        for parameter in &system.parameters {
            for entry in parameter.entries.iter().filter(|entry| symbols.contains(&entry.symbol)) {
                let formula = entry.derived.map(|id| text(&system.exprs, id));
                if formula.is_some() || parameter.is_constant {
                    let name = system.exprs.symbol_info(entry.symbol).name.to_string();
                    found.insert(name, json!({"value": to_f64(&entry.value), "formula": formula}));
                }
            }
        }
        found
    }

    /// Returns the JSON of `lgm second-order`.
    pub fn json(&self, system: &StateSystem, numeric: bool) -> Value {
        let mut value = match self {
            SecondOrderEquations::Linear(found) => {
                let coordinates: Vec<&str> = found.coordinates.iter().map(|name| &**name).collect();
                json!({"schema": "lgm-second-order/1", "coordinates": coordinates})
            }
            SecondOrderEquations::Mechanism(found) => {
                let velocities: Vec<&str> = found.velocities.iter().map(|name| &**name).collect();
                let displacements: Vec<Option<&str>> = found.displacements.iter().map(Option::as_deref).collect();
                json!({"schema": "lgm-mechanism/1", "velocities": velocities, "displacements": displacements})
            }
        };
        let definitions = self.definitions(system);
        if !numeric && !definitions.is_empty() {
            value["definitions"] = Value::Object(definitions);
        }
        for (name, rows) in self.matrices(system, numeric) {
            if name == "input" {
                value["inputs"] = system.declared_inputs().map(|input| &*input.name).collect();
            }
            value[name] = match name {
                "g" | "Q" => rows.into_iter().flatten().collect(),
                _ => json!(rows),
            };
        }
        value
    }
}

/// Derives the second-order equations of a model: those of a mechanism if its equations are nonlinear and not linearised. `retain` and
/// `linearized` are those of the model. Returns them with the equations in power variables.
pub fn second_order_equations(
    whole: &Whole,
    retain: Vec<String>,
    linearized: Option<LinearizeRequest>,
    (eliminated, numeric): (Option<Eliminated>, bool),
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(StateSystem, SecondOrderEquations)> {
    let is_mechanism = !whole.system.equations.linear && linearized.is_none();
    let (model, system, storage) = with_storage(whole, retain.clone(), linearized, true, diagnostics)?;
    if linearized.is_some_and(|asked| asked.equilibrium) && eliminated != Some(Eliminated::Inertias) && !numeric {
        let nonlinear = with_storage(whole, retain, None, true, &mut Vec::new());
        let found = nonlinear.and_then(|(_, nonlinear, _)| mechanism_at_rest(&model, &nonlinear, &system, &storage));
        if let Some(found) = found {
            return Some((system, SecondOrderEquations::Linear(found)));
        }
    }
    let found = match is_mechanism {
        true => mechanism(&model, &system, &storage).map(SecondOrderEquations::Mechanism),
        false => second_order(&model, &system, &storage, (eliminated, numeric)).map(SecondOrderEquations::Linear),
    };
    let found = found.map_err(|fault| diagnostics.push(*fault)).ok()?;
    Some((system, found))
}
