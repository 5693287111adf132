//! Blocks of a model in steps of fixed length: each runs at its instants, which are counted in steps.

use super::gathered::gather;
use super::table::{Gathered, Row};
use super::{Changes, refused};
use crate::code::instants::{Assigned, Clock, Place, Read, Sampled, SampledBlock, SampledKernels};
use crate::code::trials::TrialRuns;
use crate::shortest;
use lgm_algebra::expr::{ExprId, Exprs, Relation, SymbolId, print};
use lgm_equations::switching::Condition;
use lgm_kernels::operation::Space;
use lgm_kernels::{KernelOptions, Layout, expression};
use lgm_model::Input;
use lgm_model::switching::Trigger;
use lgm_model::system::StateSystem;
use lgm_source::diagnostic::Diagnostic;
use num_integer::Integer;

/// A period is a whole number of steps up to this share of it, which covers the round-off of both.
const WHOLE: f64 = 1e-12;

/// The longest period in steps: what an `unsigned long` of C holds on every machine.
const MOST_STEPS: f64 = u32::MAX as f64;

/// The finest decimal digit of times for which a step is suggested.
const FINEST_DIGIT: i32 = 12;

/// Returns the equations of a model with blocks and the blocks themselves, for steps of fixed length.
pub(crate) fn sampled(
    changes: &Changes<'_>,
    first: &StateSystem,
    trials: &dyn TrialRuns,
    step: f64,
) -> Result<(StateSystem, Sampled), Diagnostic> {
    let model = &first.model;
    if !changes.events.model().switching.elements.is_empty() {
        let help = "remove `--fixed-step`: locating changes of modes requires steps of variable length";
        return Err(refused(
            model,
            "the number of operations of a fixed step is then unbounded",
            help,
        ));
    }
    let clocks = clocks(changes, first, step)?;
    let mut gathered = gather(changes, first, trials)?;
    discretes_last(&mut gathered);
    let row = match &gathered.rows[..] {
        [Row { equations: Ok(row), .. }] => row,
        _ => {
            return Err(refused(
                model,
                "its equations contradict each other",
                "run `lgm check` on the model",
            ));
        }
    };
    let discretes = gathered.discretes.len();
    // After the states, the values that blocks read follow.
    let values = row.watched[row.watched.len() - gathered.held.len()..].iter();
    let exprs = changes.events.exprs();
    let read = gathered.held.iter().zip(values).zip(changes.events.read());
    let read = read.map(|((symbol, value), written)| Read {
        symbol: *symbol,
        value: *value,
        name: print::text(exprs, written),
    });
    let read: Vec<Read> = read.collect();
    let blocks = blocks(changes, &gathered, clocks, &row.known)?;
    // Without elements that have modes, all conditions are those of blocks.
    let conditional = gathered.conditions.iter().zip(&blocks);
    let conditional = conditional.filter(|(_, block)| matches!(block.clock, Clock::Becomes(_)));
    let exprs = &mut gathered.system.exprs;
    let conditions: Vec<ExprId> = conditional
        .map(|(condition, _)| truth(exprs, condition, &row.margins))
        .collect();
    let values: Vec<ExprId> = read
        .iter()
        .map(|read| read.value)
        .chain(conditions.iter().copied())
        .collect();
    refuse_rates(&gathered, &values)?;
    let system = gathered.system;
    let signals = system.inputs[system.inputs.len() - discretes..].iter();
    let start = |input: &Input| {
        input
            .signal
            .expect("invariant: a discrete variable has an initial value")
    };
    let starts: Vec<ExprId> = signals.map(start).collect();
    let kernels = kernels(&system, (&read, &gathered.temporaries), (&blocks, &conditions), &starts);
    let sampled = Sampled {
        discretes,
        read,
        temporaries: gathered.temporaries,
        blocks,
        conditions,
        starts,
        kernels,
    };
    Ok((system, sampled))
}

/// Returns a condition as an expression.
fn truth(exprs: &mut Exprs, condition: &Condition, margins: &[Option<ExprId>]) -> ExprId {
    let mut of = |inner: &Condition| truth(exprs, inner, margins);
    match condition {
        Condition::Decided(holds) => exprs.integer(i64::from(*holds)),
        Condition::Margin(at, relation) => {
            let margin = margins[*at].expect("invariant: the only combination has all margins");
            let zero = exprs.zero();
            exprs.relation(*relation, margin, zero)
        }
        Condition::Not(inner) => {
            let inner = of(inner);
            exprs.not(inner)
        }
        Condition::And(a, b) => {
            let (a, b) = (of(a), of(b));
            exprs.relation(Relation::And, a, b)
        }
        Condition::Or(a, b) => {
            let (a, b) = (of(a), of(b));
            exprs.relation(Relation::Or, a, b)
        }
        Condition::Choice(condition, a, b) => {
            let (condition, a, b) = (of(condition), of(a), of(b));
            exprs.if_else(condition, a, b)
        }
    }
}

