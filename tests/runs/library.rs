//! The elements of the library's modules for electronics, drives, hydraulics, heat, magnetic circuits and signals, each in a small model
//! whose last sample has a closed form.

use crate::support;

use std::f64::consts::PI;
use std::fs;
use support::program::succeed;

/// Vacuum permeability in H/m.
const MU_0: f64 = 1.25663706127e-6;

/// The body of a model, the stop time in seconds, and outputs with their values at that time.
type Case<'c> = (&'c str, f64, &'c [(&'c str, f64)]);

/// Runs models of a module to a time in seconds, and compares outputs in the last sample with their values.
fn check(module: &str, models: &[Case]) {
    let scratch = tempfile::tempdir().unwrap();
    for (at, (body, stop, expected)) in models.iter().enumerate() {
        let file = scratch.path().join(format!("m{at}.lgm"));
        fs::write(&file, format!("import {module};\nmodel M {{\n{body}\n}}\n")).unwrap();
        let options = ["--stop", &stop.to_string(), "--points", "11", "--rtol", "1e-9"].map(String::from);
        let mut arguments = vec!["simulate".to_string(), file.display().to_string()];
        arguments.extend(options);
        let text = succeed(&arguments);
        let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let last: Vec<f64> = text
            .lines()
            .last()
            .unwrap()
            .split(',')
            .map(|value| value.parse().unwrap())
            .collect();
        for (name, value) in *expected {
            let column = names.iter().position(|column| column == name).unwrap();
            let is_near = (last[column] - value).abs() <= 1e-6 * value.abs();
            assert!(is_near, "{body}\n{name} = {}, expected {value}", last[column]);
        }
    }
}

