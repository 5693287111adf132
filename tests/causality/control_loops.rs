//! Random control loops equal the algebra of the closed loop.
//!
//! A random network is compiled with its sources as inputs, which gives the plant's A, B, C, D. Then controllers are
//! added: each source is `r + K y + G z`, with measured variables y of the network and states `z = int(W y + S r)`.
//! Currents through resistors depend directly on the sources, so algebraic loops arise. The compiled result is compared
//! with `u = (1 - K D)^-1 (r + K C x + G z)` substituted into the plant, in matrices of doubles.

use crate::support::cases;

use cases::cases;
use lgm::equations::StateSystem;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use nalgebra::DMatrix;
use proptest::prelude::*;
use std::fmt::Write;

/// One node of a ladder: its branches to the previous node and to ground.
#[derive(Clone, Debug)]
struct Cell {
    series: f64,
    /// An inductor in series with the resistor.
    inductor: Option<f64>,
    shunt: f64,
    capacitor: Option<f64>,
}

/// A source at a cell: a voltage if behind a resistor, otherwise a current.
#[derive(Clone, Debug)]
struct Actuator {
    cell: usize,
    behind: Option<f64>,
}

#[derive(Clone, Debug)]
struct Loop {
    cells: Vec<Cell>,
    actuators: Vec<Actuator>,
    /// Gains from the measured variables and the controller states to the sources, and from the measured variables and
    /// the references to the rates of the controller states; dimensioned for the maximum number.
    gains: [Vec<f64>; 4],
    controllers: usize,
}

const MOST: usize = 4;

fn between(low: i32, high: i32) -> impl Strategy<Value = f64> {
    (low..high).prop_map(|hundredths| f64::from(hundredths) / 100.0)
}

fn control_loop() -> impl Strategy<Value = Loop> {
    let value = || between(20, 400);
    let cell = (
        value(),
        proptest::option::of(value()),
        value(),
        proptest::option::of(value()),
    );
    let cell = cell.prop_map(|(series, inductor, shunt, capacitor)| Cell {
        series,
        inductor,
        shunt,
        capacitor,
    });
    let actuator = (0..MOST, proptest::option::of(value())).prop_map(|(cell, behind)| Actuator { cell, behind });
    // Half of the gains are zero, as in practical loops.
    let gain = || prop_oneof![Just(0.0), between(-300, 300)];
    let gains = || proptest::collection::vec(gain(), 4 * MOST * MOST);
    (
        proptest::collection::vec(cell, 1..=MOST),
        proptest::collection::vec(actuator, 1..=3),
        [gains(), gains(), gains(), gains()],
        0..=2_usize,
    )
        .prop_map(|(cells, mut actuators, gains, controllers)| {
            actuators.iter_mut().for_each(|actuator| actuator.cell %= cells.len());
            Loop {
                cells,
                actuators,
                gains,
                controllers,
            }
        })
}

impl Loop {
    /// The measured variables: voltages of the shunts, currents of the series resistors.
    fn measured(&self) -> Vec<String> {
        let cells = 1..=self.cells.len();
        cells
            .flat_map(|k| [format!("across(g{k})"), format!("through(r{k})")])
            .collect()
    }

    fn gain(&self, which: usize, row: usize, column: usize) -> f64 {
        self.gains[which][row * 2 * MOST + column]
    }

