//! Why a source cannot set its variable: the chain of assignments that set it already.
//!
//! The given variables of the earlier sources are independent, so the variable of a source in conflict depends on them
//! in exactly one way, `x = a_1 x_1 + a_2 x_2 + ..`. The proof is a set of rows of the junction structure that add up
//! to this relation. Power conservation finds these rows: with efforts and flows exchanged, the relation is a solution
//! of the structure, namely the current that could circulate through the sources without any limit. The proof uses a
//! row if that solution is nonzero there (Tellegen's theorem: the balance of a junction is weighted with the solution's
//! common variable, and so on). The rows are therefore few, no dense matrix is built, and [`chain`](super::chain) sorts
//! them.

use super::chain::{self, Hints};
use super::elimination::{Elimination, Row, add_scaled, find};
use super::explanation::Explanation;
use super::structure::{Equation, Structure, column_port, port_column};
use super::words::{Fact, Words, inner_facts, list};
use crate::bond::{BondGraph, End, Origin};
use crate::causality::context::{ConflictContext, given};
use lgm_algebra::{Field, PrimeField, expr};
use lgm_model::{Connection, ElementId, Law, Model, PortId, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use rustc_hash::FxHashMap;

/// The maximum number of explained conflicts; a generated model can have thousands.
const EXPLAINED: usize = 100;
/// Explanations with more steps than this are shortened in the middle.
const STEPS: usize = 9;

/// Reports for each source in conflict the assignments that already set its variable, one diagnostic per element (LGM0301).
///
/// `rows` are the rows of the structure in the field in which causality was decided; `conflicts` are ports in the order in
/// which they failed.
pub(super) fn explain(
    model: &Model,
    graph: &BondGraph,
    structure: &Structure,
    rows: &[Row<u64>],
    conflicts: &[PortId],
) -> Vec<Diagnostic> {
    let context = ConflictContext {
        model,
        graph,
        structure,
        rows,
        words: Words { model, graph },
        inner: inner_facts(model, structure),
    };
    let (elimination, inner_steps) = context.eliminate();
    let relations = context.relations(elimination.clone(), conflicts);
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let mut said: FxHashMap<ElementId, usize> = FxHashMap::default();
    for (port, relation) in conflicts.iter().zip(&relations) {
        let element = model.graph.ports[port.index()].element;
        match said.get(&element) {
            // The other entries of a vector source.
            Some(_) => continue,
            None => said.insert(element, diagnostics.len()),
        };
        let solution = context.solution(&elimination, inner_steps, relation);
        let entries = conflicts
            .iter()
            .filter(|other| model.graph.ports[other.index()].element == element);
        diagnostics.push(context.diagnostic(*port, entries.count(), relation, &solution));
    }
    let left = conflicts.len() - relations.len();
    if left > 0
        && let Some(last) = diagnostics.pop()
    {
        diagnostics.push(last.note(format!("{left} more sources are in conflict with others")));
    }
    diagnostics
}

/// Returns the columns of all efforts and flows at the ports of elements, except those given by sources; couplers have
/// only inner columns.
pub(crate) fn columns_not_given(model: &Model) -> impl Iterator<Item = u32> {
    (0..model.graph.ports.len() as u32).map(PortId).flat_map(|port| {
        let element = model.graph.ports[port.index()].element;
        let variables: &[Variable] = match &model.graph.elements[element.index()].law {
            Law::Source {
                given: Variable::Effort,
                ..
            } => &[Variable::Flow],
            Law::Source { .. } => &[Variable::Effort],
            Law::Coupler { .. } => &[],
            Law::Storage { .. } | Law::Dissipator(_) | Law::Nonlinear(_) => &[Variable::Effort, Variable::Flow],
        };
        variables.iter().map(move |variable| port_column(port, *variable))
    })
}

impl ConflictContext<'_> {
    /// Eliminates everything except the given variables of sources. Inner columns come first; the number of their steps is returned.
    fn eliminate(&self) -> (Elimination<u64>, usize) {
        let mut field = PrimeField;
        let mut elimination = Elimination::new(self.rows.to_vec(), self.structure.columns);
        elimination.pivot_all(&mut field, self.structure.inner.iter().copied());
        let inner_steps = elimination.pivots.len();
        elimination.pivot_all(&mut field, columns_not_given(self.model));
        (elimination, inner_steps)
    }

    /// Returns for each conflict the relation of its given variable to those of the sources without conflict.
    fn relations(&self, mut elimination: Elimination<u64>, conflicts: &[PortId]) -> Vec<Row<u64>> {
        let mut field = PrimeField;
        let mut row_of: FxHashMap<u32, u32> = FxHashMap::default();
        // Later conflicts first, so that no row contains a later conflict.
        for port in conflicts.iter().rev() {
            let column = self.given_column(*port);
            let row = elimination
                .pivot(&mut field, column)
                .expect("invariant: what a source in conflict gives depends on the other sources");
            row_of.insert(column, row);
        }
        let mut relations: Vec<Row<u64>> = Vec::new();
        let mut relation_of: FxHashMap<u32, usize> = FxHashMap::default();
        for port in conflicts.iter().take(EXPLAINED) {
            let column = self.given_column(*port);
            let mut relation = elimination.rows[row_of[&column] as usize].clone();
            let earlier: Vec<(u32, usize)> = relation
                .iter()
                .filter_map(|entry| Some((entry.0, *relation_of.get(&entry.0)?)))
                .collect();
            for (other, index) in earlier {
                let at =
                    find(&relation, other).expect("invariant: relations of earlier conflicts hold no other conflict");
                let own = find(&relations[index], other).expect("invariant: a relation holds its own column");
                let quotient = field.div(&relation[at].1, &relations[index][own].1);
                let factor = field.neg(&quotient);
                relation = add_scaled(&mut field, &relation, &relations[index], &factor, Some(other), |_| {});
            }
            relation_of.insert(column, relations.len());
            relations.push(relation);
        }
        relations
    }

    /// Returns the relation as a solution of the structure, with efforts and flows exchanged; a value for each column.
    pub(super) fn solution(&self, elimination: &Elimination<u64>, inner_steps: usize, relation: &Row<u64>) -> Vec<u64> {
        let mut field = PrimeField;
        let mut values = vec![0; self.structure.columns];
        for (column, coefficient) in relation {
            let (port, variable) = column_port(*column);
            values[port_column(port, variable.conjugate()) as usize] = *coefficient;
        }
        for (row, column) in elimination.pivots[..inner_steps].iter().rev() {
            let (mut sum, mut own) = (0, 1);
            for (other, coefficient) in &elimination.rows[*row as usize] {
                if other == column {
                    own = *coefficient;
                } else if values[*other as usize] != 0 {
                    let product = field.mul(coefficient, &values[*other as usize]);
                    sum = field.add(&sum, &product);
                }
            }
            if sum != 0 {
                let quotient = field.div(&sum, &own);
                values[*column as usize] = field.neg(&quotient);
            }
        }
        values
    }

    /// Returns the rows that add up to the relation, each with some factor.
    pub(super) fn proof(&self, solution: &[u64]) -> Vec<u32> {
        let is_used = |equation: &Equation| {
            let column = match equation {
                Equation::Junction(junction) => self.structure.common[*junction as usize].column,
                Equation::Port(port) => {
                    let junction = self.graph.ports[port.index()].junction as usize;
                    port_column(*port, self.graph.junctions[junction].kind.common().conjugate())
                }
                Equation::Coupler(port, variable) => port_column(*port, variable.conjugate()),
                Equation::Bond(bond) => self.own_column(*bond),
            };
            solution[column as usize] != 0
        };
        (0..self.rows.len() as u32)
            .filter(|row| is_used(&self.structure.equations[*row as usize]))
            .collect()
    }

    /// Returns the column that neither junction shares, for a bond between junctions of the same kind.
    fn own_column(&self, bond: u32) -> u32 {
        let (effort, flow) = self.structure.bonds[bond as usize];
        let End::Junction(junction) = self.graph.bonds[bond as usize].tail else {
            unreachable!("invariant: only bonds between junctions have an equation")
        };
        match self.graph.junctions[junction as usize].kind.common() {
            Variable::Effort => flow.column,
            Variable::Flow => effort.column,
        }
    }

    fn diagnostic(&self, port: PortId, entries: usize, relation: &Row<u64>, solution: &[u64]) -> Diagnostic {
        let target = self.given_column(port);
        let sources: Vec<u32> = relation
            .iter()
            .map(|entry| entry.0)
            .filter(|column| *column != target)
            .collect();
        let proof = self.proof(solution);
        let hints = Conflict { context: self, port };
        let steps = chain::steps(self.rows, &proof, &sources, target, &hints);
        let explanation = Explanation::new(self, port, &steps);
        let reported = explanation.reported(&steps);

        let name = self.words.port(port);
        let what = self.own_name(target, port);
        let mut names: Vec<String> = Vec::new();
        for column in &sources {
            let name = self.words.port(column_port(*column).0);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let message = match names.len() {
            0 => format!("{name} cannot set {what}: the connections force it to be zero"),
            1 => format!("{name} cannot set {what}: {} sets it already", list(&names)),
            _ => format!("{name} cannot set {what}: {} set it already", list(&names)),
        };
        let last = match sources.is_empty() {
            true => format!("so {name} cannot set {what}"),
            false => format!("so {name} cannot set {what} again"),
        };
        let mut diagnostic = Diagnostic::error(Code::LGM0301, message);
        // The last step is the error itself; its location comes first.
        let count = reported.len() + 1;
        diagnostic = diagnostic.label(self.words.port_span(port), format!("{count}. {last}"));
        let skipped = count.saturating_sub(STEPS);
        for (index, step) in reported.into_iter().enumerate() {
            // The beginning and the end of a long chain are more informative than its middle.
            let hidden = skipped > 0 && (STEPS / 2..STEPS / 2 + skipped).contains(&index);
            if !hidden {
                let (span, text) = explanation.sentence(step);
                diagnostic = diagnostic.label(span, format!("{}. {text}", index + 1));
            }
        }
        if skipped > 0 {
            let first = STEPS / 2 + 1;
            diagnostic = diagnostic.note(format!(
                "steps {first} to {} of the chain are not shown: {skipped} similar steps",
                first + skipped - 1
            ));
        }
        if entries > 1 {
            diagnostic = diagnostic.note(format!(
                "the same holds for {} of this vector source",
                match entries - 1 {
                    1 => "another entry".to_string(),
                    more => format!("{more} more entries"),
                }
            ));
        }
        let controlled: Vec<String> = std::iter::once(target)
            .chain(sources.iter().copied())
            .map(|column| column_port(column).0)
            .filter(|port| self.is_controlled(*port))
            .map(|port| self.words.port(port))
            .collect();
        if !controlled.is_empty() {
            let verb = if controlled.len() == 1 { "is" } else { "are" };
            diagnostic = diagnostic.note(format!(
                "{} {verb} controlled, but a source always sets its own variable",
                list(&controlled)
            ));
        }
        diagnostic.help(self.help(port, &sources))
    }

    fn help(&self, port: PortId, sources: &[u32]) -> &'static str {
        let variable = given(self.model, port).expect("invariant: only sources are in conflict");
        match (self.words.is_across(port, variable), sources.is_empty()) {
            (Some(true), true) => {
                "no other value is possible between these two points: connect the source elsewhere, or insert an \
                 element in series with it"
            }
            (Some(false), true) => {
                "the flow of a source needs a return path: connect an element in parallel with the source, from this \
                 node to `gnd`"
            }
            (Some(true), false) => {
                "across-variable sources must not form a loop: remove one, or insert a resistor, spring or other \
                 element in series with it"
            }
            (Some(false), false) => {
                "a node must not connect through-variable sources only: remove one, or connect a resistor, damper or \
                 other element in parallel with it"
            }
            (None, true) => "bond the source to a storage element, a resistor, or a junction with further elements",
            (None, false) => {
                "exactly one bond sets the common variable of a junction: remove one of the sources, or insert a \
                 resistor or another element between them"
            }
        }
    }

    fn is_controlled(&self, port: PortId) -> bool {
        let element = self.model.graph.ports[port.index()].element;
        let Law::Source { values, .. } = &self.model.graph.elements[element.index()].law else {
            return false;
        };
        let exprs = &self.model.exprs;
        exprs.symbols_of(values).into_iter().any(|symbol| {
            matches!(
                exprs.symbol_info(symbol).kind,
                expr::SymbolKind::Measure | expr::SymbolKind::State
            )
        })
    }
}

/// The properties of the graph that determine the order of steps.
struct Conflict<'a> {
    context: &'a ConflictContext<'a>,
    port: PortId,
}

impl Hints for Conflict<'_> {
    /// Explains several nodes as one cut: inflow equals outflow for all paths between them.
    fn is_one_sentence(&self, rows: &[u32]) -> bool {
        self.context.is_cut(rows)
    }

    fn reference(&self, columns: &[u32]) -> Option<u32> {
        let junction_of = |column: &u32| match self.context.fact(*column) {
            Fact::Common(junction) => match self.context.graph.junctions[junction as usize].origin {
                Origin::Node(node) => Some((junction, node)),
                _ => None,
            },
            _ => None,
        };
        // The far end of the source in conflict, so that its own variable is reported from there.
        let info = &self.context.model.graph.ports[self.port.index()];
        if let Connection::Branch { to: Some(to), .. } = &info.connection
            && let Some(found) = columns
                .iter()
                .find(|column| junction_of(column).is_some_and(|at| at.1 == *to))
        {
            return Some(*found);
        }
        columns.iter().copied().find(|column| junction_of(column).is_some())
    }
}
