//! The causality of a model: which variable each element sets for the rest of the model, and why.

mod by_hand;
mod json;
mod make;
mod paths;
mod reasons;
mod report;
mod table;
mod text;
mod tree;

pub use json::json;
pub use make::{CausalityByHand, causality, causality_by_hand};
pub use report::{
    AlgebraicLoop, Bond, CausalPath, CausalityReport, Cause, End, Junction, Member, NormalTree, OpenBonds, Port, Role,
    RunTimeLoop, Step, Storage, TreeMember,
};
pub use text::{TextOptions, text};
