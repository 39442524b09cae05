//! Asynchronous readers.

use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cambium::{AsyncReaderOptions, Db, ErrorKind, ReadOptions};

use crate::common::{TempDir, bytes, kind, new_db, options};

/// A database with a thousand values in the log.
fn filled() -> (TempDir, Db) {
    let (directory, db) = new_db();
    for i in 0..1000 {
        db.put(format!("key{i:03}"), format!("{i:01000}")).unwrap();
    }
    db.flush().unwrap();
    (directory, db)
}

#[test]
fn many_reads_are_in_flight() {
    let (_directory, db) = filled();
    for use_io_uring in [true, false] {
        let sum = Mutex::new((0, 0));
        let reader_options = AsyncReaderOptions { depth: 16, use_io_uring, ..Default::default() };
        let mut reader = db.async_reader(reader_options).unwrap();
        let (mut next, mut ended) = (0, 0);
        while ended < 1200 {
            while next < 1200 && reader.has_room() {
                // The last 200 keys do not exist.
                let begun = reader.get(format!("key{next:03}"), |value| {
                    let mut sum = sum.lock().unwrap();
                    match value.unwrap() {
                        Some(value) => sum.0 += std::str::from_utf8(value).unwrap().parse::<u64>().unwrap(),
                        None => sum.1 += 1,
                    }
                });
                assert!(begun.unwrap());
                next += 1;
            }
            reader.submit();
            ended += reader.poll(1, None);
        }
        assert_eq!(reader.in_flight(), 0);
        assert_eq!(reader.poll(1, Some(Duration::from_secs(60))), 0);
        drop(reader);
        assert_eq!(sum.into_inner().unwrap(), (999 * 1000 / 2, 200));
    }
}

