//! Values at which the command line looks at the equations: `--at "theta=pi"`, `--at "u=2 [N]"`.

use crate::names::bodies::check_value;
use crate::program::Program;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{self, Expr};
use lgm_syntax::parse_expression;

/// One `--at name=value`, parsed.
#[derive(Debug)]
pub(crate) struct PointSetting {
    pub name: String,
    pub name_span: Span,
    pub value: Expr,
}

pub(crate) fn malformed(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error(Code::LGM0923, "this option is not of the form `name=value`")
        .label(span, message.to_string())
        .help("write states, inputs or `time` as `lgm equations` names them: `--at \"theta=pi/6, joint.w=0, u=2 [N]\"`")
}

/// Reads the options, each of one name; what the names stand for is known when there are equations.
pub(crate) fn read(
    program: &Program,
    model: &ast::Model,
    map: &SourceMap,
    options: &[(String, SourceId)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<PointSetting> {
    let mut settings: Vec<PointSetting> = Vec::new();
    for (_, source) in options {
        let text = &map.get(*source).text;
        let whole = Span::new(*source, 0, text.len());
        let Some(at) = text.find('=') else {
            diagnostics.push(malformed(whole, "there is no `=`"));
            continue;
        };
        let name = text[..at].trim();
        if name.is_empty() {
            diagnostics.push(malformed(
                whole,
                "the name of a state or an input is needed in front of `=`",
            ));
            continue;
        }
        let start = text.find(name).unwrap_or(0);
        // The name is blanked out, so that the places in the value are those in the whole option.
        let value_text = format!("{}{}", " ".repeat(at + 1), &text[at + 1..]);
        let (value, faults) = parse_expression(*source, &value_text);
        if let Some(fault) = faults.into_iter().find(Diagnostic::is_error) {
            let label = fault.labels.first();
            let place = label.map_or(whole, |label| label.span);
            let words = label
                .map(|label| label.message.clone())
                .filter(|words| !words.is_empty());
            diagnostics.push(malformed(place, &words.unwrap_or(fault.message)));
            continue;
        }
        diagnostics.extend(check_value(program, model, &value));
        // The last of several options for one name counts, as on every command line.
        settings.retain(|known| known.name != name);
        settings.push(PointSetting {
            name: name.to_string(),
            name_span: Span::new(*source, start, start + name.len()),
            value,
        });
    }
    settings
}
