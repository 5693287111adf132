//! The equations in block form: vectors of variables whose names differ only in their indices, and the matrices between them.
//!
//! The storage laws are not solved for the rates here: `M z' = S z + B u + E u'` with M unchanged, which is usually
//! written as `[M]^-1 (..)`. A block that is the matrix of an element, such as a vector mass or the shapes of a modal
//! block, is named after the element; so are its negative and its transpose.

use crate::assembly::problem::Problem;
use crate::assembly::refusal::Failure;
use crate::causality::structure::{Signed, measure_columns};
use crate::decimals::shortest_decimal;
use crate::formulation::matrices::Present;
use crate::index_reduction::{Known, Solve, reduce};
use lgm_algebra::Sharing;
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_model::blocks::{BlockEquation, BlockFactor, BlockForm, BlockMatrix, BlockTerm, BlockVector};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_model::{Dissipator, ElementId, Law, Model, PortId, StorageForm};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// With more entries than this in all blocks, no block form is written.
const MOST_ENTRIES: usize = 2_000_000;

/// Returns a name without its indices.
fn stripped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut depth = 0;
    for letter in name.chars() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if depth == 0 => out.push(letter),
            _ => {}
        }
    }
    out
}

/// The position of each variable of a list: its vector, and its index in it.
struct Grouped {
    places: Vec<(usize, usize)>,
}

/// Adds the vectors of a list of variables; variables with equal keys form one vector.
fn group(form: &mut BlockForm, keys: &[String], names: &[String], is_variable: bool) -> Grouped {
    let mut of_key: FxHashMap<&str, usize> = FxHashMap::default();
    let mut places = Vec::with_capacity(keys.len());
    let first = form.vectors.len();
    for (key, name) in keys.iter().zip(names) {
        let at = *of_key.entry(key).or_insert_with(|| {
            form.vectors.push(BlockVector {
                name: key.clone(),
                entries: Vec::new(),
                is_variable,
            });
            form.vectors.len() - 1
        });
        places.push((at, form.vectors[at].entries.len()));
        form.vectors[at].entries.push(name.clone());
    }
    for vector in &mut form.vectors[first..] {
        if let [only] = &vector.entries[..] {
            vector.name = only.clone();
        }
    }
    Grouped { places }
}

/// The entries of a block by row and column: its shape, and its nonzero entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct MatrixBlock {
    rows: usize,
    columns: usize,
    entries: Vec<(u32, u32, ExprId)>,
}

impl MatrixBlock {
    fn negated(&self, exprs: &mut Exprs) -> MatrixBlock {
        let entries = self.entries.iter();
        MatrixBlock {
            rows: self.rows,
            columns: self.columns,
            entries: entries
                .map(|(row, column, value)| (*row, *column, exprs.neg(*value)))
                .collect(),
        }
    }

    fn transposed(&self) -> MatrixBlock {
        let mut entries: Vec<_> = self
            .entries
            .iter()
            .map(|(row, column, value)| (*column, *row, *value))
            .collect();
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
        MatrixBlock {
            rows: self.columns,
            columns: self.rows,
            entries,
        }
    }

    /// Returns false for the identity, true for its negative, otherwise `None`.
    fn unit(&self, exprs: &mut Exprs) -> Option<bool> {
        let (one, minus_one) = (exprs.one(), exprs.integer(-1));
        let is = |wanted: ExprId| {
            self.rows == self.columns
                && self.entries.len() == self.rows
                && self.entries.iter().all(|entry| entry.0 == entry.1 && entry.2 == wanted)
        };
        match () {
            () if is(one) => Some(false),
            () if is(minus_one) => Some(true),
            () => None,
        }
    }

    fn sparse(&self) -> SparseMatrix<ExprId> {
        let mut matrix = SparseMatrix::zeros(self.rows, self.columns);
        for (row, column, value) in &self.entries {
            matrix.rows[*row as usize].push((*column, *value));
        }
        matrix
    }
}

