//! Model information for both kinds of drawings: merged elements and junctions, the letters of elements, and modulating signals.

use crate::conflict::Conflict;
use crate::manner::Manner;
use lgm_algebra::expr::{ExprId, SymbolKind};
use lgm_equations::bond::BondGraph;
use lgm_explain::CausalityReport;
use lgm_explain::causality::Role;
use lgm_model::{BondEnd, Dissipator, ElementId, Law, Measure, Model, NodeId, PathId, PortId, Variable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The maximum number of signal names at an arrow.
const SIGNALS: usize = 3;

/// The model to draw, and its properties.
#[derive(Clone, Copy)]
pub(crate) struct Content<'a> {
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a BondGraph,
    pub(crate) report: &'a CausalityReport,
    pub(crate) boxes: &'a Boxes,
    pub(crate) conflict: &'a Conflict,
    pub(crate) manner: Manner,
}

/// Groups of elements and nodes that are drawn as one box, one for each modal block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boxes {
    /// The path of the box of each element, if it has one.
    elements: Vec<Option<PathId>>,
    /// The path of the box of each node, if it has one.
    nodes: Vec<Option<PathId>>,
    /// The name of the definition of each box.
    kinds: FxHashMap<PathId, Arc<str>>,
}

impl Boxes {
    /// Returns the modal blocks of a model.
    pub(crate) fn of(model: &Model) -> Boxes {
        let parent = |path: PathId| model.paths[path.index()].parent;
        let modes = model.graph.elements.iter().filter(|element| element.mode.is_some());
        let blocks: FxHashSet<PathId> = modes.filter_map(|element| parent(element.path)).collect();
        let around = |path: PathId| match blocks.contains(&path) {
            true => Some(path),
            false => parent(path).filter(|parent| blocks.contains(parent)),
        };
        let own = model
            .graph
            .elements
            .iter()
            .filter(|element| blocks.contains(&element.path));
        Boxes {
            elements: model
                .graph
                .elements
                .iter()
                .map(|element| around(element.path))
                .collect(),
            nodes: model.graph.nodes.iter().map(|node| around(node.path)).collect(),
            kinds: own.map(|element| (element.path, element.kind.clone())).collect(),
        }
    }

    /// Returns the box that contains a node.
    pub(crate) fn of_node(&self, node: NodeId) -> Option<PathId> {
        self.nodes.get(node.index()).copied().flatten()
    }

    /// Returns the box that contains an element.
    pub(crate) fn of_element(&self, element: ElementId) -> Option<PathId> {
        self.elements.get(element.index()).copied().flatten()
    }
}

