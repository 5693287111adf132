//! A small parser of the language's expressions for these tests only. It shares no code with the printer, so that a
//! common mistake cannot hide.

use lgm::expr::{ExprId, Exprs, Function, Relation, SymbolId, SymbolKind};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;
use std::collections::HashMap;

/// Parses an expression; new symbols in `symbols` are declared first, in order.
pub fn read(exprs: &mut Exprs, symbols: &str, text: &str) -> ExprId {
    for name in symbols.split_whitespace() {
        if find(exprs, name).is_none() {
            exprs.new_symbol(name, SymbolKind::Parameter);
        }
    }
    let tokens = tokens(text);
    let mut reader = Reader { exprs, tokens, at: 0 };
    let id = reader.top();
    assert_eq!(reader.at, reader.tokens.len(), "left over in {text}");
    id
}

/// The exact value of a printed expression.
pub fn value_of(text: &str, values: &HashMap<&'static str, BigRational>) -> BigRational {
    let mut exprs = Exprs::default();
    let names: Vec<&str> = values.keys().copied().collect();
    let id = read(&mut exprs, &names.join(" "), text);
    let value = |symbol: SymbolId| values.get(&*exprs.symbol_info(symbol).name).cloned();
    exprs.evaluate_exact(&[id], &value).unwrap().swap_remove(0)
}

fn find(exprs: &Exprs, name: &str) -> Option<SymbolId> {
    (0..exprs.symbol_count() as u32)
        .map(SymbolId)
        .find(|id| &*exprs.symbol_info(*id).name == name)
}

fn tokens(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut list = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        let start = at;
        let first = characters[at];
        at += 1;
        if first.is_whitespace() {
            continue;
        }
        if first.is_ascii_digit() {
            while at < characters.len()
                && (characters[at].is_ascii_digit()
                    || ".e".contains(characters[at])
                    || ("+-".contains(characters[at]) && characters[at - 1] == 'e'))
            {
                at += 1;
            }
        } else if first.is_ascii_alphabetic() {
            while at < characters.len() && (characters[at].is_ascii_alphanumeric() || characters[at] == '_') {
                at += 1;
            }
        } else if "<>=!".contains(first) && characters.get(at) == Some(&'=') {
            at += 1;
        }
        list.push(characters[start..at].iter().collect());
    }
    list
}

struct Reader<'a> {
    exprs: &'a mut Exprs,
    tokens: Vec<String>,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| token)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &str) {
        assert!(self.take(token), "{token} expected at {} of {:?}", self.at, self.tokens);
    }

    fn top(&mut self) -> ExprId {
        if !self.take("if") {
            return self.or();
        }
        let condition = self.or();
        self.expect("then");
        let a = self.or();
        self.expect("else");
        let b = self.top();
        self.exprs.if_else(condition, a, b)
    }

    fn or(&mut self) -> ExprId {
        let mut left = self.and();
        while self.take("or") {
            let right = self.and();
            left = self.exprs.relation(Relation::Or, left, right);
        }
        left
    }

    fn and(&mut self) -> ExprId {
        let mut left = self.not();
        while self.take("and") {
            let right = self.not();
            left = self.exprs.relation(Relation::And, left, right);
        }
        left
    }

    fn not(&mut self) -> ExprId {
        if self.take("not") {
            let inner = self.not();
            return self.exprs.not(inner);
        }
        let left = self.sum();
        let relation = match self.peek() {
            "<" => Relation::Less,
            "<=" => Relation::LessEqual,
            ">" => Relation::Greater,
            ">=" => Relation::GreaterEqual,
            "==" => Relation::Equal,
            "!=" => Relation::NotEqual,
            _ => return left,
        };
        self.at += 1;
        let right = self.sum();
        self.exprs.relation(relation, left, right)
    }

    fn sum(&mut self) -> ExprId {
        let mut left = self.product();
        loop {
            if self.take("+") {
                let right = self.product();
                left = self.exprs.add(left, right);
            } else if self.take("-") {
                let right = self.product();
                left = self.exprs.sub(left, right);
            } else {
                return left;
            }
        }
    }

    fn product(&mut self) -> ExprId {
        let mut left = self.unary();
        loop {
            if self.take("*") {
                let right = self.unary();
                left = self.exprs.mul(left, right);
            } else if self.take("/") {
                let right = self.unary();
                left = self.exprs.div(left, right);
            } else {
                return left;
            }
        }
    }

    fn unary(&mut self) -> ExprId {
        if self.take("-") {
            let inner = self.unary();
            return self.exprs.neg(inner);
        }
        let base = self.atom();
        if self.take("^") {
            let exponent = self.unary();
            return self.exprs.power(base, exponent);
        }
        base
    }

    fn atom(&mut self) -> ExprId {
        let token = self.peek().to_string();
        self.at += 1;
        if token == "(" {
            let inner = self.top();
            self.expect(")");
            return inner;
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            let value = decimal(&token);
            return self.exprs.number(value);
        }
        if token == "pi" {
            return self.exprs.pi();
        }
        if self.take("(") {
            let mut list = vec![self.top()];
            while self.take(",") {
                list.push(self.top());
            }
            self.expect(")");
            let facts = Function::named(&token).expect("a function");
            return self.exprs.call(facts.function, list);
        }
        let symbol = find(self.exprs, &token).unwrap_or_else(|| panic!("{token} is not declared"));
        self.exprs.symbol(symbol)
    }
}

fn decimal(token: &str) -> BigRational {
    let (mantissa, exponent) = token.split_once('e').unwrap_or((token, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: BigInt = format!("{whole}{part}").parse().unwrap();
    let exponent = exponent.parse::<i32>().unwrap() - part.len() as i32;
    if digits.is_zero() {
        return BigRational::zero();
    }
    BigRational::from_integer(digits) * BigRational::from_integer(BigInt::from(10)).pow(exponent)
}
