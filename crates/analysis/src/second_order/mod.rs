//! Equations of second order: `M s^2 X + B s X + K X = (input + input_integral/s + input_derivative s) U`.
//!
//! The states are the flows of the inertias, `s z_p = A_pp z_p + A_pq z_q + B_p u`, and the efforts of the compliances, likewise. With S
//! such that `A_pq A_qq = S A_pq` the efforts are eliminated: `(s - S)(s z_p - A_pp z_p - B_p u) = A_pq A_qp z_p + A_pq B_q u`, where `z_p
//! = s X`. Multiplied by the inertias, M and K are symmetric. Conversely, the displacements of the compliances can be kept (Wang and Ren,
//! equations 6 to 9).

mod at_rest;
mod fields;
mod matrix;
mod mechanism;
mod partition;

pub use at_rest::mechanism_at_rest;
pub use fields::{JunctionStructure, junction_structure};
pub use mechanism::{Mechanism, mechanism};
pub use partition::{Partition, block, partition};

use crate::eigen::storage::StorageOutputs;
use crate::values::{exact_form, try_map};
use lgm_algebra::expr::{ExprId, Exprs, SymbolId, to_f64};
use lgm_algebra::{Field, FromExpression, RationalFunction, RationalFunctions};
use lgm_equations::{is_large, lowest_terms};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_model::{ElementId, Law, Model, StorageForm, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use matrix::{Rows, combined, is_zero, product, solution, transposed};
use num_rational::BigRational;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Symmetric or skew parts of a numeric matrix below this fraction of it are round-off.
const SKEW_NOISE: f64 = 1e-14;

/// The maximum number of term operations for the elimination.
const OPERATIONS: u64 = 20_000_000;

/// The maximum number of states for full matrices in terms of the parameters.
const MOST: usize = 60;

/// The displacements that are omitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eliminated {
    /// The displacements of the compliances: the coordinates are displacements of the inertias.
    Compliances,
    /// The displacements of the inertias.
    Inertias,
}

/// Equations of second order in terms of the parameters.
#[derive(Clone, Debug)]
pub struct SecondOrder {
    /// The arena.
    pub exprs: Exprs,
    /// The elements whose displacements are the coordinates.
    pub coordinates: Vec<Arc<str>>,
    /// k-by-k.
    pub mass: Vec<Vec<ExprId>>,
    /// k-by-k, with the gyroscopic part.
    pub damping: Vec<Vec<ExprId>>,
    /// k-by-k, with the circulatory part.
    pub stiffness: Vec<Vec<ExprId>>,
    /// The skew part of the damping, which dissipates no power.
    pub gyroscopic: Vec<Vec<ExprId>>,
    /// The skew part of the stiffness, which has no potential energy.
    pub circulatory: Vec<Vec<ExprId>>,
    /// k-by-m, of the inputs.
    pub input: Vec<Vec<ExprId>>,
    /// k-by-m, of the integrals of the inputs.
    pub input_integral: Vec<Vec<ExprId>>,
    /// k-by-m, of the rates of the inputs.
    pub input_derivative: Vec<Vec<ExprId>>,
}

type Entry = RationalFunction;

/// The parts of A, B and E for the kept coordinates (k) and the omitted ones (o).
struct Parts {
    kk: Rows<Entry>,
    ko: Rows<Entry>,
    ok: Rows<Entry>,
    oo: Rows<Entry>,
    b_k: Rows<Entry>,
    b_o: Rows<Entry>,
    e_k: Rows<Entry>,
    e_o: Rows<Entry>,
    inputs: usize,
}

