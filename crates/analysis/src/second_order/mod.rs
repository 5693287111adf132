//! Equations of second order: `M s^2 X + B s X + K X = (input + input_integral/s + input_derivative s) U`.
//!
//! The states are the flows of the inertias, `s z_p = A_pp z_p + A_pq z_q + B_p u`, and the efforts of the compliances, likewise. With S such
//! that `A_pq A_qq = S A_pq` the efforts are eliminated: `(s - S)(s z_p - A_pp z_p - B_p u) = A_pq A_qp z_p + A_pq B_q u`, where
//! `z_p = s X`. Multiplied by the inertias, M and K are symmetric. The other way round the displacements of the compliances are left
//! (Wang and Ren, equations 6 to 9).

mod matrix;
mod mechanism;
mod partition;

pub use mechanism::{Mechanism, mechanism};
pub use partition::{Partition, block, partition};

use crate::values::{exact_form, try_map};
use lgm_algebra::expr::{ExprId, Exprs, SymbolId};
use lgm_algebra::{Field, FromExpression, RationalFunction, RationalFunctions};
use lgm_model::system::{LinearForm, SparseMatrix, StateSystem};
use lgm_model::{ElementId, Law, Measure, Model, StorageForm, Variable};
use lgm_source::codes::Code;
use lgm_source::diagnostic::Diagnostic;
use matrix::{Rows, combined, is_zero, product, solution, transposed};
use num_rational::BigRational;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Term operations that the elimination may take.
const OPERATIONS: u64 = 20_000_000;

/// More states than this are too many for full matrices over the parameters.
const MOST: usize = 60;

/// The displacements that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eliminated {
    /// Those of the compliances: the coordinates are displacements of the inertias.
    Compliances,
    /// Those of the inertias.
    Inertias,
}

/// Equations of second order over the parameters.
#[derive(Clone, Debug)]
pub struct SecondOrder {
    /// The arena.
    pub exprs: Exprs,
    /// The elements whose displacements the coordinates are.
    pub coordinates: Vec<Arc<str>>,
    /// k-by-k.
    pub mass: Vec<Vec<ExprId>>,
    /// k-by-k, with the gyroscopic part.
    pub damping: Vec<Vec<ExprId>>,
    /// k-by-k, with the circulatory part.
    pub stiffness: Vec<Vec<ExprId>>,
    /// The skew part of the damping, which takes no power.
    pub gyroscopic: Vec<Vec<ExprId>>,
    /// The skew part of the stiffness, which no energy belongs to.
    pub circulatory: Vec<Vec<ExprId>>,
    /// k-by-m, of the inputs.
    pub input: Vec<Vec<ExprId>>,
    /// k-by-m, of the integrals of the inputs.
    pub input_integral: Vec<Vec<ExprId>>,
    /// k-by-m, of the rates of the inputs.
    pub input_derivative: Vec<Vec<ExprId>>,
}

type Entry = RationalFunction;

/// The parts of A, B and E that belong to the coordinates that are kept (k) and to those that are left out (o).
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

