//! Cursors and iterators, in both directions.

use cambium::{Comparator, Db, ErrorKind, IndexType, ReadOptions};

use crate::common::{bytes, damage_value, kind, new_db, new_db_with, options, texts};

fn fill(db: &Db, keys: &[&str]) {
    for key in keys {
        db.put(key, key.to_uppercase()).unwrap();
    }
}

#[test]
fn a_cursor_moves_in_both_directions() {
    let (_directory, db) = new_db();
    fill(&db, &["a", "b", "d"]);
    let mut cursor = db.cursor().unwrap();
    assert!(!cursor.is_valid());
    assert_eq!((cursor.key(), cursor.value(), cursor.entry(), cursor.value_size()), (None, None, None, None));
    // At no entry, there is no next one.
    assert_eq!((cursor.next(), cursor.prev()), (Ok(false), Ok(false)));
    assert!(cursor.seek_to_first().unwrap());
    assert_eq!(cursor.entry(), Some((b"a".as_slice(), b"A".as_slice())));
    assert_eq!(cursor.value_size(), Some(1));
    assert_eq!(format!("{cursor:?}"), "Cursor { key: Some([97]), .. }");
    assert!(cursor.next().unwrap());
    assert_eq!(cursor.key(), Some(b"b".as_slice()));
    assert!(cursor.prev().unwrap());
    assert!(!cursor.prev().unwrap());
    assert!(cursor.seek_to_last().unwrap());
    assert_eq!(cursor.key(), Some(b"d".as_slice()));
    assert!(!cursor.next().unwrap());
    assert!(cursor.seek("c").unwrap());
    assert_eq!(cursor.key(), Some(b"d".as_slice()));
    assert!(cursor.seek_for_prev("c").unwrap());
    assert_eq!(cursor.key(), Some(b"b".as_slice()));
    assert!(!cursor.seek("e").unwrap());
    assert!(!cursor.seek_for_prev("").unwrap());
}

#[test]
fn an_empty_database_has_no_entries() {
    let (_directory, db) = new_db();
    let mut cursor = db.cursor().unwrap();
    assert_eq!((cursor.seek_to_first(), cursor.seek_to_last(), cursor.seek("")), (Ok(false), Ok(false), Ok(false)));
    assert!(db.iter().unwrap().next().is_none());
    assert!(db.iter().unwrap().next_back().is_none());
    assert!(db.keys().unwrap().next().is_none());
}

#[test]
fn an_iterator_goes_forward_and_backward() {
    let (_directory, db) = new_db();
    fill(&db, &["c", "a", "b"]);
    assert_eq!(texts(db.iter().unwrap()), ["a=A", "b=B", "c=C"]);
    assert_eq!(texts(db.iter().unwrap().rev()), ["c=C", "b=B", "a=A"]);
    let keys: Vec<_> = db.keys().unwrap().rev().map(Result::unwrap).collect();
    assert_eq!(keys, [bytes("c"), bytes("b"), bytes("a")]);
    let mut entries = db.iter().unwrap();
    assert_eq!(entries.by_ref().count(), 3);
    assert!(entries.next().is_none() && entries.next_back().is_none());
    let keys: Vec<_> = db.keys_opt(&ReadOptions::new()).unwrap().map(Result::unwrap).collect();
    assert_eq!(keys.len(), 3);
}

/// All ways to take entries from both ends give what a vector gives.
#[test]
fn both_ends_meet() {
    for size in 0..6_usize {
        let (_directory, db) = new_db();
        for i in 0..size {
            db.put(format!("key{i}"), "").unwrap();
        }
        // Bit i says which end the i-th step takes. Two steps more than there are entries.
        for steps in 0..1_u32 << (size + 2) {
            let mut entries = db.iter().unwrap();
            let mut keys = db.keys().unwrap();
            let mut expected = (0..size).map(|i| bytes(&format!("key{i}")));
            for step in 0..size + 2 {
                let is_back = steps >> step & 1 == 1;
                let (entry, key) =
                    if is_back { (entries.next_back(), keys.next_back()) } else { (entries.next(), keys.next()) };
                let wanted = if is_back { expected.next_back() } else { expected.next() };
                assert_eq!(entry.map(|entry| entry.unwrap().0), wanted, "{steps:b} at {step} of {size}");
                assert_eq!(key.map(Result::unwrap), wanted, "{steps:b} at {step} of {size}");
            }
        }
    }
}