/// Finds the names of known blocks, and names new ones.
struct Namer<'e> {
    exprs: &'e mut Exprs,
    /// Blocks with a name: the name of an element, or of a matrix that is already in use.
    known: FxHashMap<MatrixBlock, (String, bool, bool)>,
    placed: FxHashMap<String, usize>,
    counts: FxHashMap<char, usize>,
}

impl Namer<'_> {
    /// Registers a name for a block, for its negative and for its transpose.
    fn know(&mut self, block: MatrixBlock, name: &str) {
        let negative = block.negated(self.exprs);
        let both = [(block, false), (negative, true)];
        for (block, negative) in both {
            let transposed = block.transposed();
            self.known
                .entry(block)
                .or_insert_with(|| (name.to_string(), negative, false));
            self.known
                .entry(transposed)
                .or_insert_with(|| (name.to_string(), negative, true));
        }
    }

    /// Returns the term of a block times a vector; `letter` begins the name of an unnamed block.
    fn term(&mut self, form: &mut BlockForm, block: MatrixBlock, letter: char, vector: usize, rate: bool) -> BlockTerm {
        let (negative, factor) = if let Some(negative) = block.unit(self.exprs) {
            (negative, BlockFactor::One)
        } else if let ((1, 1), [(_, _, only)]) = ((block.rows, block.columns), &block.entries[..]) {
            (false, BlockFactor::Scalar(*only))
        } else {
            if !self.known.contains_key(&block) {
                let count = self.counts.entry(letter).or_insert(0);
                *count += 1;
                let name = format!("{letter}{count}");
                self.know(block.clone(), &name);
            }
            let (name, negative, transposed) = self.known[&block].clone();
            let place = match self.placed.get(&name) {
                Some(place) => *place,
                None => {
                    let plain = if transposed { block.transposed() } else { block };
                    let plain = if negative { plain.negated(self.exprs) } else { plain };
                    form.matrices.push(BlockMatrix {
                        name: name.clone(),
                        entries: plain.sparse(),
                    });
                    self.placed.insert(name, form.matrices.len() - 1);
                    form.matrices.len() - 1
                }
            };
            (negative, BlockFactor::Matrix(place, transposed))
        };
        BlockTerm {
            negative,
            factor,
            vector,
            rate,
        }
    }
}

/// Blocks of rows over grouped columns: for each vector of rows, its blocks by the key and the vector of the column.
type Blocks = BTreeMap<usize, BTreeMap<(u8, usize), MatrixBlock>>;

/// The kinds of columns of reduction and of matrices.
const RATE: u8 = 0;
const STATE: u8 = 1;
const INPUT: u8 = 2;
const INPUT_RATE: u8 = 3;

fn letter_of(kind: u8) -> char {
    match kind {
        RATE => 'M',
        STATE => 'S',
        INPUT => 'B',
        _ => 'E',
    }
}

fn put(blocks: &mut Blocks, form: &BlockForm, row: (usize, usize), column: (u8, (usize, usize)), value: ExprId) {
    let (kind, (vector, at)) = column;
    let shape = (form.vectors[row.0].entries.len(), form.vectors[vector].entries.len());
    let block = blocks
        .entry(row.0)
        .or_default()
        .entry((kind, vector))
        .or_insert_with(|| MatrixBlock {
            rows: shape.0,
            columns: shape.1,
            entries: Vec::new(),
        });
    block.entries.push((row.1 as u32, at as u32, value));
}

/// The columns of a reduction, grouped in vectors.
struct Places<'a> {
    known: Known,
    states: &'a Grouped,
    sources: &'a Grouped,
    /// For each source, true if its value is 0.
    is_zero: &'a [bool],
}

impl Places<'_> {
    /// Returns the kind and the position of a column; `None` for a source of value 0.
    fn of(&self, column: u32) -> Option<(u8, (usize, usize))> {
        let known = self.known;
        if column >= known.rate(0) {
            return Some((RATE, self.states.places[(column - known.rate(0)) as usize]));
        }
        if column < known.source(0) {
            return Some((STATE, self.states.places[column as usize]));
        }
        let source = (column - known.source(0)) as usize % known.sources.max(1);
        let kind = if column < known.source_rate(0) {
            INPUT
        } else {
            INPUT_RATE
        };
        (!self.is_zero[source]).then_some((kind, self.sources.places[source]))
    }
}

