//! Runs and batches of runs: the plan, the inputs, the columns of the samples, and failures.

pub mod batch;
pub mod columns;
pub mod failures;
pub mod happened;
pub mod inputs;
pub mod plan;
pub mod ready;
pub mod record;
pub mod verified;