/// Returns the blocks with their assignments.
fn blocks(
    changes: &Changes<'_>,
    gathered: &Gathered,
    clocks: Vec<Clock>,
    known: &[usize],
) -> Result<Vec<SampledBlock>, Diagnostic> {
    let mut number = 0;
    let mut blocks = Vec::with_capacity(gathered.blocks.len());
    for (at, (block, clock)) in gathered.blocks.iter().zip(clocks).enumerate() {
        let mut assignments = Vec::with_capacity(block.assignments.len());
        for (kind, place, value) in &block.assignments {
            let target = match kind {
                0 => Place::Discrete(*place),
                1 => Place::Temporary(*place),
                _ => Place::State(*place),
            };
            if matches!(target, Place::State(state) if known[state] != 1) {
                let name = &gathered.system.states[*place].name;
                let reason = format!("a block sets `{name}`, which follows from other states");
                return Err(refused(
                    &gathered.system.model,
                    &reason,
                    "assign the states that determine it",
                ));
            }
            assignments.push(Assigned {
                target,
                value: *value,
                number,
            });
            number += 1;
        }
        blocks.push(SampledBlock {
            title: title(changes, at),
            clock,
            assignments,
        });
    }
    Ok(blocks)
}

/// Describes a block: `every 0.001 s, line 16`.
fn title(changes: &Changes<'_>, at: usize) -> String {
    let line = changes.lines[at];
    match changes.events.blocks()[at].trigger {
        Trigger::Every { period, first } if first != 0.0 => {
            format!("every {} s from {} s, line {line}", shortest(period), shortest(first))
        }
        Trigger::Every { period, .. } => format!("every {} s, line {line}", shortest(period)),
        Trigger::Becomes(condition) => format!("when {}, line {line}", print::text(changes.events.exprs(), condition)),
        Trigger::Initially => format!("when initially, line {line}"),
    }
}

/// Returns the instants of all blocks in steps; an error if they are not at steps.
fn clocks(changes: &Changes<'_>, first: &StateSystem, step: f64) -> Result<Vec<Clock>, Diagnostic> {
    let start = first.experiment.start.unwrap_or(0.0);
    let times = |trigger: Trigger| match trigger {
        Trigger::Every { period, first } => vec![period, (first - start).abs()],
        _ => Vec::new(),
    };
    let blocks = changes.events.blocks();
    let all: Vec<f64> = blocks.iter().flat_map(|block| times(block.trigger)).collect();
    let mut conditions = 0;
    let clock = |block: &lgm_model::switching::EventBlock| match block.trigger {
        Trigger::Initially => Ok(Clock::Initially),
        Trigger::Becomes(_) => {
            let condition = conditions;
            conditions += 1;
            Ok(Clock::Becomes(condition))
        }
        Trigger::Every { period, first: begin } => {
            let whole = |time: f64| {
                let count = (time / step).round();
                let is_whole = (time - count * step).abs() <= WHOLE * time.abs();
                (is_whole && count.abs() <= MOST_STEPS).then_some(count)
            };
            let counted = whole(period).filter(|period| *period >= 1.0).zip(whole(begin - start));
            let Some((period, begin)) = counted else {
                return Err(between_steps(&first.model, &all, step).label(block.span, "this block"));
            };
            // Instants before the start are over.
            let begin = if begin < 0.0 { begin.rem_euclid(period) } else { begin };
            Ok(Clock::Every {
                period: period as u32,
                first: begin as u32,
            })
        }
    };
    blocks.iter().map(clock).collect()
}

/// Returns the error for instants between steps, with the longest shorter step at whose multiples all instants are.
fn between_steps(model: &str, times: &[f64], step: f64) -> Diagnostic {
    let help = match fitting_step(times, step) {
        Some(fitting) => format!("write `--fixed-step {}`", shortest(fitting)),
        None => "choose a step that divides all periods and first instants".to_string(),
    };
    let reason = format!(
        "instants of an `every` block are not whole multiples of the step of {} s",
        shortest(step)
    );
    refused(model, &reason, &help)
}

