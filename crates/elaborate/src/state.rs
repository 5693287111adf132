//! What elaboration carries along: frames of bodies, slots of names, and the flat model as it grows.

use super::count::Counts;
use super::frames::{Body, Frame};
use super::input_settings::InputSetting;
use super::law_scope::LawScope;
use super::laws::Templates;
use super::load::{ItemRef, Program};
use super::postponed::Postponed;
use super::reports::Reported;
use super::settings::Assignment;
use super::values::{Arena, Dimensions, Value};
use lgm_algebra::expr::{ExprId, SymbolId, SymbolKind};
use lgm_algebra::units::{self, Unit, UnitFault, UnitPower};
use lgm_model::{Domain, DomainId, ElementId, Measure, Model, Path, PathId};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use lgm_source::{SourceMap, Span};
use lgm_syntax::ast::{self, Item, Name};
use num_rational::BigRational;
use num_traits::One;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How deep evaluation may nest; brackets nest at most 256 deep, and a chain of names adds to it.
const DEEPEST_EVALUATION: usize = 600;

/// A body that is being expanded: a model or one instance of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FrameId(pub u32);

/// The values of the loop indices at some place; the first one is "no loop".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EnvId(pub u32);

/// Where an expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub frame: FrameId,
    pub env: EnvId,
}

/// One loop index with its value, and the loops around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Env<'a> {
    pub parent: EnvId,
    pub name: &'a str,
    pub value: i64,
}

/// A declared model value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin<'a> {
    Formal(u32),
    Param(&'a ast::Assigned),
    Const(&'a ast::Assigned),
    Input(&'a ast::Assigned),
    Signal(&'a ast::Indexed),
    State(&'a ast::Indexed),
}

/// What is known of a model value.
#[derive(Clone, Debug, Default)]
pub(super) enum ValueSlot<'a> {
    /// Not declared in the branches that were taken so far.
    #[default]
    Absent,
    /// Declared, not looked at yet.
    Deferred(Origin<'a>, EnvId),
    /// Being evaluated: whoever asks now closes a circle.
    Busy,
    /// Evaluated.
    Done(Value),
    /// Declared with indices.
    Indexed(Box<FxHashMap<(i64, i64), ValueSlot<'a>>>),
}

/// A node, an array of nodes, or an entry of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeView {
    /// The first scalar junction; [`NodeView::GROUND`] for the reference.
    pub base: u32,
    /// The shape in [`Elaborator::shapes`].
    pub shape: u32,
}

impl NodeView {
    /// In place of a junction: the reference of every domain.
    pub const GROUND: u32 = u32::MAX;

    pub fn ground() -> NodeView {
        NodeView {
            base: NodeView::GROUND,
            shape: 0,
        }
    }

    pub fn is_ground(self) -> bool {
        self.base == NodeView::GROUND
    }
}

/// The sizes of an array of nodes, and the width of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeShape {
    pub sizes: Vec<i64>,
    pub width: u32,
    pub vector: bool,
}

/// What a name of the graph stands for.
#[derive(Clone, Debug, Default)]
pub(super) enum Thing {
    /// Not declared in the branches that were taken.
    #[default]
    Absent,
    /// Its declaration failed and was reported.
    Failed,
    Nodes(NodeView),
    Element(ElementId),
    Component(FrameId),
    /// A modal block: its first element, and its place in [`Elaborator::blocks`].
    Modal(ElementId, u32),
    Indexed(Box<FxHashMap<(i64, i64), Thing>>),
}

/// What is known of an element beside its entry in the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub instance: &'a ast::Instance,
    pub definition: ItemRef,
    pub place: Place,
    pub progress: Progress,
}

/// How far the law of an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Waiting,
    Busy,
    Done,
    Failed,
}

/// A statement that is looked at once the whole graph is there.
#[derive(Debug)]
pub(super) struct Later<'a, T> {
    pub what: &'a T,
    pub place: Place,
}

impl<T> Clone for Later<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Later<'_, T> {}

