//! The textbook models of `examples/`, run from the command line, compared with closed forms, other formulations and
//! conservation laws.

use crate::support;

use std::collections::HashMap;
use support::program::{example, response, succeed};

/// The columns of a run by name.
struct Run {
    columns: HashMap<String, Vec<f64>>,
}

/// `lgm simulate` of an example at tight tolerances.
fn run(file: &str, options: &[&str]) -> Run {
    let mut arguments: Vec<String> = vec!["simulate".into(), example(file).display().to_string()];
    arguments.extend(["--rtol", "1e-10", "--atol", "1e-12"].map(String::from));
    arguments.extend(options.iter().map(|option| (*option).to_string()));
    let text = succeed(&arguments);
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut columns: HashMap<String, Vec<f64>> = names.iter().map(|name| (name.to_string(), Vec::new())).collect();
    for line in lines {
        for (name, value) in names.iter().zip(line.split(',')) {
            columns.get_mut(*name).unwrap().push(value.parse().unwrap());
        }
    }
    Run { columns }
}

impl Run {
    fn column(&self, name: &str) -> &[f64] {
        let found = self.columns.get(name);
        found.unwrap_or_else(|| panic!("no column {name} in {:?}", self.columns.keys()))
    }

    fn last(&self, name: &str) -> f64 {
        *self.column(name).last().unwrap()
    }

    /// The value in the sample at a time.
    fn at(&self, name: &str, time: f64) -> f64 {
        let row = self.column("time").iter().position(|value| (value - time).abs() < 1e-9);
        self.column(name)[row.unwrap_or_else(|| panic!("no row at {time}"))]
    }

    /// The times at which a column crosses zero upwards, by a cubic through the neighbouring samples.
    fn upward_crossings(&self, name: &str) -> Vec<f64> {
        let (times, values) = (self.column("time"), self.column(name));
        (1..values.len() - 2)
            .filter(|row| values[*row] < 0.0 && values[row + 1] >= 0.0)
            .map(|row| {
                let cubic = |time: f64| {
                    (row - 1..=row + 2).fold(0.0, |sum, i| {
                        let others = (row - 1..=row + 2).filter(|j| *j != i);
                        sum + values[i] * others.fold(1.0, |part, j| part * (time - times[j]) / (times[i] - times[j]))
                    })
                };
                let (mut low, mut high) = (times[row], times[row + 1]);
                for _ in 0..60 {
                    let middle = (low + high) / 2.0;
                    if cubic(middle) < 0.0 {
                        low = middle
                    } else {
                        high = middle
                    }
                }
                low
            })
            .collect()
    }
}

#[track_caller]
fn close(what: &str, found: f64, wanted: f64, relative: f64) {
    let off = (found - wanted).abs() / wanted.abs().max(1e-300);
    println!("{what}: {found} for {wanted}, off by {off:.1e}");
    assert!(off <= relative, "{what}: {found} instead of {wanted}");
}

/// The arithmetic-geometric mean.
fn mean(mut a: f64, mut b: f64) -> f64 {
    while (a - b).abs() > 1e-16 * a {
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
    }
    a
}

/// A step of the classical Runge-Kutta method.
fn runge_kutta<const N: usize>(
    state: [f64; N],
    time: f64,
    h: f64,
    rate: impl Fn(f64, [f64; N]) -> [f64; N],
) -> [f64; N] {
    let moved = |by: &[f64; N], h: f64| -> [f64; N] { std::array::from_fn(|k| state[k] + h * by[k]) };
    let a = rate(time, state);
    let b = rate(time + h / 2.0, moved(&a, h / 2.0));
    let c = rate(time + h / 2.0, moved(&b, h / 2.0));
    let d = rate(time + h, moved(&c, h));
    std::array::from_fn(|k| state[k] + h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]))
}

