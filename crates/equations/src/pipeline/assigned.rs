//! The causality used to formulate the equations of a model, for display.

use crate::assembly::linearity;
use crate::bond::{BondGraph, Origin};
use crate::causality::relation::co_energy;
use crate::causality::scap::{Assignment, Undetermined, strokes};
use crate::causality::structure::{measure_columns, port_column};
use crate::causality::{Causality, Request};
use crate::cycles::cycles;
use crate::index_reduction::{Layout, UNDETERMINED, solve_structure};
use crate::nonlinear;
use crate::options::Options;
use crate::parameter_values::sampled;
use crate::state_selection::by_hand::contradictions;
use crate::state_selection::decision::decide;
use crate::state_selection::retain::{retained, sampled_rows};
use lgm_algebra::expr::{ExprId, SymbolId};
use lgm_algebra::{Field, Sampled};
use lgm_model::{Dissipator, ElementId, Law, Model, PortId, Variable};
use lgm_source::diagnostic::{Diagnostic, has_errors};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// A model with the graph and the causality used to formulate its equations.
#[derive(Clone, Debug)]
pub struct Assigned<'m> {
    /// The model. If it is nonlinear, the velocities of displacements that moduli depend on may be appended to its elements, and
    /// integrals that are not states are removed.
    pub model: Cow<'m, Model>,
    /// Its graph.
    pub graph: Cow<'m, BondGraph>,
    /// Its causality.
    pub causality: Causality,
    /// True if nothing contradicts the causality. Otherwise sources conflict, or an element that should keep its state
    /// cannot; the assignment covers everything else.
    pub is_sound: bool,
    /// True if the rank for general parameters equals the rank for their values.
    pub(crate) general: bool,
}

/// The effects of the given variables of ports.
#[derive(Clone, Debug, Default)]
pub struct Influences {
    /// Storage in derivative causality, in declaration order, with the sources and the storage that its co-energy follows from.
    pub dependent: Vec<(PortId, Vec<PortId>)>,
    /// Algebraic loops: ports whose laws need each other's results at the same instant, in declaration order.
    pub loops: Vec<Vec<PortId>>,
}

/// Decides causality as the formulation does: with the storage to be retained, and with the velocities that moduli need.
pub fn assigned<'m>(model: &'m Model, graph: &'m BondGraph, options: &Options) -> Assigned<'m> {
    assigned_by_hand(model, graph, options, &[]).0
}

/// Decides causality with variables that elements set by hand, before all others except those of sources. The diagnostics report the
/// strokes that contradict sources or earlier strokes.
pub fn assigned_by_hand<'m>(
    model: &'m Model,
    graph: &'m BondGraph,
    options: &Options,
    strokes: &[(PortId, Variable)],
) -> (Assigned<'m>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let mut request = Request::retaining(retained(model, options, &mut diagnostics));
    request.strokes = strokes.to_vec();
    let assigned = decided(model, graph, &request, &mut diagnostics);
    if !assigned.is_sound || strokes.is_empty() {
        return (assigned, Vec::new());
    }
    let rows = sampled_rows(&assigned.model, &assigned.causality, assigned.general);
    let refused = contradictions(&assigned.model, &assigned.graph, &assigned.causality, strokes, &rows);
    (assigned, refused)
}

fn decided<'m>(
    model: &'m Model,
    graph: &'m BondGraph,
    request: &Request,
    diagnostics: &mut Vec<Diagnostic>,
) -> Assigned<'m> {
    if linearity::applies(model) {
        let (model, graph, causality) = nonlinear::assigned(model, request, diagnostics);
        return Assigned {
            model: Cow::Owned(model),
            graph: Cow::Owned(graph),
            causality,
            is_sound: !has_errors(diagnostics),
            general: false,
        };
    }
    let (causality, general, found) = decide(model, graph, request);
    diagnostics.extend(found);
    Assigned {
        model: Cow::Borrowed(model),
        graph: Cow::Borrowed(graph),
        causality,
        is_sound: !has_errors(diagnostics),
        general,
    }
}

/// Returns for each port of a model the variable that the rest of the model determines; its law gives the other one.
/// The entries of coupler ports are None. The decision is that of the formulation; returns `None` if it fails.
pub fn port_causality(model: &Model, graph: &BondGraph, options: &Options) -> Option<Vec<Option<Variable>>> {
    let assigned = assigned(model, graph, options);
    let mut solved = assigned.causality.solved;
    // The formulation may append its own storage to that of the model.
    solved.truncate(model.graph.ports.len());
    assigned.is_sound.then_some(solved)
}

