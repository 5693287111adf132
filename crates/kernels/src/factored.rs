//! Partial derivatives of systems in which most states affect most others through few variables.
//!
//! If the forces at the ports of a modal block, or the voltage of a hub, are assigned before the equations, every right-hand side is short.
//! Its row of the Jacobian is long, however: a few separate entries, and multiples of the rows of the assignments. As expressions, such a
//! matrix needs one expression per entry, times the assignments. Here only the factors are expressions, and a few loops over lanes assemble
//! each row. The size and the generation time of a program are then proportional to the equations, not to their square.

use super::programs::lower::lower;
use super::programs::operation::{Binary, Space};
use super::programs::program::{Index, Instruction, Loop, Program, Register, Store, Target};
use super::{Kernel, KernelOptions, SparseKernel};
use crate::programs::layout::Layout;
use crate::programs::reroll;
use lgm_algebra::expr::{ExprId, Exprs, Gradient, GradientRow, SymbolId};
use lgm_model::system::StateSystem;

/// Assignments that depend on more columns than this keep separate rows.
const WIDE: usize = 64;

/// Matrices with fewer entries than this are written entry by entry.
const FULL: usize = 20_000;

/// Returns matrices of the partial derivatives of lists of expressions with respect to the same columns. `None` if nothing is gained, or if
/// the system has loops, because rows cannot be assembled before the loops are solved.
pub(crate) fn factored<const N: usize>(
    exprs: &Exprs,
    system: &StateSystem,
    layout: &Layout,
    columns: &[SymbolId],
    lists: [&[ExprId]; N],
    options: &KernelOptions,
) -> Option<[SparseKernel; N]> {
    let states = system.states.len();
    if !system.equations.loops.is_empty() || system.equations.assignments.is_empty() || states * states < FULL {
        return None;
    }
    let mut exprs = exprs.clone();
    let mut found = WideRows::new(&mut exprs, system, columns)?;
    let lists = lists.map(|list| {
        let rows = list.iter().map(|root| found.row(&mut exprs, *root));
        rows.collect::<Option<Vec<Partial>>>()
    });
    let mut made = Vec::with_capacity(N);
    let mut entries = 0;
    for rows in lists {
        let mut matrix = Matrix::new(&found.wide, rows?, columns.len());
        entries += matrix.entries();
        made.push(matrix.compile(&exprs, layout, options));
    }
    (entries >= FULL).then(|| made.try_into().expect("invariant: each list has its matrix"))
}

/// A row of partial derivatives: entries by column, and multiples of the rows of wide assignments.
#[derive(Clone, Debug, Default)]
struct Partial {
    own: Vec<(u32, ExprId)>,
    through: Vec<(usize, ExprId)>,
}

/// The rows of wide assignments, which refer only to earlier ones.
struct WideRows {
    gradient: Gradient,
    columns: u32,
    wide: Vec<Partial>,
}

impl WideRows {
    fn new(exprs: &mut Exprs, system: &StateSystem, columns: &[SymbolId]) -> Option<WideRows> {
        let mut found = WideRows {
            gradient: Gradient::new(exprs, columns),
            columns: columns.len() as u32,
            wide: Vec::new(),
        };
        for assignment in &system.equations.assignments {
            let row = found.gradient.row(exprs, assignment.value).ok()?;
            if row.len() > WIDE {
                let column = found.columns + found.wide.len() as u32;
                found.gradient.hold(exprs, assignment.symbol, column);
                let row = found.split(&row);
                found.wide.push(row);
            } else {
                found.gradient.define(exprs, assignment.symbol, assignment.value).ok()?;
            }
        }
        (!found.wide.is_empty()).then_some(found)
    }

    fn row(&mut self, exprs: &mut Exprs, root: ExprId) -> Option<Partial> {
        let row = self.gradient.row(exprs, root).ok()?;
        Some(self.split(&row))
    }

