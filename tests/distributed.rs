//! Distributed-parameter models: the systems of Pourazadi's thesis against their records, the library's blocks against
//! closed forms and roots found here, and what modal blocks owe to each other.

mod support;

#[path = "distributed/blocks.rs"]
mod blocks;
#[path = "distributed/counts.rs"]
mod counts;
#[path = "distributed/curves.rs"]
mod curves;
#[path = "distributed/joined.rs"]
mod joined;
#[path = "distributed/random.rs"]
mod random;
#[path = "distributed/records.rs"]
mod records;
#[path = "distributed/residuals.rs"]
mod residuals;
#[path = "distributed/tables.rs"]
mod tables;
