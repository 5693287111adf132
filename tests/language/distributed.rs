//! Distributed-parameter models: the systems of Pourazadi's thesis against their records, the library's blocks against
//! closed forms and roots found here, and what modal blocks owe to each other.

mod blocks;
mod counts;
mod curves;
mod joined;
mod random;
mod records;
mod residuals;
mod tables;