#[test]
fn both_ends_meet_in_any_order_of_keys() {
    let mut reversed = options();
    reversed.set_comparator(&Comparator::reverse_bytewise());
    let (_directory, db) = new_db_with(&reversed);
    fill(&db, &["a", "b", "c", "d"]);
    let mut entries = db.iter().unwrap();
    let mut next = |is_back: bool| {
        let entry = if is_back { entries.next_back() } else { entries.next() };
        entry.map(|entry| entry.unwrap().0[0])
    };
    assert_eq!([next(false), next(true), next(false), next(true)], [Some(b'd'), Some(b'a'), Some(b'c'), Some(b'b')]);
    assert_eq!([next(false), next(true)], [None, None]);
}

#[test]
fn ranges_have_their_start_and_not_their_end() {
    let (_directory, db) = new_db();
    fill(&db, &["a", "b", "c", "d"]);
    assert_eq!(texts(db.iter_range("b".."d").unwrap()), ["b=B", "c=C"]);
    assert_eq!(texts(db.iter_range("b".."d").unwrap().rev()), ["c=C", "b=B"]);
    assert_eq!(texts(db.iter_range("c"..).unwrap()), ["c=C", "d=D"]);
    assert_eq!(texts(db.iter_range(.."b").unwrap()), ["a=A"]);
    assert_eq!(texts(db.iter_range(..).unwrap()).len(), 4);
    assert!(texts(db.iter_range("d".."b").unwrap()).is_empty());
    // A bound may be empty: nothing is before it, and everything is after it.
    assert!(texts(db.iter_range(.."").unwrap()).is_empty());
    assert_eq!(texts(db.iter_range(""..).unwrap()).len(), 4);
    let mut options = ReadOptions::new();
    options.set_lower_bound(Some(b"b"));
    assert_eq!(texts(db.iter_opt(&options).unwrap()), ["b=B", "c=C", "d=D"]);
    options.set_range("a".."c");
    assert_eq!(texts(db.iter_opt(&options).unwrap()), ["a=A", "b=B"]);
    options.set_prefix("c");
    assert_eq!(texts(db.iter_opt(&options).unwrap()), ["c=C"]);
    options.set_upper_bound(Some(b"c")).set_lower_bound(None);
    assert_eq!(texts(db.iter_opt(&options).unwrap()), ["a=A", "b=B"]);
    let mut cursor = db.cursor_opt(&options).unwrap();
    assert!(!cursor.seek("c").unwrap());
}

#[test]
fn prefixes_are_ranges() {
    let (_directory, db) = new_db();
    let keys: [&[u8]; 7] = [b"a", b"ab", b"ab\0", b"ab\xff\xff", b"ac", b"\xff", b"\xff\xff\x01"];
    for key in keys {
        db.put(key, "").unwrap();
    }
    let with = |prefix: &[u8]| -> Vec<_> { db.iter_prefix(prefix).unwrap().map(|entry| entry.unwrap().0).collect() };
    for prefix in [b"".as_slice(), b"a", b"ab", b"ab\xff", b"b", b"\xff", b"\xff\xff"] {
        let expected: Vec<_> = keys.iter().filter(|key| key.starts_with(prefix)).collect();
        assert_eq!(with(prefix).iter().collect::<Vec<_>>(), expected, "{prefix:?}");
    }
    let mut reversed = options();
    reversed.set_comparator(&Comparator::reverse_bytewise());
    let (_directory, db) = new_db_with(&reversed);
    for _ in 0..2 {
        assert_eq!(kind(db.iter_prefix("a")), Some(ErrorKind::NotSupported));
    }
}

#[test]
fn an_iterator_shows_the_state_at_its_creation() {
    for index in [IndexType::BTree, IndexType::Lsm] {
        let mut options = options();
        options.set_index_type(index);
        let (_directory, db) = new_db_with(&options);
        fill(&db, &["a", "b"]);
        let entries = db.iter().unwrap();
        let mut cursor = db.cursor().unwrap();
        fill(&db, &["c"]);
        db.delete("a").unwrap();
        db.flush().unwrap();
        db.compact_range(None, None).unwrap();
        assert_eq!(texts(entries), ["a=A", "b=B"]);
        assert!(cursor.seek_to_last().unwrap());
        assert_eq!(cursor.key(), Some(b"b".as_slice()));
        assert_eq!(texts(db.iter().unwrap()), ["b=B", "c=C"]);
    }
}

