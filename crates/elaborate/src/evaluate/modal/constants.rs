//! Values of a modal block as named constants.

use crate::context::constants::Role;
use crate::context::modal::{Owner, Position};
use crate::context::values::Scalar;
use crate::evaluate::Evaluator;
use lgm_algebra::expr::{ExprId, Node, SymbolId, SymbolKind, in_double_precision, text};
use lgm_algebra::{in_lowest_terms, settled};
use lgm_model::{Parameter, ParameterEntry, PathId, SiUnit};
use lgm_source::Span;
use num_traits::Signed;

/// Blocks with more values than this have no named constants: that many names are not readable.
const READ: usize = 500;

/// Numbers of more characters than this get a name.
const SHORT: usize = 8;

/// A purely numerical expression with more characters than this gets a name.
const LONG: usize = 16;

impl<'a> Evaluator<'a> {
    /// Returns the owner of the constants of a block with this number of values.
    pub(crate) fn owner(&self, block: PathId, span: Span, sides: &[Scalar], values: usize) -> Owner {
        let positive = sides.iter().filter_map(|side| match self.arena.exprs.node(side.expr) {
            Node::Symbol(symbol) => Some(*symbol),
            _ => None,
        });
        let is_above = |symbol: &SymbolId| self.parameter_values.get(symbol).is_some_and(Signed::is_positive);
        Owner {
            block,
            is_read: values <= READ,
            span,
            sides: positive.filter(is_above).collect(),
        }
    }

    /// Returns a value with the arguments of its functions in lowest terms, and with its conditions decided if possible.
    pub(crate) fn settled(&mut self, owner: &Owner, value: Scalar) -> Scalar {
        let is_positive = |symbol: SymbolId| owner.sides.contains(&symbol);
        Scalar {
            expr: settled(&mut self.arena.exprs, value.expr, &is_positive),
            dim: value.dim,
        }
    }

    /// Returns a value of a mode as a named constant, unless it is a short number or a parameter.
    pub(crate) fn constant(&mut self, owner: &Owner, stem: &str, mode: Option<u32>, value: Scalar) -> Scalar {
        let role = Role {
            block: owner.block,
            stem: stem.to_string(),
            mode,
            position: None,
        };
        self.named_constant(owner, role, value)
    }

    /// Returns a value of a mode as a named constant if it depends only on numbers, such as the root of a frequency equation; other values
    /// are unchanged.
    pub(crate) fn number_constant(&mut self, owner: &Owner, stem: &str, mode: u32, value: Scalar) -> Scalar {
        let symbols = self.arena.exprs.symbols_of(&[value.expr]);
        let is_fixed = symbols.iter().all(|symbol| self.graph.constants.is_constant(*symbol));
        let is_long = is_fixed && text(&self.arena.exprs, value.expr).len() > LONG;
        match is_long {
            true => self.constant(owner, stem, Some(mode), value),
            false => value,
        }
    }

    /// Returns the value of a function of the position as a constant.
    pub(crate) fn constant_at(
        &mut self,
        owner: &Owner,
        function: &str,
        mode: u32,
        position: &Position,
        value: Scalar,
    ) -> Scalar {
        let stem = match function {
            "shape" => "Y",
            other => other,
        };
        let coordinates: Vec<ExprId> = match position {
            Position::Point(list) => list.iter().map(|coordinate| coordinate.expr).collect(),
            Position::Span(from, to) => vec![from.expr, to.expr],
        };
        let position = self.graph.constants.position(owner.block, stem, coordinates);
        let value = self.settled(owner, value);
        let role = Role {
            block: owner.block,
            stem: stem.to_string(),
            mode: Some(mode),
            position: Some(position),
        };
        let value = self.named_constant(owner, role, value);
        self.keep_constants(value.expr);
        value
    }

    /// Makes the constants in an expression parameters of the model.
    pub(crate) fn keep_constants(&mut self, root: ExprId) {
        let cx = &mut self.cx;
        cx.graph.constants.keep(&cx.arena.exprs, &mut cx.graph.model, root);
    }

    fn named_constant(&mut self, owner: &Owner, role: Role, value: Scalar) -> Scalar {
        if !owner.is_read || self.is_plain(value.expr) {
            return value;
        }
        let formula = in_lowest_terms(&mut self.arena.exprs, value.expr);
        if self.is_plain(formula) {
            return Scalar { expr: formula, ..value };
        }
        let named = |this: &mut Self, symbol: SymbolId| Scalar {
            expr: this.arena.exprs.symbol(symbol),
            dim: value.dim,
        };
        if let Some(symbol) = self.graph.constants.find(&role, formula) {
            return named(self, symbol);
        }
        let Some(number) = self
            .exact(&[value.expr], owner.span)
            .and_then(|list| list.into_iter().next())
        else {
            return value;
        };
        let symbol = self.arena.exprs.new_symbol(&*role.stem, SymbolKind::Parameter);
        self.parameter_values.insert(symbol, number.clone());
        let dimension = self.dims.get(value.dim.firm());
        let words = dimension.and_then(|dimension| self.dims.words.get(&dimension).cloned());
        let parameter = Parameter {
            name: role.stem.as_str().into(),
            shape: Vec::new(),
            entries: vec![ParameterEntry {
                symbol,
                derived: Some(formula),
                exact: None,
                value: in_double_precision(number),
            }],
            unit: words.or_else(|| dimension.map(SiUnit::of)),
            scale: lgm_model::Scale::SI,
            literal_unit: None,
            span: owner.span,
            value_span: owner.span,
            is_constant: true,
        };
        self.graph.constants.add(role, symbol, parameter, formula);
        named(self, symbol)
    }

    /// Returns true if a value needs no name: a short number, a symbol, or the negative of either.
    fn is_plain(&self, id: ExprId) -> bool {
        let exprs = &self.arena.exprs;
        match exprs.node(id) {
            Node::Symbol(_) => true,
            Node::Number(_) => text(exprs, id).len() <= SHORT,
            Node::Product(list) => {
                let is_minus = exprs
                    .as_number(list[0])
                    .is_some_and(|number| *number == -num_rational::BigRational::from_integer(1.into()));
                is_minus && list.len() == 2 && matches!(exprs.node(list[1]), Node::Symbol(_))
            }
            _ => false,
        }
    }
}
