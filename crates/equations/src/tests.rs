//! Tests of the core with models built by hand, without a parser: reduction and assembly of the textbook cases.

use super::{Options, StateRequest, StateSystem, formulate, verify};
use crate::bond;
use lgm_algebra::expr::{Exprs, SymbolKind, text};
use lgm_model::counts::Counts;
use lgm_model::*;
use lgm_source::{SourceId, Span};
use num_rational::BigRational;
use std::sync::Arc;

struct Builder {
    model: Model,
}

fn span() -> Span {
    Span::new(SourceId(0), 0, 0)
}

impl Builder {
    fn new(effort_is_across: bool) -> Builder {
        let mut exprs = Exprs::default();
        let time = exprs.new_symbol("time", SymbolKind::Time);
        let heading = Heading {
            name: Arc::from("Test"),
            doc: None,
            span: span(),
            counts: Counts::default(),
        };
        let mut model = Model::new(heading, exprs, time);
        model.graph.domains.push(Domain {
            name: Arc::from("d"),
            across: Arc::from("v"),
            across_unit: None,
            through: Arc::from("f"),
            through_unit: None,
            effort_is_across,
            pseudo: false,
        });
        Builder { model }
    }

    fn path(&mut self, name: &str) -> PathId {
        self.model.paths.push(Path {
            parent: None,
            name: Arc::from(name),
            indices: Box::new([]),
            span: span(),
        });
        PathId(self.model.paths.len() as u32 - 1)
    }

    fn parameter(&mut self, name: &str, value: i64) -> lgm_algebra::expr::ExprId {
        let symbol = self.model.exprs.new_symbol(name, SymbolKind::Parameter);
        self.model.parameters.push(Parameter {
            name: Arc::from(name),
            shape: Vec::new(),
            entries: vec![ParameterEntry {
                symbol,
                derived: None,
                exact: None,
                value: BigRational::from_integer(value.into()),
            }],
            unit: None,
            scale: lgm_model::Scale::SI,
            literal_unit: None,
            span: span(),
            value_span: span(),
            is_constant: false,
        });
        self.model.exprs.symbol(symbol)
    }

    fn input(&mut self, name: &str) -> lgm_algebra::expr::ExprId {
        let symbol = self.model.exprs.new_symbol(name, SymbolKind::Input);
        self.model.inputs.push(Input {
            name: Arc::from(name),
            symbol,
            signal: None,
            unit: None,
            scale: lgm_model::Scale::SI,
            span: span(),
            is_internal: false,
        });
        self.model.exprs.symbol(symbol)
    }

    fn node(&mut self, name: &str) -> NodeId {
        let path = self.path(name);
        let kind = if self.model.graph.domains[0].effort_is_across {
            JunctionKind::Zero
        } else {
            JunctionKind::One
        };
        self.model.graph.nodes.push(Node {
            path,
            entry: None,
            kind,
            domain: Some(DomainId(0)),
            is_graph_node: true,
            floating: false,
        });
        NodeId(self.model.graph.nodes.len() as u32 - 1)
    }

    fn element(&mut self, name: &str, law: Law, branches: &[(Option<NodeId>, Option<NodeId>)]) -> u32 {
        let path = self.path(name);
        let first = self.model.graph.ports.len() as u32;
        let element = ElementId(self.model.graph.elements.len() as u32);
        for (from, to) in branches {
            self.model.graph.ports.push(Port {
                element,
                name: None,
                entry: None,
                domain: Some(DomainId(0)),
                connection: Connection::Branch {
                    from: *from,
                    to: *to,
                    span: span(),
                },
            });
        }
        self.model.graph.elements.push(Element {
            path,
            kind: Arc::from("E"),
            ports: first..self.model.graph.ports.len() as u32,
            law,
            law_span: span(),
            start: Vec::new(),
            start_span: None,
            nominal: Vec::new(),
            state_choice: StateChoice::CoEnergy,
            mode: None,
        });
        first
    }

    fn measure(&mut self, measure: Measure) -> lgm_algebra::expr::ExprId {
        let symbol = self.model.exprs.new_symbol("m", SymbolKind::Measure);
        self.model.measures.push((symbol, measure));
        self.model.exprs.symbol(symbol)
    }

    fn output(&mut self, name: &str, value: lgm_algebra::expr::ExprId) {
        self.model.outputs.push(Output {
            name: Arc::from(name),
            value,
            written: Arc::from(name),
            unit: None,
            span: span(),
        });
    }

    fn scalar(&self, value: lgm_algebra::expr::ExprId) -> Matrix {
        Matrix {
            rows: 1,
            columns: 1,
            entries: vec![value],
        }
    }

