//! Databases that are not open.

use cambium::{Comparator, Db, ErrorKind, Options, destroy_db, repair_db, salvage_db, verify_db};

use crate::common::{TempDir, bytes, damage_value, kind, new_db, new_db_with, options};

/// A closed database in which the value of `key1` is damaged.
fn damaged() -> TempDir {
    let (directory, db) = new_db();
    for i in 0..3 {
        db.put(format!("key{i}"), format!("value{i}{}", "v".repeat(1000))).unwrap();
    }
    db.flush().unwrap();
    db.close().unwrap();
    damage_value(&directory.path("db"), b"value1");
    directory
}

#[test]
fn a_database_is_destroyed() {
    let (directory, db) = new_db();
    let path = directory.path("db");
    assert_eq!(kind(destroy_db(&options(), &path)), Some(ErrorKind::Locked));
    db.close().unwrap();
    destroy_db(&options(), &path).unwrap();
    assert!(!path.exists());
    destroy_db(&options(), &path).unwrap();
}

#[test]
fn damage_is_found() {
    let directory = damaged();
    let path = directory.path("db");
    assert_eq!(verify_db(&options(), &path, false, &[]).unwrap(), Vec::<String>::new());
    let problems = verify_db(&options(), &path, true, &[]).unwrap();
    assert!(problems.iter().any(|line| line.contains("checksum")), "{problems:?}");
    let named = [("default", &options())];
    assert_eq!(verify_db(&options(), &path, true, &named).unwrap(), problems);
    let error = verify_db(&options(), directory.path("none"), true, &[]).unwrap_err();
    assert!(error.problems.is_empty());
    assert_eq!(error.to_string(), error.error.text());
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(cambium::Error::from(error.clone()), error.error);
    assert_eq!(verify_db(&options(), "a\0b", true, &[]).unwrap_err().error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_damaged_database_is_repaired() {
    let directory = damaged();
    let path = directory.path("db");
    repair_db(&options(), &path).unwrap();
    let db = Db::open(&options(), &path).unwrap();
    assert_eq!(db.get("key1"), Ok(None));
    assert!(db.get("key0").unwrap().is_some() && db.get("key2").unwrap().is_some());
    assert!(directory.path("db.damaged").exists());
}

#[test]
fn what_survives_is_salvaged() {
    let directory = damaged();
    let path = directory.path("db");
    let salvaged = salvage_db(&options(), &path, directory.path("out"), false, &[]).unwrap();
    assert!(salvaged.lost > 0, "{salvaged:?}");
    let named = [("default", &options())];
    let again = salvage_db(&options(), &path, directory.path("out2"), true, &named).unwrap();
    assert_eq!(again, salvaged);
    for out in ["out", "out2"] {
        assert_eq!(Db::open(&options(), directory.path(out)).unwrap().keys().unwrap().count(), 2);
    }
    assert!(salvage_db(&options(), directory.path("none"), directory.path("out3"), false, &[]).is_err());
    assert_eq!(kind(salvage_db(&options(), &path, "a\0b", false, &[])), Some(ErrorKind::InvalidArgument));
    assert_eq!(
        kind(salvage_db(&options(), &path, "x", false, &[("a\0b", &options())])),
        Some(ErrorKind::InvalidArgument)
    );
}

#[test]
fn families_with_comparators_of_their_own_are_named() {
    // SAFETY: this is a total order.
    let order = unsafe { Comparator::new("own-order", |a, b| b.cmp(a)).unwrap() };
    let mut own = options();
    own.set_comparator(&order);
    let (directory, db) = new_db_with(&options());
    let family = db.create_column_family("family", &own).unwrap();
    family.put("a", "1").unwrap();
    family.put("b", "2").unwrap();
    drop(family);
    db.close().unwrap();
    let path = directory.path("db");
    assert!(verify_db(&options(), &path, true, &[]).is_err());
    let named = [("family", &own)];
    assert!(verify_db(&options(), &path, true, &named).unwrap().is_empty());
    let salvaged = salvage_db(&options(), &path, directory.path("out"), false, &named).unwrap();
    assert_eq!((salvaged.lost, salvaged.unproven), (0, 0));
    let plain = options();
    let opened = Db::open_column_families(&plain, directory.path("out"), &[("default", &plain), ("family", &own)]);
    let (_db, families) = opened.unwrap();
    let keys: Vec<_> = families[1].keys().unwrap().map(Result::unwrap).collect();
    assert_eq!(keys, ["b", "a"].map(bytes));
    assert_eq!(kind(Db::open(&Options::new(), directory.path("none"))), Some(ErrorKind::InvalidArgument));
}
