//! Imports, the selected model, and values set by options.

use super::said;

#[test]
fn settings() {
    let text = r#"
model M {
  param m = 2 [kg];
  param K = [[1, 0], [0, 1]] [N/m];
  param d = 2*m;
  const N = 2;
  node x : translational;
  node q[2] vector : translational;
  a : Mass(m) x -> gnd;
  s : Spring(K) q -> gnd;
  b : Mass(d) q -> gnd;
}
"#;
    let options = ["mm=3", "m", "=4", "m=x", "m=2 [N]", "K=[1, 2]"];
    insta::assert_snapshot!(said(text, &options));
    let (model, diagnostics, _) = super::run(text, &["m=500 [g]", "K=[[5,-1],[-1,4]]", "d=7"]);
    assert!(diagnostics.is_empty());
    let model = model.unwrap();
    let values: Vec<String> = model
        .parameters
        .iter()
        .flat_map(|p| p.entries.iter().map(|e| e.value.to_string()))
        .collect();
    assert_eq!(values, ["1/2", "5", "-1", "-1", "4", "7"]);
    assert!(
        model.parameters[2].entries[0].derived.is_none(),
        "an option overrides a derived parameter"
    );
}

#[test]
fn unknown_model() {
    use lgm::elaborate::{Settings, elaborate, load};
    let mut map = lgm::source::SourceMap::default();
    let root = map.add("model.lgm", "model Pump { }", None);
    let (program, _) = load(&lgm::source::NoFiles, &mut map, root);
    let settings = Settings {
        model: Some("Pmup".to_string()),
        ..Settings::default()
    };
    let (model, diagnostics) = elaborate(&program, &map, &settings);
    assert!(model.is_none());
    assert_eq!(diagnostics[0].code, "LGM0901");
    assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `Pump`?"));
}

#[test]
fn a_smaller_limit_of_parts_is_kept_and_a_larger_one_is_not_granted() {
    use lgm::elaborate::{Settings, elaborate, load};
    let refused = |text: &str, largest: u64| {
        let mut map = lgm::source::SourceMap::default();
        let root = map.add("model.lgm", text, None);
        let (program, _) = load(&lgm::source::NoFiles, &mut map, root);
        let settings = Settings {
            largest,
            ..Settings::default()
        };
        let (_, diagnostics) = elaborate(&program, &map, &settings);
        let found = diagnostics.iter().find(|diagnostic| diagnostic.code == "LGM0129");
        found.map(|diagnostic| diagnostic.message.clone())
    };
    let chain = "model M { node v[4] : electrical; for i in 1:4 { c[i] : Capacitor(1) v[i] -> gnd; } }";
    assert_eq!(refused(chain, 8), None);
    let message = "the expanded model has more than 7 elements";
    assert_eq!(refused(chain, 7).as_deref(), Some(message));
    let endless = "model M { node v : electrical; for i in 1:200000000 { c[i] : Capacitor(1) v -> gnd; } }";
    let message = "the expanded model has more than 100 million elements";
    assert_eq!(refused(endless, u64::MAX).as_deref(), Some(message));
}

/// Files in memory.
struct Files(&'static [(&'static str, &'static str)]);

impl lgm::source::Sources for Files {
    fn read(&self, path: &std::path::Path) -> Result<String, String> {
        let found = self.0.iter().find(|file| std::path::Path::new(file.0) == path);
        found
            .map(|file| file.1.to_string())
            .ok_or_else(|| "no such file".to_string())
    }
}

fn imported(root: &str, files: &'static [(&'static str, &'static str)]) -> (Option<lgm::model::Model>, String) {
    use lgm::elaborate::{Settings, elaborate, load};
    let mut map = lgm::source::SourceMap::default();
    let id = map.add("work/main.lgm", root, Some("work/main.lgm".into()));
    let (program, mut diagnostics) = load(&Files(files), &mut map, id);
    let (model, more) = elaborate(&program, &map, &Settings::default());
    diagnostics.extend(more);
    (
        model,
        format!("{}\n{}", root.trim(), lgm::rendering::render(&map, &diagnostics, false)),
    )
}

#[test]
fn imports_are_found_beside_the_importing_file() {
    let files = &[
        (
            "work/parts/pair.lgm",
            "import \"deep/one.lgm\";\nimport \"../shared.lgm\";\ncomponent Pair { port p : electrical; a : One() (p = p); b : Two() (p = p); }",
        ),
        (
            "work/parts/deep/one.lgm",
            "component One { port p : electrical; r : Resistor(1) p -> gnd; }",
        ),
        (
            "work/shared.lgm",
            "component Two { port p : electrical; r : Resistor(2) p -> gnd; }",
        ),
    ];
    let root = "import \"parts/pair.lgm\";\nimport \"shared.lgm\";\nmodel M { node x : electrical; c : Pair (p = x); }";
    let (model, said) = imported(root, files);
    assert_eq!(model.expect(&said).graph.elements.len(), 2);
}

#[test]
fn faults_of_imports() {
    let files = &[("work/a.lgm", "import \"b.lgm\";"), ("work/b.lgm", "import \"a.lgm\";")];
    let root = "import \"a.lgm\";\nimport \"../secret.lgm\";\nimport \"missing.lgm\";\nimport nonliner;";
    insta::assert_snapshot!(imported(root, files).1);
}
