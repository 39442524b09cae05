//! Snapshots.

use cambium::{ErrorKind, ReadOptions};

use crate::common::{bytes, kind, new_db, options, texts};

#[test]
fn a_snapshot_shows_its_state_in_all_families() {
    let (_directory, db) = new_db();
    let family = db.create_column_family("family", &options()).unwrap();
    db.put("a", "old").unwrap();
    family.put("a", "old too").unwrap();
    let snapshot = db.snapshot().unwrap();
    assert_eq!(snapshot.sequence_number(), db.latest_sequence_number());
    assert!(format!("{snapshot:?}").contains("sequence_number"));
    db.put("a", "new").unwrap();
    db.put("b", "new").unwrap();
    family.delete("a").unwrap();
    db.flush().unwrap();
    let then = snapshot.read_options();
    assert_eq!(db.get_opt("a", &then), Ok(Some(bytes("old"))));
    assert_eq!(family.get_opt("a", &then), Ok(Some(bytes("old too"))));
    assert_eq!(db.multi_get_opt(&["a", "b"], &then), [Ok(Some(bytes("old"))), Ok(None)]);
    assert_eq!(texts(db.iter_opt(&then).unwrap()), ["a=old"]);
    assert_eq!(&*db.get_pinned_opt("a", &then).unwrap().unwrap(), b"old");
    assert_eq!(db.get("a"), Ok(Some(bytes("new"))));
}

#[test]
fn options_may_change_their_snapshot() {
    let (_directory, db) = new_db();
    let before = db.snapshot().unwrap();
    db.put("a", "1").unwrap();
    let after = db.snapshot().unwrap();
    let mut options = ReadOptions::new();
    assert!(options.snapshot().is_none());
    options.set_snapshot(Some(&before));
    assert_eq!(db.get_opt("a", &options), Ok(None));
    options.set_snapshot(Some(&after));
    assert_eq!(options.snapshot().unwrap().sequence_number(), after.sequence_number());
    assert_eq!(db.get_opt("a", &options), Ok(Some(bytes("1"))));
    options.set_snapshot(None);
    assert_eq!(db.get_opt("a", &options), Ok(Some(bytes("1"))));
}

#[test]
fn the_last_owner_releases_a_snapshot() {
    let (_directory, db) = new_db();
    let count = || db.property_int("cambium.num-snapshots");
    let snapshot = db.snapshot().unwrap();
    let clone = snapshot.clone();
    let options = snapshot.read_options();
    let cursor = db.cursor_opt(&options).unwrap();
    drop(snapshot);
    drop(clone);
    drop(options);
    assert_eq!(count(), Some(1));
    drop(cursor);
    assert_eq!(count(), Some(0));
}

#[test]
fn a_snapshot_of_another_database_is_an_error() {
    let (_directory, db) = new_db();
    let (_other_directory, other) = new_db();
    let foreign = other.snapshot().unwrap().read_options();
    assert_eq!(kind(db.get_opt("a", &foreign)), Some(ErrorKind::InvalidArgument));
    assert_eq!(kind(db.cursor_opt(&foreign)), Some(ErrorKind::InvalidArgument));
}

#[test]
fn threads_share_a_snapshot() {
    let (_directory, db) = new_db();
    db.put("a", "old").unwrap();
    let snapshot = db.snapshot().unwrap();
    db.put("a", "new").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(db.get_opt("a", &snapshot.read_options()), Ok(Some(bytes("old")))));
        }
    });
}
