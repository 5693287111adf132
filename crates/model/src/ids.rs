//! Ids of the parts of a flat model, and the two variables of a port.

macro_rules! typed_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the id as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

typed_id!(
    /// A domain.
    DomainId
);
typed_id!(
    /// A named thing: its name, its indices and the instance that contains it.
    PathId
);
typed_id!(
    /// A scalar junction (a graph node is a junction).
    NodeId
);
typed_id!(
    /// A scalar port of an element.
    PortId
);
typed_id!(
    /// An element.
    ElementId
);
typed_id!(
    /// A scalar bond.
    BondId
);

/// Effort or flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    /// Effort: voltage, force, torque, pressure.
    Effort,
    /// Flow: current, velocity, angular velocity, volume flow.
    Flow,
}

impl Variable {
    /// Returns the other variable of a power-conjugate pair.
    pub fn conjugate(self) -> Variable {
        match self {
            Variable::Effort => Variable::Flow,
            Variable::Flow => Variable::Effort,
        }
    }
}
