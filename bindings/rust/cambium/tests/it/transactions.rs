//! Transactions, and batches with an index.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use cambium::{
    Db, Error, ErrorKind, ReadOptions, Result, Transaction, TransactionDbOptions, TransactionOptions, WriteBatch,
    WriteOptions,
};

use crate::common::{TempDir, bytes, kind, new_db, options, texts};

fn new_locking_db(transactions: &TransactionDbOptions) -> (TempDir, Db) {
    let directory = TempDir::new();
    let db = Db::open_transaction_db(&options(), transactions, directory.path("db")).unwrap();
    (directory, db)
}

const SHORT: Duration = Duration::from_millis(1);

#[test]
fn a_commit_writes_everything_and_a_drop_nothing() {
    let (_directory, db) = new_db();
    let mut transaction = db.transaction_opt(&TransactionOptions { sync: true, ..Default::default() }).unwrap();
    transaction.put("a", "1").unwrap();
    transaction.put("b", "1").unwrap();
    transaction.delete("b").unwrap();
    assert_eq!(transaction.get("a").unwrap(), Some(bytes("1")));
    assert_eq!(transaction.get_pinned("a").unwrap().as_deref(), Some(b"1".as_slice()));
    assert_eq!(transaction.get("b").unwrap(), None);
    assert_eq!(db.get("a").unwrap(), None);
    assert_eq!((transaction.num_keys(), transaction.num_puts(), transaction.num_deletes()), (2, 2, 1));
    assert!(transaction.id() > 0 && transaction.elapsed() < Duration::from_secs(1000));
    assert!(format!("{transaction:?}").starts_with("Transaction"));
    transaction.commit().unwrap();
    assert_eq!(db.get("a").unwrap(), Some(bytes("1")));

    let mut dropped = db.transaction().unwrap();
    dropped.put("a", "2").unwrap();
    drop(dropped);
    let mut back = db.transaction().unwrap();
    back.put("a", "3").unwrap();
    back.rollback().unwrap();
    assert_eq!(db.get("a").unwrap(), Some(bytes("1")));
    db.close().unwrap();
}

#[test]
fn of_two_transactions_one_commits() {
    let (_directory, db) = new_db();
    let mut first = db.transaction().unwrap();
    let mut second = db.transaction().unwrap();
    assert_eq!(first.get_for_update("a").unwrap(), None);
    first.put("a", "1").unwrap();
    second.put("a", "2").unwrap();
    first.commit().unwrap();
    let error = second.commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.is_conflict());
    assert_eq!(db.get("a").unwrap(), Some(bytes("1")));

    // What was only read for update.
    let mut transaction = db.transaction().unwrap();
    assert_eq!(transaction.get_for_share("a").unwrap(), Some(bytes("1")));
    transaction.put("b", "1").unwrap();
    db.put("a", "others").unwrap();
    assert_eq!(kind(transaction.commit()), Some(ErrorKind::Busy));
    let mut transaction = db.transaction().unwrap();
    transaction.get_for_update("a").unwrap();
    transaction.undo_get_for_update("a");
    transaction.put("b", "1").unwrap();
    db.put("a", "others").unwrap();
    transaction.commit().unwrap();
}

#[test]
fn snapshots_and_save_points() {
    let (_directory, db) = new_db();
    let mut transaction = db.transaction().unwrap();
    let begun = transaction.snapshot_sequence_number().unwrap();
    db.put("a", "1").unwrap();
    assert_eq!(transaction.get("a").unwrap(), None);
    transaction.set_snapshot();
    assert!(transaction.snapshot_sequence_number().unwrap() > begun);
    assert_eq!(transaction.get("a").unwrap(), Some(bytes("1")));
    transaction.set_save_point();
    transaction.put("b", "1").unwrap();
    transaction.set_save_point();
    transaction.delete("a").unwrap();
    transaction.rollback_to_save_point().unwrap();
    assert_eq!(transaction.get("a").unwrap(), Some(bytes("1")));
    transaction.pop_save_point().unwrap();
    assert_eq!(kind(transaction.pop_save_point()), Some(ErrorKind::NotFound));
    assert_eq!(kind(transaction.rollback_to_save_point()), Some(ErrorKind::NotFound));
    transaction.clear_snapshot();
    assert_eq!(transaction.snapshot_sequence_number(), None);
    db.put("a", "2").unwrap();
    assert_eq!(transaction.get("a").unwrap(), Some(bytes("2")));
    transaction.commit().unwrap();
    assert_eq!(db.get("b").unwrap(), Some(bytes("1")));

    let without = TransactionOptions { snapshot: Some(false), no_slowdown: true, ..Default::default() };
    assert_eq!(db.transaction_opt(&without).unwrap().snapshot_sequence_number(), None);
    let newest = db.transaction_opt(&TransactionOptions { read_newest: true, ..Default::default() }).unwrap();
    db.put("a", "3").unwrap();
    assert_eq!(newest.get("a").unwrap(), Some(bytes("3")));
}

