//! Generates the parser from `grammar/lgm.lalrpop`.

fn main() {
    println!("cargo:rerun-if-changed=../../grammar");
    println!("cargo:rerun-if-changed=build.rs");
    let generated = lalrpop::Configuration::new().set_in_dir("../../grammar").process();
    if let Err(error) = generated {
        eprintln!("the grammar cannot be turned into a parser: {error}");
        std::process::exit(1);
    }
}