/// The work in progress.
pub(super) struct Elaborator<'a> {
    pub program: &'a Program,
    pub sources: &'a SourceMap,
    pub chosen: &'a ast::Model,
    pub settings: FxHashMap<&'a str, &'a Assignment>,
    /// Signals that options give to inputs.
    pub inputs: Vec<&'a InputSetting>,
    pub diagnostics: Vec<Diagnostic>,
    pub reported: FxHashMap<(Code, Span), Reported>,
    /// The place that is looked at now, which the faults found are reported for.
    pub here: Place,
    /// How many errors were reported.
    pub errors: usize,
    pub arena: Arena,
    pub dims: Dimensions,
    /// Units by their places.
    pub units: FxHashMap<Span, Option<Rc<Unit>>>,
    pub templates: Templates,
    pub law: Option<LawScope<'a>>,
    pub bodies: Vec<Body<'a>>,
    pub body_of: FxHashMap<ItemRef, u32>,
    pub frames: Vec<Frame<'a>>,
    pub values: Vec<ValueSlot<'a>>,
    pub things: Vec<Thing>,
    pub envs: Vec<Env<'a>>,
    pub shapes: indexmap::IndexSet<NodeShape>,
    pub model: Model,
    pub domain_ids: FxHashMap<ItemRef, DomainId>,
    pub records: Vec<Record<'a>>,
    pub chains: Vec<Later<'a, Vec<ast::Expr>>>,
    pub signals: Vec<Later<'a, ast::Indexed>>,
    pub states: Vec<Later<'a, ast::Indexed>>,
    pub outputs: Vec<Later<'a, ast::Indexed>>,
    pub experiments: Vec<&'a [ast::Attribute]>,
    pub parameter_values: FxHashMap<SymbolId, BigRational>,
    pub measures: FxHashMap<Measure, SymbolId>,
    pub bond_ends: super::bonds::BondEnds,
    /// How many nodes and instances there are so far.
    pub expanded: u64,
    /// The largest number of nodes and instances.
    pub largest: u64,
    /// Rounds of loops so far in which nothing was made.
    pub empty_rounds: u64,
    /// How many entries of `envs` something else refers to.
    pub kept_envs: usize,
    pub stopped: bool,
    /// Instances of the body that is built now which wait for others.
    pub postponed: Vec<Postponed<'a>>,
    pub counts: Counts,
    /// Dimensions of signals and states that were found without evaluating them, by slot and indices.
    pub inferred: FxHashMap<(usize, Option<super::lookup::Indices>), super::values::DimId>,
    pub depth: usize,
    /// How many sums with a range are open, and how many terms they have so far.
    pub sum_depth: usize,
    pub sum_terms: u64,
    /// Names that an expression binds to a value: the unknown of a root.
    pub bound: Vec<(&'a str, Value)>,
    /// The modal blocks that were expanded, and what each definition of one says.
    pub blocks: Vec<Rc<super::modal::Block<'a>>>,
    pub modal_rules: super::modal::KnownRules<'a>,
    /// Values that are being evaluated: slot and indices, name, and where it was asked for.
    pub open: Vec<((usize, Option<super::lookup::Indices>), String, Span)>,
    /// The element whose law is being evaluated, and where it is used.
    pub law_use: Option<(String, Span)>,
    /// Options that give a parameter another shape than its declaration: what is said of them, and where.
    pub reshaped: Vec<(String, Span)>,
    pub branching: super::branches::Branching,
    /// For each expression, in order of ids, whether anything but parameters is below it.
    pub varying: Vec<bool>,
}

