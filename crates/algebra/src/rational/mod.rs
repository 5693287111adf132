//! Rational functions of the parameters, and their conversion to expressions.

#[cfg(feature = "symbolica")]
pub(crate) mod atoms;
pub(crate) mod express;
pub(crate) mod fraction_free;
pub(crate) mod kernels;
pub(crate) mod normal_form;
pub(crate) mod rational_field;
pub(crate) mod rational_function;
pub(crate) mod rational_functions;
pub(crate) mod settle;
