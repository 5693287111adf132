//! Functions of the mathematics library that programs call.

use crate::programs::operation::{Binary, Unary};
use crate::programs::program::Program;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Linkage, Module};
use rustc_hash::FxHashMap;

/// Functions of the mathematics library that a program calls.
#[derive(Default)]
pub(super) struct MathFunctions {
    pub(super) unary: FxHashMap<Unary, FuncId>,
    pub(super) binary: FxHashMap<Binary, FuncId>,
}

impl MathFunctions {
    pub(super) fn declare(module: &mut JITModule, program: &Program) -> Option<MathFunctions> {
        use crate::programs::program::Instruction;
        let mut library = MathFunctions::default();
        let signature = |module: &JITModule, operands: usize| -> Signature {
            let mut signature = module.make_signature();
            signature.params.resize(operands, AbiParam::new(types::F64));
            signature.returns.push(AbiParam::new(types::F64));
            signature
        };
        let import = |module: &mut JITModule, name: String, operands: usize| {
            let signature = signature(module, operands);
            module.declare_function(&name, Linkage::Import, &signature).ok()
        };
        for instruction in program.loops.iter().flat_map(|entry| &entry.body) {
            match instruction {
                Instruction::Unary(operation, _) if operation.is_library_function() => {
                    let id = import(module, format!("{operation:?}"), 1)?;
                    library.unary.insert(*operation, id);
                }
                Instruction::Binary(operation, ..) if operation.is_library_function() => {
                    let id = import(module, format!("{operation:?}"), 2)?;
                    library.binary.insert(*operation, id);
                }
                _ => {}
            }
        }
        Some(library)
    }
}
