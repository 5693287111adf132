//! Verification finds what it is there for: equations that were changed after they were made.

use lgm::diagnostic::{Diagnostic, has_errors};
use lgm::equations::{StateRequest, StateSystem, formulate, verify};
use lgm::source::{NoFiles, SourceMap};
use lgm::{bond, elaborate, equations};

const LINEAR: &str = "model Linear {
  param m = 2 [kg]; param k = 50 [N/m]; param b = 3 [N.s/m];
  input F [N];
  node x : translational;
  mass : Mass(m) x -> gnd; spring : Spring(k) x -> gnd; damper : Damper(b) x -> gnd;
  push : ForceSource(F) gnd -> x;
  output v = across(mass);
  output gone = int(across(mass));
}";

const NONLINEAR: &str = "import nonlinear;
model Nonlinear {
  param m = 2 [kg];
  input F [N];
  node x : translational;
  mass : Mass(m) x -> gnd; spring : HardSpring(20 [N/m], 3 [N/m^3]) x -> gnd;
  push : ForceSource(F) gnd -> x;
  output v = across(mass);
  output gone = int(across(mass));
}";

/// What verification says of equations that were changed.
fn said(text: &str, change: impl Fn(&mut StateSystem)) -> Vec<Diagnostic> {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let (program, diagnostics) = elaborate::load(&NoFiles, &mut map, root);
    assert!(!has_errors(&diagnostics), "{diagnostics:?}");
    let (model, diagnostics) = elaborate::elaborate(&program, &map, &elaborate::Settings::default());
    assert!(!has_errors(&diagnostics), "{diagnostics:?}");
    let model = model.unwrap();
    let graph = bond::lower(&model);
    let (system, diagnostics) = formulate(&model, &graph, &equations::Options::default());
    assert!(!has_errors(&diagnostics), "{diagnostics:?}");
    let mut system = system.unwrap();
    change(&mut system);
    verify(&model, &graph, &system, &[], StateRequest::default(), true).into_diagnostics(&model)
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn equations_that_were_changed_are_found_out() {
    for text in [LINEAR, NONLINEAR] {
        assert_eq!(codes(&said(text, |_| {})), ["LGM0712"], "{text}");
        for rate in 0..2 {
            let found = said(text, |system| {
                let exprs = &mut system.exprs;
                let (value, two) = (system.derivatives[rate], exprs.integer(2));
                system.derivatives[rate] = exprs.mul(value, two);
            });
            assert!(codes(&found).contains(&"LGM0711"), "{text}\n{found:?}");
        }
        let found = said(text, |system| {
            let exprs = &mut system.exprs;
            system.output_values[0] = exprs.neg(system.output_values[0]);
        });
        assert_eq!(codes(&found), ["LGM0711"], "{text}\n{found:?}");
        assert!(found[0].message.contains("output `v`"), "{found:?}");
    }
}