#[test]
fn families() {
    let (_directory, db) = new_db();
    let family = db.create_column_family("x", &options()).unwrap();
    let (_other_directory, other) = new_db();
    let stranger = other.default_column_family();
    let mut transaction = db.transaction().unwrap();
    transaction.put_cf(&family, "a", "in x").unwrap();
    transaction.put_cf(&family, "b", "in x").unwrap();
    transaction.delete_cf(&family, "b").unwrap();
    assert_eq!(transaction.get("a").unwrap(), None);
    assert_eq!(transaction.get_cf(&family, "a").unwrap(), Some(bytes("in x")));
    assert_eq!(transaction.get_for_update_cf(&family, "a").unwrap(), Some(bytes("in x")));
    assert_eq!(transaction.get_for_share_cf(&family, "b").unwrap(), None);
    let read = ReadOptions::new();
    assert_eq!(transaction.get_pinned_cf_opt(&family, "a", &read).unwrap().as_deref(), Some(b"in x".as_slice()));
    assert_eq!(texts(transaction.iter_cf_opt(&family, &read).unwrap()), ["a=in x"]);
    let mut batch = WriteBatch::new();
    batch.put_cf(&family, "c", "1");
    transaction.write(&batch).unwrap();
    transaction.put("y1", "1").unwrap();
    batch.delete_range("y", "z");
    transaction.write(&batch).unwrap();
    assert_eq!(transaction.get("y1").unwrap(), None);

    let wrong = Some(ErrorKind::InvalidArgument);
    assert_eq!(kind(transaction.put_cf(stranger, "a", "1")), wrong);
    assert_eq!(kind(transaction.delete_cf(stranger, "a")), wrong);
    assert_eq!(kind(transaction.get_cf(stranger, "a")), wrong);
    assert_eq!(kind(transaction.cursor_cf_opt(stranger, &read)), wrong);
    transaction.commit().unwrap();
    assert_eq!(family.get("a").unwrap(), Some(bytes("in x")));
    assert_eq!(family.get("c").unwrap(), Some(bytes("1")));
}

#[test]
fn iterators_show_what_was_written() {
    let (_directory, db) = new_db();
    for key in ["a", "c", "e"] {
        db.put(key, "1").unwrap();
    }
    let mut transaction = db.transaction().unwrap();
    transaction.put("b", "2").unwrap();
    transaction.delete("c").unwrap();
    assert_eq!(texts(transaction.iter().unwrap()), ["a=1", "b=2", "e=1"]);
    assert_eq!(texts(transaction.iter().unwrap().rev()), ["e=1", "b=2", "a=1"]);
    let mut cursor = transaction.cursor().unwrap();
    assert!(cursor.seek_to_last().unwrap() && cursor.is_valid());
    assert!(cursor.prev().unwrap());
    assert_eq!(cursor.entry(), Some((b"b".as_slice(), b"2".as_slice())));
    // Reads for update do not disturb it.
    assert_eq!(transaction.get_for_update("e").unwrap(), Some(bytes("1")));
    assert!(cursor.next().unwrap());
    assert_eq!(cursor.key(), Some(b"e".as_slice()));
    assert!(cursor.seek("bb").unwrap() && cursor.seek_for_prev("d").unwrap() && cursor.seek_to_first().unwrap());
    assert_eq!(cursor.value(), Some(b"1".as_slice()));
    assert!(cursor.prepare_value().unwrap());
    assert!(format!("{cursor:?}").starts_with("Cursor"));
    let mut bounded = ReadOptions::new();
    bounded.set_range("b".."e");
    let entries = transaction.iter_cf_opt(db.default_column_family(), &bounded).unwrap();
    assert!(format!("{entries:?}").starts_with("OverlayEntries"));
    assert_eq!(texts(entries), ["b=2"]);
}

