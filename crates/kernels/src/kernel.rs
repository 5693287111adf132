//! Compiled functions of arrays, and their arguments.

use crate::arguments::Arguments;
#[cfg(feature = "native")]
use crate::native;
use crate::portable::Portable;
use crate::programs::operation::Space;
use crate::programs::program::Program;
use std::sync::Arc;
#[cfg(feature = "native")]
use std::sync::OnceLock;
#[cfg(feature = "native")]
use std::sync::atomic::{AtomicU32, Ordering};

/// A function of arrays that reads its arguments and writes [`Kernel::outputs`] numbers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Kernel {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    program: Program,
    portable: Portable,
    #[cfg(feature = "native")]
    native: Native,
    /// The lengths of the arguments: parameters, states, inputs, rates, unknowns.
    needs: [usize; 5],
}

/// Machine code, generated only if it is likely to pay off: many kernels of a system are called once, or never.
#[cfg(feature = "native")]
#[derive(Debug, Default)]
struct Native {
    wanted: bool,
    calls: AtomicU32,
    code: OnceLock<Option<native::Code>>,
}

#[cfg(feature = "native")]
impl Native {
    /// The number of interpreted calls before machine code is generated.
    const PATIENCE: u32 = 2;

    /// Returns the code, if this call should use it.
    fn for_call(&self, program: &Program) -> Option<&native::Code> {
        if !self.wanted {
            return None;
        }
        match self.code.get() {
            Some(code) => code.as_ref(),
            None if self.calls.fetch_add(1, Ordering::Relaxed) < Native::PATIENCE => None,
            None => self.make(program),
        }
    }

    fn make(&self, program: &Program) -> Option<&native::Code> {
        self.code.get_or_init(|| native::compile(program)).as_ref()
    }
}

impl Kernel {
    pub(crate) fn new(program: Program, options: &KernelOptions) -> Kernel {
        #[cfg(feature = "native")]
        let native = Native {
            wanted: options.native,
            ..Native::default()
        };
        #[cfg(not(feature = "native"))]
        let _ = options;
        let portable = Portable::new(&program);
        let needs = [
            Space::Parameters,
            Space::States,
            Space::Inputs,
            Space::Rates,
            Space::Unknowns,
        ]
        .map(|space| program.needs(space));
        Kernel {
            inner: Arc::new(Inner {
                program,
                portable,
                #[cfg(feature = "native")]
                native,
                needs,
            }),
        }
    }

    /// Returns the number of results.
    pub fn outputs(&self) -> usize {
        self.inner.program.outputs
    }

    /// Returns the size of working memory that a call needs, in doubles.
    pub fn scratch(&self) -> usize {
        self.inner.program.temporaries + self.inner.portable.registers()
    }

    /// Generates machine code now instead of after several calls; returns true if there is any. For parallel runs, which would otherwise
    /// wait for it, and for measurements. Results are the same before and after.
    pub fn prepare(&self) -> bool {
        #[cfg(feature = "native")]
        return self.inner.native.wanted && self.inner.native.make(&self.inner.program).is_some();
        #[cfg(not(feature = "native"))]
        false
    }

    /// Returns the program of the kernel.
    pub fn program(&self) -> &Program {
        &self.inner.program
    }

    /// Computes the outputs. Any numbers are allowed, including NaN. No memory is allocated, except in the third call, which generates
    /// machine code (see [`Kernel::prepare`]).
    ///
    /// Panics if `scratch`, `out` or a part of the arguments is too short.
    pub fn call(&self, at: &Arguments<'_>, scratch: &mut [f64], out: &mut [f64]) {
        let inner = &*self.inner;
        let given = [
            at.parameters.len(),
            at.states.len(),
            at.inputs.len(),
            at.rates.len(),
            at.unknowns.len(),
        ];
        assert!(
            given.iter().zip(&inner.needs).all(|(given, needs)| given >= needs)
                && scratch.len() >= self.scratch()
                && out.len() >= self.outputs(),
            "invariant: arrays have the sizes of the system"
        );
        #[cfg(feature = "native")]
        if let Some(native) = inner.native.for_call(&inner.program) {
            return native.run(&inner.program, at, &mut scratch[..inner.program.temporaries], out);
        }
        inner.portable.run(&inner.program, at, scratch, out);
    }

    /// Returns the outputs as a new vector, for single calls.
    pub fn values(&self, at: &Arguments<'_>) -> Vec<f64> {
        let mut scratch = vec![0.0; self.scratch()];
        let mut out = vec![0.0; self.outputs()];
        self.call(at, &mut scratch, &mut out);
        out
    }
}

/// A sparse matrix whose nonzero entries a kernel computes.
#[derive(Clone, Debug)]
pub struct SparseKernel {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Row r has the entries `row_starts[r] .. row_starts[r + 1]`; the length is the number of rows plus 1.
    pub row_starts: Vec<usize>,
    /// The column of each entry, ascending within a row.
    pub columns_of: Vec<usize>,
    /// The entries, row by row.
    pub values: Kernel,
}

impl SparseKernel {
    /// Returns the number of stored entries; all others are always zero.
    pub fn stored(&self) -> usize {
        self.columns_of.len()
    }
}

/// Options for the construction of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelOptions {
    /// True for machine code, if this build can generate it; otherwise the portable evaluator is used.
    pub native: bool,
}

impl Default for KernelOptions {
    fn default() -> KernelOptions {
        KernelOptions { native: true }
    }
}
