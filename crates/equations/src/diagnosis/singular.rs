//! Numbers that make the equations singular, reported by element: resistances that cancel around a loop, a zero
//! resistance parallel to a source, masses that add up to zero.

use crate::bond::BondGraph;
use crate::causality::Causality;
use crate::causality::structure::port_column;
use crate::causality::words::{Words, list, plural};
use crate::diagnosis::blame::Blame;
use crate::index_reduction::{Defect, defects};
use crate::parameter_values::sampled;
use lgm_model::{Dissipator, ElementId, Law, Model, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use num_traits::{Signed, Zero};
use rustc_hash::FxHashMap;

/// Reports why the equations are singular for the given values, one diagnostic per defect (LGM0422, LGM0423). Returns
/// nothing if they are regular, or if the error has another cause.
pub(crate) fn diagnose(model: &Model, graph: &BondGraph, causality: &Causality) -> Vec<Diagnostic> {
    let blame = Blame::new(model);
    let mut field = sampled(model, 5);
    let work = SingularityReport {
        words: Words { model, graph },
        causality,
        blame,
    };
    defects(model, causality, &mut field)
        .iter()
        .map(|defect| work.diagnostic(defect))
        .collect()
}

struct SingularityReport<'a> {
    words: Words<'a>,
    causality: &'a Causality,
    blame: Blame<'a>,
}