/// Derives the second-order equations of a linear system in power variables, in terms of the parameters or for their values. The outputs
/// must be the outputs of [`with_storage_outputs`](crate::with_storage_outputs).
pub fn second_order(
    model: &Model,
    system: &StateSystem,
    storage: &[StorageOutputs],
    (wanted, is_numeric): (Option<Eliminated>, bool),
) -> Result<SecondOrder, Box<Diagnostic>> {
    let form = system
        .matrices
        .symbolic
        .as_ref()
        .filter(|_| system.equations.linear && system.states.len() <= MOST);
    let Some(form) = form else {
        return Err(refused(
            "the system has no symbolic matrices; these are limited to 60 states",
            "linearise it with `--equilibrium` or `--at`, or compile it with fewer sections",
        ));
    };
    let mut exprs = system.exprs.clone();
    let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
    // Intermediate numbers are exact, so that no vanishing entry depends on round-off.
    let numbers = is_numeric.then(|| exact_form(system)).flatten();
    let values = parameter_numbers(system);
    let values = numbers.is_some().then_some(&values);
    let read = match &numbers {
        Some(numbers) => try_map(numbers, |value| Some(RationalFunction::number(value))),
        None => {
            let written = without_assignments(&mut exprs, system, form);
            try_map(&written, |id| field.from_expression(&exprs, *id).ok())
        }
    };
    let form = read.ok_or_else(|| refused("the matrices have no values", "see `lgm equations`"))?;
    let Classes {
        inertias,
        compliances,
        displacements,
    } = classes(model, system, &form, storage);
    let is_fewer = inertias.len() <= compliances.len() || !displacements.is_empty();
    let fewer = match is_fewer && !inertias.is_empty() {
        true => Eliminated::Compliances,
        false => Eliminated::Inertias,
    };
    // Displacements that forces depend on are omitted like the displacements of compliances.
    let springs = [&compliances[..], &displacements].concat();
    let first = wanted.unwrap_or(fewer);
    let mut of = |eliminated: Eliminated| {
        let (kept, others) = match eliminated {
            Eliminated::Compliances => (&inertias, &springs),
            Eliminated::Inertias => (&compliances, &inertias),
        };
        if kept.is_empty() {
            return Err("there is no storage with the requested displacements".into());
        }
        if eliminated == Eliminated::Inertias && !displacements.is_empty() {
            return Err("forces depend on displacements that are not states of storage elements".into());
        }
        let parts = Parts::of(&form, kept, others, system.declared_inputs().count());
        // A displacement belongs to one compliance and not to others that follow it.
        let owners = kept.iter().map(|state| system.states[*state].element.clone());
        let owners = (eliminated == Eliminated::Inertias).then(|| owners.collect::<Vec<_>>());
        let own = (kept.as_slice(), owners.as_deref());
        let energy = energies(model, &mut field, (&exprs, values), (&form.c, storage), own);
        let energy = energy.map_err(Fault::Whole)?;
        Ok((kept, parts.eliminated(&mut field, &energy, eliminated)?))
    };
    let (kept, found) = of_either(first, wanted, &mut of)?;
    let [gyroscopic, circulatory] = [&found[1], &found[2]].map(|rows| match numbers {
        Some(_) => without_rounding(skew(&mut field, rows), rows),
        None => skew(&mut field, rows),
    });
    if field.exhausted() {
        return Err(refused(
            "the entries are too long",
            "declare some of the parameters as `const`",
        ));
    }
    let mut written = |rows: &Rows<Entry>| written(&mut exprs, &field, rows);
    let [mass, damping, stiffness, input, input_integral, input_derivative] = found.map(|rows| written(&rows));
    let [gyroscopic, circulatory] = [gyroscopic, circulatory].map(|rows| written(&rows));
    let whole = [&mass, &damping, &stiffness, &input, &input_integral, &input_derivative];
    if whole.into_iter().flatten().flatten().any(|id| is_large(&exprs, *id)) {
        return Err(refused(
            "the entries are too long to write out",
            "use `--numeric` for their values, or declare some of the parameters as `const`",
        ));
    }
    Ok(SecondOrder {
        exprs,
        coordinates: kept.iter().map(|state| coordinate(system, *state)).collect(),
        mass,
        damping,
        stiffness,
        gyroscopic,
        circulatory,
        input,
        input_integral,
        input_derivative,
    })
}

/// Returns the element of a state. If the element has several states, its name has the index of the state: `J[2]` for `J.w[2]`.
fn coordinate(system: &StateSystem, state: usize) -> Arc<str> {
    let own = &system.states[state];
    let is_shared = system
        .states
        .iter()
        .enumerate()
        .any(|(at, other)| at != state && other.element == own.element);
    match own.name.rfind('[') {
        _ if !is_shared => own.element.clone(),
        Some(index) => format!("{}{}", own.element, &own.name[index..]).into(),
        None => own.name.clone(),
    }
}

/// Derives the equations for the first kind, or for the other kind if none was requested and the first has no such equations.
fn of_either<T>(
    first: Eliminated,
    wanted: Option<Eliminated>,
    of: &mut dyn FnMut(Eliminated) -> Result<T, Fault>,
) -> Result<T, Box<Diagnostic>> {
    match of(first) {
        Err(Fault::OfKind(reason)) => match (of(first.other()), wanted) {
            (Ok(found), None) => Ok(found),
            (Ok(_), Some(_)) => Err(refused(reason, first.other().help())),
            (Err(Fault::OfKind(_)), _) => Err(refused(
                reason,
                "neither do the other displacements; `lgm equations` prints the first-order equations",
            )),
            (Err(Fault::Whole(fault)), _) => Err(fault),
        },
        Err(Fault::Whole(fault)) => Err(fault),
        Ok(found) => Ok(found),
    }
}

