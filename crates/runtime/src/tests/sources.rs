//! The lists of sources that emitted packages contain.

use std::fs;
use std::path::Path;
use std::string::String;
use std::vec::Vec;

/// Returns the names and contents of the files in a folder of this crate, sorted.
fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.is_file()).map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        (String::from(name), fs::read_to_string(&path).unwrap())
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

#[test]
fn every_module_is_carried() {
    let mut expected = files("src");
    expected.retain(|file| file.0 != "lib.rs");
    let carried = crate::SOURCES.map(|(name, text)| (std::format!("{name}.rs"), String::from(text)));
    assert_eq!(expected, carried);
    let carried = crate::EVENTS.map(|(name, text)| (std::format!("{name}.rs"), String::from(text)));
    assert_eq!(files("src/events"), carried);
}

#[test]
fn every_c_source_is_carried() {
    let programs = [
        crate::C_MAIN,
        crate::C_CVODE,
        crate::C_FIXED,
        ("lgm_loops.c", crate::C_LOOPS),
    ];
    let carried = crate::C_SOURCES.into_iter().chain(crate::C_EVENTS).chain(programs);
    let mut carried: Vec<_> = carried
        .map(|(name, text)| (String::from(name), String::from(text)))
        .collect();
    carried.sort();
    assert_eq!(files("c"), carried);
    for (name, text) in &carried {
        assert!(!text.contains('@'), "{name}");
    }
}

/// Programs may be compiled as one file, which must not define a name twice; the drivers are separate files.
#[test]
fn no_two_files_of_c_have_a_static_name_in_common() {
    let mut found: std::vec::Vec<(std::string::String, &str)> = std::vec::Vec::new();
    let carried = crate::C_SOURCES.into_iter().chain(crate::C_EVENTS);
    for (file, text) in carried.filter(|file| file.0.ends_with(".c")) {
        for line in text.lines().filter(|line| line.starts_with("static ")) {
            let head = line.split(['(', '=', '[', ';']).next().unwrap_or(line).trim_end();
            let name = head.rsplit([' ', '*']).next().unwrap_or(head);
            let other = found.iter().find(|other| other.0 == name && other.1 != file);
            assert!(other.is_none(), "{name} of {file} and {other:?}");
            found.push((name.into(), file));
        }
    }
    assert!(found.len() > 100, "{}", found.len());
}