fn add_one(transaction: &mut Transaction<'_>) -> Result<u64> {
    let value = transaction.get_for_update("counter")?.unwrap_or_else(|| bytes("0"));
    let count = String::from_utf8(value).unwrap().parse::<u64>().unwrap() + 1;
    transaction.put("counter", count.to_string())?;
    Ok(count)
}

#[test]
fn threads_count() {
    for (_directory, db) in [new_db(), new_locking_db(&TransactionDbOptions::default())] {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        db.transact(10_000, add_one).unwrap();
                    }
                });
            }
        });
        assert_eq!(db.get("counter").unwrap(), Some(bytes("100")));
    }
}

#[test]
fn attempts_end() {
    let (_directory, db) = new_db();
    let mut calls = 0;
    let failed = db.transact(3, |transaction| {
        calls += 1;
        db.put("a", "others")?;
        transaction.put("a", "1")
    });
    assert!(failed.unwrap_err().is_conflict());
    assert_eq!(calls, 3);
    // Another error, and a panic, end it at once, and nothing is written.
    let other: Result<()> = db.transact(3, |transaction| {
        transaction.put("a", "2")?;
        transaction.pop_save_point()
    });
    assert_eq!(kind(other), Some(ErrorKind::NotFound));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        db.transact(3, |transaction| -> Result<()> {
            transaction.put("a", "2")?;
            panic!("in the closure");
        })
    }));
    assert!(panic.is_err());
    assert_eq!(db.get("a").unwrap(), Some(bytes("others")));
    db.close().unwrap();
}

#[test]
fn a_transaction_may_go_to_another_thread() {
    let (_directory, db) = new_db();
    let mut transaction = db.transaction().unwrap();
    transaction.put("a", "1").unwrap();
    thread::scope(|scope| {
        scope.spawn(move || transaction.commit().unwrap());
    });
    assert_eq!(db.get("a").unwrap(), Some(bytes("1")));
}

#[test]
fn a_database_that_is_read_only_has_none() {
    let (directory, db) = new_db();
    db.close().unwrap();
    let db = Db::open_read_only(&options(), directory.path("db")).unwrap();
    assert_eq!(kind(db.transaction()), Some(ErrorKind::NotSupported));
}

#[test]
fn locks() {
    let (_directory, db) =
        new_locking_db(&TransactionDbOptions { default_lock_timeout: SHORT, num_stripes: 4, ..Default::default() });
    let short = TransactionOptions { lock_timeout: Some(SHORT), ..Default::default() };
    let mut first = db.transaction().unwrap();
    assert_eq!(first.snapshot_sequence_number(), None);
    first.set_name("first").unwrap();
    assert_eq!(first.name(), "first");
    first.put("a", "1").unwrap();
    let mut second = db.transaction_opt(&short).unwrap();
    assert_eq!(kind(second.set_name("first")), Some(ErrorKind::InvalidArgument));
    assert!(second.put("a", "2").unwrap_err().is_conflict());
    assert!(db.put("a", "2").unwrap_err().is_conflict());
    assert!(db.delete_range("a", "b").unwrap_err().is_conflict());
    first.commit().unwrap();
    second.put("a", "2").unwrap();
    second.commit().unwrap();

    let (first, second) = (db.transaction().unwrap(), db.transaction_opt(&short).unwrap());
    assert_eq!(first.get_for_share("a").unwrap(), second.get_for_share("a").unwrap());
    assert!(second.get_for_update("a").unwrap_err().is_conflict());
    drop((first, second));

    let small = TransactionOptions { max_write_batch_size: 100, ..Default::default() };
    let mut limited = db.transaction_opt(&small).unwrap();
    assert_eq!(kind(limited.put("large", [0; 200])), Some(ErrorKind::Aborted));
    drop(limited);
    let soon = TransactionOptions { expiration: Some(SHORT), ..Default::default() };
    let expired = db.transaction_opt(&soon).unwrap();
    thread::sleep(Duration::from_millis(5));
    assert!(!expired.has_lost_locks());
    assert_eq!(kind(expired.commit()), Some(ErrorKind::Expired));
}