/// Returns the values of all parameters.
fn parameter_numbers(system: &StateSystem) -> FxHashMap<SymbolId, BigRational> {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, entry.value.clone())).collect()
}

/// Returns the matrices with shared terms expanded, because nothing else in the result defines them.
fn without_assignments(exprs: &mut Exprs, system: &StateSystem, form: &LinearForm<ExprId>) -> LinearForm<ExprId> {
    let mut values: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for assignment in &system.equations.assignments {
        let value = exprs.substitute(&[assignment.value], |symbol| values.get(&symbol).copied())[0];
        values.insert(assignment.symbol, value);
    }
    let mut whole = |id: &ExprId| exprs.substitute(&[*id], |symbol| values.get(&symbol).copied())[0];
    try_map(form, |id| Some(whole(id))).expect("invariant: every entry has a value")
}

/// Returns the skew part of a square matrix.
fn skew(field: &mut RationalFunctions, rows: &Rows<Entry>) -> Rows<Entry> {
    let turned = transposed(rows, rows.len());
    let two = field.add(&field.one(), &field.one());
    let half = field.invert(&two);
    let difference = combined(field, rows, &turned, true);
    let halved =
        |field: &mut RationalFunctions, row: &Vec<Entry>| row.iter().map(|entry| field.mul(entry, &half)).collect();
    difference.iter().map(|row| halved(field, row)).collect()
}

/// Returns the entries in their shortest form.
fn written(exprs: &mut Exprs, field: &RationalFunctions, rows: &Rows<Entry>) -> Vec<Vec<ExprId>> {
    let mut entry = |value: &Entry| {
        let id = field.to_expression(exprs, value);
        lowest_terms(exprs, id)
    };
    rows.iter().map(|row| row.iter().map(&mut entry).collect()).collect()
}

/// Sets numbers to 0 that are round-off relative to the largest entry of the matrix: values at a linearisation point are rounded.
fn without_rounding(part: Rows<Entry>, whole: &Rows<Entry>) -> Rows<Entry> {
    let size = |value: &Entry| value.as_number().map(|number| to_f64(&number).abs());
    let largest = whole.iter().flatten().filter_map(size).fold(0.0, f64::max);
    let cleaned = |value: Entry| match size(&value) {
        Some(size) if size <= SKEW_NOISE * largest => RationalFunction::zero(),
        _ => value,
    };
    part.into_iter()
        .map(|row| row.into_iter().map(cleaned).collect())
        .collect()
}

impl Eliminated {
    fn other(self) -> Eliminated {
        match self {
            Eliminated::Compliances => Eliminated::Inertias,
            Eliminated::Inertias => Eliminated::Compliances,
        }
    }

    fn help(self) -> &'static str {
        match self {
            Eliminated::Compliances => "keep the displacements of the inertias: `--eliminate q`",
            Eliminated::Inertias => "keep the displacements of the compliances: `--eliminate p`",
        }
    }
}

/// The reason why no such equations exist.
enum Fault {
    /// Fails for the displacements of one kind; the other kind may succeed.
    OfKind(&'static str),
    Whole(Box<Diagnostic>),
}

impl From<&'static str> for Fault {
    fn from(reason: &'static str) -> Fault {
        Fault::OfKind(reason)
    }
}

fn refused(message: &str, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::LGM0715, message).help(help))
}

/// The classes of states in second-order equations.
struct Classes {
    inertias: Vec<usize>,
    compliances: Vec<usize>,
    /// States without storage that others depend on, such as the angle of a pendulum.
    displacements: Vec<usize>,
}

