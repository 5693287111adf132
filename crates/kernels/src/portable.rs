//! A portable interpreter whose instructions work on a chunk of lanes at a time.
//!
//! Each instruction is dispatched once for the lanes of a chunk, so that most time is spent in loops over slices, which the compiler
//! vectorises.

use super::Arguments;
use super::programs::operation::{Binary, Space, Unary};
use super::programs::program::{Index, Instruction, Loop, Program, Register, Target};

/// The number of lanes of a chunk: enough to amortise the dispatch, few enough for registers to stay in the L1 cache.
const LANES: usize = 64;

/// A program with registers shared by results whose lifetimes do not overlap.
#[derive(Clone, Debug)]
pub(crate) struct Portable {
    loops: Vec<Prepared>,
    /// The size of all registers, in doubles.
    registers: usize,
}

/// One loop, prepared for interpretation.
#[derive(Clone, Debug)]
struct Prepared {
    /// Instructions that run once, before any lane.
    once: Vec<Step>,
    /// Instructions that run for every chunk of lanes.
    each: Vec<Step>,
    lanes: usize,
}

/// An instruction with the registers of its operands and its result.
#[derive(Clone, Copy, Debug)]
enum Step {
    Number(u32, f64),
    Load(u32, Space, Index),
    Unary(Unary, u32, u32),
    Binary(Binary, u32, u32, u32),
    Select(u32, [u32; 3]),
    Store(u32, Target, Index),
}

impl Portable {
    pub(crate) fn new(program: &Program) -> Portable {
        let mut registers = 0;
        let loops = program
            .loops
            .iter()
            .map(|entry| {
                let (prepared, used) = prepare(entry);
                registers = registers.max(used * prepared.lanes);
                prepared
            })
            .collect();
        Portable { loops, registers }
    }

    /// Returns the size of working memory in addition to the program's temporaries, in doubles.
    pub(crate) fn registers(&self) -> usize {
        self.registers
    }

    pub(crate) fn run(&self, program: &Program, at: &Arguments<'_>, scratch: &mut [f64], out: &mut [f64]) {
        let (temporaries, registers) = scratch.split_at_mut(program.temporaries);
        let mut memory = Memory {
            program,
            at,
            temporaries,
            out,
        };
        for (entry, prepared) in program.loops.iter().zip(&self.loops) {
            if entry.count == 1 {
                for step in prepared.once.iter().chain(&prepared.each) {
                    run_single(step, registers, &mut memory);
                }
                continue;
            }
            let lanes = prepared.lanes;
            for step in &prepared.once {
                run_chunk(step, registers, lanes, 0, lanes, &mut memory);
            }
            let count = entry.count as usize;
            for first in (0..count).step_by(lanes) {
                let active = lanes.min(count - first);
                for step in &prepared.each {
                    run_chunk(step, registers, lanes, first, active, &mut memory);
                }
            }
        }
    }
}

