//! Initial values from conservation laws, in any order of lines; and integrals that storage contains.

use lgm::Request;
use lgm::diagnostic::{Severity, has_errors};
use lgm::equations::{StateRequest, StateSystem};
use lgm::kernels::{KernelOptions, Kernels};
use lgm::rendering::render;
use lgm::simulate::{Inputs, Plan, Silent, Sink, Stop, simulate};
use lgm::source::{NoFiles, SourceMap};
use nalgebra::{DMatrix, DVector};

/// The system, or the codes of its errors, and all messages.
fn attempt(text: &str, states: StateRequest) -> (Result<StateSystem, Vec<&'static str>>, String) {
    let mut map = SourceMap::default();
    let root = map.add("model.lgm", text, None);
    let mut request = Request {
        verify: true,
        ..Request::default()
    };
    request.equations.states = states;
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &request);
    let reported = render(&map, &diagnostics, false);
    if has_errors(&diagnostics) {
        let errors = diagnostics.iter().filter(|each| each.severity == Severity::Error);
        let mut codes: Vec<&'static str> = errors.map(|each| each.code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        return (Err(codes), reported);
    }
    (Ok(system.unwrap()), reported)
}

fn compile(text: &str) -> StateSystem {
    let (system, reported) = attempt(text, StateRequest::Natural);
    system.unwrap_or_else(|_| panic!("{text}\n{reported}"))
}

struct First(Vec<f64>);

impl Sink for First {
    fn row(&mut self, _: f64, outputs: &[f64], _: &[f64]) -> Result<(), Stop> {
        if self.0.is_empty() {
            self.0 = outputs.to_vec();
        }
        Ok(())
    }
}

/// The outputs at the start, with parameters set by name.
fn first_row(system: &StateSystem, set: &[(&str, f64)]) -> Vec<f64> {
    let kernels = Kernels::new(system, &KernelOptions { native: false });
    let place = |name: &str| {
        let mut parameters = system.parameters.iter();
        parameters.position(|parameter| *parameter.name == *name).unwrap()
    };
    let set: Vec<(usize, f64)> = set.iter().map(|(name, value)| (place(name), *value)).collect();
    let parameters = kernels.parameters(&set);
    let inputs = Inputs::new(system, &kernels, &parameters, vec![None; system.inputs.len()], 0.0);
    let plan = Plan {
        stop: 1e-9,
        points: 2,
        ..Plan::default()
    };
    let mut first = First(Vec::new());
    let done = simulate(system, &kernels, &parameters, &inputs, &plan, &mut first, &Silent);
    done.unwrap_or_else(|failure| panic!("{failure:?}"));
    first.0
}

fn near(found: &[f64], expected: &[f64]) -> bool {
    let pairs = found.iter().zip(expected);
    found.len() == expected.len()
        && pairs
            .into_iter()
            .all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0))
}

/// All permutations of some lines.
fn orders(lines: &[&str]) -> Vec<String> {
    if lines.is_empty() {
        return vec![String::new()];
    }
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mut others = lines.to_vec();
        others.remove(at);
        all.extend(orders(&others).into_iter().map(|rest| format!("  {line}\n{rest}")));
    }
    all
}

/// Three capacitors in a loop, one with a given initial value: the charge of the node between the others was 0 and
/// stays 0.
#[test]
fn three_capacitors_in_any_order() {
    let lines = [
        "c1 : Capacitor(C1) a -> gnd;",
        "c2 : Capacitor(2e-6) a -> b;",
        "c3 : Capacitor(3e-6) b -> gnd, start = V;",
    ];
    for order in orders(&lines) {
        for states in [StateRequest::Natural, StateRequest::Energy] {
            let text = format!(
                "model M {{\n  param C1 = 1e-6; param V = 1;\n  node a, b : electrical;\n{order}  r : Resistor(1e3) a -> gnd;
  output v1 = across(c1); output v2 = across(c2); output v3 = across(c3);\n}}"
            );
            let (system, reported) = attempt(&text, states);
            let system = system.unwrap_or_else(|_| panic!("{text}\n{reported}"));
            let row = first_row(&system, &[]);
            assert!(near(&row, &[2.0 / 3.0, -1.0 / 3.0, 1.0]), "{text}\n{row:?}");
            // An expression over the parameters, not a number.
            let row = first_row(&system, &[("C1", 2e-6), ("V", 4.0)]);
            assert!(near(&row, &[2.0, -2.0, 4.0]), "{text}\n{row:?}");
        }
    }
}

