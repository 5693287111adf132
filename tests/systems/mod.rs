//! State systems built by hand, for tests of their consumers.
#![allow(dead_code)] // Each test binary uses its own part of this.

use lgm::equations::{
    AlgebraicLoop, Assignment, DependentStorage, Equations, LinearForm, Quantity, SparseMatrix, State, StateSystem,
    StateVariable,
};
use lgm::expr::{ExprId, Exprs, Function, SymbolId, SymbolKind};
use lgm::model::{Input, Parameter, ParameterEntry, SiUnit};
use lgm::source::{SourceId, Span};
use lgm::units::{UnitPower, unit_of};
use num_bigint::BigInt;
use num_rational::BigRational;

/// Builds a system piece by piece.
pub struct Builder {
    pub system: StateSystem,
}

/// A unit as text, such as `N.s/m^2`.
fn si_unit(words: &str) -> SiUnit {
    let (top, bottom) = words.split_once('/').unwrap_or((words, ""));
    let parts = top.split('.').map(|factor| (factor, 1));
    let parts = parts.chain(bottom.split('.').map(|factor| (factor, -1)));
    let parts = parts.filter(|(factor, _)| !factor.is_empty());
    let factors = parts.map(|(factor, sign)| {
        let (name, power) = factor.split_once('^').unwrap_or((factor, "1"));
        UnitPower {
            name,
            exponent: (sign * power.parse::<i32>().unwrap(), 1),
            span: nowhere(),
        }
    });
    SiUnit::new(words, unit_of(factors).unwrap().dimension)
}

fn nowhere() -> Span {
    Span::new(SourceId(0), 0, 0)
}

impl Builder {
    pub fn new(model: &str) -> Builder {
        let mut exprs = Exprs::default();
        let time = exprs.new_symbol("time", SymbolKind::Time);
        Builder {
            system: StateSystem {
                model: model.into(),
                doc: None,
                exprs,
                time,
                parameters: Vec::new(),
                states: Vec::new(),
                inputs: Vec::new(),
                input_rates: Vec::new(),
                outputs: Vec::new(),
                equations: Equations {
                    linear: true,
                    ..Default::default()
                },
                matrices: Default::default(),
                dependent: Vec::new(),
                linearized_at: None,
                starts: Default::default(),
                events: Default::default(),
                experiment: Default::default(),
            },
        }
    }

    fn exprs(&mut self) -> &mut Exprs {
        &mut self.system.exprs
    }

    /// A parameter with a value of `tenths`/10, derived from an expression or given.
    pub fn parameter(&mut self, name: &str, tenths: i64, unit: Option<&str>, derived: Option<ExprId>) -> ExprId {
        self.matrix_parameter(name, &[], &[(tenths, derived)], unit)[0]
    }

    pub fn matrix_parameter(
        &mut self,
        name: &str,
        shape: &[usize],
        entries: &[(i64, Option<ExprId>)],
        unit: Option<&str>,
    ) -> Vec<ExprId> {
        let entries: Vec<ParameterEntry> = entries
            .iter()
            .enumerate()
            .map(|(at, (tenths, derived))| {
                let name = match shape {
                    [] => name.to_string(),
                    [_] => format!("{name}[{}]", at + 1),
                    [_, columns, ..] => format!("{name}[{}, {}]", at / columns + 1, at % columns + 1),
                };
                ParameterEntry {
                    symbol: self.system.exprs.new_symbol(name, SymbolKind::Parameter),
                    derived: *derived,
                    exact: None,
                    value: BigRational::new(BigInt::from(*tenths), BigInt::from(10)),
                }
            })
            .collect();
        let ids = entries
            .iter()
            .map(|entry| self.system.exprs.symbol(entry.symbol))
            .collect();
        self.system.parameters.push(Parameter {
            name: name.into(),
            shape: shape.to_vec(),
            entries,
            unit: unit.map(si_unit),
            scale: lgm::model::Scale::SI,
            literal_unit: None,
            span: nowhere(),
            value_span: nowhere(),
            is_constant: false,
        });
        ids
    }

