//! Samples as Parquet, read back with the library's reader: `cargo test --features parquet --test parquet`.

#[path = "support/command.rs"]
mod command;

use command::{ends_with, err};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Output;

const OSCILLATOR: &str = "\
model Oscillator {
  param m = 2 [kg]; param k = 50 [N/m];
  input F [N] = 3*sin(time/(1 [s]));
  node x : translational;
  mass : Mass(m) x -> gnd; spring : Spring(k) x -> gnd;
  push : ForceSource(F) gnd -> x;
  output v = across(mass);
  output share = through(spring)/(1 [N]);
  experiment { stop = 4 [s]; points = 401; }
}
";

fn simulate(folder: &Path, arguments: &[&str]) -> Output {
    fs::write(folder.join("oscillator.lgm"), OSCILLATOR).unwrap();
    command::lgm(folder, &[&["simulate", "oscillator.lgm"], arguments].concat())
}

/// A table with the metadata of its file.
struct Table {
    about: BTreeMap<String, String>,
    names: Vec<String>,
    rows: Vec<Vec<Field>>,
    groups: usize,
}

fn read(path: &Path) -> Table {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let file = reader.metadata().file_metadata();
    let entries = file.key_value_metadata().unwrap().iter();
    let about = entries.map(|entry| (entry.key.clone(), entry.value.clone().unwrap()));
    let schema = file.schema_descr();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        row.get_column_iter().map(|(_, field)| field.clone()).collect()
    });
    Table {
        about: about.collect(),
        names: schema
            .columns()
            .iter()
            .map(|column| column.name().to_string())
            .collect(),
        rows: rows.collect(),
        groups: reader.num_row_groups(),
    }
}

fn number(field: &Field) -> f64 {
    match field {
        Field::Double(number) => *number,
        Field::Long(number) => *number as f64,
        other => panic!("{other:?} is no number"),
    }
}

#[test]
fn every_number_is_the_one_of_the_csv_file() {
    let folder = tempfile::tempdir().unwrap();
    ends_with(&simulate(folder.path(), &["-o", "run.parquet"]), 0);
    ends_with(&simulate(folder.path(), &["-o", "run.csv"]), 0);
    let table = read(&folder.path().join("run.parquet"));
    let csv = fs::read_to_string(folder.path().join("run.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(table.names.join(","), lines.next().unwrap());
    assert_eq!(table.rows.len(), 401);
    for (row, line) in table.rows.iter().zip(lines.by_ref()) {
        let found: Vec<u64> = row.iter().map(|field| number(field).to_bits()).collect();
        let expected: Vec<u64> = line
            .split(',')
            .map(|word| word.parse::<f64>().unwrap().to_bits())
            .collect();
        assert_eq!(found, expected, "{line}");
    }
    assert_eq!(lines.next(), None);
    let about = |key: &str| table.about.get(key).map(String::as_str);
    assert_eq!(about("schema"), Some("lgm-simulation/1"));
    assert_eq!(about("model"), Some("Oscillator"));
    assert_eq!(about("status"), Some("complete"));
    assert_eq!(about("unit:time"), Some("s"));
    assert_eq!(about("unit:v"), Some("m/s"));
    let columns: serde_json::Value = serde_json::from_str(about("columns").unwrap()).unwrap();
    assert_eq!(
        columns[1],
        serde_json::json!({"name": "v", "unit": "m/s", "kind": "output"})
    );
    assert_eq!(columns[3]["kind"], "state");
    // Temporary names of incomplete files are gone.
    let left: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn long_runs_are_written_in_groups() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulate(
        folder.path(),
        &["--points", "300001", "--format", "parquet", "-o", "run.data"],
    );
    ends_with(&run, 0);
    let table = read(&folder.path().join("run.data"));
    assert_eq!((table.rows.len(), table.groups), (300_001, 3));
    assert!(
        table
            .rows
            .windows(2)
            .all(|pair| number(&pair[0][0]) < number(&pair[1][0]))
    );
}

#[test]
fn a_failed_run_of_many_is_a_row_with_gaps_and_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let run = simulate(
        folder.path(),
        &[
            "--input",
            "F=log((60 [N/m] - k)/(1 [N/m]))*(1 [N])",
            "--sweep",
            "k=50:70:2",
            "--points",
            "2",
            "-o",
            "runs.parquet",
        ],
    );
    ends_with(&run, 0);
    assert!(err(&run).contains("1 of 2 runs failed"), "{}", err(&run));
    let table = read(&folder.path().join("runs.parquet"));
    assert_eq!(table.names, ["run", "k", "time", "v", "share", "status", "reason"]);
    assert_eq!(table.about["unit:k"], "N/m");
    let [first, second, failed] = &table.rows[..] else {
        panic!("{:?}", table.rows)
    };
    for row in [first, second] {
        assert_eq!(
            (&row[0], &row[5], &row[6]),
            (&Field::Long(1), &Field::Str("ok".into()), &Field::Null)
        );
    }
    assert_eq!((&failed[0], &failed[1]), (&Field::Long(2), &Field::Double(70.0)));
    assert_eq!((&failed[3], &failed[4]), (&Field::Null, &Field::Null));
    assert_eq!(failed[5], Field::Str("failed".into()));
    assert!(
        matches!(&failed[6], Field::Str(reason) if reason.contains("[LGM1004]")),
        "{failed:?}"
    );
}

#[test]
fn a_failed_run_keeps_its_rows_on_request_only() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "--input",
        "F=log((2.5 [s] - time)/(1 [s]))*(1 [N])",
        "-o",
        "run.parquet",
    ];
    ends_with(&simulate(folder.path(), &arguments), 1);
    assert!(!folder.path().join("run.parquet").exists());
    ends_with(&simulate(folder.path(), &[&arguments[..], &["--keep"]].concat()), 1);
    let table = read(&folder.path().join("run.parquet"));
    assert_eq!(table.about["status"], "failed");
    assert!((240..=251).contains(&table.rows.len()), "{}", table.rows.len());
}

/// A run that ends with its test, even if the test fails.
#[cfg(unix)]
struct Interrupted(std::process::Child);

#[cfg(unix)]
impl Drop for Interrupted {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_a_valid_file() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("oscillator.lgm"), OSCILLATOR).unwrap();
    // Samples so dense that a row group fills quickly, and an endless number of them.
    let arguments = [
        "simulate",
        "oscillator.lgm",
        "--stop",
        "1e4",
        "--points",
        "1000000000",
        "-o",
        "run.parquet",
    ];
    let mut child = Interrupted(
        command::command(folder.path(), &arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    // Until the incomplete file contains a first row group.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    let has_rows = || {
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        let mut unfinished = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "part"));
        unfinished.any(|entry| entry.metadata().is_ok_and(|about| about.len() > 1 << 16))
    };
    while !has_rows() {
        assert!(std::time::Instant::now() < deadline, "no rows after two minutes");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = child.0.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.0.wait().unwrap().code(), Some(130));
    let table = read(&folder.path().join("run.parquet"));
    assert_eq!(table.about["status"], "interrupted");
    assert!(table.rows.len() > 1000 && table.groups > 0);
}