    fn matrix(&self, which: usize, rows: usize, columns: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |row, column| self.gain(which, row, column))
    }

    /// A sum of names with gains.
    fn sum(&self, first: &str, terms: impl Iterator<Item = (f64, String)>) -> String {
        terms.fold(first.to_string(), |sum, (gain, name)| {
            if gain == 0.0 {
                sum
            } else {
                format!("{sum} + ({gain:?})*{name}")
            }
        })
    }

    /// The model; its sources are inputs or controlled.
    fn text(&self, closed: bool) -> String {
        let (n, m) = (self.cells.len(), self.actuators.len());
        let measured = self.measured();
        let mut text = format!("model Loop {{\n  node v[{n}] : electrical;\n");
        for (at, cell) in self.cells.iter().enumerate() {
            let k = at + 1;
            let before = if at == 0 { "gnd".to_string() } else { format!("v[{at}]") };
            match cell.inductor {
                Some(value) => writeln!(
                    text,
                    "  node m{k} : electrical;\n  l{k} : Inductor({value:?}) {before} -> m{k};\n  r{k} : Resistor({:?}) m{k} -> v[{k}];",
                    cell.series
                ),
                None => writeln!(text, "  r{k} : Resistor({:?}) {before} -> v[{k}];", cell.series),
            }
            .unwrap();
            writeln!(text, "  g{k} : Resistor({:?}) v[{k}] -> gnd;", cell.shunt).unwrap();
            if let Some(value) = cell.capacitor {
                writeln!(text, "  c{k} : Capacitor({value:?}) v[{k}] -> gnd;").unwrap();
            }
        }
        for (at, actuator) in self.actuators.iter().enumerate() {
            let (k, node) = (at + 1, actuator.cell + 1);
            writeln!(text, "  input r_{k} = 0;").unwrap();
            let states = (0..self.controllers).map(|j| (self.gain(1, at, j), format!("z{}", j + 1)));
            let direct = measured
                .iter()
                .enumerate()
                .map(|(j, name)| (self.gain(0, at, j), name.clone()));
            let value = match closed {
                true => self.sum(&format!("r_{k}"), direct.chain(states)),
                false => format!("r_{k}"),
            };
            match actuator.behind {
                Some(resistance) => writeln!(
                    text,
                    "  node s{k} : electrical;\n  u{k} : VoltageSource({value}) s{k} -> gnd;\n  b{k} : Resistor({resistance:?}) s{k} -> v[{node}];"
                ),
                None => writeln!(text, "  u{k} : CurrentSource({value}) gnd -> v[{node}];"),
            }
            .unwrap();
        }
        if closed {
            for j in 0..self.controllers {
                let direct = measured
                    .iter()
                    .enumerate()
                    .map(|(k, name)| (self.gain(2, j, k), name.clone()));
                let references = (0..m).map(|k| (self.gain(3, j, k), format!("r_{}", k + 1)));
                writeln!(
                    text,
                    "  state z{} = int({});",
                    j + 1,
                    self.sum("0", direct.chain(references))
                )
                .unwrap();
            }
        }
        for (k, name) in measured.iter().enumerate() {
            writeln!(text, "  output y_{} = {name};", k + 1).unwrap();
        }
        // Gains between volts and amperes are dimensionless here.
        text.replace(" : electrical", " : plain") + "}\n"
    }
}

/// A domain whose variables have no units, so that any gain is valid.
const PLAIN: &str = "domain plain { across v; through i; effort = across; }
element Resistor(R) : plain { across = R*through; }
element Capacitor(C) : plain { through = C*der(across); }
element Inductor(L) : plain { across = L*der(through); }
element VoltageSource(v) : plain { across = v; }
element CurrentSource(i) : plain { through = i; }
";

fn compiled(text: &str) -> Result<StateSystem, String> {
    let mut map = SourceMap::default();
    let root = map.add("loop.lgm", format!("{PLAIN}{text}"), None);
    let (system, diagnostics) = lgm::compile(&NoFiles, &mut map, root, &lgm::Request::default());
    system.ok_or_else(|| render(&map, &diagnostics, false))
}

