//! Compaction filters in Rust.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cambium::{CompactionFilter, Decision, ErrorKind, FilterContext, IndexType, Options};

use crate::common::{bytes, kind, new_db_with, options, texts};

fn with_filter(filter: impl CompactionFilter + Send + Sync + 'static) -> Options {
    let mut options = options();
    options.set_compaction_filter("filter", filter).unwrap();
    options
}

#[test]
fn a_closure_keeps_removes_changes_and_skips() {
    for index in [IndexType::BTree, IndexType::Lsm] {
        let mut filtering = with_filter(|_: i32, key: &[u8], value: &[u8]| match key {
            b"b" => Decision::Remove,
            b"c" => Decision::Change([value, b"!\0"].concat()),
            b"d" => Decision::Change(Vec::new()),
            b"e" => Decision::RemoveAndSkipUntil(b"g".to_vec()),
            b"f" => panic!("it is skipped"),
            _ => Decision::Keep,
        });
        filtering.set_index_type(index);
        let (_directory, db) = new_db_with(&filtering);
        for key in ["a", "b", "c", "d", "e", "f", "g"] {
            db.put(key, key).unwrap();
        }
        let snapshot = db.snapshot().unwrap();
        db.compact_range(None, None).unwrap();
        assert_eq!(texts(db.iter().unwrap()), ["a=a", "c=c!\0", "d=", "g=g"]);
        assert_eq!(db.iter_opt(&snapshot.read_options()).unwrap().count(), 7);
    }
}

#[test]
fn a_key_may_decide_before_the_value_is_read() {
    #[derive(Default)]
    struct ByKey {
        values: Arc<Mutex<Vec<Vec<u8>>>>,
    }
    impl CompactionFilter for ByKey {
        fn filter(&self, _: i32, key: &[u8], value: &[u8]) -> Decision {
            assert_eq!(value.len(), if key == b"inline" { 3 } else { 2000 });
            self.values.lock().unwrap().push(key.to_vec());
            Decision::Keep
        }
        fn filter_by_key(&self, level: i32, key: &[u8]) -> Option<Decision> {
            assert_eq!(level, 1);
            match key {
                b"change" => Some(Decision::Change(b"by key".to_vec())),
                b"remove" => Some(Decision::Remove),
                b"keep" => Some(Decision::Keep),
                b"skip" => Some(Decision::RemoveAndSkipUntil(b"t".to_vec())),
                _ => None,
            }
        }
    }
    let filter = ByKey::default();
    let values = Arc::clone(&filter.values);
    let (_directory, db) = new_db_with(&with_filter(filter));
    for key in ["change", "remove", "keep", "skip", "so", "value"] {
        db.put(key, vec![b'v'; 2000]).unwrap();
    }
    db.put("inline", "abc").unwrap();
    db.compact_range(None, None).unwrap();
    let keys: Vec<_> = db.keys().unwrap().map(Result::unwrap).collect();
    assert_eq!(keys, ["change", "inline", "keep", "value"].map(bytes));
    assert_eq!(db.get("change"), Ok(Some(bytes("by key"))));
    let mut values = values.lock().unwrap().clone();
    values.sort();
    assert_eq!(values, ["inline", "value"].map(bytes));
}

