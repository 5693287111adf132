//! The parser that LALRPOP makes of grammar/lgm.lalrpop.

#![allow(clippy::all, missing_docs, unused)]

lalrpop_util::lalrpop_mod!(pub lgm);
