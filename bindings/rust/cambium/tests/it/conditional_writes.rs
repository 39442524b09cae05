//! Writes that take effect only if keys are as expected. Most tests run on a plain database and on one that locks keys.

use std::thread;
use std::time::Duration;

use cambium::{ColumnFamily, Db, ErrorKind, TransactionDbOptions, WriteBatch, WriteConditions, WriteOptions};

use crate::common::{TempDir, bytes, kind, new_db, options};

fn new_locking_db(transactions: &TransactionDbOptions) -> (TempDir, Db) {
    let directory = TempDir::new();
    let db = Db::open_transaction_db(&options(), transactions, directory.path("db")).unwrap();
    (directory, db)
}

fn both() -> [(TempDir, Db); 2] {
    [new_db(), new_locking_db(&TransactionDbOptions::default())]
}

#[test]
fn put_if_absent_puts_once() {
    for (_directory, db) in both() {
        assert_eq!(db.put_if_absent("k", "v"), Ok(true));
        assert_eq!(db.put_if_absent("k", "w"), Ok(false));
        assert_eq!(db.get("k"), Ok(Some(bytes("v"))));
        db.delete("k").unwrap();
        assert_eq!(db.put_if_absent_opt("k", "", &WriteOptions::synced()), Ok(true));
        assert_eq!(db.put_if_absent("k", "w"), Ok(false), "an empty value is a value");
        assert_eq!(db.get("k"), Ok(Some(bytes(""))));
        assert_eq!(db.put_if_absent("", "of the empty key"), Ok(true));
    }
}

#[test]
fn compare_and_set_needs_the_expected_value() {
    for (_directory, db) in both() {
        assert_eq!(db.compare_and_set("k", "", "v"), Ok(false), "an absent key has no value");
        db.put("k", "v").unwrap();
        assert_eq!(db.compare_and_set("k", "", "w"), Ok(false));
        assert_eq!(db.compare_and_set("k", "v2", "w"), Ok(false));
        assert_eq!(db.get("k"), Ok(Some(bytes("v"))));
        assert_eq!(db.compare_and_set_opt("k", "v", "", &WriteOptions::synced()), Ok(true));
        assert_eq!(db.get("k"), Ok(Some(bytes(""))));
        assert_eq!(db.compare_and_set("k", "", "w"), Ok(true));
        assert_eq!(db.get("k"), Ok(Some(bytes("w"))));
    }
}

#[test]
fn compare_and_delete_needs_the_expected_value() {
    for (_directory, db) in both() {
        assert_eq!(db.compare_and_delete("k", ""), Ok(false));
        db.put("k", "v").unwrap();
        assert_eq!(db.compare_and_delete("k", ""), Ok(false));
        assert_eq!(db.get("k"), Ok(Some(bytes("v"))));
        assert_eq!(db.compare_and_delete_opt("k", "v", &WriteOptions::synced()), Ok(true));
        assert_eq!(db.get("k"), Ok(None));
        db.put("k", "").unwrap();
        assert_eq!(db.compare_and_delete("k", ""), Ok(true));
    }
}

#[test]
fn each_family_has_keys_of_its_own() {
    for (_directory, db) in both() {
        let family = db.create_column_family("other", &options()).unwrap();
        assert_eq!(db.put_if_absent("k", "1"), Ok(true));
        assert_eq!(family.put_if_absent("k", "2"), Ok(true));
        assert_eq!(family.compare_and_set("k", "1", "3"), Ok(false));
        assert_eq!(family.compare_and_set("k", "2", "3"), Ok(true));
        assert_eq!(db.get("k"), Ok(Some(bytes("1"))));
        assert_eq!(family.get("k"), Ok(Some(bytes("3"))));
        assert_eq!(family.compare_and_delete("k", "1"), Ok(false));
        assert_eq!(family.compare_and_delete("k", "3"), Ok(true));
        assert_eq!(family.get("k"), Ok(None));
        db.drop_column_family(&family).unwrap();
        assert_eq!(kind(family.put_if_absent("k", "v")), Some(ErrorKind::ColumnFamilyDropped));
    }
}

