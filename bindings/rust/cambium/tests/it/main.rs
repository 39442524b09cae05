//! Tests of the crate with the library.

mod async_reader;
mod backup;
mod batch;
mod close;
mod common;
mod compaction_filter;
mod comparator;
mod conditional_writes;
mod data;
mod families;
mod fork;
mod iterators;
mod limits;
mod listener;
mod memory;
mod offline;
mod open;
mod options;
mod pinned;
mod read_bench;
mod readme;
mod send_sync;
mod snapshots;
mod threads;
mod transactions;
mod upkeep;
