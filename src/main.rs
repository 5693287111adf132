//! The `lgm` command.

fn main() -> std::process::ExitCode {
    lgm::cli::main()
}
