//! Vectors of port variables, and the named matrices of elements.

use super::super::variables::{Reading, Table, place};
use super::algebra::{Factor, Product, Sum, Term};
use lgm_algebra::expr::{ExprId, Node, SymbolId, SymbolKind};
use lgm_equations::port_variable_name;
use lgm_model::{Connection, ElementId, Law, Matrix, NodeId, PortId, Variable};
use rustc_hash::FxHashMap;

/// The maximum number of entries of all matrices; larger models have no derivation in vectors.
const MOST_ENTRIES: usize = 20_000;

/// A matrix with the name of its element.
pub(super) struct NamedMatrix {
    pub(super) name: String,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Row by row.
    pub(super) entries: Vec<ExprId>,
    /// The time derivatives of the entries; empty if the matrix is constant.
    pub(super) rates: Vec<ExprId>,
}

/// A model with its vectors.
pub(super) struct Lift<'a> {
    pub(super) table: Table<'a>,
    /// The ports of each element in groups: those of a vector port, or a single port.
    pub(super) groups: Vec<Vec<Vec<PortId>>>,
    /// The entries of each vector, by its first entry.
    pub(super) entries: FxHashMap<SymbolId, Vec<SymbolId>>,
    /// The vector and the index of each entry of a vector with several entries.
    index: FxHashMap<SymbolId, (SymbolId, usize)>,
    pub(super) matrices: Vec<NamedMatrix>,
    /// The vectors of sources, with their values.
    pub(super) values: Vec<(SymbolId, Vec<ExprId>)>,
    /// The printed names of vectors and of matrices.
    pub(super) names: FxHashMap<SymbolId, ExprId>,
    pub(super) matrix_names: Vec<ExprId>,
}

/// Returns a name without its last index.
pub(super) fn stripped(name: &str) -> &str {
    match name.rfind('[') {
        Some(at) if name.ends_with(']') => &name[..at],
        _ => name,
    }
}

