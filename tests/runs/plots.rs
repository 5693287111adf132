//! Plots of trajectories: their contents, and that they stay small.

use lgm::emit::plot::{Figure, Series, Trace, html, svg};

fn curve(name: &str, unit: Option<&str>, from: f64, to: f64, of: impl Fn(f64) -> f64) -> Series {
    let points = (0..=100).map(|at| {
        let time = from + f64::from(at) / 100.0 * (to - from);
        (time, of(time))
    });
    Series {
        name: name.to_string(),
        unit: unit.map(str::to_string),
        points: points.collect(),
    }
}

fn figure() -> Figure {
    Figure {
        title: "Curves & <panels>".to_string(),
        from: 0.0,
        to: 0.05,
        series: vec![
            curve("v", Some("m/s"), 0.0, 0.05, |time| (200.0 * time).sin()),
            curve("w[1]", Some("m/s"), 0.0, 0.05, |time| (150.0 * time).cos()),
            curve("w[2]", Some("m/s"), 0.0, 0.05, |time| 0.9 * (150.0 * time).cos()),
            curve("force", Some("N"), 0.0, 0.05, |time| 2e6 * (-50.0 * time).exp()),
            curve("flow", Some("m^3/s"), 0.0, 0.05, |_| 3e-4),
        ],
        events: vec![
            (0.0125, "d1: blocking to conducting".to_string()),
            (0.0125, "d2: conducting to blocking".to_string()),
            (0.03, "when:12".to_string()),
        ],
    }
}

#[test]
fn a_figure_of_three_units() {
    insta::assert_snapshot!(svg(&figure()));
}

#[test]
fn a_million_rows_make_a_small_file_and_lose_no_peak() {
    let count = 1_000_000;
    let mut trace = Trace::new(0.0, 1.0, 4000);
    for at in 0..=count {
        let time = f64::from(at) / f64::from(count);
        let peak = if at == 333_333 { 5.0 } else { 0.0 };
        trace.push(time, (5000.0 * time).sin() + peak);
    }
    let points = trace.points();
    assert!(points.iter().any(|point| point.1 > 4.0));
    let figure = Figure {
        title: "Long".to_string(),
        from: 0.0,
        to: 1.0,
        series: vec![Series {
            name: "y".to_string(),
            unit: None,
            points,
        }],
        events: (0..1000)
            .map(|at| (f64::from(at) / 1000.0, "every:3".to_string()))
            .collect(),
    };
    let picture = svg(&figure);
    assert!(picture.len() < 45_000, "{} bytes", picture.len());
    let page = html(&figure);
    assert!(page.len() < 500_000, "{} bytes", page.len());
}