/// Returns the measured variables in the values of sources.
fn measured_by_sources(model: &Model, columns: Vec<Signed>) -> Vec<(SymbolId, Signed)> {
    let values: Vec<ExprId> = model
        .graph
        .elements
        .iter()
        .flat_map(|element| match &element.law {
            Law::Source { values, .. } => &values[..],
            _ => &[],
        })
        .copied()
        .collect();
    let used: FxHashSet<SymbolId> = model.exprs.symbols_of(&values).into_iter().collect();
    let all = model.measures.iter().map(|(symbol, _)| *symbol).zip(columns);
    all.filter(|(symbol, _)| used.contains(symbol)).collect()
}

/// Writes the measured variables in blocks.
fn measured_blocks(
    blocks: Blocks,
    variables: &Grouped,
    form: &mut BlockForm,
    namer: &mut Namer<'_>,
) -> Vec<BlockEquation> {
    let mut equations = Vec::with_capacity(variables.places.len());
    for (vector, _) in &variables.places {
        let list = blocks.get(vector).cloned().unwrap_or_default();
        let right = list.into_iter().map(|((kind, column), block)| {
            let letter = match kind {
                STATE => 'C',
                INPUT => 'D',
                _ => 'F',
            };
            namer.term(form, block, letter, column, matches!(kind, RATE | INPUT_RATE))
        });
        let right = right.collect();
        equations.push(BlockEquation {
            left: vec![BlockTerm {
                negative: false,
                factor: BlockFactor::One,
                vector: *vector,
                rate: false,
            }],
            right,
        });
    }
    equations
}

/// Returns the vectors of the values of sources, and which of these are zero.
fn source_vectors(model: &Model, system: &StateSystem, ports: &[PortId], form: &mut BlockForm) -> (Grouped, Vec<bool>) {
    let (mut source_keys, mut source_values, mut is_zero) = (Vec::new(), Vec::new(), Vec::new());
    for port in ports {
        let id = model.graph.ports[port.index()].element;
        let element = &model.graph.elements[id.index()];
        let Law::Source { values, .. } = &element.law else {
            unreachable!("invariant: a linear model has no laws but sources that are sources")
        };
        let value = values[(port.0 - element.ports.start) as usize];
        is_zero.push(system.exprs.is_zero(value));
        source_keys.push(stripped(&model.element_name(id)));
        source_values.push(lgm_algebra::expr::print::text(&system.exprs, value));
    }
    (group(form, &source_keys, &source_values, false), is_zero)
}

/// Writes an equation for each vector of rates: the rates on the left, its own first, and all else on the right.
fn block_equations(blocks: Blocks, form: &mut BlockForm, namer: &mut Namer<'_>) {
    for (vector, list) in blocks {
        let mut equation = BlockEquation {
            left: Vec::new(),
            right: Vec::new(),
        };
        let own = (RATE, vector);
        let mut list: Vec<_> = list.into_iter().collect();
        list.sort_by_key(|(key, _)| (*key != own, *key));
        for ((kind, column), block) in list {
            let term = namer.term(form, block, letter_of(kind), column, matches!(kind, RATE | INPUT_RATE));
            match kind {
                RATE => equation.left.push(term),
                _ => equation.right.push(term),
            }
        }
        form.equations.push(equation);
    }
}

