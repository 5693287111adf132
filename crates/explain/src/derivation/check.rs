//! Checks each step at random points, with the variables that the emitted equations yield there.

use super::report::DerivationSource;
use super::variables::{Reading, Reason, Table};
use lgm_algebra::expr::{ExprId, Exprs, Node, SymbolId, doubles};
use lgm_equations::{FlatGraph, Instant, Seen, StateSystem};
use rustc_hash::FxHashMap;
use std::convert::Infallible;

/// The number of points, and the maximum number of attempts.
const POINTS: usize = 4;
const TRIES: u64 = 24;

/// The largest accepted residual, relative to the largest term.
const TOLERANCE: f64 = 1e-9;

/// The largest accepted residual at single points, where steep laws cancel.
const ROUNDED: f64 = 1e-6;

/// A term below this fraction of the largest variable of its kind counts as zero.
const NEGLIGIBLE: f64 = 1e-6;

/// The result of the check of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Checked {
    Holds,
    /// The step has no value at any point.
    NoValue,
    /// The residual, relative to the largest term.
    Fails(f64),
}

/// Points with the values of all symbols.
pub(super) struct Points {
    values: Vec<FxHashMap<SymbolId, f64>>,
    /// The largest variable of each point.
    largest: Vec<f64>,
}

impl Points {
    /// Evaluates the flat graph at random points.
    pub(super) fn new(given: DerivationSource<'_>, table: &Table<'_>) -> Result<Points, Reason> {
        let DerivationSource {
            model,
            graph,
            system,
            options,
            retained,
            ..
        } = given;
        let flat = FlatGraph::new(model, graph, system, retained, options.states);
        let none = || "its states do not determine its port variables".to_string();
        let mut flat = flat.map_err(|_| none())?.ok_or_else(none)?;
        let mut points = Points {
            values: Vec::new(),
            largest: Vec::new(),
        };
        for set in 0..TRIES {
            let instant = random_instant(system, set);
            let Some(seen) = flat.see(&instant, &[]) else { continue };
            let values = values_at(table, &instant, &seen);
            let ports = table
                .readings
                .iter()
                .filter(|entry| matches!(entry.1, Reading::Port(..)));
            let sizes = ports
                .filter_map(|(symbol, _)| values.get(symbol))
                .map(|value| value.abs());
            points
                .largest
                .push(sizes.filter(|size| size.is_finite()).fold(0.0, f64::max));
            points.values.push(values);
            if points.values.len() == POINTS {
                break;
            }
        }
        match points.values.is_empty() {
            true => Err("its equations have no value at any of the points for checking its steps".to_string()),
            false => Ok(points),
        }
    }

    /// Compares the two sides of a step. A single variable without a value is computed from the first step that contains it.
    pub(super) fn check(&mut self, exprs: &Exprs, left: ExprId, right: ExprId) -> Checked {
        for values in &mut self.values {
            let symbols = exprs.symbols_of(&[left, right]);
            let mut unknown = symbols.iter().filter(|symbol| !values.contains_key(symbol));
            if let (Some(own), None) = (unknown.next(), unknown.next()) {
                assign(exprs, [left, right], *own, values);
            }
        }
        self.judge(|values| {
            let sides = sized(exprs, &[left, right], values);
            vec![[sides[0], sides[1]]]
        })
    }

    /// Compares pairs of values, each with the magnitude of its terms, at all points.
    pub(super) fn judge(&self, pairs: impl Fn(&FxHashMap<SymbolId, f64>) -> Vec<[(f64, f64); 2]>) -> Checked {
        let mut found: Option<(f64, f64)> = None;
        for (values, largest) in self.values.iter().zip(&self.largest) {
            let mut share: f64 = 0.0;
            for [a, b] in pairs(values) {
                let residual = (a.0 - b.0).abs();
                let size = a.1.max(b.1);
                let scale = size.max(NEGLIGIBLE * largest * f64::from(u8::from(size > 0.0)));
                share = share.max(if residual == 0.0 { 0.0 } else { residual / scale });
                if !residual.is_finite() {
                    share = f64::NAN;
                    break;
                }
            }
            if share.is_nan() {
                continue;
            }
            let (best, worst) = found.unwrap_or((f64::INFINITY, 0.0));
            found = Some((best.min(share), worst.max(share)));
        }
        match found {
            None => Checked::NoValue,
            Some((best, worst)) if best <= TOLERANCE && worst <= ROUNDED => Checked::Holds,
            Some((_, worst)) => Checked::Fails(worst),
        }
    }
}

