//! Equilibria of small motions: by Newton's iteration from a guess, or by following the motion if that fails.

use crate::newton::{LEAP, Linearised, Stuck, ValuesAndSlopes, Zero, find_zero, find_zero_within};
use crate::settle::near_rest;
use nalgebra::DMatrix;

/// The equilibrium that is searched for; states come first, then unknowns of loops.
#[derive(Clone, Debug)]
pub struct Sought<'a> {
    /// The point from which the search begins.
    pub guess: &'a [f64],
    /// The initial values of the states.
    pub starts: &'a [f64],
    /// Combinations of states that keep their initial values.
    pub kept: &'a [Vec<f64>],
    /// M, one row and column per state.
    pub mass: &'a DMatrix<f64>,
    /// The states returned by [`running`], which come to rest only if possible.
    pub running: &'a [usize],
}

/// An equilibrium.
#[derive(Clone, Debug)]
pub struct Rest {
    /// The states and unknowns at rest.
    pub zero: Zero,
    /// The states that continue to change there.
    pub running: Vec<usize>,
}

/// Searches for an equilibrium near a guess. `motion` returns rates and residuals, and their Jacobian, at states and unknowns.
pub fn find_rest(sought: &Sought<'_>, motion: impl Fn(&[f64]) -> Linearised) -> Result<Rest, Stuck> {
    let kept = |at: &[f64]| Some(keeping(motion(at)?, sought, at));
    let search = |left_out: &[usize]| {
        let whole = |at: &[f64]| Some(without(kept(at)?, left_out));
        let found = find_near_zero(sought.guess, whole).or_else(|stuck| {
            let mut rest = |at: &[f64]| Some(without(motion(at)?, left_out));
            let near = near_rest(sought.guess.to_vec(), sought.mass, &mut rest);
            near.and_then(|near| find_zero(near, whole).ok()).ok_or(stuck)
        });
        found.map(|zero| Rest {
            zero,
            running: left_out.to_vec(),
        })
    };
    if sought.running.is_empty() {
        return search(&[]);
    }
    match find_near_zero(sought.guess, kept) {
        Ok(zero) => Ok(Rest {
            zero,
            running: Vec::new(),
        }),
        // Integrals that no equation reads need not be at rest.
        Err(stuck) => search(sought.running).map_err(|_| stuck),
    }
}

/// Returns the states that only integrate, such as an angle that is only an output: only other states of this kind depend on them.
/// `is_integral` marks the candidates; `reads` lists the equations with the states that they contain.
pub fn running(is_integral: Vec<bool>, reads: &[(usize, usize)]) -> Vec<usize> {
    let mut is_running = is_integral;
    let of = |is_running: &[bool], at: usize| is_running.get(at) == Some(&true);
    loop {
        let held = reads.iter().filter(|(row, _)| !of(&is_running, *row));
        let read: Vec<usize> = held
            .map(|entry| entry.1)
            .filter(|state| of(&is_running, *state))
            .collect();
        if read.is_empty() {
            return (0..is_running.len()).filter(|at| is_running[*at]).collect();
        }
        read.into_iter().for_each(|state| is_running[state] = false);
    }
}

/// Adds an equation for each combination that keeps its value.
fn keeping((mut values, jacobian): ValuesAndSlopes, sought: &Sought<'_>, at: &[f64]) -> ValuesAndSlopes {
    let first = values.len();
    let mut whole = jacobian.insert_rows(first, sought.kept.len(), 0.0);
    for (row, combination) in sought.kept.iter().enumerate() {
        let moved = combination.iter().zip(at).zip(sought.starts);
        values.push(moved.map(|((part, at), start)| part * (at - start)).sum());
        for (column, part) in combination.iter().enumerate() {
            whole[(first + row, column)] = *part;
        }
    }
    (values, whole)
}

/// Removes equations by setting them to zero for all unknowns.
fn without((mut values, mut jacobian): ValuesAndSlopes, left_out: &[usize]) -> ValuesAndSlopes {
    for row in left_out {
        values[*row] = 0.0;
        jacobian.row_mut(*row).fill(0.0);
    }
    (values, jacobian)
}

/// Returns a zero near a guess. If the first zero found is far away, the search is repeated with short steps ([`LEAP`]). Short steps do not
/// skip a nearby zero for one that is full turns away.
fn find_near_zero(guess: &[f64], evaluate: impl Fn(&[f64]) -> Linearised) -> Result<Zero, Stuck> {
    let found = find_zero(guess.to_vec(), &evaluate);
    let is_near = |zero: &Zero| {
        let mut moves = zero.at.iter().zip(guess);
        moves.all(|(at, guess)| (at - guess).abs() <= LEAP * guess.abs().max(1.0))
    };
    if found.as_ref().is_ok_and(is_near) {
        return found;
    }
    let near = find_zero_within(guess.to_vec(), LEAP, &evaluate);
    near.and_then(|near| find_zero(near.at, &evaluate)).or(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_integrals_that_nothing_reads_run() {
        // State 0 is a speed that drives the position 1; 2 integrates the position, and the speed reads 3.
        let reads = [(0, 0), (0, 3), (1, 0), (2, 1), (3, 0)];
        assert_eq!(running(vec![false, true, true, true], &reads), [1, 2]);
        // An unknown of a loop that reads the last integral contains the integral before it too.
        let reads = [&reads[..], &[(4, 2)]].concat();
        assert_eq!(running(vec![false, true, true, true], &reads), [] as [usize; 0]);
    }
}
