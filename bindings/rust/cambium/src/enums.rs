//! Enumerations of the library. Each also holds numbers that this crate does not know, so that no number is lost.

use std::ffi::c_int;

use cambium_sys as ffi;

macro_rules! number_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $number:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A number that this crate does not know. A call that uses it as an option fails.
            Other(i32),
        }

        impl $name {
            #[allow(dead_code, reason = "some enumerations are only read")]
            pub(crate) fn to_raw(self) -> c_int {
                match self {
                    $(Self::$variant => $number as c_int,)*
                    Self::Other(number) => number,
                }
            }

            pub(crate) fn from_raw(number: c_int) -> Self {
                $(if number == $number as c_int {
                    return Self::$variant;
                })*
                Self::Other(number)
            }
        }

        #[cfg(test)]
        impl Numbers for $name {
            fn check() -> usize {
                let known = [$(Self::$variant),*];
                for each in known {
                    assert_eq!(Self::from_raw(each.to_raw()), each);
                }
                assert_eq!(Self::from_raw(-7), Self::Other(-7));
                assert_eq!(Self::Other(-7).to_raw(), -7);
                known.len()
            }
        }
    };
}

number_enum! {
    /// The structure that indexes the keys of a column family. It is stored with the family.
    IndexType {
        /// Sorted runs that are swept into a copy-on-write B+-tree. The default.
        BTree = ffi::cambium_btree_index,
        /// Sorted runs that are compacted into levels.
        Lsm = ffi::cambium_lsm_index,
    }
}

number_enum! {
    /// How values, or pages of an index, are compressed.
    Compression {
        /// Not at all. The default.
        None = ffi::cambium_no_compression,
        /// LZ4.
        Lz4 = ffi::cambium_lz4_compression,
        /// Zstandard.
        Zstd = ffi::cambium_zstd_compression,
    }
}

number_enum! {
    /// Which values are rewritten in the order of their keys.
    ValueClustering {
        /// None. The default.
        Off = ffi::cambium_value_clustering_off,
        /// Those that scans had to read one by one.
        Auto = ffi::cambium_value_clustering_auto,
        /// All, again and again.
        Full = ffi::cambium_value_clustering_full,
    }
}

number_enum! {
    /// How the runs of an LSM are arranged.
    CompactionStyle {
        /// One sorted run in each level. The default.
        Level = ffi::cambium_level_compaction,
        /// Several sorted runs in each level but the last.
        LazyLevel = ffi::cambium_lazy_level_compaction,
    }
}

number_enum! {
    /// What opening a database does about damage at the end of the log.
    WalRecoveryMode {
        /// Cuts a damaged tail off, unless it is proven durable. The default.
        TolerateCorruptedTailRecords = ffi::cambium_tolerate_corrupted_tail_records_recovery,
        /// Even a torn tail is an error.
        AbsoluteConsistency = ffi::cambium_absolute_consistency_recovery,
        /// Opens with the operations before the damage.
        PointInTime = ffi::cambium_point_in_time_recovery,
        /// Not supported: it would make states that never existed.
        SkipAnyCorruptedRecords = ffi::cambium_skip_any_corrupted_records_recovery,
    }
}

number_enum! {
    /// Log GC as a part of a compaction that a caller runs.
    BlobGcPolicy {
        /// All log segments that are old enough are rewritten.
        Force = ffi::cambium_blob_gc_policy_force,
        /// No log GC starts while the call runs.
        Disable = ffi::cambium_blob_gc_policy_disable,
        /// A call for all keys collects segments that are old enough and have much garbage. The default.
        UseDefault = ffi::cambium_blob_gc_policy_use_default,
    }
}

number_enum! {
    /// What statistics count.
    StatisticsLevel {
        /// Nothing.
        DisableAll = 0,
        /// Tickers.
        ExceptHistogramsOrTimers = 1,
        /// Also histograms of bytes.
        ExceptTimers = 2,
        /// Also times. The default.
        ExceptDetailedTimers = 3,
        /// Also the time to compress or decompress each value.
        All = 5,
    }
}

number_enum! {
    /// How important a line of the log of events is.
    LogLevel {
        /// For the authors of the library.
        Debug = ffi::cambium_log_debug,
        /// What the database does.
        Info = ffi::cambium_log_info,
        /// What a user should look at.
        Warn = ffi::cambium_log_warn,
        /// What has failed.
        Error = ffi::cambium_log_error,
    }
}

number_enum! {
    /// Why a memtable was frozen.
    FlushReason {
        /// It was full, or had many range deletes.
        WriteBufferFull = ffi::cambium_flush_reason_write_buffer_full,
        /// The log reached `max_total_wal_size`.
        WalFull = ffi::cambium_flush_reason_wal_full,
        /// A caller asked for it.
        ManualFlush = ffi::cambium_flush_reason_manual_flush,
        /// Space was near `max_space_amplification`.
        Space = ffi::cambium_flush_reason_space,
        /// No write came for some seconds.
        Idle = ffi::cambium_flush_reason_idle,
        /// Opening had to read much log.
        Recovery = ffi::cambium_flush_reason_recovery,
        /// Memory reached `db_write_buffer_size`, or the limit of the write buffer manager.
        WriteBufferManager = ffi::cambium_flush_reason_write_buffer_manager,
    }
}

