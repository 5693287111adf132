//! The choice of the given variable of each port: the across variable, unless earlier ports already determine it.

use super::fault::refused;
use super::isolate::{Isolated, Terminal};
use lgm_equations::bond::lower;
use lgm_equations::{Options, assigned};
use lgm_model::{Connection, Dissipator, Law, Matrix, Measure, Output, PortId, Variable};
use lgm_source::diagnostic::Diagnostic;
use lgm_source::nearest::did_you_mean;

/// The variable that is given at a port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GivenVariable {
    Across,
    Through,
    /// Not decided yet: the port may be given either variable.
    Open,
}

impl Isolated {
    /// Chooses independent across variables in the order of port declarations, or through variables likewise, after those that are `asked`
    /// for by port, with true for an across variable. The other variable of each port is an output.
    pub fn choose(&mut self, through_first: bool, asked: &[(String, bool)]) -> Result<(), Box<Diagnostic>> {
        let (first, second) = match through_first {
            false => (GivenVariable::Across, GivenVariable::Through),
            true => (GivenVariable::Through, GivenVariable::Across),
        };
        for at in 0..self.ports.len() {
            self.set(at, GivenVariable::Open);
        }
        if !self.is_sound() {
            return Err(refused(
                "the sources inside the component contradict each other".to_string(),
                "`lgm check` shows where; remove one of them",
            ));
        }
        let asked = self.asked_for(asked)?;
        for (at, given) in &asked {
            self.set(*at, *given);
        }
        if !self.is_sound() {
            return Err(refused(
                "the requested variables determine each other and cannot all be given".to_string(),
                "give the other variable of one of these ports",
            ));
        }
        for at in (0..self.ports.len()).filter(|at| asked.iter().all(|own| own.0 != *at)) {
            self.set(at, first);
            if !self.is_sound() {
                self.set(at, second);
            }
        }
        self.measure();
        Ok(())
    }

    /// Returns the ports with a requested variable. A name without an index stands for all entries of a vector port.
    fn asked_for(&self, asked: &[(String, bool)]) -> Result<Vec<(usize, GivenVariable)>, Box<Diagnostic>> {
        let mut found = Vec::new();
        for (name, is_across) in asked {
            let is_named = |port: &Terminal| {
                let entry = port.entry.map(|entry| format!("{}[{entry}]", port.name));
                port.name == *name || entry.as_deref() == Some(name)
            };
            let given = match is_across {
                true => GivenVariable::Across,
                false => GivenVariable::Through,
            };
            let before = found.len();
            let ports = self.ports.iter().enumerate().filter(|port| is_named(port.1));
            found.extend(ports.map(|(at, _)| (at, given)));
            if found.len() == before {
                let names = self.ports.iter().map(|port| port.name.as_str());
                let help = did_you_mean(name, names).unwrap_or_else(|| "name an open port".to_string());
                return Err(refused(format!("the component has no open port `{name}`"), &help));
            }
        }
        Ok(found)
    }

    fn is_sound(&self) -> bool {
        let graph = lower(&self.model);
        assigned(&self.model, &graph, &Options::default()).is_sound
    }

    fn set(&mut self, at: usize, given: GivenVariable) {
        let port = &self.ports[at];
        let exprs = &mut self.model.exprs;
        let value = exprs.symbol(port.given);
        // The through variable of the source leaves the component.
        let minus = exprs.neg(value);
        let one = exprs.integer(1);
        let element = self.model.graph.ports[port.port.index()].element;
        self.model.graph.elements[element.index()].law = match given {
            GivenVariable::Across => Law::Source {
                given: port.across,
                values: vec![value],
            },
            GivenVariable::Through => Law::Source {
                given: port.across.conjugate(),
                values: vec![minus],
            },
            GivenVariable::Open => Law::Dissipator(Dissipator::Resistance(Matrix {
                rows: 1,
                columns: 1,
                entries: vec![one],
            })),
        };
    }

    /// Returns true if the across variable of a port is given.
    pub(super) fn is_across_given(&self, at: usize) -> bool {
        let port = &self.ports[at];
        let element = self.model.graph.ports[port.port.index()].element;
        matches!(self.model.graph.elements[element.index()].law, Law::Source { given, .. } if given == port.across)
    }

    /// Adds an output for the variable of each port that is not given.
    fn measure(&mut self) {
        for at in 0..self.ports.len() {
            let (port, across) = (self.ports[at].port, self.ports[at].across);
            let value = match self.is_across_given(at) {
                true => {
                    let leaving = self.variable(port, across.conjugate());
                    self.model.exprs.neg(leaving)
                }
                false => self.variable(port, across),
            };
            let name = format!("found {at}");
            self.model.outputs.push(Output {
                name: name.as_str().into(),
                value,
                written: name.as_str().into(),
                unit: None,
                span: self.model.heading.span,
            });
        }
    }

    fn variable(&mut self, port: PortId, variable: Variable) -> lgm_algebra::expr::ExprId {
        debug_assert!(matches!(
            self.model.graph.ports[port.index()].connection,
            Connection::Branch { .. }
        ));
        let measure = match variable {
            Variable::Effort => Measure::PortEffort(port),
            Variable::Flow => Measure::PortFlow(port),
        };
        let symbol = self
            .model
            .exprs
            .new_symbol("port", lgm_algebra::expr::SymbolKind::Measure);
        self.model.measures.push((symbol, measure));
        self.model.exprs.symbol(symbol)
    }
}
