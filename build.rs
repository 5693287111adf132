//! Generates the parser from `grammar/lgm.lalrpop`.

fn main() {
    println!("cargo:rerun-if-changed=grammar");
}
