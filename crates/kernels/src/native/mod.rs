//! Programs as machine code, made in process by Cranelift.
//!
//! Loops stay loops, unrolled a little and two lanes at a time where memory allows; straight-line code is cut into
//! functions of bounded size, so that the time to compile grows no faster than the program.

mod code;
mod emit;
mod emitter;
mod lanes;
mod library;

pub(crate) use code::{Code, Pointers};

use super::operation::{Binary, Unary};
use super::program::{Loop, Program};
use crate::native::library::Library;
use cranelift_codegen::ir::AbiParam;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};

/// A function is closed when it holds so many instructions.
const FUNCTION_SIZE: usize = 400;

/// Machine code of a program; none where Cranelift cannot make it, as on machines that it does not know. Interpreting does the same.
pub(crate) fn compile(program: &Program) -> Option<Code> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).ok()?;
    }
    let isa = cranelift_native::builder().ok()?;
    let isa = isa.finish(settings::Flags::new(flags)).ok()?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    for unary in Unary::ALL {
        if let Some(function) = code::library_unary(unary) {
            builder.symbol(format!("{unary:?}"), function);
        }
    }
    for binary in Binary::ALL {
        if let Some(function) = code::library_binary(binary) {
            builder.symbol(format!("{binary:?}"), function);
        }
    }
    let mut module = JITModule::new(builder);
    let functions = define(&mut module, program)?;
    module.finalize_definitions().ok()?;
    Some(Code::new(module, &functions))
}

/// Defines the functions of a program, to be called in order.
fn define(module: &mut JITModule, program: &Program) -> Option<Vec<FuncId>> {
    let library = Library::declare(module, program)?;
    let pointer = module.target_config().pointer_type();
    let mut signature = module.make_signature();
    signature.params.push(AbiParam::new(pointer));
    let mut functions = Vec::new();
    let mut context = module.make_context();
    let mut reused = FunctionBuilderContext::new();
    for loops in chunks(&program.loops) {
        let function = module.declare_anonymous_function(&signature).ok()?;
        context.func.signature = signature.clone();
        emit::function(module, &mut context.func, &mut reused, loops, &library);
        module.define_function(function, &mut context).ok()?;
        module.clear_context(&mut context);
        functions.push(function);
    }
    Some(functions)
}

/// Consecutive loops that make a function together.
fn chunks(loops: &[Loop]) -> Vec<&[Loop]> {
    let mut chunks = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (at, entry) in loops.iter().enumerate() {
        if at > start && size + entry.body.len() > FUNCTION_SIZE {
            chunks.push(&loops[start..at]);
            (start, size) = (at, 0);
        }
        size += entry.body.len();
    }
    if start < loops.len() {
        chunks.push(&loops[start..]);
    }
    chunks
}
