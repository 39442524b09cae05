//! Closing, and objects that are there when the database would be closed.

use cambium::{Db, ErrorKind};

use crate::common::{kind, new_db, options};

#[test]
fn what_was_written_is_there_after_a_close() {
    let (directory, db) = new_db();
    db.put("key", "value").unwrap();
    db.close().unwrap();
    let db = Db::open(&options(), directory.path("db")).unwrap();
    assert_eq!(db.get("key").unwrap().as_deref(), Some(b"value".as_slice()));
}

#[test]
fn a_database_is_closed_when_it_is_dropped() {
    let (directory, db) = new_db();
    let clone = db.clone();
    drop(db);
    assert_eq!(kind(Db::open(&options(), directory.path("db"))), Some(ErrorKind::Locked));
    clone.put("key", "value").unwrap();
    drop(clone);
    Db::open(&options(), directory.path("db")).unwrap();
}

/// Expects that the database cannot be closed while `object` exists, and that both remain usable.
fn check_blocks<T>(make: impl Fn(&Db) -> T, uses: impl Fn(&mut T)) {
    let (directory, db) = new_db();
    db.put("key", "value").unwrap();
    let mut object = make(&db);
    let refused = db.close().unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::Busy);
    assert!(refused.to_string().starts_with("Resource busy: "), "{refused}");
    assert!(std::error::Error::source(&refused).is_some());
    uses(&mut object);
    let db = refused.into_db().unwrap();
    db.put("more", "value").unwrap();
    // The object alone keeps the database open.
    drop(db);
    uses(&mut object);
    assert_eq!(kind(Db::open(&options(), directory.path("db"))), Some(ErrorKind::Locked));
    drop(object);
    let db = Db::open(&options(), directory.path("db")).unwrap();
    assert!(db.get("more").unwrap().is_some());
    drop(make(&db));
    db.close().unwrap();
}

#[test]
fn a_clone_keeps_the_database_open() {
    check_blocks(Db::clone, |db| assert!(db.get("key").unwrap().is_some()));
}

#[test]
fn a_column_family_keeps_the_database_open() {
    let used = |family: &mut cambium::ColumnFamily| assert!(family.get("key").unwrap().is_some());
    check_blocks(|db| db.default_column_family().clone(), used);
}

#[test]
fn a_snapshot_keeps_the_database_open() {
    check_blocks(|db| db.snapshot().unwrap(), |snapshot| assert_eq!(snapshot.sequence_number(), 1));
}

#[test]
fn read_options_with_a_snapshot_keep_the_database_open() {
    let used = |options: &mut cambium::ReadOptions| assert!(options.snapshot().is_some());
    check_blocks(|db| db.snapshot().unwrap().read_options(), used);
}

#[test]
fn a_cursor_keeps_the_database_open() {
    check_blocks(|db| db.cursor().unwrap(), |cursor| assert!(cursor.seek_to_first().unwrap()));
}

#[test]
fn an_iterator_keeps_the_database_open() {
    check_blocks(
        |db| db.iter().unwrap(),
        // The second use finds the end.
        |entries| assert!(entries.next().is_none_or(|entry| entry.unwrap().0 == b"key")),
    );
    check_blocks(|db| db.keys().unwrap(), |keys| assert!(keys.next().is_none_or(|key| key.unwrap() == b"key")));
}

#[test]
fn an_asynchronous_reader_keeps_the_database_open() {
    check_blocks(
        |db| db.async_reader(Default::default()).unwrap(),
        |reader| {
            assert!(reader.get("key", |value| assert_eq!(value, Ok(Some(b"value".as_slice())))).unwrap());
            assert_eq!(reader.poll(1, None), 1);
        },
    );
}

#[test]
fn an_object_that_was_forgotten_keeps_the_database_open() {
    let (directory, db) = new_db();
    std::mem::forget(db.cursor().unwrap());
    let db = db.close().unwrap_err().into_db().unwrap();
    db.put("key", "value").unwrap();
    drop(db);
    assert_eq!(kind(Db::open(&options(), directory.path("db"))), Some(ErrorKind::Locked));
}

#[test]
fn an_error_of_close_converts() {
    fn close_both(db: Db) -> cambium::Result<()> {
        let _clone = db.clone();
        db.close()?;
        Ok(())
    }
    let (directory, db) = new_db();
    assert_eq!(kind(close_both(db)), Some(ErrorKind::Busy));
    Db::open(&options(), directory.path("db")).unwrap();
}

#[test]
fn objects_may_be_dropped_in_any_order() {
    let (_directory, db) = new_db();
    let family = db.create_column_family("family", &options()).unwrap();
    family.put("key", "value").unwrap();
    let snapshot = db.snapshot().unwrap();
    let options = snapshot.read_options();
    let mut cursor = family.cursor_opt(&options).unwrap();
    let reader = db.async_reader(Default::default()).unwrap();
    drop(db);
    drop(family);
    drop(snapshot);
    drop(options);
    drop(reader);
    assert!(cursor.seek_to_first().unwrap());
    assert_eq!(cursor.entry(), Some((b"key".as_slice(), b"value".as_slice())));
}
