//! Options for the drawing of bond graphs.

/// The conventions of a bond graph drawing; by default the textbook conventions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Half arrows have the directions of the model instead of pointing from sources along the power flow.
    pub own_directions: bool,
    /// Junctions that only pass power on are drawn, and adjacent junctions of the same kind are not merged.
    pub all_junctions: bool,
    /// Moduli and parameters are written at elements.
    pub values: bool,
}
