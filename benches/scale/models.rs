//! The measured models, as text of any size.

use std::fmt::Write;

/// A family of models of growing size.
#[derive(Clone, Copy)]
pub struct Family {
    /// Its letter in the tables.
    pub key: &'static str,
    /// Its description.
    pub name: &'static str,
    /// The unit of its size.
    pub unit: &'static str,
    /// The text of the model of a given size.
    pub text: fn(usize) -> String,
    /// The upper limit of its growth exponent.
    pub aim: f64,
    /// The largest measured size.
    pub largest: usize,
}

/// All families, in the order of the tables.
pub const FAMILIES: [Family; 9] = [
    Family {
        key: "a",
        name: "RLC ladder",
        unit: "section",
        text: ladder,
        aim: 1.1,
        largest: 1_000_000,
    },
    Family {
        key: "b",
        name: "mass-spring-damper chain",
        unit: "mass",
        text: chain,
        aim: 1.1,
        largest: 1_000_000,
    },
    Family {
        key: "c",
        name: "masses in pairs by transformers",
        unit: "pair",
        text: pairs,
        aim: 1.1,
        largest: 1_000_000,
    },
    Family {
        key: "d",
        name: "resistor-capacitor grid",
        unit: "node",
        text: grid,
        aim: 1.5,
        largest: 1_000_000,
    },
    Family {
        key: "d'",
        name: "resistor grid, capacitors on its diagonal",
        unit: "node",
        text: resistive_grid,
        aim: 1.5,
        largest: 10_000,
    },
    Family {
        key: "e",
        name: "star, capacitor at the hub",
        unit: "branch",
        text: star,
        aim: 1.1,
        largest: 1_000_000,
    },
    Family {
        key: "e'",
        name: "star, no storage at the hub",
        unit: "branch",
        text: bare_star,
        aim: 1.1,
        largest: 1_000_000,
    },
    Family {
        key: "f",
        name: "random tree",
        unit: "node",
        text: tree,
        aim: 1.1,
        // With two lines per node, its text exceeds the maximum length of a source.
        largest: 100_000,
    },
    Family {
        key: "g",
        name: "line of components",
        unit: "section",
        text: components,
        aim: 1.1,
        largest: 1_000_000,
    },
];

fn ladder(n: usize) -> String {
    format!(
        "model Ladder {{
  const N = {n};
  param Rl = 50 [ohm];
  input u [V] = 1;
  node v[N + 1] : electrical;
  node m[N] : electrical;
  src : VoltageSource(u) v[1] -> gnd;
  for i in 1:N {{
    l[i] : Inductor(1 [mH])     v[i] -> m[i];
    r[i] : Resistor(0.1 [ohm])  m[i] -> v[i + 1];
    c[i] : Capacitor(1 [uF])    v[i + 1] -> gnd;
  }}
  load : Resistor(Rl) v[N + 1] -> gnd;
  output y = across(load);
}}
"
    )
}

fn chain(n: usize) -> String {
    format!(
        "model Chain {{
  const N = {n};
  input F [N] = 1;
  node x[N] : translational;
  push : ForceSource(F) gnd -> x[1];
  for i in 1:N {{ mass[i] : Mass(1 [kg]) x[i] -> gnd; }}
  for i in 1:N - 1 {{
    k[i] : Spring(100 [N/m])    x[i] -> x[i + 1];
    d[i] : Damper(0.5 [N.s/m])  x[i] -> x[i + 1];
  }}
  wall : Spring(100 [N/m]) x[N] -> gnd;
  output y = across(mass[N]);
}}
"
    )
}

fn pairs(n: usize) -> String {
    format!(
        "model Pairs {{
  const N = {n};
  input F [N] = 1;
  node x[N] : translational;
  node z[N] : translational;
  push : ForceSource(F) gnd -> x[1];
  for i in 1:N {{
    near[i]  : Mass(1 [kg]) x[i] -> gnd;
    far[i]   : Mass(2 [kg]) z[i] -> gnd;
    lever[i] : Transformer(1.5) x[i] -> gnd, z[i] -> gnd;
  }}
  for i in 1:N - 1 {{
    k[i] : Spring(100 [N/m])    z[i] -> x[i + 1];
    d[i] : Damper(0.5 [N.s/m])  z[i] -> x[i + 1];
  }}
  wall : Spring(100 [N/m]) z[N] -> gnd;
  output y = across(near[N]);
}}
"
    )
}

