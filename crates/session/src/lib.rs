//! The library interface to models: load a text, set its parameters, analyse its equations and run it.
//!
//! The user interfaces of lgm are thin layers over this crate, which reads files but prints nothing and parses no command line. A
//! [`Session`] is one model from one text with its parameter values. All other functions take a session or parts of it.
//!
//! ```
//! use lgm_session::{Choice, Session, States, Value};
//! use lgm_session::run::happened::Happened;
//! use lgm_session::run::plan::RunOptions;
//! use lgm_simulate::Silent;
//!
//! let text = "model Oscillator {
//!     node x : translational; param m = 2 [kg]; param k = 50 [N/m];
//!     mass : Mass(m) x -> gnd, start = 1; spring : Spring(k) x -> gnd;
//!     output v = across(mass);
//! }";
//! let session = Session::of_text("oscillator.lgm", text, &Choice::default(), &States::default())?;
//! assert_eq!(session.equations().states.len(), 2);
//!
//! let stiff = session.with_parameters(&[("k".to_string(), Value::Number(200.0))])?;
//! let options = RunOptions { stop: Some(std::f64::consts::TAU / 10.0), points: Some(2), ..RunOptions::default() };
//! let ready = stiff.prepare(&options, &[])?.ready;
//! let mut last = f64::NAN;
//! let mut sink = |_: f64, outputs: &[f64], _: &[f64]| last = outputs[0];
//! ready.run(&mut sink, &Silent, &mut Happened::default()).expect("a linear model runs to its end");
//! // One period of sqrt(k/m) = 10 rad/s.
//! assert!((last - 1.0).abs() < 1e-5, "{last}");
//! # Ok::<(), lgm_session::Faults>(())
//! ```

pub mod analysis;
pub mod code;
pub mod diagnostics;
pub mod disk;
pub mod drawing;
pub mod run;
pub mod trial_runs;

mod choice;
mod session;

pub use choice::{Choice, States, Value};
pub use diagnostics::Faults;
pub use session::{Prepared, Session, check_request, checked};
