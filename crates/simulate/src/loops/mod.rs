//! Algebraic loops: Newton's method, the solution that a run follows, and the end of a solution.

pub(crate) mod joint;
pub(crate) mod landing;
pub(crate) mod singular;
pub(crate) mod solution_branch;
pub(crate) mod solutions;