impl Content<'_> {
    /// Returns the names of all elements; a box has one name.
    pub(crate) fn element_names(&self) -> FxHashSet<PathId> {
        let elements = (0..self.model.graph.elements.len() as u32).map(ElementId);
        let path = |element: ElementId| self.model.graph.elements[element.index()].path;
        elements
            .map(|element| self.boxes.of_element(element).unwrap_or(path(element)))
            .collect()
    }

    /// Returns the enclosing components of a path, the outermost first.
    pub(crate) fn components(&self, path: PathId) -> Vec<PathId> {
        let parent = |path: &PathId| self.model.paths[path.index()].parent;
        let mut around: Vec<PathId> = std::iter::successors(parent(&path), parent).collect();
        around.reverse();
        around
    }

    /// Returns a name within its component.
    pub(crate) fn own_name(&self, path: PathId) -> String {
        let name = self.model.path_name(path);
        let around = self.model.paths[path.index()]
            .parent
            .map(|parent| self.model.path_name(parent));
        let inner = around.and_then(|around| Some(name.strip_prefix(&around)?.strip_prefix('.')?.to_string()));
        inner.unwrap_or(name)
    }

    /// Returns the names of all measured quantities.
    pub(crate) fn measured_names(&self) -> FxHashSet<String> {
        self.model
            .measures
            .iter()
            .map(|(_, measure)| self.measured(measure))
            .collect()
    }

    /// Returns the name of an element, or of its box.
    pub(crate) fn name(&self, element: ElementId) -> String {
        match self.boxes.of_element(element) {
            Some(path) => self.model.path_name(path),
            None => self.model.element_name(element),
        }
    }

    /// Returns the name of the element's definition.
    pub(crate) fn kind(&self, element: ElementId) -> Arc<str> {
        let own = || self.model.graph.elements[element.index()].kind.clone();
        let of_box = self.boxes.of_element(element);
        of_box
            .and_then(|path| self.boxes.kinds.get(&path).cloned())
            .unwrap_or_else(own)
    }

    /// Returns the bond graph letters of an element, prefixed with M if it is modulated.
    pub(crate) fn letters(&self, element: ElementId) -> String {
        if self.boxes.of_element(element).is_some() {
            return self.kind(element).to_string();
        }
        if self.is_amplifier(element) || self.is_switched(element) {
            return self.kind(element).to_string();
        }
        let mut letters: Vec<&str> = Vec::new();
        for port in self.model.ports_of(element) {
            let own = match self.report.ports[port.index()].role {
                Role::Source(Variable::Effort) => "SE",
                Role::Source(Variable::Flow) => "SF",
                Role::Storage(Variable::Effort) => "C",
                Role::Storage(Variable::Flow) => "I",
                Role::Velocity => "I",
                Role::Dissipator => "R",
                Role::Coupler => match &self.model.graph.elements[element.index()].law {
                    Law::Coupler { input, output, .. } if input != output => "GY",
                    _ => "TF",
                },
            };
            if !letters.contains(&own) {
                letters.push(own);
            }
        }
        let prefix = if self.modulation(element).is_empty() { "" } else { "M" };
        format!("{prefix}{}", letters.concat())
    }

    /// Returns true for a switching element, such as a diode, whose current law does not describe it completely.
    pub(crate) fn is_switched(&self, element: ElementId) -> bool {
        let switched = self.model.switching.elements.iter();
        switched
            .map(|switched| switched.element)
            .any(|switched| switched == element)
    }

    /// Returns true if the law of an element has several ports with nonreciprocal coupling, such as an operational amplifier or a
    /// controlled source. Such an element may supply power, so it is not an R.
    fn is_amplifier(&self, element: ElementId) -> bool {
        let exprs = &self.model.exprs;
        match &self.model.graph.elements[element.index()].law {
            Law::Dissipator(Dissipator::Implicit(first, _)) => first.rows > 1,
            Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => {
                let is_zero = |row, column| exprs.is_zero(matrix.get(row, column));
                // With a zero on the diagonal, no losses can outweigh the entry next to it.
                let acts_alone = |row: usize| {
                    is_zero(row, row) && (0..matrix.columns).any(|at| is_zero(at, row) != is_zero(row, at))
                };
                (0..matrix.rows).any(acts_alone)
            }
            _ => false,
        }
    }

    /// Returns the letters of a coupler between branches: it is a gyrator if it converts an across variable to a through variable. A bond
    /// element keeps its own letters.
    pub(crate) fn coupler_letters(&self, element: ElementId) -> String {
        let info = &self.model.graph.elements[element.index()];
        let own = self.letters(element);
        let (Law::Coupler { input, output, .. }, true) = (&info.law, own.ends_with("TF") || own.ends_with("GY")) else {
            return own;
        };
        let is_across = |port: u32, variable: &Variable| {
            let domain = self.model.graph.ports[port as usize].domain?;
            Some(self.model.graph.domains[domain.index()].effort_is_across == (*variable == Variable::Effort))
        };
        let ends = (
            is_across(info.ports.start, input),
            is_across(info.ports.end - 1, output),
        );
        match ends {
            (Some(a), Some(b)) => format!("{}{}", &own[..own.len() - 2], if a == b { "TF" } else { "GY" }),
            _ => own,
        }
    }

    /// Returns true if all storage of an element is in integral causality; `None` if it is not storage.
    pub(crate) fn is_integral(&self, element: ElementId) -> Option<bool> {
        if self.boxes.of_element(element).is_some() {
            return None;
        }
        let ports = &self.model.graph.elements[element.index()].ports;
        let from = self
            .report
            .storage
            .partition_point(|storage| storage.port < ports.start as usize);
        let own = self.report.storage[from..].iter();
        let own = own.take_while(|storage| storage.port < ports.end as usize);
        own.map(|storage| storage.is_integral).reduce(|a, b| a && b)
    }

    /// Returns the quantities that modulate an element's value: measured elements and nodes, and states; for couplers also inputs and time.
    pub(crate) fn modulation(&self, element: ElementId) -> Vec<String> {
        let values: Vec<ExprId> = match &self.model.graph.elements[element.index()].law {
            Law::Source { values, .. } => values.clone(),
            Law::Coupler { matrix, .. } => matrix.entries.clone(),
            Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix)) => matrix.entries.clone(),
            Law::Dissipator(Dissipator::Implicit(..)) | Law::Storage { .. } | Law::Nonlinear(_) => Vec::new(),
        };
        let is_source = matches!(self.model.graph.elements[element.index()].law, Law::Source { .. });
        let own = self.name(element);
        let mut found: Vec<String> = Vec::new();
        let exprs = &self.model.exprs;
        for symbol in exprs.symbols_of(&values) {
            let name = match exprs.symbol_info(symbol).kind {
                SymbolKind::Measure => {
                    let known = self.model.measures.iter().find(|(known, _)| *known == symbol);
                    known.map(|(_, measure)| self.measured(measure))
                }
                SymbolKind::State => Some(exprs.symbol_info(symbol).name.to_string()),
                SymbolKind::Input | SymbolKind::Time if !is_source => Some(exprs.symbol_info(symbol).name.to_string()),
                _ => None,
            };
            if let Some(name) = name
                && name != own
                && !found.contains(&name)
            {
                found.push(name);
            }
        }
        if found.len() > SIGNALS {
            found.truncate(SIGNALS - 1);
            found.push("..".to_string());
        }
        found
    }

    /// Returns the name of a measured element, node or bond.
    fn measured(&self, measure: &Measure) -> String {
        let of_port = |port: PortId| self.name(self.model.graph.ports[port.index()].element);
        match measure {
            Measure::PortEffort(port) | Measure::PortFlow(port) => of_port(*port),
            Measure::Common(node) => self.model.path_name(self.model.graph.nodes[node.index()].path),
            Measure::BondEffort(bond) | Measure::BondFlow(bond) => {
                let bond = &self.model.graph.bonds[bond.index()];
                let name = |end: BondEnd| match end {
                    BondEnd::Node(node) => self.model.path_name(self.model.graph.nodes[node.index()].path),
                    BondEnd::Port(port) => of_port(port),
                };
                format!("{} -> {}", name(bond.tail), name(bond.head))
            }
        }
    }

    /// Returns the name of a domain.
    pub(crate) fn domain(&self, domain: Option<lgm_model::DomainId>) -> Option<Arc<str>> {
        domain.map(|domain| self.model.graph.domains[domain.index()].name.clone())
    }
}
