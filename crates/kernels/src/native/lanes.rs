//! One or two lanes of a loop's body as intermediate code.

use crate::native::emitter::{Emitter, Place, Values, has_vector_form};
use crate::programs::operation::Space;
use crate::programs::program::{Index, Instruction, Loop, Register, Store, Target};
use cranelift_codegen::ir::immediates::Uimm8;
use cranelift_codegen::ir::{ConstantData, Endianness, InstBuilder, MemFlagsData, Type, Value, types};

/// The minimum length of a loop that is vectorised.
const SHORTEST_VECTORISED: u32 = 8;

/// A body and the properties of its registers.
pub(super) struct Lanes<'a> {
    entry: &'a Loop,
    is_uniform: Vec<bool>,
    /// `F64` or `F64X2`.
    of: Type,
    /// Registers that are equal in all lanes, as single numbers.
    shared: Values,
    /// The same registers, duplicated in both lanes.
    spread: Values,
}

/// Returns true if a loop is run two lanes at a time: every varying instruction has a vector form, and most of its loads and stores are in
/// pairs.
pub(super) fn is_vectorised(entry: &Loop) -> bool {
    if entry.count < SHORTEST_VECTORISED {
        return false;
    }
    let uniform = entry.uniform();
    let varying = || {
        entry
            .body
            .iter()
            .zip(&uniform)
            .filter(|pair| !*pair.1)
            .map(|pair| pair.0)
    };
    if !varying().all(has_vector_form) {
        return false;
    }
    let operations = varying()
        .filter(|instruction| !matches!(instruction, Instruction::Load(..)))
        .count();
    let single_loads = varying()
        .filter(|instruction| match instruction {
            Instruction::Load(space, index) => !in_pairs(*index, |index| loads(entry, *space, index)),
            _ => false,
        })
        .count();
    let single_stores = entry
        .stores
        .iter()
        .filter(|store| !in_pairs(store.index, |index| stored(entry, store.target, index).is_some()))
        .count();
    2 * (single_loads + single_stores) <= operations
}

/// Returns true if two lanes of an index are adjacent, or if they interleave with a neighbouring pair that is also wanted.
fn in_pairs(index: Index, wanted: impl Fn(Index) -> bool) -> bool {
    match index {
        Index::Affine { stride: 1, .. } => true,
        Index::Affine { first, stride: 2 } => {
            let neighbour = |first| wanted(Index::Affine { first, stride: 2 });
            neighbour(first + 1) || first > 0 && neighbour(first - 1)
        }
        _ => false,
    }
}

fn loads(entry: &Loop, space: Space, index: Index) -> bool {
    entry.body.contains(&Instruction::Load(space, index))
}

fn stored(entry: &Loop, target: Target, index: Index) -> Option<Store> {
    let mut stores = entry.stores.iter();
    stores
        .find(|store| store.target == target && store.index == index)
        .copied()
}