/// Without friction, the period of a pendulum follows from the arithmetic-geometric mean, and the rod force is
/// `m*g*(3*cos(theta) - 2*cos(theta_0))`.
#[test]
fn a_pendulum_has_the_period_of_the_elliptic_integral() {
    let free = run("pendulum.lgm", &["--set", "b=0", "--points", "8001"]);
    let crossings = free.upward_crossings("angle");
    assert!(crossings.len() > 5);
    let period = (crossings[5] - crossings[0]) / 5.0;
    let wanted = 2.0 * std::f64::consts::PI * (0.5_f64 / 9.81).sqrt() / mean(1.0, 1.25_f64.cos());
    close("period of the pendulum", period, wanted, 1e-7);
    let rows = free
        .column("angle")
        .iter()
        .zip(free.column("rod_x"))
        .zip(free.column("rod_y"));
    for ((angle, x), y) in rows {
        // Towards the joint: upwards at angle zero.
        let tension = -x * angle.sin() + y * angle.cos();
        let wanted = 9.81 * (3.0 * angle.cos() - 2.0 * 2.5_f64.cos());
        assert!(
            (tension - wanted).abs() < 1e-6,
            "{tension} instead of {wanted} at {angle}"
        );
        let along = x * angle.cos() + y * angle.sin();
        assert!(along.abs() < 1e-6, "the rod pushes across by {along}");
    }
}

/// Without a force on the cart, the momentum along the rail is constant; a push changes it by its integral.
#[test]
fn a_cart_with_a_pendulum_takes_up_the_momentum_of_the_push() {
    let pushed = run("cart_pendulum.lgm", &["--set", "b=0"]);
    let energy = |row: usize| {
        let value = |name: &str| pushed.column(name)[row];
        let (v, w, angle) = (value("cart.v"), value("rod.inertia.w"), value("angle"));
        let (across, up) = (v + 0.3 * w * angle.cos(), 0.3 * w * angle.sin());
        (1.2 * v * v + 0.4 * (across * across + up * up) + 0.012 * w * w) / 2.0 - 0.4 * 9.81 * 0.3 * angle.cos()
    };
    let size = 0.4 * 9.81 * 0.3;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (row, time) in pushed.column("time").iter().enumerate() {
        let value = |name: &str| pushed.column(name)[row];
        let momentum = 1.6 * value("cart.v") + 0.4 * 0.3 * value("rod.inertia.w") * value("angle").cos();
        let wanted = 4.0 * ((time - 0.5).clamp(0.0, 0.5) - (time - 1.5).clamp(0.0, 0.5));
        assert!(
            (momentum - wanted).abs() < 1e-8,
            "momentum {momentum} instead of {wanted} at {time}"
        );
        match *time {
            time if time < 0.5 => before.push(energy(row)),
            time if time > 2.0 => after.push(energy(row)),
            _ => {}
        }
    }
    for list in [before, after] {
        assert!(list.len() > 50);
        let drift = list.iter().map(|value| (value - list[0]).abs()).fold(0.0, f64::max);
        assert!(drift < 1e-8 * size, "the energy drifts by {drift}");
    }
    // A small oscillation without friction has the frequency of the two bodies about their common centre of mass.
    let small = run(
        "cart_pendulum.lgm",
        &[
            "--set",
            "b=0",
            "--set",
            "theta_0=1e-3",
            "--input",
            "F=0",
            "--points",
            "3001",
        ],
    );
    let crossings = small.upward_crossings("angle");
    let omega = 2.0 * std::f64::consts::PI * 3.0 / (crossings[3] - crossings[0]);
    let (mass, arm) = (1.6_f64, 0.4 * 0.3);
    let inertia = 0.012 + 0.4 * 0.09 - arm * arm / mass;
    close("frequency of a short swing", omega, (arm * 9.81 / inertia).sqrt(), 1e-5);
}

