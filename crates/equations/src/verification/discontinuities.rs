//! The jump conditions of the flat graph: charges, momenta and fluxes pass through its junctions like flows and
//! efforts.
//!
//! A step of a source moves the states of storage that it determines. The law of a capacitor, integrated over the jump,
//! states that the charge through it is C times the change of its voltage; junctions and couplers apply to charges as
//! they do to flows; a resistance passes no charge without an impulse across it. The changes of all storage are
//! therefore correct if and only if these linear equations have a solution, independent of the state equations.

use crate::causality::structure::{Coefficient, port_column};
use crate::verification::equation::Equation;
use crate::verification::flat_graph::{FlatGraph, Seen, Violation};
use lgm_algebra::expr::{ExprId, Node, SymbolId, SymbolKind};
use lgm_model::{Dissipator, ElementId, Integral, Law, Matrix, NonlinearLaw, PortId, StorageForm, Variable};
use nalgebra::{DMatrix, DVector};

/// Graphs with more columns than this are not examined.
const LARGEST: usize = 400;

/// Changes below this fraction of the largest charge or momentum count as zero.
const NOTHING: f64 = 1e-7;

/// The equations of a jump: rows over impulses of the columns, and their right sides.
#[derive(Default)]
struct Jump {
    rows: Vec<(Vec<(u32, f64)>, f64)>,
    equations: Vec<Equation>,
    /// The largest charge or momentum of a storage.
    size: f64,
}

impl Jump {
    fn add(&mut self, row: Vec<(u32, f64)>, right: f64, equation: Equation) {
        self.rows.push((row, right));
        self.equations.push(equation);
    }
}