impl SingularityReport<'_> {
    fn diagnostic(&self, defect: &Defect) -> Diagnostic {
        let model = self.blame.model;
        let mut elements: Vec<ElementId> = defect.elements.clone();
        elements.extend(defect.ports.iter().map(|port| model.graph.ports[port.index()].element));
        elements.sort_unstable();
        elements.dedup();
        // Unusual values come first: negative ones, then zeros.
        elements.sort_by_key(|id| self.sign(*id).unwrap_or(1));
        if defect.storage {
            return self.storage(&elements);
        }
        match (&elements[..], &defect.ports[..]) {
            ([only], [port]) => self.alone(*only, *port, &defect.opposed),
            ([only], _) => self.field(*only, defect),
            _ => self.cancelling(&elements, &defect.ports),
        }
    }

    fn element(&self, id: ElementId) -> String {
        format!("`{}`", self.blame.model.element_name(id))
    }

    fn elements(&self, ids: &[ElementId]) -> String {
        let names: Vec<String> = ids.iter().map(|id| self.element(*id)).collect();
        list(&names)
    }

    fn solved(&self, port: PortId) -> Variable {
        self.causality.solved[port.index()].expect("invariant: causality assigns every port")
    }

    fn name(&self, port: PortId, variable: Variable) -> String {
        // The column of a port is identified by the port.
        self.words
            .name(self.words.fact(&FxHashMap::default(), port_column(port, variable)))
    }

    /// Reports one element whose law forces variables that others set.
    fn alone(&self, id: ElementId, port: PortId, opposed: &[PortId]) -> Diagnostic {
        let name = self.element(id);
        let forced = self.name(port, self.solved(port));
        let unknown = self.name(port, self.solved(port).conjugate());
        let value = self.blame.single_value(id);
        let is_zero = value.is_some_and(|value| self.blame.exact(value).is_ok_and(|value| value.is_zero()));
        let mut parties: Vec<String> = Vec::new();
        for port in opposed {
            let party = self.words.port(*port);
            if !parties.contains(&party) {
                parties.push(party);
            }
        }
        let sets = if parties.len() == 1 { "sets" } else { "set" };
        let law = match is_zero {
            true => format!("the value of {name} is zero, which forces {forced} to be zero"),
            false => format!("the law of {name} forces {forced}"),
        };
        let message = match parties.is_empty() {
            true => format!("{law}, and nothing is left to determine {unknown}"),
            false => format!("{law}, but {} {sets} it already", list(&parties)),
        };
        let mut diagnostic = self
            .blame
            .label_values(Diagnostic::error(Code::LGM0422, message), &[id]);
        for port in opposed.iter().take(4) {
            let text = match self.words.is_source(*port) {
                true => format!("{} sets its variable independently of {name}", self.words.port(*port)),
                false => format!("the state of {} sets it", self.words.port(*port)),
            };
            diagnostic = diagnostic.label(self.words.port_span(*port), text);
        }
        let is_across = self.words.is_across(port, self.solved(port));
        diagnostic.help(match (is_zero, is_across) {
            (true, Some(true)) => {
                format!(
                    "for a rigid or ideal connection, merge the two nodes and remove {name}; otherwise give it a \
                    nonzero value"
                )
            }
            (true, Some(false)) => {
                format!(
                    "an element that transmits nothing is an open branch: remove {name}, or give it a nonzero \
                    value"
                )
            }
            (true, None) => format!("remove {name}, or give it a nonzero value"),
            (false, _) => format!("connect {name} where this variable is free, or insert another element between them"),
        })
    }

    /// Reports one multi-port element with a singular matrix.
    fn field(&self, id: ElementId, defect: &Defect) -> Diagnostic {
        let name = self.element(id);
        let unknown: Vec<String> = defect
            .ports
            .iter()
            .map(|port| self.name(*port, self.solved(*port).conjugate()))
            .collect();
        let (what, help) = match &self.blame.model.graph.elements[id.index()].law {
            Law::Dissipator(Dissipator::Implicit(..)) => (
                "the law",
                "connect it where these variables are free, or insert other elements in between",
            ),
            _ => ("the matrix", "give it independent rows, or fewer ports"),
        };
        let message = format!("{what} of {name} is singular: nothing determines {}", list(&unknown));
        self.blame
            .label_values(Diagnostic::error(Code::LGM0422, message), &[id])
            .help(help)
    }

    /// Reports several elements whose values cancel.
    fn cancelling(&self, elements: &[ElementId], ports: &[PortId]) -> Diagnostic {
        let model = self.blame.model;
        let variables: Vec<(Option<bool>, String)> = ports
            .iter()
            .map(|port| {
                let unknown = self.solved(*port).conjugate();
                let word = self.words.variable(model.graph.ports[port.index()].domain, unknown);
                (self.words.is_across(*port, unknown), word)
            })
            .collect();
        let alike = variables.windows(2).all(|pair| pair[0] == pair[1]);
        let unknown = match variables.first() {
            Some((Some(false), word)) if alike => format!("the {word} through them"),
            Some((Some(true), word)) if alike => format!("the {word} across them"),
            Some((None, word)) if alike => format!("their {word}"),
            _ => {
                let mut words: Vec<String> = variables.iter().map(|entry| plural(&entry.1)).collect();
                words.sort();
                words.dedup();
                format!("their {}", list(&words))
            }
        };
        let signs: Vec<Option<i8>> = elements.iter().map(|id| self.sign(*id)).collect();
        let names = self.elements(elements);
        let (law, help) = if signs.iter().all(|sign| *sign == Some(0)) {
            (
                "are zero",
                "remove those that should be open, merge the nodes of those that should be wires, or give them \
                 nonzero values",
            )
        } else if signs.contains(&Some(-1)) {
            (
                "cancel",
                "change one of these values (a negative one often has a wrong sign), or insert another element \
                 between them",
            )
        } else {
            (
                "contradict each other",
                "change one of these values, or insert another element between them",
            )
        };
        let message = format!("the values of {names} {law}: nothing determines {unknown}");
        self.blame
            .label_values(Diagnostic::error(Code::LGM0422, message), elements)
            .help(help)
    }

    /// Returns the sign of an element's single value.
    fn sign(&self, id: ElementId) -> Option<i8> {
        let value = self.blame.exact(self.blame.single_value(id)?).ok()?;
        Some(match (value.is_zero(), value.is_negative()) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        })
    }

    fn storage(&self, elements: &[ElementId]) -> Diagnostic {
        let message = match elements {
            [only] => format!("{} stores nothing: nothing determines its rate", self.element(*only)),
            _ => format!(
                "the values of {} cancel: together they store nothing, and nothing determines their rates",
                self.elements(elements)
            ),
        };
        self.blame
            .label_values(Diagnostic::error(Code::LGM0423, message), elements)
            .help(
                "storage that moves together acts as its sum, which must not be zero or singular: change one of \
                these values (a negative one often has a wrong sign)",
            )
    }
}