/// A, B, C, D with the states in the order of their names.
fn matrices(system: &StateSystem, states: &[String]) -> [DMatrix<f64>; 4] {
    let form = system.matrices.numeric.as_ref().expect("a linear loop has matrices");
    let place = |name: &String| system.states.iter().position(|state| *state.name == **name);
    let places: Vec<usize> = states
        .iter()
        .map(|name| place(name).expect("every state is there"))
        .collect();
    let (m, p) = (system.inputs.len(), system.outputs.len());
    let n = places.len();
    let entry = |matrix: &lgm::equations::SparseMatrix<f64>, row: usize, column: usize| {
        matrix.get(row, column).copied().unwrap_or(0.0)
    };
    for matrix in [&form.e, &form.f] {
        assert!(
            matrix.rows.iter().flatten().all(|entry| entry.1 == 0.0),
            "no rates of inputs"
        );
    }
    [
        DMatrix::from_fn(n, n, |row, column| entry(&form.a, places[row], places[column])),
        DMatrix::from_fn(n, m, |row, column| entry(&form.b, places[row], column)),
        DMatrix::from_fn(p, n, |row, column| entry(&form.c, row, places[column])),
        DMatrix::from_fn(p, m, |row, column| entry(&form.d, row, column)),
    ]
}

proptest! {
    #![proptest_config(cases(20))]

    #[test]
    fn random_loops_equal_the_closed_loop_algebra(control in control_loop()) {
        let open = compiled(&control.text(false)).unwrap_or_else(|said| panic!("{}\n{said}", control.text(false)));
        let names: Vec<String> = open.states.iter().map(|state| state.name.to_string()).collect();
        let [a, b, c, d] = matrices(&open, &names);
        let (n, m, p, q) = (names.len(), b.ncols(), c.nrows(), control.controllers);
        let (k, g) = (control.matrix(0, m, p), control.matrix(1, m, q));
        let (w, s) = (control.matrix(2, q, p), control.matrix(3, q, m));
        let around = DMatrix::identity(m, m) - &k * &d;
        // A loop close to having no solution is not compared.
        prop_assume!(around.clone().svd(false, false).singular_values.min() > 0.05);
        let around = around.try_inverse().unwrap();
        let (by_x, by_z, by_r) = (&around * &k * &c, &around * &g, around);
        let mut whole = [
            DMatrix::zeros(n + q, n + q),
            DMatrix::zeros(n + q, m),
            DMatrix::zeros(p, n + q),
            DMatrix::zeros(p, m),
        ];
        let y_by_x = &c + &d * &by_x;
        let (y_by_z, y_by_r) = (&d * &by_z, &d * &by_r);
        whole[0].view_mut((0, 0), (n, n)).copy_from(&(&a + &b * &by_x));
        whole[0].view_mut((0, n), (n, q)).copy_from(&(&b * &by_z));
        whole[0].view_mut((n, 0), (q, n)).copy_from(&(&w * &y_by_x));
        whole[0].view_mut((n, n), (q, q)).copy_from(&(&w * &y_by_z));
        whole[1].view_mut((0, 0), (n, m)).copy_from(&(&b * &by_r));
        whole[1].view_mut((n, 0), (q, m)).copy_from(&(&w * &y_by_r + &s));
        whole[2].view_mut((0, 0), (p, n)).copy_from(&y_by_x);
        whole[2].view_mut((0, n), (p, q)).copy_from(&y_by_z);
        whole[3].copy_from(&y_by_r);
        let text = control.text(true);
        let closed = compiled(&text).unwrap_or_else(|said| panic!("{text}\n{said}"));
        prop_assert_eq!(closed.states.len(), n + q, "{}", text);
        let states: Vec<String> = names.into_iter().chain((1..=q).map(|j| format!("z{j}"))).collect();
        let found = matrices(&closed, &states);
        for ((name, found), wanted) in ["A", "B", "C", "D"].iter().zip(&found).zip(&whole) {
            let size = wanted.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
            let error = (found - wanted).iter().fold(0.0, |most: f64, value| most.max(value.abs()));
            prop_assert!(error <= 1e-9 * size, "{text}\n{name} is {found}, not {wanted}");
        }
    }
}
