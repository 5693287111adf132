//! Bodies of loops during construction: equal instructions are merged.

use super::operation::{Binary, Space, Unary};
use super::program::{Index, Instruction, Loop, Register, Store};
use rustc_hash::FxHashMap;

/// The position of a leaf in all lanes.
#[derive(Clone, Copy)]
pub(crate) enum Fitted {
    /// The same number in all lanes.
    Number(f64),
    /// An index into the table of numbers.
    Numbers(Index),
    /// An index into the space of the leaf.
    Place(Index),
}

/// An instruction with its number stored as bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Number(u64),
    Load(Space, Index),
    Unary(Unary, Register),
    Binary(Binary, Register, Register),
    Select(Register, Register, Register),
}

/// A body under construction.
#[derive(Default)]
pub(crate) struct Builder {
    body: Vec<Instruction>,
    stores: Vec<Store>,
    made: FxHashMap<Key, Register>,
}

impl Builder {
    pub(crate) fn len(&self) -> usize {
        self.body.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Adds an instruction, or returns the existing equal one.
    pub(crate) fn push(&mut self, instruction: Instruction) -> Register {
        let key = match instruction {
            Instruction::Number(value) => Key::Number(value.to_bits()),
            Instruction::Load(space, index) => Key::Load(space, index),
            Instruction::Unary(operation, a) => Key::Unary(operation, a),
            Instruction::Binary(operation, a, b) => Key::Binary(operation, a, b),
            Instruction::Select(a, b, c) => Key::Select(a, b, c),
        };
        let body = &mut self.body;
        *self.made.entry(key).or_insert_with(|| {
            body.push(instruction);
            Register(body.len() as u32 - 1)
        })
    }

    pub(crate) fn store(&mut self, store: Store) {
        self.stores.push(store);
    }

    /// Appends all instructions of another body.
    pub(crate) fn append(&mut self, other: &Loop) {
        let mut registers: Vec<Register> = Vec::with_capacity(other.body.len());
        for instruction in &other.body {
            let of = |register: Register| registers[register.0 as usize];
            let moved = match *instruction {
                Instruction::Number(_) | Instruction::Load(..) => *instruction,
                Instruction::Unary(operation, a) => Instruction::Unary(operation, of(a)),
                Instruction::Binary(operation, a, b) => Instruction::Binary(operation, of(a), of(b)),
                Instruction::Select(a, b, c) => Instruction::Select(of(a), of(b), of(c)),
            };
            registers.push(self.push(moved));
        }
        for store in &other.stores {
            self.stores.push(Store {
                value: registers[store.value.0 as usize],
                ..*store
            });
        }
    }

    pub(crate) fn finish(self, count: u32) -> Loop {
        Loop {
            count,
            body: self.body,
            stores: self.stores,
        }
    }
}