impl<'a> Lift<'a> {
    pub(super) fn new(table: Table<'a>) -> Option<Lift<'a>> {
        let mut lift = Lift {
            table,
            groups: Vec::new(),
            entries: FxHashMap::default(),
            index: FxHashMap::default(),
            matrices: Vec::new(),
            values: Vec::new(),
            names: FxHashMap::default(),
            matrix_names: Vec::new(),
        };
        let model = lift.table.names.model;
        for element in 0..model.graph.elements.len() as u32 {
            let groups = lift.grouped(ElementId(element))?;
            lift.groups.push(groups);
        }
        if lift.groups.iter().flatten().all(|group| group.len() == 1) {
            return None;
        }
        for element in 0..model.graph.elements.len() {
            lift.restore_source(ElementId(element as u32))?;
            for group in lift.groups[element].clone() {
                lift.register(&group)?;
            }
        }
        Some(lift)
    }

    /// Returns the ports of an element in groups; `None` unless all entries of a vector port connect equal entries of vector nodes.
    fn grouped(&self, id: ElementId) -> Option<Vec<Vec<PortId>>> {
        let model = self.table.names.model;
        let mut groups: Vec<Vec<PortId>> = Vec::new();
        for port in model.ports_of(id) {
            let info = &model.graph.ports[port.index()];
            match groups.last_mut() {
                Some(group) if model.graph.ports[group[0].index()].name == info.name => group.push(port),
                _ => groups.push(vec![port]),
            }
        }
        let is_uniform = |group: &Vec<PortId>| {
            let ends = |port: PortId| match model.graph.ports[port.index()].connection {
                Connection::Branch { from, to, .. } => Some([from, to]),
                Connection::Bond(_) => None,
            };
            let first = ends(group[0]);
            group.iter().enumerate().all(|(at, port)| {
                let (Some(own), Some(first)) = (ends(*port), first) else {
                    return false;
                };
                own.iter()
                    .zip(&first)
                    .all(|(own, first)| self.is_entry(*own, *first, at, group.len()))
            })
        };
        groups.iter().all(is_uniform).then_some(groups)
    }

    /// Returns true if a node is an entry of the vector node of this length that begins with another node, or if both are the reference.
    fn is_entry(&self, node: Option<NodeId>, first: Option<NodeId>, at: usize, length: usize) -> bool {
        let nodes = &self.table.names.model.graph.nodes;
        let (Some(node), Some(first)) = (node, first) else {
            return node == first;
        };
        let (own, first) = (&nodes[node.index()], &nodes[first.index()]);
        let entry = (length > 1).then_some(at as u32 + 1);
        let size = nodes.iter().filter(|other| other.path == own.path).count();
        own.path == first.path && own.entry == entry && size == length
    }

    /// Gives the entries of a vector source their variables, which may have been replaced by values.
    fn restore_source(&mut self, id: ElementId) -> Option<()> {
        let model = self.table.names.model;
        let Law::Source { given, values } = &model.graph.elements[id.index()].law else {
            return Some(());
        };
        let [group] = &self.groups[id.index()][..] else {
            return None;
        };
        let is_zero = values.iter().all(|value| model.exprs.is_zero(*value));
        if is_zero || group.len() == 1 && self.table.placed.contains(&group[0]) {
            return Some(());
        }
        let mut list = Vec::new();
        for (port, value) in group.clone().into_iter().zip(values) {
            let value = self.table.carried(*value).ok()?;
            if !self.table.unknowns_of(&[value]).is_empty() {
                return None;
            }
            if self.table.placed.remove(&port) {
                let name = port_variable_name(model, port, *given);
                let symbol = self.table.exprs.new_symbol(name, SymbolKind::Measure);
                self.table.readings.insert(symbol, Reading::Port(port, *given, false));
                self.table.ports[port.index()][place(*given)] = self.table.exprs.symbol(symbol);
            }
            let symbol = self.table.as_variable(self.table.port(port, *given))?;
            // The values of sources are known.
            self.table.unknowns.remove(&symbol);
            list.push((symbol, value));
        }
        self.values
            .push((list[0].0, list.iter().map(|entry| entry.1).collect()));
        Some(())
    }

    /// Registers the vectors of a group of ports.
    fn register(&mut self, group: &[PortId]) -> Option<()> {
        for variable in [Variable::Effort, Variable::Flow] {
            let values: Vec<ExprId> = group.iter().map(|port| self.table.port(*port, variable)).collect();
            if values.iter().all(|value| self.table.exprs.is_zero(*value)) {
                continue;
            }
            let symbols: Option<Vec<SymbolId>> = match group.len() {
                1 => Some(vec![self.table.as_variable(values[0])?]),
                _ => values.iter().map(|value| self.symbol(*value)).collect(),
            };
            self.add(symbols?);
        }
        let states: Vec<Option<usize>> = group
            .iter()
            .map(|port| self.table.state_of.get(port).copied())
            .collect();
        if states.iter().all(Option::is_some) {
            let rates: Vec<SymbolId> = states.iter().flatten().map(|state| self.table.rates[*state]).collect();
            self.add(rates);
        } else if states.iter().any(Option::is_some) {
            return None;
        }
        Some(())
    }

    fn symbol(&self, value: ExprId) -> Option<SymbolId> {
        match self.table.exprs.node(value) {
            Node::Symbol(symbol) => Some(*symbol),
            _ => None,
        }
    }

    /// Registers a vector.
    pub(super) fn add(&mut self, symbols: Vec<SymbolId>) {
        if symbols.len() > 1 {
            for (at, symbol) in symbols.iter().enumerate() {
                self.index.insert(*symbol, (symbols[0], at));
            }
        }
        self.entries.insert(symbols[0], symbols);
    }

    /// Returns the vector of a variable at the first port of a group.
    pub(super) fn vector(&mut self, port: PortId, variable: Variable) -> Option<Sum> {
        let value = self.table.port(port, variable);
        self.sum(value)?.map(|sum| sum.0)
    }

    /// Returns a linear combination of first entries as a sum of vectors with their length, `Some(None)` for equal combinations of other
    /// entries, and `None` for anything else.
    pub(super) fn sum(&mut self, value: ExprId) -> Option<Option<(Sum, usize)>> {
        let list = match self.table.exprs.node(value) {
            Node::Sum(list) => list.to_vec(),
            _ if self.table.exprs.is_zero(value) => Vec::new(),
            _ => vec![value],
        };
        let (mut sum, mut place): (Sum, Option<(usize, usize)>) = (Vec::new(), None);
        for term in list {
            let symbol = self.table.as_variable(term)?;
            let scalar = match self.table.exprs.node(term) {
                Node::Product(list) => list[0],
                _ => self.table.exprs.one(),
            };
            let (vector, at) = self.index.get(&symbol).copied().unwrap_or((symbol, 0));
            let length = self.entries.get(&vector).map_or(1, Vec::len);
            if *place.get_or_insert((length, at)) != (length, at) {
                return None;
            }
            let product = Product {
                scalar,
                factors: Vec::new(),
            };
            sum.push(Term { product, vector });
        }
        let (length, at) = place.unwrap_or((1, 0));
        Some((at == 0).then_some((sum, length)))
    }

    /// Returns the matrix of an element as a factor; a scalar if it is 1 by 1.
    pub(super) fn factor(&mut self, name: &str, matrix: &Matrix) -> Option<Product> {
        let mut entries = Vec::with_capacity(matrix.entries.len());
        for entry in &matrix.entries {
            let entry = self.table.carried(*entry).ok()?;
            entries.push(entry);
        }
        let one = self.table.exprs.one();
        if !self.table.unknowns_of(&entries).is_empty() {
            return None;
        }
        if let [scalar] = entries[..] {
            return self.rate(scalar)?.is_none().then_some(Product {
                scalar,
                factors: Vec::new(),
            });
        }
        let exprs = &self.table.exprs;
        let is_unit = |(at, entry): (usize, &ExprId)| match at % (matrix.columns + 1) {
            0 => *entry == one,
            _ => exprs.is_zero(*entry),
        };
        let mut factors = Vec::new();
        if matrix.rows != matrix.columns || !entries.iter().enumerate().all(is_unit) {
            let rates = entries
                .iter()
                .map(|entry| self.rate(*entry))
                .collect::<Option<Vec<_>>>()?;
            let is_constant = rates.iter().all(Option::is_none);
            let zero = self.table.exprs.zero();
            let rates = rates.into_iter().map(|rate| rate.unwrap_or(zero));
            let shown = self.table.exprs.new_symbol(name, SymbolKind::Parameter);
            self.matrix_names.push(self.table.exprs.symbol(shown));
            self.matrices.push(NamedMatrix {
                name: name.to_string(),
                rows: matrix.rows,
                columns: matrix.columns,
                rates: if is_constant { Vec::new() } else { rates.collect() },
                entries,
            });
            factors.push(Factor {
                matrix: self.matrices.len() - 1,
                transposed: false,
                inverse: false,
                rate: false,
            });
        }
        let size: usize = self.matrices.iter().map(|matrix| matrix.entries.len()).sum();
        (size <= MOST_ENTRIES).then_some(Product { scalar: one, factors })
    }

    /// Returns the time derivative of a value; `Some(None)` for a constant, and `None` if it depends on anything but parameters and states.
    pub(super) fn rate(&mut self, value: ExprId) -> Option<Option<ExprId>> {
        let mut terms = Vec::new();
        for symbol in self.table.exprs.symbols_of(&[value]) {
            match self.table.readings.get(&symbol)? {
                Reading::Number(_) => {}
                Reading::State(state) => {
                    let rate = self.table.state_rate(*state);
                    let slope = self.table.exprs.differentiate(value, symbol)?;
                    terms.push(self.table.exprs.mul(slope, rate));
                }
                _ => return None,
            }
        }
        Some((!terms.is_empty()).then(|| self.table.exprs.sum(terms)))
    }
}
