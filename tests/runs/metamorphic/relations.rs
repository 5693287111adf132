//! Metamorphic relations: changes that must not affect the samples of a model, and their tests.

use super::compare::{Column, Difference, SHARE, difference, extent};
use super::exact;
use super::model::{Kind, Model, Quantity};
use super::random::Random;
use super::rescale::Units;
use super::rework::{flipped, parted};
use super::run::{Fault, Rows, compile, run};
use super::write::{Idle, Place, Writing, write};
use lgm::equations::{StateRequest, StateSystem};
use lgm::simulate::{Method, Plan, Table};
use std::cell::OnceCell;

/// A change of a model or of its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relation {
    /// None: the plain run compared with the reference.
    Itself,
    Method(Method),
    Place(Place),
    Idle(Idle),
    /// Declarations in another order.
    Shuffled,
    /// Numbers in units with prefixes.
    Prefixes,
    Parameters,
    Generic,
    /// Other base units.
    Rescaled,
    Flipped,
    Parted,
    Bonds,
    /// A bond graph in another order, with its functions in place.
    BondsShuffled,
    States(StateRequest),
    Portable,
    Symbolic,
    Dense,
    Sparse,
    /// A piecewise linear function, as a table.
    Table,
    /// The run and all functions start later.
    Later,
}

impl Relation {
    /// Relations tested for every model of `cargo test`. The others concern tolerance scales, samples between steps,
    /// and independence of initial values from the order of lines; a campaign tests all.
    pub const SETTLED: &[Relation] = &[
        Relation::Place(Place::Signal),
        Relation::Place(Place::Written),
        Relation::Place(Place::Component),
        Relation::Place(Place::Element),
        Relation::Prefixes,
        Relation::Parameters,
        Relation::Generic,
        #[cfg(feature = "native")]
        Relation::Portable,
        Relation::Symbolic,
        Relation::Table,
    ];

    pub const ALL: [Relation; 30] = [
        Relation::Itself,
        Relation::Method(Method::Tsit45),
        Relation::Method(Method::Bdf),
        Relation::Method(Method::Sdirk),
        Relation::Method(Method::TrBdf2),
        Relation::Place(Place::Signal),
        Relation::Place(Place::Written),
        Relation::Place(Place::Component),
        Relation::Place(Place::Element),
        Relation::Idle(Idle::Island),
        Relation::Idle(Idle::Resistances),
        Relation::Idle(Idle::Sources),
        Relation::Shuffled,
        Relation::Prefixes,
        Relation::Parameters,
        Relation::Generic,
        Relation::Rescaled,
        Relation::Flipped,
        Relation::Parted,
        Relation::Bonds,
        Relation::BondsShuffled,
        Relation::States(StateRequest::Energy),
        Relation::States(StateRequest::Power),
        Relation::Portable,
        Relation::Symbolic,
        Relation::Dense,
        Relation::Sparse,
        Relation::Table,
        Relation::Later,
        // The order counts twice, because it has caused bugs before.
        Relation::Shuffled,
    ];

    /// Returns true if the run changes and the model does not: its samples are compared with the reference; those of a
    /// rewritten model are compared with those of the original.
    fn is_about_runs(self) -> bool {
        matches!(
            self,
            Relation::Itself | Relation::Method(_) | Relation::Dense | Relation::Sparse
        )
    }

    /// A short name, without spaces.
    pub fn word(&self) -> String {
        let text = format!("{self:?}").to_lowercase();
        text.replace(['(', ')'], "-").trim_end_matches('-').to_string()
    }
}

/// The minimum number of samples that determines a column's magnitude.
const SEEN: usize = 200;

/// The fraction of a model's largest value, in units in which values are near 1, below which values are round-off.
const NOTHING: f64 = 1e-12;

/// The settings of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub points: usize,
    pub rtol: f64,
}

impl Settings {
    /// The settings for a seed.
    pub fn draw(seed: u64) -> Settings {
        let mut random = Random::new(seed ^ 0x5e77);
        Settings {
            points: random.choose(&[3, 11, 51, 101, 101, 301]),
            rtol: random.choose(&[1e-5, 1e-6, 1e-6, 1e-8]),
        }
    }

