//! The pictures of docs/gallery.md, docs/switching.md and the README, generated from the examples.
//!
//! With `UPDATE_GALLERY=1`, the test rewrites the pictures of `docs/gallery`; otherwise it compares them with the
//! program's current output. Curves may differ by round-off: by less than a pixel.

use crate::support::pages::difference_of_pictures;

use std::fs;
use std::path::Path;
use std::process::Command;

/// The name of each picture, and its command in the package's folder.
const PICTURES: [(&str, &[&str]); 14] = [
    (
        "oscillator",
        &["examples/oscillator.lgm", "--input", "F=step(1)", "--show", "F,v,y"],
    ),
    (
        "line_wave",
        &[
            "examples/line.lgm",
            "--set",
            "N=40",
            "--set",
            "Rl=31.6",
            "--input",
            "u=if time < 0.0005 then 1 - cos(2*pi*time/0.0005) else 0",
            "--stop",
            "0.0025",
            "--points",
            "1101",
            "--show",
            "cell[1].c.v,cell[10].c.v,cell[20].c.v,cell[30].c.v,cell[40].c.v",
        ],
    ),
    ("loudspeaker", &["examples/loudspeaker.lgm"]),
    ("milling_machine", &["examples/milling_machine.lgm"]),
    ("speed_loop", &["examples/speed_loop.lgm"]),
    (
        "speed_loop_gains",
        &["examples/speed_loop.lgm", "--sweep", "Ki=0.5:8:5:log", "--show", "w"],
    ),
    ("tumbling_body", &["examples/tumbling_body.lgm"]),
    ("governor", &["examples/governor.lgm"]),
    ("buck_converter", &["examples/switching/buck_converter.lgm"]),
    ("clutch", &["examples/switching/clutch.lgm"]),
    ("stick_slip", &["examples/switching/stick_slip.lgm"]),
    ("bridge_rectifier", &["examples/switching/bridge_rectifier.lgm"]),
    ("digital_speed_loop", &["examples/switching/digital_speed_loop.lgm"]),
    ("dropped_ball", &["examples/switching/dropped_ball.lgm"]),
];

#[test]
fn the_pictures_are_what_the_program_draws() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    for (name, arguments) in PICTURES {
        let place = package.join("docs/gallery").join(format!("{name}.svg"));
        let drawn = folder.path().join("drawn.svg");
        let output = Command::new(env!("CARGO_BIN_EXE_lgm"))
            .current_dir(package)
            .arg("simulate")
            .args(arguments)
            .args(["--output".as_ref(), folder.path().join("rows.csv").as_os_str()])
            .args(["--plot".as_ref(), drawn.as_os_str()])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let drawn = fs::read_to_string(drawn).unwrap();
        compare(name, &place, &drawn);
    }
}

/// Compares a picture with the stored one; with `UPDATE_GALLERY=1`, writes it.
pub(super) fn compare(name: &str, place: &Path, drawn: &str) {
    if std::env::var_os("UPDATE_GALLERY").is_some() {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        return fs::write(place, drawn).unwrap();
    }
    let known = fs::read_to_string(place).unwrap();
    let difference = difference_of_pictures(drawn, &known);
    assert_eq!(
        difference, None,
        "{name}: run with UPDATE_GALLERY=1, and look at the picture"
    );
}

/// The page of the source documents' systems: it is complete, its commands run, and its drawings match `lgm draw`.
#[test]
fn the_gallery_shows_every_system_of_the_documents() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(package.join("docs/gallery.md")).unwrap();
    for entry in fs::read_dir(package.join("examples/seeds")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            page.contains(&format!("examples/seeds/{name}")),
            "{name} is not in the gallery"
        );
    }
    let run = |command: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_lgm"))
            .current_dir(package)
            .args(command.split_whitespace().skip(1))
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    };
    let commands: Vec<&str> = page.split('`').filter(|part| part.starts_with("lgm ")).collect();
    assert!(commands.len() > 80);
    let update = std::env::var_os("UPDATE_GALLERY").is_some();
    for command in commands {
        let printed = run(command);
        let Some(file) = command.strip_prefix("lgm draw ") else {
            assert!(!printed.is_empty(), "{command} prints nothing");
            continue;
        };
        let place = package
            .join("docs/gallery")
            .join(Path::new(file).strip_prefix("examples").unwrap());
        let place = place.with_extension("svg");
        if update {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, &printed).unwrap();
        }
        let known = fs::read_to_string(&place).unwrap_or_default();
        assert!(
            known == printed,
            "{command}: run with UPDATE_GALLERY=1, and look at the picture"
        );
    }
}
