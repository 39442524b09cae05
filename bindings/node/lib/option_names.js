'use strict';

// The options that have a text form, as docs/OPTIONS.md lists them.

const databaseOptions = [
  'create_if_missing',
  'create_missing_column_families',
  'error_if_exists',
  'wal_recovery_mode',
  'lock_wait_micros',
  'page_cache_size',
  'db_write_buffer_size',
  'max_total_wal_size',
  'max_space_amplification',
  'min_space_limit',
  'min_punch_size',
  'allow_mmap_reads',
  'max_open_files',
  'max_background_jobs',
];

const familyOptions = [
  'index_type',
  'page_size',
  'filter_bits_per_key',
  'write_buffer_size',
  'max_write_buffer_number',
  'enable_blob_files',
  'min_blob_size',
  'large_value_size',
  'blob_compression_type',
  'blob_file_size',
  'value_clustering',
  'enable_blob_garbage_collection',
  'blob_garbage_collection_age_cutoff',
  'blob_garbage_collection_force_threshold',
  'sweep_ratio',
  'compaction_style',
  'level0_file_num_compaction_trigger',
  'level0_slowdown_writes_trigger',
  'level0_stop_writes_trigger',
  'target_file_size_base',
  'target_file_size_multiplier',
  'max_bytes_for_level_base',
  'max_bytes_for_level_multiplier',
  'num_levels',
  'compression',
];

// Shorter names of enumerators. The library's own names are accepted too.
const compressions = { none: 'kNoCompression', lz4: 'kLZ4Compression', zstd: 'kZSTD' };
const enumerators = {
  index_type: { btree: 'kBTree', lsm: 'kLsm' },
  compression: compressions,
  blob_compression_type: compressions,
  compaction_style: { level: 'kCompactionStyleLevel', lazyLevel: 'kCompactionStyleLazyLevel' },
  wal_recovery_mode: {
    tolerateCorruptedTailRecords: 'kTolerateCorruptedTailRecords',
    absoluteConsistency: 'kAbsoluteConsistency',
    pointInTime: 'kPointInTimeRecovery',
  },
};

module.exports = { databaseOptions, enumerators, familyOptions };
