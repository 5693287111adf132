//! The files of an FMU: reproducible to the byte, consistent with the description, replaced only on request, and never
//! incomplete.

use super::description::{Description, Element, elements, is_variable};
use super::driven::{emit, has_compiler, sources_only};
use super::support::program::example;
use std::fs;
use std::io::{Cursor, Read};
use std::path::Path;
use std::process::Command;

#[test]
fn descriptions_agree_with_themselves() {
    for name in [
        "speed_loop.lgm",
        "tumbling_body.lgm",
        "wheatstone_bridge.lgm",
        "motor_drive.lgm",
    ] {
        for target in ["fmu2", "fmu3"] {
            let scratch = tempfile::tempdir().unwrap();
            let folder = scratch.path().join("fmu");
            sources_only(&example(name), target, &folder, &[]);
            let description = Description::read(&fs::read_to_string(folder.join("modelDescription.xml")).unwrap());
            let variables = description.variables();
            // Every unit in use is defined.
            let units: Vec<&str> = description
                .all
                .iter()
                .filter(|e| e.name == "Unit")
                .filter_map(|e| e.get("name"))
                .collect();
            let used = description.all.iter().filter_map(|element| element.get("unit"));
            used.for_each(|unit| assert!(units.contains(&unit), "{unit}"));
            // Each state has one variable with the attribute `derivative`.
            let states = description
                .all
                .iter()
                .filter(|element| element.get("derivative").is_some())
                .count();
            assert!(states > 0);
            // The nominal value of a state is its initial value, or its expected magnitude if that is larger.
            let sized = description
                .all
                .iter()
                .filter(|element| element.get("nominal").is_some());
            let sized: Vec<&Element> = sized.collect();
            assert_eq!(sized.len(), states);
            for state in sized {
                let value = |key: &str| state.get(key).map(|text| text.parse::<f64>().unwrap());
                let start = value("start").unwrap_or(0.0).abs();
                let nominal = value("nominal").unwrap();
                assert!(nominal > 0.0 && nominal.is_finite(), "{nominal} of {start}");
                assert!(nominal >= start, "{nominal} of {start}");
            }
            let key = if description.is_three {
                "valueReference"
            } else {
                "index"
            };
            let unknowns: Vec<&Element> = description
                .all
                .iter()
                .filter(|e| e.get(key).is_some() && !is_variable(e))
                .collect();
            let dependent = unknowns
                .iter()
                .filter(|element| element.get("dependencies").is_some())
                .count();
            assert_eq!(dependent, states + description.count("causality", "output"));
            for unknown in &unknowns {
                for known in unknown.numbers("dependencies") {
                    let place = match description.is_three {
                        true => variables
                            .iter()
                            .position(|v| v.number("valueReference") == Some(known))
                            .unwrap(),
                        false => known - 1,
                    };
                    assert!(place < variables.len());
                }
            }
            // Every named file exists.
            let listed = fs::read_to_string(folder.join("sources/buildDescription.xml"));
            let listed = listed.map_or_else(|_| Vec::new(), |text| elements(&text));
            let sources = listed
                .iter()
                .chain(&description.all)
                .filter(|e| e.name == "SourceFile" || e.name == "File");
            let sources: Vec<&str> = sources.filter_map(|element| element.get("name")).collect();
            assert!(sources.len() >= 8);
            sources
                .iter()
                .for_each(|name| assert!(folder.join("sources").join(name).is_file(), "{name}"));
            assert!(
                description
                    .all
                    .iter()
                    .any(|element| element.name == "CoSimulation" && element.depth == 1)
            );
        }
    }
}

/// The nominal value of the single state in an FMU.
fn nominal_of(model: &Path) -> f64 {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("fmu");
    sources_only(model, "fmu3", &folder, &[]);
    let description = Description::read(&fs::read_to_string(folder.join("modelDescription.xml")).unwrap());
    let sizes: Vec<&str> = description.all.iter().filter_map(|e| e.get("nominal")).collect();
    assert_eq!(sizes.len(), 1);
    sizes[0].parse().unwrap()
}

/// A capacitor behind a diode is at 10 V; its equations give little information before the diode conducts. Its nominal
/// value is a thousandth of that.
#[test]
fn a_state_behind_what_blocks_at_first_has_the_size_that_a_run_shows() {
    let size = nominal_of(&example("diode_rectifier.lgm"));
    assert!((0.009..0.02).contains(&size), "{size}");
}

