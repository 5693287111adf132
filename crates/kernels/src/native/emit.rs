//! Functions of a program as intermediate code.

use super::super::operation::{Binary, Space, Unary};
use super::super::program::{Index, Instruction, Loop, Register, Target};
use super::lanes::{Lanes, is_vectorised};
use super::{Library, Pointers};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, FuncRef, Function, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::Module;
use rustc_hash::FxHashMap;

/// Unrolled bodies have about so many instructions together.
const UNROLLED: usize = 64;

/// Where the lanes are that a body is written for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// This lane and no other: all addresses are known.
    Fixed(u32),
    /// So many lanes after the one that the loop stands at.
    Ahead(u32),
}

/// A function that is being written.
pub(super) struct Emitter<'a> {
    pub(super) builder: FunctionBuilder<'a>,
    pointer: Type,
    /// The argument: the table of pointers.
    pointers: Value,
    /// Base addresses by their offset in the table; loaded where the function begins.
    bases: FxHashMap<i32, Value>,
    unary: FxHashMap<Unary, FuncRef>,
    binary: FxHashMap<Binary, FuncRef>,
    /// For the loop that is being written: running byte offsets by their steps.
    pub(super) offsets: FxHashMap<i64, Value>,
    /// Numbers that were loaded for the lanes being written, by base, step and displacement.
    pub(super) loaded: FxHashMap<(i32, i64, i64, Type), Value>,
}

/// Writes one function that runs some loops.
pub(super) fn function(
    module: &mut JITModule,
    function: &mut Function,
    reused: &mut FunctionBuilderContext,
    loops: &[Loop],
    library: &Library,
) {
    let mut unary = FxHashMap::default();
    let mut binary = FxHashMap::default();
    for instruction in loops.iter().flat_map(|entry| &entry.body) {
        match instruction {
            Instruction::Unary(operation, _) if operation.is_library_function() => {
                let entry = unary.entry(*operation);
                entry.or_insert_with(|| module.declare_func_in_func(library.unary[operation], function));
            }
            Instruction::Binary(operation, ..) if operation.is_library_function() => {
                let entry = binary.entry(*operation);
                entry.or_insert_with(|| module.declare_func_in_func(library.binary[operation], function));
            }
            _ => {}
        }
    }
    let config = module.target_config();
    let mut builder = FunctionBuilder::new(function, reused);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let pointers = builder.block_params(entry)[0];
    let mut emitter = Emitter {
        builder,
        pointer: config.pointer_type(),
        pointers,
        bases: FxHashMap::default(),
        unary,
        binary,
        offsets: FxHashMap::default(),
        loaded: FxHashMap::default(),
    };
    for entry in loops {
        emitter.bases_of(entry);
    }
    for entry in loops {
        emitter.run(entry);
    }
    emitter.builder.ins().return_(&[]);
    emitter.builder.seal_all_blocks();
    emitter.builder.finalize(config);
}

