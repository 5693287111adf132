//! The meaning of a written unit.

use lgm_algebra::units::{self, Unit, UnitFault, UnitPower};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::{self, Expr, ExprKind};

/// Returns the meaning of a written unit, or its error.
pub(crate) fn unit_meaning(written: &ast::UnitExpr) -> Result<Unit, Diagnostic> {
    units::unit_of(written.factors.iter().map(unit_power)).map_err(|fault| match fault {
        UnitFault::Unknown(name, span) => {
            let diagnostic = Diagnostic::error(Code::LGM0204, format!("there is no unit `{name}`"))
                .label(span, "neither a unit nor a prefix with a unit");
            let (near, span) = match with_dots(written) {
                Some(whole) => (Some(whole), written.span),
                None => (units::nearest_unit(&name), span),
            };
            match near {
                Some(near) => diagnostic
                    .help(format!("write `{near}`"))
                    .fix(format!("write `{near}`"), span, near),
                None => diagnostic.help("units are SI names with prefixes, combined with `.`, `/` and `^`: `[N.s/m]`"),
            }
        }
        UnitFault::Product(name, span) => {
            Diagnostic::error(Code::LGM0205, format!("`{name}` cannot be a factor of another unit"))
                .label(span, "a logarithm has no product")
                .help("write it alone, `20 [dB]`, and multiply by the other quantity")
        }
        UnitFault::Exponent(name, span) => {
            Diagnostic::error(Code::LGM0205, format!("the exponent of `{name}` cannot be used here"))
                .label(span, "too large, or not an exact root in SI units")
                .help("write the unit in SI base units")
        }
    })
}

/// Returns the help for a number whose unit has a mass of the same name as a force: `oz` and `lb`.
pub(crate) fn mass_for_force(expr: &Expr) -> Option<String> {
    let ExprKind::Number(_, Some(unit)) = &expr.kind else {
        return None;
    };
    let mass = unit.factors.iter().map(|factor| &*factor.name.text);
    let mass = mass.into_iter().find(|name| matches!(*name, "oz" | "lb"))?;
    Some(format!(
        "`{mass}` is a unit of mass; in a force or a torque, write `{mass}f`"
    ))
}

/// Returns the unit that an index reads as, `m/s` in `x[m/s]`; none for anything else, such as a number.
pub(crate) fn unit_of_index(index: &Expr, span: Span) -> Option<ast::UnitExpr> {
    let mut factors = Vec::new();
    let is_unit = unit_factors(index, 1, &mut factors);
    let written = ast::UnitExpr { factors, span };
    let has_name = written.factors.iter().any(|factor| &*factor.name.text != "1");
    (is_unit && has_name && unit_meaning(&written).is_ok()).then_some(written)
}

/// Returns the error of an index that reads as a misspelt unit, `[RPM]`, with its correction; none for anything else.
pub(crate) fn misspelt_unit(index: &Expr) -> Option<Diagnostic> {
    let mut factors = Vec::new();
    let is_unit = unit_factors(index, 1, &mut factors);
    let span = index.span;
    let fault = unit_meaning(&ast::UnitExpr { factors, span }).err()?;
    (is_unit && !fault.fixes.is_empty()).then_some(fault)
}

/// Collects the factors of a unit that was read as an expression; `sign` is -1 after a `/`. Returns false for anything else.
fn unit_factors(expr: &Expr, sign: i32, factors: &mut Vec<ast::UnitFactor>) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => {
            factors.push(ast::UnitFactor {
                name: name.clone(),
                exponent: (sign, 1),
            });
            true
        }
        ExprKind::Number(text, None) if &**text == "1" => true,
        ExprKind::Member(base, name) => {
            sign == 1 && unit_factors(base, sign, factors) && {
                factors.push(ast::UnitFactor {
                    name: name.clone(),
                    exponent: (sign, 1),
                });
                true
            }
        }
        ExprKind::Power(parts) => {
            let [base, exponent] = &parts[..] else { return false };
            let (ExprKind::Name(_), ExprKind::Number(text, None)) = (&base.kind, &exponent.kind) else {
                return false;
            };
            let Some(exponent) = text.parse::<i32>().ok().filter(|exponent| *exponent <= 64) else {
                return false;
            };
            unit_factors(base, sign * exponent, factors)
        }
        // `m*s` is a product, and only `m/s` a unit.
        ExprKind::Product(list) => match &list[..] {
            [(false, above), (true, below)] => {
                unit_factors(above, sign, factors) && unit_factors(below, -sign, factors)
            }
            _ => false,
        },
        _ => false,
    }
}

fn unit_power(factor: &ast::UnitFactor) -> UnitPower<'_> {
    UnitPower {
        name: &factor.name.text,
        exponent: factor.exponent,
        span: factor.name.span,
    }
}

/// Returns the corrected form of a unit without dots between its names: `[N.m/rad]` for `[Nm/rad]`.
fn with_dots(written: &ast::UnitExpr) -> Option<String> {
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for factor in &written.factors {
        let (power, root) = factor.exponent;
        let name = &*factor.name.text;
        let is_known = units::unit_of([unit_power(factor)]).is_ok();
        let names = if is_known {
            vec![(name, 1)]
        } else {
            units::joined_units(name)?
        };
        if root != 1 || names.last()?.1 != 1 && power.abs() != 1 {
            return None;
        }
        let last = names.len() - 1;
        for (at, (name, own)) in names.into_iter().enumerate() {
            let power = power.signum() * if at == last { own * power.abs() } else { own };
            let side = if power > 0 { &mut above } else { &mut below };
            side.push(match power.abs() {
                1 => name.to_string(),
                power => format!("{name}^{power}"),
            });
        }
    }
    let above = if above.is_empty() {
        "1".to_string()
    } else {
        above.join(".")
    };
    Some(match below.len() {
        0 => format!("[{above}]"),
        1 => format!("[{above}/{}]", below[0]),
        _ => format!("[{above}/({})]", below.join(".")),
    })
}