/// A database whose locks are not waited for.
fn open_locking(directory: &TempDir) -> Db {
    let short = TransactionDbOptions {
        default_lock_timeout: SHORT,
        transaction_lock_timeout: SHORT,
        ..TransactionDbOptions::default()
    };
    Db::open_transaction_db(&options(), &short, directory.path("db")).unwrap()
}

/// A transaction that has put its name.
fn begin_named<'db>(db: &'db Db, name: &str) -> Transaction<'db> {
    let mut transaction = db.transaction().unwrap();
    transaction.set_name(name).unwrap();
    transaction.put(name, "1").unwrap();
    transaction
}

fn names(transactions: &[Transaction<'_>]) -> Vec<String> {
    transactions.iter().map(Transaction::name).collect()
}

#[test]
fn a_prepared_transaction_can_only_be_read_and_ended() {
    let directory = TempDir::new();
    let db = open_locking(&directory);
    let mut transaction = db.transaction_opt(&TransactionOptions { sync: true, ..Default::default() }).unwrap();
    transaction.put("a", "1").unwrap();
    assert_eq!(kind(transaction.prepare()), Some(ErrorKind::InvalidArgument)); // it has no name
    transaction.set_name("t").unwrap();
    assert!(!transaction.is_prepared());
    transaction.prepare().unwrap();
    assert!(transaction.is_prepared() && !transaction.has_lost_locks());
    assert_eq!(texts(transaction.iter().unwrap()), ["a=1"]);
    assert_eq!(transaction.get("a").unwrap(), Some(bytes("1")));
    assert_eq!(db.get("a").unwrap(), None);
    let wrong = Some(ErrorKind::InvalidArgument);
    assert_eq!(kind(transaction.prepare()), wrong);
    assert_eq!(kind(transaction.put("b", "1")), wrong);
    assert_eq!(kind(transaction.delete("a")), wrong);
    assert_eq!(kind(transaction.get_for_update("b")), wrong);
    assert_eq!(kind(transaction.rollback_to_save_point()), wrong);
    assert_eq!(kind(db.put("a", "others")), Some(ErrorKind::LockTimeout));
    assert!(db.prepared_transactions().unwrap().is_empty()); // it is this one
    transaction.commit().unwrap();
    assert_eq!(db.get("a").unwrap(), Some(bytes("1")));

    let mut back = begin_named(&db, "a");
    back.prepare().unwrap();
    back.rollback().unwrap();
    db.put("a", "others").unwrap();
    db.close().unwrap();
    assert!(open_locking(&directory).prepared_transactions().unwrap().is_empty());
}

#[test]
fn what_cannot_be_prepared() {
    let (_directory, optimistic) = new_db();
    assert_eq!(kind(optimistic.transaction().unwrap().prepare()), Some(ErrorKind::InvalidArgument));
    assert_eq!(kind(optimistic.prepared_transactions()), Some(ErrorKind::NotSupported));

    let (_directory, db) = new_locking_db(&TransactionDbOptions::default());
    let both = TransactionOptions { skip_prepare: false, ..Default::default() };
    let mut unprepared = db.transaction_opt(&both).unwrap();
    unprepared.put("a", "1").unwrap();
    assert_eq!(kind(unprepared.commit()), Some(ErrorKind::InvalidArgument));
    let mut transaction = db.transaction_opt(&both).unwrap();
    transaction.put("a", "2").unwrap();
    transaction.set_name("t").unwrap();
    transaction.prepare().unwrap();
    transaction.commit().unwrap();
    assert_eq!(db.get("a").unwrap(), Some(bytes("2")));
}

#[test]
fn a_prepared_transaction_that_is_dropped_is_found_after_an_open() {
    let directory = TempDir::new();
    let db = open_locking(&directory);
    for name in ["c", "a", "b"] {
        begin_named(&db, name).prepare().unwrap();
    }
    assert_eq!(kind(db.put("a", "others")), Some(ErrorKind::LockTimeout));
    db.close().unwrap();
    let db = open_locking(&directory);
    assert_eq!(names(&db.prepared_transactions().unwrap()), ["a", "b", "c"]);
    assert!(db.prepared_transactions().unwrap().is_empty()); // each once
    db.close().unwrap();

    let db = open_locking(&directory);
    assert_eq!(kind(db.put("a", "others")), Some(ErrorKind::LockTimeout));
    let mut found = db.prepared_transactions().unwrap();
    assert_eq!(names(&found), ["a", "b", "c"]);
    assert!(found[0].is_prepared());
    assert_eq!((found[0].num_keys(), found[0].num_puts(), found[0].num_deletes()), (1, 1, 0));
    assert_eq!(found[0].get("a").unwrap(), Some(bytes("1")));
    assert_eq!(db.get("a").unwrap(), None);
    drop(found.pop());
    found.pop().unwrap().rollback().unwrap();
    let last = found.pop().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || last.commit().unwrap());
    });
    assert_eq!((db.get("a").unwrap(), db.get("b").unwrap()), (Some(bytes("1")), None));
    db.put("b", "others").unwrap();
    drop(found);
    db.close().unwrap();
    let db = open_locking(&directory);
    assert_eq!(names(&db.prepared_transactions().unwrap()), ["c"]);
}

