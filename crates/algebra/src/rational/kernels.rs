//! The meaning of the variables of polynomials.

use crate::expr::{ExprId, Exprs, Function, SymbolId};
use crate::polynomials::polynomial::{Polynomial, Variable};
use crate::rational::rational_function::RationalFunction;
use rustc_hash::FxHashMap;

/// The meaning of a variable of a rational function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// A symbol.
    Symbol(SymbolId),
    /// An expression that is not a rational function of symbols.
    Opaque(ExprId),
    /// A function of one argument with a relation to other variables: sqrt, sin, cos, sinh, cosh.
    Call(Function, ExprId),
    /// The square root of an integer.
    Root(u64),
}

/// The meaning of the variables of rational functions.
///
/// A symbol's variable has the symbol's own number, so that terms are ordered by declaration. Other variables follow all symbols, in the
/// order of first use.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    list: Vec<Meaning>,
    variables: FxHashMap<Meaning, Variable>,
    pub(crate) squares: FxHashMap<Variable, RationalFunction>,
    /// The values of the variables other than symbols at a point of the prime field.
    images: Vec<Option<u64>>,
    /// True if some variables depend on each other without a known relation, as cosines of several angles may.
    pub(crate) may_depend: bool,
}

impl Kernels {
    /// Returns the variable of a symbol.
    pub fn symbol(symbol: SymbolId) -> Variable {
        Variable(symbol.0)
    }

    /// Returns the meaning of a variable.
    pub fn meaning(&self, variable: Variable) -> Meaning {
        match variable.0.checked_sub(FIRST_KERNEL) {
            Some(index) => self.list[index as usize],
            None => Meaning::Symbol(SymbolId(variable.0)),
        }
    }

    /// Returns the expression that a variable represents.
    pub fn expression(&self, exprs: &mut Exprs, variable: Variable) -> ExprId {
        match self.meaning(variable) {
            Meaning::Symbol(symbol) => exprs.symbol(symbol),
            Meaning::Opaque(id) => id,
            Meaning::Call(function, argument) => exprs.call(function, [argument]),
            Meaning::Root(number) => {
                let number = exprs.number(num_rational::BigRational::from_integer(number.into()));
                exprs.call(Function::Sqrt, [number])
            }
        }
    }

    /// Returns the variable with this meaning, if one exists.
    pub fn known(&self, meaning: Meaning) -> Option<Variable> {
        match meaning {
            Meaning::Symbol(symbol) => Some(Kernels::symbol(symbol)),
            _ => self.variables.get(&meaning).copied(),
        }
    }

    /// Returns the value of a variable other than a symbol at a point of the prime field.
    pub(crate) fn image(&self, variable: Variable) -> Option<u64> {
        self.images[variable.0.checked_sub(FIRST_KERNEL)? as usize]
    }

    /// Returns true if a variable is the root of an integer.
    pub(crate) fn is_root(&self, variable: Variable) -> bool {
        matches!(self.meaning(variable), Meaning::Root(_))
    }

    /// Returns the variable with this meaning, new or existing, with its value at a point of the prime field.
    pub(crate) fn variable(&mut self, meaning: Meaning, image: Option<u64>) -> Variable {
        if let Meaning::Symbol(symbol) = meaning {
            return Kernels::symbol(symbol);
        }
        if let Some(variable) = self.variables.get(&meaning) {
            return *variable;
        }
        let variable = Variable(FIRST_KERNEL + self.list.len() as u32);
        self.may_depend |= self.depends(meaning);
        self.list.push(meaning);
        self.images.push(image);
        self.variables.insert(meaning, variable);
        variable
    }

    /// Returns true if a new variable may depend on others without a known relation: by the addition theorems, or as roots of products.
    fn depends(&self, meaning: Meaning) -> bool {
        let is_other = |known: &Meaning| match (meaning, known) {
            (Meaning::Call(_, argument), Meaning::Call(_, other)) => argument != *other,
            (Meaning::Call(..), Meaning::Root(_)) | (Meaning::Root(_), Meaning::Call(..)) => true,
            _ => false,
        };
        self.list.iter().any(is_other)
    }

    /// Returns the other function of a pair related by a sum of squares, such as sine and cosine.
    pub(crate) fn partner(function: Function) -> Option<Function> {
        match function {
            Function::Sin => Some(Function::Cos),
            Function::Cos => Some(Function::Sin),
            Function::Sinh => Some(Function::Cosh),
            Function::Cosh => Some(Function::Sinh),
            _ => None,
        }
    }

    /// Returns the variable of a function of a pair, and records `sin(x)^2 = 1 - cos(x)^2` or the hyperbolic relation.
    pub(crate) fn paired(&mut self, function: Function, argument: ExprId, images: Option<(u64, u64)>) -> Variable {
        let (even, odd) = match function {
            Function::Sin | Function::Cos => (Function::Cos, Function::Sin),
            _ => (Function::Cosh, Function::Sinh),
        };
        // The function in the expression comes first.
        let (first, second) = if function == even { (even, odd) } else { (odd, even) };
        let image = |wanted| images.map(|pair| if wanted == even { pair.0 } else { pair.1 });
        let first = self.variable(Meaning::Call(first, argument), image(first));
        let second = self.variable(Meaning::Call(second, argument), image(second));
        let (even, odd) = if function == even {
            (first, second)
        } else {
            (second, first)
        };
        self.squares.entry(odd).or_insert_with(|| {
            let square = Polynomial::monomial(&[(even, 2)]);
            let difference = Polynomial::one().sub(&square);
            let hyperbolic = matches!(function, Function::Sinh | Function::Cosh);
            RationalFunction::from(if hyperbolic { difference.neg() } else { difference })
        });
        first
    }

    pub(crate) fn has_relations(&self) -> bool {
        !self.squares.is_empty()
    }

    /// Returns the replacement for the square of a variable, if known.
    pub fn square(&self, variable: Variable) -> Option<&RationalFunction> {
        self.squares.get(&variable)
    }

    /// Returns the last variable whose square can be replaced in the polynomial.
    pub(crate) fn reducible(&self, polynomial: &Polynomial) -> Option<Variable> {
        let degrees = polynomial.degrees();
        polynomial
            .variables()
            .zip(degrees)
            .filter(|(variable, degree)| *degree >= 2 && self.squares.contains_key(variable))
            .map(|(variable, _)| variable)
            .last()
    }
}

/// Variables from this number on are not symbols.
const FIRST_KERNEL: u32 = 1 << 31;
