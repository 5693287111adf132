//! The only unsafe code of this module: calling compiled functions, and freeing their memory.
//!
//! Soundness:
//! - Only this module creates the functions of [`Code`]. Each has the signature [`Function`], and lives as long as the module that holds
//!   it, which [`Code`] owns and frees when dropped.
//! - It reads and writes only through the pointers that it is given, at the indices of a `Program`. `Kernel::call` has checked every slice
//!   against `Program::needs`, `temporaries` and `outputs` before, and tables of numbers and indices belong to the program. All accesses
//!   are therefore within slices that are borrowed during the call, mutably if they are written.
//! - After it is finalised the module is never changed or inspected, so threads share only immutable code.

use crate::Arguments;
use crate::programs::operation::{Binary, Unary};
use crate::programs::program::Program;
use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use std::mem::ManuallyDrop;

/// The pointers for compiled functions: one for each space in order, then results and indices.
#[repr(C)]
pub(crate) struct Pointers {
    spaces: [*const f64; 8],
    out: *mut f64,
    indices: *const u32,
}

impl Pointers {
    /// The offset of the pointer to the results.
    pub(crate) const OUT: i32 = 8 * size_of::<*const f64>() as i32;
    /// The offset of the pointer to the indices.
    pub(crate) const INDICES: i32 = 9 * size_of::<*const f64>() as i32;
    /// Returns the offset of the pointer to a space.
    pub(crate) fn of_space(space: crate::programs::operation::Space) -> i32 {
        space as i32 * size_of::<*const f64>() as i32
    }
}

type Function = unsafe extern "C" fn(*const Pointers);

/// Compiled functions, to be called in order.
pub(crate) struct Code {
    functions: Vec<Function>,
    module: ManuallyDrop<JITModule>,
}

// SAFETY: see the soundness notes above: nothing in the module is read or written after `new`, and `drop` has exclusive access.
unsafe impl Send for Code {}
// SAFETY: as for `Send`; `run` only calls code.
unsafe impl Sync for Code {}

impl std::fmt::Debug for Code {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Code({} functions)", self.functions.len())
    }
}

impl Code {
    /// Takes a finalised module with the functions to call, each of the signature [`Function`].
    pub(super) fn new(module: JITModule, functions: &[FuncId]) -> Code {
        let functions = functions
            .iter()
            .map(|id| {
                let address = module.get_finalized_function(*id);
                // SAFETY: the function was declared with this signature and the C convention of this machine.
                unsafe { std::mem::transmute::<*const u8, Function>(address) }
            })
            .collect();
        Code {
            functions,
            module: ManuallyDrop::new(module),
        }
    }

    /// Runs the functions. The caller has checked that every slice has the length that the program needs.
    pub(crate) fn run(&self, program: &Program, at: &Arguments<'_>, temporaries: &mut [f64], out: &mut [f64]) {
        let pointers = Pointers {
            spaces: [
                &raw const at.time,
                at.parameters.as_ptr(),
                at.states.as_ptr(),
                at.inputs.as_ptr(),
                at.rates.as_ptr(),
                at.unknowns.as_ptr(),
                program.numbers.as_ptr(),
                temporaries.as_mut_ptr(),
            ],
            out: out.as_mut_ptr(),
            indices: program.indices.as_ptr(),
        };
        for function in &self.functions {
            // SAFETY: the pointers are valid for all accesses of the function, as explained above.
            unsafe { function(&raw const pointers) };
        }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the module is taken once, here, and none of its functions can be called afterwards.
        unsafe {
            let module = ManuallyDrop::take(&mut self.module);
            module.free_memory();
        }
    }
}

macro_rules! library {
    ($($operation:ident)*; within $($within:ident)*) => {
        /// Returns the address of a function that machine code calls.
        pub(super) fn library_unary(operation: Unary) -> Option<*const u8> {
            match operation {
                $(Unary::$operation => {
                    extern "C" fn function(a: f64) -> f64 {
                        Unary::$operation.apply(a)
                    }
                    Some(function as *const u8)
                })*
                $(Unary::$within => None,)*
            }
        }
    };
}

library!(Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Exp ExpMinusOne Log; within Negate Absolute Sign Floor SquareRoot Not);

/// Returns the address of a function of two numbers that machine code calls.
pub(super) fn library_binary(operation: Binary) -> Option<*const u8> {
    extern "C" fn atan2(a: f64, b: f64) -> f64 {
        Binary::Atan2.apply(a, b)
    }
    extern "C" fn power(a: f64, b: f64) -> f64 {
        Binary::Power.apply(a, b)
    }
    match operation {
        Binary::Atan2 => Some(atan2 as *const u8),
        Binary::Power => Some(power as *const u8),
        Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide => None,
        Binary::Minimum | Binary::Maximum | Binary::And | Binary::Or => None,
        Binary::Less | Binary::LessEqual | Binary::Equal | Binary::NotEqual => None,
    }
}
