//! What a written unit means.

use lgm_algebra::units::{self, Unit, UnitFault, UnitPower};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast;

/// What a written unit means, or what is wrong with it.
pub(crate) fn unit_meaning(written: &ast::UnitExpr) -> Result<Unit, Diagnostic> {
    let factors = written.factors.iter().map(|factor| UnitPower {
        name: &factor.name.text,
        exponent: factor.exponent,
        span: factor.name.span,
    });
    units::unit_of(factors).map_err(|fault| match fault {
        UnitFault::Unknown(name, span) => {
            let diagnostic = Diagnostic::error(Code::LGM0204, format!("no unit is named `{name}`"))
                .label(span, "not a unit, and not a prefix with a unit");
            match units::nearest_unit(&name) {
                _ if units::has_offset(&name) => diagnostic.note(
                    "a unit here is a multiple of SI units, and scales of temperature with a zero of their own are none: \
                     0 degC is 273.15 K",
                )
                .help("write `[K]`: 20 degC is `293.15 [K]`, and a difference of 20 degC is `20 [K]`"),
                Some(near) => diagnostic.help(format!("write `{near}`")).fix(format!("write `{near}`"), span, near),
                None => diagnostic.help("units are SI names with prefixes, joined by `.`, `/` and `^`: `[N.s/m]`"),
            }
        }
        UnitFault::Exponent(name, span) => {
            Diagnostic::error(Code::LGM0205, format!("the exponent of `{name}` cannot be used here"))
                .label(span, "too large, or a root that is not exact in SI")
                .help("write the unit in SI base units")
        }
    })
}
