//! The constants of modal blocks: masses and stiffnesses of modes, values of shapes, and the roots that determine them.
//!
//! A constant is an undeclared parameter. It is named after its quantity and its mode, `k_3`; if a model has several modal blocks, also
//! after its block, `bar.k_3`.

use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_model::{Model, Parameter, PathId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The meaning of a constant: `k` of a mode, or of all modes of the block, and the number of the position of a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Role {
    pub block: PathId,
    pub stem: String,
    pub mode: Option<u32>,
    pub position: Option<usize>,
}

/// The constants so far.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    /// The meanings of the constants, in order of creation.
    roles: BTreeMap<SymbolId, Role>,
    /// The constants by meaning and formula; formulas differ if a user's block gives one name two values.
    known: FxHashMap<(Role, ExprId), SymbolId>,
    /// The constants that are unused so far, with their formulas.
    waiting: FxHashMap<SymbolId, (Parameter, ExprId)>,
    /// The positions of each function of a block.
    positions: FxHashMap<(PathId, String), Vec<Vec<ExprId>>>,
}

impl Constants {
    /// Returns the number of a position, from 1.
    pub fn position(&mut self, block: PathId, stem: &str, coordinates: Vec<ExprId>) -> usize {
        let list = self.positions.entry((block, stem.to_string())).or_default();
        match list.iter().position(|known| *known == coordinates) {
            Some(at) => at + 1,
            None => {
                list.push(coordinates);
                list.len()
            }
        }
    }

    /// Returns an existing constant.
    pub fn find(&self, role: &Role, formula: ExprId) -> Option<SymbolId> {
        self.known.get(&(role.clone(), formula)).copied()
    }

    /// Records a constant, which becomes a parameter of the model at its first use.
    pub fn add(&mut self, role: Role, symbol: SymbolId, parameter: Parameter, formula: ExprId) {
        self.known.insert((role.clone(), formula), symbol);
        self.roles.insert(symbol, role);
        self.waiting.insert(symbol, (parameter, formula));
    }

    /// Returns true for the symbol of a constant.
    pub fn is_constant(&self, symbol: SymbolId) -> bool {
        self.roles.contains_key(&symbol)
    }

    /// Makes the constants in an expression parameters of the model, each after the constants in its formula.
    pub fn keep(&mut self, exprs: &Exprs, model: &mut Model, root: ExprId) {
        if self.waiting.is_empty() {
            return;
        }
        for symbol in exprs.symbols_of(&[root]) {
            if let Some((parameter, formula)) = self.waiting.remove(&symbol) {
                self.keep(exprs, model, formula);
                model.parameters.push(parameter);
            }
        }
    }

    /// Names the constants after all of them are known.
    pub fn name(&self, exprs: &mut Exprs, model: &mut Model) {
        if self.roles.is_empty() {
            return;
        }
        let others = (0..exprs.symbol_count() as u32).map(SymbolId);
        let others = others.filter(|symbol| !self.is_constant(*symbol));
        let mut taken: FxHashSet<String> = others
            .map(|symbol| exprs.symbol_info(symbol).name.to_string())
            .collect();
        taken.extend(model.paths.iter().map(|path| path.name.to_string()));
        let blocks: FxHashSet<PathId> = self.roles.values().map(|role| role.block).collect();
        let stems: Vec<String> = self.roles.values().map(|role| self.written(role)).collect();
        let is_short = blocks.len() == 1 && stems.iter().all(|stem| !taken.contains(stem));
        let mut names: FxHashMap<SymbolId, String> = FxHashMap::default();
        for ((symbol, role), stem) in self.roles.iter().zip(stems) {
            let base = match is_short {
                true => stem,
                false => format!("{}.{stem}", model.path_name(role.block)),
            };
            let mut name = base.clone();
            let mut number = 2;
            while !taken.insert(name.clone()) {
                name = format!("{base}_{number}");
                number += 1;
            }
            names.insert(*symbol, name);
        }
        for parameter in model.parameters.iter_mut().filter(|parameter| parameter.is_constant) {
            if let Some(name) = names.get(&parameter.entries[0].symbol) {
                parameter.name = name.as_str().into();
            }
        }
        for (symbol, name) in names {
            exprs.rename(symbol, name);
        }
    }

    /// Returns the name of a constant: `k_3`, or `Y_3_2` at the second of several positions.
    fn written(&self, role: &Role) -> String {
        let mut name = role.stem.clone();
        if let Some(mode) = role.mode {
            name.push_str(&format!("_{mode}"));
        }
        if let Some(position) = role.position {
            let all = self.positions.get(&(role.block, role.stem.clone()));
            if all.is_some_and(|list| list.len() > 1) {
                name.push_str(&format!("_{position}"));
            }
        }
        name
    }
}
