//! The requirements on the values of a law: constant if necessary, symmetric, nonsingular.

use crate::laws::LawReader;
use crate::laws::blame::null_vector;
use lgm_algebra::expr::ExprId;
use lgm_model::blame::{label_parameters, shown};
use lgm_model::{ElementId, Law, Matrix, StorageForm};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_syntax::ast::Item;
use num_traits::Zero;

impl<'a> LawReader<'_, 'a> {
    /// Checks that the values of a law can be used; errors are reported.
    pub fn check_law(&mut self, id: ElementId, law: &Law) -> Option<()> {
        if let Law::Storage { value, .. } = law {
            for entry in &value.entries {
                if self.varies(*entry) {
                    self.varying_value(id, *entry);
                    return None;
                }
            }
        }
        if let Law::Storage { value, form, .. } = law {
            self.check_symmetry(id, value)?;
            if *form == StorageForm::Direct {
                self.check_regular(id, value)?;
            }
        }
        Some(())
    }

    fn varying_value(&mut self, id: ElementId, entry: ExprId) {
        let span = self.graph.model.graph.elements[id.index()].law_span;
        let symbols = self.arena.exprs.symbols_of(&[entry]);
        let symbol = symbols
            .into_iter()
            .find(|symbol| self.arena.exprs.symbol_info(*symbol).kind != lgm_algebra::expr::SymbolKind::Parameter);
        let words = match symbol {
            Some(symbol) => format!("this depends on `{}`", self.arena.exprs.symbol_info(symbol).name),
            None => "this changes with time".to_string(),
        };
        let diagnostic = Diagnostic::error(
            Code::LGM0410,
            "the value of a storage element may depend only on parameters",
        )
        .label(span, words)
        .help(
            "changing the value of a storage element takes or releases power: write an `element` with a second port \
                for the change, and all laws as derivatives of one energy; see `lgm explain LGM0413`",
        );
        let diagnostic = match symbol {
            Some(symbol) => self.label_symbol(diagnostic, symbol),
            None => diagnostic,
        };
        self.report(diagnostic);
    }

    fn check_symmetry(&mut self, id: ElementId, value: &Matrix) -> Option<()> {
        for row in 0..value.rows {
            for column in 0..row {
                let (a, b) = (value.get(row, column), value.get(column, row));
                if a == b {
                    continue;
                }
                let span = self.graph.model.graph.elements[id.index()].law_span;
                let difference = self.arena.exprs.sub(a, b);
                let exact = self.exact(&[difference, a, b], span)?;
                if !exact[0].is_zero() {
                    let (low, high) = (
                        lgm_algebra::expr::to_f64(&exact[1]),
                        lgm_algebra::expr::to_f64(&exact[2]),
                    );
                    let name = self.graph.model.element_name(id);
                    let diagnostic = Diagnostic::error(
                        Code::LGM0411,
                        format!("the matrix of the storage `{name}` is not symmetric"),
                    )
                    .label(
                        span,
                        format!(
                            "entry [{}, {}] is {low}, but entry [{}, {}] is {high}",
                            row + 1,
                            column + 1,
                            column + 1,
                            row + 1
                        ),
                    )
                    .note("a storage element with a nonsymmetric matrix would create or lose energy in a closed cycle")
                    .help("make the two entries equal; an asymmetric part belongs in a dissipator or a gyrator");
                    self.report(diagnostic);
                    return None;
                }
            }
        }
        Some(())
    }

    /// Returns the description of a parameter of the element's definition that names another element for values that it excludes:
    /// "- `k`: coupling factor, below 1; for 1, use `TightlyCoupledInductors`".
    fn documented_alternative(&self, id: ElementId) -> Option<String> {
        let element = &self.graph.model.graph.elements[id.index()];
        let item = self.program.definition(&element.kind, element.law_span.source)?;
        let Item::Element(definition) = self.program.item(item) else {
            return None;
        };
        let lines = definition.doc.iter().flat_map(|doc| doc.lines());
        let found = lines
            .filter_map(|line| line.trim().strip_prefix("- "))
            .find(|line| line.contains("use `"))?;
        Some(format!("{found} (`lgm explain {}`)", element.kind))
    }

    fn check_regular(&mut self, id: ElementId, value: &Matrix) -> Option<()> {
        // Many instances with one value are checked once.
        if value.rows == 1
            && let Some(good) = self.templates.good.get(&value.entries[0])
        {
            return good.then_some(());
        }
        let span = self.graph.model.graph.elements[id.index()].law_span;
        let numbers = self.exact(&value.entries, span)?;
        let null = null_vector(&numbers, value.rows);
        let regular = null.is_none();
        if value.rows == 1 {
            self.templates.good.insert(value.entries[0], regular);
        }
        if let Some(null) = null {
            let name = self.graph.model.element_name(id);
            let exprs = &self.arena.exprs;
            let (message, words, help) = match (value.rows, exprs.as_number(value.entries[0])) {
                (1, number) => (
                    format!("the value of the storage `{name}` is zero"),
                    match number {
                        Some(_) => "this is 0".to_string(),
                        None => format!("`{}` is 0", lgm_algebra::expr::print::brief(exprs, value.entries[0])),
                    },
                    "remove the element, or give it a value".to_string(),
                ),
                (rows, _) => {
                    let ratio: Vec<String> = null.iter().map(shown).collect();
                    (
                        format!("the matrix of the storage `{name}` is singular"),
                        format!("entries in the ratio {} store nothing", ratio.join(" : ")),
                        format!("give it {rows} independent rows; motion without stored energy needs no storage"),
                    )
                }
            };
            let help = self.documented_alternative(id).unwrap_or(help);
            let exprs = &self.arena.exprs;
            let diagnostic = Diagnostic::error(Code::LGM0412, message).label(span, words).help(help);
            let diagnostic = label_parameters(&self.graph.model.parameters, exprs, diagnostic, &value.entries);
            self.report(diagnostic);
        }
        regular.then_some(())
    }
}