#[test]
fn two_that_are_given_determine_the_third_or_contradict_it() {
    let lines = [
        "c1 : Capacitor(1) a -> gnd, start = 5;",
        "c2 : Capacitor(2) a -> b;",
        "c3 : Capacitor(3) b -> gnd, start = 1;",
    ];
    for order in orders(&lines) {
        let text = format!("model M {{\n  node a, b : electrical;\n{order}  output v = across(c2);\n}}");
        assert!(near(&first_row(&compile(&text), &[]), &[4.0]), "{text}");
        for (given, fits) in [("4", true), ("3", false)] {
            let text = text.replace("a -> b;", &format!("a -> b, start = {given};"));
            let (system, reported) = attempt(&text, StateRequest::Natural);
            match system {
                Ok(_) => assert!(fits, "{text}"),
                Err(codes) => assert!(!fits && codes == ["LGM0425"], "{text}\n{reported}"),
            }
        }
    }
}

/// A constant source acts from the start, like an input that steps from 0.
#[test]
fn a_constant_source_charges_a_divider() {
    let lines = [
        "src : VoltageSource(SOURCE) a -> gnd;",
        "c2 : Capacitor(1e-3) a -> c;",
        "c3 : Capacitor(3e-3) c -> gnd;",
    ];
    for (source, value) in [
        ("5", 5.0),
        ("U", 8.0),
        ("u", 2.0),
        ("U + u", 10.0),
        ("4*cos(3*time)", 4.0),
        ("U + 4*cos(3*time)", 12.0),
        ("U + u*sqrt(1 + z)", 12.0),
        // A source controlled by a declared state starts with the initial value of that state.
        ("z", 3.0),
        ("U + 2*z", 14.0),
        ("U + u - z", 7.0),
        ("sqrt(1 + z)", 2.0),
    ] {
        // In nonlinear models the equations are derived differently.
        for beside in ["", "  x : CubicSpring() a -> gnd;\n"] {
            for order in orders(&lines) {
                let text = format!(
                    "element CubicSpring() {{ through = 1e-3*int(across)^3; }}\nmodel M {{\n  param U = 8;\n  input u = 2;
  state z = int(1 - z), start = 3;\n  node a, c : electrical;\n{order}{beside}  r : Resistor(1e3) c -> gnd;
  output vc = across(c);\n}}"
                );
                let text = text.replace("SOURCE", source);
                let row = first_row(&compile(&text), &[]);
                assert!(near(&row, &[value / 4.0]), "{text}\n{row:?}");
            }
        }
    }
}

/// Nonlinear storage, and an impulse that passes a resistance: a constant acts like an input of the same value.
#[test]
fn a_constant_source_moves_what_has_no_closed_form() {
    // 12.8 p + 0.324 p^3 = 1.41; 3.71 q + 2.35 q^3 = 4.12; a charge of 2.78 that turns the shaft by -0.447 of it.
    for (lines, source, outputs, expected) in [
        (
            [
                "l : Inertance(1) n -> gnd;",
                "x : CubicT(11.8, 0.324) n -> gnd;",
                "s : FlowSource(SOURCE) gnd -> n;",
            ],
            "1.41",
            "output y = through(l);",
            0.110_122_446_428_078_96,
        ),
        (
            [
                "x : CubicA(2.71, 2.35) n -> m;",
                "c : FluidCapacitor(1) n -> gnd;",
                "s : PressureSource(SOURCE) m -> gnd;",
            ],
            "-4.12",
            "output y = -across(c);",
            0.793_746_047_975_334,
        ),
        (
            [
                "j : Inertance(1) n -> gnd;",
                "c : FluidCapacitor(1) m -> gnd; s : PressureSource(SOURCE) m -> gnd;",
                "v : FlowSource(-0.447*through(c)) gnd -> n; r : FluidResistor(1) n -> gnd;",
            ],
            "2.78",
            "output y = through(j);",
            -0.447 * 2.78,
        ),
    ] {
        for given in [source, "u", "u + c2", "c2"] {
            for order in orders(&lines) {
                let constant: f64 = source.parse().unwrap();
                let (u, c2) = match given {
                    "u + c2" => (0.25 * constant, 0.75 * constant),
                    _ => (constant, constant),
                };
                let text = format!(
                    "element CubicT(a, c) {{ through = a*int(across) + c*int(across)^3; }}
element CubicA(a, c) {{ across = a*int(through) + c*int(through)^3; }}
model M {{\n  param c2 = {c2:?};\n  input u = {u:?};\n  node n, m : fluid;\n{order}  k : FluidResistor(1) m -> gnd;
  {outputs}\n}}"
                );
                let text = text.replace("SOURCE", given);
                let row = first_row(&compile(&text), &[]);
                // A run moves it by a Runge-Kutta method.
                assert!((row[0] - expected).abs() < 1e-8, "{text}\n{row:?}");
            }
        }
    }
}

