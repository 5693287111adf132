//! Modes that the command line chooses: `--mode d1=conducting`.

use lgm_model::Model;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;

/// Sets the modes of elements that options name.
pub(crate) fn choose(model: &mut Model, options: &[String], diagnostics: &mut Vec<Diagnostic>) {
    let mut modes = model.switching.first_modes();
    for text in options.iter().flat_map(|option| option.split(',')) {
        match chosen(model, text.trim()) {
            Ok((at, mode)) => modes[at] = mode,
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    if modes != model.switching.first_modes() {
        *model = model.in_modes(&modes);
    }
}

/// Returns the index of the element in the elements with modes, and the mode that an option names.
fn chosen(model: &Model, text: &str) -> Result<(usize, usize), Box<Diagnostic>> {
    let fault = |message: String, help: String| {
        let shown = format!("`--mode {text}`: {message}");
        Box::new(Diagnostic::error(Code::LGM0943, shown).help(help))
    };
    let elements = &model.switching.elements;
    let names: Vec<String> = elements
        .iter()
        .map(|element| model.element_name(element.element))
        .collect();
    let Some((element, mode)) = text.split_once('=') else {
        let help = "write an element and its mode: `--mode d1=conducting`".to_string();
        return Err(fault("this is not of the form `ELEMENT=MODE`".into(), help));
    };
    let Some(at) = names.iter().position(|name| name == element.trim()) else {
        let near = did_you_mean(element.trim(), names.iter().map(String::as_str));
        let help = near.unwrap_or_else(|| match names.is_empty() {
            true => "the model has no element with modes".to_string(),
            false => format!("the elements with modes are `{}`", names.join("`, `")),
        });
        return Err(fault(format!("no element `{}` has modes", element.trim()), help));
    };
    let modes = || elements[at].modes.iter().map(|mode| &*mode.name);
    match modes().position(|name| name == mode.trim()) {
        Some(mode) => Ok((at, mode)),
        None => {
            let help = format!("its modes are `{}`", modes().collect::<Vec<_>>().join("`, `"));
            Err(fault(format!("`{}` has no mode `{}`", names[at], mode.trim()), help))
        }
    }
}
