//! Delayed signals in the form that a request needs: inputs, outputs before the delay, or Pade approximations.

use crate::options::Delays;
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_model::switching::Delay;
use lgm_model::{Dissipator, Integral, Law, Model, Path, PathId};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Brings delays into the requested form. `cycles` contains the values of symbols that stand for signals which depend on themselves through
/// a delay.
pub(crate) fn form_delays(model: &mut Model, asked: Delays, cycles: &FxHashMap<SymbolId, ExprId>) -> Vec<Diagnostic> {
    // A value may contain the symbols of others, but none contains its own outside of a delay.
    for _ in 0..cycles.len() {
        replace(model, cycles);
    }
    match asked {
        Delays::Pade(order) => return approximate(model, order),
        Delays::Refused => return model.switching.delays.iter().map(refused).collect(),
        Delays::Open => model.open_delays(),
        Delays::Kept => {}
    }
    model.add_delays();
    Vec::new()
}

fn refused(delay: &Delay) -> Diagnostic {
    Diagnostic::error(
        Code::LGM0725,
        format!("`{}` has no finite number of states", delay.name),
    )
    .label(delay.span, "this analysis requires states")
    .help("approximate delays with `--pade 4`; `lgm response` and `lgm simulate` handle them exactly")
}

/// Replaces each delay by states: a Pade fraction of this order as a ladder of integrators, as in `signals.PadeDelay`.
fn approximate(model: &mut Model, order: u32) -> Vec<Diagnostic> {
    let delays = std::mem::take(&mut model.switching.delays);
    let mut known: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    let mut open: Vec<Delay> = delays;
    // A delay of a delay needs the inner one first.
    while !open.is_empty() {
        let symbols: Vec<SymbolId> = open.iter().map(|delay| delay.symbol).collect();
        let is_ready = |model: &Model, delay: &Delay| {
            let value = model.exprs.symbols_of(&[delay.value]);
            !symbols.iter().any(|symbol| value.contains(symbol))
        };
        let (ready, rest): (Vec<Delay>, Vec<Delay>) = open.into_iter().partition(|delay| is_ready(model, delay));
        if ready.is_empty() {
            return rest.iter().map(circular).collect();
        }
        for delay in ready {
            let value = ladder(model, &delay, order);
            known.insert(delay.symbol, value);
        }
        open = rest;
        for delay in &mut open {
            delay.value = substituted(model, delay.value, &known);
        }
    }
    replace(model, &known);
    Vec::new()
}

/// Replaces symbols by their values everywhere.
fn replace(model: &mut Model, values: &FxHashMap<SymbolId, ExprId>) {
    let mut exprs = std::mem::take(&mut model.exprs);
    for_expressions(model, &mut |id| {
        *id = exprs.substitute(&[*id], |symbol| values.get(&symbol).copied())[0];
    });
    model.exprs = exprs;
}

fn circular(delay: &Delay) -> Diagnostic {
    Diagnostic::error(
        Code::LGM0725,
        format!("`{}` depends on itself without a state in between", delay.name),
    )
    .label(delay.span, "`--pade` cannot approximate this delay")
    .help("add a lag to the loop, such as `signals.Lag`, or use `lgm simulate` and `lgm response` without `--pade`")
}

fn substituted(model: &mut Model, value: ExprId, known: &FxHashMap<SymbolId, ExprId>) -> ExprId {
    model.exprs.substitute(&[value], |symbol| known.get(&symbol).copied())[0]
}

/// Adds the states of a delay, and returns its value. The fraction is (1 - tanh(T*s/2))/(1 + tanh(T*s/2)) with the continued fraction of
/// tanh.
fn ladder(model: &mut Model, delay: &Delay, order: u32) -> ExprId {
    let first = model.integrals.len();
    let zero = model.exprs.zero();
    for k in 1..=order {
        let name: Arc<str> = format!("{} q{k}", delay.name).into();
        let path = PathId(model.paths.len() as u32);
        model.paths.push(Path {
            parent: None,
            name: name.clone(),
            indices: Box::default(),
            span: delay.span,
        });
        let symbol = model
            .exprs
            .new_symbol(name.clone(), lgm_algebra::expr::SymbolKind::State);
        let mut integral = Integral::from_zero((path, symbol), zero, name);
        integral.unit = delay.unit.clone();
        model.integrals.push(integral);
    }
    let own = model.integrals[first..].iter();
    let states: Vec<ExprId> = own.map(|integral| model.exprs.symbol(integral.symbol)).collect();
    let exprs = &mut model.exprs;
    let weighted = |exprs: &mut lgm_algebra::expr::Exprs, is_used: &dyn Fn(u32) -> bool| {
        let used = (1..=order).filter(|k| is_used(*k));
        let terms: Vec<ExprId> = used
            .map(|k| {
                let factor = exprs.integer(i64::from(2 * k - 1));
                exprs.mul(factor, states[k as usize - 1])
            })
            .collect();
        exprs.sum(terms)
    };
    let is_odd = |number: u32| number % 2 == 1;
    let u = delay.value;
    let all = weighted(exprs, &|k| is_odd(order - k + 1));
    let rest = exprs.sub(u, all);
    let two = exprs.integer(2);
    let factor = exprs.div(two, delay.time.0);
    let mut rates = Vec::new();
    for m in 1..=order {
        let inner = if is_odd(order - m) {
            weighted(exprs, &|k| k > m && is_odd(order - k + 1))
        } else {
            let below = weighted(exprs, &|k| k < m && is_odd(order - k));
            exprs.sub(rest, below)
        };
        rates.push(exprs.mul(factor, inner));
    }
    let last = match is_odd(order) {
        true => rest,
        false => weighted(exprs, &|k| k > 1 && is_odd(order - k + 1)),
    };
    let twice = exprs.mul(two, last);
    let value = exprs.sub(u, twice);
    for (integral, rate) in model.integrals[first..].iter_mut().zip(rates) {
        integral.rate = rate;
    }
    value
}

/// Visits every expression that may contain a delayed signal.
fn for_expressions(model: &mut Model, each: &mut dyn FnMut(&mut ExprId)) {
    for law in model.laws_mut() {
        match law {
            Law::Source { values, .. } => values.iter_mut().for_each(&mut *each),
            Law::Coupler { matrix, .. } => matrix.entries.iter_mut().for_each(&mut *each),
            Law::Nonlinear(law) => law.residuals.iter_mut().for_each(&mut *each),
            Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => {
                matrix.entries.iter_mut().for_each(&mut *each);
            }
            Law::Dissipator(Dissipator::Implicit(a, b)) => {
                a.entries.iter_mut().chain(&mut b.entries).for_each(&mut *each);
            }
            Law::Storage { .. } => {}
        }
    }
    model.integrals.iter_mut().for_each(|integral| each(&mut integral.rate));
    model.outputs.iter_mut().for_each(|output| each(&mut output.value));
    model.signals.iter_mut().for_each(|signal| each(&mut signal.value));
    model
        .start_conditions
        .iter_mut()
        .for_each(|start| each(&mut start.value));
    model.switching.expressions_mut().for_each(&mut *each);
    for junction in &mut model.switching.junctions {
        each(&mut junction.condition);
    }
}