/// A constant part of a source in addition to an input, in a bond graph with a modal block.
#[test]
fn a_constant_beside_an_input_moves_inertances_and_modes() {
    let lines = ["a : I(3);", "b : I(1);"];
    for order in orders(&lines) {
        let text = format!(
            "modal Bar(rho, E, zeta) : fluid {{ mode i; a_type = rho/2; t_type = (E/2)*((2*i - 1)*pi/2)^2;
  d_type = 2*zeta*sqrt(a_type*t_type); shape(x) = sin((2*i - 1)*pi*x/2); }}
model M {{\n  input f = 7*step(9);\n  zero n : fluid; node m : fluid; one j1; one j2; one s;
  m -> j1; j1 -> n; j1 -> a; m -> j2; j2 -> n; j2 -> b; s -> n; q -> s; q : Sf(f + 8);\n{order}
  bar : Bar(rho = 2, E = 1, zeta = 0.01, modes = 2, at = [1]) m -> gnd;
  output fa = flow(a); output fb = flow(b);\n}}"
        );
        let row = first_row(&compile(&text), &[]);
        assert!(near(&row, &[-2.0, -6.0]), "{text}\n{row:?}");
    }
}

/// The dual: three inductors at a node. The flux around the loop of the others was 0.
#[test]
fn three_inductors_in_any_order() {
    let lines = [
        "l1 : Inductor(1) a -> n, start = 3;",
        "l2 : Inductor(2) n -> gnd;",
        "l3 : Inductor(4) n -> gnd;",
    ];
    for order in orders(&lines) {
        let text = format!(
            "model M {{\n  node a, n : electrical;\n{order}  r : Resistor(1) a -> gnd;
  output i1 = through(l1); output i2 = through(l2); output i3 = through(l3);\n}}"
        );
        let row = first_row(&compile(&text), &[]);
        assert!(near(&row, &[3.0, 2.0, 1.0]), "{text}\n{row:?}");
    }
}

/// The same for inertances at a 0-junction, whose momenta are given.
#[test]
fn three_inertances_in_any_order() {
    let lines = ["I1 : I(1), start = 3;", "I2 : I(2);", "I3 : I(4);", "R1 : R(1);"];
    for order in orders(&lines) {
        let text = format!(
            "model M {{\n  one a; zero n;\n{order}  a -> I1; R1 -> a;  n -> a; n -> I2; n -> I3;
  output f1 = flow(I1); output f2 = flow(I2); output f3 = flow(I3);\n}}"
        );
        let text = text.replace("R1 -> a;", "a -> R1;");
        let row = first_row(&compile(&text), &[]);
        assert!(near(&row, &[3.0, -2.0, -1.0]), "{text}\n{row:?}");
    }
}

/// A signal is given an initial value like storage: two carts are pushed apart, and their total momentum stays 0.
#[test]
fn a_relative_speed_leaves_the_momentum() {
    let text = "model M {
  node x, y : translational;
  car     : Mass(2) x -> gnd;
  hitch   : Damper(500) x -> y;
  trailer : Mass(3) y -> gnd;
  signal apart = across(car) - across(trailer), start = 5;
  output v = across(car); output w = across(trailer);
}";
    assert!(near(&first_row(&compile(text), &[]), &[3.0, -2.0]));
}