/// Returns the block form of a linear system. The states of `system` are co-energy variables.
pub(crate) fn block_form<F: Present>(
    problem: Problem<'_>,
    system: &mut StateSystem,
    field: &mut F,
) -> Result<BlockForm, Failure> {
    let Problem {
        model,
        graph,
        causality,
        ..
    } = problem;
    let measured = measured_by_sources(model, measure_columns(model, graph, &causality.structure));
    let wanted: Vec<u32> = measured.iter().map(|(_, signed)| signed.column).collect();
    let reduced = reduce(
        model,
        causality,
        field,
        &wanted,
        Solve::Conjugates,
        Sharing::nothing(),
        MOST_ENTRIES,
    )?;
    let mut form = BlockForm::default();
    let names: Vec<String> = system.states[..reduced.independent.len()]
        .iter()
        .map(|state| state.name.to_string())
        .collect();
    let keys: Vec<String> = names.iter().map(|name| stripped(name)).collect();
    let states = group(&mut form, &keys, &names, true);
    let (sources, is_zero) = source_vectors(model, system, &reduced.sources, &mut form);
    let mut exprs = std::mem::take(&mut system.exprs);
    let places = Places {
        known: reduced.known,
        states: &states,
        sources: &sources,
        is_zero: &is_zero,
    };
    let mut blocks = Blocks::new();
    for ((k, row), port) in reduced.rates.iter().enumerate().zip(&reduced.independent) {
        let law = &model.graph.elements[model.graph.ports[port.index()].element.index()].law;
        // A storage law by its value remains w - M z' = 0, one by its inverse z' - K w = 0.
        let is_turned = matches!(
            law,
            Law::Storage {
                form: StorageForm::Direct,
                ..
            }
        );
        for (column, value) in row {
            let value = field.present(&mut exprs, value);
            let Some(place) = places.of(*column) else { continue };
            // Rates are on the left.
            let value = if is_turned == (place.0 == RATE) {
                exprs.neg(value)
            } else {
                value
            };
            put(&mut blocks, &form, states.places[k], place, value);
        }
    }
    let names: Vec<String> = measured
        .iter()
        .map(|(symbol, _)| exprs.symbol_info(*symbol).name.to_string())
        .collect();
    let variables = group(&mut form, &names, &names, true);
    let mut measures = Blocks::new();
    for ((k, row), (_, signed)) in reduced.wanted.iter().enumerate().zip(&measured) {
        for (column, value) in row {
            let value = field.present(&mut exprs, value);
            let value = if signed.negative { exprs.neg(value) } else { value };
            let Some(place) = places.of(*column) else { continue };
            put(&mut measures, &form, variables.places[k], place, value);
        }
    }
    let mut namer = Namer {
        exprs: &mut exprs,
        known: FxHashMap::default(),
        placed: FxHashMap::default(),
        counts: FxHashMap::default(),
    };
    know_elements(problem, &reduced.independent, &states, &form, &mut namer, field);
    block_equations(blocks, &mut form, &mut namer);
    form.measured = measured_blocks(measures, &variables, &mut form, &mut namer);
    output_blocks(system, &mut form, &states, &mut namer);
    system.exprs = exprs;
    Ok(form)
}

/// Registers the matrices of storage elements, couplers and dissipators under the names of their elements.
fn know_elements<F: Present>(
    problem: Problem<'_>,
    independent: &[PortId],
    states: &Grouped,
    form: &BlockForm,
    namer: &mut Namer<'_>,
    field: &mut F,
) {
    let model = problem.model;
    // For each vector of states, the matrix of its elements, unless they have dependent ports.
    let mut own: BTreeMap<usize, (String, Option<MatrixBlock>)> = BTreeMap::new();
    for (k, port) in independent.iter().enumerate() {
        let id = model.graph.ports[port.index()].element;
        let (vector, row) = states.places[k];
        let size = form.vectors[vector].entries.len();
        let entry = own.entry(vector).or_insert_with(|| {
            let block = MatrixBlock {
                rows: size,
                columns: size,
                entries: Vec::new(),
            };
            (stripped(&model.element_name(id)), Some(block))
        });
        let element = &model.graph.elements[id.index()];
        let Law::Storage { value, .. } = &element.law else {
            unreachable!("invariant: only storage has states")
        };
        for column in 0..value.columns {
            let id = value.get((port.0 - element.ports.start) as usize, column);
            let other = PortId(element.ports.start + column as u32);
            let place = independent.binary_search(&other).map(|at| states.places[at]);
            let value = field.from_expression(&model.exprs, id);
            match (value, place, &mut entry.1) {
                (Ok(value), ..) if field.is_zero(&value) => {}
                (Ok(value), Ok((there, column)), Some(block)) if there == vector => {
                    let value = field.present(namer.exprs, &value);
                    block.entries.push((row as u32, column as u32, value));
                }
                (_, _, block) => *block = None,
            }
        }
    }
    for (name, block) in own.into_values() {
        if let Some(mut block) = block {
            block.entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
            namer.know(block, &name);
        }
    }
    for id in (0..model.graph.elements.len() as u32).map(ElementId) {
        let (Law::Coupler { matrix, .. }
        | Law::Dissipator(Dissipator::Resistance(matrix) | Dissipator::Conductance(matrix))) =
            &model.graph.elements[id.index()].law
        else {
            continue;
        };
        let mut block = MatrixBlock {
            rows: matrix.rows,
            columns: matrix.columns,
            entries: Vec::new(),
        };
        for (at, entry) in matrix.entries.iter().enumerate() {
            let Ok(value) = field.from_expression(&model.exprs, *entry) else {
                continue;
            };
            if !field.is_zero(&value) {
                let value = field.present(namer.exprs, &value);
                let (row, column) = (at / matrix.columns, at % matrix.columns);
                block.entries.push((row as u32, column as u32, value));
            }
        }
        namer.know(block, &stripped(&model.element_name(id)));
    }
}