/// Assigns registers to results; the flag of each instruction is true if it runs once instead of for every chunk.
fn prepare(entry: &Loop) -> (Prepared, usize) {
    let uniform = entry.uniform();
    // Results that all chunks use live to the end; the others to their last use.
    let end = entry.body.len();
    let mut last_use = vec![0; entry.body.len()];
    for (position, instruction) in entry.body.iter().enumerate() {
        for operand in instruction.operands() {
            last_use[operand.0 as usize] = position;
        }
    }
    for store in &entry.stores {
        last_use[store.value.0 as usize] = end;
    }
    for (last, uniform) in last_use.iter_mut().zip(&uniform) {
        if *uniform && entry.count > 1 {
            *last = end;
        }
    }
    let mut free: Vec<u32> = Vec::new();
    let mut used = 0;
    let mut place = vec![0; entry.body.len()];
    let mut prepared = Prepared {
        once: Vec::new(),
        each: Vec::new(),
        lanes: LANES.min(entry.count as usize),
    };
    // Instructions that run once come first, so that no other result has taken their registers before.
    let order = (0..entry.body.len()).filter(|position| uniform[*position]);
    let order: Vec<usize> = if entry.count > 1 {
        order
            .chain((0..entry.body.len()).filter(|position| !uniform[*position]))
            .collect()
    } else {
        (0..entry.body.len()).collect()
    };
    for position in order {
        let instruction = &entry.body[position];
        let result = free.pop().unwrap_or_else(|| {
            used += 1;
            used - 1
        });
        place[position] = result;
        let of = |register: Register| place[register.0 as usize];
        let step = match *instruction {
            Instruction::Number(value) => Step::Number(result, value),
            Instruction::Load(space, index) => Step::Load(result, space, index),
            Instruction::Unary(operation, a) => Step::Unary(operation, result, of(a)),
            Instruction::Binary(operation, a, b) => Step::Binary(operation, result, of(a), of(b)),
            Instruction::Select(a, b, c) => Step::Select(result, [of(a), of(b), of(c)]),
        };
        if uniform[position] && entry.count > 1 {
            prepared.once.push(step);
        } else {
            prepared.each.push(step);
        }
        // The result's register differs from those of its operands, because a chunk is read while it is written.
        let mut operands: Vec<Register> = instruction.operands().collect();
        operands.sort_unstable();
        operands.dedup();
        for operand in operands {
            if last_use[operand.0 as usize] == position {
                free.push(of(operand));
            }
        }
        if last_use[position] == 0 && position > 0 {
            // Nothing reads the result.
            free.push(result);
        }
    }
    for store in &entry.stores {
        let step = Step::Store(place[store.value.0 as usize], store.target, store.index);
        prepared.each.push(step);
    }
    (prepared, used as usize)
}

/// All memory outside the registers.
struct Memory<'a> {
    program: &'a Program,
    at: &'a Arguments<'a>,
    temporaries: &'a mut [f64],
    out: &'a mut [f64],
}

impl Memory<'_> {
    fn space(&self, space: Space) -> &[f64] {
        match space {
            Space::Time => std::slice::from_ref(&self.at.time),
            Space::Parameters => self.at.parameters,
            Space::States => self.at.states,
            Space::Inputs => self.at.inputs,
            Space::Rates => self.at.rates,
            Space::Unknowns => self.at.unknowns,
            Space::Numbers => &self.program.numbers,
            Space::Temporaries => self.temporaries,
        }
    }
}

/// Runs one step of straight-line code: registers are single numbers.
fn run_single(step: &Step, registers: &mut [f64], memory: &mut Memory<'_>) {
    let get = |register: u32| registers[register as usize];
    let (result, value) = match *step {
        Step::Number(result, value) => (result, value),
        Step::Load(result, space, index) => {
            let index = index.of_lane(0, &memory.program.indices);
            (result, memory.space(space)[index as usize])
        }
        Step::Unary(operation, result, a) => (result, operation.apply(get(a))),
        Step::Binary(operation, result, a, b) => (result, operation.apply(get(a), get(b))),
        Step::Select(result, [c, a, b]) => (result, if get(c) != 0.0 { get(a) } else { get(b) }),
        Step::Store(value, target, index) => {
            let index = index.of_lane(0, &memory.program.indices) as usize;
            match target {
                Target::Output => memory.out[index] = get(value),
                Target::Temporary => memory.temporaries[index] = get(value),
            }
            return;
        }
    };
    registers[result as usize] = value;
}

/// Runs one step for lanes `first .. first + active`; register k is `registers[k * lanes ..]`.
fn run_chunk(step: &Step, registers: &mut [f64], lanes: usize, first: usize, active: usize, memory: &mut Memory<'_>) {
    match *step {
        Step::Number(result, value) => registers[result as usize * lanes..][..active].fill(value),
        Step::Load(result, space, index) => {
            let result = &mut registers[result as usize * lanes..][..active];
            load(result, memory.space(space), index, first, &memory.program.indices);
        }
        Step::Unary(operation, result, a) => {
            let (result, [a]) = apart(registers, lanes, active, result, [a]);
            unary(operation, result, a);
        }
        Step::Binary(operation, result, a, b) => {
            let (result, [a, b]) = apart(registers, lanes, active, result, [a, b]);
            binary(operation, result, a, b);
        }
        Step::Select(result, operands) => {
            let (result, [c, a, b]) = apart(registers, lanes, active, result, operands);
            for (lane, result) in result.iter_mut().enumerate() {
                *result = if c[lane] != 0.0 { a[lane] } else { b[lane] };
            }
        }
        Step::Store(value, target, index) => {
            let value = &registers[value as usize * lanes..][..active];
            let target = match target {
                Target::Output => &mut *memory.out,
                Target::Temporary => &mut *memory.temporaries,
            };
            store(target, value, index, first, &memory.program.indices);
        }
    }
}