impl<'a> Elaborator<'a> {
    pub fn new(
        program: &'a Program,
        sources: &'a SourceMap,
        chosen: &'a ast::Model,
        diagnostics: Vec<Diagnostic>,
    ) -> Elaborator<'a> {
        let mut arena = Arena::default();
        let time = arena.exprs.new_symbol("time", SymbolKind::Time);
        let mut shapes = indexmap::IndexSet::default();
        shapes.insert(NodeShape {
            sizes: Vec::new(),
            width: 1,
            vector: false,
        });
        let reported = diagnostics
            .iter()
            .filter_map(|diagnostic| {
                let key = (diagnostic.code, diagnostic.labels.first()?.span);
                Some((key, Reported::before_expansion()))
            })
            .collect();
        Elaborator {
            program,
            sources,
            chosen,
            settings: FxHashMap::default(),
            inputs: Vec::new(),
            diagnostics,
            reported,
            here: Place {
                frame: FrameId(0),
                env: EnvId(0),
            },
            errors: 0,
            arena,
            dims: Dimensions::new(),
            units: FxHashMap::default(),
            templates: Templates::new(),
            law: None,
            bodies: Vec::new(),
            body_of: FxHashMap::default(),
            frames: Vec::new(),
            values: Vec::new(),
            things: Vec::new(),
            envs: vec![Env {
                parent: EnvId(0),
                name: "",
                value: 0,
            }],
            shapes,
            model: empty_model(chosen, time),
            domain_ids: FxHashMap::default(),
            records: Vec::new(),
            chains: Vec::new(),
            signals: Vec::new(),
            states: Vec::new(),
            outputs: Vec::new(),
            experiments: Vec::new(),
            parameter_values: FxHashMap::default(),
            measures: FxHashMap::default(),
            bond_ends: Default::default(),
            expanded: 0,
            largest: super::Settings::LARGEST,
            empty_rounds: 0,
            kept_envs: 0,
            stopped: false,
            postponed: Vec::new(),
            counts: Counts::default(),
            inferred: FxHashMap::default(),
            depth: 0,
            sum_depth: 0,
            sum_terms: 0,
            bound: Vec::new(),
            blocks: Vec::new(),
            modal_rules: Default::default(),
            open: Vec::new(),
            law_use: None,
            reshaped: Vec::new(),
            branching: Default::default(),
            varying: Vec::new(),
        }
    }

    /// Everything, in order.
    pub fn run(&mut self) {
        let frame = self.model_frame();
        self.expand(frame);
        if self.stopped {
            return;
        }
        self.join_chains();
        for element in 0..self.model.elements.len() {
            if self.stopped {
                return;
            }
            self.ensure_law(ElementId(element as u32));
        }
        self.finish_signals();
        self.finish_states();
        self.finish_outputs();
        self.finish_experiments();
        self.check_connection();
    }

    /// Enters one more level of evaluation; `false` (with a diagnostic) where it nests too deeply.
    pub fn enter(&mut self, span: Span) -> bool {
        if self.depth >= DEEPEST_EVALUATION {
            let diagnostic = Diagnostic::error(
                Code::LGM0112,
                "this expression is nested too deeply through other names",
            )
            .label(span, "more than 600 levels are open here")
            .help("declare the names in the order in which they are needed, or split the expression");
            self.report(diagnostic);
            return false;
        }
        self.depth += 1;
        true
    }

    /// The meaning of a unit, found once for each place; its faults are reported.
    pub fn unit(&mut self, written: &ast::UnitExpr) -> Option<Rc<Unit>> {
        if let Some(known) = self.units.get(&written.span) {
            return known.clone();
        }
        let unit = match unit_meaning(written) {
            Ok(unit) => Some(Rc::new(unit)),
            // A name with other letters than those of units was reported as it was read.
            Err(_) if written.factors.iter().any(|factor| !factor.name.text.is_ascii()) => None,
            Err(diagnostic) => {
                self.report(diagnostic);
                None
            }
        };
        self.units.insert(written.span, unit.clone());
        unit
    }

    /// A new named thing.
    pub fn path(&mut self, parent: Option<PathId>, name: &Name, indices: &[i64]) -> PathId {
        let id = PathId(self.model.paths.len() as u32);
        self.model.paths.push(Path {
            parent,
            name: name.text.clone(),
            indices: indices.into(),
            span: name.span,
        });
        id
    }

    /// The symbol of a variable of the graph.
    pub fn measure(&mut self, measure: Measure, name: impl FnOnce(&Model) -> String) -> ExprId {
        let symbol = match self.measures.get(&measure) {
            Some(symbol) => *symbol,
            None => {
                let name = name(&self.model);
                let symbol = self.arena.exprs.new_symbol(name, SymbolKind::Measure);
                self.measures.insert(measure, symbol);
                self.model.measures.push((symbol, measure));
                symbol
            }
        };
        self.arena.exprs.symbol(symbol)
    }

    /// The domain that a name means, added to the model when it is first used.
    pub fn domain(&mut self, name: &'a Name) -> Option<DomainId> {
        let Some(at) = self.program.domain(&name.text, name.span.source) else {
            // `names` has reported it.
            return None;
        };
        if let Some(id) = self.domain_ids.get(&at) {
            return Some(*id);
        }
        let Item::Domain(declared) = self.program.item(at) else {
            return None;
        };
        let (Some(across), Some(through), Some(effort)) = (&declared.across, &declared.through, &declared.effort)
        else {
            // `names` has reported what is missing.
            return None;
        };
        let effort_is_across = *effort.text == *across.name.text || &*effort.text == "across";
        let across_unit = across.unit.as_ref().and_then(|unit| self.unit(unit));
        let through_unit = through.unit.as_ref().and_then(|unit| self.unit(unit));
        // The words of the declaration are kept where they are SI: `rad/s` says more than `1/s`.
        let text = |written: &Option<ast::UnitExpr>, unit: &Option<Rc<Unit>>| {
            let unit = unit.as_ref()?;
            if !unit.factor.is_one() || unit.pi_power != 0 {
                return Some(unit.dimension.text());
            }
            let words = self.sources.slice(written.as_ref()?.span).trim();
            Some(words.trim_start_matches('[').trim_end_matches(']').trim().to_string())
        };
        let id = DomainId(self.model.domains.len() as u32);
        self.model.domains.push(Domain {
            name: declared.name.text.clone(),
            across: across.name.text.clone(),
            across_unit: text(&across.unit, &across_unit),
            across_dimension: across_unit.map(|unit| unit.dimension),
            through: through.name.text.clone(),
            through_unit: text(&through.unit, &through_unit),
            through_dimension: through_unit.map(|unit| unit.dimension),
            effort_is_across,
            pseudo: declared.pseudo.is_some(),
        });
        self.domain_ids.insert(at, id);
        Some(id)
    }

    /// The values of loop indices so far are needed later on: something is put down that refers to them.
    pub fn keep_envs(&mut self) {
        self.kept_envs = self.envs.len();
    }
}