/// Returns the classes of the states. Integrals that no other equation uses are in no class.
fn classes(model: &Model, system: &StateSystem, form: &LinearForm<Entry>, storage: &[StorageOutputs]) -> Classes {
    let moving = moving(model, &form.c, storage);
    let (mut inertias, mut compliances, mut integrals) = (Vec::new(), Vec::new(), Vec::new());
    let ids: FxHashMap<String, ElementId> = (0..model.graph.elements.len() as u32)
        .map(|id| (model.element_name(ElementId(id)), ElementId(id)))
        .collect();
    for (at, state) in system.states.iter().enumerate() {
        let law = ids.get(&*state.element).map(|id| &model.graph.elements[id.index()].law);
        let variable = match law {
            Some(Law::Storage { co_energy, .. }) => Some(*co_energy),
            _ => moving.get(&(at as u32)).copied(),
        };
        match variable.filter(|_| state.variable.is_co_energy()) {
            Some(Variable::Flow) => inertias.push(at),
            Some(Variable::Effort) => compliances.push(at),
            None => integrals.push(at),
        }
    }
    let mut displacements = Vec::new();
    let mut readers = [&inertias[..], &compliances].concat();
    while let Some(reader) = readers.pop() {
        let read = form.a.rows[reader].iter().filter(|entry| !entry.1.is_zero());
        for column in read.map(|entry| entry.0 as usize) {
            if integrals.contains(&column) && !displacements.contains(&column) {
                displacements.push(column);
                readers.push(column);
            }
        }
    }
    displacements.sort_unstable();
    Classes {
        inertias,
        compliances,
        displacements,
    }
}

/// Returns the states that co-energy variables of storage follow, with the kind of these variables; flows if both kinds occur.
///
/// The velocity of a displacement that moduli depend on is such a state without its own storage.
fn moving(model: &Model, c: &SparseMatrix<Entry>, storage: &[StorageOutputs]) -> FxHashMap<u32, Variable> {
    let mut found: FxHashMap<u32, Variable> = FxHashMap::default();
    for each in storage {
        let ports = model.graph.elements[each.id.index()].ports.clone();
        let variables = variables(&model.graph.elements[each.id.index()].law, ports.len());
        for (output, variable) in (each.first..).zip(variables) {
            for (column, _) in c.rows[output].iter().filter(|entry| !entry.1.is_zero()) {
                let known = found.entry(*column).or_insert(variable);
                if variable == Variable::Flow {
                    *known = variable;
                }
            }
        }
    }
    found
}

/// Returns the co-energy variables of a storage element.
fn variables(law: &Law, ports: usize) -> Vec<Variable> {
    match law {
        Law::Storage { co_energy, .. } => vec![*co_energy; ports],
        Law::Nonlinear(law) => law.storage.iter().flatten().map(|port| port.0).collect(),
        _ => Vec::new(),
    }
}

/// Returns the energies of the kept states as a matrix W, `z' W z/2`, including the energy of dependent storage; optionally only for some
/// elements.
fn energies(
    model: &Model,
    field: &mut RationalFunctions,
    (exprs, numbers): (&Exprs, Option<&FxHashMap<SymbolId, BigRational>>),
    (c, storage): (&SparseMatrix<Entry>, &[StorageOutputs]),
    (kept, owners): (&[usize], Option<&[Arc<str>]>),
) -> Result<Rows<Entry>, Box<Diagnostic>> {
    let mut sum = vec![vec![Entry::zero(); kept.len()]; kept.len()];
    for each in storage {
        let name = model.element_name(each.id);
        if owners.is_some_and(|owners| owners.iter().all(|owner| **owner != *name)) {
            continue;
        }
        let count = each.ports;
        // The co-energy variables of the element in terms of the kept states.
        let rows: Rows<Entry> = (each.first..each.first + count)
            .map(|output| {
                let get = |state: &usize| c.get(output, *state).cloned().unwrap_or(Entry::zero());
                kept.iter().map(get).collect()
            })
            .collect();
        if is_zero(field, &rows) {
            continue;
        }
        let Law::Storage {
            value, form: entered, ..
        } = &model.graph.elements[each.id.index()].law
        else {
            return Err(refused(
                &format!("the storage `{name}` is nonlinear and depends on these displacements"),
                "second-order equations require linear inertias and compliances",
            ));
        };
        let mut values: Rows<Entry> = Vec::new();
        for row in 0..count {
            let mut list = Vec::new();
            for column in 0..count {
                let entry = value.get(row, column);
                let read = match numbers {
                    Some(numbers) => exprs
                        .evaluate_exact(&[entry], &|symbol| numbers.get(&symbol).cloned())
                        .ok()
                        .and_then(|mut list| list.pop())
                        .map(|value| RationalFunction::number(&value)),
                    None => field.from_expression(exprs, entry).ok(),
                };
                list.push(read.ok_or_else(|| refused("a value of storage is infinite", "check the parameters"))?);
            }
            values.push(list);
        }
        let weighted = match entered {
            StorageForm::Direct => product(field, &values, &rows, kept.len()),
            StorageForm::Inverse => solution(field, &values, &rows, count)
                .ok_or_else(|| refused("a stiffness is singular", "check the parameters"))?,
        };
        let part = product(field, &transposed(&rows, kept.len()), &weighted, kept.len());
        sum = combined(field, &sum, &part, false);
    }
    Ok(sum)
}

