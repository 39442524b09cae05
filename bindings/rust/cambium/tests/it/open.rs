//! Opening databases, and errors of it.

use std::path::Path;

use cambium::{Db, ErrorKind, Options, abi_version, version};

use crate::common::{TempDir, kind, new_db, options};

#[test]
fn versions_are_those_of_the_library() {
    assert_eq!(abi_version(), 1);
    assert!(version() >= (0, 1, 0));
}

#[test]
fn a_missing_database_is_an_error_unless_it_is_to_be_created() {
    let directory = TempDir::new();
    let error = Db::open(&Options::new(), directory.path("db")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.text().contains("create_if_missing"), "{error}");
    Db::open_default(directory.path("db")).unwrap().close().unwrap();
    let mut once = options();
    once.set_error_if_exists(true);
    assert_eq!(kind(Db::open(&once, directory.path("db"))), Some(ErrorKind::InvalidArgument));
    Db::open(&Options::new(), directory.path("db")).unwrap();
}

#[test]
fn a_second_handle_is_locked_out() {
    let (directory, db) = new_db();
    let error = Db::open(&options(), directory.path("db")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(!error.is_fatal());
    drop(db);
    Db::open(&options(), directory.path("db")).unwrap();
}

#[test]
fn readers_share_a_database_and_cannot_write() {
    let (directory, db) = new_db();
    db.put("key", "value").unwrap();
    db.close().unwrap();
    let first = Db::open_read_only(&Options::new(), directory.path("db")).unwrap();
    let second = Db::open_read_only(&Options::new(), directory.path("db")).unwrap();
    for db in [&first, &second] {
        assert_eq!(db.get("key").unwrap().as_deref(), Some(b"value".as_slice()));
        assert_eq!(kind(db.put("key", "other")), Some(ErrorKind::NotSupported));
    }
    assert_eq!(kind(Db::open(&options(), directory.path("db"))), Some(ErrorKind::Locked));
    first.close().unwrap();
    second.close().unwrap();
}

#[test]
fn options_out_of_range_are_named() {
    let mut bad = options();
    bad.set_page_size(1000);
    let directory = TempDir::new();
    let error = Db::open(&bad, directory.path("db")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.text().contains("page_size"), "{error}");
}

#[test]
fn a_path_with_a_zero_byte_is_an_error() {
    let error = Db::open_default(Path::new("a\0b")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.text().contains("zero byte"), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_is_an_io_error() {
    let error = Db::open_default("/nowhere/at/all").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PathNotFound);
    assert!(error.text().contains("/nowhere/at"), "{error}");
}

#[test]
fn a_path_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let directory = TempDir::new();
    let path = directory.path("db").join("..").join(OsStr::from_bytes(b"odd \xff name"));
    std::fs::create_dir(directory.path("db")).unwrap();
    let db = Db::open_default(&path).unwrap();
    db.put("k", "v").unwrap();
    db.close().unwrap();
    assert!(path.exists());
}

#[test]
fn an_identity_stays() {
    let (directory, db) = new_db();
    let identity = db.identity().unwrap();
    assert_eq!(identity.len(), 32);
    assert!(format!("{db:?}").contains(&identity));
    db.close().unwrap();
    let db = Db::open(&options(), directory.path("db")).unwrap();
    assert_eq!(db.identity(), Some(identity));
}
