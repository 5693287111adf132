//! The compiler as one WebAssembly module. A page starts it in a worker, passes questions as JSON and receives answers as JSON.
//!
//! A panic or a lack of memory ends the module. The page then starts another worker with the same text.

mod editor;
mod lg2ss;
mod page;
mod positions;
mod results;
mod run;
mod tabs;

use page::Page;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console)]
    fn error(text: &str);
}

/// The open texts and the results for one of them.
#[wasm_bindgen]
#[derive(Default)]
pub struct Compiler(Page);

#[wasm_bindgen]
impl Compiler {
    /// Creates a compiler without texts.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Compiler {
        // The console shows the invariant that failed; the page only sees a trap.
        std::panic::set_hook(Box::new(|panic| error(&panic.to_string())));
        Compiler::default()
    }

    /// Returns the answer to a question: `{"answer": ..}`, or `{"faults": {"diagnostics": [..]}, "message": ..}`.
    pub fn ask(&mut self, question: &str, arguments: &str) -> String {
        self.0.ask(question, arguments)
    }
}
