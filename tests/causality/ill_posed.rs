//! Values that make a model ill-posed: the source text of each case with its diagnostic, element, value and location.

use crate::faulty::check;
use lgm::diagnostic::has_errors;
use lgm::rendering::render;

cases! {
    a_division_by_zero_two_instances_deep: "
component Leg(gap) {
  port top : translational;
  film : Damper(1/gap) top -> gnd;
}
component Stool(gap) {
  port seat : translational;
  leg : Leg(gap) (top = seat);
  mass : Mass(1) seat -> gnd;
}
model Bar {
  param gap = 0;
  node seat[2] : translational;
  stool : Stool(0.01) (seat = seat[1]);
  worn : Stool(gap) (seat = seat[2]);
}";
    a_gain_that_is_one_around_the_loop_for_these_values: "
model M {
  param K = 2;
  param R1 = 100 [ohm];
  param R2 = 100 [ohm];
  input u [V] = step(0);
  node a, b : electrical;
  signal s = K*across(r2);
  drive : VoltageSource(u + s) a -> gnd;
  r1 : Resistor(R1) a -> b;
  r2 : Resistor(R2) b -> gnd;
  output v = across(r2);
}";
    a_state_whose_rate_depends_on_itself_for_these_values: "
model M {
  param K = 1;
  input u = 1;
  node x : translational;
  state z = int(u - z + K*der(z));
  pull : ForceSource(z) gnd -> x;
  mass : Mass(2) x -> gnd;
}";
    a_mass_of_zero: "
model M {
  param m = 0 [kg];
  node x : translational;
  push : ForceSource(1) gnd -> x;
  body : Mass(2*m) x -> gnd;
  drag : Damper(3) x -> gnd;
}";
    an_inductance_of_zero_by_option with "L=0": "
model M {
  param L = 1 [mH];
  node a, b : electrical;
  feed : VoltageSource(1) a -> gnd;
  coil : Inductor(L) a -> b;
  load : Resistor(2) b -> gnd;
}";
    a_negative_mass: "
model M {
  param m = -2 [kg];
  node x : translational;
  push : ForceSource(1) gnd -> x;
  body : Mass(m) x -> gnd;
  drag : Damper(3) x -> gnd;
}";
    a_stiffness_of_zero: "
model M {
  param k = 0 [N/m];
  node x : translational;
  push   : ForceSource(1) gnd -> x;
  spring : Spring(k) x -> gnd;
  mass   : Mass(2) x -> gnd;
}";
    a_singular_mass_matrix: "
model M {
  param k = 2;
  node q[2] vector : translational;
  push : ForceSource([1, 0]) gnd -> q;
  body : Mass([[1, k], [k, 4]]) q -> gnd;
  drag : Damper(1) q -> gnd;
}";
    a_mass_matrix_that_is_not_positive: "
model M {
  node q[2] vector : translational;
  push : ForceSource([1, 0]) gnd -> q;
  body : Mass([[1, 3], [3, 4]]) q -> gnd;
  drag : Damper(1) q -> gnd;
}";
    a_resistance_of_zero_across_a_source with "R=0": "
model M {
  param R = 5;
  node a : electrical;
  feed : VoltageSource(12) a -> gnd;
  link : Resistor(R) a -> gnd;
}";
    a_resistance_of_zero_across_a_capacitor: "
model M {
  node a : electrical;
  store : Capacitor(1) a -> gnd;
  link  : Resistor(0) a -> gnd;
}";
    a_damper_of_zero_against_a_force: "
model M {
  param b = 0;
  node x : translational;
  push : ForceSource(12) gnd -> x;
  drag : Damper(b) x -> gnd;
}";
    two_resistances_of_zero_in_parallel: "
model M {
  param R = 0;
  node a, b : electrical;
  feed : VoltageSource(12) a -> gnd;
  r1   : Resistor(5) a -> b;
  r2   : Resistor(R) b -> gnd;
  r3   : Resistor(R) b -> gnd;
}";
    a_resistor_that_cancels_a_loop: "
model M {
  param R = 2;
  node a, b : electrical;
  feed : VoltageSource(12) a -> gnd;
  r1   : Resistor(R) a -> b;
  r2   : Resistor(R) b -> gnd;
  r3   : Resistor(-R/2) b -> gnd;
}";
    a_long_loop_that_one_resistor_cancels: "
model M {
  const N = 29;
  node v[N + 1] : electrical;
  feed : VoltageSource(12) v[1] -> gnd;
  for i in 1:N { r[i] : Resistor(1) v[i] -> v[i + 1]; }
  end  : Resistor(-N) v[N + 1] -> gnd;
}";
    a_resistance_matrix_that_is_singular: "
model M {
  node v[2] vector : electrical;
  feed : VoltageSource([1, 2]) v -> gnd;
  net  : Resistor([[1, 2], [2, 4]]) v -> gnd;
}";
    masses_that_cancel_by_way_of_a_lever: "
model M {
  node x, y : translational;
  push  : ForceSource(1) gnd -> x;
  mass  : Mass(2) x -> gnd;
  lever : Transformer(2) x -> gnd, y -> gnd;
  anti  : Mass(-0.5) y -> gnd;
}";
    a_law_that_allows_one_causality: "
element Amplifier(k) : electrical { port a, b; b.across = k*a.across; a.through = 0; }
model M {
  node x, y : electrical;
  feed  : VoltageSource(1) x -> gnd;
  amp   : Amplifier(5) x -> gnd, y -> gnd;
  clamp : VoltageSource(3) y -> gnd;
}";
    a_short_circuit_drawn_as_an_element: "
element Short : electrical { across = 0; }
model M {
  node a : electrical;
  feed : VoltageSource(1) a -> gnd;
  wire : Short a -> gnd;
}";
    a_parameter_without_a_real_value: "
model M {
  param x0 = -1;
  param m = log(x0);
}";
    a_parameter_beyond_the_range_of_doubles: "
model M {
  param m = 1e308*10;
  node x : translational;
  push : ForceSource(1) gnd -> x;
  body : Mass(m) x -> gnd;
}";
    a_value_beyond_the_range_of_doubles: "
model M {
  param m = 2;
  node x : translational;
  push : ForceSource(1) gnd -> x;
  body : Mass(m*1e-200*1e-200) x -> gnd;
}";
    one_zero_that_several_values_divide_by with "gap=0": "
model M {
  param gap = 1;
  node x : translational;
  push : ForceSource(1/gap) gnd -> x;
  body : Mass(2) x -> gnd, start = 3/gap;
  film : Damper(1/gap^3) x -> gnd;
  output y = across(x)/gap;
}";
    a_root_of_a_negative_number_in_an_output: "
model M {
  param d = 0.5;
  node x : translational;
  push : ForceSource(1) gnd -> x;
  body : Mass(2) x -> gnd;
  output y = sqrt(d - 1)*across(x);
}";
    division_by_zero_in_constants: "
model M {
  const n = 0;
  const m = 4/n;
  node x[m] : translational;
}";
    a_modulus_of_zero with "n=0": "
model M {
  param n = 2;
  node a, b : electrical;
  feed : VoltageSource(1) a -> gnd;
  T    : Transformer(n) a -> gnd, b -> gnd;
  load : Resistor(2) b -> gnd;
}";
    a_value_of_an_instance: "
component Cell(L, g) {
  port p, n : electrical;
  r : Resistor(L/g) p -> n;
}
model M {
  param g = 0;
  node a : electrical;
  feed : CurrentSource(1) gnd -> a;
  one_ : Cell(1, 2) (p = a, n = gnd);
  two  : Cell(1, g) (p = a, n = gnd);
}";
}

/// Values that a condition excludes, or that only time determines, are not errors.
#[test]
fn values_that_are_never_computed_are_no_fault() {
    let (found, map) = check(
        "model M {
           param d = 0;
           input u = step(1)*sin(step(2));
           node x : translational;
           push : ForceSource(u + (if d > 0 then 1/d else 0)) gnd -> x;
           body : Mass(1) x -> gnd;
           output y = across(x)/(d + 1);
         }",
        &[],
        false,
    );
    assert!(!has_errors(&found), "{}", render(&map, &found, false));
}