#[test]
fn electronics() {
    let short = 1.0 - (-0.05 / 0.075_f64).exp();
    let relaxed = 1.0 - (-360.0 / 20.0_f64).exp();
    check("electronics", &[
        ("node a : electrical; s : CurrentSource(2) gnd -> a; g : Conductor(0.5) a -> gnd; output v = across(a);", 1.0, &[("v", 4.0)]),
        // A shorted secondary leaves the inductance L1*(1 - k^2).
        ("node a, b : electrical; s : CurrentSource(1) gnd -> a; r : Resistor(1) a -> gnd; t : CoupledInductors(0.1, 0.4, 0.5) a -> gnd, b -> gnd;
          w : VoltageSource(0) b -> gnd; output i = through(t.a); output j = through(t.b);", 0.05, &[("i", short), ("j", -0.25 * short)]),
        // Seen from the source, the load is 2/4 ohm: a third of the voltage decays with the time constant 0.3 s.
        ("node a, b, c : electrical; s : VoltageSource(1) a -> gnd; r : Resistor(1) a -> b; l : Resistor(2) c -> gnd;
          t : TightlyCoupledInductors(0.1, 0.4) (p1 = b, n1 = gnd, p2 = c, n2 = gnd); output v = across(c);", 0.3, &[("v", 2.0 / 3.0 * (-1.0_f64).exp())]),
        ("node a, m, o : electrical; s : VoltageSource(2) a -> gnd; r : Resistor(1000) a -> m; f : Resistor(3000) m -> o; c : Capacitor(1e-6) m -> o;
          op : OpAmp gnd -> m, o -> gnd; output y = across(o);", 0.003, &[("y", -6.0 * (1.0 - (-1.0_f64).exp()))]),
        ("node a, m, o : electrical; s : VoltageSource(2) a -> gnd; r : Resistor(1000) a -> m; f : Resistor(3000) m -> o;
          op : RealOpAmp() (plus = gnd, minus = m, out = o, ref = gnd); output y = across(o);", 1e-3, &[("y", -6.0 / (1.0 + 4e-5))]),
        ("node a, o : electrical; s : VoltageSource(10) a -> gnd; op : RealOpAmp() (plus = a, minus = o, out = o, ref = gnd);
          output y = across(o);", 5e-6, &[("y", 5.0)]),
        ("node a, o : electrical; s : VoltageSource(1) a -> gnd; op : RealOpAmp(limit = 12) (plus = a, minus = gnd, out = o, ref = gnd);
          output y = across(o);", 1.0, &[("y", 12.0)]),
        ("node a : electrical; s : VoltageSource(1.9) a -> gnd; d : LED a -> gnd; output i = through(d);", 1.0,
         &[("i", 2e-18 * ((1.9 / 0.0517_f64).exp() - 1.0))]),
        ("node a, b : electrical; s : VoltageSource(12) a -> gnd; r : Resistor((12 - 5.1)/5e-3) a -> b; d : ZenerDiode(5.1) gnd -> b;
          output v = across(b);", 1.0, &[("v", 5.1)]),
        ("node b, c, k : electrical; s : VoltageSource(5) k -> gnd; rc : Resistor(1000) k -> c; ib : CurrentSource(2e-5) gnd -> b;
          q : NPN b -> gnd, b -> c; output i = through(rc);", 1.0, &[("i", 2e-3)]),
        ("node b, c, k : electrical; s : VoltageSource(5) k -> gnd; rc : Resistor(1000) c -> gnd; ib : CurrentSource(2e-5) b -> gnd;
          q : PNP k -> b, c -> b; output i = through(rc);", 1.0, &[("i", 2e-3)]),
        // Saturation, and the linear region: 0.02*(v - v^2/2) = (5 - v)/1000.
        ("node g, d, k : electrical; s : VoltageSource(5) k -> gnd; vg : VoltageSource(3) g -> gnd; rd : Resistor(100) k -> d;
          m : NMOS(20e-3, 2) g -> gnd, d -> gnd; output i = through(rd);", 1.0, &[("i", 0.01)]),
        ("node g, d, k : electrical; s : VoltageSource(5) k -> gnd; vg : VoltageSource(3) g -> gnd; rd : Resistor(1000) k -> d;
          m : NMOS(20e-3, 2) g -> gnd, d -> gnd; output v = across(d);", 1.0, &[("v", (21.0 - (21.0_f64.powi(2) - 200.0).sqrt()) / 20.0)]),
        ("node g, d, k : electrical; s : VoltageSource(5) k -> gnd; vg : VoltageSource(2) g -> gnd; rd : Resistor(100) d -> gnd;
          m : PMOS(20e-3, 2) k -> g, k -> d; output i = through(rd);", 1.0, &[("i", 0.01)]),
        ("node a : electrical; s : VoltageSource(2) a -> gnd; l : SaturatingInductor(1e-3, 3) a -> gnd; output i = through(l);", 0.003, &[("i", 30.0)]),
        ("node a : electrical; s : VoltageSource(0.6) a -> gnd; c : SolarCell(3) a -> gnd; output i = through(c);", 1.0,
         &[("i", 1e-9 * ((0.6 / 0.0335_f64).exp() - 1.0) + 0.6e-3 - 3.0)]),
        ("node a : electrical; load : CurrentSource(2) a -> gnd; b : Battery(7200) (p = a, n = gnd); output v = across(a); output soc = b.soc;",
         360.0, &[("soc", 0.9), ("v", 4.2 - 0.12 - 0.1 - 0.04 * relaxed)]),
        ("node a, w : electrical; s : VoltageSource(10) a -> gnd; k : Potentiometer(10e3, 0.3) (p = a, wiper = w, n = gnd);
          output v = across(w);", 1.0, &[("v", 3.0)]),
        ("node a, x : electrical; s : VoltageSource(10) a -> gnd; h : HalfBridge(time < 1) (p = a, n = gnd, out = x); l : Inductor(1) x -> gnd;
          output i = through(l);", 3.0, &[("i", 10.0)]),
    ]);
}

#[test]
fn drives() {
    let stribeck = 2.0 + (-1.0_f64).exp() + 0.05;
    let motor = 0.05_f64.powi(2) + 1e-4;
    check("drives", &[
        ("node a : electrical; node w : rotational; s : VoltageSource(12) a -> gnd; m : DCMotor(1, 1e-3, 0.05, 1e-4, 1e-4) (p = a, n = gnd, shaft = w, frame = gnd);
          output v = across(w); output i = through(m.coil);", 5.0, &[("v", 12.0 * 0.05 / motor), ("i", 12.0 * 1e-4 / motor)]),
        ("node a : electrical; node x : translational; s : CurrentSource(2) gnd -> a; c : TranslationalEMF(6) a -> gnd, x -> gnd; m : Mass(3) x -> gnd;
          output v = across(m);", 1.0, &[("v", 4.0)]),
        ("node x : translational; f : ForceSource(3) gnd -> x; m : Mass(1) x -> gnd; s : SpringDamper(100, 20) x -> gnd; output p = int(across(m));", 5.0, &[("p", 0.03)]),
        ("node x : rotational; f : TorqueSource(3) gnd -> x; m : Inertia(1) x -> gnd; s : RotarySpringDamper(100, 20) x -> gnd; output p = int(across(m));", 5.0, &[("p", 0.03)]),
        ("node x : translational; m : Mass(1) x -> gnd, start = 1; s : ElasticStop(0.1, 1e4) x -> gnd; output v = across(m);", 1.0, &[("v", -1.0)]),
        ("node x : translational; f : VelocitySource(0.01) x -> gnd; s : StribeckFriction(2, 3, 0.01, 5) x -> gnd; output F = through(s);", 1.0, &[("F", stribeck)]),
        ("node x : rotational; f : AngularVelocitySource(-1) x -> gnd; s : BearingFriction(0.02, 0.1) x -> gnd; output t = through(s);", 1.0, &[("t", -0.12)]),
        ("node x : translational; m : Mass(10) x -> gnd, start = 20; s : Drag(2, 0.3) x -> gnd; output v = across(m);", 10.0, &[("v", 20.0 / 8.2)]),
        ("node x : translational; m : Mass(10) x -> gnd; w : Weight(10) x -> gnd; output v = across(m);", 1.0, &[("v", -9.80665)]),
        ("node a, b : rotational; t : TorqueSource(1) gnd -> a; g : Gear(10) a -> gnd, b -> gnd; J : Inertia(2) b -> gnd; output w = across(b);", 1.0, &[("w", 5.0)]),
        ("node s, c, r : rotational; ws : AngularVelocitySource(8) s -> gnd; wr : AngularVelocitySource(0) r -> gnd;
          g : PlanetaryGear(3) s -> gnd, c -> gnd, r -> gnd; b : RotaryDamper(2) c -> gnd; output w = across(c); output t = through(ws);", 1.0, &[("w", 2.0), ("t", -1.0)]),
        ("node c, l, r : rotational; t : TorqueSource(4) gnd -> c; d : Differential c -> gnd, l -> gnd, r -> gnd; a : RotaryDamper(1) l -> gnd;
          b : RotaryDamper(2) r -> gnd; output w = across(c); output wl = across(l);", 1.0, &[("w", 1.5), ("wl", 2.0)]),
        ("node a : rotational; node x : translational; t : TorqueSource(1) gnd -> a; g : RackAndPinion(0.02) a -> gnd, x -> gnd; m : Mass(5) x -> gnd;
          output v = across(m);", 1.0, &[("v", 10.0)]),
        ("node a : rotational; node x : translational; t : TorqueSource(1) gnd -> a; g : LeadScrew(0.005) a -> gnd, x -> gnd; m : Mass(5) x -> gnd;
          output v = across(m);", 1.0, &[("v", 2.0 * PI / 0.005 / 5.0)]),
        ("node a, x : translational; t : ForceSource(1) gnd -> a; g : Lever(1, 0.5) a -> gnd, x -> gnd; m : Mass(5) x -> gnd; output v = across(m);", 1.0, &[("v", -0.4)]),
    ]);
}

#[test]
fn hydraulics() {
    let (flow, level) = (0.6e-4 / 0.5 * (9.80665 / 2.0_f64).sqrt() * 100.0, 9806.65);
    let back = 1e9 * 0.05 * 12e-4;
    let laminar = 128.0 * 0.04 * 10.0 / (PI * 0.012_f64.powi(4)) * 1e-4;
    let turbulent = 0.02 * 10.0 / 0.012 * 870.0 / 2.0 * (1e-4 / (PI * 0.006_f64.powi(2))).powi(2);
    check("hydraulics", &[
        ("node a : fluid; s : PressureSource(1e6) a -> gnd; o : Orifice(2e-6, dp0 = 1) a -> gnd; output Q = through(o);", 1.0,
         &[("Q", 0.7 * 2e-6 * (2e6 / 870.0_f64).sqrt())]),
        // Torricelli: the square root of the level falls linearly.
        ("node a : fluid; t : Tank(0.5) a -> gnd, start = 9806.65; o : Orifice(1e-4, 0.6, 1000, dp0 = 1e-3) a -> gnd; output P = across(t);", 100.0,
         &[("P", level * (1.0 - flow).powi(2))]),
        ("node a : fluid; q : FlowSource(1e-6) gnd -> a; t : FluidVolume(2e-4) a -> gnd; output P = across(t);", 1.0, &[("P", 8e6)]),
        ("node a : fluid; q : FlowSource(1e-4) gnd -> a; p : Pipe(10, 0.012) a -> gnd; output P = across(p);", 1.0, &[("P", laminar + turbulent)]),
        ("node a : fluid; q : FlowSource(1e-5) gnd -> a; p : Accumulator(1e-3, 60e5) a -> gnd; output P = across(p);", 20.0, &[("P", 60e5 * 1.25_f64.powf(1.4))]),
        ("node a : fluid; node x : translational; s : PressureSource(1e6) a -> gnd; p : Piston(8e-4) a -> gnd, x -> gnd; m : Mass(2) x -> gnd;
          output v = across(m);", 1.0, &[("v", 400.0)]),
        ("node a, b : fluid; node x : translational; q : FlowSource(1e-4) gnd -> a; r : FluidResistor(1e9) b -> gnd;
          c : Cylinder(20e-4, 12e-4, leak = 1e-20) (cap = a, rod_side = b, rod = x, base = gnd);
          output v = across(c.body); output Pb = across(b); output Pa = across(a);", 5.0,
         &[("v", 0.05), ("Pb", back), ("Pa", (back * 12e-4 + 200.0 * 0.05) / 20e-4)]),
        ("node w : rotational; node a : fluid; s : AngularVelocitySource(100) w -> gnd; p : Pump(1.6e-6) w -> gnd, a -> gnd; r : FluidResistor(1e10) a -> gnd;
          output P = across(a); output t = through(s);", 1.0, &[("P", 1.6e6), ("t", -2.56)]),
        ("node s, a, b : fluid; p : PressureSource(1e7) s -> gnd; v : ProportionalValve(0.5, 1e-5, A_leak = 1e-16) (P = s, T = gnd, A = a, B = b);
          l : FluidResistor(1e3) a -> b; output Q = through(l);", 1.0, &[("Q", 0.7 * 5e-6 * (1e7 / 870.0_f64).sqrt())]),
    ]);
}

#[test]
fn heat() {
    let hot = (300.0_f64.powi(4) + 100.0 / (0.9 * 0.1 * 5.670374419e-8)).powf(0.25);
    check("heat", &[
        ("node a : thermal; t : TemperatureSource(3) a -> gnd; k : Conduction(0.8, 12, 0.24) a -> gnd; output q = through(k);", 1.0, &[("q", 120.0)]),
        ("node a : thermal; t : TemperatureSource(3) a -> gnd; k : Convection(10, 2) a -> gnd; output q = through(k);", 1.0, &[("q", 60.0)]),
        ("node a, b : thermal; s : TemperatureSource(300) b -> gnd; q : HeatSource(100) gnd -> a; k : Radiation(0.1, 0.9) a -> gnd, b -> gnd;
          c : ThermalCapacitor(0.1) a -> gnd, start = 300; output T = across(a);", 1000.0, &[("T", hot)]),
        ("node e : electrical; node c, h : thermal; i : CurrentSource(2) gnd -> e; tc : TemperatureSource(280) c -> gnd; th : TemperatureSource(300) h -> gnd;
          p : Peltier(0.05, 2, 0.5) e -> gnd, c -> gnd, h -> gnd; output v = across(e); output qc = through(p.cold); output qh = through(p.hot);", 1.0,
         &[("v", 5.0), ("qc", 14.0), ("qh", -24.0)]),
        ("node a, b : thermal; s : TemperatureSource(310) a -> gnd; t : TemperatureSource(290) b -> gnd; w : SlicedWall(4, 0.8, 12, 0.24, 1.5e6, 293) (a = a, b = b);
          output q = through(w.last);", 1e7, &[("q", 800.0)]),
    ]);
}

#[test]
fn magnetic() {
    check("magnetic", &[
        ("node a : electrical; node m : magnetic; s : VoltageSource(2) a -> gnd; w : Winding(100) a -> gnd, m -> gnd; c : Reluctance(1e4) m -> gnd;
          output i = through(w.coil); output phi = int(through(c));", 3.0, &[("i", 6.0), ("phi", 0.06)]),
        ("node a : electrical; node m, n : magnetic; s : CurrentSource(ramp(0)) gnd -> a; w : Winding(200) a -> gnd, m -> gnd;
          c : Core(0.1, 2e-4, 2000) m -> n; g : Core(1e-3, 2e-4) n -> gnd; output phi = int(through(c));", 1.0,
         &[("phi", 200.0 * MU_0 * 2e-4 / (0.1 / 2000.0 + 1e-3))]),
        ("node m : magnetic; b : MagneticSource(50) m -> gnd; c : Core(0.1, 2e-4) m -> gnd; output M = across(c);", 1.0, &[("M", 50.0)]),
        ("node m : magnetic; p : PermanentMagnet(5e-3, 1e-4, 1.2) m -> gnd; c : Core(1e-3, 1e-4) m -> gnd; output M = across(m);", 1.0,
         &[("M", 1.2 / MU_0 * 1e-3 / 1.21)]),
        // At the flux density B_sat the field is twice the linear one.
        ("node m : magnetic; node a : electrical; s : VoltageSource(1) a -> gnd; w : Winding(100) a -> gnd, m -> gnd; c : SaturatingCore(0.1, 2e-4, 2000, 1.6) m -> gnd;
          output i = through(w.coil);", 0.032, &[("i", 2.0 * 0.1 / (2000.0 * MU_0) * 1.6 / 100.0)]),
        ("node m : magnetic; node a : electrical; node x : translational; s : VoltageSource(if time < 1 then 1 else 0) a -> gnd; w : Winding(100) a -> gnd, m -> gnd;
          g : ForceGap(1e-4, 2e-3) m -> gnd, x -> gnd; h : VelocitySource(0) x -> gnd; output F = through(g.armature); output i = through(w.coil);", 2.0,
         &[("F", 1e-4 / (2.0 * MU_0 * 1e-4)), ("i", 0.01 * 2e-3 / (MU_0 * 1e-4) / 100.0)]),
    ]);
}

#[test]
fn controllers() {
    let filtered = 1.0 - (-2.0_f64).exp();
    check(
        "signals",
        &[
            (
                "c : PI(2, 3, high = 1000) (setpoint = 1, measured = 0); output y = c.y;",
                1.0,
                &[("y", 5.0)],
            ),
            // At the limit the integral stays at `high + Ki*Tt - Kp*e`.
            (
                "c : PI(2, 3, high = 4) (setpoint = 1, measured = 0); output y = c.y; output i = c.integral;",
                20.0,
                &[("y", 4.0), ("i", 4.0)],
            ),
            (
                "c : PI(2, 3, high = 4, low = -1) (setpoint = 0, measured = 1); output y = c.y;",
                2.0,
                &[("y", -1.0)],
            ),
            (
                "c : PID(2, 3, 0.5, 0.5, high = 1000) (setpoint = 0, measured = time); output y = c.y;",
                1.0,
                &[("y", -3.5 - 0.5 * filtered)],
            ),
            (
                "c : PID(2, 3, 0.5, 0.5, high = 1000, measured0 = 7, integral0 = 4) (setpoint = 0, measured = 7 + time); output y = c.y;",
                1.0,
                &[("y", -2.0 * 8.0 + 4.0 - 3.0 * 7.5 - 0.5 * filtered)],
            ),
            (
                "c : PI(0, 3, high = 1000, Tt = 1, integral0 = 2) (setpoint = 1, measured = 0); output y = c.y;",
                1.0,
                &[("y", 5.0)],
            ),
            (
                "c : PID(2, 3, 0.5, 0.5, high = 4) (setpoint = 1, measured = 0); output y = c.y; output i = c.integral;",
                20.0,
                &[("y", 4.0), ("i", 4.0)],
            ),
            // Ten samples of the falling error 1 - 0.1*k are summed before the eleventh.
            (
                "c : SampledPID(0.1, 2, 3, 0.5, high = 1000, measured0 = -0.1) (setpoint = 1, measured = time); output y = c.y;",
                1.05,
                &[("y", 1.65 - 0.5)],
            ),
            (
                "c : SampledPID(0.1, 2, 3, 0, high = 1) (setpoint = if time < 1.05 then 1 else -0.1, measured = 0); output y = c.y;",
                1.15,
                &[("y", -0.2)],
            ),
        ],
    );
}

#[test]
fn filters() {
    let (decay, turned) = ((-1.2_f64).exp(), 1.6_f64);
    let (cosine, sine) = (decay * turned.cos(), decay * turned.sin());
    check(
        "signals",
        &[
            (
                "g : Lag(0.5, 2) (u = 1); output y = g.y;",
                1.0,
                &[("y", 2.0 * (1.0 - (-2.0_f64).exp()))],
            ),
            (
                "g : Lead(0.5, 0.05, 2) (u = 1); output y = g.y;",
                0.1,
                &[("y", 2.0 * (1.0 + 9.0 * (-2.0_f64).exp()))],
            ),
            (
                "g : Derivative(0.1) (u = time); output y = g.y;",
                0.1,
                &[("y", 1.0 - (-1.0_f64).exp())],
            ),
            (
                "g : SecondOrder(20, 0.6, 3) (u = 1); output y = g.y;",
                0.1,
                &[("y", 3.0 * (1.0 - cosine - 0.75 * sine))],
            ),
            (
                "g : TransferFunction(b0 = 800, b1 = 32, b2 = 3, a0 = 400, a1 = 24) (u = 1); output y = g.y;",
                0.1,
                &[(
                    "y",
                    3.0 * (cosine - 0.75 * sine) + 2.0 * sine + 2.0 * (1.0 - cosine - 0.75 * sine),
                )],
            ),
        ],
    );
    // At its corner, a Butterworth filter of order n has the gain 1/sqrt(2) and the phase n*45 degrees.
    for order in 1..=5 {
        let quarter = f64::from(order) * PI / 4.0;
        let low = (20.2 * PI - quarter).sin() / 2.0_f64.sqrt();
        let high = (20.2 * PI + quarter).sin() / 2.0_f64.sqrt();
        let body = format!(
            "l : LowPass({order}, 2*pi) (u = sin(2*pi*time)); h : HighPass({order}, 2*pi) (u = sin(2*pi*time));
             output a = l.y; output b = h.y;"
        );
        check("signals", &[(&body, 10.1, &[("a", low), ("b", high)])]);
    }
    check(
        "signals",
        &[(
            "a : LowPass(1, 3, y0 = 2) (u = 2); b : LowPass(2, 3, y0 = 2) (u = 2); c : LowPass(5, 3, y0 = 2) (u = 2);
             output x = a.y; output y = b.y; output z = c.y;",
            1.0,
            &[("x", 2.0), ("y", 2.0), ("z", 2.0)],
        )],
    );
    // The phase of a Pade fraction of order n departs from that of the delay with the power 2*n + 1 of the frequency.
    for order in 2..=4 {
        let body = format!("g : PadeDelay({order}, 0.1) (u = sin(time)); output y = g.y;");
        check("signals", &[(&body, 10.0, &[("y", 9.9_f64.sin())])]);
    }
    let late = 3.0_f64.atan();
    check(
        "signals",
        &[
            (
                "g : BandPass(2*pi, 2) (u = sin(4*pi*time)); output y = g.y;",
                20.1,
                &[("y", (80.4 * PI - late).sin() / 10.0_f64.sqrt())],
            ),
            (
                "g : Notch(2*pi, 2) (u = sin(4*pi*time)); output y = g.y;",
                20.1,
                &[("y", 3.0 * (80.4 * PI + PI / 2.0 - late).sin() / 10.0_f64.sqrt())],
            ),
        ],
    );
}

/// A loop of components is closed in every order of lines: a lag separates its output from its input.
#[test]
fn components_of_signals_form_loops() {
    let lines = [
        "c : PI(1, 1, high = 5) (setpoint = 1, measured = g.y);",
        "g : Lag(1) (u = c.y);",
        "output y = g.y;",
    ];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let body = order.map(|at| lines[at]).join(" ");
        check("signals", &[(&body, 1.0, &[("y", 1.0 - (-1.0_f64).exp())])]);
    }
}

#[test]
fn limits_and_sampling() {
    check(
        "signals",
        &[
            (
                "g : Limiter(3) (u = time); h : Limiter(3, -1) (u = -time); output y = g.y; output z = h.y;",
                5.0,
                &[("y", 3.0), ("z", -1.0)],
            ),
            (
                "g : DeadZone(3) (u = time); h : DeadZone(3, -1) (u = -time); output y = g.y; output z = h.y;",
                5.0,
                &[("y", 2.0), ("z", -4.0)],
            ),
            ("g : Quantiser(0.3) (u = time); output y = g.y;", 1.1, &[("y", 1.2)]),
            (
                "g : RateLimiter(2, 0.5) (u = 5); h : RateLimiter(2, 0.5) (u = -5); output y = g.y; output z = h.y;",
                1.0,
                &[("y", 2.0), ("z", -0.5)],
            ),
            (
                "g : SampleHold(0.3) (u = time); h : UnitDelay(0.3) (u = time); output y = g.y; output z = h.y;",
                1.0,
                &[("y", 0.9), ("z", 0.6)],
            ),
            (
                "g : Counter(0.5) (u = sin(2*pi*time)); output y = g.y;",
                3.5,
                &[("y", 4.0)],
            ),
            ("g : Timer(0.5) (u = step(0.4)); output y = g.y;", 1.0, &[("y", 0.6)]),
            (
                "g : PWM(0.1) (u = 0.3); state sum = int(g.y); output y = g.y; output s = sum;",
                1.02,
                &[("y", 1.0), ("s", 0.32)],
            ),
            (
                "g : CentredPWM(0.1) (u = 0.3); state sum = int(g.y); output y = g.y; output s = sum;",
                1.05,
                &[("y", 1.0), ("s", 0.315)],
            ),
        ],
    );
}

/// A state as the modulating signal: at the tips of the carrier, `u = 1` is decided by a value that a run integrates.
#[test]
fn centred_modulation_at_its_ends_switches_nothing() {
    let body = |duty: &str| {
        format!(
            "state dy = int(0*dy), start = {duty}; g : CentredPWM(1e-3) (u = dy); node vin, a : electrical;
             vs : VoltageSource(10) vin -> gnd; q : Switch(g.y > 0.5) vin -> a; l : Inductor(0.01) a -> gnd;
             state sum = int(g.y); output i = through(l); output s = sum;"
        )
    };
    check(
        "signals;\nimport switching",
        &[(&body("1"), 5.25e-3, &[("i", 5.25), ("s", 5.25e-3)])],
    );
    check(
        "signals;\nimport switching",
        &[(&body("0"), 5.25e-3, &[("i", 0.0), ("s", 0.0)])],
    );
}
