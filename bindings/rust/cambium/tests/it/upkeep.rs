//! Flushes, compactions, properties, sizes and traces.

use std::fs;

use cambium::{BlobGcPolicy, CompactOptions, ErrorKind, FlushOptions, IndexType, SizeParts, TraceOptions};

use crate::common::{kind, new_db, new_db_with, options};

#[test]
fn flushes_move_entries_into_the_index() {
    let (_directory, db) = new_db();
    let entries = || db.property_int("rocksdb.num-entries-active-mem-table");
    db.put("a", "1").unwrap();
    assert_eq!(entries(), Some(1));
    db.flush().unwrap();
    assert_eq!(entries(), Some(0));
    db.put("b", "2").unwrap();
    let mut begin = FlushOptions::new();
    begin.set_wait(false);
    db.flush_opt(&begin).unwrap();
    db.wait_for_compact().unwrap();
    assert_eq!(entries(), Some(0));
}

#[test]
fn compactions_take_bounds_and_options() {
    for index in [IndexType::BTree, IndexType::Lsm] {
        let mut small = options();
        small.set_index_type(index);
        let (_directory, db) = new_db_with(&small);
        for i in 0..500 {
            db.put(format!("key{i:03}"), vec![b'v'; 2000]).unwrap();
        }
        db.flush().unwrap();
        db.compact_range(Some(b"key100"), Some(b"key200")).unwrap();
        db.compact_range(None, Some(b"")).unwrap();
        let mut clustering = CompactOptions::new();
        clustering.set_cluster_values(true).set_blob_garbage_collection_policy(BlobGcPolicy::Disable);
        db.compact_range_opt(Some(b"key400"), None, &clustering).unwrap();
        let mut bad = CompactOptions::new();
        bad.set_blob_garbage_collection_policy(BlobGcPolicy::Other(256));
        assert_eq!(kind(db.compact_range_opt(None, None, &bad)), Some(ErrorKind::InvalidArgument));
        assert_eq!(db.iter().unwrap().filter(|entry| entry.as_ref().unwrap().1.len() == 2000).count(), 500);
    }
}

#[test]
fn properties_are_text_and_numbers() {
    let (_directory, db) = new_db();
    let family = db.create_column_family("family", &options()).unwrap();
    family.put("a", "1").unwrap();
    assert_eq!(family.property_int("cambium.estimate-num-keys"), Some(1));
    assert_eq!(family.property("cambium.estimate-num-keys").as_deref(), Some("1"));
    assert_eq!(db.property_int("cambium.estimate-num-keys"), Some(0));
    assert!(db.property("cambium.space").unwrap().contains("on_disk"));
    assert_eq!(db.property_int("cambium.space"), None);
    for name in ["cambium.no-such-property", "", "a\0b"] {
        assert_eq!((db.property(name), db.property_int(name)), (None, None), "{name}");
    }
}

#[test]
fn sizes_of_ranges_are_estimated() {
    let (_directory, db) = new_db();
    for i in 0..1000 {
        db.put(format!("key{i:04}"), vec![b'v'; 1000]).unwrap();
    }
    let ranges = [("key0000", "key0500"), ("key0000", "key1000"), ("x", "z"), ("b", "a")];
    let memory = SizeParts { memtables: true, files: false };
    let in_memory = db.approximate_sizes_with(&ranges, memory).unwrap();
    assert!(in_memory[1] > 100_000 && in_memory[2] < 10_000, "{in_memory:?}");
    db.flush().unwrap();
    let sizes = db.approximate_sizes(&ranges).unwrap();
    assert!((400_000..700_000).contains(&sizes[0]), "{sizes:?}");
    assert!((900_000..1_300_000).contains(&sizes[1]), "{sizes:?}");
    assert_eq!(sizes[3], 0);
    let both = SizeParts { memtables: true, files: true };
    assert_eq!(db.approximate_sizes_with(&ranges, both).unwrap(), sizes);
    let none = SizeParts { memtables: false, files: false };
    assert_eq!(kind(db.approximate_sizes_with(&ranges, none)), Some(ErrorKind::InvalidArgument));
    assert_eq!(db.approximate_sizes::<&str>(&[]), Ok(Vec::new()));
}

#[test]
fn the_log_is_synced() {
    let (_directory, db) = new_db();
    let syncs = || db.property_int("cambium.log-syncs").unwrap();
    db.put("a", "1").unwrap();
    db.flush_wal(false).unwrap();
    let before = syncs();
    db.sync_wal().unwrap();
    assert!(syncs() > before);
    db.put_opt("a", "2", &cambium::WriteOptions::synced()).unwrap();
    assert!(syncs() > before + 1);
}

#[test]
fn a_trace_records_operations() {
    let (directory, db) = new_db();
    let path = directory.path("trace");
    assert_eq!(kind(db.end_trace()), Some(ErrorKind::NotFound));
    let mut with_values = TraceOptions::new();
    with_values.set_include_values(true);
    db.start_trace(&with_values, &path).unwrap();
    assert_eq!(kind(db.start_trace(&with_values, directory.path("other"))), Some(ErrorKind::Busy));
    db.put("traced key", "traced value").unwrap();
    db.get("traced key").unwrap();
    db.end_trace().unwrap();
    let content = fs::read(&path).unwrap();
    let has = |text: &[u8]| content.windows(text.len()).any(|window| window == text);
    assert!(has(b"traced key") && has(b"traced value"));
    let mut bad = TraceOptions::new();
    bad.set_sampling_frequency(0);
    assert_eq!(kind(db.start_trace(&bad, directory.path("other"))), Some(ErrorKind::InvalidArgument));
}