    pub fn input(&mut self, name: &str, unit: Option<&str>) -> (ExprId, ExprId) {
        let symbol = self.exprs().new_symbol(name, SymbolKind::Input);
        let rate = self.exprs().new_symbol(format!("der({name})"), SymbolKind::InputRate);
        self.system.inputs.push(Input {
            name: name.into(),
            symbol,
            signal: None,
            unit: unit.map(si_unit),
            scale: lgm::model::Scale::SI,
            span: nowhere(),
            is_internal: false,
        });
        self.system.input_rates.push(rate);
        (self.exprs().symbol(symbol), self.exprs().symbol(rate))
    }

    pub fn state(&mut self, name: &str, variable: StateVariable, unit: Option<&str>, start: i64) -> ExprId {
        let symbol = self.exprs().new_symbol(name, SymbolKind::State);
        let start_id = self.exprs().integer(start);
        self.system.states.push(State {
            name: name.into(),
            element: name.rsplit_once('.').map_or(name, |parts| parts.0).into(),
            variable,
            written: None,
            total_of: Vec::new(),
            unit: unit.map(si_unit),
            symbol,
            start: start_id,
            start_value: start as f64,
            start_given: start != 0,
            nominal: None,
            start_span: None,
            span: nowhere(),
        });
        self.exprs().symbol(symbol)
    }

    pub fn output(&mut self, name: &str, unit: Option<&str>, value: ExprId) {
        self.system.outputs.push(Quantity {
            name: name.into(),
            unit: unit.map(si_unit),
            span: nowhere(),
        });
        self.system.equations.output_values.push(value);
    }

    pub fn assignment(&mut self, name: &str, value: ExprId) -> ExprId {
        let symbol = self.exprs().new_symbol(name, SymbolKind::Assignment);
        self.system.equations.assignments.push(Assignment { symbol, value });
        self.exprs().symbol(symbol)
    }

    pub fn unknown(&mut self, name: &str) -> (SymbolId, ExprId) {
        let symbol = self.exprs().new_symbol(name, SymbolKind::Assignment);
        (symbol, self.exprs().symbol(symbol))
    }
}

/// A sparse matrix from `(row, column, value)`, in order.
pub fn sparse<T: Clone>(rows: usize, columns: usize, entries: &[(usize, u32, T)]) -> SparseMatrix<T> {
    let mut matrix = SparseMatrix::zeros(rows, columns);
    for (row, column, value) in entries {
        matrix.rows[*row].push((*column, value.clone()));
    }
    matrix
}

/// An empty form.
pub fn empty_form<T: Clone>(states: usize, inputs: usize, outputs: usize) -> LinearForm<T> {
    LinearForm {
        a: SparseMatrix::zeros(states, states),
        b: SparseMatrix::zeros(states, inputs),
        c: SparseMatrix::zeros(outputs, states),
        d: SparseMatrix::zeros(outputs, inputs),
        e: SparseMatrix::zeros(states, inputs),
        f: SparseMatrix::zeros(outputs, inputs),
        x_offset: None,
        y_offset: None,
    }
}