    /// The same with more samples, and the interval at which they coincide with these.
    fn finer(&self) -> (Settings, usize) {
        let stride = SEEN.div_ceil(self.points - 1);
        let points = (self.points - 1) * stride + 1;
        (Settings { points, ..*self }, stride)
    }

    fn plan(&self, model: &Model) -> Plan {
        Plan {
            stop: model.stop,
            points: self.points,
            rtol: self.rtol,
            ..Plan::default()
        }
    }
}

/// A model that runs, and its expected samples.
pub struct Case {
    /// In the units of its seed.
    pub model: Model,
    /// In units in which values are near 1.
    natural: Model,
    pub units: Units,
    pub settings: Settings,
    pub text: String,
    system: StateSystem,
    reference: Rows,
    /// True if the reference is the matrix exponential.
    pub is_exact: bool,
    base: Result<Rows, Fault>,
    columns: Vec<Column>,
    grown: OnceCell<Vec<Column>>,
}

/// A violated relation.
#[derive(Clone, Debug)]
pub struct Broken {
    /// A keyword for violations of one kind.
    pub kind: String,
    pub words: String,
    pub share: f64,
    pub text: String,
}

impl Broken {
    fn new(kind: String, words: String, share: f64, text: &str) -> Broken {
        Broken {
            kind,
            words,
            share,
            text: text.to_string(),
        }
    }
}

/// The variant of a case under a relation.
struct Variant {
    text: String,
    states: StateRequest,
    symbolic: bool,
    plan: Plan,
    native: bool,
    table: Option<Table>,
    /// The intervals at which expected and found samples are compared.
    strides: (usize, usize),
    units: Units,
}

impl Case {
    /// The case of a model, or the reason why there is none.
    pub fn new(natural: &Model, units: Units, settings: Settings) -> Result<Case, Fault> {
        let model = units.apply(natural);
        let text = write(&model, Writing::PLAIN);
        let system = compile(&text, StateRequest::Natural, false)?;
        let base = run(&system, &settings.plan(&model), true, None);
        // Few samples may miss larger values between them, and the magnitude of columns is based on those.
        let (finer, stride) = settings.finer();
        let exact = exactly(&system, &model, &finer, &base);
        let is_exact = exact.is_some();
        let seen = match exact {
            Some(rows) => rows,
            None => tight(natural, &units, &finer, &model)?,
        };
        if seen
            .values
            .iter()
            .flatten()
            .any(|value| value.abs() > 1e100 || value.is_nan())
        {
            return Err(Fault::Slow);
        }
        Ok(Case {
            columns: columns(&model, natural, &units, &seen, base.as_ref().ok()),
            reference: seen.every(stride),
            model,
            natural: natural.clone(),
            units,
            settings,
            text,
            system,
            is_exact,
            base,
            grown: OnceCell::new(),
        })
    }

    /// Returns true if its equations are linear.
    pub fn is_linear(&self) -> bool {
        self.system.equations.linear
    }

    /// The settings of its run.
    pub fn plan(&self) -> Plan {
        self.settings.plan(&self.model)
    }

    /// The times of its samples.
    pub fn times(&self) -> Vec<f64> {
        self.reference.times.clone()
    }

    /// The violation of a relation, if any.
    pub fn check(&self, relation: Relation, seed: u64) -> Option<Broken> {
        let variant = self.variant(relation, seed)?;
        let found = self.run(relation, &variant);
        // A failure that the unchanged model shares would be reported twice.
        if let (Err(fault), Err(own)) = (&found, &self.base)
            && relation != Relation::Itself
            && fault.word() == own.word()
        {
            return None;
        }
        // A method may be slow for models that others solve quickly.
        if relation == Relation::Itself && found == Err(Fault::Slow) {
            return Some(Broken::new(
                "slow".into(),
                "more steps or time than it is given".into(),
                0.0,
                &variant.text,
            ));
        }
        let (expected, allowed) = match (&self.base, relation.is_about_runs()) {
            (Ok(base), _) if relation == Relation::Portable => (base, 1e-9),
            (Ok(base), false) => (base, SHARE * self.settings.rtol),
            _ => (&self.reference, SHARE * self.settings.rtol),
        };
        let expected = expected.every(variant.strides.0);
        let found = found.map(|rows| rows.every(variant.strides.1));
        self.compared(&expected, found, &variant.units, allowed, &variant.text)
    }

