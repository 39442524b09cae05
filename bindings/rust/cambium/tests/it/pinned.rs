//! Values without a copy.

use std::thread;

use cambium::{Db, ErrorKind, PinnedValue, ReadOptions};

use crate::common::{TempDir, kind, new_db, options};

fn pinning() -> ReadOptions {
    let mut options = ReadOptions::new();
    // SAFETY: nothing else writes to the files of the tests.
    unsafe { options.set_pin_mapped_values(true) };
    options
}

/// A database whose values are mapped, and the value of `pinned`.
fn mapped_db() -> (TempDir, Db, Vec<u8>) {
    let (directory, db) = new_db();
    let value = vec![b'p'; 5000];
    db.put("pinned", &value).unwrap();
    // Values are mapped once other bytes follow them.
    for i in 0..100 {
        db.put(format!("more{i}"), vec![b'm'; 5000]).unwrap();
    }
    db.flush().unwrap();
    (directory, db, value)
}

/// Reads until the value refers to a mapping. `None`: this system maps nothing.
fn pin<'db>(db: &'db Db, options: &ReadOptions) -> Option<PinnedValue<'db>> {
    for _ in 0..10_000 {
        let value = db.get_pinned_opt("pinned", options).unwrap().unwrap();
        if db.property_int("cambium.num-pinned-values") != Some(0) {
            return Some(value);
        }
    }
    None
}

#[test]
fn a_pinned_value_is_a_slice() {
    let (_directory, db) = new_db();
    db.put("key", "value").unwrap();
    assert!(db.get_pinned("none").unwrap().is_none());
    let value = db.get_pinned("key").unwrap().unwrap();
    assert_eq!(value.len(), 5);
    assert_eq!(value.as_ref(), b"value");
    assert_eq!(format!("{value:?}"), format!("{:?}", b"value"));
    // It does not change with the key, and threads share it.
    db.put("key", "other").unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(&value[..2], b"va"));
        }
    });
    thread::scope(|scope| scope.spawn(move || drop(value)).join().unwrap());
}

#[test]
fn values_refer_to_mappings() {
    let (_directory, db, expected) = mapped_db();
    let options = pinning();
    assert!(options.pin_mapped_values());
    let Some(value) = pin(&db, &options) else {
        println!("SKIPPED: no value is mapped here");
        return;
    };
    assert_eq!(*value, *expected);
    // Copies are made by the library.
    assert_eq!(db.get_opt("pinned", &options).unwrap().unwrap(), expected);
    assert_eq!(db.get_opt("none", &options), Ok(None));
    assert_eq!(db.multi_get_opt(&["pinned"], &options)[0].as_ref().unwrap().as_ref(), Some(&expected));
    let many = db.multi_get_pinned_opt(&["pinned", "more1"], &options);
    assert_eq!(many.len(), 2);
    drop(many);
    let mut cursor = db.cursor_opt(&options).unwrap();
    assert!(cursor.seek("pinned").unwrap());
    assert_eq!(cursor.value(), Some(expected.as_slice()));
    drop(cursor);
    drop(value);
    assert_eq!(db.property_int("cambium.num-pinned-values"), Some(0));
    db.close().unwrap();
}

#[test]
fn a_forgotten_value_keeps_the_database_open() {
    let (directory, db, _) = mapped_db();
    let options = pinning();
    let Some(value) = pin(&db, &options) else {
        println!("SKIPPED: no value is mapped here");
        return;
    };
    std::mem::forget(value);
    let refused = db.close().unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::Aborted);
    let db = refused.into_db().unwrap();
    assert!(db.get("pinned").unwrap().is_some());
    // Dropped, it is not closed either, because its value is still mapped.
    drop(db);
    assert_eq!(kind(Db::open(&crate::common::options(), directory.path("db"))), Some(ErrorKind::Locked));
}

#[test]
fn a_read_only_database_pins_too() {
    let (directory, db, expected) = mapped_db();
    db.close().unwrap();
    let db = Db::open_read_only(&options(), directory.path("db")).unwrap();
    let options = pinning();
    assert_eq!(*db.get_pinned_opt("pinned", &options).unwrap().unwrap(), *expected);
    if let Some(value) = pin(&db, &options) {
        assert_eq!(*value, *expected);
    }
    db.close().unwrap();
}
