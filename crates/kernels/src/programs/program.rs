//! Programs over arrays: what a kernel computes, as loops over lanes of straight-line code.
//!
//! This is the form that evaluators run and emitters print. A program is a list of loops, run in order; each runs its body
//! once for every lane `0 .. count`, and what one lane stores no lane of the same loop reads. Straight-line code is a
//! loop with one lane.

use super::operation::{Binary, Space, Unary};

/// The result of an instruction of a body, by its position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

/// What a kernel computes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Loops, in the order in which they are run.
    pub loops: Vec<Loop>,
    /// Numbers that differ from lane to lane, read through [`Space::Numbers`].
    pub numbers: Vec<f64>,
    /// Tables of indices that are no arithmetic progressions.
    pub indices: Vec<u32>,
    /// Doubles of working memory, written before they are read.
    pub temporaries: usize,
    /// How many numbers it writes; every one is stored once.
    pub outputs: usize,
}

/// A body and how often it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Number of lanes, at least 1.
    pub count: u32,
    /// Instructions; each refers to earlier ones only.
    pub body: Vec<Instruction>,
    /// What is kept of the results.
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
    /// The second where the first is not 0, the third elsewhere.
    Select(Register, Register, Register),
}

/// Which number of a space a lane uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// `first + stride * lane`; with stride 0 the same in all lanes.
    Affine {
        /// The index of lane 0.
        first: u32,
        /// From one lane to the next.
        stride: i32,
    },
    /// `indices[first + lane]` of the program.
    Table {
        /// Where lane 0 is in [`Program::indices`].
        first: u32,
    },
}

/// Keeps a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// What is kept.
    pub value: Register,
    /// Where.
    pub target: Target,
    /// Which number there.
    pub index: Index,
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// The kernel's results.
    Output,
    /// Working memory, read later through [`Space::Temporaries`].
    Temporary,
}

impl Index {
    /// One number.
    pub fn fixed(first: u32) -> Index {
        Index::Affine { first, stride: 0 }
    }

    /// Whether all lanes use the same number.
    pub fn is_uniform(self) -> bool {
        matches!(self, Index::Affine { stride: 0, .. })
    }

    /// The index that a lane uses.
    pub fn of_lane(self, lane: u32, indices: &[u32]) -> u32 {
        match self {
            Index::Affine { first, stride } => (i64::from(first) + i64::from(stride) * i64::from(lane)) as u32,
            Index::Table { first } => indices[(first + lane) as usize],
        }
    }

    /// The greatest index that any lane uses.
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
    /// The registers that it reads.
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
    /// For each instruction, whether its result is the same in all lanes: it is then computed once.
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
    /// How many numbers of a space the program needs: one more than the greatest index that it reads.
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
