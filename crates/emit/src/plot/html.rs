//! A figure as one HTML file that draws itself, with zoom, values under the pointer, and light and dark themes. The page works offline.

use super::ticks::typeset;
use super::{Figure, STYLES, Series, Trace, drawn, escaped};
use crate::{significant, write_compact};
use std::io::{self, Write};

/// The page template, with the script that draws the data.
const PAGE: &str = include_str!("page.html");

/// The number of time intervals that keep only their first, lowest, highest and last points. It limits the resolution when zooming.
const BINS: usize = 4000;

/// Beyond this number, events have no tooltips.
const MOST_WORDS: usize = 2000;

/// Beyond this number, events are not marked.
const MOST_TICKS: usize = 20_000;

/// Colours of the curves on a dark background, in the order of [`STYLES`].
const DARK: [&str; 8] = [
    "#4aa3df", "#ff8a4c", "#2fcf9f", "#e57fb5", "#9fd3f5", "#d6b34a", "#e8e8e8", "#9a9a9a",
];

/// Returns the figure as an HTML file.
pub fn html(figure: &Figure) -> String {
    let data = drawn(|out| write_data(figure, out)).replace('<', "\\u003c");
    PAGE.replace("@TITLE@", &escaped(&figure.title))
        .replace("@DATA@", &data)
}

fn write_data(figure: &Figure, out: &mut Vec<u8>) -> io::Result<()> {
    let points: Vec<Vec<(f64, f64)>> = figure.series.iter().map(|series| thinned(figure, series)).collect();
    // In a short run all curves share their sample times; in a long run each curve keeps different points.
    let times = |points: &[(f64, f64)]| points.iter().map(|point| point.0).collect::<Vec<f64>>();
    let common = points.first().map(|points| times(points)).unwrap_or_default();
    write!(
        out,
        "{{\"from\":{},\"to\":{},\"t\":",
        significant(figure.from, 15),
        significant(figure.to, 15)
    )?;
    write_numbers(&common, 12, out)?;
    write!(out, ",\"events\":[")?;
    // Large numbers of events are shown as ticks without text.
    let shows_words = figure.events.len() <= MOST_WORDS;
    for (at, (time, words)) in figure.events.iter().take(MOST_TICKS).enumerate() {
        write!(out, "{}[{},", if at > 0 { "," } else { "" }, significant(*time, 12))?;
        write_compact(out, if shows_words { words.as_str() } else { "" })?;
        write!(out, "]")?;
    }
    write!(out, "],\"panels\":[")?;
    for (at, panel) in figure.panels().iter().enumerate() {
        let unit = panel.series[0].unit.as_deref().filter(|unit| *unit != "1").map(typeset);
        write!(out, "{}{{\"unit\":", if at > 0 { "," } else { "" })?;
        write_compact(out, unit.as_deref().unwrap_or(""))?;
        write!(out, ",\"series\":[")?;
        for (number, series) in panel.series.iter().enumerate() {
            let place = figure.series.iter().position(|known| std::ptr::eq(known, *series));
            let points = &points[place.expect("invariant: a panel shows curves of its figure")];
            let (color, dashes) = STYLES[number % STYLES.len()];
            write!(out, "{}{{\"name\":", if number > 0 { "," } else { "" })?;
            write_compact(out, &series.name)?;
            write!(
                out,
                ",\"color\":\"{color}\",\"dark\":\"{}\",\"dashes\":[{}],\"v\":",
                DARK[number % DARK.len()],
                dashes.replace(' ', ",")
            )?;
            let values: Vec<f64> = points.iter().map(|point| point.1).collect();
            write_numbers(&values, 7, out)?;
            let own = times(points);
            if own != common {
                write!(out, ",\"t\":")?;
                write_numbers(&own, 12, out)?;
            }
            write!(out, "}}")?;
        }
        write!(out, "]}}")?;
    }
    write!(out, "]}}")
}

fn thinned(figure: &Figure, series: &Series) -> Vec<(f64, f64)> {
    let mut trace = Trace::new(figure.from, figure.to, BINS);
    for (time, value) in &series.points {
        trace.push(*time, *value);
    }
    trace.points()
}

/// Writes a list of numbers; non-finite numbers become `null`.
fn write_numbers(numbers: &[f64], digits: usize, out: &mut Vec<u8>) -> io::Result<()> {
    write!(out, "[")?;
    for (at, number) in numbers.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        match number.is_finite() {
            true => write!(out, "{comma}{}", significant(*number, digits))?,
            false => write!(out, "{comma}null")?,
        }
    }
    write!(out, "]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_its_data_and_asks_for_nothing_else() {
        let figure = Figure {
            title: "A </script> & more".to_string(),
            from: 0.0,
            to: 1.0,
            series: vec![Series {
                name: "</script><b>".to_string(),
                unit: Some("m/s".to_string()),
                points: vec![(0.0, 1.0), (0.5, f64::NAN), (1.0, 2.5)],
            }],
            events: vec![(0.5, "d: </script>".to_string())],
        };
        let page = html(&figure);
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(page.contains("A &lt;/script&gt; &amp; more"));
        assert!(page.contains("\"v\":[1,null,2.5]"), "{page}");
        assert!(page.contains("\"events\":[[0.5,\"d: \\u003c/script>\"]]"), "{page}");
        assert!(!page.contains("://") && !page.contains("src="), "nothing is fetched");
        let start = page.find("id=\"data\">").unwrap() + 10;
        let end = start + page[start..].find("</script>").unwrap();
        let data: serde_json::Value = serde_json::from_str(&page[start..end]).unwrap();
        assert_eq!(data["panels"][0]["series"][0]["name"], "</script><b>");
    }
}