/// Solves a step for a variable in which it is linear.
fn assign(exprs: &Exprs, sides: [ExprId; 2], own: SymbolId, values: &mut FxHashMap<SymbolId, f64>) {
    let mut at = |value: f64| {
        values.insert(own, value);
        let found = sized(exprs, &sides, values);
        found[0].0 - found[1].0
    };
    let (zero, one) = (at(0.0), at(1.0));
    let slope = one - zero;
    match slope != 0.0 && slope.is_finite() {
        true => values.insert(own, -zero / slope),
        false => values.remove(&own),
    };
}

/// Returns values, each with the magnitude of its terms.
fn sized(exprs: &Exprs, roots: &[ExprId], values: &FxHashMap<SymbolId, f64>) -> Vec<(f64, f64)> {
    let found = exprs.fold(roots, |id, node, get: &dyn Fn(ExprId) -> (f64, f64)| {
        let pair = match node {
            Node::Sum(list) => {
                let parts = list.iter().map(|id| get(*id));
                parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
            }
            Node::Product(list) => {
                let parts = list.iter().map(|id| get(*id));
                parts.fold((1.0, 1.0), |product, part| (product.0 * part.0, product.1 * part.1))
            }
            Node::Symbol(symbol) => {
                let value = values.get(symbol).copied().unwrap_or(f64::NAN);
                (value, value.abs())
            }
            Node::If(c, a, b) => get(if get(*c).0 != 0.0 { *a } else { *b }),
            Node::Power(base, exponent) => {
                let value = doubles::power(get(*base).0, get(*exponent).0);
                (value, value.abs())
            }
            Node::Call(function, list) => {
                let arguments: Vec<f64> = list.iter().map(|id| get(*id).0).collect();
                let value = doubles::call(*function, &arguments);
                (value, value.abs())
            }
            Node::Relation(relation, a, b) => {
                let value = f64::from(u8::from(doubles::holds(*relation, get(*a).0, get(*b).0)));
                (value, value)
            }
            Node::Not(a) => {
                let value = f64::from(u8::from(get(*a).0 == 0.0));
                (value, value)
            }
            Node::Number(_) | Node::Pi => {
                let value = exprs.evaluate_unchecked(&[id], &|_| None)[0];
                (value, value.abs())
            }
        };
        Ok::<_, Infallible>(pair)
    });
    let Ok(found) = found;
    found
}

/// Returns the values of all symbols at an instant.
fn values_at(table: &Table<'_>, instant: &Instant, seen: &Seen) -> FxHashMap<SymbolId, f64> {
    let mut values: FxHashMap<SymbolId, f64> = FxHashMap::default();
    let signed = |value: Option<f64>, negated: bool| value.map(|value| if negated { -value } else { value });
    for (symbol, reading) in &table.readings {
        let value = match *reading {
            Reading::Port(port, variable, negated) => signed(seen.port(port, variable), negated),
            Reading::PortRate(port, variable, negated) => signed(seen.port_rate(port, variable), negated),
            Reading::State(at) => instant.states.get(at).copied(),
            Reading::StateRate(at) => seen.rates.get(at).map(|rate| rate.0),
            Reading::Input(at) => instant.inputs.get(at).copied(),
            Reading::InputRate(at) => instant.rates.get(at).copied(),
            Reading::LoopUnknown(at) => seen.unknowns.get(at).copied(),
            Reading::Number(number) => Some(number),
            Reading::Time => Some(instant.time),
            Reading::Output(at) => seen.outputs.get(at).copied().flatten().map(|output| output.0),
            Reading::Told => None,
        };
        values.extend(value.filter(|value| value.is_finite()).map(|value| (*symbol, value)));
    }
    values
}

/// Returns a random instant near the initial values.
fn random_instant(system: &StateSystem, set: u64) -> Instant {
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15 ^ (set + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9));
    // Later attempts stay closer to the initial values, where laws with a narrow domain have values.
    let width = 1.0 / (1.0 + (set / 6) as f64 * 4.0);
    let states = system
        .states
        .iter()
        .map(|state| state.start_value + width * draw.next())
        .collect();
    let mut list = || (0..system.inputs.len()).map(|_| draw.next()).collect::<Vec<f64>>();
    let (inputs, rates) = (list(), list());
    Instant {
        time: 0.5 + 0.5 * draw.next(),
        states,
        inputs,
        rates,
    }
}

/// A generator of numbers between -1 and 1 (splitmix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
