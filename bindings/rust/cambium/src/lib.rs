//! Cambium is an embedded key-value store for Linux: ordered keys and values of any size on a local disk. This crate is a
//! safe interface to its library, `libcambium.so`.
//!
//! ```
//! # fn main() -> cambium::Result<()> {
//! # let path = std::env::temp_dir().join(format!("cambium-doc-{}", std::process::id()));
//! use cambium::{Db, WriteOptions};
//!
//! let db = Db::open_default(&path)?;
//! db.put_opt("oak", "a ring a year", &WriteOptions::synced())?; // durable when it returns
//! assert_eq!(db.get("oak")?, Some(b"a ring a year".to_vec()));
//! for entry in db.iter()? {
//!     let (key, value) = entry?;
//!     println!("{} bytes: {} bytes", key.len(), value.len());
//! }
//! db.close()?;
//! # cambium::destroy_db(&cambium::Options::new(), &path)
//! # }
//! ```
//!
//! # Linking
//!
//! The build script of `cambium-sys` looks for `libcambium.so` in `CAMBIUM_PREFIX`, or asks pkg-config. To run a program,
//! the dynamic linker must find the library too. [`Db::open`] returns `NotSupported` if its C interface has another version
//! than the one that this crate was made for.
//!
//! # Lifetimes
//!
//! [`Db`] and [`ColumnFamily`] are handles that can be cloned. A [`Snapshot`], a [`Cursor`], an iterator and an
//! [`AsyncReader`] share the ownership of the database: they can be stored next to it and sent to other threads, and the
//! database remains open as long as one of them exists. So nothing can be used after the database is closed.
//! [`Db::close`] takes the last handle; if it is not the last, it returns the error `Busy` with the handle.
//!
//! A [`PinnedValue`] borrows the handle that it was read with, because to count references would cost too much for each
//! read. So a program that drops or closes a database under such a value does not compile. The same holds for a
//! [`Transaction`] and an [`IndexedBatch`].
//!
//! # Threads
//!
//! Any number of threads may use a database, a column family, a snapshot and a [`BackupEngine`]: they are `Send` and
//! `Sync`. Options, batches, cursors and asynchronous readers may be sent to another thread, but only one thread at a time
//! may use them: they are `Send`, and not `Sync`.
//!
//! # Closures
//!
//! The library calls comparators, compaction filters, listeners, loggers and the closures of asynchronous reads. A panic
//! never leaves Rust: each description says what happens instead. A comparator, filter, listener or logger must not hold
//! the database that calls it, nor an object of that database.
//!
//! # Forks
//!
//! In a forked child, each call of a database that was opened before the fork returns an error, `None`, or the figure at
//! the fork. The child may drop its objects, which does nothing, and open other databases.

mod async_reader;
mod backup;
mod call_options;
mod column_family;
mod compaction_filter;
mod comparator;
mod conditional_write;

mod cursor;
mod db;
mod db_core;
mod default_family;
mod entries;
mod enums;
mod error;
mod family_upkeep;
mod indexed_batch;
mod key_range;
mod latest_options;
mod limits;
mod listener;
mod listener_infos;
mod logger;
mod multi_get;
mod offline;
mod option_fields;
mod options;
mod overlay;
mod pinned;
mod raw;
mod snapshot;
mod statistics;
mod transaction;
mod version;
mod write_batch;

#[cfg(doctest)]
mod must_not_compile;

pub use async_reader::{AsyncReader, AsyncReaderOptions};
pub use backup::{BackupEngine, BackupInfo};
pub use call_options::{CompactOptions, FlushOptions, ReadOptions, TraceOptions, WriteOptions};
pub use column_family::ColumnFamily;
pub use compaction_filter::{CompactionFilter, CompactionFilterFactory, Decision, FilterContext};
pub use comparator::Comparator;
pub use conditional_write::WriteConditions;
pub use cursor::Cursor;
pub use db::{CloseError, Db};
pub use entries::{Entries, Entry, KeyIter};
pub use enums::{
    BackgroundErrorReason, BlobFileReason, BlobGcPolicy, CompactionReason, CompactionStyle, Compression, FlushReason,
    IndexType, LogGcReason, LogLevel, StallCause, StallCondition, StatisticsLevel, TableFileReason, ValueClustering,
    WalRecoveryMode,
};
pub use error::{Error, ErrorKind, Result};
pub use family_upkeep::SizeParts;
pub use indexed_batch::IndexedBatch;
pub use key_range::KeyRange;
pub use latest_options::LatestOptions;
pub use limits::{RateLimiter, WriteBufferManager};
pub use listener::EventListener;
pub use listener_infos::{
    BackgroundErrorInfo, BlobFileCreationInfo, BlobFileDeletionInfo, CompactionJobInfo, FlushJobInfo, LogGcJobInfo,
    MemtableInfo, TableFileCreationInfo, TableFileDeletionInfo, WriteStallInfo,
};
pub use offline::{Salvaged, VerifyError, checkpoint_offline, destroy_db, repair_db, salvage_db, verify_db};
pub use options::Options;
pub use overlay::{OverlayCursor, OverlayEntries};
pub use pinned::PinnedValue;
pub use snapshot::Snapshot;
pub use statistics::{Histogram, Statistics};
pub use transaction::{Transaction, TransactionDbOptions, TransactionOptions};
pub use version::{abi_version, version};
pub use write_batch::{Operation, WriteBatch};
