//! Misuse of nonlinear constructs: integrals, states, signals, varying moduli, laws and multiports. Each snapshot
//! contains the source with its diagnostics.

/// A crank, a rod and a slider on a guide, which start at these angles; the chain closes if that expression is zero.
fn slider_crank(theta: &str, phi: &str, close: &str) -> String {
    format!(
        "
model M {{
  param r = 0.1;
  param l = 0.3;
  node crank, rod : rotational;
  node pin[2] vector : translational;
  node wrist[2] vector : translational;
  state theta = int(across(crank)), start = {theta};
  state phi = int(across(rod)), start = {phi}, close = {close};
  arm   : Transformer([[-r*sin(theta)], [r*cos(theta)]]) crank -> gnd, pin -> gnd;
  whole : Transformer([[-l*sin(phi)], [l*cos(phi)]]) rod -> gnd, wrist -> pin;
  guide : AcrossSource(0) wrist[2] -> gnd;
  wheel  : Inertia(0.02) crank -> gnd;
  slider : Mass(0.8) wrist[1] -> gnd;
}}"
    )
}

cases! {
    a_state_that_is_no_integral: "
model M {
  node w : rotational;
  state q = across(w);
  J : Inertia(1) w -> gnd;
  k : TorqueSource(-1 [N.m.s]*q) gnd -> w;
}";
    a_state_with_more_than_its_integral: "
model M {
  node w : rotational;
  state q = 2*int(across(w)) + 0.5;
  J : Inertia(1) w -> gnd;
  k : TorqueSource(-1 [N.m]*q) gnd -> w;
}";
    an_integral_of_two_things: "
model M {
  node w : rotational;
  state q = int(across(w), 0.5);
  J : Inertia(1) w -> gnd;
  k : TorqueSource(-1 [N.m]*q) gnd -> w;
}";
    an_integral_of_nothing_in_a_source: "
model M {
  node w : rotational;
  J : Inertia(1) w -> gnd;
  k : TorqueSource(-1 [N.m]*int()) gnd -> w;
}";
    a_state_that_starts_with_too_many_numbers: "
model M {
  node x[2] vector : translational;
  state q = int(across(x)), start = [1, 2, 3];
  mass : Mass(1) x -> gnd;
  pull : ForceSource(-2 [N/m]*q) gnd -> x;
}";
    a_state_that_starts_with_what_changes: "
model M {
  node x : translational;
  state q = int(across(x)), start = 1 [m/s]*time;
  mass : Mass(1) x -> gnd;
  pull : ForceSource(-2 [N/m]*q) gnd -> x;
}";
    an_entry_of_a_scalar_state: "
model M {
  node x : translational;
  state q = int(across(x));
  mass : Mass(1) x -> gnd;
  pull : ForceSource(-2 [N/m]*q[2]) gnd -> x;
}";
    a_state_in_an_element: "
element Lag(a) : electrical {
  state z = int(across);
  through = a*z;
}
model M {
  node n : electrical;
  c : Capacitor(1) n -> gnd;
  l : Lag(1) n -> gnd;
}";
    a_chain_that_cannot_be_closed: "
model M {
  param r = 0.1;
  param l = 0.3;
  node crank, rod : rotational;
  node pin[2] vector : translational;
  node wrist[2] vector : translational;
  state theta = int(across(crank)), start = 1.2;
  state phi = int(across(rod)), start = -0.2, close = r*sin(theta) + l*sin(phi) - 0.7;
  arm   : Transformer([[-r*sin(theta)], [r*cos(theta)]]) crank -> gnd, pin -> gnd;
  whole : Transformer([[-l*sin(phi)], [l*cos(phi)]]) rod -> gnd, wrist -> pin;
  guide : AcrossSource(0) wrist[2] -> gnd;
  wheel  : Inertia(0.02) crank -> gnd;
  slider : Mass(0.8) wrist[1] -> gnd;
}";
    a_chain_that_begins_at_its_dead_centre: &slider_crank("pi/2", "pi/2", "r*sin(theta) + l*sin(phi) - 0.4");
    a_chain_between_its_two_positions: &slider_crank("0.5", "-1.5", "r*sin(theta) + l*sin(phi)");
    a_chain_whose_guess_leads_nowhere: &slider_crank("0.5", "-pi/2", "r*sin(theta) + l*sin(phi)");
    units_behind_the_names_of_outputs_signals_and_states: "
model M {
  node x : translational;
  mass : Mass(1) x -> gnd;
  state s [m] = int(across(mass));
  signal drive [N] = 2 - across(mass);
  push : ForceSource(drive) gnd -> x;
  output v [m/s] = across(mass);
  output torque [N.m^2/1] = 3;
  output plain[k] = across(mass);
}";
    a_rate_that_depends_on_itself: "
model M {
  zero a;
  c : C(1);
  state z = int(der(z));
  s : Sf(z);
  s -> a -> c;
}";
    signals_in_a_circle: "
model M {
  node x : translational;
  mass : Mass(1) x -> gnd;
  signal wanted = measured + 1;
  signal measured = 2*wanted;
  push : ForceSource(wanted) gnd -> x;
}";
    a_signal_of_a_wrong_unit: "
model M {
  node x : translational;
  mass : Mass(1 [kg]) x -> gnd;
  signal error = 1 [m] - across(mass);
  push : ForceSource(2 [N/m]*error) gnd -> x;
}";
    a_signal_that_is_misspelt: "
model M {
  node x : translational;
  mass : Mass(1 [kg]) x -> gnd;
  signal error = 1 - across(mass);
  push : ForceSource(2 [N.s/m]*eror) gnd -> x;
}";
    a_modulus_of_a_wrong_width: "
model M {
  param L = 2 [m];
  node w : rotational;
  node p[2] vector : translational;
  state q = int(across(w));
  arm : Transformer([[L*cos(q)], [L*sin(q)], [0]]) w -> gnd, p -> gnd;
  bob : Mass(1) p -> gnd;
}";
    a_modulus_of_a_wrong_unit: "
model M {
  param L = 2 [kg];
  node w : rotational;
  node p[2] vector : translational;
  state q = int(across(w));
  arm : Transformer([[L*cos(q)], [L*sin(q)]]) w -> gnd, p -> gnd;
  bob : Mass(1) p -> gnd;
}";
    a_modulus_of_a_length_that_should_be_an_angle: "
model M {
  param L = 2 [m];
  node x : translational;
  node w : rotational;
  node p[2] vector : translational;
  cart : Mass(1) x -> gnd;
  state q = int(across(cart));
  arm : Transformer([[L*cos(q)], [L*sin(q)]]) w -> gnd, p -> gnd;
  bob : Mass(1) p -> gnd;
}";
    a_modulus_between_the_wrong_domains: "
model M {
  param L = 2 [m];
  node w : electrical;
  node p : translational;
  state q = int(across(p));
  arm : Transformer(L*cos(q/1 [m])) w -> gnd, p -> gnd;
  bob : Mass(1) p -> gnd;
}";
    a_modulus_that_depends_on_an_acceleration: "
model M {
  one a, b;
  J : I(1);
  K : I(2);
  t : TF(1 + der(flow(J)));
  s : Se(1);
  s -> a -> J;
  a -> t -> b -> K;
}";
    a_modulus_that_is_zero_everywhere: "
model M {
  node w : rotational;
  node p[2] vector : translational;
  state q = int(across(w));
  J : Inertia(1) w -> gnd;
  arm : Transformer([[0*cos(q)], [0]]) w -> gnd, p -> gnd;
  push : ForceSource([1, 0]) gnd -> p;
}";
    a_storage_whose_value_changes: "
model M {
  one x;
  state q = int(flow(x));
  m : I(1 + q^2);
  s : Se(1);
  s -> x -> m;
}";
    a_source_of_its_own_rate: "
model M {
  one x;
  m : I(1);
  k : C(3);
  s : Se(der(effort(m)));
  s -> x -> m;
  x -> k;
}";
    a_controller_with_a_gain_of_one_around_itself: "
model M {
  input u = 1;
  node a : electrical;
  amplifier : VoltageSource(u + across(load)) a -> gnd;
  load : Resistor(1) a -> gnd;
}";
    a_start_that_contradicts_a_mechanism: "
model M {
  param L = 2 [m];
  node w : rotational;
  node p[2] vector : translational;
  state q = int(across(w)), start = 0.5;
  J : Inertia(1) w -> gnd, start = 3;
  arm : Transformer([[-L*sin(q)], [L*cos(q)]]) w -> gnd, p -> gnd;
  bob : Mass(1) p -> gnd, start = [1, 1];
}";
    a_start_of_what_stores_nothing: "
element Cubic(k) : translational { through = k*across^3; }
model M {
  node x : translational;
  mass : Mass(1) x -> gnd;
  drag : Cubic(2) x -> gnd, start = 1;
}";
    a_law_of_two_equations: "
element Both(a) : electrical { across = a; through = a; }
model M {
  node n : electrical;
  c : Capacitor(1) n -> gnd;
  b : Both(1) n -> gnd;
}";
    a_law_that_holds_no_variable_of_the_port: "
element Nothing(a) : electrical { a = 3; }
model M {
  node n : electrical;
  c : Capacitor(1) n -> gnd;
  b : Nothing(1) n -> gnd;
}";
    a_law_that_adds_volts_to_amperes: "
element Odd(a) : electrical { through^2 + across^2 = a; }
model M {
  node n : electrical;
  c : Capacitor(1) n -> gnd;
  o : Odd(1) n -> gnd;
}";
    a_law_with_a_rate_of_a_rate: "
element Jerk(k) : translational { through = k*der(der(across)); }
model M {
  node x : translational;
  mass : Mass(1) x -> gnd;
  j : Jerk(2) x -> gnd;
}";
    a_condition_without_its_other_branch: "
model M {
  node x : translational;
  mass : Mass(1) x -> gnd;
  push : ForceSource(if across(mass) > 0 then 1) gnd -> x;
}";
    a_condition_in_place_of_a_force: "
model M {
  node x : translational;
  mass : Mass(1) x -> gnd;
  push : ForceSource(across(mass) > 0) gnd -> x;
}";
    a_function_that_there_is_not: "
model M {
  node x : translational;
  mass : Mass(1) x -> gnd;
  push : ForceSource(1 [N.s/m]*limit(across(mass), 0, 1)) gnd -> x;
}";
    fewer_nodes_than_a_port_has_entries: "
import planar;
model M {
  node w : rotational;
  node G[2] vector, A[2] vector : translational;
  body : PlanarBody(n = 2, m = 1, J = 1, marks = [[0, 1], [1, 0]]) (turn = w, centre = G, point = [A]);
}";
    a_list_for_a_port_that_is_no_array: "
import planar;
model M {
  node w : rotational;
  node G[2] vector, A[2] vector : translational;
  body : PlanarBody(n = 1, m = 1, J = 1, marks = [[0, 1]]) (turn = [w], centre = G, point = [A]);
}";
    a_scalar_node_in_a_list_of_vector_nodes: "
import planar;
model M {
  node w : rotational;
  node G[2] vector, A : translational;
  body : PlanarBody(n = 1, m = 1, J = 1, marks = [[0, 1]]) (turn = w, centre = G, point = [A]);
}";
    a_node_of_another_domain_in_a_list: "
import planar;
model M {
  node w : rotational;
  node A[2] vector : electrical;
  node G[2] vector : translational;
  body : PlanarBody(n = 1, m = 1, J = 1, marks = [[0, 1]]) (turn = w, centre = G, point = [A]);
}";
    a_list_with_a_name_that_is_not_declared: "
import planar;
model M {
  node w : rotational;
  node G[2] vector, elbow[2] vector : translational;
  body : PlanarBody(n = 1, m = 1, J = 1, marks = [[0, 1]]) (turn = w, centre = G, point = [elbo]);
}";
    a_body_with_fewer_marks_than_points: "
import planar;
model M {
  node w : rotational;
  node G[2] vector, A[2] vector : translational;
  body : PlanarBody(n = 2, m = 1, J = 1, marks = [[0, 1]]) (turn = w, centre = G, point = [A, gnd]);
}";
    a_body_whose_number_of_points_may_change: "
import planar;
model M {
  param k = 1;
  node w : rotational;
  node G[2] vector, A[2] vector : translational;
  body : PlanarBody(n = k, m = 1, J = 1, marks = [[0, 1]]) (turn = w, centre = G, point = [A]);
}";
    gyrators_of_velocities_in_place_of_momenta: "
import spatial;
model M {
  node w[3] vector : rotational;
  J : Inertia(diag([1, 2, 3])) w -> gnd;
  ring : EulerGyrators(h = across(w)) (w = w);
}";
}
