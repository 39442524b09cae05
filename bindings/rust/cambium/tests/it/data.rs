//! Gets, puts and deletes.

use cambium::{Db, ErrorKind, ReadOptions, WriteOptions};

use crate::common::{bytes, kind, new_db, options};

#[test]
fn a_value_can_be_set_read_and_deleted() {
    let (_directory, db) = new_db();
    assert_eq!(db.get("key"), Ok(None));
    db.put("key", "value").unwrap();
    assert_eq!(db.get("key"), Ok(Some(bytes("value"))));
    db.put("key", "other").unwrap();
    assert_eq!(db.get("key"), Ok(Some(bytes("other"))));
    db.delete("key").unwrap();
    assert_eq!(db.get("key"), Ok(None));
    db.delete("key").unwrap();
    db.put("key", "again").unwrap();
    db.single_delete("key").unwrap();
    assert_eq!(db.get("key"), Ok(None));
    assert_eq!(db.latest_sequence_number(), 6);
}

#[test]
fn values_are_read_into_memory_that_is_there() {
    let (_directory, db) = new_db();
    let mut value = bytes("of another call");
    assert_eq!(db.get_into("key", &mut value), Ok(false));
    assert_eq!(value, bytes(""));
    for length in [0, 1, 300, 4095, 4096, 4097, 100_000] {
        let written = vec![b'x'; length];
        db.put("key", &written).unwrap();
        assert_eq!(db.get("key"), Ok(Some(written.clone())));
        for capacity in [0, length / 2, length, length + 10] {
            value = Vec::with_capacity(capacity);
            assert_eq!(db.get_into("key", &mut value), Ok(true));
            assert_eq!(value, written);
            let memory = value.as_ptr();
            assert_eq!(db.get_into_opt("key", &ReadOptions::new(), &mut value), Ok(true));
            assert_eq!((value.as_ptr(), &value), (memory, &written));
        }
    }
    let mut contradiction = ReadOptions::new();
    let snapshot = db.snapshot().unwrap();
    contradiction.set_durable_only(true).set_snapshot(Some(&snapshot));
    assert_eq!(kind(db.get_into_opt("key", &contradiction, &mut value)), Some(ErrorKind::InvalidArgument));
    assert_eq!(value, bytes(""));
}

#[test]
fn calls_take_options() {
    let (_directory, db) = new_db();
    let synced = WriteOptions::synced();
    let read = ReadOptions::new();
    db.put_opt("a", "1", &synced).unwrap();
    db.put_opt("b", "2", &synced).unwrap();
    assert_eq!(db.get_opt("a", &read), Ok(Some(bytes("1"))));
    db.delete_opt("a", &synced).unwrap();
    db.single_delete_opt("b", &synced).unwrap();
    assert_eq!(db.get_opt("a", &read), Ok(None));
    assert_eq!(db.get_opt("b", &read), Ok(None));
    db.put("a", "1").unwrap();
    db.delete_range_opt("a", "b", &synced).unwrap();
    assert_eq!(db.get("a"), Ok(None));
    let mut contradiction = WriteOptions::new();
    contradiction.set_sync(true).set_disable_wal(true);
    assert_eq!(kind(db.put_opt("a", "1", &contradiction)), Some(ErrorKind::InvalidArgument));
}

#[test]
fn a_range_is_deleted_without_its_end() {
    let (_directory, db) = new_db();
    for key in ["a", "b", "c", "d"] {
        db.put(key, key).unwrap();
    }
    db.delete_range("b", "d").unwrap();
    let left: Vec<_> = db.keys().unwrap().map(Result::unwrap).collect();
    assert_eq!(left, [bytes("a"), bytes("d")]);
    assert_eq!(kind(db.delete_range("d", "b")), Some(ErrorKind::InvalidArgument));
    db.delete_range("a", "a").unwrap();
    assert!(db.get("a").unwrap().is_some());
}

#[test]
fn keys_and_values_are_any_bytes() {
    let (_directory, db) = new_db();
    let all: Vec<u8> = (0..=255).collect();
    let given: [&[u8]; 6] = [b"", b"\0", b"\0\0", b"a\0b", b"\xff\xfe", &all];
    for key in given {
        for value in given {
            db.put(key, value).unwrap();
            assert_eq!(db.get(key), Ok(Some(value.to_vec())));
            assert_eq!(&*db.get_pinned(key).unwrap().unwrap(), value);
        }
    }
    assert_eq!(db.keys().unwrap().count(), given.len());
    db.delete(b"").unwrap();
    assert_eq!(db.get(b""), Ok(None));
}

