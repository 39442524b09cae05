//! Forked children: every call fails, and nothing hangs.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cambium::{BackupEngine, Db, ErrorKind, Options, ReadOptions, Result, TransactionDbOptions, WriteBatch};

use crate::common::{TempDir, bytes, kind, new_db, options};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(child: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn alarm(seconds: u32) -> u32;
    fn _exit(code: c_int) -> !;
}

/// Runs `body` in a forked child. Returns its result, or 256 + the signal that ended it: 14 if it hung.
fn in_child(body: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the child calls only the body, which starts no threads, and ends without exit handlers.
    unsafe {
        let child = fork();
        assert!(child >= 0);
        if child == 0 {
            alarm(30);
            _exit(body());
        }
        let mut status = 0;
        assert_eq!(waitpid(child, &raw mut status, 0), child);
        if status & 0x7f == 0 { status >> 8 & 0xff } else { 256 + (status & 0x7f) }
    }
}

/// Returns the number of the first call that is not refused, or 0 if all are.
fn first_call_that_works(db: &Db, family: &cambium::ColumnFamily) -> c_int {
    fn refused<T>(result: Result<T>) -> bool {
        kind(result) == Some(ErrorKind::NotSupported)
    }
    let mut batch = WriteBatch::new();
    batch.put("child", "value");
    let calls = [
        refused(db.put("child", "value")),
        refused(db.write(&batch)),
        refused(db.delete("key")),
        refused(db.delete_range("a", "b")),
        refused(db.get("key")),
        refused(db.get_pinned("key")),
        refused(db.multi_get(&["key"]).remove(0)),
        refused(db.multi_get_pinned(&["key"]).remove(0)),
        refused(family.get("key")),
        refused(family.put("key", "value")),
        refused(db.iter()),
        refused(db.cursor()),
        refused(db.cursors(&[family], &ReadOptions::new())),
        refused(db.snapshot()),
        refused(db.async_reader(Default::default())),
        refused(db.flush()),
        refused(db.sync_wal()),
        refused(db.compact_range(None, None)),
        refused(db.wait_for_compact()),
        refused(db.verify_checksum()),
        refused(db.create_column_family("child", &Options::new())),
        refused(db.drop_column_family(family)),
        refused(db.set_options(&[("min_blob_size", "1")])),
        refused(db.options()),
        refused(db.statistics()),
        db.property_int("cambium.num-runs").is_none(),
        db.property("cambium.stats").is_none(),
        db.identity().is_none(),
        refused(db.approximate_sizes(&[("a", "b")])),
        refused(db.start_trace(&cambium::TraceOptions::new(), "/nowhere/trace")),
        refused(db.end_trace()),
        db.checkpoint("/nowhere/checkpoint").is_err(),
    ];
    calls.iter().position(|is_refused| !is_refused).map_or(0, |i| i as c_int + 1)
}

/// The number of the first transaction that begins, or 0 if none does.
fn first_transaction_that_begins(dbs: &[&Db], text: &str) -> c_int {
    let is_refused = |db: &&Db| {
        let error = db.transaction().err();
        error.is_some_and(|error| error.kind() == ErrorKind::NotSupported && error.to_string().contains(text))
    };
    dbs.iter().position(|db| !is_refused(db)).map_or(0, |i| i as c_int + 1)
}

#[test]
fn no_transaction_begins_in_a_child() {
    let (directory, db) = new_db();
    let locking =
        Db::open_transaction_db(&options(), &TransactionDbOptions::default(), directory.path("locking")).unwrap();
    assert_eq!(in_child(|| first_transaction_that_begins(&[&db, &locking], "")), 0);
    assert_eq!(in_child(|| first_transaction_that_begins(&[&locking], "the database takes no writes")), 0);
    drop(locking.transaction().unwrap());
    let refused = || c_int::from(kind(locking.prepared_transactions()) != Some(ErrorKind::NotSupported));
    assert_eq!(in_child(refused), 0);
    locking.close().unwrap();
    db.close().unwrap();
}

#[test]
fn calls_in_a_child_are_refused() {
    let (directory, db) = new_db();
    let family = db.create_column_family("family", &options()).unwrap();
    db.put("key", "value").unwrap();
    assert_eq!(in_child(|| first_call_that_works(&db, &family)), 0);
    assert_eq!(db.get("key"), Ok(Some(bytes("value"))));
    assert_eq!(db.get("child"), Ok(None));
    assert_eq!(kind(Db::open(&options(), directory.path("db"))), Some(ErrorKind::Locked));
    drop(family);
    db.close().unwrap();
}

