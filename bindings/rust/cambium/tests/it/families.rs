//! Column families.

use cambium::{Comparator, Db, ErrorKind, IndexType, Options, ReadOptions, WriteBatch};

use crate::common::{TempDir, bytes, kind, new_db, options, texts};

#[test]
fn families_are_maps_of_their_own() {
    let (_directory, db) = new_db();
    let users = db.create_column_family("users", &options()).unwrap();
    assert_eq!((users.name().as_str(), users.id()), ("users", 1));
    assert_eq!((db.default_column_family().name().as_str(), db.default_column_family().id()), ("default", 0));
    assert_eq!(format!("{users:?}"), "ColumnFamily { id: 1, name: \"users\" }");
    assert_eq!(users, users.clone());
    assert_ne!(&users, db.default_column_family());
    users.put("key", "of users").unwrap();
    db.put("key", "of default").unwrap();
    assert_eq!(users.get("key"), Ok(Some(bytes("of users"))));
    assert_eq!(db.get("key"), Ok(Some(bytes("of default"))));
    assert_eq!(kind(db.create_column_family("users", &options())), Some(ErrorKind::InvalidArgument));
    assert_eq!(kind(db.create_column_family("us\0ers", &options())), Some(ErrorKind::InvalidArgument));
}

#[test]
fn all_families_are_named_to_open_them() {
    let (directory, db) = new_db();
    db.create_column_family("b", &options()).unwrap().put("key", "of b").unwrap();
    db.create_column_family("a", &options()).unwrap();
    db.close().unwrap();
    let path = directory.path("db");
    assert_eq!(Db::list_column_families(&options(), &path).unwrap(), ["default", "b", "a"]);
    let error = Db::open(&options(), &path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let own = options();
    let named = [("a", &own), ("default", &own), ("b", &own)];
    let (db, families) = Db::open_column_families(&own, &path, &named).unwrap();
    assert_eq!(families.iter().map(cambium::ColumnFamily::name).collect::<Vec<_>>(), ["a", "default", "b"]);
    assert_eq!(families[2].get("key"), Ok(Some(bytes("of b"))));
    families[1].put("key", "of default").unwrap();
    assert_eq!(db.get("key"), Ok(Some(bytes("of default"))));
    drop(families);
    db.close().unwrap();
    let (db, families) = Db::open_read_only_column_families(&own, &path, &named[1..]).unwrap();
    assert_eq!(families[1].get("key"), Ok(Some(bytes("of b"))));
    assert_eq!(kind(families[1].put("key", "other")), Some(ErrorKind::NotSupported));
    drop(db);
}

#[test]
fn missing_families_are_created_if_asked() {
    let directory = TempDir::new();
    let path = directory.path("db");
    let create = options();
    Db::open_column_families(&create, &path, &[("default", &create), ("new", &create)]).unwrap();
    assert_eq!(Db::list_column_families(&create, &path).unwrap(), ["default", "new"]);
    let mut keep = options();
    keep.set_create_missing_column_families(false);
    let named = [("default", &keep), ("new", &keep), ("newer", &keep)];
    assert_eq!(kind(Db::open_column_families(&keep, &path, &named)), Some(ErrorKind::InvalidArgument));
    assert!(Db::list_column_families(&create, directory.path("none")).is_err());
}

#[test]
fn a_dropped_family_is_an_error() {
    let (_directory, db) = new_db();
    let family = db.create_column_family("gone", &options()).unwrap();
    family.put("key", "value").unwrap();
    let mut cursor = family.cursor().unwrap();
    db.drop_column_family(&family).unwrap();
    assert_eq!(kind(family.put("key", "value")), Some(ErrorKind::ColumnFamilyDropped));
    assert_eq!(kind(family.get("key")), Some(ErrorKind::ColumnFamilyDropped));
    let mut batch = WriteBatch::new();
    batch.put_cf(&family, "key", "value");
    assert_eq!(kind(db.write(&batch)), Some(ErrorKind::ColumnFamilyDropped));
    assert_eq!(kind(db.drop_column_family(db.default_column_family())), Some(ErrorKind::InvalidArgument));
    // What saw the family before still does.
    assert!(cursor.seek("key").unwrap());
    drop((cursor, family));
    db.close().unwrap();
}

#[test]
fn a_family_of_another_database_is_an_error() {
    let (_directory, db) = new_db();
    let (_other_directory, other) = new_db();
    let foreign = other.default_column_family();
    let mut batch = WriteBatch::new();
    batch.put_cf(foreign, "key", "value");
    assert_eq!(kind(db.write(&batch)), Some(ErrorKind::InvalidArgument));
    assert_eq!(kind(db.drop_column_family(foreign)), Some(ErrorKind::InvalidArgument));
    assert_eq!(kind(db.cursors(&[foreign], &ReadOptions::new())), Some(ErrorKind::InvalidArgument));
    let found = db.multi_get_cf(&[(db.default_column_family(), "a"), (foreign, "a")]);
    assert_eq!(found[0], Ok(None));
    assert_eq!(found[1].as_ref().unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn a_batch_and_reads_span_families() {
    let (_directory, db) = new_db();
    let users = db.create_column_family("users", &options()).unwrap();
    let default = db.default_column_family();
    let mut batch = WriteBatch::new();
    batch.put("key", "of default").put_cf(&users, "key", "of users");
    db.write(&batch).unwrap();
    let keys = [(default, "key"), (&users, "key"), (&users, "none")];
    let expected = [Ok(Some(bytes("of default"))), Ok(Some(bytes("of users"))), Ok(None)];
    assert_eq!(db.multi_get_cf(&keys), expected);
    assert_eq!(db.multi_get_cf_opt(&keys, &ReadOptions::new()), expected);
    let mut cursors = db.cursors(&[default, &users], &ReadOptions::new()).unwrap();
    db.put("key", "later").unwrap();
    for (cursor, value) in cursors.iter_mut().zip(["of default", "of users"]) {
        assert!(cursor.seek_to_last().unwrap());
        assert_eq!(cursor.value(), Some(value.as_bytes()));
    }
}

#[test]
fn families_have_options_of_their_own() {
    let directory = TempDir::new();
    let path = directory.path("db");
    let mut reversed = options();
    reversed.set_comparator(&Comparator::reverse_bytewise()).set_index_type(IndexType::Lsm);
    let plain = options();
    let named = [("default", &plain), ("reversed", &reversed)];
    let (db, families) = Db::open_column_families(&plain, &path, &named).unwrap();
    for family in &families {
        for key in ["a", "b", "c"] {
            family.put(key, "").unwrap();
        }
    }
    assert_eq!(texts(families[0].iter().unwrap()), ["a=", "b=", "c="]);
    assert_eq!(texts(families[1].iter().unwrap()), ["c=", "b=", "a="]);
    assert_eq!(families[1].options().unwrap().index_type(), IndexType::Lsm);
    assert_eq!(db.options().unwrap().index_type(), IndexType::BTree);
    drop((db, families));
    // The order is stored by its name.
    let error = Db::open_column_families(&plain, &path, &[("default", &plain), ("reversed", &plain)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Db::open_column_families(&Options::new(), &path, &named).unwrap();
}
