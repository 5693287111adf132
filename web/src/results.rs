//! Equations, drawings, derivations, linear analyses and programs of the selected model.

use crate::page::{Answer, Page, refused, text};
use crate::positions::Positions;
use lgm_analysis::{ModeRequest, modes};
use lgm_compilation::Compilation;
use lgm_draw::{Kind, Manner, steps, svg, written_as};
use lgm_emit::code::{CodeFile, CodeOptions, Target, archive};
use lgm_emit::{DocumentOptions, MatrixOptions, TextOptions, displayed, html_body, json, latex};
use lgm_equations::{StateSystem, with_numbers};
use lgm_explain::derivation::{Piece, pieces};
use lgm_ide::Snapshot;
use lgm_session::analysis::modes::modes_json;
use lgm_session::analysis::response::{Extras, find, response_json, shown};
use lgm_session::{Faults, Session, drawing};
use lgm_source::codes::Code;
use lgm_source::diagnostic::{Diagnostic, has_errors};
use lgm_source::stack;
use serde_json::{Value, json as value};

/// The number of frequencies of a response, without those at narrow peaks.
const FREQUENCIES: usize = 400;

/// The maximum number of additional frequencies.
const MOST_MORE: usize = 4_000;

/// The maximum number of input-output pairs in one plot.
const MOST_PAIRS: usize = 12;

/// The maximum number of elements whose locations are passed to the page.
const MOST_PLACES: usize = 2_000;

/// Returns the answer to a question about the results.
pub(crate) fn answer(page: &Page, snapshot: &Snapshot, question: &str, arguments: &Value) -> Result<Answer, Faults> {
    Ok(match question {
        "equations" => Answer::Json(equations(page.session()?, arguments["numeric"] == true)?),
        "written" => written(page.session()?, text(arguments, "as"))?.into(),
        "drawing" => drawn(page, snapshot, text(arguments, "kind"))?.into(),
        "causality" => causality(page, snapshot)?.into(),
        "derivation" => derivation(page.session()?)?.into(),
        "poles" => poles(page)?.into(),
        "response" => response(page)?.into(),
        "parameters" => parameters(page, snapshot),
        "emit" => emitted(page.session()?, text(arguments, "target"))?.into(),
        other => return Err(refused(Code::LGM0907, format!("there is no question `{other}`"))),
    })
}

fn faults(session: &Session, diagnostics: Vec<Diagnostic>) -> Faults {
    Faults {
        map: session.compilation().map().clone(),
        diagnostics,
    }
}

