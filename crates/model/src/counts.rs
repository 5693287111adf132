//! How large a model is as a person counts it: branches, nodes, elements and equations, in scalars, in vectors and with
//! modal blocks as elements of their own (Pourazadi, Table 4-4).
//!
//! A linear graph of b branches and n nodes has b - n + 1 loop equations, n - 1 node equations, and one constitutive
//! equation for each branch that is no source.

/// One way to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Branches of the graph; of a bond graph, ports of elements.
    pub branches: usize,
    /// Nodes with the reference; of a bond graph, junctions.
    pub nodes: usize,
    /// Elements.
    pub elements: usize,
    /// Constitutive equations.
    pub constitutive: usize,
}

impl Count {
    /// Equations of loops: the across variables around each add up to zero.
    pub fn loops(&self) -> usize {
        (self.branches + 1).saturating_sub(self.nodes)
    }

    /// Equations of nodes: the through variables at each but the reference add up to zero.
    pub fn cuts(&self) -> usize {
        self.nodes.saturating_sub(1)
    }

    /// All equations.
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
    /// In vectors: a modal block is its vector transformers, mass, spring and dissipators.
    pub vector: Count,
    /// As written: a modal block is one element, its states' equations two block rows.
    pub written: Count,
}