#[test]
fn transact_rolls_a_prepared_transaction_back() {
    let directory = TempDir::new();
    let db = open_locking(&directory);
    let prepare = |transaction: &mut Transaction<'_>| {
        transaction.set_name("t")?;
        transaction.put("a", "1")?;
        transaction.prepare()
    };
    db.transact(1, prepare).unwrap();
    assert_eq!(db.get("a").unwrap(), Some(bytes("1")));
    let failed = db.transact(1, |transaction| {
        prepare(transaction)?;
        transaction.put("a", "2")
    });
    assert_eq!(kind(failed), Some(ErrorKind::InvalidArgument));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        db.transact(1, |transaction| -> Result<()> {
            prepare(transaction)?;
            panic!("in the closure");
        })
    }));
    assert!(panic.is_err());
    db.put("a", "others").unwrap();
    db.close().unwrap();
    assert!(open_locking(&directory).prepared_transactions().unwrap().is_empty());
}

/// The other databases may have committed.
#[test]
fn a_prepared_transaction_remains_after_a_commit_that_fails() {
    let directory = TempDir::new();
    let db = open_locking(&directory);
    let family = db.create_column_family("x", &options()).unwrap();
    let failed = db.transact(1, |transaction| {
        transaction.set_name("t")?;
        transaction.put_cf(&family, "a", "1")?;
        transaction.prepare()?;
        db.drop_column_family(&family)
    });
    assert_eq!(kind(failed), Some(ErrorKind::ColumnFamilyDropped));
    drop(family);
    db.close().unwrap();
    let db = open_locking(&directory);
    let mut found = db.prepared_transactions().unwrap();
    assert_eq!(names(&found), ["t"]);
    found.remove(0).rollback().unwrap();
    drop(found);
    db.close().unwrap();
    assert!(open_locking(&directory).prepared_transactions().unwrap().is_empty());
}

#[test]
fn deadlocks_are_detected() {
    let (_directory, db) = new_locking_db(&TransactionDbOptions::default());
    let detect = TransactionOptions { deadlock_detect: true, lock_timeout: Some(Duration::MAX), ..Default::default() };
    let mut first = db.transaction_opt(&detect).unwrap();
    let mut second = db.transaction_opt(&detect).unwrap();
    first.put("a", "1").unwrap();
    second.put("b", "1").unwrap();
    // The one that asks last gets an error, and is dropped.
    let want = |mut transaction: Transaction<'_>, key: &str| transaction.put(key, "2");
    let results = thread::scope(|scope| {
        let other = scope.spawn(move || want(first, "b"));
        [want(second, "a"), other.join().unwrap()]
    });
    let errors: Vec<Error> = results.into_iter().filter_map(Result::err).collect();
    assert!(errors.len() == 1 && errors[0].is_conflict(), "{errors:?}");
}