number_enum! {
    /// Why a compaction, or a step of a sweep, ran.
    CompactionReason {
        /// The runs above a tree had enough entries, or there were too many.
        Sweep = ffi::cambium_compaction_reason_sweep,
        /// An LSM had too many runs, or a level was too large.
        Levels = ffi::cambium_compaction_reason_levels,
        /// A caller asked for it.
        ManualCompaction = ffi::cambium_compaction_reason_manual_compaction,
        /// To free space.
        Space = ffi::cambium_compaction_reason_space,
    }
}

number_enum! {
    /// Why a step of log GC ran.
    LogGcReason {
        /// Old segments had enough garbage.
        Garbage = ffi::cambium_log_gc_reason_garbage,
        /// `blob_garbage_collection_force_threshold` was reached.
        Forced = ffi::cambium_log_gc_reason_forced,
        /// Too many segments were small.
        SmallSegments = ffi::cambium_log_gc_reason_small_segments,
        /// Space was near `max_space_amplification`.
        Space = ffi::cambium_log_gc_reason_space,
        /// A caller asked for it.
        ManualCompaction = ffi::cambium_log_gc_reason_manual_compaction,
        /// Values were brought into the order of their keys.
        Clustering = ffi::cambium_log_gc_reason_clustering,
    }
}

number_enum! {
    /// What an index file was made for.
    TableFileReason {
        /// A flush.
        Flush = ffi::cambium_table_file_reason_flush,
        /// A compaction or a sweep.
        Compaction = ffi::cambium_table_file_reason_compaction,
        /// Log GC.
        LogGc = ffi::cambium_table_file_reason_log_gc,
        /// A flushed memtable that only snapshots hold.
        Snapshot = ffi::cambium_table_file_reason_snapshot,
    }
}

number_enum! {
    /// What a file of values was made for.
    BlobFileReason {
        /// The log.
        Log = ffi::cambium_blob_file_reason_log,
        /// One large value.
        LargeValue = ffi::cambium_blob_file_reason_large_value,
        /// Values that log GC has moved.
        LogGc = ffi::cambium_blob_file_reason_log_gc,
        /// Values that a compaction filter has changed.
        CompactionFilter = ffi::cambium_blob_file_reason_compaction_filter,
    }
}

number_enum! {
    /// Whether writes wait.
    StallCondition {
        /// They do not.
        Normal = ffi::cambium_write_stall_condition_normal,
        /// Each is slowed down.
        Delayed = ffi::cambium_write_stall_condition_delayed,
        /// They wait.
        Stopped = ffi::cambium_write_stall_condition_stopped,
    }
}

number_enum! {
    /// What writes wait for.
    StallCause {
        /// All memtables are full.
        MemtableLimit = ffi::cambium_write_stall_cause_memtable_limit,
        /// There are too many runs.
        L0FileCountLimit = ffi::cambium_write_stall_cause_l0_file_count_limit,
        /// Space: the whole database is affected.
        Space = ffi::cambium_write_stall_cause_space,
        /// Memory of all memtables: the whole database is affected.
        WriteBufferManagerLimit = ffi::cambium_write_stall_cause_write_buffer_manager_limit,
    }
}

number_enum! {
    /// What failed in the background.
    BackgroundErrorReason {
        /// A flush.
        Flush = ffi::cambium_background_error_flush,
        /// A compaction or a sweep.
        Compaction = ffi::cambium_background_error_compaction,
        /// Log GC.
        LogGc = ffi::cambium_background_error_log_gc,
        /// Sealing, creating or removing files.
        Files = ffi::cambium_background_error_files,
        /// A commit.
        ManifestWrite = ffi::cambium_background_error_manifest_write,
        /// A sync of a caller, or a change of families or options.
        Write = ffi::cambium_background_error_write,
    }
}

#[cfg(test)]
trait Numbers {
    /// Checks that all variants survive the way to a number and back. Returns how many there are.
    fn check() -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_both_ways() {
        let counts = [
            IndexType::check(),
            Compression::check(),
            ValueClustering::check(),
            CompactionStyle::check(),
            WalRecoveryMode::check(),
            BlobGcPolicy::check(),
            StatisticsLevel::check(),
            LogLevel::check(),
            FlushReason::check(),
            CompactionReason::check(),
            LogGcReason::check(),
            TableFileReason::check(),
            BlobFileReason::check(),
            StallCondition::check(),
            StallCause::check(),
            BackgroundErrorReason::check(),
        ];
        assert_eq!(counts, [2, 3, 3, 2, 4, 3, 5, 4, 7, 4, 6, 4, 4, 3, 4, 6]);
    }
}
