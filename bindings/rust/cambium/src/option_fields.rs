//! A typed setter and a getter for each option that is a number, a truth value or an enumeration.

use cambium_sys as ffi;

use crate::enums::{CompactionStyle, Compression, IndexType, ValueClustering, WalRecoveryMode};
use crate::options::Options;

/// Defines the setter and the getter of each option: their names, the C functions in parentheses, and what the option is:
/// a `truth` value, a `number` of a type, or a `choice` of an enumeration.
macro_rules! fields {
    ($($(#[$doc:meta])* $set:ident $get:ident ($c_set:ident, $c_get:ident) $kind:ident $($type:ty)?;)*) => {
        impl Options {
            $(
                $(#[$doc])*
                pub fn $set(&mut self, value: fields!(@type $kind $($type)?)) -> &mut Self {
                    // SAFETY: the options are valid, and borrowed exclusively.
                    unsafe { ffi::$c_set(self.as_mut_ptr(), fields!(@to value $kind)) };
                    self
                }
                $(#[$doc])*
                #[must_use]
                pub fn $get(&self) -> fields!(@type $kind $($type)?) {
                    // SAFETY: the options are valid.
                    let number = unsafe { ffi::$c_get(self.as_ptr()) };
                    fields!(@from number $kind $($type)?)
                }
            )*
        }
    };
    (@type truth) => { bool };
    (@type number $type:ty) => { $type };
    (@type choice $type:ty) => { $type };
    (@to $value:ident truth) => { $value.into() };
    (@to $value:ident number) => { $value };
    (@to $value:ident choice) => { $value.to_raw() };
    (@from $number:ident truth) => { $number != 0 };
    (@from $number:ident number $type:ty) => { $number };
    (@from $number:ident choice $type:ty) => { <$type>::from_raw($number) };
}

fields! {
    /// Create the database if it does not exist. Its parent directory must exist.
    set_create_if_missing create_if_missing (cambium_options_set_create_if_missing, cambium_options_get_create_if_missing) truth;
    /// Create the column families that are named when the database is opened and do not exist.
    set_create_missing_column_families create_missing_column_families (cambium_options_set_create_missing_column_families, cambium_options_get_create_missing_column_families) truth;
    /// Fail if the database exists.
    set_error_if_exists error_if_exists (cambium_options_set_error_if_exists, cambium_options_get_error_if_exists) truth;
    /// What to do about damage at the end of the log.
    set_wal_recovery_mode wal_recovery_mode (cambium_options_set_wal_recovery_mode, cambium_options_get_wal_recovery_mode) choice WalRecoveryMode;
    /// How long opening waits for another holder of the lock, in microseconds.
    set_lock_wait_micros lock_wait_micros (cambium_options_set_lock_wait_micros, cambium_options_get_lock_wait_micros) number u64;
    /// Bytes of index pages that are kept in memory, for all column families.
    set_page_cache_size page_cache_size (cambium_options_set_page_cache_size, cambium_options_get_page_cache_size) number usize;
    /// Bytes of memory that memtables and filters may take; 0: no limit.
    set_db_write_buffer_size db_write_buffer_size (cambium_options_set_db_write_buffer_size, cambium_options_get_db_write_buffer_size) number usize;
    /// Bytes of log that recovery may have to read; 0: 1 GiB.
    set_max_total_wal_size max_total_wal_size (cambium_options_set_max_total_wal_size, cambium_options_get_max_total_wal_size) number u64;
    /// The ceiling on disk space, as a multiple of the live bytes; 0: no ceiling.
    set_max_space_amplification max_space_amplification (cambium_options_set_max_space_amplification, cambium_options_get_max_space_amplification) number f64;
    /// Bytes that a database that is being written to may always take.
    set_min_space_limit min_space_limit (cambium_options_set_min_space_limit, cambium_options_get_min_space_limit) number u64;
    /// Values with records of at least this size are punched out of their segment, not moved; 0: never.
    set_min_punch_size min_punch_size (cambium_options_set_min_punch_size, cambium_options_get_min_punch_size) number u64;
    /// Copy values out of mappings of files, where that is safe. Installs a SIGBUS handler.
    set_allow_mmap_reads allow_mmap_reads (cambium_options_set_allow_mmap_reads, cambium_options_get_allow_mmap_reads) truth;
    /// How many files stay open; 0: three quarters of the descriptors of the process; -1: no limit.
    set_max_open_files max_open_files (cambium_options_set_max_open_files, cambium_options_get_max_open_files) number i32;
    /// How many sweeps, compactions and steps of log GC run at once.
    set_max_background_jobs max_background_jobs (cambium_options_set_max_background_jobs, cambium_options_get_max_background_jobs) number i32;
    /// The structure that indexes the keys. It is stored with the column family.
    set_index_type index_type (cambium_options_set_index_type, cambium_options_get_index_type) choice IndexType;
    /// Bytes of a unit of an index page. It is stored with the column family.
    set_page_size page_size (cambium_options_set_page_size, cambium_options_get_page_size) number u64;
    /// Bits of a filter for each key; 0: no filter.
    set_filter_bits_per_key filter_bits_per_key (cambium_options_set_filter_bits_per_key, cambium_options_get_filter_bits_per_key) number i32;
    /// Bytes of memory that a memtable may take before it is flushed.
    set_write_buffer_size write_buffer_size (cambium_options_set_write_buffer_size, cambium_options_get_write_buffer_size) number usize;
    /// The number of memtables at which writes wait for a flush.
    set_max_write_buffer_number max_write_buffer_number (cambium_options_set_max_write_buffer_number, cambium_options_get_max_write_buffer_number) number i32;
    /// Keep values in the log. If false, only values that do not fit into an index page are kept there.
    set_enable_blob_files enable_blob_files (cambium_options_set_enable_blob_files, cambium_options_get_enable_blob_files) truth;
    /// Values of at least this size stay in the log; smaller ones are stored with their keys.
    set_min_blob_size min_blob_size (cambium_options_set_min_blob_size, cambium_options_get_min_blob_size) number u64;
    /// Larger values get a file of their own.
    set_large_value_size large_value_size (cambium_options_set_large_value_size, cambium_options_get_large_value_size) number u64;
    /// How values in the log are compressed, each on its own.
    set_blob_compression_type blob_compression_type (cambium_options_set_blob_compression_type, cambium_options_get_blob_compression_type) choice Compression;
    /// The size of a segment of the log. The same in all column families.
    set_blob_file_size blob_file_size (cambium_options_set_blob_file_size, cambium_options_get_blob_file_size) number u64;
    /// Which values are brought into the order of their keys in the background.
    set_value_clustering value_clustering (cambium_options_set_value_clustering, cambium_options_get_value_clustering) choice ValueClustering;
    /// Collect garbage in the log. The default family's value holds for all.
    set_enable_blob_garbage_collection enable_blob_garbage_collection (cambium_options_set_enable_blob_gc, cambium_options_get_enable_blob_gc) truth;
    /// The part of the segments, the oldest ones, that log GC may collect.
    set_blob_garbage_collection_age_cutoff blob_garbage_collection_age_cutoff (cambium_options_set_blob_gc_age_cutoff, cambium_options_get_blob_gc_age_cutoff) number f64;
    /// The part of garbage in these segments from which on all of them are collected; 1: never.
    set_blob_garbage_collection_force_threshold blob_garbage_collection_force_threshold (cambium_options_set_blob_gc_force_threshold, cambium_options_get_blob_gc_force_threshold) number f64;
    /// Runs are swept into a tree if they hold more than 1/`sweep_ratio` of its keys.
    set_sweep_ratio sweep_ratio (cambium_options_set_sweep_ratio, cambium_options_get_sweep_ratio) number i32;
    /// How the runs of an LSM are arranged.
    set_compaction_style compaction_style (cambium_options_set_compaction_style, cambium_options_get_compaction_style) choice CompactionStyle;
    /// Runs in level 0 of an LSM that start a compaction.
    set_level0_file_num_compaction_trigger level0_file_num_compaction_trigger (cambium_options_set_level0_file_num_compaction_trigger, cambium_options_get_level0_file_num_compaction_trigger) number i32;
    /// Waiting runs from which on each write is slowed down.
    set_level0_slowdown_writes_trigger level0_slowdown_writes_trigger (cambium_options_set_level0_slowdown_writes_trigger, cambium_options_get_level0_slowdown_writes_trigger) number i32;
    /// Waiting runs from which on writes wait for a compaction.
    set_level0_stop_writes_trigger level0_stop_writes_trigger (cambium_options_set_level0_stop_writes_trigger, cambium_options_get_level0_stop_writes_trigger) number i32;
    /// Bytes of an index file in level 1 of an LSM.
    set_target_file_size_base target_file_size_base (cambium_options_set_target_file_size_base, cambium_options_get_target_file_size_base) number u64;
    /// Growth of these files from level to level.
    set_target_file_size_multiplier target_file_size_multiplier (cambium_options_set_target_file_size_multiplier, cambium_options_get_target_file_size_multiplier) number i32;
    /// Bytes of index files in level 1 of an LSM.
    set_max_bytes_for_level_base max_bytes_for_level_base (cambium_options_set_max_bytes_for_level_base, cambium_options_get_max_bytes_for_level_base) number u64;
    /// Growth of levels.
    set_max_bytes_for_level_multiplier max_bytes_for_level_multiplier (cambium_options_set_max_bytes_for_level_multiplier, cambium_options_get_max_bytes_for_level_multiplier) number f64;
    /// Levels of an LSM, level 0 included.
    set_num_levels num_levels (cambium_options_set_num_levels, cambium_options_get_num_levels) number i32;
    /// How pages of the index that hold keys and small values are compressed.
    set_compression compression (cambium_options_set_compression, cambium_options_get_compression) choice Compression;
}