impl Parts {
    fn of(form: &LinearForm<Entry>, kept: &[usize], others: &[usize], inputs: usize) -> Parts {
        let part = |matrix: &SparseMatrix<Entry>, rows: &[usize], columns: &[usize]| -> Rows<Entry> {
            let entry = |row: usize, column: usize| matrix.get(row, column).cloned().unwrap_or(Entry::zero());
            let row = |row: &usize| columns.iter().map(|column| entry(*row, *column)).collect();
            rows.iter().map(row).collect()
        };
        let all: Vec<usize> = (0..inputs).collect();
        Parts {
            kk: part(&form.a, kept, kept),
            ko: part(&form.a, kept, others),
            ok: part(&form.a, others, kept),
            oo: part(&form.a, others, others),
            b_k: part(&form.b, kept, &all),
            b_o: part(&form.b, others, &all),
            e_k: part(&form.e, kept, &all),
            e_o: part(&form.e, others, &all),
            inputs,
        }
    }

    /// Returns M, B, K, and the matrices of inputs, their integrals and their rates.
    fn eliminated(
        &self,
        field: &mut RationalFunctions,
        energy: &Rows<Entry>,
        eliminated: Eliminated,
    ) -> Result<[Rows<Entry>; 6], Fault> {
        let (kept, others) = (self.kk.len(), self.oo.len());
        let zero = vec![vec![Entry::zero(); kept]; kept];
        let nothing = vec![vec![Entry::zero(); self.inputs]; kept];
        // S with ko*oo = S*ko, from its transpose.
        let right = product(field, &self.ko, &self.oo, others);
        let s = if is_zero(field, &right) {
            zero.clone()
        } else {
            let found = solution(field, &transposed(&self.ko, others), &transposed(&right, others), kept);
            let found = found.ok_or(
                "these displacements alone have no second-order equations: the eliminated part has losses or states",
            )?;
            transposed(&found, kept)
        };
        let sum = combined(field, &self.kk, &s, false);
        let damping = combined(field, &zero, &sum, true);
        let first = product(field, &s, &self.kk, kept);
        let second = product(field, &self.ko, &self.ok, kept);
        let stiffness = combined(field, &first, &second, true);
        // (s - S)(B_k + s E_k) + ko (B_o + s E_o) in powers of s.
        let m = self.inputs;
        let constant = {
            let own = product(field, &s, &self.b_k, m);
            let coupled = product(field, &self.ko, &self.b_o, m);
            combined(field, &coupled, &own, true)
        };
        let linear = {
            let own = product(field, &s, &self.e_k, m);
            let coupled = product(field, &self.ko, &self.e_o, m);
            let both = combined(field, &coupled, &own, true);
            combined(field, &self.b_k, &both, false)
        };
        match eliminated {
            // Flows are rates of displacements: all terms are divided by s, and multiplied by the inertias.
            Eliminated::Compliances => Ok([
                energy.clone(),
                product(field, energy, &damping, kept),
                product(field, energy, &stiffness, kept),
                product(field, energy, &linear, m),
                product(field, energy, &constant, m),
                product(field, energy, &self.e_k, m),
            ]),
            // Displacements are compliances times efforts.
            Eliminated::Inertias => {
                if !is_zero(field, &self.e_k) {
                    return Err("second derivatives of inputs act on these displacements".into());
                }
                let inverse = |field: &mut RationalFunctions, rows: &Rows<Entry>| {
                    // rows W^-1, from W X' = rows' with W symmetric.
                    let found = solution(field, energy, &transposed(rows, kept), kept);
                    found.map(|found| transposed(&found, kept))
                };
                let singular = "the compliances are singular";
                let damping = inverse(field, &damping).ok_or(singular)?;
                let stiffness = inverse(field, &stiffness).ok_or(singular)?;
                let mut mass = zero;
                for (at, row) in mass.iter_mut().enumerate() {
                    row[at] = Entry::one();
                }
                Ok([
                    mass,
                    product(field, energy, &damping, kept),
                    product(field, energy, &stiffness, kept),
                    product(field, energy, &constant, m),
                    nothing,
                    product(field, energy, &linear, m),
                ])
            }
        }
    }
}
