//! Orders of keys in Rust.

use std::cmp::Ordering;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering as MemoryOrdering};

use cambium::{Comparator, Db, ErrorKind, IndexType, Options};

use crate::common::{TempDir, bytes, kind, new_db_with, options};

/// Each test has its orders under names of their own.
fn order<F>(name: &str, compare: F) -> cambium::Result<Comparator>
where
    F: Fn(&[u8], &[u8]) -> Ordering + Send + Sync + 'static,
{
    // SAFETY: the tests give total orders.
    unsafe { Comparator::new(name, compare) }
}

fn by_length() -> Comparator {
    order("by-length", |a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b))).unwrap()
}

#[test]
fn keys_have_the_order_of_the_closure() {
    for index in [IndexType::BTree, IndexType::Lsm] {
        let mut own = options();
        own.set_index_type(index).set_comparator(&by_length());
        let (directory, db) = new_db_with(&own);
        for key in ["ccc", "b", "aa", "", "a"] {
            db.put(key, "").unwrap();
        }
        db.flush().unwrap();
        db.compact_range(None, None).unwrap();
        let keys: Vec<_> = db.keys().unwrap().map(Result::unwrap).collect();
        assert_eq!(keys, ["", "a", "b", "aa", "ccc"].map(bytes));
        let range: Vec<_> = db.iter_range("b".."ccc").unwrap().map(|entry| entry.unwrap().0).collect();
        assert_eq!(range, ["b", "aa"].map(bytes));
        db.close().unwrap();
        assert_eq!(kind(Db::open(&options(), directory.path("db"))), Some(ErrorKind::InvalidArgument));
        Db::open(&own, directory.path("db")).unwrap();
    }
}

#[test]
fn equal_keys_may_have_other_bytes() {
    let fold = |key: &[u8]| key.to_ascii_lowercase();
    // SAFETY: this is a total order of the folded keys.
    let folding = unsafe { Comparator::new_with_equivalent_keys("fold", move |a, b| fold(a).cmp(&fold(b))) };
    let mut own = options();
    own.set_comparator(&folding.unwrap());
    let (_directory, db) = new_db_with(&own);
    db.put("Key", "1").unwrap();
    db.flush().unwrap();
    assert_eq!(db.get("KEY"), Ok(Some(bytes("1"))));
    db.put("kEY", "2").unwrap();
    assert_eq!(db.keys().unwrap().count(), 1);
}

#[test]
fn names_are_checked() {
    assert_eq!(kind(order("a\0b", Ord::cmp)), Some(ErrorKind::InvalidArgument));
    let directory = TempDir::new();
    for name in ["", &"n".repeat(256)] {
        let mut own = options();
        own.set_comparator(&order(name, Ord::cmp).unwrap());
        assert_eq!(kind(Db::open(&own, directory.path("db"))), Some(ErrorKind::InvalidArgument), "{name}");
    }
}

/// The closure lives as long as options or a database need it.
#[test]
fn the_closure_lives_as_long_as_it_is_used() {
    let alive = Arc::new(AtomicUsize::new(0));
    let its = Arc::clone(&alive);
    let counted = order("counted", move |a, b| {
        its.fetch_add(1, MemoryOrdering::Relaxed);
        a.cmp(b)
    })
    .unwrap();
    assert!(format!("{counted:?}").starts_with("Comparator"));
    let mut own = options();
    own.set_comparator(&counted);
    let copy = own.clone();
    drop(counted);
    let (directory, db) = new_db_with(&own);
    drop(own);
    drop(copy);
    assert_eq!(Arc::strong_count(&alive), 2);
    db.put("a", "").unwrap();
    db.put("b", "").unwrap();
    let in_force = db.options().unwrap();
    db.close().unwrap();
    assert!(alive.load(MemoryOrdering::Relaxed) > 0);
    let db = Db::open(&in_force, directory.path("db")).unwrap();
    drop(in_force);
    assert!(db.get("b").unwrap().is_some());
    assert_eq!(Arc::strong_count(&alive), 2);
    db.close().unwrap();
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// A family that is created later brings its own.
#[test]
fn a_created_family_keeps_its_closure() {
    let alive = Arc::new(());
    let (_directory, db) = new_db_with(&options());
    {
        let its = Arc::clone(&alive);
        let reversed = order("reversed", move |a, b| {
            let _ = &its;
            b.cmp(a)
        });
        let mut own = Options::new();
        own.set_comparator(&reversed.unwrap()).set_blob_file_size(4 << 20);
        let family = db.create_column_family("family", &own).unwrap();
        family.put("a", "").unwrap();
        family.put("b", "").unwrap();
        drop(own);
        assert_eq!(family.keys().unwrap().next().unwrap().unwrap(), b"b");
    }
    assert_eq!(Arc::strong_count(&alive), 2);
    db.close().unwrap();
    assert_eq!(Arc::strong_count(&alive), 1);
}

const CHILD: &str = "CAMBIUM_TEST_PANICKING_COMPARATOR";

/// Runs in a process of its own, which aborts.
#[test]
fn a_panic_aborts_the_process_and_loses_nothing() {
    let with_order = |panics: bool| {
        let compare = move |a: &[u8], b: &[u8]| -> Ordering {
            assert!(!(panics && (a == b"bad" || b == b"bad")), "expected by the test");
            a.cmp(b)
        };
        let mut own = options();
        own.set_comparator(&order("panics", compare).unwrap());
        own
    };
    if let Some(path) = std::env::var_os(CHILD) {
        let db = Db::open(&with_order(true), path).unwrap();
        db.put("good", "value").unwrap();
        db.put("better", "value").unwrap();
        let _ = db.put("bad", "value");
        unreachable!("the panic has ended the process");
    }
    let directory = TempDir::new();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "comparator::a_panic_aborts_the_process_and_loses_nothing", "--nocapture"])
        .env(CHILD, directory.path("db"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(6), "{stderr}");
    assert!(stderr.contains("comparator panics panicked"), "{stderr}");
    let db = Db::open(&with_order(false), directory.path("db")).unwrap();
    assert_eq!(db.get("good"), Ok(Some(bytes("value"))));
    assert_eq!(db.get("better"), Ok(Some(bytes("value"))));
}
