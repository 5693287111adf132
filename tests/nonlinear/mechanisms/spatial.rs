//! Rotation in space: Euler's equations from the library's gyrators, and the conserved quantities of a free body.

use super::model::Compiled;
use super::spread;

/// About its middle axis a body flips repeatedly: energy and angular momentum in the inertial frame are constant over
/// ten thousand turns.
#[test]
fn a_free_body_keeps_energy_and_momentum_over_ten_thousand_turns() {
    let compiled = Compiled::new("tumbling_body", &[]);
    let energy = compiled.output("turning");
    let momentum = [1, 2, 3].map(|axis| compiled.output(&format!("L[{axis}]")));
    let omega = [1, 2, 3].map(|axis| compiled.output(&format!("omega[{axis}]")));
    // Its minimum speed is that with all its energy about the axis of the largest moment of inertia.
    let start = compiled.evaluate(&compiled.starts());
    let start = &start[compiled.system.states.len()..];
    let slowest = (2.0 * start[energy] / compiled.parameter("I3")).sqrt();
    let rows = compiled.run_within(1e4 * 2.0 * std::f64::consts::PI / slowest, 5001, 1e-11);
    let size = momentum.iter().map(|at| start[*at] * start[*at]).sum::<f64>().sqrt();
    let (mut drift, mut turned, mut flips) = ([0.0_f64; 2], 0.0, 0);
    let mut side = 1.0;
    for row in &rows.outputs {
        drift[0] = drift[0].max((row[energy] / start[energy] - 1.0).abs());
        let off: f64 = momentum.iter().map(|at| (row[*at] - start[*at]).powi(2)).sum();
        drift[1] = drift[1].max(off.sqrt() / size);
        let speed = omega.iter().map(|at| row[*at] * row[*at]).sum::<f64>().sqrt();
        turned += speed * rows.times[1] / (2.0 * std::f64::consts::PI);
        if row[omega[1]] * side < -2.0 {
            side = -side;
            flips += 1;
        }
    }
    println!(
        "{turned:.0} turns, {flips} flips, energy {:.1e}, momentum in space {:.1e}",
        drift[0], drift[1]
    );
    assert!(turned > 1e4, "{turned} turns");
    assert!(flips > 100, "{flips} flips");
    assert!(drift[0] < 1e-9, "the energy drifts by {:e}", drift[0]);
    assert!(drift[1] < 1e-9, "the momentum drifts by {:e}", drift[1]);
}

#[test]
fn the_seed_keeps_energy_and_momentum() {
    let compiled = Compiled::new("seeds/euler_gyrator_ring", &[]);
    let rows = compiled.run(1000.0, 101);
    let inertias = ["I11", "I22", "I33"].map(|name| compiled.parameter(name));
    let kept = |row: &Vec<f64>| {
        let each = || row.iter().zip(inertias);
        let energy: f64 = each().map(|(w, inertia)| inertia * w * w / 2.0).sum();
        let momentum: f64 = each().map(|(w, inertia)| (inertia * w).powi(2)).sum();
        (energy, momentum)
    };
    // From the record: kinetic energy 3.155 and |h|^2 10.7174.
    for row in &rows.outputs {
        let (energy, momentum) = kept(row);
        assert!((energy / 3.155 - 1.0).abs() < 1e-9, "{energy}");
        assert!((momentum / 10.7174 - 1.0).abs() < 1e-9, "{momentum}");
    }
}

/// `I w' + w x (I w) = torque`
#[test]
fn a_driven_body_obeys_euler() {
    let inertias = [0.7, 1.9, 2.4];
    let text = "import spatial;
        model Driven {
          input torque = [0, 0, 0] [N.m];
          node w[3] vector : rotational;
          body : SpatialRotation(I1 = 0.7, I2 = 1.9, I3 = 2.4) (w = w);
          drive : TorqueSource(torque) gnd -> w;
        }";
    let compiled = Compiled::of_text("driven body", text.to_string(), &[]);
    assert_eq!(compiled.system.states.len(), 3);
    for trial in 0..20 {
        let drawn = |first: usize| -> [f64; 3] { [0, 1, 2].map(|k| 3.0 * spread(100 * trial + first + k)) };
        let (w, torque) = (drawn(0), drawn(10));
        let found = compiled.evaluate_driven(&w, &torque);
        let h = [0, 1, 2].map(|k| inertias[k] * w[k]);
        for k in 0..3 {
            let (next, last) = ((k + 1) % 3, (k + 2) % 3);
            let wanted = (torque[k] - (w[next] * h[last] - w[last] * h[next])) / inertias[k];
            assert!((found[k] - wanted).abs() < 1e-12 * wanted.abs().max(1.0), "{found:?}");
        }
    }
}
