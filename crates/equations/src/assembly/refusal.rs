//! Messages to the user if no equations can be derived.

use crate::assembly::assemble::Obstacle;
use crate::assembly::outputs::OutputFault;
use crate::assembly::states::Fault;
use crate::index_reduction::Refusal;
use lgm_algebra::expr::Evaluated;
use lgm_model::{ElementId, Measure, Model};
use lgm_source::Span;
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;

/// The reason why a run over a field failed.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    Reduction(Refusal),
    Assembly(Obstacle),
    States(Fault),
    Output(OutputFault),
    /// The work was cancelled.
    Cancelled,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Failure {
        Failure::Reduction(refusal)
    }
}

impl From<Obstacle> for Failure {
    fn from(obstacle: Obstacle) -> Failure {
        Failure::Assembly(obstacle)
    }
}

impl From<OutputFault> for Failure {
    fn from(fault: OutputFault) -> Failure {
        Failure::Output(fault)
    }
}

impl Failure {
    /// Returns true if a size limit was exceeded, so that another field may succeed.
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self, Failure::Reduction(Refusal::TooLarge))
    }

    /// Returns true if the equations are singular, so that the elements involved can be named.
    pub(crate) fn is_singular(&self) -> bool {
        matches!(
            self,
            Failure::Reduction(Refusal::SingularLoop(_) | Refusal::SingularStorage(_))
        )
    }

    /// Returns the diagnostic with its location. Cancelled work has none.
    pub(crate) fn diagnostic(&self, model: &Model) -> Diagnostic {
        let name = |id: ElementId| model.element_name(id);
        let span = |id: ElementId| model.element_span(id);
        match self {
            Failure::Reduction(refusal) => reduction_fault(model, refusal),
            Failure::Assembly(obstacle) => assembly_fault(model, obstacle),
            Failure::States((id, Some(fault))) => value_fault(model, fault, span(*id), &format!("of `{}`", name(*id))),
            Failure::States((id, None)) => Diagnostic::error(
                Code::LGM0423,
                format!("the energy variable of `{}` does not determine its state", name(*id)),
            )
            .label(span(*id), "its value is zero or singular")
            .help("give it a nonzero, nonsingular value, or use `--states power`"),
            Failure::Output(OutputFault::SecondRate(index)) => Diagnostic::error(
                Code::LGM0502,
                format!(
                    "output `{}` would need the second derivative of an input",
                    model.outputs[*index].name
                ),
            )
            .label(
                model.outputs[*index].span,
                "`der(..)` of a variable that already contains the derivative of an input",
            )
            .help("differentiate a variable that no source drives directly"),
            Failure::Output(OutputFault::Value(index, fault)) => {
                value_fault(model, fault, model.outputs[*index].span, "in this output")
            }
            Failure::Cancelled => unreachable!("invariant: nobody reads why cancelled work has no result"),
        }
    }
}

/// Returns the message and location of a failed reduction.
fn reduction_fault(model: &Model, refusal: &Refusal) -> Diagnostic {
    let name = |id: ElementId| model.element_name(id);
    let span = |id: ElementId| model.element_span(id);
    match refusal {
        Refusal::Value(id, fault) => value_fault(model, fault, span(*id), &format!("of `{}`", name(*id))),
        Refusal::LowerRank => {
            Diagnostic::error(Code::LGM0421, "the given numbers make the junction structure singular")
                .label(model.heading.span, "in this model")
                .help("check for a transformer or gyrator with zero modulus, or for moduli that cancel around a loop")
        }
        Refusal::SingularLoop(id) => Diagnostic::error(
            Code::LGM0422,
            format!("the algebraic loop through `{}` has no unique solution", name(*id)),
        )
        .label(span(*id), "this law and those connected to it cancel")
        .help(
            "a zero resistance or conductance cannot be solved for its flow or effort; use a wire (one node) or \
             remove the element, and check for negative values that cancel",
        ),
        Refusal::SingularStorage(id) => Diagnostic::error(
            Code::LGM0423,
            format!("the storage of `{}` does not determine its rate", name(*id)),
        )
        .label(
            span(*id),
            "its value, with that of the storage joined to it, is singular",
        )
        .help(
            "a mass, capacitance, inductance or field matrix must not be zero or singular, alone or combined with \
             dependent storage",
        ),
        Refusal::TooManyEntries => {
            unreachable!("invariant: rows that are too long to be written out are shared")
        }
        Refusal::Undetermined(_) | Refusal::UndeterminedColumn(_) => {
            let measured = match refusal {
                Refusal::Undetermined(index) => model.measures.get(*index),
                _ => None,
            };
            let place = measured.and_then(|(_, measure)| measure_span(model, *measure));
            let place = place.unwrap_or(model.heading.span);
            Diagnostic::error(
                Code::LGM0321,
                "this variable is undetermined: it can circulate in an ideal loop",
            )
            .label(place, "nothing determines how it divides here")
            .help(
                "two parallel paths of ideal bonds share a flow or an effort in an undetermined ratio; merge them, \
                 or insert an element into one of them",
            )
        }
        Refusal::TooLarge => Diagnostic::error(Code::LGM0501, "the equations are too large to write out")
            .label(model.heading.span, "in this model"),
    }
}

