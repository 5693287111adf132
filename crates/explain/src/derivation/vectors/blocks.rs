//! The results of a derivation in vectors as equations in blocks.

use super::super::report::Rule;
use super::super::terms::is_negative;
use super::super::variables::Reading;
use super::algebra::{Product, Sum, by_vector};
use super::eliminate::{Content, Work};
use lgm_algebra::expr::{ExprId, SymbolId, print};
use lgm_model::blocks::{BlockEquation, BlockFactor, BlockForm, BlockMatrix, BlockProduct, BlockTerm, BlockVector};
use lgm_model::system::SparseMatrix;
use rustc_hash::FxHashMap;

/// The form, and the places of vectors and matrices in it.
struct Blocks<'w, 'a> {
    work: &'w Work<'a>,
    form: BlockForm,
    vectors: FxHashMap<SymbolId, usize>,
    matrices: FxHashMap<(usize, bool), usize>,
}

impl Work<'_> {
    /// Returns the equations of the states and the outputs in blocks.
    pub(super) fn blocks(&self) -> BlockForm {
        let mut blocks = Blocks {
            work: self,
            form: BlockForm::default(),
            vectors: FxHashMap::default(),
            matrices: FxHashMap::default(),
        };
        let mut scalars: Vec<(ExprId, ExprId)> = Vec::new();
        for step in self.steps.iter().filter(|step| step.rule == Rule::Result) {
            match &step.content {
                Content::Vectors(left, right) => {
                    let equation = BlockEquation {
                        left: blocks.terms(left),
                        right: blocks.terms(right),
                    };
                    let is_output = left
                        .iter()
                        .any(|term| matches!(self.lift.table.readings.get(&term.vector), Some(Reading::Output(_))));
                    match is_output {
                        true => blocks.form.outputs.push(equation),
                        false => blocks.form.equations.push(equation),
                    }
                }
                Content::Scalars(left, right) => scalars.push((*left, *right)),
                _ => {}
            }
        }
        for (left, right) in scalars {
            let [left, right] = [left, right].map(|side| vec![blocks.plain(side)]);
            blocks.form.outputs.push(BlockEquation { left, right });
        }
        blocks.form
    }
}

impl Blocks<'_, '_> {
    /// Returns an expression as a term.
    fn plain(&mut self, value: ExprId) -> BlockTerm {
        let text = print::text(&self.work.lift.table.exprs, value);
        self.form.vectors.push(BlockVector {
            name: text.clone(),
            entries: vec![text],
            is_variable: self.work.lift.table.as_variable(value).is_some(),
        });
        BlockTerm {
            negative: false,
            factor: BlockFactor::One,
            vector: self.form.vectors.len() - 1,
            rate: false,
        }
    }

    fn terms(&mut self, sum: &Sum) -> Vec<BlockTerm> {
        let all = by_vector(sum).into_iter();
        all.map(|(vector, products)| {
            let (vector, rate) = self.vector(vector);
            let (negative, factor) = self.factor(&products);
            BlockTerm {
                negative,
                factor,
                vector,
                rate,
            }
        })
        .collect()
    }

    /// Returns the place of a vector; for the rate of a state or an input, that of the state or the input, and true.
    fn vector(&mut self, symbol: SymbolId) -> (usize, bool) {
        let lift = &self.work.lift;
        let system = lift.table.system;
        let (own, rate) = match lift.table.readings.get(&symbol) {
            Some(Reading::StateRate(state)) => (system.states[*state].symbol, true),
            Some(Reading::InputRate(input)) => (system.inputs[*input].symbol, true),
            _ => (symbol, false),
        };
        if let Some(place) = self.vectors.get(&own) {
            return (*place, rate);
        }
        let values = lift.values.iter().find(|known| known.0 == own);
        let entries = lift.entries.get(&own).cloned().unwrap_or(vec![own]);
        let entries = match values {
            Some((_, values)) => values
                .iter()
                .map(|value| print::text(&lift.table.exprs, *value))
                .collect(),
            None => entries
                .iter()
                .map(|entry| lift.table.exprs.symbol_info(*entry).name.to_string())
                .collect(),
        };
        self.form.vectors.push(BlockVector {
            name: lift.vector_name(own),
            entries,
            is_variable: true,
        });
        self.vectors.insert(own, self.form.vectors.len() - 1);
        (self.form.vectors.len() - 1, rate)
    }

    fn factor(&mut self, products: &[Product]) -> (bool, BlockFactor) {
        let exprs = &self.work.lift.table.exprs;
        if let [only] = products {
            let minus = print::text(exprs, only.scalar) == "-1";
            let is_unit = exprs.is_one(only.scalar) || minus;
            match &only.factors[..] {
                [] if is_unit => return (minus, BlockFactor::One),
                [] => return (false, BlockFactor::Scalar(only.scalar)),
                [factor] if is_unit && !factor.inverse => {
                    let place = self.matrix(factor.matrix, factor.rate);
                    return (minus, BlockFactor::Matrix(place, factor.transposed));
                }
                _ => {}
            }
        }
        let negative = products
            .iter()
            .all(|product| is_negative(&self.work.lift.table.exprs, product.scalar));
        let list = products.iter().map(|product| BlockProduct {
            scalar: product.scalar,
            is_negated: negative,
            factors: product
                .factors
                .iter()
                .map(|factor| {
                    (
                        self.matrix(factor.matrix, factor.rate),
                        factor.transposed,
                        factor.inverse,
                    )
                })
                .collect(),
        });
        (negative, BlockFactor::Sum(list.collect()))
    }

    fn matrix(&mut self, at: usize, rate: bool) -> usize {
        if let Some(place) = self.matrices.get(&(at, rate)) {
            return *place;
        }
        let named = &self.work.lift.matrices[at];
        let mut entries = SparseMatrix::zeros(named.rows, named.columns);
        let list = if rate { &named.rates } else { &named.entries };
        for (place, entry) in list.iter().enumerate() {
            if !self.work.lift.table.exprs.is_zero(*entry) {
                let (row, column) = (place / named.columns, place % named.columns);
                entries.rows[row].push((column as u32, *entry));
            }
        }
        let name = match rate {
            true => format!("der({})", named.name),
            false => named.name.clone(),
        };
        self.form.matrices.push(BlockMatrix { name, entries });
        self.matrices.insert((at, rate), self.form.matrices.len() - 1);
        self.form.matrices.len() - 1
    }
}