/// The equations of a linear system in power variables, whose outputs are those of
/// [`with_storage_outputs`](crate::with_storage_outputs) from the first one given on; over the parameters, or for their values.
pub fn second_order(
    model: &Model,
    system: &StateSystem,
    first_output: usize,
    (wanted, is_numeric): (Option<Eliminated>, bool),
) -> Result<SecondOrder, Box<Diagnostic>> {
    let form = system
        .symbolic
        .as_ref()
        .filter(|_| system.linear && system.states.len() <= MOST);
    let Some(form) = form else {
        return Err(refused(
            "the system has no matrices over the parameters, of up to 60 states",
            "linearise it with `--equilibrium` or `--at`, or compile it with fewer sections",
        ));
    };
    let mut exprs = system.exprs.clone();
    let mut field = RationalFunctions::new(OPERATIONS, RationalFunctions::DEFAULT_TERMS);
    // Numbers are exact on the way: which entries vanish hangs on no rounding.
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
    let form = read.ok_or_else(|| refused("the matrices have no values", "look at `lgm equations`"))?;
    let (inertias, compliances) = classes(model, system, &form)?;
    let fewer = match inertias.len() <= compliances.len() && !inertias.is_empty() {
        true => Eliminated::Compliances,
        false => Eliminated::Inertias,
    };
    let first = wanted.unwrap_or(fewer);
    let mut of = |eliminated: Eliminated| {
        let (kept, others) = match eliminated {
            Eliminated::Compliances => (&inertias, &compliances),
            Eliminated::Inertias => (&compliances, &inertias),
        };
        if kept.is_empty() {
            return Err("there is no storage of the kind whose displacements are asked for".into());
        }
        let parts = Parts::of(&form, kept, others, system.declared_inputs().count());
        // A displacement of a compliance is its own, and not that of others that follow it.
        let owners = kept.iter().map(|state| system.states[*state].element.clone());
        let owners = (eliminated == Eliminated::Inertias).then(|| owners.collect::<Vec<_>>());
        let own = (kept.as_slice(), owners.as_deref());
        let energy = energies(model, &mut field, (&exprs, values), &form, first_output, own);
        let energy = energy.map_err(Fault::Whole)?;
        Ok((kept, parts.eliminated(&mut field, &energy, eliminated)?))
    };
    let found = of(first);
    let found = match found {
        Err(Fault::OfKind(reason)) => match (of(first.other()), wanted) {
            (Ok(found), None) => Ok(found),
            (Ok(_), Some(_)) => Err(refused(reason, first.other().help())),
            (Err(Fault::OfKind(_)), _) => Err(refused(
                reason,
                "the displacements of the other kind have none either; `lgm equations` has those of first order",
            )),
            (Err(Fault::Whole(fault)), _) => Err(fault),
        },
        Err(Fault::Whole(fault)) => Err(fault),
        Ok(found) => Ok(found),
    };
    let (kept, found) = found?;
    let [gyroscopic, circulatory] = [&found[1], &found[2]].map(|rows| skew(&mut field, rows));
    if field.exhausted() {
        return Err(refused(
            "the entries are too long",
            "declare some of the parameters as `const`",
        ));
    }
    let mut written = |rows: &Rows<Entry>| -> Vec<Vec<ExprId>> {
        let row = |row: &Vec<Entry>| row.iter().map(|value| field.to_expression(&mut exprs, value)).collect();
        rows.iter().map(row).collect()
    };
    let [mass, damping, stiffness, input, input_integral, input_derivative] = found.map(|rows| written(&rows));
    let [gyroscopic, circulatory] = [gyroscopic, circulatory].map(|rows| written(&rows));
    Ok(SecondOrder {
        exprs,
        coordinates: kept.iter().map(|state| system.states[*state].element.clone()).collect(),
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

/// The values of all parameters.
fn parameter_numbers(system: &StateSystem) -> FxHashMap<SymbolId, BigRational> {
    let entries = system.parameters.iter().flat_map(|parameter| &parameter.entries);
    entries.map(|entry| (entry.symbol, entry.value.clone())).collect()
}

/// The matrices with the terms that they share written out, since nothing else of the result names these.
fn without_assignments(exprs: &mut Exprs, system: &StateSystem, form: &LinearForm<ExprId>) -> LinearForm<ExprId> {
    let mut values: FxHashMap<SymbolId, ExprId> = FxHashMap::default();
    for assignment in &system.assignments {
        let value = exprs.substitute(&[assignment.value], |symbol| values.get(&symbol).copied())[0];
        values.insert(assignment.symbol, value);
    }
    let mut whole = |id: &ExprId| exprs.substitute(&[*id], |symbol| values.get(&symbol).copied())[0];
    try_map(form, |id| Some(whole(id))).expect("invariant: every entry has a value")
}

/// The skew part of a square matrix.
fn skew(field: &mut RationalFunctions, rows: &Rows<Entry>) -> Rows<Entry> {
    let turned = transposed(rows, rows.len());
    let two = field.add(&field.one(), &field.one());
    let half = field.invert(&two);
    let difference = combined(field, rows, &turned, true);
    let halved =
        |field: &mut RationalFunctions, row: &Vec<Entry>| row.iter().map(|entry| field.mul(entry, &half)).collect();
    difference.iter().map(|row| halved(field, row)).collect()
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

/// The reason why there are no equations.
enum Fault {
    /// For the displacements of one kind; those of the other kind may have them.
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

/// The states of inertias and of compliances. Integrals that nothing depends on are left out.
fn classes(
    model: &Model,
    system: &StateSystem,
    form: &LinearForm<Entry>,
) -> Result<(Vec<usize>, Vec<usize>), Box<Diagnostic>> {
    let (mut inertias, mut compliances) = (Vec::new(), Vec::new());
    let mut integrals = Vec::new();
    for (at, state) in system.states.iter().enumerate() {
        let ids = (0..model.elements.len() as u32).map(ElementId);
        let element = ids.into_iter().find(|id| *model.element_name(*id) == *state.element);
        let law = element.map(|id| &model.elements[id.index()].law);
        match law {
            Some(Law::Storage { co_energy, .. }) if state.variable.is_co_energy() => match co_energy {
                Variable::Flow => inertias.push(at),
                Variable::Effort => compliances.push(at),
            },
            _ => integrals.push(at),
        }
    }
    for (row, entries) in form.a.rows.iter().enumerate() {
        let reads = |column: usize| {
            entries
                .iter()
                .any(|entry| entry.0 as usize == column && !entry.1.is_zero())
        };
        let known = integrals
            .iter()
            .find(|column| !integrals.contains(&row) && reads(**column));
        if let Some(state) = known {
            let message = format!(
                "`{}` is a state of no storage, and others depend on it",
                system.states[*state].name
            );
            return Err(refused(
                &message,
                "equations of second order hold linear inertias and compliances alone",
            ));
        }
    }
    Ok((inertias, compliances))
}

/// The energies of the kept states as a matrix W: `z' W z/2`, with what storage without a state has of them; or those of some elements alone.
fn energies(
    model: &Model,
    field: &mut RationalFunctions,
    (exprs, numbers): (&Exprs, Option<&FxHashMap<SymbolId, BigRational>>),
    form: &LinearForm<Entry>,
    first_output: usize,
    (kept, owners): (&[usize], Option<&[Arc<str>]>),
) -> Result<Rows<Entry>, Box<Diagnostic>> {
    let mut sum = vec![vec![Entry::zero(); kept.len()]; kept.len()];
    let symbols: Vec<_> = model.outputs.iter().map(|output| output.value).collect();
    let port_of = |at: usize| {
        let measured = model.measures.iter().find(|(symbol, _)| {
            matches!(model.exprs.node(symbols[at]), lgm_algebra::expr::Node::Symbol(own) if own == symbol)
        });
        match measured.map(|measured| measured.1) {
            Some(Measure::PortEffort(port) | Measure::PortFlow(port)) => Some(port),
            _ => None,
        }
    };
    let mut at = first_output;
    while at < symbols.len() {
        let Some(port) = port_of(at) else {
            at += 1;
            continue;
        };
        let id = model.ports[port.index()].element;
        let element = &model.elements[id.index()];
        let count = element.ports.len();
        if let Some(owners) = owners {
            let name = model.element_name(id);
            if owners.iter().all(|owner| **owner != *name) {
                at += count;
                continue;
            }
        }
        let Law::Storage {
            value, form: entered, ..
        } = &element.law
        else {
            return Err(refused(
                "there is storage that is not linear",
                "equations of second order hold linear inertias and compliances alone",
            ));
        };
        // The co-energy variables of the element over the kept states, and its value.
        let rows: Rows<Entry> = (at..at + count)
            .map(|output| {
                let get = |state: &usize| form.c.get(output, *state).cloned().unwrap_or(Entry::zero());
                kept.iter().map(get).collect()
            })
            .collect();
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
                list.push(read.ok_or_else(|| refused("a value of storage is infinite", "look at the parameters"))?);
            }
            values.push(list);
        }
        let weighted = match entered {
            StorageForm::Direct => product(field, &values, &rows, kept.len()),
            StorageForm::Inverse => solution(field, &values, &rows, count)
                .ok_or_else(|| refused("a stiffness is singular", "look at the parameters"))?,
        };
        let part = product(field, &transposed(&rows, kept.len()), &weighted, kept.len());
        sum = combined(field, &sum, &part, false);
        at += count;
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

    /// M, B, K, and the matrices of inputs, their integrals and their rates.
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
                "these displacements alone have no equations of second order: what is left out has losses of its own",
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
            // Flows are rates of displacements: all is divided by s, and multiplied by the inertias.
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