/// Returns the message and location of an obstacle to the assembly.
fn assembly_fault(model: &Model, obstacle: &Obstacle) -> Diagnostic {
    let name = |id: ElementId| model.element_name(id);
    let span = |id: ElementId| model.element_span(id);
    match obstacle {
        Obstacle::NoRateOfIntegral(index) => {
            let path = model.integrals[*index].path;
            Diagnostic::error(
                Code::LGM0502,
                format!("`{}` integrates a rate that cannot be computed", model.path_name(path)),
            )
            .label(
                model.paths[path.index()].span,
                "the argument of `der(..)` already contains a derivative or `int(..)`",
            )
            .help("declare the inner integral as a state of its own: `state z = int(..);`")
        }
        Obstacle::SecondRateInModel => Diagnostic::error(Code::LGM0502, "a second derivative would be needed")
            .label(model.heading.span, "in this model")
            .help("`der(..)` of a force or an acceleration requires it; measure another variable"),
        Obstacle::SingularLoop => {
            Diagnostic::error(Code::LGM0424, "an algebraic loop of this model has no unique solution")
                .label(model.heading.span, "in this model")
                .help("check for values that depend on themselves with a gain of exactly one")
        }
        Obstacle::SingularIntegral(index) => {
            let path = model.integrals[*index].path;
            Diagnostic::error(
                Code::LGM0424,
                format!("the rate of `{}` has no unique value", model.path_name(path)),
            )
            .label(
                model.paths[path.index()].span,
                "the integrand depends on itself with a gain of exactly one",
            )
            .help("integrate an expression without the state's own rate")
        }
        Obstacle::SecondRate(id) if model.inputs.is_empty() => {
            Diagnostic::error(Code::LGM0502, format!("`{}` would need a second derivative", name(*id)))
                .label(
                    span(*id),
                    "its rate is needed, and its value depends on a variable that is already a rate",
                )
                .help("`der(..)` of a force or an acceleration requires it; measure another variable")
        }
        Obstacle::SecondRate(id) => Diagnostic::error(
            Code::LGM0502,
            format!("`{}` would need the second derivative of an input", name(*id)),
        )
        .label(
            span(*id),
            "its rate is needed, and its value depends on a variable that already contains the derivative of an \
            input",
        )
        .help("break the path: give the source or the storage it drives a resistance in series or in parallel"),
        Obstacle::NoRate(id) => {
            Diagnostic::error(Code::LGM0502, format!("the value of `{}` has no derivative", name(*id)))
                .label(span(*id), "this source")
                .help("a source value may contain inputs, parameters, `time` and measured variables")
        }
        Obstacle::SingularControl(id) => Diagnostic::error(
            Code::LGM0424,
            format!("the loop that `{}` closes has no unique solution", name(*id)),
        )
        .label(span(*id), "its value depends on itself with a gain of exactly one")
        .help("change the gain of the controlled source, or insert a storage element or a resistance into the loop"),
        Obstacle::Value(fault) => value_fault(model, fault, model.heading.span, "in this model"),
    }
}

fn value_fault(model: &Model, fault: &Evaluated, span: Span, of: &str) -> Diagnostic {
    let message = match fault {
        Evaluated::DivisionByZero => format!("a value {of} divides by zero"),
        Evaluated::NotFinite(Some(function)) => {
            format!("a value {of} is not finite: `{}` outside its domain", function.name())
        }
        Evaluated::NotFinite(None) => format!("a value {of} is not finite"),
        Evaluated::NoValue(symbol) => format!(
            "a value {of} depends on `{}`, which varies during a run; this is not supported",
            model.exprs.symbol_info(*symbol).name
        ),
    };
    Diagnostic::error(Code::LGM0420, message)
        .label(span, "this value")
        .help("check the numbers from which it is computed")
}

/// Returns the location of a measured variable.
fn measure_span(model: &Model, measure: Measure) -> Option<Span> {
    Some(match measure {
        Measure::PortEffort(port) | Measure::PortFlow(port) => {
            model.element_span(model.graph.ports[port.index()].element)
        }
        Measure::Common(node) => model.paths[model.graph.nodes[node.index()].path.index()].span,
        Measure::BondEffort(bond) | Measure::BondFlow(bond) => model.graph.bonds[bond.index()].span,
    })
}
