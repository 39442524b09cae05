//! Batches.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cambium::{ErrorKind, Operation, WriteBatch, WriteOptions};

use crate::common::{bytes, kind, new_db, options, texts};

#[test]
fn a_batch_is_applied_in_order() {
    let (_directory, db) = new_db();
    db.put("old", "1").unwrap();
    let mut batch = WriteBatch::default();
    batch.put("a", "1").put("b", "2").put("c", "3").put("d", "4");
    batch.delete("a").single_delete("old").delete_range("b", "d").put("b", "again");
    assert_eq!((batch.len(), batch.is_empty()), (8, false));
    db.write(&batch).unwrap();
    assert_eq!(texts(db.iter().unwrap()), ["b=again", "d=4"]);
    batch.clear();
    assert!(batch.is_empty());
    db.write_opt(&batch, &WriteOptions::synced()).unwrap();
}

#[test]
fn operations_name_families() {
    let (_directory, db) = new_db();
    let family = db.create_column_family("family", &options()).unwrap();
    let mut batch = WriteBatch::new();
    batch.put_cf(&family, "a", "1").put_cf(&family, "b", "2").put_cf(&family, "c", "3").put_cf(&family, "d", "4");
    batch.delete_cf(&family, "a").single_delete_cf(&family, "d").delete_range_cf(&family, "b", "c");
    db.write(&batch).unwrap();
    assert_eq!(texts(family.iter().unwrap()), ["c=3"]);
    let mut seen = Vec::new();
    batch.for_each(|operation| seen.push(format!("{operation:?}"))).unwrap();
    assert_eq!(seen.len(), 7);
    assert_eq!(seen[0], "Put { family: 1, key: [97], value: [49] }");
    assert_eq!(seen[5], "Delete { family: 1, key: [100] }");
    assert_eq!(seen[6], "DeleteRange { family: 1, start: [98], end: [99] }");
}

#[test]
fn bytes_make_the_batch_again() {
    let (_directory, db) = new_db();
    let mut batch = WriteBatch::new();
    batch.put("a\0", "1").delete("b");
    let copy = WriteBatch::from_data(batch.data()).unwrap();
    assert_eq!(copy.data(), batch.data());
    db.write(&copy).unwrap();
    assert_eq!(db.get("a\0"), Ok(Some(bytes("1"))));
    assert_eq!(kind(WriteBatch::from_data("nonsense")), Some(ErrorKind::Corruption));
}

#[test]
fn batches_are_appended() {
    let mut first = WriteBatch::new();
    first.put("a", "1");
    let mut second = WriteBatch::new();
    second.put("b", "2").append(&first);
    assert_eq!(second.len(), 2);
    let mut keys = Vec::new();
    let visit = |operation: Operation<'_>| {
        if let Operation::Put { family: 0, key, .. } = operation {
            keys.push(key.to_vec());
        }
    };
    second.for_each(visit).unwrap();
    assert_eq!(keys, [bytes("b"), bytes("a")]);
}

#[test]
fn save_points_are_rolled_back_or_removed() {
    let mut batch = WriteBatch::new();
    assert_eq!(kind(batch.rollback_to_save_point()), Some(ErrorKind::NotFound));
    assert_eq!(kind(batch.pop_save_point()), Some(ErrorKind::NotFound));
    batch.put("a", "1").set_save_point().put("b", "2").set_save_point().put("c", "3");
    batch.pop_save_point().unwrap();
    assert_eq!(batch.len(), 3);
    batch.rollback_to_save_point().unwrap();
    assert_eq!(batch.len(), 1);
}

#[test]
fn a_refused_operation_fails_the_write() {
    let (_directory, db) = new_db();
    let mut batch = WriteBatch::new();
    batch.put("a", "1").set_save_point().put(vec![0; 70_000], "too long");
    assert_eq!(kind(db.write(&batch)), Some(ErrorKind::InvalidArgument));
    assert_eq!(db.get("a"), Ok(None));
    batch.rollback_to_save_point().unwrap();
    db.write(&batch).unwrap();
    assert_eq!(db.get("a"), Ok(Some(bytes("1"))));
}

#[test]
fn a_panic_of_a_visitor_reaches_the_caller() {
    let mut batch = WriteBatch::new();
    batch.put("a", "1").put("b", "2");
    let mut calls = 0;
    let panic = catch_unwind(AssertUnwindSafe(|| {
        batch.for_each(|_| {
            calls += 1;
            panic!("expected by the test");
        })
    }))
    .unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"expected by the test"));
    assert_eq!(calls, 1);
    assert_eq!(batch.len(), 2);
}

#[test]
fn a_batch_goes_to_another_thread() {
    let (_directory, db) = new_db();
    let mut batch = WriteBatch::new();
    batch.put("a", "1");
    let its = db.clone();
    std::thread::spawn(move || its.write(&batch).unwrap()).join().unwrap();
    assert!(db.get("a").unwrap().is_some());
}
