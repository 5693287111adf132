//! Programs as machine code, generated in process by Cranelift.
//!
//! Loops remain loops, slightly unrolled and two lanes at a time if memory allows. Straight-line code is cut into functions of bounded
//! size, so that the compile time grows no faster than the program.

mod code;
mod emit;
mod emitter;
mod lanes;
mod library;

pub(crate) use code::{Code, Pointers};

use super::operation::{Binary, Unary};
use super::program::{Loop, Program};
use crate::native::library::MathFunctions;
use cranelift_codegen::ir::AbiParam;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, default_libcall_names};

/// The number of instructions at which a function is closed.
const FUNCTION_SIZE: usize = 400;

/// Compiles a program to machine code; `None` if Cranelift cannot generate it, such as on unsupported machines. Interpretation gives the
/// same results.
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
    let library = MathFunctions::declare(module, program)?;
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

/// Groups consecutive loops into functions.
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
