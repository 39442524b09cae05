//! Options: typed, by name, as text.

use std::collections::BTreeSet;

use cambium::{
    BlobGcPolicy, CompactOptions, CompactionStyle, Comparator, Compression, ErrorKind, FlushOptions, IndexType,
    LatestOptions, Options, ReadOptions, StatisticsLevel, TraceOptions, ValueClustering, WalRecoveryMode, WriteOptions,
};

use crate::common::{TempDir, kind, new_db, new_db_with, options};

/// Names of the options in a text.
fn names(text: &str) -> BTreeSet<String> {
    text.split(';').filter_map(|each| each.split_once('=')).map(|(name, _)| name.trim().to_owned()).collect()
}

/// Sets each option to a value that is not its default, and reads it back: typed, and as text.
macro_rules! check_fields {
    ($($set:ident $get:ident $value:expr;)*) => {{
        let mut named = BTreeSet::new();
        $(
            let mut options = Options::new();
            assert_ne!(options.$get(), $value, "{} has another default", stringify!($get));
            options.$set($value);
            assert_eq!(options.$get(), $value, "{}", stringify!($get));
            let default = Options::new().to_text().unwrap();
            if let Ok(text) = options.to_text() {
                assert_ne!(text, default, "{} is in the text", stringify!($get));
            }
            named.insert(stringify!($get).to_owned());
        )*
        named
    }};
}

#[test]
fn every_option_has_a_setter_and_a_getter() {
    let mut typed = check_fields! {
        set_create_if_missing create_if_missing true;
        set_create_missing_column_families create_missing_column_families true;
        set_error_if_exists error_if_exists true;
        set_wal_recovery_mode wal_recovery_mode WalRecoveryMode::PointInTime;
        set_lock_wait_micros lock_wait_micros 7;
        set_page_cache_size page_cache_size 1 << 20;
        set_db_write_buffer_size db_write_buffer_size 1 << 20;
        set_max_total_wal_size max_total_wal_size 1 << 20;
        set_max_space_amplification max_space_amplification 2.5;
        set_min_space_limit min_space_limit 1 << 20;
        set_min_punch_size min_punch_size 1 << 20;
        set_allow_mmap_reads allow_mmap_reads false;
        set_max_open_files max_open_files 100;
        set_max_background_jobs max_background_jobs 3;
        set_index_type index_type IndexType::Lsm;
        set_page_size page_size 8192;
        set_filter_bits_per_key filter_bits_per_key 12;
        set_write_buffer_size write_buffer_size 1 << 20;
        set_max_write_buffer_number max_write_buffer_number 4;
        set_enable_blob_files enable_blob_files false;
        set_min_blob_size min_blob_size 100;
        set_large_value_size large_value_size 1 << 20;
        set_blob_compression_type blob_compression_type Compression::Zstd;
        set_blob_file_size blob_file_size 1 << 20;
        set_value_clustering value_clustering ValueClustering::Auto;
        set_enable_blob_garbage_collection enable_blob_garbage_collection false;
        set_blob_garbage_collection_age_cutoff blob_garbage_collection_age_cutoff 0.5;
        set_blob_garbage_collection_force_threshold blob_garbage_collection_force_threshold 0.5;
        set_sweep_ratio sweep_ratio 9;
        set_compaction_style compaction_style CompactionStyle::LazyLevel;
        set_level0_file_num_compaction_trigger level0_file_num_compaction_trigger 5;
        set_level0_slowdown_writes_trigger level0_slowdown_writes_trigger 21;
        set_level0_stop_writes_trigger level0_stop_writes_trigger 37;
        set_target_file_size_base target_file_size_base 1 << 20;
        set_target_file_size_multiplier target_file_size_multiplier 2;
        set_max_bytes_for_level_base max_bytes_for_level_base 1 << 20;
        set_max_bytes_for_level_multiplier max_bytes_for_level_multiplier 9.0;
        set_num_levels num_levels 8;
        set_compression compression Compression::Lz4;
    };
    typed.insert("comparator".to_owned());
    assert_eq!(typed, names(&Options::new().to_text().unwrap()), "every option with a text form");
}

