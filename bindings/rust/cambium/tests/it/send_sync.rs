//! What may be sent to other threads, and shared with them. What may not is tested by programs that do not compile.

use std::panic::{RefUnwindSafe, UnwindSafe};

use cambium::{
    AsyncReader, BackupEngine, ColumnFamily, CompactOptions, Comparator, Cursor, Db, Entries, Error, FlushOptions,
    IndexedBatch, KeyIter, Options, PinnedValue, RateLimiter, ReadOptions, Snapshot, Statistics, TraceOptions,
    Transaction, WriteBatch, WriteBufferManager, WriteConditions, WriteOptions,
};

fn sent<T: Send>() {}
fn shared<T: Send + Sync>() {}

#[test]
fn objects_are_sent_and_shared() {
    shared::<Db>();
    shared::<ColumnFamily>();
    shared::<Snapshot>();
    shared::<PinnedValue<'static>>();
    shared::<BackupEngine>();
    shared::<Comparator>();
    shared::<Error>();
    sent::<AsyncReader<'static>>();
    sent::<Cursor>();
    sent::<Entries>();
    sent::<KeyIter>();
    sent::<Options>();
    sent::<ReadOptions>();
    sent::<WriteOptions>();
    sent::<FlushOptions>();
    sent::<CompactOptions>();
    sent::<TraceOptions>();
    sent::<WriteBatch>();
    sent::<WriteConditions<'static>>();
    sent::<Statistics>();
    sent::<RateLimiter>();
    sent::<WriteBufferManager>();
    sent::<Transaction<'static>>();
    sent::<IndexedBatch<'static>>();
}

/// A program may catch a panic of its own that has left calls of a database.
#[test]
fn objects_survive_panics() {
    fn safe<T: UnwindSafe + RefUnwindSafe>() {}
    safe::<Db>();
    safe::<ColumnFamily>();
    safe::<Snapshot>();
    safe::<PinnedValue<'static>>();
    safe::<Error>();
}
