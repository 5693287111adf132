//! Choices in the drawing of bond graphs.

/// In which manner a bond graph is drawn; by default as in books.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Half arrows point as the model says, and not from sources through couplers to where power goes.
    pub own_directions: bool,
    /// Junctions of two bonds are drawn where power passes through.
    pub all_junctions: bool,
    /// Moduli and parameters are written at elements.
    pub values: bool,
}
