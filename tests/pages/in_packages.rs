//! Packages that contain the equations in other formats: LaTeX and JSON.

use crate::support;

use std::fs;
use support::emitted::emit;
use support::program::{example, succeed};

#[test]
fn latex_and_json_are_what_equations_prints() {
    for (target, file, name) in [
        ("latex", "cart_pendulum.lgm", "CartPendulum.tex"),
        ("json", "cart_pendulum.lgm", "CartPendulum.json"),
        ("json", "oscillator.lgm", "Oscillator.json"),
        ("latex", "oscillator.lgm", "Oscillator.tex"),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("code");
        let file = example(file);
        emit(&file, target, &folder, &[]);
        let written = fs::read_to_string(folder.join(name)).unwrap();
        let printed = succeed(&[
            "equations".into(),
            file.display().to_string(),
            "--format".into(),
            target.into(),
        ]);
        assert_eq!(written.trim_end(), printed.trim_end(), "{name}");
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(readme.contains(name) && readme.contains("SHA-256"), "{readme}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }
}
