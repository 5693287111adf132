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

/// A function of arrays: reads its arguments, writes [`Kernel::outputs`] numbers. Cheap to clone.
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
    /// How much of each argument is read: parameters, states, inputs, rates, unknowns.
    needs: [usize; 5],
}

/// Machine code that is made when it begins to pay: many kernels of a system are called once, or never.
#[cfg(feature = "native")]
#[derive(Debug, Default)]
struct Native {
    wanted: bool,
    calls: AtomicU32,
    code: OnceLock<Option<native::Code>>,
}

#[cfg(feature = "native")]
impl Native {
    /// Calls that are interpreted before machine code is made.
    const PATIENCE: u32 = 2;

    /// The code, where this call is to use it.
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

    /// How many numbers it writes.
    pub fn outputs(&self) -> usize {
        self.inner.program.outputs
    }

    /// Doubles of working memory that a call needs.
    pub fn scratch(&self) -> usize {
        self.inner.program.temporaries + self.inner.portable.registers()
    }

    /// Makes machine code now, not when the kernel was called a few times; says whether there is any. For runs in parallel, which
    /// would wait for it, and for measurements. Results are the same before and after.
    pub fn prepare(&self) -> bool {
        #[cfg(feature = "native")]
        return self.inner.native.wanted && self.inner.native.make(&self.inner.program).is_some();
        #[cfg(not(feature = "native"))]
        false
    }

    /// What it computes.
    pub fn program(&self) -> &Program {
        &self.inner.program
    }

    /// Computes the outputs. Any numbers are allowed, NaN included. Nothing is allocated, but for the third call, at which
    /// machine code is made (see [`Kernel::prepare`]).
    ///
    /// Panics where `scratch`, `out` or a part of the arguments is shorter than what is used of it.
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

    /// The outputs as a new vector, for what is called once.
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
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Row r holds entries `row_starts[r] .. row_starts[r + 1]`; one longer than there are rows.
    pub row_starts: Vec<usize>,
    /// The column of each entry, ascending within a row.
    pub columns_of: Vec<usize>,
    /// The entries, row by row.
    pub values: Kernel,
}

impl SparseKernel {
    /// How many entries are stored; all others are zero whatever the arguments.
    pub fn stored(&self) -> usize {
        self.columns_of.len()
    }
}

/// How kernels are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelOptions {
    /// Machine code, where this build can make it; the portable evaluator otherwise.
    pub native: bool,
}

impl Default for KernelOptions {
    fn default() -> KernelOptions {
        KernelOptions { native: true }
    }
}