    fn formulate(&self, options: &Options) -> StateSystem {
        let graph = bond::lower(&self.model);
        let (system, diagnostics) = formulate(&self.model, &graph, options);
        assert!(!lgm_source::diagnostic::has_errors(&diagnostics), "{diagnostics:#?}");
        let system = system.expect("no errors, so equations");
        let found = verify(&self.model, &graph, &system, &[], options.states, options.symbolic);
        assert!(found.diagnostics.is_empty(), "{found:#?}");
        assert!(found.equations > 0);
        system
    }
}

fn storage(co_energy: Variable, value: Matrix, form: StorageForm) -> Law {
    Law::Storage { co_energy, value, form }
}

fn equations(system: &StateSystem) -> Vec<String> {
    system
        .states
        .iter()
        .zip(&system.equations.derivatives)
        .map(|(state, rate)| format!("{}' = {}", state.name, text(&system.exprs, *rate)))
        .collect()
}

/// Builds a model of a force on a mass with a spring and a damper to ground.
fn oscillator() -> Builder {
    let mut b = Builder::new(false);
    let (m, k, d) = (b.parameter("m", 2), b.parameter("k", 50), b.parameter("b", 3));
    let force = b.input("F");
    let x = b.node("x");
    b.element(
        "push",
        Law::Source {
            given: Variable::Effort,
            values: vec![force],
        },
        &[(None, Some(x))],
    );
    let law = storage(Variable::Flow, b.scalar(m), StorageForm::Direct);
    let mass = b.element("mass", law, &[(Some(x), None)]);
    let law = storage(Variable::Effort, b.scalar(k), StorageForm::Inverse);
    b.element("spring", law, &[(Some(x), None)]);
    // through = b*across, and the effort of the translational domain is its through variable.
    let law = Law::Dissipator(Dissipator::Resistance(b.scalar(d)));
    b.element("damper", law, &[(Some(x), None)]);
    let v = b.measure(Measure::PortFlow(PortId(mass)));
    b.output("v", v);
    let position = b.model.exprs.call(lgm_algebra::expr::Function::Int, [v]);
    b.output("y", position);
    b
}

#[test]
fn an_oscillator_reads_as_in_a_textbook() {
    let system = oscillator().formulate(&Options::default());
    assert_eq!(
        equations(&system),
        ["mass.v' = (F - b*mass.v - spring.f)/m", "spring.f' = k*mass.v"]
    );
    let outputs: Vec<String> = system
        .equations
        .output_values
        .iter()
        .map(|id| text(&system.exprs, *id))
        .collect();
    assert_eq!(outputs, ["mass.v", "spring.f/k"]);
}

#[test]
fn energy_states_are_momenta_and_displacements() {
    let options = Options {
        states: StateRequest::Energy,
        ..Options::default()
    };
    let system = oscillator().formulate(&options);
    assert_eq!(
        equations(&system),
        [
            "mass.int_f' = F - b*mass.int_f/m - k*spring.int_v",
            "spring.int_v' = mass.int_f/m"
        ]
    );
}

#[test]
fn a_capacitor_loop_with_a_source_brings_in_the_derivative_of_the_source() {
    let mut b = Builder::new(true);
    let (c1, c2, r) = (b.parameter("C1", 2), b.parameter("C2", 3), b.parameter("R", 5));
    let u = b.input("u");
    let (n1, n2) = (b.node("n1"), b.node("n2"));
    b.element(
        "src",
        Law::Source {
            given: Variable::Effort,
            values: vec![u],
        },
        &[(Some(n1), None)],
    );
    let law = storage(Variable::Effort, b.scalar(c1), StorageForm::Direct);
    b.element("c1", law, &[(Some(n1), Some(n2))]);
    let law = storage(Variable::Effort, b.scalar(c2), StorageForm::Direct);
    b.element("c2", law, &[(Some(n2), None)]);
    let law = Law::Dissipator(Dissipator::Resistance(b.scalar(r)));
    b.element("r", law, &[(Some(n2), None)]);
    let i = b.measure(Measure::PortFlow(PortId(0)));
    b.output("i", i);
    let system = b.formulate(&Options::default());
    assert_eq!(system.states.len(), 1);
    let form = system
        .matrices
        .symbolic
        .as_ref()
        .expect("small systems have symbolic matrices");
    let entry = |matrix: &super::SparseMatrix<lgm_algebra::expr::ExprId>| {
        matrix.get(0, 0).map(|id| text(&system.exprs, *id)).unwrap_or_default()
    };
    assert_eq!(entry(&form.a), "-1/(R*(C1 + C2))");
    assert_eq!(entry(&form.e), "C2/(C1 + C2)");
    assert_eq!(entry(&form.f), "-C1*C2/(C1 + C2)");
    assert_eq!(system.dependent.len(), 1);
    assert_eq!(system.dependent[0].equivalent, "C1 + C2");
}
