//! What the variables of polynomials stand for.

use crate::expr::{ExprId, Exprs, Function, SymbolId};
use crate::polynomials::polynomial::{Polynomial, Variable};
use crate::rational::rational_function::RationalFunction;
use rustc_hash::FxHashMap;

/// What a variable of a rational function stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// A symbol.
    Symbol(SymbolId),
    /// An expression that is no rational function of symbols.
    Opaque(ExprId),
    /// A function of one argument that has a relation to other variables: sqrt, sin, cos, sinh, cosh.
    Call(Function, ExprId),
}

/// The meaning of the variables of rational functions.
///
/// A symbol's variable has the symbol's own number, so that terms are ordered as their symbols were declared; what
/// is no symbol comes after all symbols, in the order of its first use.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    list: Vec<Meaning>,
    variables: FxHashMap<Meaning, Variable>,
    pub(super) squares: FxHashMap<Variable, RationalFunction>,
}

impl Kernels {
    /// The variable of a symbol.
    pub fn symbol(symbol: SymbolId) -> Variable {
        Variable(symbol.0)
    }

    /// What a variable stands for.
    pub fn meaning(&self, variable: Variable) -> Meaning {
        match variable.0.checked_sub(FIRST_KERNEL) {
            Some(index) => self.list[index as usize],
            None => Meaning::Symbol(SymbolId(variable.0)),
        }
    }

    /// The expression that a variable stands for.
    pub fn expression(&self, exprs: &mut Exprs, variable: Variable) -> ExprId {
        match self.meaning(variable) {
            Meaning::Symbol(symbol) => exprs.symbol(symbol),
            Meaning::Opaque(id) => id,
            Meaning::Call(function, argument) => exprs.call(function, [argument]),
        }
    }

    /// The variable that stands for this, if there is one yet.
    pub fn known(&self, meaning: Meaning) -> Option<Variable> {
        match meaning {
            Meaning::Symbol(symbol) => Some(Kernels::symbol(symbol)),
            _ => self.variables.get(&meaning).copied(),
        }
    }

    /// The variable that stands for this, new or known.
    pub fn variable(&mut self, meaning: Meaning) -> Variable {
        if let Meaning::Symbol(symbol) = meaning {
            return Kernels::symbol(symbol);
        }
        if let Some(variable) = self.variables.get(&meaning) {
            return *variable;
        }
        let variable = Variable(FIRST_KERNEL + self.list.len() as u32);
        self.list.push(meaning);
        self.variables.insert(meaning, variable);
        variable
    }

    /// The other function of a pair that is tied by a sum of squares, as sine is to cosine.
    pub(super) fn partner(function: Function) -> Option<Function> {
        match function {
            Function::Sin => Some(Function::Cos),
            Function::Cos => Some(Function::Sin),
            Function::Sinh => Some(Function::Cosh),
            Function::Cosh => Some(Function::Sinh),
            _ => None,
        }
    }

    /// The variable of a function of a pair; `sin(x)^2 = 1 - cos(x)^2` and its hyperbolic kin are noted.
    pub(super) fn paired(&mut self, function: Function, argument: ExprId) -> Variable {
        let variable = self.variable(Meaning::Call(function, argument));
        let (even, odd) = match function {
            Function::Sin | Function::Cos => (Function::Cos, Function::Sin),
            _ => (Function::Cosh, Function::Sinh),
        };
        let even = self.variable(Meaning::Call(even, argument));
        let odd = self.variable(Meaning::Call(odd, argument));
        self.squares.entry(odd).or_insert_with(|| {
            let square = Polynomial::monomial(&[(even, 2)]);
            let difference = Polynomial::one().sub(&square);
            let hyperbolic = matches!(function, Function::Sinh | Function::Cosh);
            RationalFunction::from(if hyperbolic { difference.neg() } else { difference })
        });
        variable
    }

    pub(super) fn has_relations(&self) -> bool {
        !self.squares.is_empty()
    }

    /// What the square of a variable is equal to, where that is known.
    pub fn square(&self, variable: Variable) -> Option<&RationalFunction> {
        self.squares.get(&variable)
    }

    /// The last variable of which a square can be replaced in the polynomial.
    pub(super) fn reducible(&self, polynomial: &Polynomial) -> Option<Variable> {
        let degrees = polynomial.degrees();
        polynomial
            .variables()
            .zip(degrees)
            .filter(|(variable, degree)| *degree >= 2 && self.squares.contains_key(variable))
            .map(|(variable, _)| variable)
            .last()
    }
}

/// Variables from here on are no symbols.
const FIRST_KERNEL: u32 = 1 << 31;