    /// The error of samples from another source, if any.
    pub fn judge(&self, found: Result<Rows, Fault>, text: &str) -> Option<Broken> {
        if self.base.is_err() {
            return None;
        }
        self.compared(&self.reference, found, &Units::SAME, SHARE * self.settings.rtol, text)
    }

    fn compared(
        &self,
        expected: &Rows,
        found: Result<Rows, Fault>,
        units: &Units,
        allowed: f64,
        text: &str,
    ) -> Option<Broken> {
        let rows = match found {
            Ok(rows) => rows,
            Err(Fault::Slow) => return None,
            Err(fault) => return Some(Broken::new(fault.word(), format!("{fault:?}"), 0.0, text)),
        };
        let compare = |columns: &[Column]| {
            let columns = columns.iter().zip(&self.model.outputs).map(|(column, output)| Column {
                factor: units.factor(&self.model, &output.quantity),
                ..column.clone()
            });
            difference(&columns.collect::<Vec<_>>(), expected, &rows, allowed)
        };
        match compare(&self.columns) {
            Ok(found) if found.excess <= 1.0 => return None,
            Ok(_) => {}
            Err(words) => return Some(Broken::new("shape".into(), words, 0.0, text)),
        }
        let found = compare(self.grown.get_or_init(|| self.grown())).expect("the shapes are the same");
        (found.excess > 1.0).then(|| Broken::new("differs".into(), words(&found), found.share, text))
    }

    fn run(&self, relation: Relation, variant: &Variant) -> Result<Rows, Fault> {
        if relation == Relation::Itself {
            return self.base.clone();
        }
        if variant.text == self.text && variant.states == StateRequest::Natural && !variant.symbolic {
            return run(&self.system, &variant.plan, variant.native, variant.table.clone());
        }
        let system = compile(&variant.text, variant.states, variant.symbolic)?;
        run(&system, &variant.plan, variant.native, variant.table.clone())
    }

    /// The variant of a relation; none if it does not apply to this model.
    fn variant(&self, relation: Relation, seed: u64) -> Option<Variant> {
        let mut random = Random::new(seed.wrapping_mul(31) ^ 0xabcd);
        let model = &self.model;
        let mut variant = Variant {
            text: String::new(),
            states: StateRequest::Natural,
            symbolic: false,
            plan: self.settings.plan(model),
            native: true,
            table: None,
            strides: (1, 1),
            units: Units::SAME,
        };
        let mut writing = Writing::PLAIN;
        let mut drawn = model.clone();
        match relation {
            Relation::Itself => {}
            Relation::Method(method) => variant.plan.method = method,
            Relation::Place(place) => writing.place = place,
            Relation::Idle(Idle::Resistances)
                if !model
                    .elements
                    .iter()
                    .any(|element| matches!(element.kind, Kind::DType(_))) =>
            {
                return None;
            }
            Relation::Idle(idle) => writing.idle = idle,
            Relation::Shuffled => writing.order = Some(random.bits()),
            Relation::Prefixes => writing.units = Some(random.bits()),
            Relation::Parameters => writing.parameters = true,
            Relation::Generic => writing.generic = true,
            Relation::Rescaled => {
                variant.units = other_units(&mut random);
                drawn = variant.units.apply(model);
                variant.plan.stop = drawn.stop;
            }
            Relation::Flipped => drawn = flipped(model, &mut random),
            Relation::Parted => drawn = parted(model, &mut random)?,
            Relation::Bonds => writing.bonds = true,
            Relation::BondsShuffled => {
                writing.bonds = true;
                writing.order = Some(random.bits());
                writing.place = Place::Written;
            }
            Relation::States(states) => {
                variant.states = states;
                writing.bonds = states == StateRequest::Power;
            }
            Relation::Portable => variant.native = false,
            Relation::Symbolic => variant.symbolic = true,
            Relation::Dense => {
                let times = 10;
                variant.plan.points = (self.settings.points - 1) * times + 1;
                variant.strides = (1, times);
            }
            Relation::Sparse => {
                let steps = self.settings.points - 1;
                let stride = [10, 5, 2, steps]
                    .into_iter()
                    .find(|stride| steps.is_multiple_of(*stride))?;
                variant.plan.points = steps / stride + 1;
                variant.strides = (stride, 1);
            }
            Relation::Later => {
                let by = random.choose(&[-2.5, 0.3, 1.0, 20.0]) * model.stop;
                let functions = model.functions.iter().map(|function| function.later(by));
                drawn.functions = functions.collect::<Option<_>>()?;
                variant.plan.start = by;
                variant.plan.stop = by + model.stop;
            }
            Relation::Table => {
                let (times, values) = model.functions.first()?.table()?;
                variant.table = Some(Table::new(times, values, false));
            }
        }
        variant.text = write(&drawn, writing);
        Some(variant)
    }