impl FlatGraph<'_> {
    /// Returns the largest violation of a jump from one side of an instant to the other. Before the start of a run all
    /// storage is at rest, and given initial values are accepted. Returns `None` if nothing is violated, and an error
    /// if no verdict is possible.
    pub fn jump(&self, before: Option<&Seen>, after: &Seen) -> Result<Option<Violation>, &'static str> {
        let count = self.flat().structure.columns;
        if count > LARGEST {
            return Err("the graph is too large");
        }
        let jump = self.jump_equations(before, after).ok_or("a port is not determined")?;
        // Just after a start at 0 s, charges may be as small as 1e-322, with digits that are pure round-off.
        if NOTHING * jump.size < f64::MIN_POSITIVE {
            return Ok(None);
        }
        let mut matrix = DMatrix::zeros(jump.rows.len(), count);
        let mut right = DVector::zeros(jump.rows.len());
        for (at, (row, value)) in jump.rows.iter().enumerate() {
            let scale = row.iter().fold(0.0, |most: f64, entry| most.max(entry.1.abs()));
            let scale = if scale > 0.0 { scale } else { 1.0 };
            for (column, factor) in row {
                matrix[(at, *column as usize)] += factor / scale;
            }
            right[at] = value / scale;
        }
        let solution = matrix
            .clone()
            .svd(true, true)
            .solve(&right, 1e-10)
            .map_err(|_| "it has no solution")?;
        let left = matrix * solution - right;
        let worst = (0..left.len()).max_by(|a, b| left[*a].abs().total_cmp(&left[*b].abs()));
        let Some(worst) = worst.filter(|worst| left[*worst].abs() > NOTHING * jump.size) else {
            return Ok(None);
        };
        let (what, span) = self.flat().words(jump.equations[worst]);
        Ok(Some(Violation {
            what,
            span,
            residual: left[worst].abs() / jump.size,
        }))
    }

    fn jump_equations(&self, before: Option<&Seen>, after: &Seen) -> Option<Jump> {
        let flat = self.flat();
        let model = flat.model;
        let mut jump = Jump::default();
        for (index, row) in flat.structure.rows.iter().enumerate() {
            let mut entries = Vec::with_capacity(row.len());
            for (column, coefficient) in row {
                let factor = match coefficient {
                    Coefficient::Unit(negative) => {
                        if *negative {
                            -1.0
                        } else {
                            1.0
                        }
                    }
                    Coefficient::Modulus(id, negative) => {
                        let of = |seen: &Seen| crate::verification::bounds::value_of(&model.exprs, *id, &seen.places);
                        let value = of(after)?.value;
                        // With a jumping modulus it is unknown how much passed before and after.
                        let other = before.map_or(Some(value), |before| of(before).map(|ball| ball.value))?;
                        if (value - other).abs() > 1e-9 * value.abs() {
                            return None;
                        }
                        if *negative { -value } else { value }
                    }
                };
                entries.push((*column, factor));
            }
            jump.add(entries, 0.0, Equation::Structure(index as u32));
        }
        for index in 0..model.graph.elements.len() {
            self.jump_of(ElementId(index as u32), before, after, &mut jump)?;
        }
        Some(jump)
    }

    fn jump_of(&self, id: ElementId, before: Option<&Seen>, after: &Seen, jump: &mut Jump) -> Option<()> {
        let model = self.flat().model;
        let element = &model.graph.elements[id.index()];
        let ports: Vec<PortId> = model.ports_of(id).collect();
        let law = Equation::Law(id);
        let nothing =
            |jump: &mut Jump, port: PortId, variable| jump.add(vec![(port_column(port, variable), 1.0)], 0.0, law);
        match &element.law {
            Law::Coupler { .. } => {}
            Law::Source { given, values } => {
                for (port, value) in ports.iter().zip(values) {
                    // Measured variables may have an impulse, which a controlled source transmits.
                    if !self.is_measured(*value) {
                        nothing(jump, *port, *given);
                    }
                }
            }
            Law::Nonlinear(law) => {
                for (port, storage) in ports.iter().zip(&law.storage) {
                    match storage {
                        Some((co_energy, energy)) => {
                            nothing(jump, *port, *co_energy);
                            self.jump_of_energy(id, *port, (*co_energy, *energy), (before, after), jump);
                        }
                        None if ports.len() == 1 => {
                            nothing(jump, *port, Variable::Effort);
                            nothing(jump, *port, Variable::Flow);
                        }
                        // The flow into one port may leave at another.
                        None => {}
                    }
                }
            }
            Law::Dissipator(law) => self.jump_of_dissipator(law, id, &ports, after, jump)?,
            Law::Storage { .. } => self.jump_of_storage(id, before, after, jump)?,
        }
        Some(())
    }

    /// Returns the charge or momentum of nonlinear storage, the change of its energy variable, if that is the integral
    /// of the port's variable.
    fn jump_of_energy(
        &self,
        id: ElementId,
        port: PortId,
        (co_energy, energy): (Variable, SymbolId),
        (before, after): (Option<&Seen>, &Seen),
        jump: &mut Jump,
    ) {
        let (model, element) = (self.flat().model, &self.flat().model.graph.elements[id.index()]);
        let mut integrals = self.model.integrals.iter();
        let Some(integral) = integrals.find(|integral| integral.symbol == energy) else {
            return;
        };
        let given = integral.start.is_some() || element.start.iter().any(Option::is_some);
        if before.is_none() && given {
            return;
        }
        let Law::Nonlinear(law) = &element.law else { return };
        let (effort, flow) = law.variables[(port.0 - element.ports.start) as usize];
        let passes = match co_energy {
            Variable::Effort => flow,
            Variable::Flow => effort,
        };
        if !matches!(model.exprs.node(integral.rate), Node::Symbol(symbol) if *symbol == passes) {
            return;
        }
        let of = |seen: &Seen| self.energy_variable(integral, law, seen);
        let (Some(now), Some(was)) = (of(after), before.map_or(Some(0.0), of)) else {
            return;
        };
        let row = vec![(port_column(port, co_energy.conjugate()), 1.0)];
        jump.add(row, now - was, Equation::Law(id));
        jump.size = jump.size.max(now.abs()).max(was.abs());
    }

    /// Returns the energy variable of a law: a state, an unknown of a loop, or the result of the inverse law.
    fn energy_variable(&self, integral: &Integral, law: &NonlinearLaw, seen: &Seen) -> Option<f64> {
        if let Some(found) = seen.places.get(&integral.symbol) {
            return Some(found.value.value);
        }
        let system = self.system;
        let name = self.model.path_name(integral.path);
        let mut unknowns = system.equations.loops.iter().flat_map(|each| &each.unknowns);
        let named = unknowns.position(|symbol| *system.exprs.symbol_info(*symbol).name == *name);
        if let Some(at) = named {
            return seen.unknowns.get(at).copied();
        }
        let mut exprs = self.flat().model.exprs.clone();
        let mut residuals = law.residuals.iter().copied();
        let residual = residuals.find(|residual| exprs.symbols_of(&[*residual]).contains(&integral.symbol))?;
        let value = exprs.isolate(residual, integral.symbol)?;
        Some(crate::verification::bounds::value_of(&exprs, value, &seen.places)?.value)
    }

    fn jump_of_storage(&self, id: ElementId, before: Option<&Seen>, after: &Seen, jump: &mut Jump) -> Option<()> {
        let model = self.flat().model;
        let element = &model.graph.elements[id.index()];
        let Law::Storage { co_energy, value, form } = &element.law else {
            return Some(());
        };
        let ports: Vec<PortId> = model.ports_of(id).collect();
        let law = Equation::Law(id);
        ports
            .iter()
            .for_each(|port| jump.add(vec![(port_column(*port, *co_energy), 1.0)], 0.0, law));
        let given = before.is_none() && element.start.iter().any(Option::is_some);
        if given {
            return Some(());
        }
        let mut change = DVector::zeros(ports.len());
        let mut size = DVector::zeros(ports.len());
        for (at, port) in ports.iter().enumerate() {
            let (Some(now), Some(was)) = (
                after.port(*port, *co_energy),
                before.map_or(Some(0.0), |before| before.port(*port, *co_energy)),
            ) else {
                return Some(());
            };
            change[at] = now - was;
            size[at] = now.abs().max(was.abs());
        }
        let matrix = self.numbers(value, &after.places)?;
        for (row, port) in ports.iter().enumerate() {
            let conjugate = co_energy.conjugate();
            if *form == StorageForm::Direct {
                let passed: f64 = (0..ports.len())
                    .map(|column| matrix[(row, column)] * change[column])
                    .sum();
                jump.add(vec![(port_column(*port, conjugate), 1.0)], passed, law);
                let most: f64 = (0..ports.len())
                    .map(|column| (matrix[(row, column)] * size[column]).abs())
                    .sum();
                jump.size = jump.size.max(most);
            } else {
                let entries = ports.iter().enumerate();
                let entries = entries.map(|(at, port)| (port_column(*port, conjugate), matrix[(row, at)]));
                jump.add(entries.collect(), change[row], law);
                let stiffness = matrix.row(row).amax();
                jump.size = jump.size.max(if stiffness > 0.0 { size[row] / stiffness } else { 0.0 });
            }
        }
        Some(())
    }

    fn is_measured(&self, value: ExprId) -> bool {
        let exprs = &self.flat().model.exprs;
        let mut symbols = exprs.symbols_of(&[value]).into_iter();
        symbols.any(|symbol| exprs.symbol_info(symbol).kind == SymbolKind::Measure)
    }

    fn jump_of_dissipator(
        &self,
        law: &Dissipator,
        id: ElementId,
        ports: &[PortId],
        after: &Seen,
        jump: &mut Jump,
    ) -> Option<()> {
        let mut add = |first: Option<Variable>, parts: &[(&Matrix, Variable, f64)]| -> Option<()> {
            for (row, port) in ports.iter().enumerate() {
                let mut entries: Vec<(u32, f64)> = first
                    .map(|first| (port_column(*port, first), 1.0))
                    .into_iter()
                    .collect();
                for (matrix, variable, sign) in parts {
                    let numbers = self.numbers(matrix, &after.places)?;
                    for (column, port) in ports.iter().enumerate() {
                        entries.push((port_column(*port, *variable), sign * numbers[(row, column)]));
                    }
                }
                jump.add(entries, 0.0, Equation::Law(id));
            }
            Some(())
        };
        match law {
            Dissipator::Resistance(matrix) => add(Some(Variable::Effort), &[(matrix, Variable::Flow, -1.0)]),
            Dissipator::Conductance(matrix) => add(Some(Variable::Flow), &[(matrix, Variable::Effort, -1.0)]),
            Dissipator::Implicit(efforts, flows) => {
                add(None, &[(efforts, Variable::Effort, 1.0), (flows, Variable::Flow, 1.0)])
            }
        }
    }
}
