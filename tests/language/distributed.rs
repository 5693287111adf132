//! Distributed-parameter models: the systems of Pourazadi's thesis compared with their records, the library's blocks
//! compared with closed forms and roots found here, and interactions of modal blocks.

mod blocks;
mod counts;
mod curves;
mod joined;
mod random;
mod records;
mod residuals;
mod tables;
