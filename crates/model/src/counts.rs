//! The size of a model from the user's perspective: branches, nodes, elements and equations, in scalars, in vectors and
//! with modal blocks as single elements (Pourazadi, Table 4-4).
//!
//! A linear graph of b branches and n nodes has b - n + 1 loop equations, n - 1 node equations, and one constitutive
//! equation for each branch that is not a source.

/// One way to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Branches of the graph; for a bond graph, ports of elements.
    pub branches: usize,
    /// Nodes including the reference; for a bond graph, junctions.
    pub nodes: usize,
    /// Elements.
    pub elements: usize,
    /// Constitutive equations.
    pub constitutive: usize,
}

impl Count {
    /// Returns the number of loop equations: the across variables around each loop add up to zero.
    pub fn loops(&self) -> usize {
        (self.branches + 1).saturating_sub(self.nodes)
    }

    /// Returns the number of node equations: the through variables at each node except the reference add up to zero.
    pub fn cuts(&self) -> usize {
        self.nodes.saturating_sub(1)
    }

    /// Returns the number of all equations.
    pub fn equations(&self) -> usize {
        self.constitutive + self.loops() + self.cuts()
    }

    /// Adds branches with their elements and constitutive equations.
    pub fn add(&mut self, branches: usize, elements: usize, constitutive: usize) {
        self.branches += branches;
        self.elements += elements;
        self.constitutive += constitutive;
    }
}

/// A model counted in three ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// In scalars, as in a conventional linear graph.
    pub scalar: Count,
    /// In vectors: a modal block counts as its vector transformers, mass, spring and dissipators.
    pub vector: Count,
    /// As written: a modal block counts as one element, and the equations of its states as two block rows.
    pub written: Count,
}