#[test]
fn inputs_are_anything_with_bytes() {
    let (_directory, db) = new_db();
    db.put(String::from("string"), vec![1, 2]).unwrap();
    db.put(b"array", [3_u8; 4]).unwrap();
    db.put(Box::<[u8]>::from(b"box".as_slice()), &b"slice"[..]).unwrap();
    assert_eq!(db.get(b"string"), Ok(Some(vec![1, 2])));
    let array = b"array".to_vec();
    assert_eq!(db.get(&array), Ok(Some(vec![3; 4])));
    assert_eq!(db.get("box"), Ok(Some(bytes("slice"))));
}

#[test]
fn values_have_any_size() {
    let (directory, db) = new_db();
    let large: Vec<u8> = (0..64_usize << 20).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect();
    let values: [&[u8]; 5] = [b"", b"x", &large[..1024], &large[..100_000], &large];
    for value in values {
        db.put(value.len().to_string(), value).unwrap();
    }
    let check = |db: &Db| {
        for value in values {
            let found = db.get_pinned(value.len().to_string()).unwrap().unwrap();
            assert!(*found == *value, "a value of {} bytes", value.len());
        }
        assert!(db.get(large.len().to_string()).unwrap().unwrap() == large);
        assert_eq!(db.iter().unwrap().map(|entry| entry.unwrap().1.len()).max(), Some(large.len()));
    };
    check(&db);
    db.close().unwrap();
    check(&Db::open(&options(), directory.path("db")).unwrap());
}

#[test]
fn a_key_that_is_too_long_is_an_error() {
    let (_directory, db) = new_db();
    let longest = vec![b'k'; 64 << 10];
    db.put(&longest, "value").unwrap();
    assert_eq!(db.get(&longest), Ok(Some(bytes("value"))));
    let longer = vec![b'k'; (64 << 10) + 1];
    assert_eq!(kind(db.put(&longer, "value")), Some(ErrorKind::InvalidArgument));
}

#[test]
fn several_keys_are_read_in_their_order() {
    let (_directory, db) = new_db();
    db.put("a", "1").unwrap();
    db.put("b", "").unwrap();
    let keys = ["b", "none", "a", "a"];
    let expected = [Ok(Some(bytes(""))), Ok(None), Ok(Some(bytes("1"))), Ok(Some(bytes("1")))];
    assert_eq!(db.multi_get(&keys), expected);
    assert_eq!(db.multi_get_opt(&keys, &ReadOptions::new()), expected);
    for found in [db.multi_get_pinned(&keys), db.multi_get_pinned_opt(&keys, &ReadOptions::new())] {
        let copies: Vec<_> =
            found.into_iter().map(|value| value.map(|value| value.map(|value| value.to_vec()))).collect();
        assert_eq!(copies, expected);
    }
    assert_eq!(db.multi_get::<&str>(&[]), []);
    assert!(db.multi_get_pinned::<&str>(&[]).is_empty());
}

#[test]
fn the_errors_of_several_keys_are_their_own() {
    let (directory, db) = new_db();
    for i in 0..3 {
        db.put(format!("key{i}"), format!("value{i}{}", "v".repeat(1000))).unwrap();
    }
    db.flush().unwrap();
    db.close().unwrap();
    crate::common::damage_value(&directory.path("db"), b"value1");
    let db = Db::open(&options(), directory.path("db")).unwrap();
    let keys = ["key0", "key1", "key2"];
    let found = db.multi_get(&keys);
    assert!(found[0].as_ref().unwrap().is_some() && found[2].as_ref().unwrap().is_some());
    assert_eq!(found[1].as_ref().unwrap_err().kind(), ErrorKind::Corruption);
    let found = db.multi_get_pinned(&keys);
    assert_eq!(found[1].as_ref().unwrap_err().kind(), ErrorKind::Corruption);
    assert!(found[2].as_ref().unwrap().is_some());
    assert_eq!(kind(db.get("key1")), Some(ErrorKind::Corruption));
    assert_eq!(kind(db.verify_checksum()), Some(ErrorKind::Corruption));
    db.delete("key1").unwrap();
    db.verify_checksum().unwrap();
    db.verify_checksum_opt(&db.snapshot().unwrap().read_options()).unwrap();
}

/// A destructor of a thread-local value may use the database, whatever other thread-local values are gone.
#[test]
fn a_database_can_be_used_while_a_thread_ends() {
    struct Last(Db);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.put("last", "words").unwrap();
            assert_eq!(self.0.get("last"), Ok(Some(bytes("words"))));
        }
    }
    thread_local!(static HOLDER: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) });
    let (_directory, db) = new_db();
    let its = db.clone();
    std::thread::spawn(move || {
        // The holder is made first, so it is destroyed last.
        HOLDER.with(|holder| *holder.borrow_mut() = Some(Last(its.clone())));
        its.put("first", "words").unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(db.get("last"), Ok(Some(bytes("words"))));
}
