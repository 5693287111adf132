//! Matches each variable with an equation, and finds the groups of variables that are solved together.

use super::topology::Equation;
use super::variables::Table;
use lgm_algebra::expr::SymbolId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The equations of the variables.
#[derive(Default)]
pub(super) struct Order {
    /// The equation that determines each variable.
    pub(super) of: FxHashMap<SymbolId, usize>,
    /// The variables in groups, each after those that it needs; a group with several variables is a loop.
    pub(super) groups: Vec<Vec<SymbolId>>,
    /// Equations that determine no variable.
    pub(super) left_over: Vec<usize>,
}

impl Order {
    /// Matches variables with equations, preferring causality's choices, and sorts them. The shell determines the rates of integrals.
    pub(super) fn new(table: &Table<'_>, equations: &[Equation], rates: &[(SymbolId, usize)]) -> Order {
        let held: Vec<Vec<SymbolId>> = equations.iter().map(|equation| held(table, equation)).collect();
        let mut matching = Matching {
            held: &held,
            of: rates.iter().copied().collect(),
            fixed: rates.iter().map(|rate| rate.0).collect(),
        };
        let is_free = |equation: &Equation| equation.state.is_none();
        let mut waiting = Vec::new();
        for (at, equation) in equations.iter().enumerate().filter(|entry| is_free(entry.1)) {
            let wanted = equation
                .gives
                .filter(|own| held[at].contains(own) && !matching.of.contains_key(own));
            match wanted {
                Some(own) => _ = matching.of.insert(own, at),
                None => waiting.push(at),
            }
        }
        let unmatched = |at: &usize| !matching.augment(*at, &mut FxHashSet::default());
        let left_over = waiting.into_iter().filter(unmatched).collect();
        let of = matching.of;
        let groups = groups(&held, &of);
        Order { of, groups, left_over }
    }
}

/// Returns the variables of an equation; a rate also requires its own variable.
fn held(table: &Table<'_>, equation: &Equation) -> Vec<SymbolId> {
    let mut roots = vec![equation.left, equation.right];
    roots.extend(equation.rate_of);
    table.unknowns_of(&roots)
}

struct Matching<'h> {
    held: &'h [Vec<SymbolId>],
    of: FxHashMap<SymbolId, usize>,
    /// Variables whose equation is decided.
    fixed: FxHashSet<SymbolId>,
}

impl Matching<'_> {
    /// Finds a variable for an equation, reassigning others if necessary. The chain of reassignments is followed without recursion.
    fn augment(&mut self, at: usize, seen: &mut FxHashSet<SymbolId>) -> bool {
        let mut chain: Vec<(usize, usize, Option<SymbolId>)> = vec![(at, 0, None)];
        while let Some((equation, next, _)) = chain.last_mut() {
            let Some(symbol) = self.held[*equation].get(*next).copied() else {
                chain.pop();
                continue;
            };
            *next += 1;
            if self.fixed.contains(&symbol) || !seen.insert(symbol) {
                continue;
            }
            chain.last_mut().expect("invariant: it was just looked at").2 = Some(symbol);
            match self.of.get(&symbol).copied() {
                Some(other) => chain.push((other, 0, None)),
                None => {
                    for (equation, _, taken) in chain {
                        self.of.extend(taken.map(|symbol| (symbol, equation)));
                    }
                    return true;
                }
            }
        }
        false
    }
}

/// Returns Tarjan's strongly connected components of the dependencies, without recursion.
fn groups(held: &[Vec<SymbolId>], of: &FxHashMap<SymbolId, usize>) -> Vec<Vec<SymbolId>> {
    let mut all: Vec<SymbolId> = of.keys().copied().collect();
    all.sort_unstable();
    let needs = |symbol: SymbolId| -> &[SymbolId] { of.get(&symbol).map_or(&[], |at| &held[*at]) };
    let mut index: FxHashMap<SymbolId, usize> = FxHashMap::default();
    let mut low: FxHashMap<SymbolId, usize> = FxHashMap::default();
    let (mut open, mut is_open): (Vec<SymbolId>, FxHashSet<SymbolId>) = (Vec::new(), FxHashSet::default());
    let mut found = Vec::new();
    for root in all {
        if index.contains_key(&root) {
            continue;
        }
        let mut walk: Vec<(SymbolId, usize)> = vec![(root, 0)];
        while let Some((symbol, next)) = walk.last().copied() {
            if next == 0 {
                let number = index.len();
                index.insert(symbol, number);
                low.insert(symbol, number);
                open.push(symbol);
                is_open.insert(symbol);
            }
            match needs(symbol).get(next) {
                Some(other) => {
                    walk.last_mut().expect("invariant: it was just looked at").1 += 1;
                    if !index.contains_key(other) {
                        walk.push((*other, 0));
                    } else if is_open.contains(other) {
                        low.insert(symbol, low[&symbol].min(index[other]));
                    }
                }
                None => {
                    walk.pop();
                    if let Some((above, _)) = walk.last() {
                        low.insert(*above, low[above].min(low[&symbol]));
                    }
                    if low[&symbol] == index[&symbol] {
                        let from = open.iter().rposition(|each| *each == symbol).unwrap_or(0);
                        let group = open.split_off(from);
                        group.iter().for_each(|each| _ = is_open.remove(each));
                        found.push(group);
                    }
                }
            }
        }
    }
    found
}
