//! Assembly: reduced rows to the rows of all state rates and outputs over states and inputs, in one run for each number
//! system.

pub(crate) mod assemble;
pub(crate) mod holders;
pub(crate) mod linearity;
pub(crate) mod outputs;
pub(crate) mod problem;
pub(crate) mod refusal;
pub(crate) mod run;
pub(crate) mod states;
