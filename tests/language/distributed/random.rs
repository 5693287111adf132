//! Random modal blocks with random elements at random ports: the equations hold in the flat graph, and power balances.

use crate::support::cases;

use cases::cases;
use lgm::rendering::render;
use lgm::source::{NoFiles, SourceMap};
use proptest::prelude::*;

/// The element at a port.
fn neighbour(kind: usize, k: usize, across: bool) -> String {
    match kind {
        0 => format!("  part{k} : ThroughSource(u) gnd -> x[{k}];\n"),
        1 => format!("  part{k} : AcrossSource(u) x[{k}] -> gnd;\n"),
        2 => format!("  part{k} : AType(0.7) x[{k}] -> gnd;\n"),
        3 => format!("  part{k} : TType(0.9) x[{k}] -> gnd;\n"),
        4 => format!("  part{k} : DType(1.3) x[{k}] -> gnd;\n"),
        // Nothing: no through variable, or, for the dual, zero across variable as in a short circuit.
        _ if across => format!("  part{k} : AcrossSource(0) x[{k}] -> gnd;\n"),
        _ => format!("  part{k} : ThroughSource(0) gnd -> x[{k}];\n"),
    }
}

const BLOCKS: &[(&str, &str, &str, bool)] = &[
    ("FixedFreeBar", "1.1, 0.9, 1.2, 1", "translational", false),
    ("FreeFreeBar", "1.1, 0.9, 1.2, 1, zeta = 0.02", "translational", false),
    ("Cantilever", "1.1, 0.9, 1.2, 0.3, 1", "translational", false),
    (
        "FreeBeam",
        "1.1, 0.9, 1.2, 0.3, 1, beta = 0.001",
        "translational",
        false,
    ),
    ("FixedFixedShaft", "1.1, 0.9, 1.2, 1, alpha = 0.1", "rotational", false),
    ("FlowDrivenLine", "0.9, 1.3, 0.21, 1, B = 0.17", "fluid", false),
    ("PressureDrivenLine", "0.9, 1.3, 0.21, 1, B = 0.17", "fluid", true),
    ("VoltageDrivenLine", "0.9, 1.3, 1, r = 0.1, g = 0.2", "electrical", true),
    ("HeldHeatRod", "0.9, 1.3, 0.4, 1, 1", "thermal", false),
];

fn model(block: usize, modes: usize, ports: &[(u32, usize)], residual: bool) -> String {
    let (name, arguments, domain, across) = BLOCKS[block];
    // Distinct positions, in order; no two shapes are proportional at them.
    let mut positions: Vec<u32> = ports.iter().map(|port| port.0).collect();
    positions.sort_unstable();
    positions.dedup();
    let at: Vec<String> = positions.iter().map(|position| format!("{position}/101")).collect();
    let branches: Vec<String> = (1..=at.len()).map(|k| format!("x[{k}] -> gnd")).collect();
    let parts: String = ports
        .iter()
        .zip(1..=at.len())
        .map(|(port, k)| neighbour(port.1, k, across))
        .collect();
    let residual = if residual { ", residual = true" } else { "" };
    format!(
        "import distributed;\nmodel M {{\n  input u = 1;\n  node x[{}] : {domain};\n  block : {name}({arguments}, modes = {modes}, \
         at = [{}]{residual}) {};\n{parts}  output y = through(block.port[1]);\n  output z = across(block.port[1]);\n}}\n",
        at.len(),
        at.join(", "),
        branches.join(", ")
    )
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn random_blocks_keep_the_power_balance(
        block in 0..BLOCKS.len(),
        modes in 3usize..6,
        ports in prop::collection::vec((1u32..100, 0usize..6), 1..4),
        residual in any::<bool>(),
    ) {
        let text = model(block, modes, &ports, residual);
        let mut map = SourceMap::default();
        let root = map.add("random.lgm", text.as_str(), None);
        let request = lgm::Request { verify: true, ..lgm::Request::default() };
        let found = lgm::check(&NoFiles, &mut map, root, &request);
        let verified = found.iter().any(|diagnostic| diagnostic.code == "LGM0712");
        // Outputs that would need second derivatives of the input are rejected with a message, and nothing else is.
        let refused = found.iter().any(|diagnostic| diagnostic.code == "LGM0502");
        prop_assert!(verified || refused, "{text}\n{}", render(&map, &found, false));
    }
}
