//! Event listeners and loggers.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cambium::{
    BackgroundErrorInfo, BackgroundErrorReason, BlobFileCreationInfo, BlobFileDeletionInfo, BlobFileReason,
    BlobGcPolicy, CompactOptions, CompactionJobInfo, CompactionReason, Decision, EventListener, FlushJobInfo,
    FlushReason, LogGcJobInfo, LogGcReason, LogLevel, MemtableInfo, StallCause, TableFileCreationInfo,
    TableFileDeletionInfo, TableFileReason, WriteStallInfo,
};

use crate::common::{new_db_with, options};

/// Checks what it is told, and counts.
#[derive(Clone, Default)]
struct Recorder {
    counts: Arc<Mutex<BTreeMap<&'static str, usize>>>,
}

impl Recorder {
    /// A panic of the check would stay inside, so it is counted too.
    fn check(&self, event: &'static str, db_path: &Path, check: impl FnOnce()) {
        assert!(db_path.ends_with("db"), "{db_path:?}");
        let checked = catch_unwind(AssertUnwindSafe(check));
        let event = if checked.is_ok() { event } else { "failed checks" };
        *self.counts.lock().unwrap().entry(event).or_default() += 1;
    }

    fn of(&self, event: &str) -> usize {
        self.counts.lock().unwrap().get(event).copied().unwrap_or(0)
    }

    fn expect(&self, events: &[&str]) {
        for event in events {
            assert!(self.of(event) > 0, "{event}: {:?}", self.counts);
        }
        assert_eq!(self.of("failed checks"), 0, "{:?}", self.counts);
    }
}

impl EventListener for Recorder {
    fn on_memtable_sealed(&self, info: &MemtableInfo<'_>) {
        self.check("memtable", info.db_path(), || {
            assert_eq!((&*info.cf_name(), info.cf_id()), ("default", 0));
            assert!(info.num_entries() > 0 && info.memory_bytes() > 0);
            assert_eq!(info.num_range_deletes(), 0);
            assert!(!matches!(info.reason(), FlushReason::Other(_)));
        });
    }
    fn on_flush_begin(&self, info: &FlushJobInfo<'_>) {
        self.check("flush begins", info.db_path(), || assert_eq!(info.output_files().count(), 0));
    }
    fn on_flush_completed(&self, info: &FlushJobInfo<'_>) {
        self.check("flush", info.db_path(), || {
            assert_eq!((&*info.cf_name(), info.cf_id(), info.status()), ("default", 0, Ok(())));
            assert!(!matches!(info.flush_reason(), FlushReason::Other(_)));
            assert!(info.job_id() > 0 && info.num_entries() > 0 && info.largest_seqno() > 0);
            assert!(info.merged_into_tree() || info.output_files().count() > 0);
            assert!(info.bytes_written() > 0 && info.elapsed_micros() < 60_000_000);
            assert!(format!("{info:?}").starts_with("FlushJobInfo"));
        });
    }
    fn on_compaction_begin(&self, info: &CompactionJobInfo<'_>) {
        self.check("compaction begins", info.db_path(), || assert_eq!(info.input_files().count(), 0));
    }
    fn on_compaction_completed(&self, info: &CompactionJobInfo<'_>) {
        let event = match (info.status(), info.compaction_reason()) {
            (Err(_), _) => "failed compaction",
            (Ok(()), CompactionReason::ManualCompaction) => "compaction",
            _ => "other compaction",
        };
        self.check(event, info.db_path(), || {
            assert_eq!((&*info.cf_name(), info.cf_id()), ("default", 0));
            assert!(info.job_id() > 0 && info.base_input_level() >= 0);
            assert!(info.entries_merged() < 1 << 30 && info.entries_dropped() < 1 << 30);
            assert!(
                info.elapsed_micros() < 60_000_000 && info.bytes_read() < 1 << 30 && info.bytes_written() < 1 << 30
            );
            assert!(info.input_files().chain(info.output_files()).all(|path| path.starts_with(info.db_path())));
            if event == "compaction" {
                assert_eq!(info.output_level(), 1);
            }
        });
    }
    fn on_log_gc_completed(&self, info: &LogGcJobInfo<'_>) {
        let is_manual = info.reason() == LogGcReason::ManualCompaction;
        self.check(if is_manual { "log gc" } else { "other log gc" }, info.db_path(), || {
            assert_eq!(info.status(), Ok(()));
            assert!(info.job_id() > 0 && info.elapsed_micros() < 60_000_000);
            assert!(info.emptied_files().count() + info.punched_files().count() <= info.input_files().count());
            assert!(info.keys_relocated() == 0 || (info.bytes_written() > 0 && info.bytes_read() > 0));
            assert!(info.bytes_freed() < 1 << 30);
        });
    }
    fn on_table_file_creation_started(&self, info: &TableFileCreationInfo<'_>) {
        self.check("table file begun", info.db_path(), || assert_eq!(info.file_size(), 0));
    }
    fn on_table_file_created(&self, info: &TableFileCreationInfo<'_>) {
        self.check("table file", info.db_path(), || {
            assert_eq!((&*info.cf_name(), info.cf_id()), ("default", 0));
            assert!(info.file_path().starts_with(info.db_path()));
            assert!(info.file_number() > 0 && info.job_id() >= 0);
            assert!(!matches!(info.reason(), TableFileReason::Other(_)));
            assert!(info.status().is_err() || info.file_size() > 0);
        });
    }
    fn on_table_file_deleted(&self, info: &TableFileDeletionInfo<'_>) {
        self.check("table file deleted", info.db_path(), || {
            assert!(info.file_path().starts_with(info.db_path()) && info.file_number() > 0);
        });
    }
    fn on_blob_file_creation_started(&self, info: &BlobFileCreationInfo<'_>) {
        self.check("blob file begun", info.db_path(), || assert!(info.file_number() > 0));
    }
    fn on_blob_file_created(&self, info: &BlobFileCreationInfo<'_>) {
        self.check("blob file", info.db_path(), || {
            assert!(info.file_path().starts_with(info.db_path()));
            assert!(!matches!(info.reason(), BlobFileReason::Other(_)));
            assert!(info.status().is_ok() && info.file_size() < 1 << 30);
        });
    }
    fn on_blob_file_deleted(&self, info: &BlobFileDeletionInfo<'_>) {
        self.check("blob file deleted", info.db_path(), || {
            assert!(info.file_path().starts_with(info.db_path()) && info.file_number() > 0);
        });
    }
    fn on_stall_conditions_changed(&self, info: &WriteStallInfo<'_>) {
        self.check("stall", info.db_path(), || {
            assert_ne!(info.current(), info.previous());
            assert!(info.change() > 0 && info.cf_id() == 0 && info.cf_name().len() < 10);
            assert!(!matches!(info.cause(), StallCause::Other(_)));
        });
    }
    fn on_background_error(&self, info: &BackgroundErrorInfo<'_>) {
        self.check("error", info.db_path(), || {
            assert_eq!(info.reason(), BackgroundErrorReason::Compaction);
            assert!(info.status().is_err());
        });
    }
}