    fn split(&self, row: &GradientRow) -> Partial {
        let mut partial = Partial::default();
        for (column, value) in row.iter() {
            match column.checked_sub(self.columns) {
                None => partial.own.push((*column, *value)),
                Some(wide) => partial.through.push((wide as usize, *value)),
            }
        }
        partial
    }
}

/// One matrix during its conversion to a program.
struct Matrix<'w> {
    wide: &'w [Partial],
    rows: Vec<Partial>,
    columns: usize,
    /// The block of each wide assignment: assignments whose rows are added together have the same columns.
    block_of: Vec<usize>,
    /// The columns of each block, ascending; empty for blocks that no row needs.
    blocks: Vec<Vec<u32>>,
    /// The wide assignments that rows need.
    needed: Vec<bool>,
}

impl Matrix<'_> {
    fn new(wide: &[Partial], rows: Vec<Partial>, columns: usize) -> Matrix<'_> {
        let mut needed = vec![false; wide.len()];
        for (at, _) in rows.iter().flat_map(|row| &row.through) {
            needed[*at] = true;
        }
        // A row is assembled from earlier ones.
        for at in (0..wide.len()).rev() {
            if needed[at] {
                for (earlier, _) in &wide[at].through {
                    needed[*earlier] = true;
                }
            }
        }
        // Each block is identified by one of its members.
        let mut block_of: Vec<usize> = (0..wide.len()).collect();
        let find = |block_of: &[usize], mut at: usize| {
            while block_of[at] != at {
                at = block_of[at];
            }
            at
        };
        let sums = wide.iter().enumerate().map(|(at, row)| (Some(at), row));
        for (own, row) in sums.chain(rows.iter().map(|row| (None, row))) {
            let mut members = own.into_iter().chain(row.through.iter().map(|entry| entry.0));
            let Some(first) = members.next() else { continue };
            for member in members {
                let (a, b) = (find(&block_of, first), find(&block_of, member));
                block_of[a.max(b)] = a.min(b);
            }
        }
        for at in 0..wide.len() {
            block_of[at] = find(&block_of, at);
        }
        let mut blocks = vec![Vec::new(); wide.len()];
        for (at, row) in wide.iter().enumerate().filter(|(at, _)| needed[*at]) {
            blocks[block_of[at]].extend(row.own.iter().map(|entry| entry.0));
        }
        for row in &rows {
            if let Some((first, _)) = row.through.first() {
                blocks[block_of[*first]].extend(row.own.iter().map(|entry| entry.0));
            }
        }
        for block in &mut blocks {
            block.sort_unstable();
            block.dedup();
        }
        Matrix {
            wide,
            rows,
            columns,
            block_of,
            blocks,
            needed,
        }
    }

    /// Returns the columns of a row's block; `None` if the row has only its own entries.
    fn block(&self, row: &Partial) -> Option<&[u32]> {
        let (first, _) = row.through.first()?;
        Some(&self.blocks[self.block_of[*first]])
    }

    /// Returns the number of stored entries.
    fn entries(&self) -> usize {
        let of = |row: &Partial| self.block(row).map_or(row.own.len(), <[u32]>::len);
        self.rows.iter().map(of).sum()
    }

    fn compile(&mut self, exprs: &Exprs, layout: &Layout, options: &KernelOptions) -> SparseKernel {
        let (mut row_starts, mut columns_of) = (vec![0], Vec::with_capacity(self.entries()));
        for row in &self.rows {
            match self.block(row) {
                Some(block) => columns_of.extend(block.iter().map(|column| *column as usize)),
                None => columns_of.extend(row.own.iter().map(|entry| entry.0 as usize)),
            }
            row_starts.push(columns_of.len());
        }
        // All factors: those of the wide assignments first, then the rows' own entries, then their multiples.
        let needed = || self.wide.iter().zip(&self.needed).filter(|entry| *entry.1);
        let mut factors: Vec<ExprId> = Vec::new();
        for (row, _) in needed() {
            factors.extend(row.own.iter().map(|entry| entry.1));
            factors.extend(row.through.iter().map(|entry| entry.1));
        }
        factors.extend(self.rows.iter().flat_map(|row| &row.own).map(|entry| entry.1));
        factors.extend(self.rows.iter().flat_map(|row| &row.through).map(|entry| entry.1));
        let (graph, values) = lower(exprs, layout, &factors);
        let mut assembly = Assembly::new(reroll::program(&graph, &values));
        // The positions of the rows of wide assignments.
        let mut places = vec![0; self.wide.len()];
        let mut factor = assembly.factors;
        for (at, row) in self.wide.iter().enumerate().filter(|entry| self.needed[entry.0]) {
            let own = factor;
            factor += row.own.len() as u32;
            let terms: Vec<(u32, u32)> = row
                .through
                .iter()
                .zip(factor..)
                .map(|((earlier, _), factor)| (factor, places[*earlier]))
                .collect();
            factor += row.through.len() as u32;
            places[at] = assembly.wide_row(&self.blocks[self.block_of[at]], row, own, &terms);
        }
        let mut multiple = factor + self.rows.iter().map(|row| row.own.len() as u32).sum::<u32>();
        for (row, start) in self.rows.iter().zip(&row_starts) {
            let terms: Vec<(u32, u32)> = row
                .through
                .iter()
                .zip(multiple..)
                .map(|((wide, _), factor)| (factor, places[*wide]))
                .collect();
            multiple += row.through.len() as u32;
            assembly.row(self.block(row), row, factor, &terms, *start as u32);
            factor += row.own.len() as u32;
        }
        assembly.program.outputs = columns_of.len();
        SparseKernel {
            rows: self.rows.len(),
            columns: self.columns,
            row_starts,
            columns_of,
            values: Kernel::new(assembly.program, options),
        }
    }
}