#[test]
fn values_are_read_on_demand() {
    let (_directory, db) = new_db();
    let value = vec![b'v'; 5000];
    db.put("a", &value).unwrap();
    db.put("b", "short").unwrap();
    db.flush().unwrap();
    let mut options = ReadOptions::new();
    options.set_allow_unprepared_value(true);
    let mut cursor = db.cursor_opt(&options).unwrap();
    assert_eq!(cursor.prepare_value(), Ok(false));
    assert!(cursor.seek_to_first().unwrap());
    assert_eq!((cursor.key(), cursor.value(), cursor.entry()), (Some(b"a".as_slice()), None, None));
    assert!(cursor.value_size().unwrap() >= 5000);
    assert_eq!(cursor.prepare_value(), Ok(true));
    assert_eq!(cursor.prepare_value(), Ok(true));
    assert_eq!(cursor.value(), Some(value.as_slice()));
    assert!(cursor.next().unwrap());
    assert_eq!(cursor.value(), None);
    // An iterator over entries reads them anyway.
    let sizes: Vec<_> = db.iter_opt(&options).unwrap().map(|entry| entry.unwrap().1.len()).collect();
    assert_eq!(sizes, [5000, 5]);
}

#[test]
fn a_scan_of_a_damaged_value_ends_with_an_error() {
    let (directory, db) = new_db();
    for i in 0..20 {
        db.put(format!("key{i:02}"), format!("value{i:02}{}", "v".repeat(1000))).unwrap();
    }
    db.flush().unwrap();
    db.close().unwrap();
    damage_value(&directory.path("db"), b"value10");
    let db = Db::open(&options(), directory.path("db")).unwrap();
    let mut forward = db.iter().unwrap();
    assert_eq!(forward.by_ref().take(10).filter(Result::is_ok).count(), 10);
    assert_eq!(forward.next().and_then(kind), Some(ErrorKind::Corruption));
    assert!(forward.next().is_none() && forward.next_back().is_none());
    assert_eq!(db.iter().unwrap().rev().take_while(Result::is_ok).count(), 9);
    // Keys alone can be read, and a cursor can go on.
    assert_eq!(db.keys().unwrap().filter(Result::is_ok).count(), 20);
    let mut cursor = db.cursor().unwrap();
    assert_eq!(kind(cursor.seek("key10")), Some(ErrorKind::Corruption));
    assert!(!cursor.is_valid());
    assert_eq!(kind(cursor.next()), Some(ErrorKind::Corruption));
    assert!(cursor.seek("key11").unwrap());
    let mut options = ReadOptions::new();
    options.set_allow_unprepared_value(true);
    let mut cursor = db.cursor_opt(&options).unwrap();
    assert!(cursor.seek("key10").unwrap());
    assert_eq!(kind(cursor.prepare_value()), Some(ErrorKind::Corruption));
    assert_eq!((cursor.key(), cursor.value()), (None, None));
    let mut entries = db.iter_opt(&options).unwrap();
    assert_eq!(entries.by_ref().take_while(Result::is_ok).count(), 10);
    assert!(entries.next().is_none());
}

#[test]
fn an_iterator_that_cannot_be_made_is_an_error() {
    let (_directory, db) = new_db();
    let snapshot = db.snapshot().unwrap();
    let mut options = snapshot.read_options();
    options.set_durable_only(true);
    assert_eq!(kind(db.iter_opt(&options)), Some(ErrorKind::InvalidArgument));
    assert_eq!(kind(db.cursor_opt(&options)), Some(ErrorKind::InvalidArgument));
    assert_eq!(kind(db.keys_opt(&options)), Some(ErrorKind::InvalidArgument));
}

#[test]
fn iterators_go_to_other_threads() {
    let (_directory, db) = new_db();
    fill(&db, &["a", "b"]);
    let (entries, mut cursor) = (db.iter().unwrap(), db.cursor().unwrap());
    drop(db);
    let counts = std::thread::spawn(move || (entries.count(), cursor.seek_to_first().unwrap())).join().unwrap();
    assert_eq!(counts, (2, true));
}
