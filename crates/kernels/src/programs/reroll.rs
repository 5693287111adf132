//! Converts values to programs: units of the same shape become one loop.
//!
//! Two units have the same shape if they differ only in their numbers and in the array positions that they read. Components, arrays and
//! manual repetition all become units of the same shape, so repetition need not be declared.

use super::body::{Builder, Fitted};
use super::graph::{Graph, Value, ValueId};
use super::operation::Space;
use super::program::{Index, Instruction, Loop, Program, Store, Target};
use super::units::kept;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::ops::Range;

/// The minimum length of a run of lanes with their own pattern for a separate loop.
const LONG_RUN: usize = 16;

/// Fewer irregular lanes than this are written out.
const SHORT_TABLE: usize = 8;

/// The size at which bodies of straight-line code are closed.
const STRAIGHT_BODY: usize = 256;

/// Builds the program that writes the roots to its outputs in order.
pub(crate) fn program(graph: &Graph, roots: &[ValueId]) -> Program {
    let kept = kept(graph, roots);
    let mut units = Units::new(graph, kept);
    // Stored values are in the order of creation, which is usually the order of use.
    let mut first_output = vec![None; graph.len()];
    let mut copies = Vec::new();
    for (output, root) in roots.iter().enumerate() {
        let at = &mut first_output[root.0 as usize];
        if units.kept[root.0 as usize] && at.is_none() {
            *at = Some(output as u32);
        } else {
            copies.push((*root, output as u32));
        }
    }
    for (index, output) in first_output.into_iter().enumerate() {
        if units.kept[index] {
            units.add(ValueId(index as u32), true, output);
        }
    }
    for (root, output) in copies {
        units.add(root, false, Some(output));
    }
    let mut groups: Vec<(Vec<u32>, Vec<u32>)> = std::mem::take(&mut units.groups).into_iter().collect();
    groups.sort_by_key(|(signature, _)| signature[0]);
    let mut emitter = Emitter {
        units: &units,
        program: Program {
            outputs: roots.len(),
            ..Program::default()
        },
        slots: vec![0; graph.len()],
        tables: IndexMap::default(),
        number_tables: IndexMap::default(),
    };
    // Loops that only write results, which nothing reads, wait for a later loop over the same arrays.
    let mut waiting: Vec<Loop> = Vec::new();
    let mut levels = groups.chunk_by(|a, b| a.0[0] == b.0[0]).peekable();
    while let Some(level) = levels.next() {
        let mut loops = std::mem::take(&mut waiting);
        let mut straight = Vec::new();
        for (signature, lanes) in level {
            emitter.group(signature, lanes, &mut loops, &mut straight);
        }
        super::fuse::fuse(&mut loops, &mut straight, &emitter.program.indices);
        let is_last = levels.peek().is_none();
        let may_wait = |entry: &Loop| !is_last && entry.stores.iter().all(|store| store.target == Target::Output);
        let (results, needed): (Vec<Loop>, Vec<Loop>) = loops.into_iter().partition(may_wait);
        waiting = results;
        // The search goes back only this number of loops.
        let rest = waiting.len().saturating_sub(super::fuse::REACH);
        emitter.program.loops.extend(waiting.drain(..rest));
        emitter.program.loops.extend(needed);
        emitter.program.loops.extend(join(straight));
    }
    emitter.program
}

/// Joins straight-line code into bodies of bounded size.
fn join(straight: Vec<Loop>) -> Vec<Loop> {
    let mut joined = Vec::new();
    let mut builder = Builder::default();
    for entry in straight {
        if builder.len() + entry.body.len() > STRAIGHT_BODY && !builder.is_empty() {
            joined.push(std::mem::take(&mut builder).finish(1));
        }
        builder.append(&entry);
    }
    if !builder.is_empty() {
        joined.push(builder.finish(1));
    }
    joined
}