impl<'a> Lanes<'a> {
    pub(super) fn new(entry: &'a Loop, of: Type) -> Lanes<'a> {
        Lanes {
            entry,
            is_uniform: entry.uniform(),
            of,
            shared: Values::default(),
            spread: Values::default(),
        }
    }

    /// Returns the number of instructions that differ between lanes.
    pub(super) fn varying(&self) -> usize {
        self.is_uniform.iter().filter(|uniform| !**uniform).count()
    }

    /// Writes values that are equal in all lanes.
    pub(super) fn uniform(&mut self, emitter: &mut Emitter<'_>) {
        for (position, instruction) in self.entry.body.iter().enumerate() {
            if !self.is_uniform[position] {
                continue;
            }
            let value = match *instruction {
                Instruction::Number(value) => emitter.constant(value),
                Instruction::Load(space, index) => emitter.load(space, index, Place::Fixed(0), types::F64),
                Instruction::Unary(operation, a) => emitter.unary(operation, self.shared[&a]),
                Instruction::Binary(operation, a, b) => emitter.binary(operation, self.shared[&a], self.shared[&b]),
                Instruction::Select(c, a, b) => emitter.select(self.shared[&c], self.shared[&a], self.shared[&b]),
            };
            self.shared.insert(Register(position as u32), value);
        }
        if self.of == types::F64 {
            return;
        }
        for (register, value) in &self.shared {
            let spread = emitter.builder.ins().splat(self.of, *value);
            self.spread.insert(*register, spread);
        }
    }

    /// Takes the shared registers that were already written for the same loop.
    pub(super) fn take_uniform(&mut self, other: &Lanes<'a>) {
        self.shared.clone_from(&other.shared);
    }

    /// Writes the body for one lane or two.
    pub(super) fn body(&mut self, emitter: &mut Emitter<'_>, place: Place) {
        let is_pair = self.of != types::F64;
        let shared = if is_pair { &self.spread } else { &self.shared };
        let mut values: Values = Values::default();
        for (position, instruction) in self.entry.body.iter().enumerate() {
            if self.is_uniform[position] {
                continue;
            }
            let of = |register: Register| *shared.get(&register).unwrap_or_else(|| &values[&register]);
            let value = match *instruction {
                Instruction::Number(_) => unreachable!("invariant: numbers are the same in all lanes"),
                Instruction::Load(space, index) if is_pair => self.load_pair(emitter, space, index, place),
                Instruction::Load(space, index) => emitter.load(space, index, place, types::F64),
                Instruction::Unary(operation, a) => emitter.unary(operation, of(a)),
                Instruction::Binary(operation, a, b) => emitter.binary(operation, of(a), of(b)),
                Instruction::Select(c, a, b) => emitter.select(of(c), of(a), of(b)),
            };
            values.insert(Register(position as u32), value);
        }
        let of = |register: Register| *shared.get(&register).unwrap_or_else(|| &values[&register]);
        for store in &self.entry.stores {
            let value = of(store.value);
            if !is_pair {
                emitter.store(value, store.target, store.index, place);
                continue;
            }
            match store.index {
                Index::Affine { stride: 1, .. } => emitter.store(value, store.target, store.index, place),
                Index::Affine { first, stride: 2 } => {
                    let at = |first| Index::Affine { first, stride: 2 };
                    let neighbour = |first| stored(self.entry, store.target, at(first));
                    if let Some(upper) =
                        neighbour(first + 1).filter(|_| starts_pair(first, |first| neighbour(first).is_some()))
                    {
                        let upper = of(upper.value);
                        let low = interleave(emitter, value, upper, false);
                        let high = interleave(emitter, value, upper, true);
                        emitter.store(low, store.target, store.index, place);
                        emitter.store(high, store.target, store.index, next(place));
                    } else if !(first > 0 && starts_pair(first - 1, |first| neighbour(first).is_some())) {
                        store_singly(emitter, value, store, place);
                    }
                }
                _ => store_singly(emitter, value, store, place),
            }
        }
    }

    /// Loads two lanes of a number from memory.
    fn load_pair(&self, emitter: &mut Emitter<'_>, space: Space, index: Index, place: Place) -> Value {
        if let Index::Affine { first, stride } = index {
            if stride == 1 {
                return emitter.load(space, index, place, types::F64X2);
            }
            let at = |first| Index::Affine { first, stride: 2 };
            let wanted = |first| loads(self.entry, space, at(first));
            if stride == 2 {
                let starts = starts_pair(first, wanted);
                if starts || first > 0 && starts_pair(first - 1, wanted) {
                    let even = if starts { first } else { first - 1 };
                    let low = emitter.load(space, at(even), place, types::F64X2);
                    let high = emitter.load(space, at(even), next(place), types::F64X2);
                    return interleave(emitter, low, high, !starts);
                }
            }
        }
        let low = emitter.load(space, index, place, types::F64);
        let high = emitter.load(space, index, next(place), types::F64);
        let both = emitter.builder.ins().scalar_to_vector(types::F64X2, low);
        emitter.builder.ins().insertlane(both, high, Uimm8::from(1u8))
    }
}

/// Returns true if an index with stride 2 is the lower one of a pair, counted from the first of consecutive wanted indices.
fn starts_pair(first: u32, wanted: impl Fn(u32) -> bool) -> bool {
    if !wanted(first) || !wanted(first + 1) {
        return false;
    }
    let mut before = 0;
    while first > before && wanted(first - before - 1) {
        before += 1;
    }
    before % 2 == 0
}

fn next(place: Place) -> Place {
    match place {
        Place::Fixed(lane) => Place::Fixed(lane + 1),
        Place::Ahead(lane) => Place::Ahead(lane + 1),
    }
}

/// Returns the lower or the upper numbers of two pairs.
fn interleave(emitter: &mut Emitter<'_>, a: Value, b: Value, upper: bool) -> Value {
    let half = |start: u8| (start..start + 8).chain(start + 16..start + 24).collect::<Vec<u8>>();
    let mask = half(if upper { 8 } else { 0 });
    let mask = emitter.builder.func.dfg.immediates.push(ConstantData::from(mask));
    let flags = MemFlagsData::new().with_endianness(Endianness::Little);
    let a = emitter.builder.ins().bitcast(types::I8X16, flags, a);
    let b = emitter.builder.ins().bitcast(types::I8X16, flags, b);
    let mixed = emitter.builder.ins().shuffle(a, b, mask);
    emitter.builder.ins().bitcast(types::F64X2, flags, mixed)
}

fn store_singly(emitter: &mut Emitter<'_>, value: Value, store: &Store, place: Place) {
    let low = emitter.builder.ins().extractlane(value, Uimm8::from(0u8));
    let high = emitter.builder.ins().extractlane(value, Uimm8::from(1u8));
    emitter.store(low, store.target, store.index, place);
    emitter.store(high, store.target, store.index, next(place));
}