#[test]
fn every_option_can_be_set_by_its_name() {
    let defaults = Options::new().to_text().unwrap();
    let mut options = Options::new();
    for (name, value) in defaults.split(';').filter_map(|each| each.split_once('=')) {
        options.set(name, value).unwrap_or_else(|error| panic!("{name}={value}: {error}"));
    }
    assert_eq!(options.to_text().unwrap(), defaults);
    options.set("write_buffer_size", "16M").unwrap().set("compression", "kZSTD").unwrap();
    assert_eq!((options.write_buffer_size(), options.compression()), (16 << 20, Compression::Zstd));
}

#[test]
fn texts_that_are_not_legal_change_nothing() {
    let mut options = Options::new();
    for (name, value) in [
        ("no_such_option", "1"),
        ("page_size", "many"),
        ("page_size", "8192;max_open_files=1"),
        ("page_size={8192};x", "1"),
        ("statistics", "none"),
        ("page_size", "8192\0"),
    ] {
        assert_eq!(kind(options.set(name, value).map(|_| ())), Some(ErrorKind::InvalidArgument), "{name}={value}");
    }
    assert_eq!(kind(options.apply("page_size=8192; page_size=4096")), Some(ErrorKind::InvalidArgument));
    assert_eq!(options.to_text(), Options::new().to_text());
    options.apply("page_size=8192; max_open_files = 50").unwrap();
    assert_eq!((options.page_size(), options.max_open_files()), (8192, 50));
    assert_eq!(Options::parse("num_levels=5").unwrap().num_levels(), 5);
    assert_eq!(kind(Options::parse("levels=5")), Some(ErrorKind::InvalidArgument));
    options.set_page_size(1000);
    assert_eq!(kind(options.to_text()), Some(ErrorKind::InvalidArgument));
    assert!(format!("{options:?}").contains("page_size"));
}

