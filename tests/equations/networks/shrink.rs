//! Shrinks a failing network.

use super::network::{Connection, Network, Term};

/// Returns true if a term remains valid without an element.
fn refers_to(term: &Term, element: usize) -> bool {
    matches!(term, Term::First(index, ..) | Term::Second(index, ..) if *index == element)
}

/// The network without one element; none if that would split a ladder or leave no output.
fn without_element(network: &Network, element: usize) -> Option<Network> {
    if network.elements[element].hidden {
        return None;
    }
    let mut out = network.clone();
    out.elements.remove(element);
    let mend = |linear: &mut Vec<(super::network::Value, Term)>| {
        linear.retain(|(_, term)| !refers_to(term, element));
        for (_, term) in linear {
            match term {
                Term::First(index, ..) | Term::Second(index, ..) if *index > element => *index -= 1,
                _ => {}
            }
        }
    };
    for other in &mut out.elements {
        other.signals.iter_mut().for_each(mend);
        if other.law.is_source() && other.signals.iter().any(Vec::is_empty) {
            return None;
        }
    }
    out.integrals.iter_mut().for_each(mend);
    out.outputs.iter_mut().for_each(|output| mend(&mut output.value));
    out.outputs.retain(|output| !output.value.is_empty());
    let whole = out.integrals.iter().all(|rate| !rate.is_empty()) && !out.outputs.is_empty();
    whole.then_some(out)
}

/// The network without unconnected junctions.
fn tidy(network: &Network) -> Network {
    let mut out = network.clone();
    let mut at = out.junctions.len();
    while at > 0 {
        at -= 1;
        let touched = out
            .elements
            .iter()
            .flat_map(|element| &element.ports)
            .any(|port| match port {
                Connection::Branch { from, to } => [from, to].into_iter().flatten().any(|slot| slot.junction == at),
                Connection::Bond(slot) => slot.junction == at,
            })
            || out
                .bonds
                .iter()
                .any(|bond| bond.tail.junction == at || bond.head.junction == at);
        let measured = out
            .outputs
            .iter()
            .map(|output| &output.value)
            .chain(&out.integrals)
            .chain(out.elements.iter().flat_map(|element| &element.signals))
            .flatten()
            .any(|(_, term)| matches!(term, Term::Common(junction, _) if *junction == at));
        if touched || measured || out.junctions[at].hidden {
            continue;
        }
        out.junctions.remove(at);
        let shift = |junction: &mut usize| *junction -= usize::from(*junction > at);
        for port in out.elements.iter_mut().flat_map(|element| &mut element.ports) {
            match port {
                Connection::Branch { from, to } => {
                    [from, to]
                        .into_iter()
                        .flatten()
                        .for_each(|slot| shift(&mut slot.junction));
                }
                Connection::Bond(slot) => shift(&mut slot.junction),
            }
        }
        for bond in &mut out.bonds {
            shift(&mut bond.tail.junction);
            shift(&mut bond.head.junction);
        }
        let signals = out.elements.iter_mut().flat_map(|element| &mut element.signals);
        let outputs = out.outputs.iter_mut().map(|output| &mut output.value);
        for (_, term) in signals.chain(outputs).chain(&mut out.integrals).flatten() {
            if let Term::Common(junction, _) = term {
                shift(junction);
            }
        }
    }
    out
}

/// The smallest network that greedy removal of outputs, elements and bonds finds for which `fails` still holds.
pub fn shrink(network: &Network, fails: &dyn Fn(&Network) -> bool) -> Network {
    let mut best = network.clone();
    loop {
        let outputs = (0..best.outputs.len()).filter(|_| best.outputs.len() > 1).map(|at| {
            let mut out = best.clone();
            out.outputs.remove(at);
            Some(out)
        });
        let elements = (0..best.elements.len()).map(|at| without_element(&best, at));
        let bonds = (0..best.bonds.len()).map(|at| {
            let mut out = best.clone();
            out.bonds.remove(at);
            Some(out)
        });
        let candidates: Vec<Network> = outputs
            .chain(elements)
            .chain(bonds)
            .flatten()
            .map(|network| tidy(&network))
            .collect();
        match candidates.into_iter().find(|network| fails(network)) {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}
