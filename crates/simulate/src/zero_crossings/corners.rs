//! The corners of a system: its nonsmooth parts.

use lgm_algebra::expr::ExprId;
use lgm_kernels::{Corners, Layout};
use lgm_model::system::StateSystem;

/// Returns the nonsmooth dependence on time and conditions within the equations, and on time within the displayed results.
pub(crate) fn own_corners(system: &StateSystem) -> Corners {
    let mut roots: Vec<ExprId> = system.equations.derivatives.clone();
    roots.extend(system.equations.residuals());
    roots.extend(
        system
            .equations
            .mass_matrix
            .iter()
            .flat_map(|mass| mass.rows.iter().flatten())
            .map(|entry| entry.1),
    );

    Corners::with_shown(
        &system.exprs,
        (&roots, &system.equations.output_values),
        &Layout::new(system),
        &[],
    )
}