impl Assigned<'_> {
    /// Returns the causal strokes of the bonds.
    pub fn strokes(&self) -> Assignment {
        strokes(&self.model, &self.graph, &self.causality, &self.undetermined())
    }

    /// Returns the undetermined variables: across variables of parts without a reference, and flows that circulate in
    /// loops of ideal elements.
    fn undetermined(&self) -> Undetermined {
        let Causality { structure, free, .. } = &self.causality;
        if free.is_empty() {
            return Undetermined::default();
        }
        let is_node = |junction: &usize| match self.graph.junctions[*junction].origin {
            Origin::Node(node) => self.model.graph.nodes[node.index()].is_graph_node,
            Origin::Branch(_) | Origin::Direct(_) => false,
        };
        let nodes = (0..self.graph.junctions.len()).filter(is_node);
        let node_of: FxHashMap<u32, u32> = nodes.map(|at| (structure.common[at].column, at as u32)).collect();
        let references = free.iter().filter_map(|column| node_of.get(column).copied()).collect();
        let circulates: Vec<bool> = free.iter().map(|column| !node_of.contains_key(column)).collect();
        if !circulates.contains(&true) {
            return Undetermined {
                bonds: Vec::new(),
                references,
            };
        }
        let columns = structure
            .bonds
            .iter()
            .flat_map(|(effort, flow)| [effort.column, flow.column]);
        let solved = self.is_sound.then(|| {
            let wanted: Vec<u32> = columns.collect();
            solve_structure(
                &self.model,
                &self.causality,
                &mut self.field(),
                Layout::of(&self.causality),
                &wanted,
            )
            .ok()
        });
        let is_loose = |column: u32| match solved.as_ref().and_then(Option::as_ref) {
            // In a conflict the equations have no solution, so no bond is determined.
            None => true,
            Some(solved) => {
                let mut row = solved.rows[column as usize].iter().flatten();
                row.any(|entry| entry.0 >= UNDETERMINED && circulates[(entry.0 - UNDETERMINED) as usize])
            }
        };
        let of_bonds = structure.bonds.iter();
        Undetermined {
            bonds: of_bonds
                .map(|(effort, flow)| is_loose(effort.column) || is_loose(flow.column))
                .collect(),
            references,
        }
    }

    /// Returns the field in which causality was decided.
    fn field(&self) -> Sampled {
        match self.general {
            true => Sampled::new(1),
            false => sampled(&self.model, 1),
        }
    }

    /// Returns the co-energy variable of a storage port; `None` for other ports.
    pub fn co_energy(&self, port: PortId) -> Option<Variable> {
        co_energy(&self.model, port)
    }

    /// Returns the dependencies between variables, from the junction structure solved exactly in a prime field; `None`
    /// if sources conflict, or if the structure cannot be solved.
    pub fn influences(&self) -> Option<Influences> {
        if !self.is_sound {
            return None;
        }
        let causality = &self.causality;
        let mut field = self.field();
        let layout = Layout::of(causality);
        let measured = self.measured_by_sources();
        let solved_column = |port: &PortId| Some(port_column(*port, causality.solved[port.index()]?));
        let mut wanted: Vec<u32> = causality.nonlinear.iter().filter_map(solved_column).collect();
        wanted.extend(measured.values().flatten());
        let solved = solve_structure(&self.model, causality, &mut field, layout, &wanted).ok()?;
        let port_of: FxHashMap<u32, PortId> = self.ports_by_column(layout);
        let read = |column: u32| -> Vec<PortId> {
            let row = solved.rows[column as usize].iter().flatten();
            let row = row.filter(|entry| !field.is_zero(&entry.1));
            row.filter_map(|entry| port_of.get(&entry.0).copied()).collect()
        };
        let mut dependent: Vec<(PortId, Vec<PortId>)> = Vec::new();
        let nonlinear = causality.nonlinear.iter().copied();
        let nonlinear = nonlinear.filter(|port| self.is_derivative(*port));
        for port in causality.dependent.iter().copied().chain(nonlinear) {
            let mut from = solved_column(&port).map(&read).unwrap_or_default();
            from.sort_unstable();
            from.dedup();
            dependent.push((port, from));
        }
        dependent.sort_unstable_by_key(|entry| entry.0);
        Some(Influences {
            dependent,
            loops: self.algebraic_loops(&read, &measured),
        })
    }

    /// Returns true if a port belongs to storage in derivative causality.
    pub fn is_derivative(&self, port: PortId) -> bool {
        let co_energy = self.co_energy(port);
        co_energy.is_some() && self.causality.solved[port.index()] == co_energy
    }

    /// Returns the columns of the variables in the values of each controlled source.
    fn measured_by_sources(&self) -> FxHashMap<ElementId, Vec<u32>> {
        let model = &self.model;
        let columns = measure_columns(model, &self.graph, &self.causality.structure);
        let symbols = model.measures.iter().map(|(symbol, _)| *symbol);
        let column_of: FxHashMap<SymbolId, u32> = symbols.zip(columns.iter().map(|signed| signed.column)).collect();
        let mut found = FxHashMap::default();
        for (at, element) in model.graph.elements.iter().enumerate() {
            if let Law::Source { values, .. } = &element.law {
                let symbols = model.exprs.symbols_of(values);
                let columns: Vec<u32> = symbols
                    .iter()
                    .filter_map(|symbol| column_of.get(symbol).copied())
                    .collect();
                if !columns.is_empty() {
                    found.insert(ElementId(at as u32), columns);
                }
            }
        }
        found
    }

    /// Maps each column of the layout to the port whose given variable it is.
    pub(crate) fn ports_by_column(&self, layout: Layout) -> FxHashMap<u32, PortId> {
        let causality = &self.causality;
        let mut port_of = FxHashMap::default();
        for (k, port) in causality.independent.iter().enumerate() {
            port_of.insert(layout.known.co_energy(k), *port);
        }
        for (k, port) in causality.sources.iter().chain(&causality.nonlinear).enumerate() {
            port_of.insert(layout.known.source(k), *port);
        }
        for (k, port) in causality.dissipators.iter().enumerate() {
            port_of.insert(layout.dissipator(k), *port);
        }
        port_of
    }

    /// Returns groups of ports whose laws have no state and need each other's results. `read` gives the ports that a
    /// column of the structure depends on.
    fn algebraic_loops(
        &self,
        read: &dyn Fn(u32) -> Vec<PortId>,
        measured: &FxHashMap<ElementId, Vec<u32>>,
    ) -> Vec<Vec<PortId>> {
        let model = &self.model;
        // The law of an element determines its given variables from the solved ones of the ports that it connects, or
        // from measured variables.
        let mut needs: FxHashMap<PortId, Vec<PortId>> = FxHashMap::default();
        for (at, element) in model.graph.elements.iter().enumerate() {
            let ports: Vec<PortId> = model.ports_of(ElementId(at as u32)).collect();
            let solved = |port: &PortId| Some(port_column(*port, self.causality.solved[port.index()]?));
            match &element.law {
                Law::Source { .. } => {
                    if let Some(columns) = measured.get(&ElementId(at as u32)) {
                        let from: Vec<PortId> = columns.iter().flat_map(|column| read(*column)).collect();
                        needs.extend(ports.iter().map(|port| (*port, from.clone())));
                    }
                }
                Law::Dissipator(law) => {
                    for group in joined(model, law, ports.len()) {
                        let members = group.iter().map(|at| ports[*at]);
                        let from: Vec<PortId> = members.filter_map(|port| solved(&port)).flat_map(read).collect();
                        needs.extend(group.iter().map(|at| (ports[*at], from.clone())));
                    }
                }
                Law::Nonlinear(law) if law.storage.iter().all(Option::is_none) => {
                    let from: Vec<PortId> = ports.iter().filter_map(solved).flat_map(read).collect();
                    needs.extend(ports.iter().map(|port| (*port, from.clone())));
                }
                Law::Nonlinear(_) | Law::Storage { .. } | Law::Coupler { .. } => {}
            }
        }
        cycles(&needs)
    }
}