/// A mass on a spring and a damper: m = 2, k = 50, b = 0.4 (or as given, in tenths).
pub fn oscillator(damping_tenths: i64) -> StateSystem {
    let mut builder = Builder::new("Oscillator");
    let m = builder.parameter("m", 20, Some("kg"), None);
    let k = builder.parameter("k", 500, Some("N/m"), None);
    let b = builder.parameter("b", damping_tenths, Some("N.s/m"), None);
    let (force, _) = builder.input("F", Some("N"));
    let v = builder.state("mass.v", StateVariable::Across, Some("m/s"), 0);
    let spring = builder.state("spring.F", StateVariable::Through, Some("N"), 3);
    let exprs = builder.exprs();
    let drag = exprs.mul(b, v);
    let rest = exprs.sub(force, drag);
    let rest = exprs.sub(rest, spring);
    let acceleration = exprs.div(rest, m);
    let rate = exprs.mul(k, v);
    let one = exprs.one();
    let a11 = exprs.div(b, m);
    let a11 = exprs.neg(a11);
    let b1 = exprs.div(one, m);
    let a12 = exprs.neg(b1);
    builder.system.equations.derivatives = vec![acceleration, rate];
    builder.output("v", Some("m/s"), v);
    builder.output("fk", Some("N"), spring);
    let mut form = empty_form(2, 1, 2);
    form.a = sparse(2, 2, &[(0, 0, a11), (0, 1, a12), (1, 0, k)]);
    form.b = sparse(2, 1, &[(0, 0, b1)]);
    form.c = sparse(2, 2, &[(0, 0, one), (1, 1, one)]);
    builder.system.matrices.symbolic = Some(form);
    let mut form = empty_form(2, 1, 2);
    let damping = damping_tenths as f64 / 10.0;
    form.a = sparse(2, 2, &[(0, 0, -damping / 2.0), (0, 1, -0.5), (1, 0, 50.0)]);
    form.b = sparse(2, 1, &[(0, 0, 0.5)]);
    form.c = sparse(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]);
    builder.system.matrices.numeric = Some(form);
    builder.system
}

/// Two inertias on one shaft driven through a capacity: E and F, offsets, derived and matrix parameters, dependents.
pub fn geared() -> StateSystem {
    let mut builder = Builder::new("Geared");
    let j1 = builder.parameter("J_1", 10, Some("kg.m^2"), None);
    let n = builder.parameter("n", 30, None, None);
    let exprs = builder.exprs();
    let two = exprs.integer(2);
    let squared = exprs.power(n, two);
    let derived = exprs.mul(squared, j1);
    let j = builder.parameter("J", 90, Some("kg.m^2"), Some(derived));
    builder.matrix_parameter(
        "K",
        &[2, 2],
        &[(50, None), (-10, None), (-10, Some(derived)), (40, None)],
        None,
    );
    builder.matrix_parameter("g", &[2], &[(0, None), (-98, None)], Some("m/s^2"));
    let (u, rate) = builder.input("u", Some("N.m"));
    let w = builder.state("rotor.w", StateVariable::Across, Some("rad/s"), 0);
    let exprs = builder.exprs();
    let total = exprs.add(j1, j);
    let one = exprs.one();
    let b = exprs.div(one, total);
    let e = exprs.div(n, total);
    let offset = exprs.div(j1, total);
    let offset = exprs.neg(offset);
    let left = exprs.mul(n, rate);
    let numerator = exprs.sum([u, left]);
    let numerator = exprs.sub(numerator, j1);
    let derivative = exprs.div(numerator, total);
    let f = exprs.mul(n, b);
    let y = exprs.mul(f, rate);
    let y = exprs.add(y, w);
    builder.system.equations.derivatives = vec![derivative];
    builder.output("speed", None, y);
    let mut form = empty_form(1, 1, 1);
    form.b = sparse(1, 1, &[(0, 0, b)]);
    form.c = sparse(1, 1, &[(0, 0, one)]);
    form.e = sparse(1, 1, &[(0, 0, e)]);
    form.f = sparse(1, 1, &[(0, 0, f)]);
    form.x_offset = Some(vec![offset]);
    builder.system.matrices.symbolic = Some(form);
    let mut form = empty_form(1, 1, 1);
    form.b = sparse(1, 1, &[(0, 0, 0.1)]);
    form.c = sparse(1, 1, &[(0, 0, 1.0)]);
    form.e = sparse(1, 1, &[(0, 0, 0.3)]);
    form.f = sparse(1, 1, &[(0, 0, 0.3)]);
    form.x_offset = Some(vec![-0.1]);
    builder.system.matrices.numeric = Some(form);
    builder.system.dependent = vec![
        DependentStorage {
            element: "wheel".into(),
            on: vec!["rotor".into()],
            equivalent: "J_1 + J".into(),
            unit: None,
        },
        DependentStorage {
            element: "tank".into(),
            on: Vec::new(),
            equivalent: String::new(),
            unit: None,
        },
    ];
    builder.system
}

