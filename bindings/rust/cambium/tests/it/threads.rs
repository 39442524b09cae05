//! Several threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use cambium::WriteBatch;

use crate::common::{new_db, options};

/// Writers keep two keys equal by batches; readers, snapshots and iterators never see them differ.
#[test]
fn threads_share_a_database() {
    let (directory, db) = new_db();
    let family = db.create_column_family("family", &options()).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|thread| {
                let (db, family) = (&db, &family);
                scope.spawn(move || {
                    let mut batch = WriteBatch::new();
                    for i in 0..500_u32 {
                        let value = format!("{thread} {i} {}", "v".repeat(i as usize * 7 % 2000));
                        batch.clear().put("twin", &value).put_cf(family, "twin", &value);
                        batch.put(format!("{thread} {i}"), &value);
                        db.write(&batch).unwrap();
                        if i % 100 == 99 {
                            db.flush().unwrap();
                        }
                    }
                })
            })
            .collect();
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let default = db.default_column_family();
                    let both = db.multi_get_cf(&[(default, "twin"), (&family, "twin")]);
                    assert_eq!(both[0], both[1]);
                    let then = db.snapshot().unwrap().read_options();
                    assert_eq!(db.get_opt("twin", &then), family.get_opt("twin", &then));
                    let count = db.iter().unwrap().map(Result::unwrap).count();
                    assert!(count <= 1001);
                }
            });
        }
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(db.keys().unwrap().count(), 1001);
    drop(family);
    db.close().unwrap();
    assert!(cambium::verify_db(&options(), directory.path("db"), true, &[]).unwrap().is_empty());
}

/// Clones are dropped by any thread; the last one closes the database.
#[test]
fn the_last_thread_closes_the_database() {
    let (directory, db) = new_db();
    let threads: Vec<_> = (0..8)
        .map(|i| {
            let db = db.clone();
            thread::spawn(move || db.put(i.to_string(), "value").unwrap())
        })
        .collect();
    drop(db);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let db = cambium::Db::open(&options(), directory.path("db")).unwrap();
    assert_eq!(db.keys().unwrap().count(), 8);
}