#[test]
fn a_full_reader_begins_nothing() {
    let (_directory, db) = filled();
    let calls = AtomicUsize::new(0);
    let mut reader = db.async_reader(AsyncReaderOptions { depth: 1, ..Default::default() }).unwrap();
    let count = |_: cambium::Result<Option<&[u8]>>| {
        calls.fetch_add(1, Ordering::Relaxed);
    };
    assert!(reader.has_room());
    assert_eq!(reader.get("key001", count), Ok(true));
    assert!(!reader.has_room());
    assert_eq!((reader.get("key002", count), reader.in_flight()), (Ok(false), 1));
    assert!(format!("{reader:?}").contains("in_flight: 1"));
    assert_eq!(reader.poll(1, None), 1);
    drop(reader);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn several_keys_are_read_at_one_state() {
    let (_directory, db) = filled();
    let family = db.create_column_family("family", &options()).unwrap();
    family.put("key", "of family").unwrap();
    let snapshot = db.snapshot().unwrap();
    family.put("key", "later").unwrap();
    let default = db.default_column_family();
    let seen = Mutex::new(Vec::new());
    let mut reader = db.async_reader(Default::default()).unwrap();
    let keys = [(default, "key007"), (&family, "key"), (default, "none")];
    let begun = reader.multi_get(&keys, &snapshot.read_options(), |results| {
        seen.lock().unwrap().extend(results.iter().map(|result| result.clone().map(|value| value.map(<[u8]>::to_vec))));
    });
    assert_eq!(begun, Ok(true));
    assert_eq!(reader.in_flight(), 3);
    assert_eq!(reader.poll(1, None), 1);
    let keys: [(&cambium::ColumnFamily, &str); 0] = [];
    assert_eq!(reader.multi_get(&keys, &ReadOptions::new(), |results| assert!(results.is_empty())), Ok(true));
    while reader.in_flight() > 0 {
        reader.poll(1, None);
    }
    assert!(reader.get_opt(&family, "key", &ReadOptions::new(), |value| assert!(value.unwrap().is_some())).unwrap());
    reader.poll(1, None);
    drop(reader);
    let expected = [Ok(Some(bytes(&format!("{:01000}", 7)))), Ok(Some(bytes("of family"))), Ok(None)];
    assert_eq!(seen.into_inner().unwrap(), expected);
}

/// A read in flight keeps what it uses.
#[test]
fn family_and_snapshot_may_be_dropped_during_a_read() {
    let (_directory, db) = filled();
    let family = db.create_column_family("family", &options()).unwrap();
    family.put("key", "old").unwrap();
    let snapshot = db.snapshot().unwrap();
    family.put("key", "new").unwrap();
    let mut reader = db.async_reader(Default::default()).unwrap();
    let check = |value: cambium::Result<Option<&[u8]>>| assert_eq!(value, Ok(Some(b"old".as_slice())));
    assert!(reader.get_opt(&family, "key", &snapshot.read_options(), check).unwrap());
    let keys = [(&family, "key")];
    assert!(reader.multi_get(&keys, &snapshot.read_options(), move |all| check(all[0].clone())).unwrap());
    drop((snapshot, family));
    assert_eq!(db.property_int("cambium.num-snapshots"), Some(1));
    while reader.in_flight() > 0 {
        reader.poll(1, None);
    }
    assert_eq!(db.property_int("cambium.num-snapshots"), Some(0));
}

#[test]
fn a_reader_that_is_dropped_ends_its_reads() {
    let (_directory, db) = filled();
    let calls = AtomicUsize::new(0);
    let mut reader = db.async_reader(Default::default()).unwrap();
    for i in 0..10 {
        let counts = |result: cambium::Result<Option<&[u8]>>| {
            assert!(result.is_ok_and(|value| value.is_some()), "an error is legal, and this panic is lost");
            calls.fetch_add(1, Ordering::Relaxed);
        };
        assert!(reader.get(format!("key{i:03}"), counts).unwrap());
    }
    drop(reader);
    assert!(calls.load(Ordering::Relaxed) <= 10);
    db.close().unwrap();
}

#[test]
fn a_panic_reaches_the_caller_of_poll() {
    let (_directory, db) = filled();
    let calls = AtomicUsize::new(0);
    let mut reader = db.async_reader(Default::default()).unwrap();
    for i in 0..4 {
        let calls = &calls;
        let begun = reader.get(format!("key{i:03}"), move |_| {
            calls.fetch_add(1, Ordering::Relaxed);
            assert_ne!(i, 1, "expected by the test");
        });
        assert!(begun.unwrap());
    }
    let mut panics = 0;
    while reader.in_flight() > 0 {
        if catch_unwind(AssertUnwindSafe(|| reader.poll(4, None))).is_err() {
            panics += 1;
        }
    }
    assert_eq!((panics, calls.load(Ordering::Relaxed)), (1, 4));
    // It can be used again.
    assert!(reader.get("key000", |value| assert!(value.unwrap().is_some())).unwrap());
    assert_eq!(reader.poll(1, None), 1);
}

#[test]
fn errors_of_readers() {
    let (_directory, db) = filled();
    assert_eq!(
        kind(db.async_reader(AsyncReaderOptions { depth: 0, ..Default::default() })),
        Some(ErrorKind::InvalidArgument)
    );
    let (_other_directory, other) = new_db();
    let mut reader = db.async_reader(AsyncReaderOptions { depth: 2, ..Default::default() }).unwrap();
    let foreign = other.default_column_family();
    let unused = std::sync::Arc::new(());
    let its = std::sync::Arc::clone(&unused);
    let refused = reader.get_opt(foreign, "key", &ReadOptions::new(), move |_| drop(its));
    assert_eq!(kind(refused), Some(ErrorKind::InvalidArgument));
    assert_eq!(std::sync::Arc::strong_count(&unused), 1);
    let default = db.default_column_family();
    let keys = [(default, "a"), (default, "b"), (default, "c")];
    assert_eq!(kind(reader.multi_get(&keys, &ReadOptions::new(), |_| ())), Some(ErrorKind::InvalidArgument));
}

#[test]
fn an_event_loop_sees_that_reads_have_ended() {
    let (_directory, db) = filled();
    let mut reader = db.async_reader(Default::default()).unwrap();
    match reader.event_fd() {
        Ok(fd) => assert!(fd.as_raw_fd() >= 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::NotSupported),
    }
}

#[test]
fn a_reader_goes_to_another_thread() {
    let (_directory, db) = filled();
    let found = Mutex::new(0);
    std::thread::scope(|scope| {
        let mut reader = db.async_reader(Default::default()).unwrap();
        assert!(reader.get("key001", |value| *found.lock().unwrap() = value.unwrap().unwrap().len()).unwrap());
        scope.spawn(move || assert_eq!(reader.poll(1, None), 1));
    });
    assert_eq!(found.into_inner().unwrap(), 1000);
}