#[test]
fn a_batch_is_written_if_all_conditions_hold() {
    for (_directory, db) in both() {
        let family = db.create_column_family("other", &options()).unwrap();
        db.put("stock", "3").unwrap();
        family.put("empty", "").unwrap();
        let mut batch = WriteBatch::new();
        batch.put("stock", "2").put_cf(&family, "order", "1");
        let mut conditions = WriteConditions::default();
        assert!(conditions.is_empty());
        conditions.has_value("stock", "3").is_absent_cf(&family, "order").has_value_cf(&family, "empty", "");
        conditions.is_absent("order");
        assert_eq!(format!("{conditions:?}"), "WriteConditions { len: 4, .. }");
        assert_eq!(db.write_if_opt(&batch, &conditions, &WriteOptions::synced()), Ok(true));
        assert_eq!(db.get("stock"), Ok(Some(bytes("2"))));
        assert_eq!(family.get("order"), Ok(Some(bytes("1"))));
        // Now two of them do not hold; then one.
        batch.clear().put("stock", "1");
        assert_eq!(db.write_if(&batch, &conditions), Ok(false));
        family.delete("order").unwrap();
        assert_eq!(db.write_if(&batch, &conditions), Ok(false));
        assert_eq!(db.get("stock"), Ok(Some(bytes("2"))));
        conditions.clear();
        assert_eq!(conditions.len(), 0);
        assert_eq!(db.write_if(&batch, &conditions), Ok(true), "nothing is asked");
        assert_eq!(db.get("stock"), Ok(Some(bytes("1"))));
        // Without operations it is a question.
        batch.clear();
        assert_eq!(db.write_if(&batch, conditions.has_value_cf(&family, "empty", "")), Ok(true));
        assert_eq!(db.write_if(&batch, conditions.is_absent_cf(&family, "empty")), Ok(false));
    }
}

fn next(old: Option<&Vec<u8>>) -> String {
    let number: u32 = old.map_or(0, |old| std::str::from_utf8(old).unwrap().parse().unwrap());
    (number + 1).to_string()
}

fn raise_one(family: &ColumnFamily) {
    loop {
        let old = family.get("counter").unwrap();
        let written = match &old {
            None => family.put_if_absent("counter", next(None)),
            Some(value) => family.compare_and_set("counter", value, next(old.as_ref())),
        };
        if written.unwrap() {
            return;
        }
    }
}

fn raise_two(db: &Db, families: [&ColumnFamily; 2]) {
    loop {
        let (mut batch, mut conditions) = (WriteBatch::new(), WriteConditions::new());
        for family in families {
            let old = family.get("counter").unwrap();
            match &old {
                None => conditions.is_absent_cf(family, "counter"),
                Some(value) => conditions.has_value_cf(family, "counter", value),
            };
            batch.put_cf(family, "counter", next(old.as_ref()));
        }
        if db.write_if(&batch, &conditions).unwrap() {
            return;
        }
    }
}

#[test]
fn no_increment_is_lost() {
    for (_directory, db) in both() {
        let [one, two, three] = ["1", "2", "3"].map(|name| db.create_column_family(name, &options()).unwrap());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        raise_one(&one);
                        raise_two(&db, [&two, &three]);
                    }
                });
            }
        });
        for family in [one, two, three] {
            assert_eq!(family.get("counter"), Ok(Some(bytes("400"))));
        }
    }
}

/// In a database that locks keys, a conditional write waits for the locks of transactions.
#[test]
fn locks_of_transactions_are_waited_for() {
    let limited = TransactionDbOptions { default_lock_timeout: Duration::from_millis(1), ..Default::default() };
    let (_directory, db) = new_locking_db(&limited);
    db.put("k", "v").unwrap();
    let mut transaction = db.transaction().unwrap();
    transaction.put("k", "w").unwrap();
    assert_eq!(kind(db.compare_and_set("k", "v", "x")), Some(ErrorKind::LockTimeout));
    transaction.commit().unwrap();
    assert_eq!(db.compare_and_set("k", "v", "x"), Ok(false));
    assert_eq!(db.compare_and_set("k", "w", "x"), Ok(true));
}

#[test]
fn what_is_wrong_is_an_error() {
    for (directory, db) in both() {
        let (_other_directory, other) = new_db();
        let foreign = other.default_column_family();
        let mut batch = WriteBatch::new();
        batch.put("k", "v");
        let mut conditions = WriteConditions::new();
        conditions.is_absent_cf(foreign, "k");
        assert_eq!(kind(db.write_if(&batch, &conditions)), Some(ErrorKind::InvalidArgument));
        conditions.clear().has_value_cf(foreign, "k", "v");
        assert_eq!(kind(db.write_if(&batch, &conditions)), Some(ErrorKind::InvalidArgument));
        batch.clear().put_cf(foreign, "k", "v");
        assert_eq!(kind(db.write_if(&batch, conditions.clear())), Some(ErrorKind::InvalidArgument));
        batch.clear().put("k".repeat(70_000), "v");
        assert_eq!(kind(db.write_if(&batch, &conditions)), Some(ErrorKind::InvalidArgument));
        assert_eq!(kind(db.put_if_absent("k".repeat(70_000), "v")), Some(ErrorKind::InvalidArgument));
        assert_eq!(db.get("k"), Ok(None));
        db.close().unwrap();
        let reader = Db::open_read_only(&options(), directory.path("db")).unwrap();
        assert_eq!(kind(reader.put_if_absent("k", "v")), Some(ErrorKind::NotSupported));
        assert_eq!(kind(reader.compare_and_set("k", "v", "w")), Some(ErrorKind::NotSupported));
        assert_eq!(kind(reader.compare_and_delete("k", "v")), Some(ErrorKind::NotSupported));
    }
}
