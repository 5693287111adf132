//! The parser that LALRPOP generates from grammar/lgm.lalrpop.

#![allow(clippy::all, missing_docs, unused)]

lalrpop_util::lalrpop_mod!(pub lgm);
