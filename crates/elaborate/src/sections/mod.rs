//! Models whose arrays all have one large size: `const N = 1000000;` with loops `for i in 1:N` over equal sections.
//!
//! With another N this is the same model with more or fewer sections in its middle. [`Sections::find`] decides from the syntax tree if a
//! model is of this kind, in time independent of N. [`Sections::shortened`] returns the program with another number. Values keep the
//! original number: `L/N` is `L/1000000` in a short program too.
//!
//! A model is of this kind if
//! - sizes, ends of loops and indices are `N + k`, with k up to 2 [`Sections::MOST_SHIFT`], or numbers up to [`Sections::MOST_FIXED`];
//! - indices in a loop are `i + k`, with k up to [`Sections::MOST_SHIFT`], and `i` occurs nowhere else;
//! - loops contain only instances, with ends at `gnd` or at nodes that have the index of the loop.
//!
//! Each equation of the flat graph then belongs to the left border (fixed indices), to the right border (N + k), to both, or to a section i.
//! The equations of section i + 1 are those of section i with each index increased by one. A node shared by all sections would have an
//! equation of another kind; the last rule excludes it.

mod shortener;

use crate::options::{self, Settings};
use crate::program::Program;
use lgm_source::SourceMap;
use lgm_syntax::ast::{self, Ast, Item, StatementKind};
use shortener::{Shortener, integer};
use std::sync::Arc;

/// A model of equal sections, and their number.
#[derive(Clone, Debug)]
pub struct Sections {
    /// The constant that defines it.
    name: Arc<str>,
    count: i64,
    /// The index of the model in the items of the root text.
    item: usize,
}

impl Sections {
    /// The largest size, end of a loop or index that is independent of the number of sections.
    pub const MOST_FIXED: i64 = shortener::MOST_FIXED;

    /// The largest number added to the index of a loop; added to the number of sections it may be twice as large.
    pub const MOST_SHIFT: i64 = shortener::MOST_SHIFT;

    /// Returns the number of sections of the chosen model, if it is large enough and the model can be shortened.
    pub fn find(program: &Program, map: &SourceMap, settings: &Settings, least: u64) -> Option<Sections> {
        let is_plain = settings.inputs.is_empty()
            && settings.point.is_empty()
            && settings.modes.is_empty()
            && settings.opened.is_none()
            && !program.has_tables();
        if !is_plain || program.is_damaged {
            return None;
        }
        let mut faults = Vec::new();
        let (chosen, parameters) = options::read(program, map, settings, &mut faults);
        let model = chosen.filter(|_| faults.is_empty() && !parameters.names_instances())?;
        let mut long = model.body.iter().filter_map(|statement| match &statement.kind {
            StatementKind::Const(constant) => {
                let set = parameters.values.iter().find(|set| *set.name == *constant.name.text);
                let value = set.map(|set| &set.value).or(constant.value.as_ref())?;
                let count = integer(value).filter(|count| u64::try_from(*count).is_ok_and(|count| count >= least))?;
                Some((Arc::clone(&constant.name.text), count))
            }
            _ => None,
        });
        let (name, count) = long.next()?;
        if long.next().is_some() {
            return None;
        }
        let items = &program.files.get(program.root)?.ast.items;
        let is_chosen = |item: &Item| matches!(item, Item::Model(other) if other.span == model.span);
        let item = items.iter().position(is_chosen)?;
        let sections = Sections { name, count, item };
        sections.shortened(program, map, settings, sections.count())?;
        Some(sections)
    }

    /// Returns the number of sections.
    pub fn count(&self) -> u64 {
        self.count.unsigned_abs()
    }

    /// Returns the same program with another number of sections, and the corresponding settings; none for a model of another kind.
    pub fn shortened(
        &self,
        program: &Program,
        map: &SourceMap,
        settings: &Settings,
        count: u64,
    ) -> Option<(Program, Settings)> {
        let root = program.files.get(program.root)?;
        let Item::Model(model) = root.ast.items.get(self.item)? else {
            return None;
        };
        let shortener = Shortener {
            program,
            source: root.source,
            name: &self.name,
            long: self.count,
            short: i64::try_from(count).ok()?,
        };
        let body: Option<Vec<ast::Statement>> = model.body.iter().map(|each| shortener.statement(each)).collect();
        let mut ast = Ast::clone(&root.ast);
        ast.items[self.item] = Item::Model(ast::Model {
            body: body?,
            ..model.clone()
        });
        let is_other = |text: &str| text.split('=').next().is_none_or(|name| name.trim() != &*self.name);
        let mut settings = settings.clone();
        settings.sets.retain(|(_, source)| is_other(&map.get(*source).text));
        let mut program = program.clone();
        program.files[program.root].ast = Arc::new(ast);
        Some((program, settings))
    }
}