/// One separately computed value.
struct Unit {
    value: ValueId,
    /// The index of the output.
    output: Option<u32>,
    /// The leaves, in [`Units::leaves`]: indices of arguments, bits of numbers, or ids of stored values.
    leaves: Range<usize>,
}

struct Units<'a> {
    graph: &'a Graph,
    kept: Vec<bool>,
    units: Vec<Unit>,
    leaves: Vec<u64>,
    /// Units by signature, which starts with the level.
    groups: IndexMap<Vec<u32>, Vec<u32>, FxBuildHasher>,
    /// The level of each stored value, which is higher than the levels of the stored values that its unit reads.
    level: Vec<u32>,
    /// For each value, the last unit that visited it, and the position there.
    visited: Vec<(u32, u32)>,
}

/// Positions in a signature before the instructions: the level and the target of the value.
const HEAD: usize = 2;

/// Codes of a signature. An instruction is a code followed by the positions of its operands.
const LEAF: u32 = 0;
const NUMBER: u32 = 100;
const UNARY: u32 = 200;
const BINARY: u32 = 300;
const SELECT: u32 = 400;

impl<'a> Units<'a> {
    fn new(graph: &'a Graph, kept: Vec<bool>) -> Units<'a> {
        Units {
            graph,
            kept,
            units: Vec::new(),
            leaves: Vec::new(),
            groups: IndexMap::default(),
            level: vec![0; graph.len()],
            visited: vec![(u32::MAX, 0); graph.len()],
        }
    }

    /// Adds the unit of a value, with its shape.
    fn add(&mut self, value: ValueId, keep: bool, output: Option<u32>) {
        let unit = self.units.len() as u32;
        let first = self.leaves.len();
        let mut signature = vec![0, u32::from(keep) + 2 * u32::from(output.is_some())];
        let mut level = 0;
        let mut made = 0;
        // Operands in order, then the operation; positions of operands are on a separate stack.
        let mut operands: Vec<u32> = Vec::new();
        let mut stack = vec![(value, false)];
        while let Some((id, children_done)) = stack.pop() {
            let index = id.0 as usize;
            let is_leaf = self.kept[index] && (id != value || !keep);
            let node = self.graph.node(id);
            if is_leaf || matches!(node, Value::Number(_) | Value::Argument(..)) {
                let (code, leaf) = match node {
                    _ if is_leaf => {
                        level = level.max(self.level[index] + 1);
                        (LEAF + Space::Temporaries as u32, u64::from(id.0))
                    }
                    Value::Argument(space, index) => (LEAF + space as u32, u64::from(index)),
                    Value::Number(bits) => (NUMBER, bits),
                    _ => unreachable!("invariant: leaves are arguments, numbers and kept values"),
                };
                signature.push(code);
                self.leaves.push(leaf);
                operands.push(made);
                made += 1;
                continue;
            }
            if self.visited[index].0 == unit {
                operands.push(self.visited[index].1);
                continue;
            }
            if !children_done {
                stack.push((id, true));
                let from = stack.len();
                stack.extend(node.children().map(|child| (child, false)));
                stack[from..].reverse();
                continue;
            }
            let taken = operands.len() - node.children().count();
            let code = match node {
                Value::Unary(operation, _) => UNARY + operation as u32,
                Value::Binary(operation, ..) => BINARY + operation as u32,
                _ => SELECT,
            };
            signature.push(code);
            signature.extend(operands.drain(taken..));
            self.visited[index] = (unit, made);
            operands.push(made);
            made += 1;
        }
        signature[0] = level;
        if keep {
            self.level[value.0 as usize] = level;
        }
        self.units.push(Unit {
            value,
            output,
            leaves: first..self.leaves.len(),
        });
        self.groups.entry(signature).or_default().push(unit);
    }
}

struct Emitter<'a> {
    units: &'a Units<'a>,
    program: Program,
    /// The positions of stored values in working memory.
    slots: Vec<u32>,
    /// Tables that already exist.
    tables: IndexMap<Vec<u32>, u32, FxBuildHasher>,
    number_tables: IndexMap<Vec<u64>, u32, FxBuildHasher>,
}