/// Returns the ports of a dissipator, numbered from 0, in groups that its matrices connect.
fn joined(model: &Model, law: &Dissipator, ports: usize) -> Vec<Vec<usize>> {
    let matrices = match law {
        Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix) => vec![matrix],
        Dissipator::Implicit(a, b) => vec![a, b],
    };
    let is_there = |entry: ExprId| !model.exprs.is_zero(entry);
    let mut group: Vec<usize> = (0..ports).collect();
    let mut join = |a: usize, b: usize| {
        let (a, b) = (group[a], group[b]);
        group
            .iter_mut()
            .filter(|each| **each == a.max(b))
            .for_each(|each| *each = a.min(b));
    };
    let rows = matrices.iter().map(|matrix| matrix.rows).max().unwrap_or(0);
    for row in 0..rows {
        let held = |column: &usize| matrices.iter().any(|matrix| is_there(matrix.get(row, *column)));
        let columns: Vec<usize> = (0..ports).filter(held).collect();
        // The row of a square matrix gives the variable of its own port.
        let own = matches!(law, Dissipator::Resistance(_) | Dissipator::Conductance(_)).then_some(row);
        let members: Vec<usize> = own.into_iter().chain(columns).collect();
        for pair in members.windows(2) {
            join(pair[0], pair[1]);
        }
    }
    let roots: FxHashSet<usize> = group.iter().copied().collect();
    let mut roots: Vec<usize> = roots.into_iter().collect();
    roots.sort_unstable();
    let members = |root: &usize| (0..ports).filter(|at| group[*at] == *root).collect();
    roots.iter().map(members).collect()
}
