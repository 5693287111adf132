//! The form of LG2ss: two matrices become A to F, printed as LG2ss prints them.

use crate::page::{Answer, text};
use lgm_algebra::expr::{ExprId, text as text_of};
use lgm_equations::{LinearForm, SparseMatrix, StateSystem};
use lgm_session::diagnostics::as_json;
use lgm_session::{Choice, Faults, Session, States};
use lgm_source::{NoFiles, SourceMap};
use serde_json::{Value, json};

/// Returns the equations of two matrices. States have the order of their branches; integrated outputs follow, each with a state of its own.
pub(crate) fn answer(arguments: &Value) -> Result<Answer, Faults> {
    let mut map = SourceMap::default();
    let graph = map.add("graph", text(arguments, "graph"), None);
    let outputs = map.add("outputs", text(arguments, "outputs"), None);
    let name = arguments["name"].as_str().unwrap_or("Imported");
    let (model, diagnostics) = lgm_import::lg2ss(&map, graph, outputs, name);
    let Some(model) = model else {
        return Err(Faults { map, diagnostics });
    };
    let (plain, integrated) = without_integrals(&model);
    let (choice, states) = (Choice::default(), States::default());
    let session = Session::of_sources(&NoFiles, ("imported.lgm", None), &plain, &choice, &states)?;
    let system = session.equations();
    let mut order: Vec<usize> = (0..system.states.len()).collect();
    order.sort_by_key(|at| (branch(system, *at), *at));
    let names = |list: &[usize]| {
        list.iter()
            .map(|at| system.outputs[*at].name.to_string())
            .collect::<Vec<_>>()
    };
    let own = order.iter().map(|at| state_name(system, *at));
    let mut found = json!({
        "text": model,
        "states": own.chain(names(&integrated)).collect::<Vec<_>>(),
        "inputs": system.declared_inputs().map(|input| input.name.to_string()).collect::<Vec<_>>(),
        "outputs": system.outputs.iter().map(|output| output.name.to_string()).collect::<Vec<_>>(),
        "notes": as_json(&map, &diagnostics),
    });
    if let Some(form) = &system.matrices.symbolic {
        for (name, rows) in matrices(system, form, &order, &integrated) {
            found[name] = json!(rows);
        }
    }
    Ok(found.into())
}

/// Returns the model with each integrated output replaced by its integrand, and the positions of these outputs.
fn without_integrals(model: &str) -> (String, Vec<usize>) {
    let (mut plain, mut integrated, mut outputs) = (String::new(), Vec::new(), 0);
    for line in model.lines() {
        let is_output = line.trim_start().starts_with("output ");
        match line
            .strip_suffix(");")
            .and_then(|rest| rest.split_once("= int("))
            .filter(|_| is_output)
        {
            Some((name, integrand)) => {
                integrated.push(outputs);
                plain += &format!("{name}= {integrand};\n");
            }
            None => plain += &format!("{line}\n"),
        }
        outputs += usize::from(is_output);
    }
    (plain, integrated)
}

/// The rows of a matrix as text.
type Rows = Vec<Vec<String>>;

/// Returns A to F over the states in this order, followed by the integrated outputs, whose integrands are outputs of the system.
fn matrices(
    system: &StateSystem,
    form: &LinearForm<ExprId>,
    order: &[usize],
    integrated: &[usize],
) -> Vec<(&'static str, Rows)> {
    let entry = |matrix: &SparseMatrix<ExprId>, row: usize, column: usize| {
        let entry = matrix.get(row, column);
        entry.map_or("0".to_string(), |id| text_of(&system.exprs, *id))
    };
    let inputs: Vec<usize> = (0..system.declared_inputs().count()).collect();
    let row = |matrix: &SparseMatrix<ExprId>, row: usize, columns: &[usize], zeros: usize| -> Vec<String> {
        let entries = columns.iter().map(|column| entry(matrix, row, *column));
        entries.chain(std::iter::repeat_n("0".to_string(), zeros)).collect()
    };
    let of_states =
        |own: &SparseMatrix<ExprId>, output: &SparseMatrix<ExprId>, columns: &[usize], zeros: usize| -> Rows {
            let own = order.iter().map(|at| row(own, *at, columns, zeros));
            own.chain(integrated.iter().map(|at| row(output, *at, columns, zeros)))
                .collect()
        };
    let of_outputs = |matrix: &SparseMatrix<ExprId>, columns: &[usize], zeros: usize, of_state: &str| -> Rows {
        let each = (0..system.outputs.len()).map(|at| match integrated.iter().position(|other| *other == at) {
            None => row(matrix, at, columns, zeros),
            Some(state) => {
                let mut entries = vec!["0".to_string(); columns.len() + zeros];
                if zeros > 0 {
                    entries[columns.len() + state] = of_state.to_string();
                }
                entries
            }
        });
        each.collect()
    };
    let more = integrated.len();
    vec![
        ("A", of_states(&form.a, &form.c, order, more)),
        ("B", of_states(&form.b, &form.d, &inputs, 0)),
        ("C", of_outputs(&form.c, order, more, "1")),
        ("D", of_outputs(&form.d, &inputs, 0, "")),
        ("E", of_states(&form.e, &form.f, &inputs, 0)),
        ("F", of_outputs(&form.f, &inputs, 0, "")),
    ]
}

/// Returns the branch of a state.
fn branch(system: &StateSystem, at: usize) -> u64 {
    let element = &*system.states[at].element;
    let digits = element.trim_start_matches("branch");
    digits.parse().unwrap_or(u64::MAX)
}

/// Returns the name of a state in LG2ss: `v6` for the across variable of branch 6.
fn state_name(system: &StateSystem, at: usize) -> String {
    let name = &*system.states[at].name;
    match name.strip_prefix("branch").and_then(|rest| rest.split_once('.')) {
        Some((branch, variable)) => format!("{variable}{branch}"),
        None => name.to_string(),
    }
}