/// Returns the longest step up to `most` that is a short decimal number and divides all times; none if the times are not
/// decimal numbers of picoseconds.
fn fitting_step(times: &[f64], most: f64) -> Option<f64> {
    let unit = 10f64.powi(FINEST_DIGIT);
    let mut common = 0u64;
    for time in times {
        let count = (time * unit).round();
        if count.is_nan() || count >= 2f64.powi(53) || (time - count / unit).abs() > 2.0 * f64::EPSILON * time {
            return None;
        }
        common = common.gcd(&(count as u64));
    }
    // A divisor without other prime factors than those of ten leaves a short number.
    let least = (common as f64 / unit / most * (1.0 - WHOLE)).ceil().max(1.0);
    let is_short = |divisor: &u64| {
        let mut rest = *divisor;
        for prime in [2, 5] {
            while rest.is_multiple_of(prime) {
                rest /= prime;
            }
        }
        rest == 1
    };
    let first = least as u64;
    let divisor = (first..first.checked_mul(2)?).chain([first * 2]).find(is_short)?;
    let fitting = common as f64 / (unit * divisor as f64);
    (fitting > 0.0).then_some(fitting)
}

/// Moves the inputs of discrete variables behind all other inputs.
fn discretes_last(gathered: &mut Gathered) {
    let count = gathered.system.inputs.len();
    let is_discrete = |at: &usize| gathered.discretes.contains(at);
    let mut order: Vec<usize> = (0..count).filter(|at| !is_discrete(at)).collect();
    order.extend(&gathered.discretes);
    let system = &mut gathered.system;
    system.inputs = order.iter().map(|at| system.inputs[*at].clone()).collect();
    system.input_rates = order.iter().map(|at| system.input_rates[*at]).collect();
    let first = count - gathered.discretes.len();
    gathered.discretes = (first..count).collect();
}

/// Rejects discrete variables whose steps move states or appear as impulses.
fn refuse_rates(gathered: &Gathered, read: &[ExprId]) -> Result<(), Diagnostic> {
    let system = &gathered.system;
    let equations = &system.equations;
    let mut roots = [&equations.derivatives[..], &equations.output_values].concat();
    roots.extend(equations.residuals());
    roots.extend(equations.assignments.iter().map(|each| each.value));
    roots.extend(read);
    let symbols = system.exprs.symbols_of(&roots);
    let is_read = |at: &&usize| symbols.contains(&system.input_rates[**at]);
    let Some(found) = gathered.discretes.iter().find(is_read) else {
        return Ok(());
    };
    let input = &system.inputs[*found];
    let reason = format!(
        "a step of the discrete variable `{}` passes an impulse to storage that it determines",
        input.name
    );
    let help = "add a resistance or a damper between this source and the storage";
    Err(refused(&system.model, &reason, help).label(input.span, "the discrete variable"))
}

/// Compiles the functions of blocks.
fn kernels(
    system: &StateSystem,
    (read, temporaries): (&[Read], &[SymbolId]),
    (blocks, conditions): (&[SampledBlock], &[ExprId]),
    starts: &[ExprId],
) -> SampledKernels {
    let options = KernelOptions { native: false };
    let layout = Layout::new(system);
    let values: Vec<ExprId> = read.iter().map(|read| read.value).collect();
    let own = Layout::new(system)
        .placing(Space::States, read.iter().map(|read| read.symbol))
        .placing(Space::Unknowns, temporaries.iter().copied());
    let assigned = blocks.iter().flat_map(|block| &block.assignments);
    let assigned = assigned.map(|assigned| expression(&system.exprs, &[assigned.value], &own, &options));
    SampledKernels {
        starts: expression(&system.exprs, starts, &layout, &options),
        read: expression(&system.exprs, &values, &layout, &options),
        conditions: expression(&system.exprs, conditions, &layout, &options),
        assigned: assigned.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitting_step_divides_all_times() {
        for (times, most, expected) in [
            (&[0.001, 0.0][..], 0.0004, Some(0.00025)),
            (&[0.001, 0.0][..], 0.003, Some(0.001)),
            (&[0.01, 0.004, 0.0][..], 0.01, Some(0.002)),
            (&[0.1, 0.025][..], 0.1, Some(0.025)),
            (&[1.0 / 3.0, 0.0][..], 0.1, None),
        ] {
            assert_eq!(fitting_step(times, most), expected, "{times:?} {most}");
        }
    }
}
