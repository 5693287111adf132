//! Large sparse models: poles near a frequency, compared with the closed form of a chain.

use super::{json, near, number, written};

#[test]
fn poles_of_a_long_chain_are_found_near_a_frequency() {
    // Equal masses and springs, both ends fixed: w_j = 2 sqrt(k/m) sin(j pi/(2 (N + 1))).
    let scratch = tempfile::tempdir().unwrap();
    let text = "model Chain {
  const N = 600;
  input F [N] = 0;
  node x[N] : translational;
  push : ForceSource(F) gnd -> x[1];
  first : Spring(100) gnd -> x[1];
  last : Spring(100) x[N] -> gnd;
  for i in 1:N { m[i] : Mass(1) x[i] -> gnd; }
  for i in 1:N-1 { k[i] : Spring(100) x[i] -> x[i + 1]; }
  output v = across(m[1]);
}";
    let file = written(scratch.path(), "chain.lgm", text);
    let answer = json(&["modes", file.to_str().unwrap(), "--near", "7.3", "--count", "8"]);
    let mut found: Vec<f64> = answer["poles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pole| number(&pole["imaginary"]))
        .collect();
    found.retain(|omega| *omega > 0.0);
    found.sort_by(f64::total_cmp);
    let mut expected: Vec<f64> = (1..=600)
        .map(|j| 20.0 * (f64::from(j) * std::f64::consts::PI / 1202.0).sin())
        .collect();
    expected.sort_by(|a, b| (a - 7.3).abs().total_cmp(&(b - 7.3).abs()));
    expected.truncate(4);
    expected.sort_by(f64::total_cmp);
    assert_eq!(found.len(), 4, "{answer}");
    for (found, expected) in found.iter().zip(expected) {
        near(*found, expected, 1e-10);
    }
}
