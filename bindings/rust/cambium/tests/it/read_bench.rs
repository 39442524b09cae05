//! The benchmark runs.

use std::time::Duration;

use cambium::{Db, Options};

use crate::common::TempDir;

#[allow(dead_code, reason = "its main function runs elsewhere")]
#[path = "../../examples/read_bench.rs"]
mod program;

#[test]
fn the_benchmark_times_gets_and_a_scan() {
    let directory = TempDir::new();
    let path = directory.path("db");
    let db = Db::open_default(&path).unwrap();
    for i in 0..program::KEYS {
        db.put(format!("key{i:010}"), [i as u8; 1024]).unwrap();
    }
    db.close().unwrap();
    let db = Db::open_read_only(&Options::new(), &path).unwrap();
    assert!(program::time_gets(&db, Duration::from_millis(10)).unwrap() > 0.0);
    assert!(program::time_scan(&db).unwrap() > 0.0);
}
