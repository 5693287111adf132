//! The sections of a chapter, each from the printer of the corresponding command.

use crate::Compilation;
use crate::cli::analysis::modes::write_poles;
use crate::cli::analysis::pictures::response_picture;
use crate::cli::simulate::picture;
use lgm_analysis::{LinearizeRequest, Mode, ModeRequest, modes};
use lgm_draw::{Refusal, Theme, draw, svg_in, written_as};
use lgm_emit::chapter::{ChapterPart, Notation, Section};
use lgm_emit::{MatrixOptions, TextOptions, html_body, latex_body, text};
use lgm_equations::StateSystem;
use lgm_explain::causality::{TextOptions as CausalityOptions, text as causality_text};
use lgm_explain::derivation::{Piece, pieces};
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Item;

/// Returns all sections of the chapter.
pub(super) fn sections(compilation: &Compilation, notation: Notation) -> Vec<Section> {
    let mut found = vec![
        section("Model", model(compilation)),
        section("Graph", graph(compilation)),
        section("Causality", causality(compilation)),
        section("Derivation", derivation(compilation)),
        section("Equations", equations(compilation, notation)),
    ];
    let is_linear = compilation.system().is_some_and(|system| system.equations.linear);
    let small = (!is_linear).then(|| {
        compilation.linearized_anew(LinearizeRequest {
            equilibrium: false,
            symbolic: false,
        })
    });
    let linear = small.as_ref().unwrap_or(compilation);
    let (poles, response) = match linear.system() {
        Some(system) => linear_parts(system, is_linear),
        None => {
            let fault = linear.diagnostics().into_iter().find(Diagnostic::is_error);
            let reason = fault.map_or(String::new(), |fault| format!(": {}", fault.message));
            let words = || {
                vec![ChapterPart::Words(format!(
                    "The equations cannot be linearised at the initial values{reason}."
                ))]
            };
            (words(), words())
        }
    };
    found.push(section("Poles", poles));
    found.push(section("Frequency response", response));
    found.push(section("Run", run(compilation)));
    found
}

fn section(heading: &str, parts: Vec<ChapterPart>) -> Section {
    Section {
        heading: heading.to_string(),
        parts,
    }
}

fn none(words: String) -> Vec<ChapterPart> {
    vec![ChapterPart::Words(words)]
}

/// Returns the description of the model from its comment, and its text.
fn model(compilation: &Compilation) -> Vec<ChapterPart> {
    let mut parts = Vec::new();
    let Some(model) = compilation.model() else { return parts };
    if let Some(doc) = &model.heading.doc {
        parts.push(ChapterPart::Words(doc.trim().to_string()));
    }
    let tree = compilation.program().ast(compilation.root());
    let items = tree.map_or(&[][..], |tree| &tree.items);
    let own = items.iter().find_map(|item| match item {
        Item::Model(declared) if declared.name.text == model.heading.name => Some(declared.span),
        _ => None,
    });
    let source = compilation.map().get(compilation.root());
    let text = match (own, items.len()) {
        // Definitions in the file belong to the model; other models do not.
        (Some(span), _) if items.iter().filter(|item| matches!(item, Item::Model(_))).count() > 1 => {
            compilation.map().slice(span)
        }
        _ => &source.text,
    };
    parts.push(ChapterPart::Text(text.to_string()));
    parts
}

fn graph(compilation: &Compilation) -> Vec<ChapterPart> {
    let model = compilation.formulated_model().or_else(|| compilation.model());
    let (Some(model), Some(graph), Some(report)) = (model, compilation.bond_graph(), compilation.causality()) else {
        return none("The model has no graph.".to_string());
    };
    let kind = written_as(model);
    let words = match kind {
        lgm_draw::Kind::LinearGraph => "the linear graph: branches of the normal tree are heavy",
        lgm_draw::Kind::BondGraph => "the bond graph with its causal strokes",
    };
    match draw(model, graph, report, kind) {
        Ok(drawing) => vec![ChapterPart::Picture {
            file: "graph".to_string(),
            shows: words.to_string(),
            svg: svg_in(&drawing, Theme::Light),
        }],
        Err(Refusal::TooLarge(count)) => none(format!(
            "The model has {count} elements; a drawing is limited to {}.",
            lgm_draw::MOST
        )),
        Err(Refusal::NoLinearGraph(reason)) => none(format!("The model has no linear graph: {reason}.")),
    }
}

fn causality(compilation: &Compilation) -> Vec<ChapterPart> {
    match compilation.causality() {
        Some(report) => {
            let text = causality_text(report, CausalityOptions { bonds: false });
            vec![ChapterPart::Text(without_title(&text))]
        }
        None => none("The model has no causality.".to_string()),
    }
}