/// Returns the lanes of a result and of its operands, which are in other registers.
fn apart<const N: usize>(
    registers: &mut [f64],
    lanes: usize,
    active: usize,
    result: u32,
    operands: [u32; N],
) -> (&mut [f64], [&[f64]; N]) {
    let at = result as usize * lanes;
    let (before, rest) = registers.split_at_mut(at);
    let (own, after) = rest.split_at_mut(lanes);
    let (before, after) = (&*before, &*after);
    let operands = operands.map(|operand| {
        let start = operand as usize * lanes;
        if start < at {
            &before[start..][..active]
        } else {
            &after[start - at - lanes..][..active]
        }
    });
    (&mut own[..active], operands)
}

fn load(result: &mut [f64], space: &[f64], index: Index, first: usize, indices: &[u32]) {
    match index {
        Index::Affine { first: base, stride: 0 } => result.fill(space[base as usize]),
        Index::Affine { first: base, stride: 1 } => {
            let start = base as usize + first;
            result.copy_from_slice(&space[start..][..result.len()]);
        }
        Index::Affine { first: base, stride } if stride > 0 => {
            let stride = stride as usize;
            let start = base as usize + first * stride;
            for (result, value) in result.iter_mut().zip(space[start..].iter().step_by(stride)) {
                *result = *value;
            }
        }
        Index::Affine { .. } => {
            for (lane, result) in result.iter_mut().enumerate() {
                *result = space[index.of_lane((first + lane) as u32, indices) as usize];
            }
        }
        Index::Table { first: base } => {
            let table = &indices[base as usize + first..][..result.len()];
            for (result, index) in result.iter_mut().zip(table) {
                *result = space[*index as usize];
            }
        }
    }
}

fn store(target: &mut [f64], value: &[f64], index: Index, first: usize, indices: &[u32]) {
    match index {
        Index::Affine { first: base, stride: 1 } => {
            let start = base as usize + first;
            target[start..][..value.len()].copy_from_slice(value);
        }
        Index::Affine { first: base, stride } if stride > 0 => {
            let stride = stride as usize;
            let start = base as usize + first * stride;
            for (target, value) in target[start..].iter_mut().step_by(stride).zip(value) {
                *target = *value;
            }
        }
        _ => {
            for (lane, value) in value.iter().enumerate() {
                target[index.of_lane((first + lane) as u32, indices) as usize] = *value;
            }
        }
    }
}

/// Dispatches once, then loops: each arm is a separate loop.
fn unary(operation: Unary, result: &mut [f64], a: &[f64]) {
    macro_rules! each {
        ($($name:ident)*) => {
            match operation {
                $(Unary::$name => {
                    for (result, a) in result.iter_mut().zip(a) {
                        *result = Unary::$name.apply(*a);
                    }
                })*
            }
        };
    }
    each!(Negate Absolute Sign Floor SquareRoot Not Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Exp ExpMinusOne Log)
}

fn binary(operation: Binary, result: &mut [f64], a: &[f64], b: &[f64]) {
    macro_rules! each {
        ($($name:ident)*) => {
            match operation {
                $(Binary::$name => {
                    for ((result, a), b) in result.iter_mut().zip(a).zip(b) {
                        *result = Binary::$name.apply(*a, *b);
                    }
                })*
            }
        };
    }
    each!(Add Subtract Multiply Divide Minimum Maximum Less LessEqual Equal NotEqual And Or Atan2 Power)
}