/// A program that has computed factors, and assembles rows.
struct Assembly {
    program: Program,
    /// The positions of the factors in working memory.
    factors: u32,
}

impl Assembly {
    /// Creates an assembly of a program that keeps its results in working memory.
    fn new(mut program: Program) -> Assembly {
        let factors = program.temporaries as u32;
        let mut indices = std::mem::take(&mut program.indices);
        for entry in &mut program.loops {
            for store in entry.stores.iter_mut().filter(|store| store.target == Target::Output) {
                store.target = Target::Temporary;
                store.index = match store.index {
                    Index::Affine { first, stride } => Index::Affine {
                        first: first + factors,
                        stride,
                    },
                    Index::Table { first } => {
                        // Loads may use the same table.
                        let moved = indices.len() as u32;
                        let old = first as usize..(first + entry.count) as usize;
                        let list: Vec<u32> = indices[old].iter().map(|index| index + factors).collect();
                        indices.extend(list);
                        Index::Table { first: moved }
                    }
                };
            }
        }
        program.indices = indices;
        program.temporaries += program.outputs;
        program.outputs = 0;
        Assembly { program, factors }
    }

    /// Reserves working memory.
    fn room(&mut self, count: usize) -> u32 {
        let first = self.program.temporaries as u32;
        self.program.temporaries += count;
        first
    }

    /// Assembles the row of a wide assignment over the columns of its block: its own entries, and multiples of earlier rows.
    fn wide_row(&mut self, block: &[u32], row: &Partial, own: u32, terms: &[(u32, u32)]) -> u32 {
        let place = self.room(block.len());
        if row.own.len() == block.len() {
            self.sum(block.len(), Some(own), terms, 0, (Target::Temporary, place));
            return place;
        }
        let spread = match terms {
            [] => place,
            _ => self.room(block.len()),
        };
        self.sum(block.len(), None, &[], 0, (Target::Temporary, spread));
        if !row.own.is_empty() {
            let table = self.program.indices.len() as u32;
            let places = row.own.iter().map(|entry| spread + position(block, entry.0));
            self.program.indices.extend(places);
            self.program.loops.push(Loop {
                count: row.own.len() as u32,
                body: vec![Instruction::Load(Space::Temporaries, lanes(own, row.own.len()))],
                stores: vec![Store {
                    value: Register(0),
                    target: Target::Temporary,
                    index: Index::Table { first: table },
                }],
            });
        }
        if !terms.is_empty() {
            self.sum(block.len(), Some(spread), terms, 0, (Target::Temporary, place));
        }
        place
    }