/// The bead rests where the centrifugal force of the rotating hoop balances its weight, and oscillates about that point
/// at the corresponding frequency.
#[test]
fn a_bead_on_a_turning_hoop_finds_its_angle() {
    let (omega, radius, g) = (12.0_f64, 0.2, 9.81);
    let rest = (g / (radius * omega * omega)).acos();
    // It may rest on either side.
    let settle = ["--set", "b=2e-3", "--stop", "60", "--points", "601"];
    let damped = run("bead_on_hoop.lgm", &settle);
    close("angle of the bead", damped.last("angle").abs(), rest, 1e-9);
    assert!(
        damped.last("torque").abs() < 1e-7,
        "at rest on the hoop the bead asks for no torque"
    );
    // At low speed it stays at the bottom.
    let slow = run(
        "bead_on_hoop.lgm",
        &[&settle[..], &["--input", "Omega=6*(ramp(0) - ramp(1))"]].concat(),
    );
    assert!(slow.last("angle").abs() < 1e-5);
    // Without friction: small oscillations about the equilibrium angle, and the energy supplied by the drive.
    let start = format!("{:?}", rest + 1e-3);
    let text = std::fs::read_to_string(example("bead_on_hoop.lgm")).unwrap();
    let text = text.replace("start = 0.1;", &format!("start = {start};"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bead.lgm");
    std::fs::write(
        &file,
        text.replacen("output angle", "output work = int(-power(drive));\n  output angle", 1),
    )
    .unwrap();
    let free = run(
        file.to_str().unwrap(),
        &["--set", "b=0", "--input", "Omega=12", "--stop", "4", "--points", "4001"],
    );
    let mut shifted = Run {
        columns: free.columns.clone(),
    };
    shifted
        .columns
        .get_mut("angle")
        .unwrap()
        .iter_mut()
        .for_each(|angle| *angle -= rest);
    let crossings = shifted.upward_crossings("angle");
    let found = 2.0 * std::f64::consts::PI * 5.0 / (crossings[5] - crossings[0]);
    close("frequency about the angle of rest", found, omega * rest.sin(), 1e-5);
    let energy = |row: usize| {
        let (angle, w) = (free.column("angle")[row], free.column("w.w[1]")[row]);
        let speed = w * w + (omega * angle.sin()).powi(2);
        0.05 * radius * radius * speed / 2.0 - 0.05 * g * radius * angle.cos()
    };
    // At the start the hoop is accelerated instantaneously: the drive supplies that energy too.
    let before = -0.05 * g * radius * (rest + 1e-3).cos();
    for (row, work) in free.column("work").iter().enumerate() {
        let gained = energy(row) - before;
        assert!((gained - work).abs() < 1e-10, "{gained} gained, {work} put in");
    }
}

/// In the steady state the balls are at `cos(theta) = (m + M)*g/(m*L*w^2)`, and the throttle supplies the power of the
/// load.
#[test]
fn a_governor_drops_in_speed_with_its_load() {
    let governed = run(
        "governor.lgm",
        &["--stop", "40", "--input", "load=20 + 10*step(20)", "--points", "401"],
    );
    for (time, load) in [(20.0, 20.0), (40.0, 30.0)] {
        // Half a sample interval before the step, the steady-state values hold.
        let time = if time == 20.0 { 19.9 } else { time };
        let lift: f64 = 0.2 * (1.0 - load / 60.0);
        let cosine = 1.0 - lift / 0.5;
        let speed = ((1.5 + 4.0) * 9.81 / (1.5 * 0.25 * cosine)).sqrt();
        close("speed of the engine", governed.at("speed", time), speed, 2e-5);
        close("angle of the arms", governed.at("angle", time), cosine.acos(), 2e-4);
        close("torque of the throttle", governed.at("torque", time), load, 1e-3);
    }
}

/// Nodal equations of the filter, with the amplifier's gain `w/s`, in complex numbers.
#[test]
fn a_filter_with_an_operational_amplifier_has_the_response_of_its_circuit() {
    use num_complex::Complex64;
    let frequencies: Vec<f64> = (0..13).map(|k| 10.0_f64.powf(2.0 + 0.5 * f64::from(k))).collect();
    let names = |name: &str| vec![name.to_string()];
    let found = response(&example("sallen_key.lgm"), &frequencies, &names("u"), &names("y"));
    let (r1, r2, c1, c2) = (1e4_f64, 1e4, 22e-9, 10e-9);
    for (omega, found) in frequencies.iter().zip(found) {
        let s = Complex64::new(0.0, *omega);
        let gain = 2.0 * std::f64::consts::PI * 1e6 / s;
        // out = gain*(plus - out); plus and middle from the currents into them.
        let out_by_plus = gain / (1.0 + gain);
        let middle_by_plus = 1.0 + s * c2 * r2;
        let into_middle = middle_by_plus * (1.0 / r1 + 1.0 / r2 + s * c1) - 1.0 / r2 - s * c1 * out_by_plus;
        let wanted = out_by_plus / r1 / into_middle;
        let error = (found[(0, 0)] - wanted).norm() / wanted.norm();
        assert!(error < 1e-12, "at {omega}: {} instead of {wanted}", found[(0, 0)]);
    }
    // With an ideal amplifier: the frequency and damping of the textbook.
    let (omega, quality) = (1.0 / (r1 * r2 * c1 * c2).sqrt(), (c1 / c2).sqrt() / 2.0);
    let at = response(&example("sallen_key.lgm"), &[omega], &names("u"), &names("y"));
    close("gain at the corner", at[0][(0, 0)].norm(), quality, 1e-2);
    let stepped = run("sallen_key.lgm", &["--stop", "0.02", "--points", "201"]);
    close("the filter passes a constant", stepped.last("y"), 1.0, 1e-6);
}

/// While the limit is active, the current is constant and the speed follows an exponential; then the integral term
/// removes the error.
#[test]
fn a_motor_drive_keeps_its_current_limit() {
    let drive = run("motor_drive.lgm", &["--stop", "4", "--points", "4001"]);
    let (j, b, k, limit) = (2e-3, 1e-4, 0.12, 10.0);
    let (from, to) = (0.1, 0.35);
    let settled = k * limit / b;
    let wanted = settled + (drive.at("speed", from) - settled) * (-b / j * (to - from)).exp();
    close("speed at the current limit", drive.at("speed", to), wanted, 1e-5);
    let most = drive
        .column("current")
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    assert!(most < limit * 1.001, "the current reaches {most}");
    assert!(
        drive.column("wanted").iter().any(|value| *value > 2.0 * limit),
        "more is asked for"
    );
    // Anti-windup: the speed overshoots only slightly, although the error lasted long.
    let over = drive
        .column("speed")
        .iter()
        .fold(0.0_f64, |most, value| most.max(*value));
    assert!(over < 202.0, "the speed reaches {over}");
    close("speed under load", drive.last("speed"), 200.0, 1e-7);
    close("current under load", drive.last("current"), (0.4 + b * 200.0) / k, 1e-6);
}

/// With the valve fully open, the piston moves as fast as two orifices in series allow; with the position loop it comes
/// to rest at the setpoint.
#[test]
fn a_hydraulic_servo_moves_as_its_orifices_let_it() {
    let servo = run("hydraulic_servo.lgm", &["--stop", "4", "--points", "4001"]);
    let (supply, area, damping) = (7e6, 1.2e-3, 500.0);
    let mut speed = 0.0;
    for _ in 0..100 {
        let drop = (supply - damping * speed / area) / 2.0;
        speed = 0.62 * 8e-3 * 0.4e-3 * (2.0 * drop / 860.0_f64).sqrt() / area;
    }
    close("speed of the open servo", servo.at("velocity", 0.4), speed, 1e-4);
    close("load pressure", servo.at("pressure", 0.4), damping * speed / area, 1e-2);
    close("position", servo.last("position"), 0.1, 1e-3);
    let back = run(
        "hydraulic_servo.lgm",
        &["--stop", "6", "--points", "601", "--input", "command=-0.05*step(0.1)"],
    );
    close("position on the other side", back.last("position"), -0.05, 1e-4);
}

/// The diode's equation solved for the current in every sample, and the charge that flows through it.
#[test]
fn a_rectifier_obeys_its_diode_and_keeps_its_charge() {
    let rectifier = run("diode_rectifier.lgm", &["--points", "20001"]);
    let current = |forward: f64| {
        // R*i + Vt*log(1 + i/Is) = forward, for i > -Is, by bisection.
        let law = |i: f64| i + 0.02585 * (i / 1e-12).ln_1p() - forward;
        let (mut low, mut high) = (-1e-12, forward.max(0.0) + 1.0);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if law(middle) < 0.0 { low = middle } else { high = middle }
        }
        low
    };
    let mains = |time: f64| 12.0 * (100.0 * std::f64::consts::PI * time).sin();
    let (times, volts) = (rectifier.column("time"), rectifier.column("v"));
    for (row, found) in rectifier.column("i").iter().enumerate() {
        let wanted = current(mains(times[row]) - volts[row]);
        assert!(
            (found - wanted).abs() < 1e-7,
            "{found} A instead of {wanted} A at {}",
            times[row]
        );
    }
    // The same circuit as one equation for the voltage, with the current from the bisection.
    let mut state = [0.0];
    let mut worst: f64 = 0.0;
    for row in (0..times.len() - 1).step_by(2) {
        let h = times[row + 2] - times[row];
        state = runge_kutta(state, times[row], h, |time, [v]| {
            [(current(mains(time) - v) - v / 100.0) / 1e-3]
        });
        worst = worst.max((state[0] - volts[row + 2]).abs());
    }
    assert!(worst < 1e-5, "the voltage differs by {worst}");
    let (least, most) = volts[10_000..]
        .iter()
        .fold((f64::MAX, 0.0_f64), |(least, most), v| (least.min(*v), most.max(*v)));
    assert!(most < 12.0 && least > 9.0, "smoothed between {least} and {most}");
}

/// Free and hard on both sides, the oscillator has the period of an elliptic integral; if driven, the work balances.
#[test]
fn a_duffing_oscillator_has_the_period_of_the_elliptic_integral() {
    let set = [
        "--set", "b=0", "--set", "k1=2", "--set", "k3=3", "--input", "F=0", "--points", "12001",
    ];
    let free = run("duffing.lgm", &set);
    let crossings = free.upward_crossings("spring.int_v");
    let period = (crossings[8] - crossings[0]) / 8.0;
    // x'' + 2 x + 3 x^3 = 0 from x = 1: dn and cn of modulus m = 3/(2*(2 + 3)).
    let omega = (2.0_f64 + 3.0).sqrt();
    let wanted = 2.0 * std::f64::consts::PI / omega / mean(1.0, (1.0 - 3.0 / 10.0_f64).sqrt());
    close("period of the oscillator", period, wanted, 1e-7);
    let driven = run("duffing.lgm", &["--stop", "20", "--points", "40001"]);
    let times = driven.column("time");
    let (v, stored) = (driven.column("velocity"), driven.column("stored"));
    let power = |row: usize| (0.5 * (1.2 * times[row]).cos() - 0.3 * v[row]) * v[row];
    let mut work = 0.0;
    for row in (0..times.len() - 2).step_by(2) {
        work += (power(row) + 4.0 * power(row + 1) + power(row + 2)) * (times[1] - times[0]) / 3.0;
        let gained = v[row + 2] * v[row + 2] / 2.0 + stored[row + 2];
        assert!((gained - work).abs() < 1e-7, "{gained} J gained, {work} J put in");
    }
}

/// Compared with the textbook equation, `x'' = mu*(1 - x^2)*x' - x`; the limit cycle is known to many digits.
#[test]
fn van_der_pols_oscillator_comes_to_its_limit_cycle() {
    let cycle = run("van_der_pol.lgm", &["--stop", "120", "--points", "60001"]);
    let volts = cycle.column("voltage");
    // C*L = 1 s^2; the initial rate follows from the initial currents.
    let mut state = [0.1, 3.0 * (0.1 - 0.001 / 3.0)];
    let mut worst: f64 = 0.0;
    for row in 0..20_000 {
        state = runge_kutta(state, 0.0, 0.002, |_, [x, v]| [v, 3.0 * (1.0 - x * x) * v - x]);
        worst = worst.max((state[0] - volts[row + 1]).abs());
    }
    assert!(worst < 1e-6, "the voltage differs by {worst}");
    let crossings = cycle.upward_crossings("voltage");
    let last = crossings.len() - 1;
    close(
        "period for mu = 3",
        (crossings[last] - crossings[last - 5]) / 5.0,
        8.859_095_499_7,
        1e-6,
    );
    let most = volts[30_000..].iter().fold(0.0_f64, |most, value| most.max(*value));
    close("amplitude for mu = 3", most, 2.023_30, 1e-4);
}
