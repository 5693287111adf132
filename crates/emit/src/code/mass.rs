//! Mass matrices as algebraic loops: the rates of coupled states are unknowns, and the rows of the matrix are residuals.

use lgm_algebra::expr::{ExprId, SymbolKind};
use lgm_model::system::{AlgebraicLoop, StateSystem};

/// Returns the same equations without a mass matrix: `M x' = f` becomes `x' = r` with `0 = M r - f`. Every target
/// solves for the unknowns r as for those of other loops. Rows of the form `x' = f` stay unchanged.
pub(super) fn with_rates_as_unknowns(system: &StateSystem) -> StateSystem {
    let mut system = system.clone();
    let Some(mass) = system.equations.mass_matrix.take() else {
        return system;
    };
    let exprs = &mut system.exprs;
    let is_plain = |row: usize, entries: &[(u32, ExprId)]| match entries {
        [(column, factor)] => *column as usize == row && exprs.is_one(*factor),
        _ => false,
    };
    let plain: Vec<bool> = mass
        .rows
        .iter()
        .enumerate()
        .map(|(row, entries)| is_plain(row, entries))
        .collect();
    let mut unknowns = Vec::new();
    let right_sides = system.equations.derivatives.clone();
    for (at, state) in system.states.iter().enumerate() {
        if !plain[at] {
            let symbol = exprs.new_symbol(format!("der({})", state.name), SymbolKind::Assignment);
            unknowns.push(symbol);
            system.equations.derivatives[at] = exprs.symbol(symbol);
        }
    }
    let mut residuals = Vec::new();
    for (row, entries) in mass.rows.iter().enumerate().filter(|(row, _)| !plain[*row]) {
        let mut sum = exprs.zero();
        for (column, factor) in entries {
            let term = exprs.mul(*factor, system.equations.derivatives[*column as usize]);
            sum = exprs.add(sum, term);
        }
        residuals.push(exprs.sub(sum, right_sides[row]));
    }
    if !unknowns.is_empty() {
        system.equations.loops.push(AlgebraicLoop {
            owners: vec![None; residuals.len()],
            rated: Vec::new(),
            unknowns,
            residuals,
            linear: true,
            guesses: Vec::new(),
        });
    }
    system
}