/// A mass coupled to two wheels by a rotating lever: nonlinear equations.
#[test]
fn what_is_joined_by_a_lever_that_turns() {
    let lines = [
        "J1 : Inertia(2) w1 -> gnd, start = 1;",
        "J2 : Inertia(3) w2 -> gnd;",
        "body : Mass(m) x -> gnd;",
    ];
    for order in orders(&lines) {
        let text = format!(
            "model M {{\n  param m = 5; param q0 = 0.4; param L = 1 [m];\n  node w1, w2 : rotational; node x, a : translational;
  state q = int(across(w1)), start = q0;\n{order}
  T1 : Transformer(L*cos(q)) w1 -> gnd, a -> gnd;  T2 : Transformer(L) w2 -> gnd, x -> a;
  output u = across(J1); output v = across(J2); output s = across(body);\n}}"
        );
        let system = compile(&text);
        for (m, q) in [(5.0_f64, 0.4_f64), (2.0, 1.1)] {
            let row = first_row(&system, &[("m", m), ("q0", q)]);
            let v = -m * q.cos() / (3.0 + m);
            assert!(near(&row, &[1.0, v, q.cos() + v]), "{text}\n{row:?} {v}");
        }
    }
}

/// A linear congruential generator: the same networks each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            let other = self.next(at + 1);
            list.swap(at, other);
        }
    }
}

/// Random loops of capacitors with initial values and constant sources: their initial state is that of minimum energy,
/// in every order of lines.
#[test]
fn random_networks_in_random_orders() {
    let mut numbers = Numbers(11);
    let (mut settled, mut refused) = (0, 0);
    for network in 0..60 {
        let nodes = 3 + numbers.next(3);
        let mut branches: Vec<(usize, usize, f64, Option<f64>)> = Vec::new();
        for b in 1..=nodes {
            branches.push((numbers.next(b), b, 1.0 + numbers.next(9) as f64, None));
        }
        for _ in 0..1 + numbers.next(4) {
            let (a, b) = (numbers.next(nodes + 1), numbers.next(nodes + 1));
            if a != b {
                branches.push((a, b, 1.0 + numbers.next(9) as f64, None));
            }
        }
        // Mostly consistent initial node voltages, sometimes inconsistent ones.
        let voltage: Vec<f64> = (0..=nodes)
            .map(|node| if node == 0 { 0.0 } else { numbers.next(7) as f64 - 3.0 })
            .collect();
        for branch in &mut branches {
            if numbers.next(3) == 0 {
                let odd = if numbers.next(12) == 0 { 1.0 } else { 0.0 };
                branch.3 = Some(voltage[branch.0] - voltage[branch.1] + odd);
            }
        }
        let expected = least_energy(nodes, &branches);
        let name = |node: usize| {
            if node == 0 {
                "gnd".to_string()
            } else {
                format!("n{node}")
            }
        };
        let mut lines: Vec<String> = branches
            .iter()
            .enumerate()
            .map(|(at, (a, b, c, start))| {
                let start = start.map_or(String::new(), |start| format!(", start = {start:?}"));
                format!("c{at} : Capacitor({c:?}) {} -> {}{start};", name(*a), name(*b))
            })
            .collect();
        lines.push("load : Resistor(1) n1 -> gnd;".to_string());
        let outputs: String = (0..branches.len())
            .map(|at| format!("  output v{at} = across(c{at});\n"))
            .collect();
        let declared: Vec<String> = (1..=nodes).map(name).collect();
        for _ in 0..3 {
            numbers.shuffle(&mut lines);
            let text = format!(
                "model N{network} {{\n  node {} : electrical;\n  {}\n{outputs}}}",
                declared.join(", "),
                lines.join("\n  ")
            );
            let (system, reported) = attempt(&text, StateRequest::Natural);
            match (&expected, system) {
                (Some(expected), Ok(system)) => {
                    let row = first_row(&system, &[]);
                    assert!(near(&row, expected), "{text}\n{row:?}\n{expected:?}");
                    settled += 1;
                }
                (None, Err(codes)) => {
                    assert_eq!(codes, ["LGM0425"], "{text}\n{reported}");
                    refused += 1;
                }
                _ => panic!("{text}\n{reported}\n{expected:?}"),
            }
        }
    }
    assert!(settled > 100 && refused > 5, "{settled} {refused}");
}