    /// The columns, with their sensitivity to a change of all values by a millionth.
    fn grown(&self) -> Vec<Column> {
        let mut out = self.columns.clone();
        for seed in 0..2 {
            let Ok(rows) = reference_of(&disturbed(&self.natural, seed), &self.units, &self.settings) else {
                continue;
            };
            for column in &mut out {
                let one = std::slice::from_ref(&*column).to_vec();
                let one = [Column {
                    grows: 1.0,
                    ..one[0].clone()
                }];
                if let Ok(found) = difference(&one, &self.reference, &rows, 1e-4) {
                    column.grows = column.grows.max(found.excess);
                }
            }
        }
        out
    }
}

fn words(found: &Difference) -> String {
    format!(
        "{} at {:e} s is {:e} and should be {:e}: {:.1e} of its size, {:.1e} of what is allowed",
        found.column, found.time, found.found, found.expected, found.share, found.excess
    )
}

/// The reference of a model, as [`Case::new`] finds it.
fn reference_of(natural: &Model, units: &Units, settings: &Settings) -> Result<Rows, Fault> {
    let model = units.apply(natural);
    let system = compile(&write(&model, Writing::PLAIN), StateRequest::Natural, false)?;
    let base = run(&system, &settings.plan(&model), true, None);
    match exactly(&system, &model, settings, &base) {
        Some(rows) => Ok(rows),
        None => tight(natural, units, settings, &model),
    }
}

/// The samples from the matrix exponential, if the model is linear and its functions are supported.
fn exactly(system: &StateSystem, model: &Model, settings: &Settings, base: &Result<Rows, Fault>) -> Option<Rows> {
    let form = system.matrices.numeric.as_ref().filter(|_| system.equations.linear)?;
    let base = base.as_ref().ok()?;
    if system.inputs.len() != model.functions.len() || system.states.len() > 25 {
        return None;
    }
    let plan = settings.plan(model);
    let times: Vec<f64> = (0..plan.points).map(|row| plan.time(row)).collect();
    let values = exact::rows(form, &model.functions, &base.first, &times)?;
    Some(Rows {
        values,
        times,
        ..base.clone()
    })
}

/// The samples of a run at tight tolerances in units in which all values are near 1, converted to the units of the
/// model.
fn tight(natural: &Model, units: &Units, settings: &Settings, model: &Model) -> Result<Rows, Fault> {
    let system = compile(&write(natural, Writing::PLAIN), StateRequest::Natural, false)?;
    let within = |rtol: f64, atol: f64, method: Method| {
        let plan = Plan {
            rtol,
            atol: Some(atol),
            method,
            ..settings.plan(natural)
        };
        run(&system, &plan, true, None)
    };
    let tightest = (settings.rtol * 1e-3).min(1e-9);
    let by_some_method = |atol: f64| {
        let rows = within(tightest, atol, Method::Auto);
        rows.or_else(|_| within(tightest, atol, Method::Bdf))
    };
    let rows = by_some_method(tightest * 1e-3);
    let mut rows = rows.or_else(|_| within(0.1 * settings.rtol, 1e-3 * settings.rtol, Method::Sdirk))?;
    // Values far below 1 in these units have correct digits only if the tolerance is correspondingly small.
    let least = rows.smallest_column();
    if least < 1e-2 {
        rows = by_some_method(tightest * 1e-3 * least).unwrap_or(rows);
    }
    let factors: Vec<f64> = natural
        .outputs
        .iter()
        .map(|output| units.factor(natural, &output.quantity))
        .collect();
    for row in &mut rows.values {
        row.iter_mut()
            .zip(&factors)
            .for_each(|(value, factor)| *value *= factor);
    }
    let plan = settings.plan(model);
    rows.times = (0..plan.points).map(|row| plan.time(row)).collect();
    Ok(rows)
}

