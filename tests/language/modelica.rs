//! Examples of the Modelica Standard Library, in `examples/modelica`, against closed forms and independent programs.

use crate::support::command::{ends_with, lgm, out};
use std::f64::consts::{PI, TAU};
use std::path::Path;

fn printed(arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/modelica");
    let output = lgm(&folder, arguments);
    ends_with(&output, 0);
    out(&output)
}

fn rows(file: &str) -> Vec<Vec<f64>> {
    let text = printed(&["simulate", file]);
    let numbers = |line: &str| line.split(',').filter_map(|field| field.parse().ok()).collect();
    text.lines().skip(1).map(numbers).collect()
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

/// The temperatures approach 50 degC with the time constant C/(2*G).
#[test]
fn two_masses_exchange_heat() {
    for row in rows("two_masses.lgm") {
        let apart = 50.0 * (-2.0 * 10.0 / 15.0 * row[0]).exp();
        near(row[1], 50.0 + apart, 1e-6);
        near(row[2], 50.0 - apart, 1e-6);
    }
}

/// A Cauer filter passes half of a constant voltage, and nothing at its zeros of transmission.
#[test]
fn the_cauer_filter_has_its_zeros_of_transmission() {
    let file = "cauer_low_pass.lgm";
    let text = printed(&["response", file, "--omega", "0,1.179945,1.704992", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (at, expected) in [0.5, 0.0, 0.0].into_iter().enumerate() {
        let value = |part: usize| found["H"]["u->y"][at][part].as_f64().unwrap();
        near(value(0).hypot(value(1)), expected, 1e-12);
    }
}

/// The free mass swings ever further; the damped one approaches an amplitude of F/(d*w) = 1 mm.
#[test]
fn masses_are_excited_at_resonance() {
    let (natural, omega) = (100.0, std::f64::consts::TAU * 15.9155);
    let decay = 5.0f64;
    let damped = (natural * natural - decay * decay).sqrt();
    // The steady motion of the damped mass is the imaginary part of a*exp(j*w*t).
    let (re, im) = (natural * natural - omega * omega, 10.0 * omega);
    let (a, b) = (re / (re * re + im * im), -im / (re * re + im * im));
    for row in rows("resonance.lgm") {
        let time = row[0];
        let free = ((omega * time).sin() - omega / natural * (natural * time).sin()) / re;
        near(row[1], free, 2e-7);
        let steady = a * (omega * time).sin() + b * (omega * time).cos();
        let (start, slope) = (-b, -a * omega);
        let swing = start * (damped * time).cos() + (slope + decay * start) / damped * (damped * time).sin();
        near(row[2], steady + (-decay * time).exp() * swing, 1e-7);
    }
}

/// The flux is the integral of the voltage, and the current follows from it by the law of the coil.
#[test]
fn a_coil_saturates() {
    let q = 3.972583348726508; // atan(q)/q = 1/3
    for row in rows("saturating_inductor.lgm") {
        near(row[2], 1.25 * row[0].sin(), 1e-8);
        near(0.5 * row[1] + 1.5 / q * (q * row[1]).atan(), 1.25 * row[0].sin(), 1e-8);
    }
}

/// The temperature solves a quadratic equation: the loss `u^2/(R*(1 + alpha*x))` equals the heat flow `G*x`.
#[test]
fn a_resistor_heats_itself() {
    for row in rows("heating_resistor.lgm") {
        let u = 220.0 * (TAU * row[0]).sin();
        let x = ((1.0 + 4e-3 * u * u / 5000.0).sqrt() - 1.0) / 2e-3;
        near(row[1], 20.0 + x, 1e-9);
        near(row[2], u / (100.0 + 0.1 * x), 1e-9);
    }
}

/// The input falls through -1 V at 27 ms and rises through 1 V at 77 ms of each period.
#[test]
fn a_schmitt_trigger_switches_at_its_thresholds() {
    for row in rows("schmitt_trigger.lgm") {
        let phase = row[0] % 0.1;
        if (phase - 0.027).abs() > 1e-6 && (phase - 0.077).abs() > 1e-6 {
            let high = phase > 0.027 && phase < 0.077;
            near(row[2], if high { 15.0 } else { -15.0 }, 0.0);
        }
    }
}

/// The capacitor charges between -7.5 V and 7.5 V, in half a period of 0.1 s.
#[test]
fn a_multivibrator_oscillates_at_its_frequency() {
    let tau = 0.05 / 3.0f64.ln();
    let first = tau * (16.0f64 / 7.5).ln();
    for row in rows("multivibrator.lgm") {
        let since = row[0] - first;
        let v = if since < 0.0 {
            16.0 * (-row[0] / tau).exp() - 15.0
        } else {
            let half = (since / 0.05).floor();
            let v = 15.0 - 22.5 * (-(since - 0.05 * half) / tau).exp();
            if half % 2.0 == 0.0 { v } else { -v }
        };
        near(row[1], v, 2e-6);
    }
}

/// After each edge of the square wave the output approaches it with the time constant 10 ms.
#[test]
fn an_amplifier_smooths_a_square_wave() {
    for row in rows("op_amp_low_pass.lgm") {
        let (mut v, mut left, mut u) = (0.0, row[0], 5.0);
        while left > 1e-9 {
            let span = left.min(0.05);
            v = u + (v - u) * (-span / 0.01f64).exp();
            left -= span;
            u = -u;
        }
        near(row[1], v, 1e-7);
    }
}

/// From each firing to the next, a sinusoidal voltage drives the current from its last value.
#[test]
fn thyristors_feed_a_coil() {
    let (omega, r, l) = (100.0 * PI, 20.0, 1.0);
    let square = r * r + omega * omega * l * l;
    let steady = |angle: f64| 110.0 * 2.0f64.sqrt() * (r * angle.sin() - omega * l * angle.cos()) / square;
    for row in rows("thyristor_bridge.lgm") {
        let mut left = omega * row[0] - PI / 6.0;
        let mut i = 0.0;
        while left > 0.0 {
            let span = left.min(PI);
            let decay = (-span / omega * r / l).exp();
            i = steady(PI / 6.0 + span) + (i - steady(PI / 6.0)) * decay;
            left -= PI;
        }
        near(row[2], i, 1e-6);
    }
}

/// The current of the bridge approaches 1 A for 0.6 ms and -1 A for 0.4 ms; its mean approaches 0.2 A.
#[test]
fn an_h_bridge_feeds_a_coil() {
    for row in rows("h_bridge.lgm") {
        let (mut i, mut left, mut on) = (0.0, row[0], true);
        while left > 1e-9 {
            let span = left.min(if on { 0.6e-3 } else { 0.4e-3 });
            let end = if on { 1.0 } else { -1.0 };
            i = end + (i - end) * (-100.0 * span).exp();
            left -= span;
            on = !on;
        }
        near(row[2], i, 1e-7);
    }
}

/// The equation is `2*v' = 10 - 0.4*v^2`.
#[test]
fn a_vehicle_approaches_its_speed() {
    for row in rows("rolling_wheel.lgm") {
        near(row[1], 5.0 * (row[0] - 0.1).max(0.0).tanh(), 1e-7);
    }
}

/// The levels approach 0.5 m with the time constant 1/4 s.
#[test]
fn two_tanks_equalise_their_levels() {
    for row in rows("two_tanks.lgm") {
        let apart = 0.4 * (-4.0 * row[0]).exp();
        near(row[1], 0.5 + apart, 1e-8);
        near(row[2], 0.5 - apart, 1e-8);
    }
}

/// The recursion of the controller and of the inertia.
#[test]
fn a_sampled_controller_follows_a_ramp() {
    let (mut w, mut x) = (0.0, 0.0);
    for (n, row) in rows("clocked_drive.lgm").iter().enumerate() {
        near(row[1], w, 1e-12);
        let e = 0.5 * (0.1 * n as f64).min(2.0) - w;
        x += e;
        near(row[2], 110.0 * (x + e), 1e-10);
        w += 0.01 * 110.0 * (x + e);
    }
}

/// The reluctances of the core and of the air gap are in series.
#[test]
fn a_current_magnetises_a_toroid() {
    let mu0 = 1.25663706127e-6;
    let reluctance = ((0.1 * PI - 1e-3) / 1000.0 + 1e-3) / (mu0 * PI * 1e-4 / 4.0);
    for row in rows("toroid.lgm") {
        let current = 100.0 * (row[0].clamp(0.01, 0.025) - 0.01);
        near(row[2], 500.0 * current / reluctance, 1e-12);
        if row[0] > 0.0105 && row[0] < 0.0245 {
            near(row[1], 500.0 * 100.0 / reluctance, 1e-11);
        }
    }
}

/// Outputs of a run at some instants, in their order.
struct Samples {
    file: &'static str,
    tolerance: f64,
    at: &'static [(f64, &'static [f64])],
}

/// From programs in SciPy that do not use the equations of lgm: matrix exponentials for linear systems, `DOP853` and
/// `Radau` for smooth ones, and short implicit steps with complementarity for clutches, brakes and diodes. The steps
/// limit the accuracy of the last kind.
const SAMPLES: &[Samples] = &[
    Samples {
        file: "chua.lgm",
        tolerance: 1e-06,
        at: &[
            (250.0, &[-0.1498241426, -0.8582957831]),
            (500.0, &[-1.267397659, 0.04237050308]),
        ],
    },
    Samples {
        file: "transformers.lgm",
        tolerance: 1e-08,
        at: &[
            (0.25, &[-0.00028694639, -0.00028694639]),
            (0.5, &[0.09562095186, 0.09562095186]),
        ],
    },
    Samples {
        file: "step_down_chopper.lgm",
        tolerance: 1e-06,
        at: &[(0.05, &[4.74932252, 0.43633576]), (0.1, &[10.9549036, 1.00770319])],
    },
    Samples {
        file: "dc_motor_start.lgm",
        tolerance: 1e-05,
        at: &[(1.0, &[92.52738554, 1430.604352]), (2.0, &[99.97436343, 1425.020939])],
    },
    Samples {
        file: "drive_train.lgm",
        tolerance: 1e-07,
        at: &[
            (0.5, &[0.3719950489, 0.4720638575]),
            (1.0, &[-0.1122493092, -0.1381452799]),
        ],
    },
    Samples {
        file: "elastic_bearing.lgm",
        tolerance: 1e-06,
        at: &[
            (5.0, &[38.15652249, 12.71060865, -5.271624995e-05]),
            (10.0, &[114.4628017, 38.1322319, -0.0001470797301]),
        ],
    },
    Samples {
        file: "elasto_gap.lgm",
        tolerance: 1e-06,
        at: &[
            (2.5, &[-0.03598690924, 0.6831545287]),
            (5.0, &[-0.0003503389392, -0.7078852944]),
        ],
    },
    Samples {
        file: "coupled_clutches.lgm",
        tolerance: 5e-05,
        at: &[
            (0.75, &[3.880357202, 3.218976343, 3.218976343, 0.0]),
            (1.5, &[3.247047736, 2.46319068, 2.46319068, 2.46319068]),
        ],
    },
    Samples {
        file: "gear_shift.lgm",
        tolerance: 5e-05,
        at: &[(2.5, &[5.568176094, 5.568176094]), (5.0, &[8.090041502, 8.090041502])],
    },
    Samples {
        file: "double_pendulum.lgm",
        tolerance: 1e-06,
        at: &[
            (1.5, &[-1.488852801, 1.364573576]),
            (3.0, &[-2.317915675, -1.736534573]),
        ],
    },
    Samples {
        file: "motor_losses.lgm",
        tolerance: 1e-05,
        at: &[
            (3600.0, &[130.3420646, 56.88060285]),
            (7200.0, &[134.3292615, 59.32027336]),
        ],
    },
    Samples {
        file: "controlled_temperature.lgm",
        tolerance: 1e-05,
        at: &[(5.0, &[37.37201481]), (10.0, &[49.26770726])],
    },
    Samples {
        file: "pid_controller.lgm",
        tolerance: 1e-06,
        at: &[
            (2.0, &[0.9999883919, -9.999699478]),
            (4.0, &[-8.87109329e-06, -9.999537753]),
        ],
    },
    Samples {
        file: "vehicle.lgm",
        tolerance: 1e-05,
        at: &[(30.0, &[7.013697013, 157.8508193]), (60.0, &[0.0, 316.8102])],
    },
    Samples {
        file: "rectifier.lgm",
        tolerance: 0.1,
        at: &[(0.05, &[516.7729614]), (0.1, &[517.0401302])],
    },
    Samples {
        file: "transformer_yd.lgm",
        tolerance: 1e-08,
        at: &[
            (0.5, &[0.5458254857, 0.04896061786]),
            (1.0, &[-0.5458254857, -0.04896061786]),
        ],
    },
];

#[test]
fn runs_agree_with_independent_programs() {
    for Samples { file, tolerance, at } in SAMPLES {
        let rows = rows(file);
        for (time, expected) in *at {
            let row = rows.iter().find(|row| (row[0] - time).abs() < 1e-9).unwrap();
            for (found, expected) in row[1..].iter().zip(*expected) {
                assert!(
                    (found - expected).abs() <= *tolerance,
                    "{file} at {time}: {found} instead of {expected}"
                );
            }
        }
    }
}
