//! The point at which the command line evaluates the equations: `--at "theta=pi"`, `--at "u=2 [N]"`.

use crate::names::bodies::check_value;
use crate::options::written::Written;
use crate::program::Program;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceId, SourceMap, Span};
use lgm_syntax::ast::{self, Expr};

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
        .help(
            "use the names that `lgm equations` prints for states and inputs, or `time`: `--at \"theta=pi/6, \
            joint.w=0, u=2 [N]\"`",
        )
}

/// Reads the options, one name each; the meanings of the names are known after the equations are formed.
pub(crate) fn read(
    program: &Program,
    model: &ast::Model,
    map: &SourceMap,
    options: &[(String, SourceId)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<PointSetting> {
    let mut settings: Vec<PointSetting> = Vec::new();
    for (_, source) in options {
        let read = || {
            let option = Written::read(map, *source, malformed)?;
            if option.target.is_empty() {
                let words = "expected the name of a state or an input before `=`";
                return Err(malformed(option.whole(), words));
            }
            Ok(PointSetting {
                name: option.target.to_string(),
                name_span: option.target_span,
                value: option.value(malformed)?,
            })
        };
        let setting = match read() {
            Ok(setting) => setting,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        diagnostics.extend(check_value(program, map, model, &setting.value));
        // The last of several options for one name has priority.
        settings.retain(|known| known.name != setting.name);
        settings.push(setting);
    }
    settings
}