/// A model of which only the name is known.
fn empty_model(chosen: &ast::Model, time: SymbolId) -> Model {
    Model {
        name: chosen.name.text.clone(),
        doc: chosen.doc.clone(),
        span: chosen.name.span,
        exprs: Default::default(),
        time,
        parameters: Vec::new(),
        inputs: Vec::new(),
        signals: Vec::new(),
        domains: Vec::new(),
        paths: Vec::new(),
        nodes: Vec::new(),
        ports: Vec::new(),
        elements: Vec::new(),
        bonds: Vec::new(),
        measures: Vec::new(),
        integrals: Vec::new(),
        outputs: Vec::new(),
        start_conditions: Vec::new(),
        experiment: None,
        point: Vec::new(),
        counts: lgm_model::counts::Counts::default(),
    }
}

/// What a written unit means, or what is wrong with it.
pub(super) fn unit_meaning(written: &ast::UnitExpr) -> Result<Unit, Diagnostic> {
    let factors = written.factors.iter().map(|factor| UnitPower {
        name: &factor.name.text,
        exponent: factor.exponent,
        span: factor.name.span,
    });
    units::unit_of(factors).map_err(|fault| match fault {
        UnitFault::Unknown(name, span) => {
            let diagnostic = Diagnostic::error(Code::LGM0204, format!("no unit is named `{name}`"))
                .label(span, "not a unit, and not a prefix with a unit");
            match units::nearest_unit(&name) {
                _ if units::has_offset(&name) => diagnostic.note(
                    "a unit here is a multiple of SI units, and scales of temperature with a zero of their own are none: \
                     0 degC is 273.15 K",
                )
                .help("write `[K]`: 20 degC is `293.15 [K]`, and a difference of 20 degC is `20 [K]`"),
                Some(near) => diagnostic.help(format!("write `{near}`")),
                None => diagnostic.help("units are SI names with prefixes, joined by `.`, `/` and `^`: `[N.s/m]`"),
            }
        }
        UnitFault::Exponent(name, span) => {
            Diagnostic::error(Code::LGM0205, format!("the exponent of `{name}` cannot be used here"))
                .label(span, "too large, or a root that is not exact in SI")
                .help("write the unit in SI base units")
        }
    })
}