/// Other base units.
fn other_units(random: &mut Random) -> Units {
    let mut power = || 10f64.powi(3 * (random.below(5) as i32 - 2));
    Units {
        across: [0; 4].map(|_| power()),
        power: power(),
        time: power(),
    }
}

/// The same model with all values of its elements changed by a millionth.
fn disturbed(model: &Model, seed: u64) -> Model {
    let mut random = Random::new(seed ^ 0xd157);
    let mut out = model.clone();
    let mut change = |value: &mut f64| *value *= 1.0 + 1e-6 * [1.0, -1.0][random.below(2)];
    for element in &mut out.elements {
        match &mut element.kind {
            Kind::AType(value)
            | Kind::TType(value)
            | Kind::DType(value)
            | Kind::Transformer(value)
            | Kind::Gyrator(value) => change(value),
            Kind::CubicT { linear, cubic } | Kind::CubicA { linear, cubic } => {
                [linear, cubic].map(&mut change).into_iter().collect()
            }
            Kind::Curved { linear, part, size, .. } => [linear, part, size].map(&mut change).into_iter().collect(),
            Kind::Bar { density, modulus, .. } => [density, modulus].map(&mut change).into_iter().collect(),
            Kind::AcrossSource(_) | Kind::ThroughSource(_) => {}
        }
    }
    out
}

/// The measured quantity of each output.
fn columns(model: &Model, natural: &Model, units: &Units, reference: &Rows, base: Option<&Rows>) -> Vec<Column> {
    let kind = |quantity: &Quantity| match quantity {
        Quantity::Across(at, port) => (0, model.domain(*at, *port).place()),
        Quantity::Through(at, port) => (1, model.domain(*at, *port).place()),
        Quantity::IntAcross(at) => (2, model.domain(*at, 0).place()),
        Quantity::Power(_) => (3, 0),
        Quantity::Energy(_) => (4, 0),
        _ => (5, 0),
    };
    let extents: Vec<((usize, usize), f64, f64)> = model
        .outputs
        .iter()
        .map(|output| {
            let values = reference.column(&output.name).expect("every output has a column");
            let (range, size) = extent(&values);
            (kind(&output.quantity), range, size)
        })
        .collect();
    let largest = |kind: (usize, usize)| {
        let same = extents.iter().filter(|entry| entry.0 == kind);
        same.map(|entry| entry.2).fold(0.0, f64::max)
    };
    let factors: Vec<f64> = natural
        .outputs
        .iter()
        .map(|output| units.factor(natural, &output.quantity))
        .collect();
    let of_model = extents.iter().zip(&factors).map(|(entry, factor)| entry.2 / factor);
    let of_model = of_model.fold(1.0, f64::max);
    let by_states = |at: usize| base.and_then(|rows| rows.by_states.get(at)).copied().unwrap_or(0.0);
    let columns = model.outputs.iter().zip(&extents).enumerate();
    let columns = columns.map(|(at, (output, (kind, range, size)))| Column {
        name: output.name.clone(),
        factor: 1.0,
        size: range
            .max(1e-3 * size)
            .max(1e-3 * largest(*kind))
            .max(1e-3 * by_states(at))
            .max(NOTHING * of_model * factors[at]),
        grows: 1.0,
    });
    columns.collect()
}