/// A nonlinear pendulum whose implicit equations are not solved, with a shared subexpression and a loop.
pub fn pendulum() -> StateSystem {
    let mut builder = Builder::new("Pendulum");
    let length = builder.parameter("L", 5, Some("m"), None);
    let gravity = builder.parameter("g", 98, Some("m/s^2"), None);
    let theta = builder.state("theta", StateVariable::Integral, Some("rad"), 1);
    let w = builder.state("arm.w", StateVariable::Across, Some("rad/s"), 0);
    let exprs = builder.exprs();
    let sine = exprs.call(Function::Sin, [theta]);
    let two = exprs.integer(2);
    let square = exprs.power(length, two);
    let one = exprs.one();
    let w1 = builder.assignment("w1", sine);
    let (z_symbol, z) = builder.unknown("z");
    let exprs = builder.exprs();
    let exponential = exprs.call(Function::Exp, [z]);
    let residual = exprs.sum([z, exponential, w1]);
    let torque = exprs.product([gravity, length, w1]);
    let torque = exprs.neg(torque);
    builder.system.equations.loops = vec![AlgebraicLoop {
        unknowns: vec![z_symbol],
        residuals: vec![residual],
        linear: false,
        guesses: Vec::new(),
        owners: Vec::new(),
        rated: Vec::new(),
    }];
    builder.system.equations.mass_matrix = Some(sparse(2, 2, &[(0, 0, one), (1, 1, square)]));
    builder.system.equations.derivatives = vec![w, torque];
    builder.output("angle", Some("rad"), theta);
    builder.system.equations.linear = false;
    builder.system
}

/// A chain of n states, `x[i]' = x[i-1] - 2 x[i] + x[i+1]`, with its matrices in both forms.
pub fn chain(count: usize) -> StateSystem {
    let mut builder = Builder::new("Chain");
    let (u, _) = builder.input("u", None);
    let states: Vec<ExprId> = (1..=count)
        .map(|k| builder.state(&format!("cell[{k}].v"), StateVariable::Across, Some("V"), 0))
        .collect();
    let exprs = builder.exprs();
    let minus_two = exprs.integer(-2);
    let one = exprs.one();
    let mut symbolic = empty_form(count, 1, 1);
    for k in 0..count {
        let exprs = builder.exprs();
        let mut terms = vec![exprs.mul(minus_two, states[k])];
        let mut row = vec![(k as u32, minus_two)];
        terms.insert(0, if k > 0 { states[k - 1] } else { u });
        if k > 0 {
            row.insert(0, (k as u32 - 1, one));
        }
        if k + 1 < count {
            terms.push(states[k + 1]);
            row.push((k as u32 + 1, one));
        }
        let derivative = exprs.sum(terms);
        builder.system.equations.derivatives.push(derivative);
        symbolic.a.rows[k] = row;
    }
    symbolic.b.rows[0].push((0, one));
    symbolic.c.rows[0].push((count as u32 - 1, one));
    builder.output("y", Some("V"), states[count - 1]);
    let value = |id: &ExprId| if *id == one { 1.0 } else { -2.0 };
    builder.system.matrices.numeric = Some(LinearForm {
        a: symbolic.a.map(value),
        b: symbolic.b.map(value),
        c: symbolic.c.map(value),
        d: symbolic.d.map(value),
        e: symbolic.e.map(value),
        f: symbolic.f.map(value),
        x_offset: None,
        y_offset: None,
    });
    builder.system.matrices.symbolic = Some(symbolic);
    builder.system
}
