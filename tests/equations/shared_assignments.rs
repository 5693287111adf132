//! Models in which every state acts on every other: their equations stay as short as the models, and remain correct.

use lgm::equations::{Options, StateSystem};
use lgm::kernels::{Arguments, Kernel, KernelOptions, Kernels};
use lgm::source::{NoFiles, SourceMap};
use lgm::{Request, compile};

/// The equations in numbers, with the verification diagnostic.
fn equations(text: &str) -> (StateSystem, Vec<&'static str>) {
    let mut map = SourceMap::default();
    let root = map.add("hub.lgm", text, None);
    let request = Request {
        equations: Options {
            symbolic: false,
            ..Options::default()
        },
        verify: true,
        ..Request::default()
    };
    let (system, diagnostics) = compile(&NoFiles, &mut map, root, &request);
    let codes = diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
    (system.expect("the model has equations"), codes)
}

/// Compiles, and checks that the equations hold and are short.
fn check(text: &str) -> StateSystem {
    let (system, codes) = equations(text);
    assert_eq!(codes, ["LGM0506", "LGM0712"]);
    assert!(system.equations.linear);
    assert!(system.matrices.numeric.is_none());
    assert!(!system.equations.assignments.is_empty());
    let roots = system
        .equations
        .derivatives
        .iter()
        .chain(&system.equations.output_values)
        .copied();
    let roots: Vec<_> = roots
        .chain(system.equations.assignments.iter().map(|entry| entry.value))
        .collect();
    let nodes = system.exprs.reachable(&roots).len();
    assert!(
        nodes < 60 * system.states.len(),
        "{nodes} nodes for {} states",
        system.states.len()
    );
    system
}

#[test]
fn capacitors_behind_resistors_at_a_node_without_storage() {
    let system = check(
        "model Star {
           const N = 560;
           input u [V] = 1;
           node s : electrical; node hub : electrical; node v[N] : electrical;
           src : VoltageSource(u) s -> gnd;
           feed : Resistor(2 [ohm]) s -> hub;
           for i in 1:N { r[i] : Resistor(i) hub -> v[i]; c[i] : Capacitor(1 [uF]) v[i] -> gnd; }
           output i = through(feed);
         }",
    );
    assert_eq!(system.states.len(), 560);
}

#[test]
fn inductors_that_meet_at_a_resistor() {
    check(
        "model Star {
           const N = 560;
           input u [A] = 1;
           node hub : electrical; node v[N] : electrical;
           src : CurrentSource(u) gnd -> hub;
           bus : Resistor(10 [ohm]) hub -> gnd;
           for i in 1:N { r[i] : Resistor(i) hub -> v[i]; l[i] : Inductor(1 [mH]) v[i] -> gnd; }
           output y = across(bus);
         }",
    );
}

/// One inductor depends on all others, so the inductance matrix is full.
#[test]
fn inductors_that_meet_alone() {
    let system = check(
        "model Star {
           const N = 560;
           input u [V] = 1;
           node hub : electrical; node v[N] : electrical;
           for i in 1:N { l[i] : Inductor(0.001*i) hub -> v[i]; r[i] : Resistor(i) v[i] -> gnd; }
           src : VoltageSource(u) s -> gnd; node s : electrical;
           last : Inductor(1 [mH]) s -> hub;
           output y = across(last);
         }",
    );
    assert_eq!(system.states.len(), 560);
}

/// Along a chain of resistors every node depends on every other.
#[test]
fn inductors_along_a_line_of_resistors() {
    check(
        "model Line {
           const N = 560;
           input u [A] = 1;
           node v[N] : electrical;
           src : CurrentSource(u) gnd -> v[1];
           for i in 1:N { l[i] : Inductor(1 [mH]) v[i] -> gnd; leak[i] : Resistor(50 [ohm]) v[i] -> gnd; }
           for i in 1:N - 1 { r[i] : Resistor(3 [ohm]) v[i] -> v[i + 1]; }
           output y = across(l[N]);
         }",
    );
}

#[test]
fn bond_graph_states_are_energy_variables() {
    check(
        "model Star {
           const N = 560;
           input u = 1;
           zero J; one A[N];
           SF : Sf(u); SF -> J; bus : R(10); J -> bus;
           for i in 1:N { m[i] : I(i); r[i] : R(2); J -> A[i]; A[i] -> m[i]; A[i] -> r[i]; }
           output y = effort(J);
         }",
    );
}

/// Quantities that an integral of an output or a controlled source needs are written out.
#[test]
fn a_model_with_an_integral_has_its_matrices() {
    let (system, codes) = equations(
        "model Star {
           const N = 510;
           input u [V] = 1;
           node s : electrical; node hub : electrical; node v[N] : electrical;
           src : VoltageSource(u) s -> gnd;
           feed : Resistor(2 [ohm]) s -> hub;
           for i in 1:N { r[i] : Resistor(i) hub -> v[i]; c[i] : Capacitor(1 [uF]) v[i] -> gnd; }
           output q = int(through(feed));
         }",
    );
    assert_eq!(codes, ["LGM0712"]);
    assert_eq!(system.states.len(), 511);
    assert!(system.matrices.numeric.is_some());
}