/// exp(90) is its final value, and says nothing about the accuracy required before.
#[test]
fn a_state_that_grows_without_bounds_has_the_size_of_its_beginning() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("growth.lgm");
    let text = "model Growth { node a : electrical; c : Capacitor(1) a -> gnd; r : Resistor(-1/3) a -> gnd;
        push : CurrentSource(1) gnd -> a; output v = across(c); experiment { stop = 30; } }";
    fs::write(&file, text).unwrap();
    // v = (exp(3 t) - 1)/3 is 0.5 after a hundredth of the time.
    assert!(nominal_of(&file) <= 1.0);
}

/// The files of an archive.
fn unzipped(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(fs::read(path).unwrap())).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).unwrap();
            let mut contents = Vec::new();
            file.read_to_end(&mut contents).unwrap();
            (file.name().unwrap().into_owned(), contents)
        })
        .collect()
}

#[test]
fn an_fmu_is_one_file_the_same_bytes_each_time_with_a_library() {
    if !has_compiler() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = example("milling_machine.lgm");
    for (target, platform) in [("fmu2", "linux64"), ("fmu3", "x86_64-linux")] {
        let into = |name: &str| scratch.path().join(format!("{target}{name}"));
        for name in ["a.fmu", "b.fmu"] {
            let output = emit(&file, target, &into(name), "gcc", &[]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.is_empty(), "{said}");
        }
        assert!(
            fs::read(into("a.fmu")).unwrap() == fs::read(into("b.fmu")).unwrap(),
            "the bytes differ"
        );
        let files = unzipped(&into("a.fmu"));
        let names: Vec<&str> = files.iter().map(|entry| entry.0.as_str()).collect();
        assert!(
            names.is_sorted() && names.contains(&"modelDescription.xml"),
            "{names:?}"
        );
        if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let library = format!("binaries/{platform}/MillingMachine.so");
            assert!(names.contains(&library.as_str()), "{names:?}");
        }
        // The folder holds the same files.
        let output = emit(&file, target, &into("folder"), "gcc", &[]);
        assert!(output.status.success());
        for (name, contents) in &files {
            assert!(fs::read(into("folder").join(name)).unwrap() == *contents, "{name}");
        }
        // Without a compiler it contains only the sources, and a message reports this.
        let output = emit(&file, target, &into("c.fmu"), "no-such-compiler", &[]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("only the sources"));
        assert_eq!(unzipped(&into("c.fmu")).len() + 1, files.len());
    }
}

#[test]
fn an_fmu_is_replaced_where_that_is_asked_for() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("it.fmu");
    let file = example("oscillator.lgm");
    let into = |path: &Path, further: &[&str]| emit(&file, "fmu3", path, "no-such-compiler", further);
    assert!(into(&path, &[]).status.success());
    let before = fs::read(&path).unwrap();
    let refused = into(&path, &["--set", "m=3"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("LGM0928"));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert!(into(&path, &["--set", "m=3", "--force"]).status.success());
    assert_ne!(fs::read(&path).unwrap(), before);
    // A file of another origin is not replaced.
    let other = scratch.path().join("other.fmu");
    fs::write(&other, "dear").unwrap();
    assert_eq!(into(&other, &["--force"]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&other).unwrap(), "dear");
    // A folder is not replaced either.
    let folder = scratch.path().join("folder");
    assert!(into(&folder, &[]).status.success());
    assert_eq!(into(&folder, &[]).status.code(), Some(2));
    assert!(into(&folder, &["--force"]).status.success());
    assert_eq!(into(&scratch.path().join("nowhere/it.fmu"), &[]).status.code(), Some(2));
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 3);
}

/// A slow compiler, and a Ctrl-C meanwhile.
#[cfg(unix)]
#[test]
fn an_interruption_leaves_nothing_behind() {
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};
    let scratch = tempfile::tempdir().unwrap();
    let slow = scratch.path().join("slow");
    fs::write(&slow, "#!/bin/sh\nexec sleep 5\n").unwrap();
    fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
    let places = ["temporary", "results"].map(|name| scratch.path().join(name));
    places.iter().for_each(|place| fs::create_dir(place).unwrap());
    let mut child = Command::new(env!("CARGO_BIN_EXE_lgm"))
        .args(["emit", "--target", "fmu3", "-o"])
        .arg(places[1].join("it.fmu"))
        .arg(example("oscillator.lgm"))
        .env("CC", &slow)
        .env("TMPDIR", &places[0])
        .spawn()
        .unwrap();
    let is_empty = |place: &Path| fs::read_dir(place).unwrap().next().is_none();
    let begin = Instant::now();
    while is_empty(&places[0]) && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!is_empty(&places[0]), "nothing is compiled");
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: the child has not been waited for, so its process id is still valid.
    unsafe { libc::kill(pid, libc::SIGINT) };
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_empty(&places[0]) && is_empty(&places[1]));
}