impl Emitter<'_> {
    /// Writes the units of one shape, as loops if they follow a pattern.
    fn group(&mut self, signature: &[u32], lanes: &[u32], loops: &mut Vec<Loop>, straight: &mut Vec<Loop>) {
        let (keep, has_output) = (signature[1] & 1 == 1, signature[1] & 2 == 2);
        if keep {
            for lane in lanes {
                let unit = &self.units.units[*lane as usize];
                self.slots[unit.value.0 as usize] = self.program.temporaries as u32;
                self.program.temporaries += 1;
            }
        }
        let leaves = self.units.units[lanes[0] as usize].leaves.len();
        // One row of positions for each leaf, and one for stored values; empty for numbers.
        let mut rows: Vec<Row> = Vec::with_capacity(leaves + 2);
        let mut code = signature[HEAD..].iter();
        for leaf in 0..leaves {
            let code = leaf_code(&mut code);
            let units = lanes.iter().map(|lane| &self.units.units[*lane as usize]);
            let entries = units.map(|unit| self.units.leaves[unit.leaves.start + leaf]);
            rows.push(if code == NUMBER {
                Row::Numbers(entries.collect())
            } else if code == LEAF + Space::Temporaries as u32 {
                Row::Places(entries.map(|value| self.slots[value as usize]).collect())
            } else {
                Row::Places(entries.map(|index| index as u32).collect())
            });
        }
        let units = || lanes.iter().map(|lane| &self.units.units[*lane as usize]);
        let mut targets = Vec::new();
        if keep {
            targets.push(Target::Temporary);
            let slots = units().map(|unit| self.slots[unit.value.0 as usize]);
            rows.push(Row::Places(slots.collect()));
        }
        if has_output {
            targets.push(Target::Output);
            rows.push(Row::Places(units().filter_map(|unit| unit.output).collect()));
        }
        // Irregular lanes are collected, so that one table serves them all.
        let mut irregular: Option<Range<usize>> = None;
        for run in runs(&rows, lanes.len()) {
            if run.len() >= LONG_RUN {
                if let Some(waiting) = irregular.take() {
                    self.irregular(signature, &rows, &targets, waiting, loops, straight);
                }
                loops.push(self.body(signature, &rows, &targets, run));
            } else {
                let start = irregular.map_or(run.start, |waiting| waiting.start);
                irregular = Some(start..run.end);
            }
        }
        if let Some(waiting) = irregular {
            self.irregular(signature, &rows, &targets, waiting, loops, straight);
        }
    }

    fn irregular(
        &mut self,
        signature: &[u32],
        rows: &[Row],
        targets: &[Target],
        lanes: Range<usize>,
        loops: &mut Vec<Loop>,
        straight: &mut Vec<Loop>,
    ) {
        if lanes.len() >= SHORT_TABLE {
            loops.push(self.body(signature, rows, targets, lanes));
            return;
        }
        for lane in lanes {
            straight.push(self.body(signature, rows, targets, lane..lane + 1));
        }
    }

    /// Returns the loop over a range of lanes.
    fn body(&mut self, signature: &[u32], rows: &[Row], targets: &[Target], lanes: Range<usize>) -> Loop {
        let fitted: Vec<Fitted> = rows.iter().map(|row| self.fit(row, &lanes)).collect();
        let mut builder = Builder::default();
        let mut registers = Vec::new();
        let mut leaf = 0;
        let mut code = signature[HEAD..].iter();
        while let Some(kind) = code.next() {
            let mut operand = || registers[*code.next().expect("invariant: signatures are complete") as usize];
            let instruction = match *kind {
                LEAF..UNARY => {
                    leaf += 1;
                    match fitted[leaf - 1] {
                        Fitted::Number(number) => Instruction::Number(number),
                        Fitted::Numbers(index) => Instruction::Load(Space::Numbers, index),
                        Fitted::Place(index) => Instruction::Load(Space::ALL[(*kind - LEAF) as usize], index),
                    }
                }
                UNARY..BINARY => {
                    let operation = super::operation::Unary::ALL[(*kind - UNARY) as usize];
                    Instruction::Unary(operation, operand())
                }
                BINARY..SELECT => {
                    let operation = super::operation::Binary::ALL[(*kind - BINARY) as usize];
                    Instruction::Binary(operation, operand(), operand())
                }
                _ => Instruction::Select(operand(), operand(), operand()),
            };
            registers.push(builder.push(instruction));
        }
        let value = *registers.last().expect("invariant: every unit computes something");
        for (target, fitted) in targets.iter().zip(&fitted[leaf..]) {
            let Fitted::Place(index) = *fitted else {
                unreachable!("invariant: results are stored at places")
            };
            builder.store(Store {
                value,
                target: *target,
                index,
            });
        }
        builder.finish(lanes.len() as u32)
    }

    /// Returns the positions of the entries of some lanes.
    fn fit(&mut self, row: &Row, lanes: &Range<usize>) -> Fitted {
        match row {
            Row::Numbers(bits) => {
                let bits = &bits[lanes.clone()];
                if bits.iter().all(|entry| *entry == bits[0]) {
                    return Fitted::Number(f64::from_bits(bits[0]));
                }
                let numbers = &mut self.program.numbers;
                let first = *self.number_tables.entry(bits.to_vec()).or_insert_with(|| {
                    let first = numbers.len() as u32;
                    numbers.extend(bits.iter().map(|entry| f64::from_bits(*entry)));
                    first
                });
                Fitted::Numbers(Index::Affine { first, stride: 1 })
            }
            Row::Places(places) => {
                let places = &places[lanes.clone()];
                let first = places[0];
                let stride = places.get(1).map_or(0, |second| step(first, *second));
                let is_affine = places.windows(2).all(|pair| step(pair[0], pair[1]) == stride);
                if is_affine && let Ok(stride) = i32::try_from(stride) {
                    return Fitted::Place(Index::Affine { first, stride });
                }
                let indices = &mut self.program.indices;
                let first = *self.tables.entry(places.to_vec()).or_insert_with(|| {
                    let first = indices.len() as u32;
                    indices.extend(places);
                    first
                });
                Fitted::Place(Index::Table { first })
            }
        }
    }
}