/// The side of the square grid of about n nodes.
fn side(n: usize) -> usize {
    (n as f64).sqrt().round() as usize
}

fn grid(n: usize) -> String {
    grid_with(
        side(n),
        "for i in 1:M { for j in 1:M { c[i, j] : Capacitor(1 [uF]) v[i, j] -> gnd; } }",
        "across(c[M, M])",
    )
}

fn resistive_grid(n: usize) -> String {
    grid_with(
        side(n),
        "for i in 1:M { c[i] : Capacitor(1 [uF]) v[i, i] -> gnd; }",
        "across(c[M])",
    )
}

fn grid_with(side: usize, capacitors: &str, output: &str) -> String {
    format!(
        "model Grid {{
  const M = {side};
  input u [V] = 1;
  node v[M, M] : electrical;
  node s : electrical;
  src  : VoltageSource(u)   s -> gnd;
  feed : Resistor(1 [ohm])  s -> v[1, 1];
  {capacitors}
  for i in 1:M {{ for j in 1:M - 1 {{ across_r[i, j] : Resistor(10 [ohm]) v[i, j] -> v[i, j + 1]; }} }}
  for i in 1:M - 1 {{ for j in 1:M {{ down_r[i, j] : Resistor(10 [ohm]) v[i, j] -> v[i + 1, j]; }} }}
  output y = {output};
}}
"
    )
}

fn star(n: usize) -> String {
    star_with(n, "bus : Capacitor(1 [uF]) hub -> gnd;")
}

fn bare_star(n: usize) -> String {
    star_with(n, "bus : Resistor(100 [ohm]) hub -> gnd;")
}

fn star_with(n: usize, bus: &str) -> String {
    format!(
        "model Star {{
  const N = {n};
  input u [V] = 1;
  node s : electrical;
  node hub : electrical;
  node v[N] : electrical;
  src  : VoltageSource(u)   s -> gnd;
  feed : Resistor(1 [ohm])  s -> hub;
  {bus}
  for i in 1:N {{
    r[i] : Resistor(10 [ohm]) hub -> v[i];
    c[i] : Capacitor(1 [uF])  v[i] -> gnd;
  }}
  output y = across(bus);
}}
"
    )
}

/// A resistor or an inductor connects each node to an earlier one, and a capacitor or a resistor to ground.
fn tree(n: usize) -> String {
    let mut state = n as u64;
    let mut random = |below: usize| {
        // A linear congruential generator (Knuth's MMIX); its high bits are sufficiently random for a tree.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut text = format!(
        "model Tree {{
  input u [V] = 1;
  node v[{n}] : electrical;
  node s : electrical;
  src  : VoltageSource(u)   s -> gnd;
  feed : Resistor(1 [ohm])  s -> v[1];
  c1   : Capacitor(1 [uF])  v[1] -> gnd;
"
    );
    for i in 2..=n {
        let parent = 1 + random(i - 1);
        let branch = ["Resistor(2 [ohm])", "Inductor(1 [mH])"][random(2)];
        let leaf = ["Capacitor(1 [uF])", "Resistor(1 [kohm])"][random(2)];
        writeln!(text, "  b{i} : {branch} v[{parent}] -> v[{i}];").expect("a string takes all that is written");
        writeln!(text, "  c{i} : {leaf} v[{i}] -> gnd;").expect("a string takes all that is written");
    }
    text.push_str("  output y = across(c1);\n}\n");
    text
}

fn components(n: usize) -> String {
    format!(
        "/// One section of a transmission line.
component Section(L [H], R [ohm], C [F]) {{
  port p, n, ref : electrical;
  node m : electrical;
  l : Inductor(L)  p -> m;
  r : Resistor(R)  m -> n;
  c : Capacitor(C) n -> ref;
}}
model Line {{
  const N = {n};
  param Rl = 50 [ohm];
  input u [V] = sin(2*pi*50*time);
  node v[N + 1] : electrical;
  src : VoltageSource(u) v[1] -> gnd;
  for i in 1:N {{
    cell[i] : Section(L = 1 [mH], R = 0.1 [ohm], C = 1 [uF]) (p = v[i], n = v[i + 1], ref = gnd);
  }}
  load : Resistor(Rl) v[N + 1] -> gnd;
  output y = across(load);
}}
"
    )
}