/// The voltages of all branches with the given initial values and minimum energy; none if they contradict each other.
fn least_energy(nodes: usize, branches: &[(usize, usize, f64, Option<f64>)]) -> Option<Vec<f64>> {
    let row = |a: usize, b: usize| {
        let mut row = DVector::zeros(nodes);
        if a > 0 {
            row[a - 1] += 1.0;
        }
        if b > 0 {
            row[b - 1] -= 1.0;
        }
        row
    };
    let mut energy = DMatrix::<f64>::zeros(nodes, nodes);
    let given: Vec<(DVector<f64>, f64)> = branches
        .iter()
        .filter_map(|(a, b, _, start)| Some((row(*a, *b), (*start)?)))
        .collect();
    for (a, b, c, _) in branches {
        let row = row(*a, *b);
        energy += &row * row.transpose() * *c;
    }
    let size = nodes + given.len();
    let mut matrix = DMatrix::zeros(size, size);
    let mut right = DVector::zeros(size);
    matrix.view_mut((0, 0), (nodes, nodes)).copy_from(&energy);
    for (k, (row, value)) in given.iter().enumerate() {
        for at in 0..nodes {
            matrix[(nodes + k, at)] = row[at];
            matrix[(at, nodes + k)] = row[at];
        }
        right[nodes + k] = *value;
    }
    // Dependent initial values do not determine the impulses, but they do determine the voltages.
    let solution = matrix.svd(true, true).solve(&right, 1e-10).unwrap();
    let fits = |(row, value): &(DVector<f64>, f64)| (row.dot(&solution.rows(0, nodes)) - value).abs() < 1e-8;
    let voltages = branches
        .iter()
        .map(|(a, b, ..)| row(*a, *b).dot(&solution.rows(0, nodes)));
    given.iter().all(fits).then(|| voltages.collect())
}

const SPRINGS: &str = "import nonlinear;
element KelvinVoigt(k [N/m], b [N.s/m]) : translational { through = k*int(across) + b*across; }
model IntTrap {
  node x, y, z : translational;
  m1 : Mass(1) x -> gnd;
  s1 : HardSpring(100, 1e-30) x -> gnd, start = 1 [m];
  m2 : Mass(1) y -> gnd;
  s2 : KelvinVoigt(100, 0) y -> gnd, start = 1 [m];
  m3 : Mass(1) z -> gnd;
  s3 : Spring(100) z -> gnd, start = 100 [N];
  output h_hard = int(across(s1));
  output h_kv = int(across(s2));
  output h_lin = int(across(s3));
  MORE
}";

/// The integral contained in a storage element is its displacement.
#[test]
fn integrals_of_storage_begin_where_it_does() {
    let mut map = SourceMap::default();
    let files = NoFiles;
    let root = map.add(
        "model.lgm",
        SPRINGS.replace("MORE", "output moved = int(across(m3));"),
        None,
    );
    let (system, diagnostics) = lgm::compile(&files, &mut map, root, &Request::default());
    let reported = render(&map, &diagnostics, false);
    let system = system.unwrap_or_else(|| panic!("{reported}"));
    assert!(near(&first_row(&system, &[]), &[1.0, 1.0, 1.0, 0.0]));
    assert!(
        reported.contains("LGM0438") && reported.contains("`moved` starts from 0, but `s3` has another initial value"),
        "{reported}"
    );
    assert_eq!(system.states.len(), 6, "what `moved` is, the spring beside it knows");
}