/// Removes the name of the model from the first line of a report.
fn without_title(text: &str) -> String {
    let rest = text.split_once('\n').map_or(text, |parts| parts.1);
    rest.trim_start_matches('\n').to_string()
}

fn derivation(compilation: &Compilation) -> Vec<ChapterPart> {
    let in_vectors = compilation.vector_derivation().map(|found| Ok(found.derivation));
    let derivation = match in_vectors.or_else(|| compilation.derivation(false)) {
        Some(Ok(derivation)) => derivation,
        Some(Err(refused)) => {
            let notes: Vec<String> = refused.notes.iter().map(|note| format!("{note}.")).collect();
            let words = format!(
                "The derivation cannot be written: {}. {}",
                refused.message,
                notes.join(" ")
            );
            return none(words.trim_end().to_string());
        }
        None => return none("There is no derivation.".to_string()),
    };
    let each = pieces(&derivation).into_iter().map(|piece| match piece {
        Piece::Heading(words) => ChapterPart::Heading(words.to_string()),
        Piece::Equation {
            words,
            latex,
            typst,
            number,
        } => ChapterPart::Formula {
            words,
            latex,
            typst,
            number,
        },
    });
    each.collect()
}

fn equations(compilation: &Compilation, notation: Notation) -> Vec<ChapterPart> {
    let Some(system) = compilation.system() else {
        return none("There are no equations.".to_string());
    };
    let options = MatrixOptions::default();
    match notation {
        Notation::Latex => {
            let body = latex_body(system, options);
            vec![ChapterPart::Made(without_first(&body, "\\section*{"))]
        }
        Notation::Html => {
            let body = without_first(&html_body(system, options), "<h1>");
            // The section has a second-level heading.
            vec![ChapterPart::Made(
                body.replace("<h2>", "<h3>").replace("</h2>", "</h3>"),
            )]
        }
        Notation::Markdown | Notation::Typst => {
            let text = text(system, &TextOptions::default());
            vec![ChapterPart::Text(without_title(&text))]
        }
    }
}

/// Removes the first line if it begins with the given text, because the chapter has a separate title.
fn without_first(text: &str, beginning: &str) -> String {
    let mut is_gone = false;
    let kept = text.lines().filter(|line| {
        let is_title = !is_gone && line.starts_with(beginning);
        is_gone |= is_title;
        !is_title
    });
    kept.collect::<Vec<&str>>().join("\n")
}

/// Returns the poles and the frequency response of linear equations.
fn linear_parts(system: &StateSystem, is_linear: bool) -> (Vec<ChapterPart>, Vec<ChapterPart>) {
    let about = match is_linear {
        true => None,
        false => Some(ChapterPart::Words(
            "The equations are nonlinear. These results hold for small motions about the initial values.".to_string(),
        )),
    };
    let mut diagnostics = Vec::new();
    let request = ModeRequest {
        shapes: false,
        near: None,
        sensitivity: Vec::new(),
        storage: Vec::new(),
    };
    let found: Result<Vec<Mode>, String> =
        modes(system, &request, &mut diagnostics).map_err(|fault| fault.message.clone());
    let poles = match &found {
        Ok(list) if list.is_empty() => none("The model has no states and therefore no poles.".to_string()),
        Ok(list) => {
            let mut table = Vec::new();
            let written = write_poles(list, &mut table);
            let table = String::from_utf8_lossy(&table).into_owned();
            let written = written.map(|()| ChapterPart::Text(table));
            let part =
                written.unwrap_or_else(|fault| ChapterPart::Words(format!("The table was not written: {fault}.")));
            about.iter().cloned().chain([part]).collect()
        }
        Err(reason) => none(format!("There are no poles: {reason}.")),
    };
    let list = found.as_deref().unwrap_or(&[]);
    let sizes: Vec<f64> = list.iter().map(|mode| mode.pole.norm()).collect();
    let response = match response_picture(system, &sizes) {
        Ok(svg) => {
            let part = ChapterPart::Picture {
                file: "response".to_string(),
                shows: "magnitude and phase over the angular frequency".to_string(),
                svg,
            };
            about.into_iter().chain([part]).collect()
        }
        Err(reason) => none(format!("There is no frequency response: {reason}.")),
    };
    (poles, response)
}

/// Returns the results of the run that `lgm simulate` performs.
fn run(compilation: &Compilation) -> Vec<ChapterPart> {
    let (Some(model), Some(system)) = (compilation.formulated_model(), compilation.system()) else {
        return none("There is no run.".to_string());
    };
    match picture(model, system, &|| true) {
        Ok(svg) => vec![ChapterPart::Picture {
            file: "run".to_string(),
            shows: "the run of the model's experiment".to_string(),
            svg,
        }],
        Err(reason) => none(format!("There is no run: {reason}.")),
    }
}
