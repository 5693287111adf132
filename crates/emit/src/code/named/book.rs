//! The names of a model's quantities in a language: legal there, and each once.

use crate::code::names::{Rules, Scope};
use crate::code::subject::{Parameter, Subject};
use lgm_algebra::expr::SymbolId;
use rustc_hash::FxHashMap;

/// The names of the symbols of a model.
pub(crate) struct Book {
    names: FxHashMap<SymbolId, String>,
    /// The member of each parameter in the struct of parameters.
    pub(crate) members: Vec<String>,
    /// The text of each entry of all parameters.
    pub(crate) entries: Vec<String>,
    /// The local variable of each state.
    pub(crate) states: Vec<String>,
    /// The local variable of each input, and of its time derivative.
    pub(crate) inputs: Vec<String>,
    pub(crate) input_rates: Vec<String>,
    /// The local variable of each discrete variable of a model with fixed steps.
    pub(crate) discretes: Vec<String>,
    /// The local variable of each unknown of the algebraic loops.
    pub(crate) unknowns: Vec<String>,
    locals: Scope,
}

/// The rules by which a language names quantities.
#[derive(Clone, Copy)]
pub(crate) struct Naming {
    /// The longest name that the language distinguishes.
    pub(crate) longest: usize,
    /// Of local variables, and of members of the struct of parameters.
    pub(crate) rules: Rules,
    /// Names that the files themselves use for local variables.
    pub(crate) taken: &'static str,
    /// The text of an entry of a parameter with this member, such as `p.K[0, 1]`.
    pub(crate) entry: fn(&Parameter, &str, usize) -> String,
}

impl Book {
    pub(crate) fn new(subject: &Subject<'_>, naming: &Naming) -> Book {
        let system = subject.system;
        let mut fields = Scope::new(naming.rules);
        let short = |name: &str| name.chars().take(naming.longest).collect::<String>();
        let parameters = subject.parameters.iter();
        let members: Vec<String> = parameters
            .map(|parameter| fields.name(&short(&parameter.name)))
            .collect();
        let named = subject.parameters.iter().zip(&members);
        let entries = named.flat_map(|(parameter, member)| {
            (0..parameter.entries.len()).map(move |at| (naming.entry)(parameter, member, at))
        });
        let entries: Vec<String> = entries.collect();
        let mut locals = Scope::beside(naming.rules, naming.taken);
        let mut local = |name: &str| locals.name(&short(name));
        let states: Vec<String> = subject.states.iter().map(|state| local(&state.name)).collect();
        let inputs: Vec<String> = subject.inputs.iter().map(|input| local(&input.name)).collect();
        let discretes: Vec<String> = subject.discretes.iter().map(|each| local(&each.name)).collect();
        let unknowns = system.equations.loops.iter().flat_map(|each| &each.unknowns);
        let unknowns: Vec<SymbolId> = unknowns.copied().collect();
        let unknown_names = unknowns
            .iter()
            .map(|symbol| local(&system.exprs.symbol_info(*symbol).name));
        let unknown_names: Vec<String> = unknown_names.collect();
        let assignments = system.equations.assignments.iter();
        let assignments = assignments.map(|each| (each.symbol, local(&system.exprs.symbol_info(each.symbol).name)));
        let mut names: FxHashMap<SymbolId, String> = assignments.collect();
        let input_rates = subject.inputs.iter().map(|input| local(&format!("d_{}", input.name)));
        let input_rates: Vec<String> = input_rates.collect();
        if let Some(sampled) = &subject.sampled {
            names.extend(sampled.read.iter().map(|read| (read.symbol, local(&read.name))));
            let own = |symbol: &SymbolId| (*symbol, local(&system.exprs.symbol_info(*symbol).name));
            names.extend(sampled.temporaries.iter().map(own));
        }
        names.insert(system.time, "t".to_string());
        let symbols = system.parameters.iter().flat_map(|parameter| &parameter.entries);
        let symbols: Vec<SymbolId> = symbols.map(|entry| entry.symbol).collect();
        let mut place = |symbols: &mut dyn Iterator<Item = SymbolId>, list: &[String]| {
            names.extend(symbols.zip(list.iter().cloned()));
        };
        place(&mut symbols.into_iter(), &entries);
        place(&mut system.states.iter().map(|state| state.symbol), &states);
        let symbols = || system.inputs.iter().map(|input| input.symbol);
        place(&mut symbols(), &inputs);
        place(&mut symbols().skip(inputs.len()), &discretes);
        place(&mut system.input_rates.iter().copied(), &input_rates);
        place(&mut unknowns.into_iter(), &unknown_names);
        Book {
            names,
            members,
            entries,
            states,
            inputs,
            input_rates,
            discretes,
            unknowns: unknown_names,
            locals,
        }
    }

    /// The name of a symbol of the model.
    pub(crate) fn name(&self, symbol: SymbolId) -> &str {
        let name = self.names.get(&symbol);
        name.expect("invariant: every symbol of the equations is in the book")
    }

    /// The names of local variables that are taken, for a function that adds its own.
    pub(crate) fn locals(&self) -> Scope {
        self.locals.clone()
    }
}
