//! The names of a model's quantities in C, and its loop matrices in terms of these names.

use crate::code::c::dialect::{Members, RULES, entry_place};
use crate::code::c::loops::Pattern;
use crate::code::named::{Book, Formulas, Naming, matrices};
use crate::code::subject::Subject;
use std::cell::RefCell;

/// Names of arguments, of parts of the file, and of functions that expressions call. Quantities with these names are renamed.
const TAKEN: &str = "t x u du dx y w p k out at row column model parameters entries jacobian real residuals loop_matrix pairs holds \
    runs given follows most solve_loops step newton iterate sin cos tan asin acos atan atan2 sinh cosh tanh asinh exp \
    expm1 log sqrt fabs floor ceil pow trunc sinf cosf tanf asinf acosf atanf atan2f sinhf coshf tanhf asinhf expf \
    expm1f logf sqrtf fabsf floorf ceilf powf truncf sign_of minimum maximum power";

/// The names of a model's quantities in C.
pub(in crate::code::c) struct Names<'a> {
    /// The members of the parameter struct.
    pub(in crate::code::c) members: Vec<String>,
    pub(in crate::code::c) table: Members,
    pub(super) book: Book,
    /// None if the equations read arrays.
    pub(in crate::code::c) formulas: Option<RefCell<Formulas<'a>>>,
}

impl<'a> Names<'a> {
    /// Creates the names; `in_arrays` is true if the functions cannot use named quantities.
    pub(in crate::code::c) fn new(subject: &Subject<'a>, in_arrays: impl FnOnce(&Members) -> bool) -> Names<'a> {
        let book = Book::new(
            subject,
            &Naming {
                rules: RULES,
                taken: TAKEN,
                longest: usize::MAX,
                entry: |parameter, member, at| format!("p->{}", entry_place(parameter, member, at)),
            },
        );
        let members = book.members.clone();
        let table = Members::new(subject, &members);
        let formulas = Formulas::new(subject).filter(|_| !in_arrays(&table));
        Names {
            members,
            table,
            book,
            formulas: formulas.map(RefCell::new),
        }
    }

    /// Returns the sparsity patterns of the loop matrices.
    pub(super) fn patterns(&self, subject: &Subject<'_>) -> [Pattern; 4] {
        let Some(formulas) = &self.formulas else {
            return subject.matrices().map(Pattern::of);
        };
        let mut formulas = formulas.borrow_mut();
        matrices(&mut formulas)
            .map(|(rows, entries)| Pattern::of_entries(rows, entries.iter().map(|entry| (entry.0, entry.1))))
    }
}
