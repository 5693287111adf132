//! The corners of a system: what in it is not smooth.

use lgm_algebra::expr::ExprId;
use lgm_kernels::{Corners, Layout};
use lgm_model::system::StateSystem;

/// What depends on time and on conditions within the equations themselves, and on time within what is shown.
pub(crate) fn own_corners(system: &StateSystem) -> Corners {
    let mut roots: Vec<ExprId> = system.equations.derivatives.clone();
    roots.extend(system.equations.loops.iter().flat_map(|entry| &entry.residuals));
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
