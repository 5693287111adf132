//! Values to programs.

use super::graph::{Graph, Value, ValueId};
use super::program::{Index, Instruction, Loop, Program, Register, Store, Target};

/// The program that writes the roots to its outputs in order.
pub(crate) fn schedule(graph: &Graph, roots: &[ValueId]) -> Program {
    let mut needed = vec![false; graph.len()];
    for root in roots {
        needed[root.0 as usize] = true;
    }
    for index in (0..graph.len()).rev() {
        if needed[index] {
            for child in graph.node(ValueId(index as u32)).children() {
                needed[child.0 as usize] = true;
            }
        }
    }
    let mut registers = vec![Register(0); graph.len()];
    let mut body = Vec::new();
    for index in (0..graph.len()).filter(|index| needed[*index]) {
        let of = |id: ValueId| registers[id.0 as usize];
        let instruction = match graph.node(ValueId(index as u32)) {
            Value::Number(bits) => Instruction::Number(f64::from_bits(bits)),
            Value::Argument(space, index) => Instruction::Load(space, Index::fixed(index)),
            Value::Unary(operation, a) => Instruction::Unary(operation, of(a)),
            Value::Binary(operation, a, b) => Instruction::Binary(operation, of(a), of(b)),
            Value::Select(a, b, c) => Instruction::Select(of(a), of(b), of(c)),
        };
        registers[index] = Register(body.len() as u32);
        body.push(instruction);
    }
    let stores = roots.iter().enumerate().map(|(index, root)| Store {
        value: registers[root.0 as usize],
        target: Target::Output,
        index: Index::fixed(index as u32),
    });
    let only = Loop {
        count: 1,
        body,
        stores: stores.collect(),
    };
    Program {
        loops: if roots.is_empty() { Vec::new() } else { vec![only] },
        outputs: roots.len(),
        ..Program::default()
    }
}