#[test]
fn numbers_that_are_not_known_are_kept_and_refused() {
    let mut options = options();
    options.set_index_type(IndexType::Other(77));
    assert_eq!(options.index_type(), IndexType::Other(77));
    let directory = TempDir::new();
    let error = cambium::Db::open(&options, directory.path("db")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn copies_are_independent() {
    let mut first = Options::default();
    first.set_num_levels(5);
    let mut second = first.clone();
    second.set_num_levels(6);
    assert_eq!((first.num_levels(), second.num_levels()), (5, 6));
}

#[test]
fn rocksdb_compatibility_removes_the_ceiling() {
    let mut options = Options::new();
    options.optimize_for_rocksdb_compatibility();
    assert_eq!((options.max_space_amplification(), options.enable_blob_files()), (0.0, false));
}

#[test]
fn options_of_calls_are_read_back() {
    let mut read = ReadOptions::default();
    assert!(read.verify_checksums() && read.fill_cache() && read.async_io());
    assert!(!read.allow_unprepared_value() && !read.durable_only() && !read.pin_mapped_values());
    read.set_verify_checksums(false).set_fill_cache(false).set_async_io(false);
    read.set_allow_unprepared_value(true).set_durable_only(true);
    assert!(!read.verify_checksums() && !read.fill_cache() && !read.async_io());
    assert!(read.allow_unprepared_value() && read.durable_only());
    assert!(format!("{read:?}").contains("durable_only: true"));

    let mut write = WriteOptions::default();
    assert_eq!(format!("{write:?}"), "WriteOptions { sync: false, no_slowdown: false, disable_wal: false }");
    write.set_sync(true).set_no_slowdown(true).set_disable_wal(true);
    assert!(write.sync() && write.no_slowdown() && write.disable_wal());

    let mut flush = FlushOptions::default();
    assert!(flush.wait());
    flush.set_wait(false);
    assert_eq!(format!("{flush:?}"), "FlushOptions { wait: false }");

    let mut compact = CompactOptions::default();
    assert_eq!(compact.blob_garbage_collection_policy(), BlobGcPolicy::UseDefault);
    compact.set_blob_garbage_collection_policy(BlobGcPolicy::Force).set_cluster_values(true);
    compact.set_blob_garbage_collection_age_cutoff(0.5);
    assert!(compact.cluster_values());
    assert_eq!(compact.blob_garbage_collection_policy(), BlobGcPolicy::Force);
    assert_eq!(compact.blob_garbage_collection_age_cutoff(), 0.5);
    assert!(format!("{compact:?}").contains("Force"));

    let mut trace = TraceOptions::default();
    trace.set_max_trace_file_size(1 << 20).set_sampling_frequency(2);
    trace.set_filter(TraceOptions::FILTER_GET | TraceOptions::FILTER_MULTI_GET);
    trace.set_preserve_write_order(true).set_include_values(true);
    assert_eq!((trace.max_trace_file_size(), trace.sampling_frequency(), trace.filter()), (1 << 20, 2, 17));
    assert!(trace.preserve_write_order() && trace.include_values());
    assert!(format!("{trace:?}").contains("filter: 17"));
}

#[test]
fn options_in_force_are_returned_and_changed() {
    let (_directory, db) = new_db();
    let family = db.create_column_family("family", &options()).unwrap();
    db.set_options(&[("min_blob_size", "100"), ("write_buffer_size", "2M")]).unwrap();
    family.set_options(&[("min_blob_size", "200")]).unwrap();
    db.set_db_options(&[("max_space_amplification", "2.5")]).unwrap();
    let in_force = db.options().unwrap();
    assert_eq!((in_force.min_blob_size(), in_force.write_buffer_size()), (100, 2 << 20));
    assert_eq!(in_force.max_space_amplification(), 2.5);
    assert_eq!(family.options().unwrap().min_blob_size(), 200);
    let error = db.set_options(&[("min_blob_size", "300"), ("page_size", "512")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.text().contains("page_size"), "{error}");
    assert_eq!(db.options().unwrap().min_blob_size(), 100);
    assert_eq!(kind(db.set_db_options(&[("min_blob_size", "300")])), Some(ErrorKind::InvalidArgument));
}

#[test]
fn stored_options_are_loaded() {
    // SAFETY: this is a total order.
    let order = unsafe { Comparator::new("own-order", |a, b| b.cmp(a)).unwrap() };
    let mut own = options();
    own.set_comparator(&order).set_num_levels(5);
    let (directory, db) = new_db_with(&own);
    db.create_column_family("family", &options()).unwrap();
    db.put("a", "1").unwrap();
    db.put("b", "2").unwrap();
    db.close().unwrap();
    let path = directory.path("db");
    let error = LatestOptions::load(&path, false, &[]).unwrap_err();
    assert!(error.text().contains("own-order"), "{error}");
    let loaded = LatestOptions::load(&path, true, &[&order, &Comparator::bytewise()]).unwrap();
    drop(order);
    assert_eq!(loaded.db.num_levels(), 5);
    let named: Vec<_> = loaded.families.iter().map(|(name, options)| (name.as_str(), options)).collect();
    assert_eq!(named.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["default", "family"]);
    let (db, _families) = cambium::Db::open_column_families(&loaded.db, &path, &named).unwrap();
    assert_eq!(db.keys().unwrap().next().unwrap().unwrap(), b"b");
    assert_eq!(kind(LatestOptions::load(directory.path("none"), true, &[])), Some(ErrorKind::PathNotFound));
}

#[test]
fn statistics_count() {
    let mut counting = options();
    assert_eq!(counting.statistics().text(), None);
    assert_eq!(counting.statistics().ticker("rocksdb.memtable.hit"), Some(0));
    counting.enable_statistics().set_statistics_level(StatisticsLevel::All);
    let (_directory, db) = new_db_with(&counting);
    db.put("key", "value").unwrap();
    db.get("key").unwrap();
    let mut statistics = db.statistics().unwrap();
    assert_eq!(statistics.level(), StatisticsLevel::All);
    assert_eq!(statistics.ticker("rocksdb.memtable.hit"), Some(1));
    assert_eq!(statistics.ticker("rocksdb.no.such.ticker"), None);
    assert_eq!(statistics.ticker("a\0b"), None);
    let gets = statistics.histogram("rocksdb.db.get.micros").unwrap();
    assert_eq!(gets.count, 1);
    assert!(gets.max >= gets.min && gets.p99 >= gets.median && gets.p95 >= gets.median, "{gets:?}");
    assert!(gets.average >= 0.0 && gets.std_dev >= 0.0 && gets.sum < 1_000_000_000);
    assert_eq!((statistics.histogram("none"), statistics.histogram("a\0b")), (None, None));
    assert!(statistics.text().unwrap().contains("rocksdb.memtable.hit"));
    assert!(format!("{statistics:?}").contains("All"));
    statistics.set_level(StatisticsLevel::DisableAll);
    db.get("key").unwrap();
    assert_eq!(statistics.ticker("rocksdb.memtable.hit"), Some(1));
    // They live longer than database and options.
    drop((db, counting));
    assert_eq!(statistics.ticker("rocksdb.memtable.hit"), Some(1));
}