/// A hub of couplers: the junction's balance has an entry for each, and changes with each elimination.
#[test]
fn inertances_behind_transformers_at_a_junction() {
    let (system, codes) = equations(
        "model Hub {
           const N = 560;
           input u = 1;
           zero J;
           SF : Sf(u); SF -> J;
           for i in 1:N { t[i] : TF(1 + 1/i); m[i] : I(i); J -> t[i] -> m[i]; }
           output y = flow(m[1]);
         }",
    );
    assert_eq!(codes, ["LGM0712"]);
    assert_eq!(system.states.len(), 559);
    let form = system.matrices.numeric.expect("the equations are short");
    assert_eq!(form.a.stored(), 0);
    assert_eq!(form.e.stored(), 559);
}

/// Masses rigidly coupled to one, each through a separate lever, in parallel with their springs.
#[test]
fn masses_behind_levers_at_a_shaft() {
    let (system, codes) = equations(
        "model Shaft {
           const N = 560;
           input F [N] = 1;
           node x : translational; node z[N] : translational;
           src : ForceSource(F) gnd -> x;
           bus : Mass(1 [kg]) x -> gnd;
           for i in 1:N {
             t[i] : Transformer(1 + 1/i) x -> gnd, z[i] -> gnd;
             m[i] : Mass(i) z[i] -> gnd;
             k[i] : Spring(3 [N/m]) z[i] -> gnd;
           }
           output y = across(bus);
         }",
    );
    assert_eq!(codes, ["LGM0712"]);
    assert_eq!(system.states.len(), 561);
    assert_eq!(
        system.matrices.numeric.expect("the equations are short").a.stored(),
        2 * 560
    );
}

/// A bar with n modes, of which velocities move three points.
fn moved_bar(modes: usize) -> String {
    format!(
        "import distributed;
         model Moved {{
           param E = 210e9; param L = 1;
           input u = sin(600*time);
           node x[3] : translational;
           bar : FixedFreeBar(7850, E, 0.01, L, zeta = 0.01, modes = {modes}, at = [0.23*L, 0.57*L, 0.9*L]) x[1] -> gnd, x[2] -> gnd, x[3] -> gnd;
           for k in 1:3 {{ shake[k] : VelocitySource(k*u) x[k] -> gnd; }}
           output f = through(shake[3]);
         }}"
    )
}

/// The length of the code in a program.
fn length(kernel: &Kernel) -> usize {
    kernel
        .program()
        .loops
        .iter()
        .map(|entry| entry.body.len() + entry.stores.len())
        .sum()
}

#[test]
fn expressions_and_their_jacobian_grow_with_the_modes_and_not_with_their_square() {
    let mut lengths = Vec::new();
    for modes in [120, 240] {
        let mut map = SourceMap::default();
        let root = map.add("bar.lgm", moved_bar(modes).as_str(), None);
        let request = Request {
            equations: Options {
                numeric: false,
                ..Options::default()
            },
            verify: true,
            ..Request::default()
        };
        let (system, diagnostics) = compile(&NoFiles, &mut map, root, &request);
        let codes: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        assert_eq!(codes, ["LGM0503", "LGM0506", "LGM0712"]);
        let system = system.expect("the model has equations");
        assert!(system.equations.linear && system.matrices.symbolic.is_none());
        let kernels = Kernels::new(&system, &KernelOptions { native: false });
        let jacobian = &kernels.jacobians(&system).rates_by_states;
        // Rates are linear in the states: their matrix times the states equals these terms.
        let parameters = kernels.parameters(&[]);
        let states: Vec<f64> = (0..system.states.len()).map(|k| (1.0 + k as f64).sin()).collect();
        let rates = |states: &[f64]| {
            kernels.derivatives.values(&Arguments {
                parameters: &parameters,
                states,
                inputs: &[0.0],
                rates: &[0.0],
                ..Arguments::default()
            })
        };
        let entries = jacobian.values.values(&Arguments {
            parameters: &parameters,
            states: &states,
            inputs: &[0.0],
            rates: &[0.0],
            ..Arguments::default()
        });
        for (row, rate) in rates(&states).iter().enumerate() {
            let range = jacobian.row_starts[row]..jacobian.row_starts[row + 1];
            let terms = range.map(|at| entries[at] * states[jacobian.columns_of[at]]);
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term: f64| (sum + term, size + term.abs()));
            assert!((sum - rate).abs() <= 1e-10 * size, "{modes}, row {row}: {sum} {rate}");
        }
        lengths.push([length(&kernels.derivatives), length(&jacobian.values)]);
    }
    for (few, many) in lengths[0].into_iter().zip(lengths[1]) {
        assert!(many < 3 * few, "{lengths:?}");
    }
}
