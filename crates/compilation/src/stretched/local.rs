//! Locality: the variables of a short model depend only on nearby states.

use lgm_elaborate::Sections;
use lgm_equations::{Reach, Term};
use lgm_model::system::StateSystem;
use lgm_model::{Model, Variable};
use std::collections::{BTreeMap, BTreeSet};

/// The number of sections of the first short model.
pub(super) const SECTIONS: i64 = 48;

/// The maximum distance, in sections, between the elements at one node, and therefore in one equation of the flat graph.
pub(super) const NEIGHBOURS: i64 = 2 * Sections::MOST_SHIFT;

/// The maximum distance, in sections, between a variable and the states that determine it.
const REACH: i64 = 6;

/// The width of a border, in sections: fixed indices and their neighbours.
const BORDER: i64 = Sections::MOST_FIXED + NEIGHBOURS;

/// The middle is wider than the reach of an equation with all of its variables, on both sides of a section.
const _: () = assert!(SECTIONS - 2 * BORDER > 2 * (REACH + NEIGHBOURS));

/// A name without the index of its section, and the index: `cell[].c.v` and 3 for `cell[3].c.v`.
type Place = (String, Option<i64>);

fn place(name: &str) -> Place {
    let root = name.split('.').next().unwrap_or_default();
    let index = root.split_once('[').and_then(|(front, rest)| {
        let index = rest.strip_suffix(']')?.parse().ok()?;
        Some((format!("{front}[]{}", &name[root.len()..]), index))
    });
    match index {
        Some((class, index)) => (class, Some(index)),
        None => (name.to_string(), None),
    }
}

/// A sum with its indices and the variable that it defines; exact factors are written out.
type Moved = BTreeSet<(String, Option<i64>, String)>;

/// The variables of a section with the sums that define them.
type Section = BTreeMap<(String, bool), Moved>;

/// Returns true if the variables of ports are local in the first short model, and repeat in its middle.
pub(super) fn are_local(model: &Model, system: &StateSystem, reaches: &[Reach]) -> bool {
    let is_border = |index: i64| index <= BORDER || index > SECTIONS - BORDER;
    let is_near = |own: Option<i64>, other: Option<i64>| match (own, other) {
        (_, None) => true,
        (None, Some(other)) => is_border(other),
        (Some(own), Some(other)) => (own - other).abs() <= REACH || (is_border(own) && is_border(other)),
    };
    let states: Vec<Place> = system.states.iter().map(|state| place(&state.name)).collect();
    let mut sections: BTreeMap<i64, Section> = BTreeMap::new();
    for reach in reaches {
        let port = &model.graph.ports[reach.port.index()];
        let (element, own) = place(&model.element_name(port.element));
        let first = model.graph.elements[port.element.index()].ports.start;
        let mut sum = Moved::new();
        for (term, factor) in &reach.terms {
            let (class, other) = match term {
                Term::State(at) => match states.get(*at) {
                    Some(state) => state.clone(),
                    None => return false,
                },
                Term::Input(at) => (format!("input {at}"), None),
                Term::InputRate(at) => (format!("rate of input {at}"), None),
                Term::One => (String::new(), None),
            };
            if !is_near(own, other) {
                return false;
            }
            let beside = own.and_then(|own| Some(other? - own));
            sum.insert((class, beside, factor.to_string()));
        }
        if let Some(own) = own {
            let variable = (
                format!("{element} {}", reach.port.0 - first),
                reach.variable == Variable::Effort,
            );
            sections.entry(own).or_default().insert(variable, sum);
        }
    }
    let middle: Vec<Option<&Section>> = (BORDER + 1..=SECTIONS - BORDER).map(|at| sections.get(&at)).collect();
    middle.windows(2).all(|pair| pair[0].is_some() && pair[0] == pair[1])
}
