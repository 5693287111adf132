use super::*;
use lgm_source::{SourceId, Span};

fn unit(factors: &[(&str, i32, i32)]) -> Result<Unit, UnitFault> {
    let span = Span::new(SourceId(0), 0, 0);
    unit_of(factors.iter().map(|(name, numerator, denominator)| UnitPower {
        name,
        exponent: (*numerator, *denominator),
        span,
    }))
}

fn si(factors: &[(&str, i32, i32)], value: i64) -> f64 {
    let unit = unit(factors).unwrap();
    unit.to_si(&BigRational::from_integer(value.into())).to_f64().unwrap()
}

#[test]
fn prefixes_scale_and_known_names_win() {
    assert_eq!(si(&[("mH", 1, 1)], 5), 0.005);
    assert_eq!(si(&[("uF", 1, 1)], 1), 1e-6);
    assert_eq!(si(&[("min", 1, 1)], 2), 120.0);
    assert_eq!(si(&[("kg", 1, 1)], 2), 2.0);
    assert_eq!(si(&[("mg", 1, 1)], 1_000_000), 1.0);
    assert_eq!(si(&[("cm", 2, 1)], 10_000), 1.0);
    assert_eq!(si(&[("km", 1, 1), ("h", -1, 1)], 36), 10.0);
    assert_eq!(si(&[("Pa", 1, 1)], 1), 1.0);
    assert_eq!(si(&[("bar", 1, 1)], 1), 1e5);
    assert_eq!(si(&[("L", 1, 1), ("min", -1, 1)], 60_000), 1.0);
    assert_eq!(si(&[("dam", 1, 1)], 1), 10.0);
    assert_eq!(si(&[("cd", 1, 1)], 3), 3.0);
}

#[test]
fn angles_round_pi_once() {
    assert_eq!(si(&[("deg", 1, 1)], 180), std::f64::consts::PI);
    assert_eq!(si(&[("rpm", 1, 1)], 60), 2.0 * std::f64::consts::PI);
    assert_eq!(si(&[("rad", 1, 1), ("s", -1, 1)], 3), 3.0);
    assert_eq!(
        unit(&[("rpm", 1, 1)]).unwrap().dimension,
        unit(&[("Hz", 1, 1)]).unwrap().dimension
    );
}

#[test]
fn scales_with_an_offset_and_decibels_are_converted() {
    assert_eq!(si(&[("degC", 1, 1)], 25), 298.15);
    assert_eq!(si(&[("degF", 1, 1)], 212), 373.15);
    assert_eq!(si(&[("degF", 1, 1)], -40), si(&[("degC", 1, 1)], -40));
    // A difference, not a temperature.
    assert_eq!(si(&[("W", 1, 1), ("degC", -1, 1)], 3), 3.0);
    assert_eq!(si(&[("dB", 1, 1)], 20), 10.0);
    assert_eq!(si(&[("dB", 1, 1)], 0), 1.0);
    assert!(matches!(
        unit(&[("dB", 1, 1), ("s", -1, 1)]),
        Err(UnitFault::Product(..))
    ));
}

/// Values of NIST SP 811 (2008), appendix B.
#[test]
fn customary_units_have_their_published_factors() {
    for (name, factor) in [
        ("inch", 0.0254),
        ("in", 0.0254),
        ("ozf", 0.2780138509537812),
        ("ft", 0.3048),
        ("lb", 0.453_592_37),
        ("oz", 0.028_349_523_125),
        ("lbf", 4.448_221_615_260_5),
        ("psi", 6_894.757_293_168_361),
        ("hp", 745.699_871_582_270_2),
        ("cal", 4.184),
        ("kcal", 4184.0),
        ("kWh", 3.6e6),
        ("mAh", 3.6),
        ("mbar", 100.0),
        ("%", 0.01),
    ] {
        // A product of published factors may differ from the published product by its rounding.
        let found = si(&[(name, 1, 1)], 1);
        assert!((found - factor).abs() <= 2.0 * f64::EPSILON * factor, "{name}: {found}");
    }
}

#[test]
fn unknown_names_and_wild_exponents_are_faults() {
    assert!(matches!(unit(&[("furlong", 1, 1)]), Err(UnitFault::Unknown(name, _)) if name == "furlong"));
    assert!(matches!(unit(&[("m", 4000, 1)]), Err(UnitFault::Exponent(..))));
    assert!(matches!(unit(&[("mm", 1, 2)]), Err(UnitFault::Exponent(..))));
    for (written, meant) in [
        ("Volt", "V"),
        ("pa", "Pa"),
        ("mh", "mH"),
        ("kohn", "kohm"),
        ("t", "Mg"),
        ("khz", "kHz"),
    ] {
        assert_eq!(nearest_unit(written).as_deref(), Some(meant), "{written}");
    }
    assert_eq!(nearest_unit("furlong"), None);
    for (written, meant) in [
        ("Nm", Some(vec![("N", 1), ("m", 1)])),
        ("kNm", Some(vec![("kN", 1), ("m", 1)])),
        ("Nms", Some(vec![("N", 1), ("m", 1), ("s", 1)])),
        ("kgm", Some(vec![("kg", 1), ("m", 1)])),
        ("kgm2", Some(vec![("kg", 1), ("m", 2)])),
        ("m2", Some(vec![("m", 2)])),
        ("mh", None),
        ("KW", None),
        ("ohms", None),
        ("furlong", None),
        ("m99", None),
    ] {
        assert_eq!(joined_units(written), meant, "{written}");
    }
}

#[test]
fn dimensions_are_written_as_engineers_write_them() {
    let text = |factors: &[(&str, i32, i32)]| unit(factors).unwrap().dimension.text();
    assert_eq!(text(&[("kg", 1, 1), ("m", 1, 1), ("s", -2, 1)]), "N");
    assert_eq!(text(&[("V", 1, 1), ("A", -1, 1)]), "ohm");
    assert_eq!(text(&[("A", 1, 1), ("s", 1, 1), ("V", -1, 1)]), "F");
    assert_eq!(text(&[("N", 1, 1), ("s", 1, 1), ("m", -1, 1)]), "N.s/m");
    assert_eq!(text(&[("m", 1, 1), ("s", -1, 1)]), "m/s");
    assert_eq!(text(&[("J", 1, 1), ("kg", -1, 1), ("K", -1, 1)]), "m^2/(s^2.K)");
    assert_eq!(text(&[("V", 2, 1)]), "V^2");
    assert_eq!(text(&[("N", 1, 1), ("V", -2, 1)]), "F/m");
    assert_eq!(text(&[("rad", 1, 1)]), "1");
    assert_eq!(text(&[("m", 1, 2)]), "m^1/2");
}

#[test]
fn every_readable_text_names_its_own_dimension() {
    // The printed text must be valid in the language: factors joined by `.`, and one quotient.
    for (text, exponents) in super::table::READABLE {
        let (top, bottom) = text.split_once('/').unwrap_or((text, ""));
        let mut factors = Vec::new();
        for (part, sign) in [(top, 1), (bottom, -1)] {
            for factor in part.split('.').filter(|factor| !factor.is_empty()) {
                let (name, power) = factor.split_once('^').unwrap_or((factor, "1"));
                factors.push((name, sign * power.parse::<i32>().unwrap(), 1));
            }
        }
        assert_eq!(
            unit(&factors).unwrap().dimension,
            super::table::derived(*exponents),
            "{text}"
        );
    }
}