/// Returns the JSON of `lgm equations --format json`, with numbers on request.
pub(crate) fn equations(session: &Session, numeric: bool) -> Result<String, Faults> {
    let options = MatrixOptions {
        numeric,
        ..MatrixOptions::default()
    };
    let mut out = Vec::new();
    let printed = match numeric {
        false => json(session.equations(), options, &mut out),
        true => {
            let system = session.numbers()?;
            match system.equations.linear {
                true => json(system, options, &mut out),
                false => json(&with_numbers(system), options, &mut out),
            }
        }
    };
    printed.map_err(|fault| refused(Code::LGM0909, fault.to_string()))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Returns the equations in another notation.
fn written(session: &Session, notation: &str) -> Result<Value, Faults> {
    let (system, options) = (session.equations(), DocumentOptions::default());
    Ok(value!(match notation {
        "html" => html_body(system, options),
        "latex" => latex(system, options),
        _ => lgm_emit::text(system, &TextOptions::default()),
    }))
}

/// Returns the compilation that drawings and causality show: that of the selected model, with its conflict if there is one.
fn on_model<R>(page: &Page, snapshot: &Snapshot, work: impl FnOnce(&Compilation) -> R) -> R {
    match page.of_model(snapshot) {
        Some(other) => work(other.compilation()),
        None => work(snapshot.compilation()),
    }
}

fn without_model(compilation: &Compilation) -> Faults {
    Faults {
        map: compilation.map().clone(),
        diagnostics: compilation.diagnostics_of_model(),
    }
}

/// Returns a drawing as SVG, its kind, and the locations of the elements in the text.
fn drawn(page: &Page, snapshot: &Snapshot, kind: &str) -> Result<Value, Faults> {
    on_model(page, snapshot, |compilation| {
        let kind = match kind {
            "linear-graph" => Some(Kind::LinearGraph),
            "bond-graph" => Some(Kind::BondGraph),
            _ => compilation.model().map(written_as),
        };
        let found = drawing::drawing(compilation, kind, Manner::default()).map_err(|fault| Faults {
            map: compilation.map().clone(),
            diagnostics: vec![fault],
        })?;
        let found = found.ok_or_else(|| without_model(compilation))?;
        let kind = match found.kind {
            Kind::LinearGraph => "linear-graph",
            Kind::BondGraph => "bond-graph",
        };
        Ok(value!({ "svg": svg(&found), "kind": kind, "places": places(compilation) }))
    })
}

/// Returns the range of the declaration of each element in the selected text.
fn places(compilation: &Compilation) -> Value {
    let Some(model) = compilation.model() else {
        return value!({});
    };
    let root = compilation.root();
    let positions = Positions::of(compilation.map().get(root));
    let place = |element: &lgm_model::Element| {
        let paths = std::iter::successors(Some(element.path), |path| model.paths[path.index()].parent);
        let mut spans = paths.map(|path| model.paths[path.index()].span);
        let own = spans.find(|span| span.source == root)?;
        Some((model.path_name(element.path), positions.range(own)))
    };
    let all = model.graph.elements.iter().take(MOST_PLACES).filter_map(place);
    Value::Object(all.collect())
}

/// Returns the order in which causal strokes are assigned, with the bond graph on which they appear, and the table of the causality.
fn causality(page: &Page, snapshot: &Snapshot) -> Result<Value, Faults> {
    on_model(page, snapshot, |compilation| {
        let report = compilation.causality().ok_or_else(|| without_model(compilation))?;
        let table = lgm_explain::causality::text(report, lgm_explain::causality::TextOptions { bonds: false });
        let json = lgm_explain::causality::json(report);
        let found =
            drawing::drawing(compilation, Some(Kind::BondGraph), Manner::default()).map_err(|fault| Faults {
                map: compilation.map().clone(),
                diagnostics: vec![fault],
            })?;
        let found = found.ok_or_else(|| without_model(compilation))?;
        Ok(value!({ "svg": svg(&found), "play": steps(&found, report), "text": table, "json": json }))
    })
}

/// Returns the derivation: headings, and equations with their numbers, words and MathML.
fn derivation(session: &Session) -> Result<Value, Faults> {
    let found = session.compilation().derivation(false);
    let found = found.ok_or_else(|| refused(Code::LGM0910, "there is no derivation"))?;
    let found = found.map_err(|fault| faults(session, vec![fault]))?;
    let each = pieces(&found).into_iter().map(|piece| match piece {
        Piece::Heading(words) => value!({ "heading": words }),
        Piece::Equation {
            words, latex, number, ..
        } => value!({ "words": words, "html": displayed(&latex), "number": number }),
    });
    Ok(each.collect())
}

/// Returns the JSON of `lgm modes`, of the linearised equations if the model is nonlinear.
fn poles(page: &Page) -> Result<Value, Faults> {
    let (session, linearized) = page.linear()?;
    let system = session.between_events(true)?;
    let mut diagnostics = Vec::new();
    let found = modes(system, &ModeRequest::default(), &mut diagnostics);
    let found = found.map_err(|fault| faults(session, vec![*fault]))?;
    if has_errors(&diagnostics) {
        return Err(faults(session, diagnostics));
    }
    let mut answer = modes_json(system, &found, false, &[]);
    answer["linearized"] = value!(linearized);
    Ok(answer)
}

/// Returns the JSON of `lgm response`, at the frequencies that its plot shows.
fn response(page: &Page) -> Result<Value, Faults> {
    let (session, linearized) = page.linear()?;
    let system = session.between_events(true)?;
    let (inputs, outputs) = pairs(system);
    if inputs.is_empty() || outputs.is_empty() {
        let message = "a frequency response requires an input and an output";
        return Err(refused(Code::LGM0701, message));
    }
    let (range, more) = shown(system, &inputs, &outputs).unwrap_or(((0.01, 100.0), Vec::new()));
    let step = (range.1 / range.0).powf(1.0 / (FREQUENCIES - 1) as f64);
    let mut omega: Vec<f64> = (0..FREQUENCIES).map(|at| range.0 * step.powi(at as i32)).collect();
    omega.extend(
        more.into_iter()
            .filter(|value| *value > range.0 && *value < range.1)
            .take(MOST_MORE),
    );
    omega.sort_by(f64::total_cmp);
    omega.dedup();
    let mut diagnostics = Vec::new();
    let found = find(Extras::default(), system, (inputs, outputs), omega, &mut diagnostics);
    let found = found.map_err(|fault| faults(session, vec![*fault]))?;
    let found = found.ok_or_else(|| faults(session, diagnostics))?;
    let mut answer = response_json(system, &found);
    answer["linearized"] = value!(linearized);
    Ok(answer)
}

/// Returns the inputs and outputs of a plot: all of them, or the first ones if there are many pairs.
fn pairs(system: &StateSystem) -> (Vec<usize>, Vec<usize>) {
    let inputs = system.declared_inputs().count().min(MOST_PAIRS);
    let outputs = system.outputs.len().min(MOST_PAIRS / inputs.max(1));
    ((0..inputs).collect(), (0..outputs).collect())
}

/// Returns the scalar parameters with their values in SI, and SI units.
fn parameters(page: &Page, snapshot: &Snapshot) -> Answer {
    let all = page.of_model(snapshot).unwrap_or(snapshot).parameters().into_iter();
    let all: Value = all
        .map(|(name, value, unit)| value!({ "name": name, "value": value, "unit": unit }))
        .collect();
    all.into()
}

/// Returns the files of a program as a zip archive: a list of bytes as text in base 16.
fn emitted(session: &Session, target: &str) -> Result<Value, Faults> {
    let known = Target::ALL.iter().find(|entry| entry.1 == target);
    let (target, word) = known.ok_or_else(|| refused(Code::LGM0907, format!("there is no target `{target}`")))?;
    let package = stack::deep(|| session.package(*target, &CodeOptions::default()))?;
    let is_text = |file: &&CodeFile| std::str::from_utf8(&file.contents).is_ok();
    let shown = package
        .files
        .iter()
        .filter(is_text)
        .map(|file| value!({ "path": file.path, "text": String::from_utf8_lossy(&file.contents) }));
    let zip: String = archive(&package.files, "")
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(value!({ "target": word, "files": shown.collect::<Vec<_>>(), "zip": zip, "remarks": package.remarks }))
}