#[test]
fn calls_in_a_child_are_refused_while_threads_work() {
    let (_directory, db) = new_db();
    let family = db.create_column_family("family", &options()).unwrap();
    db.put("key", "value").unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                family.put(format!("key{}", i % 1000), vec![b'v'; 500]).unwrap();
            }
        });
        for _ in 0..10 {
            let code = in_child(|| {
                let code = first_call_that_works(&db, &family);
                // The child has copies of both, and may drop them.
                drop((db.clone(), family.clone()));
                code
            });
            assert_eq!(code, 0);
        }
        stop.store(true, Ordering::Relaxed);
    });
    drop(family);
    db.close().unwrap();
}

/// The child drops everything that the parent has, while threads of the parent work.
#[test]
fn a_child_may_drop_its_objects() {
    let (directory, db) = new_db();
    db.put("key", "value").unwrap();
    for i in 0..20 {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut i = 0_u32;
                while !stop.load(Ordering::Relaxed) {
                    i += 1;
                    db.put(i.to_string(), vec![b'v'; 1000]).unwrap();
                }
            });
            let family = db.create_column_family(&format!("family{i}"), &options()).unwrap();
            let snapshot = db.snapshot().unwrap();
            let mut cursor = db.cursor().unwrap();
            assert!(cursor.seek("key").unwrap());
            let reader = db.async_reader(Default::default()).unwrap();
            let value = db.get_pinned("key").unwrap().unwrap();
            // SAFETY: the copies are used in the child only, and the originals in the parent only.
            let copies = unsafe {
                use std::ptr::read;
                std::mem::ManuallyDrop::new((
                    read(&value),
                    read(&reader),
                    read(&cursor),
                    read(&snapshot),
                    read(&family),
                    read(&db),
                ))
            };
            let code = in_child(move || {
                drop(std::mem::ManuallyDrop::into_inner(copies));
                0
            });
            assert_eq!(code, 0);
            assert_eq!(&*value, b"value");
            assert_eq!(cursor.entry(), Some((b"key".as_slice(), b"value".as_slice())));
            stop.store(true, Ordering::Relaxed);
        });
    }
    assert_eq!(kind(Db::open(&options(), directory.path("db"))), Some(ErrorKind::Locked));
    db.close().unwrap();
    let names = Db::list_column_families(&options(), directory.path("db")).unwrap();
    assert_eq!(names.len(), 21);
}

#[test]
fn a_child_may_close_its_copy() {
    let (directory, db) = new_db();
    db.put("key", "value").unwrap();
    // SAFETY: the copy is used in the child only, and the original in the parent only.
    let copy = std::mem::ManuallyDrop::new(unsafe { std::ptr::read(&db) });
    let code = in_child(move || match std::mem::ManuallyDrop::into_inner(copy).close() {
        Err(error) if error.error().kind() != ErrorKind::NotSupported => 1,
        Err(error) => c_int::from(error.into_db().is_some()),
        Ok(()) => 2,
    });
    assert_eq!(code, 0);
    assert_eq!(db.get("key"), Ok(Some(bytes("value"))));
    db.close().unwrap();
    Db::open(&options(), directory.path("db")).unwrap();
}

#[test]
fn objects_of_the_parent_are_refused_in_a_child() {
    let (_directory, db) = new_db();
    db.put("a", "1").unwrap();
    db.put("b", "2").unwrap();
    let mut cursor = db.cursor().unwrap();
    assert!(cursor.seek_to_first().unwrap());
    let mut entries = db.iter().unwrap();
    let code = in_child(|| {
        let refused = |result: Result<bool>| kind(result) == Some(ErrorKind::NotSupported);
        if !refused(cursor.next()) || !refused(cursor.seek("a")) || cursor.entry().is_some() {
            return 1;
        }
        if entries.next().and_then(kind) != Some(ErrorKind::NotSupported) || entries.next().is_some() {
            return 2;
        }
        0
    });
    assert_eq!(code, 0);
    assert!(cursor.next().unwrap());
    assert_eq!(cursor.key(), Some(b"b".as_slice()));
    assert_eq!(entries.count(), 2);
}

#[test]
fn a_child_may_open_databases_of_its_own() {
    let (_directory, parents) = new_db();
    parents.put("key", "value").unwrap();
    let directory = TempDir::new();
    let code = in_child(|| {
        let db = Db::open(&options(), directory.path("db")).unwrap();
        db.put("key", "value").unwrap();
        db.flush().unwrap();
        let engine = BackupEngine::open(&Options::new(), directory.path("backups")).unwrap();
        engine.create_backup(&db).unwrap();
        let is_refused = engine.create_backup(&parents).is_err();
        db.close().unwrap();
        c_int::from(!is_refused)
    });
    assert_eq!(code, 0);
    assert_eq!(Db::open(&options(), directory.path("db")).unwrap().get("key"), Ok(Some(bytes("value"))));
}
