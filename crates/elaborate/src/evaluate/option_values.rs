//! The options for parameters, by name.

use crate::options::{Assignment, ParameterOptions};
use lgm_model::PathId;
use lgm_syntax::ast::Formal;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of parameters of instances among which a similar name is searched for.
pub(super) const MOST_COMPARED: usize = 5000;

/// The options for parameters, by name.
pub(in crate::evaluate) struct Settings<'a> {
    pub options: &'a ParameterOptions,
    pub values: FxHashMap<&'a str, &'a Assignment>,
    /// The last parts of the names of instances' parameters: others need no search.
    pub last_parts: FxHashSet<&'a str>,
    /// The parameters of instances that were found.
    pub found: FxHashSet<String>,
    /// The formal parameters of the evaluated instances, if an option has a name that may be wrong.
    pub formals: Vec<(PathId, &'a [Formal])>,
}

impl<'a> Settings<'a> {
    pub fn new(options: &'a ParameterOptions) -> Settings<'a> {
        let names = options.values.iter().map(|entry| &*entry.name);
        let names = names.chain(options.varied.iter().map(String::as_str));
        Settings {
            options,
            values: options.values.iter().map(|entry| (&*entry.name, entry)).collect(),
            last_parts: names.filter_map(|name| Some(name.rsplit_once('.')?.1)).collect(),
            found: FxHashSet::default(),
            formals: Vec::new(),
        }
    }
}