    /// Assembles a matrix row: the sum of its own entries and multiples of the rows of wide assignments.
    fn row(&mut self, block: Option<&[u32]>, row: &Partial, own: u32, terms: &[(u32, u32)], start: u32) {
        let Some(block) = block else {
            return self.copy(own, start, row.own.len());
        };
        let mut done = 0;
        for (at, (column, _)) in row.own.iter().enumerate() {
            let place = position(block, *column);
            self.sum(
                (place - done) as usize,
                None,
                terms,
                done,
                (Target::Output, start + done),
            );
            self.sum(1, Some(own + at as u32), terms, place, (Target::Output, start + place));
            done = place + 1;
        }
        let rest = block.len() as u32 - done;
        self.sum(rest as usize, None, terms, done, (Target::Output, start + done));
    }

    /// Copies numbers to the results unchanged; neighbouring rows share one loop.
    fn copy(&mut self, from: u32, to: u32, count: usize) {
        if let Some(last) = self.program.loops.last_mut()
            && let ([Instruction::Load(Space::Temporaries, source)], [store]) =
                (&mut last.body[..], &mut last.stores[..])
            && store.target == Target::Output
            && let (Index::Affine { first: source, .. }, Index::Affine { first: target, .. }) = (*source, store.index)
            && source + last.count == from
            && target + last.count == to
        {
            last.count += count as u32;
            last.body[0] = Instruction::Load(Space::Temporaries, lanes(source, 2));
            store.index = lanes(target, 2);
            return;
        }
        self.sum(count, Some(from), &[], 0, (Target::Output, to));
    }

    /// Adds vectors of `count` lanes: `first`, and multiples of rows from a position on.
    fn sum(&mut self, count: usize, first: Option<u32>, terms: &[(u32, u32)], at: u32, (target, to): (Target, u32)) {
        if count == 0 {
            return;
        }
        let mut body = Vec::with_capacity(4 * terms.len() + 1);
        let mut push = |instruction: Instruction| {
            body.push(instruction);
            Register(body.len() as u32 - 1)
        };
        let mut sum = first.map(|first| push(Instruction::Load(Space::Temporaries, lanes(first, count))));
        for (factor, row) in terms {
            let factor = push(Instruction::Load(Space::Temporaries, Index::fixed(*factor)));
            let entry = push(Instruction::Load(Space::Temporaries, lanes(row + at, count)));
            let product = push(Instruction::Binary(Binary::Multiply, factor, entry));
            sum = Some(match sum {
                Some(sum) => push(Instruction::Binary(Binary::Add, sum, product)),
                None => product,
            });
        }
        let value = sum.unwrap_or_else(|| push(Instruction::Number(0.0)));
        self.program.loops.push(Loop {
            count: count as u32,
            body,
            stores: vec![Store {
                value,
                target,
                index: lanes(to, count),
            }],
        });
    }
}

/// Returns the index of consecutive numbers, one per lane.
fn lanes(first: u32, count: usize) -> Index {
    Index::Affine {
        first,
        stride: i32::from(count > 1),
    }
}

/// Returns the position of a column in its block.
fn position(block: &[u32], column: u32) -> u32 {
    let place = block.binary_search(&column);
    place.expect("invariant: a block has the columns of all rows that use it") as u32
}