#[test]
fn a_panic_fails_the_compaction_and_changes_nothing() {
    let panics = Arc::new(AtomicBool::new(true));
    let its = Arc::clone(&panics);
    let (_directory, db) = new_db_with(&with_filter(move |_: i32, key: &[u8], _: &[u8]| {
        assert!(!(key == b"b" && its.load(Ordering::Relaxed)), "expected by the test");
        Decision::Remove
    }));
    for key in ["a", "b", "c"] {
        db.put(key, key).unwrap();
    }
    let error = db.compact_range(None, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert_eq!(db.keys().unwrap().count(), 3);
    panics.store(false, Ordering::Relaxed);
    db.put("d", "d").unwrap();
    db.compact_range(None, None).unwrap();
    assert_eq!(db.keys().unwrap().count(), 0);
    db.close().unwrap();
}

#[test]
fn a_factory_makes_a_filter_for_each_job() {
    /// Counts without a lock: one thread at a time calls it.
    struct Counting {
        seen: Cell<usize>,
        all: Arc<AtomicUsize>,
    }
    impl CompactionFilter for Counting {
        fn filter(&self, _: i32, _: &[u8], _: &[u8]) -> Decision {
            self.seen.set(self.seen.get() + 1);
            Decision::Keep
        }
    }
    impl Drop for Counting {
        fn drop(&mut self) {
            self.all.fetch_add(self.seen.get(), Ordering::Relaxed);
        }
    }
    let all = Arc::new(AtomicUsize::new(0));
    let contexts = Arc::new(Mutex::new(Vec::new()));
    let (its_all, its_contexts) = (Arc::clone(&all), Arc::clone(&contexts));
    let mut filtering = options();
    filtering
        .set_compaction_filter_factory(
            "factory",
            move |context: FilterContext| -> Option<Box<dyn CompactionFilter + Send>> {
                its_contexts.lock().unwrap().push(context);
                Some(Box::new(Counting { seen: Cell::new(0), all: Arc::clone(&its_all) }))
            },
        )
        .unwrap();
    let (_directory, db) = new_db_with(&filtering);
    drop(filtering);
    for i in 0..10 {
        db.put(i.to_string(), "v").unwrap();
    }
    // Background work may take a part in the first call. In the second one there is nothing left to compact.
    db.compact_range(None, None).unwrap();
    db.compact_range(None, None).unwrap();
    assert!(all.load(Ordering::Relaxed) >= 20);
    let is_wanted = |context: &FilterContext| context.is_manual_compaction && context.is_full_compaction;
    assert!(contexts.lock().unwrap().iter().any(is_wanted));
    assert!(contexts.lock().unwrap().iter().all(|context| context.column_family_id == 0));
    db.close().unwrap();
    assert_eq!((Arc::strong_count(&all), Arc::strong_count(&contexts)), (1, 1));
}

#[test]
fn a_factory_may_make_no_filter_or_panic() {
    let panics = Arc::new(AtomicBool::new(true));
    let its = Arc::clone(&panics);
    let mut filtering = options();
    let factory = move |_: FilterContext| -> Option<Box<dyn CompactionFilter + Send>> {
        assert!(!its.load(Ordering::Relaxed), "expected by the test");
        None
    };
    filtering.set_compaction_filter_factory("factory", factory).unwrap();
    let (_directory, db) = new_db_with(&filtering);
    db.put("a", "1").unwrap();
    assert_eq!(kind(db.compact_range(None, None)), Some(ErrorKind::InvalidArgument));
    panics.store(false, Ordering::Relaxed);
    db.compact_range(None, None).unwrap();
    assert_eq!(texts(db.iter().unwrap()), ["a=1"]);
}

#[test]
fn names_are_checked_and_filters_are_freed() {
    let alive = Arc::new(());
    let make = || {
        let its = Arc::clone(&alive);
        move |_: i32, _: &[u8], _: &[u8]| {
            let _ = &its;
            Decision::Keep
        }
    };
    let mut filtering = options();
    assert!(filtering.set_compaction_filter("a\0b", make()).is_err());
    let none = |_: FilterContext| -> Option<Box<dyn CompactionFilter + Send>> { None };
    assert!(filtering.set_compaction_filter_factory("a\0b", none).is_err());
    assert_eq!(Arc::strong_count(&alive), 1);
    filtering.set_compaction_filter("first", make()).unwrap();
    filtering.set_compaction_filter("second", make()).unwrap();
    let (_directory, db) = new_db_with(&filtering);
    drop(filtering);
    db.put("a", "1").unwrap();
    db.compact_range(None, None).unwrap();
    db.close().unwrap();
    assert_eq!(Arc::strong_count(&alive), 1);
}
