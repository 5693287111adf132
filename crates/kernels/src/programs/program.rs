//! Programs over arrays: the computation of a kernel, as loops over lanes of straight-line code.
//!
//! Evaluators run this form, and emitters print it. A program is a list of loops that run in order. Each loop runs its body once for every
//! lane `0 .. count`; no lane reads what another lane of the same loop stores. Straight-line code is a loop with one lane.

use super::operation::{Binary, Space, Unary};

/// The result of an instruction of a body, as the index of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

/// The computation of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The loops, in the order of execution.
    pub loops: Vec<Loop>,
    /// Numbers that differ from lane to lane, read through [`Space::Numbers`].
    pub numbers: Vec<f64>,
    /// Tables of indices that are not arithmetic progressions.
    pub indices: Vec<u32>,
    /// The size of working memory in doubles; each is written before it is read.
    pub temporaries: usize,
    /// The number of results; each is stored once.
    pub outputs: usize,
}

/// A body and its number of lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The number of lanes, at least 1.
    pub count: u32,
    /// The instructions; each refers only to earlier ones.
    pub body: Vec<Instruction>,
    /// The stored results.
    pub stores: Vec<Store>,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Instruction {
    /// A number, the same in all lanes.
    Number(f64),
    /// A number from memory.
    Load(Space, Index),
    /// An operation on one register.
    Unary(Unary, Register),
    /// An operation on two registers.
    Binary(Binary, Register, Register),
    /// The second register if the first is not 0, otherwise the third.
    Select(Register, Register, Register),
}

/// The index of a space that a lane uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// `first + stride * lane`; with stride 0 the same in all lanes.
    Affine {
        /// The index of lane 0.
        first: u32,
        /// The step from one lane to the next.
        stride: i32,
    },
    /// `indices[first + lane]` of the program.
    Table {
        /// The position of lane 0 in [`Program::indices`].
        first: u32,
    },
}

/// Stores a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The stored register.
    pub value: Register,
    /// The target of the store.
    pub target: Target,
    /// The index in the target.
    pub index: Index,
}

/// The target of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The kernel's results.
    Output,
    /// Working memory, read later through [`Space::Temporaries`].
    Temporary,
}

impl Index {
    /// Returns the index of one number.
    pub fn fixed(first: u32) -> Index {
        Index::Affine { first, stride: 0 }
    }

    /// Returns true if all lanes use the same number.
    pub fn is_uniform(self) -> bool {
        matches!(self, Index::Affine { stride: 0, .. })
    }

    /// Returns the index that a lane uses.
    pub fn of_lane(self, lane: u32, indices: &[u32]) -> u32 {
        match self {
            Index::Affine { first, stride } => (i64::from(first) + i64::from(stride) * i64::from(lane)) as u32,
            Index::Table { first } => indices[(first + lane) as usize],
        }
    }

    /// Returns the index without its first lanes.
    pub(super) fn ahead(self, lanes: u32) -> Index {
        match self {
            Index::Affine { stride, .. } => Index::Affine {
                first: self.of_lane(lanes, &[]),
                stride,
            },
            Index::Table { first } => Index::Table { first: first + lanes },
        }
    }

    /// Returns the greatest index that any lane uses.
    fn greatest(self, count: u32, indices: &[u32]) -> u32 {
        match self {
            Index::Affine { .. } => self.of_lane(0, indices).max(self.of_lane(count - 1, indices)),
            Index::Table { first } => {
                let table = &indices[first as usize..(first + count) as usize];
                table.iter().copied().max().unwrap_or(0)
            }
        }
    }
}

impl Instruction {
    /// Returns the registers that the instruction reads.
    pub fn operands(&self) -> impl Iterator<Item = Register> + use<> {
        let list = match *self {
            Instruction::Number(_) | Instruction::Load(..) => [None; 3],
            Instruction::Unary(_, a) => [Some(a), None, None],
            Instruction::Binary(_, a, b) => [Some(a), Some(b), None],
            Instruction::Select(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        list.into_iter().flatten()
    }
}

impl Loop {
    /// For each instruction, returns true if its result is the same in all lanes, so that it is computed once.
    pub fn uniform(&self) -> Vec<bool> {
        let mut uniform: Vec<bool> = Vec::with_capacity(self.body.len());
        for instruction in &self.body {
            let same = match instruction {
                Instruction::Load(_, index) => index.is_uniform(),
                _ => instruction.operands().all(|register| uniform[register.0 as usize]),
            };
            uniform.push(same);
        }
        uniform
    }
}

impl Program {
    /// Returns the number of values of a space that the program needs: the largest index plus 1.
    pub fn needs(&self, space: Space) -> usize {
        let mut needs = 0;
        for entry in &self.loops {
            for instruction in &entry.body {
                if let Instruction::Load(from, index) = instruction
                    && *from == space
                {
                    needs = needs.max(index.greatest(entry.count, &self.indices) as usize + 1);
                }
            }
        }
        needs
    }
}
