//! Makes a failing model smaller, greedily.

use super::model::{Function, Kind, Model, Node, Part, Quantity};
use std::time::{Duration, Instant};

/// The model without one of its parts and its measures.
fn without(model: &Model, part: Part, gone: usize) -> Model {
    let mut out = model.clone();
    match part {
        Part::Element => drop(out.elements.remove(gone)),
        Part::Function => drop(out.functions.remove(gone)),
        Part::Controller => drop(out.controllers.remove(gone)),
    }
    let place = |kind: Part, at: usize| match kind == part {
        true if at == gone => None,
        true => Some(at - usize::from(at > gone)),
        false => Some(at),
    };
    let renumbered = |quantity: &Quantity| quantity.renumbered(&place);
    for sum in out.sums_mut() {
        sum.terms = sum
            .terms
            .iter()
            .filter_map(|(factor, of)| Some((*factor, renumbered(of)?)))
            .collect();
    }
    out.outputs.retain_mut(|output| match renumbered(&output.quantity) {
        Some(quantity) => {
            output.quantity = quantity;
            true
        }
        None => false,
    });
    tidy(out)
}

/// Without unconnected nodes.
fn tidy(mut model: Model) -> Model {
    for node in (0..model.nodes.len()).rev() {
        let touched = |slot: &Node| *slot == Some(node);
        if model
            .elements
            .iter()
            .flat_map(|element| &element.ports)
            .any(|(a, b)| touched(a) || touched(b))
        {
            continue;
        }
        model.nodes.remove(node);
        for (a, b) in model.elements.iter_mut().flat_map(|element| &mut element.ports) {
            for slot in [a, b] {
                *slot = slot.map(|at| at - usize::from(at > node));
            }
        }
    }
    model
}

/// Merges one node into another or the ground; branches between them are removed.
fn merged(model: &Model, node: usize, into: Node) -> Model {
    let mut out = model.clone();
    for (a, b) in out.elements.iter_mut().flat_map(|element| &mut element.ports) {
        for slot in [a, b] {
            if *slot == Some(node) {
                *slot = into;
            }
        }
    }
    while let Some(at) = out
        .elements
        .iter()
        .position(|element| element.ports.iter().any(|(a, b)| a == b))
    {
        out = without(&out, Part::Element, at);
    }
    tidy(out)
}

/// Models that are slightly smaller or simpler.
fn candidates(model: &Model) -> Vec<Model> {
    let mut out = Vec::new();
    let changed = |change: &dyn Fn(&mut Model)| {
        let mut model = model.clone();
        change(&mut model);
        model
    };
    out.extend((0..model.elements.len()).map(|at| without(model, Part::Element, at)));
    out.extend((0..model.controllers.len()).map(|at| without(model, Part::Controller, at)));
    out.extend((0..model.functions.len()).map(|at| without(model, Part::Function, at)));
    if model.outputs.len() > 1 {
        out.extend((0..model.outputs.len()).map(|at| changed(&|model| drop(model.outputs.remove(at)))));
    }
    for node in 0..model.nodes.len() {
        out.push(merged(model, node, None));
        let alike = (0..node).filter(|other| model.nodes[*other] == model.nodes[node]);
        out.extend(alike.map(|other| merged(model, node, Some(other))));
    }
    for (at, Function(terms)) in model.functions.iter().enumerate() {
        if terms.len() > 1 {
            out.extend((0..terms.len()).map(|term| changed(&|model| drop(model.functions[at].0.remove(term)))));
        }
    }
    for (at, sum) in model.sums().enumerate() {
        let nth = move |model: &mut Model, change: &dyn Fn(&mut super::model::Sum)| {
            change(model.sums_mut().nth(at).expect("it is there"));
        };
        if sum.terms.len() > 1 {
            out.extend(
                (0..sum.terms.len()).map(|term| changed(&|model| nth(model, &|sum| drop(sum.terms.remove(term))))),
            );
        }
        if sum.limit.is_some() {
            out.push(changed(&|model| nth(model, &|sum| sum.limit = None)));
        }
    }
    for (at, element) in model.elements.iter().enumerate() {
        if element.start.is_some() {
            out.push(changed(&|model| model.elements[at].start = None));
        }
        if let Kind::AType(value) | Kind::TType(value) | Kind::DType(value) = element.kind
            && value != 1.0
        {
            out.push(changed(&|model| {
                if let Kind::AType(value) | Kind::TType(value) | Kind::DType(value) = &mut model.elements[at].kind {
                    *value = 1.0;
                }
            }));
        }
    }
    out.retain(|model| !model.outputs.is_empty() && model.sums().all(|sum| !sum.terms.is_empty()));
    out
}

/// The smallest model found for which `fails` still holds, within a limit of attempts and time.
pub fn shrink(model: &Model, (tries, time): (usize, Duration), fails: &dyn Fn(&Model) -> bool) -> Model {
    let mut best = model.clone();
    let (mut left, until) = (tries, Instant::now() + time);
    'again: loop {
        for candidate in candidates(&best) {
            if left == 0 || Instant::now() > until {
                return best;
            }
            left -= 1;
            if fails(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}