#[test]
fn a_listener_is_told_about_each_event() {
    let recorder = Recorder::default();
    let mut listening = options();
    listening.add_event_listener(recorder.clone());
    let (_directory, db) = new_db_with(&listening);
    drop(listening);
    for round in 0..3 {
        for i in 0..200 {
            db.put(format!("key{i:03}"), vec![round; 40_000]).unwrap();
        }
        db.flush().unwrap();
    }
    let mut all = CompactOptions::new();
    all.set_blob_garbage_collection_policy(BlobGcPolicy::Force).set_blob_garbage_collection_age_cutoff(1.0);
    db.compact_range_opt(None, None, &all).unwrap();
    db.wait_for_compact().unwrap();
    db.close().unwrap();
    recorder.expect(&[
        "memtable",
        "flush begins",
        "flush",
        "table file begun",
        "table file",
        "table file deleted",
        "blob file begun",
        "blob file",
        "blob file deleted",
        "log gc",
    ]);
    // The database has released the listener.
    assert_eq!(Arc::strong_count(&recorder.counts), 1);
}

#[test]
fn a_listener_is_told_about_compactions_and_their_errors() {
    let recorder = Recorder::default();
    let mut listening = options();
    listening
        .set_compaction_filter("fails", |_: i32, key: &[u8], _: &[u8]| {
            assert_ne!(key, b"bad", "expected by the test");
            Decision::Keep
        })
        .unwrap();
    listening.add_event_listener(recorder.clone());
    let (_directory, db) = new_db_with(&listening);
    db.put("good", "1").unwrap();
    // Background work may take a part in the first call.
    db.compact_range(None, None).unwrap();
    db.compact_range(None, None).unwrap();
    recorder.expect(&["compaction begins", "compaction"]);
    db.put("bad", "1").unwrap();
    db.compact_range(None, None).unwrap_err();
    // The error is that of the next compaction in the background, which fails too.
    let begin = Instant::now();
    while recorder.of("error") == 0 && begin.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(10));
    }
    recorder.expect(&["failed compaction", "error"]);
}

#[test]
fn a_panic_in_a_listener_stays_inside() {
    struct Panics;
    impl EventListener for Panics {
        fn on_flush_completed(&self, _: &FlushJobInfo<'_>) {
            panic!("expected by the test");
        }
    }
    let mut listening = options();
    listening.add_event_listener(Panics);
    let (_directory, db) = new_db_with(&listening);
    db.put("key", "value").unwrap();
    db.flush().unwrap();
    assert!(db.get("key").unwrap().is_some());
    db.close().unwrap();
}

#[test]
fn lines_go_to_a_logger() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let its = Arc::clone(&lines);
    let mut logging = options();
    logging.set_info_log(LogLevel::Info, move |level, line: &str| {
        its.lock().unwrap().push((level, line.to_owned()));
        assert!(!line.contains("page_size"), "expected by the test");
    });
    let (directory, db) = new_db_with(&logging);
    drop(logging);
    db.put("key", "value").unwrap();
    db.flush().unwrap();
    db.close().unwrap();
    assert!(!lines.lock().unwrap().is_empty());
    assert!(lines.lock().unwrap().iter().all(|(level, line)| *level != LogLevel::Debug && !line.ends_with('\n')));
    assert!(!directory.path("db").join("LOG").exists());
    assert_eq!(Arc::strong_count(&lines), 1);
}

#[test]
fn lines_go_to_a_file_or_nowhere() {
    let mut logging = options();
    let (directory, db) = new_db_with(&logging);
    db.close().unwrap();
    assert!(!directory.path("db").join("LOG").exists());
    logging.set_default_info_log();
    let (directory, db) = new_db_with(&logging);
    db.close().unwrap();
    assert!(directory.path("db").join("LOG").exists());
}