impl Emitter<'_> {
    /// Loads the base addresses that a loop needs, where the function begins.
    fn bases_of(&mut self, entry: &Loop) {
        let mut wanted = Vec::new();
        let mut index = |index: Index| {
            if matches!(index, Index::Table { .. }) {
                wanted.push(Pointers::INDICES);
            }
        };
        for store in &entry.stores {
            index(store.index);
        }
        for instruction in &entry.body {
            if let Instruction::Load(_, at) = instruction {
                index(*at);
            }
        }
        for instruction in &entry.body {
            if let Instruction::Load(space, _) = instruction {
                wanted.push(Pointers::of_space(*space));
            }
        }
        wanted.extend(entry.stores.iter().map(|store| base_of(store.target)));
        for offset in wanted {
            if !self.bases.contains_key(&offset) {
                let flags = MemFlagsData::trusted();
                let base = self.builder.ins().load(self.pointer, flags, self.pointers, offset);
                self.bases.insert(offset, base);
            }
        }
    }

    /// Writes one loop.
    fn run(&mut self, entry: &Loop) {
        self.loaded.clear();
        if entry.count == 1 {
            let mut lanes = Lanes::new(entry, types::F64);
            lanes.uniform(self);
            lanes.body(self, Place::Fixed(0));
            return;
        }
        let width = if is_vectorised(entry) { 2 } else { 1 };
        let mut lanes = Lanes::new(entry, if width == 2 { types::F64X2 } else { types::F64 });
        lanes.uniform(self);
        let varying = lanes.varying();
        let unrolled = (UNROLLED / varying.max(1)).clamp(1, 4) as u32;
        let per_round = unrolled * width;
        let rounds = entry.count / per_round;
        if rounds > 1 {
            self.rounds(entry, &mut lanes, rounds, unrolled, width);
        }
        let done = if rounds > 1 { rounds * per_round } else { 0 };
        let mut rest = Lanes::new(entry, types::F64);
        rest.take_uniform(&lanes);
        if entry.count - done <= 8 {
            self.loaded.clear();
            for lane in done..entry.count {
                rest.body(self, Place::Fixed(lane));
            }
        } else {
            self.rest(entry, &mut rest, done);
        }
    }

    /// The lanes from `first` on, one by one in a loop.
    fn rest(&mut self, entry: &Loop, lanes: &mut Lanes<'_>, first: u32) {
        self.head(entry, i64::from(first), i64::from(entry.count), 1, |emitter| {
            emitter.loaded.clear();
            lanes.body(emitter, Place::Ahead(0));
        });
    }

    /// Rounds of some bodies each.
    fn rounds(&mut self, entry: &Loop, lanes: &mut Lanes<'_>, rounds: u32, unrolled: u32, width: u32) {
        let per_round = unrolled * width;
        let end = i64::from(rounds * per_round);
        self.head(entry, 0, end, i64::from(per_round), |emitter| {
            emitter.loaded.clear();
            for body in 0..unrolled {
                lanes.body(emitter, Place::Ahead(body * width));
            }
        });
    }

    /// A loop over lanes `first .. end`, so many at once, with one running offset for each step of an address.
    fn head(&mut self, entry: &Loop, first: i64, end: i64, at_once: i64, body: impl FnOnce(&mut Self)) {
        let mut steps: Vec<i64> = Vec::new();
        let indices = entry.body.iter().filter_map(|instruction| match instruction {
            Instruction::Load(_, index) => Some(*index),
            _ => None,
        });
        for index in indices.chain(entry.stores.iter().map(|store| store.index)) {
            let step = step_of(index);
            if step != 0 && !steps.contains(&step) {
                steps.push(step);
            }
        }
        if steps.is_empty() {
            // All lanes are the same; that can be only where nothing is stored.
            return;
        }
        let block = self.builder.create_block();
        let after = self.builder.create_block();
        let mut start: Vec<BlockArg> = Vec::new();
        for step in &steps {
            self.builder.append_block_param(block, types::I64);
            let value = self.builder.ins().iconst(types::I64, first * step);
            start.push(value.into());
        }
        self.builder.ins().jump(block, &start);
        self.builder.switch_to_block(block);
        let offsets = self.builder.block_params(block).to_vec();
        self.offsets = steps.iter().copied().zip(offsets.iter().copied()).collect();
        body(self);
        let mut next: Vec<BlockArg> = Vec::new();
        let mut leading = None;
        for (step, offset) in steps.iter().zip(&offsets) {
            let by = self.builder.ins().iconst(types::I64, step * at_once);
            let value = self.builder.ins().iadd(*offset, by);
            leading = leading.or(Some(value));
            next.push(value.into());
        }
        let leading = leading.expect("invariant: there is a step");
        let limit = self.builder.ins().iconst(types::I64, end * steps[0]);
        let goes_on = self.builder.ins().icmp(IntCC::NotEqual, leading, limit);
        self.builder.ins().brif(goes_on, block, &next, after, &[]);
        self.builder.switch_to_block(after);
        self.offsets.clear();
    }

    /// An address as a base and a displacement.
    fn address(&mut self, base: i32, index: Index, place: Place) -> (Value, i64) {
        let at = self.bases[&base];
        match (index, place) {
            (Index::Affine { first, stride }, Place::Fixed(lane)) => {
                (at, 8 * (i64::from(first) + i64::from(stride) * i64::from(lane)))
            }
            (Index::Affine { first, stride: 0 }, Place::Ahead(_)) => (at, 8 * i64::from(first)),
            (Index::Affine { first, stride }, Place::Ahead(lane)) => {
                let offset = self.offsets[&(8 * i64::from(stride))];
                let running = self.builder.ins().iadd(at, offset);
                (running, 8 * (i64::from(first) + i64::from(stride) * i64::from(lane)))
            }
            (Index::Table { first }, _) => {
                let table = self.bases[&Pointers::INDICES];
                let (entry, displacement) = match place {
                    Place::Fixed(lane) => (table, 4 * (i64::from(first) + i64::from(lane))),
                    Place::Ahead(lane) => {
                        let offset = self.offsets[&4];
                        let running = self.builder.ins().iadd(table, offset);
                        (running, 4 * (i64::from(first) + i64::from(lane)))
                    }
                };
                let (entry, displacement) = self.near(entry, displacement);
                let flags = MemFlagsData::trusted();
                let index = self.builder.ins().uload32(flags, entry, displacement);
                let three = self.builder.ins().iconst(types::I64, 3);
                let bytes = self.builder.ins().ishl(index, three);
                (self.builder.ins().iadd(at, bytes), 0)
            }
        }
    }

    /// Displacements beyond 32 bits are added to the base.
    fn near(&mut self, base: Value, displacement: i64) -> (Value, i32) {
        match i32::try_from(displacement) {
            Ok(displacement) => (base, displacement),
            Err(_) => {
                let far = self.builder.ins().iconst(types::I64, displacement);
                (self.builder.ins().iadd(base, far), 0)
            }
        }
    }

    /// Loads one number, or two neighbours, once.
    pub(super) fn load(&mut self, space: Space, index: Index, place: Place, of: Type) -> Value {
        let base = Pointers::of_space(space);
        let key = match (index, place) {
            (Index::Affine { first, stride }, Place::Fixed(lane)) => {
                Some((base, 0, i64::from(first) + i64::from(stride) * i64::from(lane), of))
            }
            (Index::Affine { first, stride }, Place::Ahead(lane)) => {
                let first = i64::from(first) + i64::from(stride) * i64::from(lane);
                Some((base, i64::from(stride), first, of))
            }
            (Index::Table { .. }, _) => None,
        };
        if let Some(value) = key.and_then(|key| self.loaded.get(&key)) {
            return *value;
        }
        let (address, displacement) = self.address(base, index, place);
        let (address, displacement) = self.near(address, displacement);
        // Neighbours need not lie on a multiple of their common size.
        let flags = MemFlagsData::new().with_notrap();
        let value = self.builder.ins().load(of, flags, address, displacement);
        if let Some(key) = key {
            self.loaded.insert(key, value);
        }
        value
    }

    /// Stores one number, or two neighbours.
    pub(super) fn store(&mut self, value: Value, target: Target, index: Index, place: Place) {
        let (address, displacement) = self.address(base_of(target), index, place);
        let (address, displacement) = self.near(address, displacement);
        let flags = MemFlagsData::new().with_notrap();
        self.builder.ins().store(flags, value, address, displacement);
    }

    /// One operation on one number.
    pub(super) fn unary(&mut self, operation: Unary, a: Value) -> Value {
        if let Some(function) = self.unary.get(&operation) {
            let call = self.builder.ins().call(*function, &[a]);
            return self.builder.inst_results(call)[0];
        }
        match operation {
            Unary::Negate => self.builder.ins().fneg(a),
            Unary::Absolute => self.builder.ins().fabs(a),
            Unary::Floor => self.builder.ins().floor(a),
            Unary::SquareRoot => self.builder.ins().sqrt(a),
            Unary::Sign => {
                let (zero, one) = (self.constant(0.0), self.constant(1.0));
                let one = self.builder.ins().fcopysign(one, a);
                let is_zero = self.builder.ins().fcmp(FloatCC::Equal, a, zero);
                let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, a, a);
                let sign = self.builder.ins().select(is_nan, a, one);
                self.builder.ins().select(is_zero, zero, sign)
            }
            _ => {
                let zero = self.constant(0.0);
                let condition = self.builder.ins().fcmp(FloatCC::Equal, a, zero);
                self.truth(condition)
            }
        }
    }

    /// One operation on two numbers; conditions are numbers too.
    pub(super) fn binary(&mut self, operation: Binary, a: Value, b: Value) -> Value {
        if let Some(function) = self.binary.get(&operation) {
            let call = self.builder.ins().call(*function, &[a, b]);
            return self.builder.inst_results(call)[0];
        }
        match operation {
            Binary::Add => self.builder.ins().fadd(a, b),
            Binary::Subtract => self.builder.ins().fsub(a, b),
            Binary::Multiply => self.builder.ins().fmul(a, b),
            Binary::Divide => self.builder.ins().fdiv(a, b),
            Binary::Minimum => self.builder.ins().fmin(a, b),
            Binary::Maximum => self.builder.ins().fmax(a, b),
            Binary::And | Binary::Or => {
                let (a, b) = (self.holds(a), self.holds(b));
                let both = if operation == Binary::And {
                    self.builder.ins().band(a, b)
                } else {
                    self.builder.ins().bor(a, b)
                };
                self.truth(both)
            }
            _ => {
                let code = match operation {
                    Binary::Less => FloatCC::LessThan,
                    Binary::LessEqual => FloatCC::LessThanOrEqual,
                    Binary::Equal => FloatCC::Equal,
                    _ => FloatCC::NotEqual,
                };
                let condition = self.builder.ins().fcmp(code, a, b);
                self.truth(condition)
            }
        }
    }

    /// The second where the first is not 0, the third elsewhere.
    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let condition = self.holds(condition);
        self.builder.ins().select(condition, a, b)
    }

    pub(super) fn constant(&mut self, value: f64) -> Value {
        self.builder.ins().f64const(value)
    }

    /// Whether a number is not 0; NaN is not.
    fn holds(&mut self, value: Value) -> Value {
        let zero = self.constant(0.0);
        self.builder.ins().fcmp(FloatCC::NotEqual, value, zero)
    }

    /// 1 or 0
    fn truth(&mut self, condition: Value) -> Value {
        let (one, zero) = (self.constant(1.0), self.constant(0.0));
        self.builder.ins().select(condition, one, zero)
    }
}

/// Bytes from one lane to the next.
fn step_of(index: Index) -> i64 {
    match index {
        Index::Affine { stride, .. } => 8 * i64::from(stride),
        Index::Table { .. } => 4,
    }
}

fn base_of(target: Target) -> i32 {
    match target {
        Target::Output => Pointers::OUT,
        Target::Temporary => Pointers::of_space(Space::Temporaries),
    }
}

/// Whether a register's instruction works on two lanes at a time as it stands.
pub(super) fn has_vector_form(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Number(_) | Instruction::Load(..) => true,
        Instruction::Unary(operation, _) => matches!(
            operation,
            Unary::Negate | Unary::Absolute | Unary::Floor | Unary::SquareRoot
        ),
        Instruction::Binary(operation, ..) => matches!(
            operation,
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Minimum | Binary::Maximum
        ),
        Instruction::Select(..) => false,
    }
}

/// The values of a body's registers.
pub(super) type Values = FxHashMap<Register, Value>;
