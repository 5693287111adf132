//! `lgm check --stats` compared with Table 4-4 of the thesis, and `lgm modes`.

use crate::support::program::{example, succeed};
use crate::support::records::{Record, number};

fn stats(name: &str) -> Vec<Vec<usize>> {
    let file = example(&format!("seeds/{name}.lgm")).display().to_string();
    let text = succeed(&["check".to_owned(), file, "--stats".to_owned()]);
    let rows = text.lines().skip(1).take(3);
    rows.map(|row| row.split_whitespace().filter_map(|word| word.parse().ok()).collect())
        .collect()
}

#[test]
fn the_modal_bar_is_counted_as_in_table_4_4() {
    let record = Record::load("table_4_4");
    let prints = &record.json["seed_prints"];
    let expected: Vec<Vec<usize>> = ["LG conventional", "VLG", "LG with new DP element"]
        .iter()
        .map(|name| {
            prints[name]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| number(entry) as usize)
                .collect()
        })
        .collect();
    assert_eq!(stats("bar_modal"), expected);
    // The same bar drawn with vector elements gives the second row.
    let vector = stats("bar_vlg");
    assert_eq!(vector, [&expected[0][..], &expected[1][..], &expected[1][..]]);
}

#[test]
fn counts_come_as_json_and_with_what_reduction_leaves() {
    let of = |name: &str| {
        let file = example(&format!("seeds/{name}.lgm"));
        crate::support::program::json("check", &file, &["--stats".to_owned()])
    };
    let bar = of("bar_modal");
    assert_eq!(bar["stats"]["scalar"]["total"], stats("bar_modal")[0][6]);
    assert_eq!(bar["stats"]["as_written"]["elements"], stats("bar_modal")[2][2]);
    let left = serde_json::json!({"states": 8, "dependent": 0, "loops": 0, "outputs": 2});
    assert_eq!(bar["stats"]["reduced"], left);
    // A velocity at a port removes the state of one modal mass.
    let driven = of("dp_element_velocity_driven");
    assert_eq!(driven["stats"]["reduced"]["dependent"], 1);
    let file = example("seeds/bar_modal.lgm").display().to_string();
    let text = succeed(&["check".to_owned(), file, "--stats".to_owned()]);
    let last =
        "after reduction: 8 state equations, 2 output equations, 0 algebraic loops; 0 dependent storage elements";
    assert!(text.lines().any(|line| line == last), "{text}");
}

#[test]
fn modes_come_as_json() {
    let bar = example("seeds/bar_modal.lgm");
    let found = crate::support::program::json("modes", &bar, &[]);
    assert_eq!(found["poles"].as_array().unwrap().len(), 8);
    let study: Vec<String> = ["--converge", "n_modes=1,4,16", "--omega", "0.31"]
        .map(str::to_owned)
        .to_vec();
    let found = crate::support::program::json("modes", &bar, &study);
    let rows = found["study"].as_array().unwrap();
    let error = |row: usize| number(&rows[row]["response_error"]);
    assert!(error(0) > 3.0 * error(1) && error(2) == 0.0, "{found}");
    assert!((number(&rows[0]["omega"][0]) - 1.1583034).abs() < 1e-6, "{found}");
}

#[test]
fn the_milling_machine_has_the_same_counts_however_it_is_drawn() {
    let block = stats("milling_machine");
    let vector = stats("milling_machine_vector");
    let scalar = stats("milling_machine_scalar");
    assert_eq!(vector[0], block[0]);
    assert_eq!(scalar[0], block[0]);
    assert_eq!(vector[1], block[1]);
    assert_eq!(vector[2], block[1]);
    assert_eq!(scalar[2], block[0]);
    assert!(block[2][6] < block[1][6] && block[1][6] < block[0][6]);
}

/// Modes have the right frequencies immediately, and their response error decreases as 1/n; micro-elements converge to
/// both.
#[test]
fn a_study_of_convergence_shows_frequencies_and_errors() {
    let bar = example("seeds/bar_modal.lgm").display().to_string();
    let chain = example("seeds/bar_microelement_chain.lgm").display().to_string();
    let words = [
        "modes",
        &bar,
        "--converge",
        "n_modes=1,4,16,48",
        "--omega",
        "0.31",
        "--against",
        &chain,
        "--cells",
        "N",
    ];
    let text = succeed(&words.map(str::to_owned));
    let rows: Vec<Vec<f64>> = text
        .lines()
        .map(|line| {
            line.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect::<Vec<f64>>()
        })
        // Column headings start with a name.
        .zip(text.lines())
        .filter(|(_, line)| line.trim_start().starts_with(|letter: char| letter.is_ascii_digit()))
        .map(|(row, _)| row)
        .collect();
    assert_eq!(rows.len(), 8, "{text}");
    let last = |row: &Vec<f64>| *row.last().unwrap();
    assert!(
        last(&rows[0]) > 3.0 * last(&rows[1]) && last(&rows[1]) > 3.0 * last(&rows[2]),
        "{text}"
    );
    assert_eq!(last(&rows[3]), 0.0, "{text}");
    for (modal, micro) in rows[1..4].iter().zip(&rows[5..]) {
        assert!((modal[1] - 1.1583034).abs() < 1e-6, "{text}");
        assert!(micro[1] < modal[1], "{text}");
    }
    assert!(rows[7][1] > rows[6][1] && rows[6][1] > rows[5][1], "{text}");
    assert!(last(&rows[5]) > 2.0 * last(&rows[6]), "{text}");
}

#[test]
fn poles_come_with_natural_frequencies_and_damping() {
    let oscillator = example("oscillator.lgm").display().to_string();
    let text = succeed(&["modes".to_owned(), oscillator]);
    let row: Vec<f64> = text
        .lines()
        .nth(1)
        .unwrap()
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    // m = 2, k = 50, b = 0.4.
    for (found, expected) in row
        .iter()
        .zip([-0.1, 4.998999900, 5.0, 5.0 / std::f64::consts::TAU, 0.02])
    {
        assert!((found - expected).abs() < 1e-7, "{text}");
    }
}