#[test]
fn a_database_with_locks_has_families() {
    let directory = TempDir::new();
    let limited = TransactionDbOptions { max_num_locks: Some(1), ..Default::default() };
    let (path, options) = (directory.path("db"), options());
    let named = [("default", &options), ("x", &options)];
    let (db, families) = Db::open_transaction_db_column_families(&options, &limited, &path, &named).unwrap();
    let mut transaction = db.transaction().unwrap();
    transaction.put_cf(&families[1], "a", "1").unwrap();
    assert!(transaction.put_cf(&families[1], "b", "1").is_err());
    transaction.commit().unwrap();
    assert_eq!(families[1].get("a").unwrap(), Some(bytes("1")));
    let locked = Db::open_transaction_db_column_families(&options, &limited, &path, &named);
    assert_eq!(kind(locked), Some(ErrorKind::Locked));
    drop(families);
    db.close().unwrap();
    assert_eq!(kind(Db::open_transaction_db(&options, &limited, &path)), Some(ErrorKind::InvalidArgument));
}

#[test]
fn indexed_batches() {
    let (_directory, db) = new_db();
    let (_other_directory, other) = new_db();
    let family = db.create_column_family("x", &options()).unwrap();
    db.put("a", "old").unwrap();
    db.put("b", "old").unwrap();
    let mut batch = db.indexed_batch(0);
    assert!(batch.is_empty());
    batch.put("a", "new").put_cf(&family, "a", "in x").unwrap().set_save_point();
    batch.delete("b").delete_range_cf(&family, "a", "z").unwrap();
    assert_eq!(batch.get("b").unwrap(), None);
    assert_eq!(batch.get_cf(&family, "a").unwrap(), None);
    batch.rollback_to_save_point().unwrap();
    assert_eq!(kind(batch.pop_save_point()), Some(ErrorKind::NotFound));
    assert_eq!(batch.get("a").unwrap(), Some(bytes("new")));
    assert_eq!(batch.get("b").unwrap(), Some(bytes("old")));
    assert_eq!(batch.get_from_batch_cf(db.default_column_family(), "a").unwrap(), Some(bytes("new")));
    assert_eq!(batch.get_from_batch_cf(db.default_column_family(), "b").unwrap(), None);
    assert_eq!(texts(batch.iter().unwrap()), ["a=new", "b=old"]);
    assert_eq!(batch.len(), 2);
    assert!(format!("{batch:?}").contains("len: 2"));
    batch.write(&WriteOptions::synced()).unwrap();
    assert_eq!(family.get("a").unwrap(), Some(bytes("in x")));

    let stranger = other.default_column_family();
    let wrong = Some(ErrorKind::InvalidArgument);
    assert_eq!(batch.put_cf(stranger, "a", "1").err().map(|error| error.kind()), wrong);
    assert_eq!(batch.delete_cf(stranger, "a").err().map(|error| error.kind()), wrong);
    assert_eq!(batch.delete_range_cf(stranger, "a", "b").err().map(|error| error.kind()), wrong);
    assert_eq!(kind(batch.get_cf(stranger, "a")), wrong);
    assert_eq!(kind(batch.get_from_batch_cf(stranger, "a")), wrong);
    assert_eq!(kind(batch.cursor_cf_opt(stranger, &ReadOptions::new())), wrong);
    assert!(batch.clear().is_empty());
    batch.delete_cf(&family, "a").unwrap().put(vec![0; 70_000], "too long");
    assert_eq!(kind(batch.get("a")), wrong);
    assert_eq!(kind(batch.write(&WriteOptions::new())), wrong);

    let mut small = db.indexed_batch(10);
    small.put("a", [0; 100]);
    assert_eq!(kind(small.write(&WriteOptions::new())), Some(ErrorKind::Aborted));
}