/// Writes the outputs over states, inputs and input rates, from the matrices of the system if it has them.
fn output_blocks(system: &StateSystem, form: &mut BlockForm, states: &Grouped, namer: &mut Namer<'_>) {
    let numbers;
    let linear: &LinearForm<ExprId> = match (&system.matrices.symbolic, &system.matrices.numeric) {
        (Some(symbolic), _) => symbolic,
        (None, Some(numeric)) => {
            let mut to_expr = |value: &f64| namer.exprs.number(shortest_decimal(*value));
            numbers = LinearForm {
                a: SparseMatrix::zeros(0, 0),
                b: SparseMatrix::zeros(0, 0),
                c: numeric.c.map(&mut to_expr),
                d: numeric.d.map(&mut to_expr),
                e: SparseMatrix::zeros(0, 0),
                f: numeric.f.map(&mut to_expr),
                x_offset: None,
                y_offset: None,
            };
            &numbers
        }
        (None, None) => return,
    };
    let keyed = |names: &[String]| names.iter().map(|name| stripped(name)).collect::<Vec<_>>();
    let names: Vec<String> = system.outputs.iter().map(|output| output.name.to_string()).collect();
    let outputs = group(form, &keyed(&names), &names, true);
    let names: Vec<String> = system.inputs.iter().map(|input| input.name.to_string()).collect();
    let inputs = group(form, &keyed(&names), &names, true);
    // States other than storage: declared integrals, and those added for outputs.
    let names: Vec<String> = system.states[states.places.len()..]
        .iter()
        .map(|state| state.name.to_string())
        .collect();
    let others = group(form, &keyed(&names), &names, true);
    let mut blocks = Blocks::new();
    for (kind, matrix) in [(STATE, &linear.c), (INPUT, &linear.d), (INPUT_RATE, &linear.f)] {
        for (row, entries) in matrix.rows.iter().enumerate() {
            for (column, value) in entries {
                let column = *column as usize;
                let place = match (kind, column.checked_sub(states.places.len())) {
                    (STATE, None) => states.places[column],
                    (STATE, Some(other)) => others.places[other],
                    _ => inputs.places[column],
                };
                put(&mut blocks, form, outputs.places[row], (kind, place), *value);
            }
        }
    }
    for (vector, list) in blocks {
        let mut right = Vec::with_capacity(list.len());
        for ((kind, column), block) in list {
            let letter = match kind {
                STATE => 'C',
                INPUT => 'D',
                _ => 'F',
            };
            right.push(namer.term(form, block, letter, column, kind == INPUT_RATE));
        }
        let output = BlockTerm {
            negative: false,
            factor: BlockFactor::One,
            vector,
            rate: false,
        };
        form.outputs.push(BlockEquation {
            left: vec![output],
            right,
        });
    }
}
