//! A function of intermediate code under construction: addresses, numbers and operations.

use crate::native::Pointers;
use crate::programs::operation::{Binary, Space, Unary};
use crate::programs::program::{Index, Instruction, Register, Target};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{FuncRef, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use rustc_hash::FxHashMap;

/// The lanes of a generated body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Only this lane: all addresses are known.
    Fixed(u32),
    /// The offset from the current lane of the loop.
    Ahead(u32),
}

/// A function under construction.
pub(super) struct Emitter<'a> {
    pub(super) builder: FunctionBuilder<'a>,
    pub(super) pointer: Type,
    /// The argument: the table of pointers.
    pub(super) pointers: Value,
    /// Base addresses by their offset in the table, loaded at the beginning of the function.
    pub(super) bases: FxHashMap<i32, Value>,
    pub(super) unary: FxHashMap<Unary, FuncRef>,
    pub(super) binary: FxHashMap<Binary, FuncRef>,
    /// The running byte offsets of the current loop, by step.
    pub(super) offsets: FxHashMap<i64, Value>,
    /// Numbers already loaded for the current lanes, by base, step and displacement.
    pub(super) loaded: FxHashMap<(i32, i64, i64, Type), Value>,
}

/// Returns the number of bytes from one lane to the next.
pub(super) fn step_of(index: Index) -> i64 {
    match index {
        Index::Affine { stride, .. } => 8 * i64::from(stride),
        Index::Table { .. } => 4,
    }
}

pub(super) fn base_of(target: Target) -> i32 {
    match target {
        Target::Output => Pointers::OUT,
        Target::Temporary => Pointers::of_space(Space::Temporaries),
    }
}

/// Returns true if a register's instruction works on two lanes at a time unchanged.
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

impl Emitter<'_> {
    /// Returns an address as a base and a displacement.
    pub(super) fn address(&mut self, base: i32, index: Index, place: Place) -> (Value, i64) {
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

    /// Adds displacements beyond 32 bits to the base.
    pub(super) fn near(&mut self, base: Value, displacement: i64) -> (Value, i32) {
        match i32::try_from(displacement) {
            Ok(displacement) => (base, displacement),
            Err(_) => {
                let far = self.builder.ins().iconst(types::I64, displacement);
                (self.builder.ins().iadd(base, far), 0)
            }
        }
    }

    /// Loads one number, or two adjacent ones, only once.
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
        // Adjacent numbers need not be aligned to their common size.
        let flags = MemFlagsData::new().with_notrap();
        let value = self.builder.ins().load(of, flags, address, displacement);
        if let Some(key) = key {
            self.loaded.insert(key, value);
        }
        value
    }

    /// Stores one number, or two adjacent ones.
    pub(super) fn store(&mut self, value: Value, target: Target, index: Index, place: Place) {
        let (address, displacement) = self.address(base_of(target), index, place);
        let (address, displacement) = self.near(address, displacement);
        let flags = MemFlagsData::new().with_notrap();
        self.builder.ins().store(flags, value, address, displacement);
    }

    /// Writes one operation on one number.
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
            Unary::Not => {
                let zero = self.constant(0.0);
                let condition = self.builder.ins().fcmp(FloatCC::Equal, a, zero);
                self.truth(condition)
            }
            Unary::Sin | Unary::Cos | Unary::Tan | Unary::Asin | Unary::Acos | Unary::Atan => not_called(),
            Unary::Sinh | Unary::Cosh | Unary::Tanh | Unary::Asinh => not_called(),
            Unary::Exp | Unary::ExpMinusOne | Unary::Log => not_called(),
        }
    }

    /// Writes one operation on two numbers; conditions are numbers too.
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
            Binary::Less => self.compared(FloatCC::LessThan, a, b),
            Binary::LessEqual => self.compared(FloatCC::LessThanOrEqual, a, b),
            Binary::Equal => self.compared(FloatCC::Equal, a, b),
            Binary::NotEqual => self.compared(FloatCC::NotEqual, a, b),
            Binary::Atan2 | Binary::Power => not_called(),
        }
    }

    fn compared(&mut self, code: FloatCC, a: Value, b: Value) -> Value {
        let condition = self.builder.ins().fcmp(code, a, b);
        self.truth(condition)
    }

    /// Selects `a` if the condition is not 0, otherwise `b`.
    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let condition = self.holds(condition);
        self.builder.ins().select(condition, a, b)
    }

    pub(super) fn constant(&mut self, value: f64) -> Value {
        self.builder.ins().f64const(value)
    }

    /// Returns true if a number is not 0; false for NaN.
    pub(super) fn holds(&mut self, value: Value) -> Value {
        let zero = self.constant(0.0);
        self.builder.ins().fcmp(FloatCC::NotEqual, value, zero)
    }

    /// Converts a condition to 1 or 0.
    pub(super) fn truth(&mut self, condition: Value) -> Value {
        let (one, zero) = (self.constant(1.0), self.constant(0.0));
        self.builder.ins().select(condition, one, zero)
    }
}

/// Unreachable: library functions are declared before the body that calls them.
fn not_called() -> ! {
    unreachable!("invariant: a function of the library is called")
}