#[test]
fn integrals_of_linear_storage_add_no_state() {
    let text = "model M {
  node x : translational; node a : electrical;
  mass : Mass(2) x -> gnd;
  spring : Spring(100) x -> gnd, start = 50 [N];
  drag : Damper(1) x -> gnd;
  c1 : Capacitor(3) a -> gnd, start = 2;
  c2 : Capacitor(4) a -> gnd;
  r : Resistor(1) a -> gnd;
  output stretched = int(across(spring));
  output charge = int(through(c1));
  output other = int(through(c2));
}";
    let expected = [0.5, 6.0, 8.0];
    let nonlinear = text
        .replace(
            "model M",
            "element Rq(K) : electrical { across = K*through*abs(through); }\nmodel M",
        )
        .replace("r : Resistor(1)", "r : Rq(1)");
    for text in [text, &nonlinear] {
        let system = compile(text);
        assert_eq!(system.states.len(), 3, "{text}");
        let row = first_row(&system, &[]);
        assert!(near(&row, &expected), "{text}\n{row:?}");
    }
}

#[test]
fn the_displacement_of_a_bond_compliance_is_its_state() {
    let text = "element Rq(K) : bond { effort = K*flow*abs(flow); }
model M {
  one a;  i : I(2), start = 3;  s : C(1/4), start = 0.25;  rq : Rq(3);
  a -> i;  a -> s;  a -> rq;
  output q = int(flow(s));
  output same = int(flow(a -> s));
  output p = int(effort(i));
}";
    let system = compile(text);
    let names: Vec<&str> = system.states.iter().map(|state| &*state.name).collect();
    assert_eq!(names, ["i.p", "s.q"]);
    assert!(near(&first_row(&system, &[]), &[0.25, 0.25, 3.0]));
}

/// The impulse that brings storage to its initial value acts only there: a source that measures the storage measures
/// the flow between it and the graph, with the same result in the storage, in an ammeter in series, and at the junction
/// of a bond graph. With the charge q from n1 to n2, `2 - v = q` and `v = q + 0.5*q`; dually for inductors, `i2 = f`
/// and `i3 = f - 0.5*f` add up to 2.
#[test]
fn what_a_source_measures_of_storage_leaves_its_own_impulse_out() {
    let capacitors = |lines: &str, measure: &str| {
        format!(
            "model M {{\n  node n0, n1, n2 : electrical;\n  {lines}
  s : CurrentSource(-0.5*through({measure})) gnd -> n2;\n  r : Resistor(1) n2 -> gnd;\n  output v = across(n2);\n}}"
        )
    };
    let beside = "ammeter : VoltageSource(0) n1 -> n0;";
    let parts = [
        "c1 : Capacitor(1) n0 -> gnd, start = 2;",
        "c2 : Capacitor(1) n1 -> n2;",
        "c3 : Capacitor(1) n2 -> gnd;",
    ];
    for order in orders(&parts) {
        for measure in ["c1", "ammeter"] {
            let row = first_row(&compile(&capacitors(&format!("{order}\n  {beside}"), measure)), &[]);
            assert!(near(&row, &[1.2]), "{measure}: {order}\n{row:?}");
        }
    }
    let parts = [
        "c1 : C(1), start = 2; j -> c1;",
        "c2 : C(1); k -> c2;",
        "c3 : C(1); n2 -> c3;",
    ];
    for order in orders(&parts) {
        for measure in ["j", "c1"] {
            let text = format!(
                "model M {{\n  zero n1; zero n2; one j; one k;\n  n1 -> j; n1 -> k; k -> n2;\n{order}
  s : Sf(-0.5*flow({measure})); s -> n2;\n  r : R(1); n2 -> r;\n  output v = effort(n2);\n}}"
            );
            let row = first_row(&compile(&text), &[]);
            assert!(near(&row, &[1.2]), "{text}\n{row:?}");
        }
    }
    let parts = [
        "l1 : Inductor(1) gnd -> a, start = 2;",
        "l2 : Inductor(1) a -> gnd;",
        "l3 : Inductor(1) a -> b;",
    ];
    for order in orders(&parts) {
        for measure in ["l1", "meter"] {
            let text = format!(
                "model M {{\n  node a, b : electrical;\n  {order}
  meter : CurrentSource(0) gnd -> a;\n  s : VoltageSource(-0.5*across({measure})) b -> gnd;
  output i2 = through(l2); output i3 = through(l3);\n}}"
            );
            let row = first_row(&compile(&text), &[]);
            assert!(near(&row, &[4.0 / 3.0, 2.0 / 3.0]), "{text}\n{row:?}");
        }
    }
}
