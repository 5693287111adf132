//! Generates the functions of a program as intermediate code.

use super::Pointers;
use super::lanes::{Lanes, is_vectorised};
use crate::native::emitter::{Emitter, Place, base_of, step_of};
use crate::native::library::MathFunctions;
use crate::programs::program::{Index, Instruction, Loop};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, Function, InstBuilder, MemFlagsData, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::Module;
use rustc_hash::FxHashMap;

/// The approximate total number of instructions of unrolled bodies.
const UNROLLED: usize = 64;

/// Writes one function that runs some loops.
pub(super) fn function(
    module: &mut JITModule,
    function: &mut Function,
    reused: &mut FunctionBuilderContext,
    loops: &[Loop],
    library: &MathFunctions,
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
    /// Loads the base addresses that a loop needs at the beginning of the function.
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

    /// Writes the lanes from `first` on, one by one in a loop.
    fn rest(&mut self, entry: &Loop, lanes: &mut Lanes<'_>, first: u32) {
        self.head(entry, i64::from(first), i64::from(entry.count), 1, |emitter| {
            emitter.loaded.clear();
            lanes.body(emitter, Place::Ahead(0));
        });
    }

    /// Writes rounds of `unrolled` bodies each.
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

    /// Writes a loop over lanes `first .. end`, several at a time, with one running offset for each address step.
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
            // All lanes are equal, which is possible only if nothing is stored.
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
}
