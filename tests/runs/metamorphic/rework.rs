//! The same model drawn differently: reversed branches, divided storage.

use super::model::{Kind, Model, Quantity};
use super::random::Random;
use super::rescale::is_odd;

/// Some branches are reversed.
pub fn flipped(model: &Model, random: &mut Random) -> Model {
    let mut out = model.clone();
    let mut turned = vec![false; model.elements.len()];
    for (at, element) in out.elements.iter_mut().enumerate() {
        let may = match element.kind {
            Kind::Curved { curve, .. } => is_odd(curve),
            _ => true,
        };
        if !may || random.percent(50) {
            continue;
        }
        turned[at] = true;
        element.ports.iter_mut().for_each(|port| *port = (port.1, port.0));
        element.start = element.start.map(|start| -start);
        if let Kind::AcrossSource(sum) | Kind::ThroughSource(sum) = &mut element.kind {
            sum.terms.iter_mut().for_each(|term| term.0 = -term.0);
        }
    }
    for (factor, quantity) in out.quantities_mut() {
        let measured = match quantity {
            Quantity::Modulated(_, of) => of,
            quantity => quantity,
        };
        if let Quantity::Across(at, _) | Quantity::Through(at, _) | Quantity::IntAcross(at) = measured
            && turned[*at]
        {
            *factor = -*factor;
        }
    }
    out
}

/// Returns true if only the across variable of an element is measured.
fn is_seen_across_alone(model: &Model, element: usize) -> bool {
    let looks = |quantity: &Quantity| match quantity {
        Quantity::Across(..) => true,
        Quantity::Modulated(_, of) => matches!(**of, Quantity::Across(..)),
        _ => false,
    };
    let measured = model.outputs.iter().map(|output| &output.quantity);
    let driven = model.sums().flat_map(|sum| sum.terms.iter().map(|term| &term.1));
    measured
        .chain(driven)
        .all(|quantity| quantity.element() != Some(element) || looks(quantity))
}

/// One A-type element is divided into two in parallel, and likewise a T-type element or a resistor; none if there is
/// none.
pub fn parted(model: &Model, random: &mut Random) -> Option<Model> {
    let is_free = |at: &usize| is_seen_across_alone(model, *at);
    let parts: Vec<usize> = (0..model.elements.len())
        .filter(|at| {
            matches!(
                model.elements[*at].kind,
                Kind::AType(_) | Kind::TType(_) | Kind::DType(_)
            )
        })
        .filter(is_free)
        .collect();
    if parts.is_empty() {
        return None;
    }
    let at = random.choose(&parts);
    let mut out = model.clone();
    let mut second = out.elements[at].clone();
    second.name = format!("{}b", second.name);
    let share = random.choose(&[0.5, 0.25, 0.1]);
    let first = &mut out.elements[at];
    match (&mut first.kind, &mut second.kind) {
        (Kind::AType(one), Kind::AType(other)) => {
            (*one, *other) = (*one * share, *other * (1.0 - share));
            // One initial value determines both.
            if random.percent(50) {
                second.start = None;
            }
        }
        (Kind::TType(one), Kind::TType(other)) => {
            (*one, *other) = (*one / share, *other / (1.0 - share));
            first.start = first.start.map(|start| start * share);
            second.start = second.start.map(|start| start * (1.0 - share));
        }
        (Kind::DType(one), Kind::DType(other)) => (*one, *other) = (*one / share, *other / (1.0 - share)),
        _ => unreachable!("both are of the same kind"),
    }
    out.elements.push(second);
    Some(out)
}