/// The entries of one leaf in all lanes.
enum Row {
    Numbers(Vec<u64>),
    Places(Vec<u32>),
}

fn step(from: u32, to: u32) -> i64 {
    i64::from(to) - i64::from(from)
}

/// Returns the code of the next leaf.
fn leaf_code<'a>(code: &mut impl Iterator<Item = &'a u32>) -> u32 {
    while let Some(kind) = code.next() {
        let operands = match *kind {
            LEAF..UNARY => return *kind,
            UNARY..BINARY => 1,
            BINARY..SELECT => 2,
            _ => 3,
        };
        for _ in 0..operands {
            code.next();
        }
    }
    unreachable!("invariant: a signature has as many leaves as its units")
}

/// Splits lanes into runs in which all positions are arithmetic progressions.
fn runs(rows: &[Row], count: usize) -> Vec<Range<usize>> {
    let places: Vec<&[u32]> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Places(places) => Some(&places[..]),
            Row::Numbers(_) => None,
        })
        .collect();
    let mut found = Vec::new();
    let mut start = 0;
    for lane in 1..=count {
        let goes_on = lane < count
            && (lane == start + 1
                || places
                    .iter()
                    .all(|places| step(places[lane - 1], places[lane]) == step(places[start], places[start + 1])));
        if !goes_on {
            found.push(start..lane);
            start = lane;
        }
    }
    found
}
