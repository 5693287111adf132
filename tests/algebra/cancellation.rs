//! Cancelled work ends within its stages, without a result and without a spurious diagnostic.

use lgm::bond::lower;
use lgm::elaborate::{Settings, elaborate, load};
use lgm::equations::{Options, formulate_with_time};
use lgm::source::cancellation::Cancellation;
use lgm::source::{NoFiles, SourceMap};

const MODELS: [&str; 3] = [
    "examples/oscillator.lgm",
    "examples/dc_motor.lgm",
    "examples/diode_rectifier.lgm",
];

fn cancelled() -> Cancellation {
    let cancellation = Cancellation::default();
    cancellation.cancel();
    cancellation
}

#[test]
fn each_stage_ends_when_it_is_asked_to() {
    for path in MODELS {
        let text = std::fs::read_to_string(path).unwrap();
        let mut map = SourceMap::default();
        let root = map.add(path, text, None);
        let (program, _) = load(&NoFiles, &mut map, root);
        let settings = Settings {
            cancellation: cancelled(),
            ..Settings::default()
        };
        let (none, found) = elaborate(&program, &map, &settings);
        assert!(none.is_none() && found.is_empty(), "{path}: {found:?}");

        let (model, _) = elaborate(&program, &map, &Settings::default());
        let model = model.unwrap_or_else(|| panic!("{path} has no model"));
        let graph = lower(&model);
        let options = Options {
            cancellation: cancelled(),
            ..Options::default()
        };
        let ((none, found), (whole, _)) = (
            formulate_with_time(&model, &graph, &options),
            formulate_with_time(&model, &graph, &Options::default()),
        );
        assert!(none.is_none() && found.is_empty(), "{path}: {found:?}");
        assert!(whole.is_some(), "{path}");
    }
}
