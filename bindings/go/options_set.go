package cambium

import "strconv"

func (o *Options) setInt(name string, value int64) *Options {
	return o.Set(name, strconv.FormatInt(value, 10))
}

func (o *Options) setUint(name string, value uint64) *Options {
	return o.Set(name, strconv.FormatUint(value, 10))
}

func (o *Options) setFloat(name string, value float64) *Options {
	return o.Set(name, strconv.FormatFloat(value, 'g', -1, 64))
}

func (o *Options) setBool(name string, value bool) *Options {
	return o.Set(name, strconv.FormatBool(value))
}

// IndexType is the index of a column family.
type IndexType string

// The indexes.
const (
	BTree IndexType = "kBTree"
	LSM   IndexType = "kLsm"
)

// Compression is a codec.
type Compression string

// The codecs.
const (
	NoCompression   Compression = "kNoCompression"
	LZ4Compression  Compression = "kLZ4Compression"
	ZSTDCompression Compression = "kZSTD"
)

// RecoveryMode says what Open does where the log stops validating.
type RecoveryMode string

// The recovery modes.
const (
	TolerateCorruptedTailRecords RecoveryMode = "kTolerateCorruptedTailRecords"
	AbsoluteConsistency          RecoveryMode = "kAbsoluteConsistency"
	PointInTimeRecovery          RecoveryMode = "kPointInTimeRecovery"
)

// ValueClustering says whether values are brought into the order of their keys in the background.
type ValueClustering string

// The ways to cluster values.
const (
	ClusteringOff  ValueClustering = "off"
	ClusteringAuto ValueClustering = "auto"
	ClusteringFull ValueClustering = "full"
)

// CompactionStyle is how an LSM is compacted.
type CompactionStyle string

// The compaction styles.
const (
	LevelCompaction     CompactionStyle = "kCompactionStyleLevel"
	LazyLevelCompaction CompactionStyle = "kCompactionStyleLazyLevel"
)

// Each of the following functions sets the option of that name in docs/OPTIONS.md.

// SetCreateIfMissing sets create_if_missing: Open creates the database if it does not exist.
func (o *Options) SetCreateIfMissing(value bool) *Options {
	return o.setBool("create_if_missing", value)
}

// SetCreateMissingColumnFamilies sets create_missing_column_families.
func (o *Options) SetCreateMissingColumnFamilies(value bool) *Options {
	return o.setBool("create_missing_column_families", value)
}

// SetErrorIfExists sets error_if_exists.
func (o *Options) SetErrorIfExists(value bool) *Options { return o.setBool("error_if_exists", value) }

// SetRecoveryMode sets wal_recovery_mode.
func (o *Options) SetRecoveryMode(mode RecoveryMode) *Options {
	return o.Set("wal_recovery_mode", string(mode))
}

// SetPageCacheSize sets page_cache_size in bytes.
func (o *Options) SetPageCacheSize(bytes uint64) *Options { return o.setUint("page_cache_size", bytes) }

// SetDBWriteBufferSize sets db_write_buffer_size in bytes.
func (o *Options) SetDBWriteBufferSize(bytes uint64) *Options {
	return o.setUint("db_write_buffer_size", bytes)
}

// SetMaxTotalWALSize sets max_total_wal_size in bytes.
func (o *Options) SetMaxTotalWALSize(bytes uint64) *Options {
	return o.setUint("max_total_wal_size", bytes)
}

// SetMaxSpaceAmplification sets max_space_amplification, the ceiling on disk space.
func (o *Options) SetMaxSpaceAmplification(factor float64) *Options {
	return o.setFloat("max_space_amplification", factor)
}

// SetMinSpaceLimit sets min_space_limit in bytes.
func (o *Options) SetMinSpaceLimit(bytes uint64) *Options { return o.setUint("min_space_limit", bytes) }

// SetMinPunchSize sets min_punch_size in bytes.
func (o *Options) SetMinPunchSize(bytes uint64) *Options { return o.setUint("min_punch_size", bytes) }

// SetAllowMmapReads sets allow_mmap_reads.
func (o *Options) SetAllowMmapReads(value bool) *Options { return o.setBool("allow_mmap_reads", value) }

// SetMaxOpenFiles sets max_open_files.
func (o *Options) SetMaxOpenFiles(count int) *Options {
	return o.setInt("max_open_files", int64(count))
}

// SetMaxBackgroundJobs sets max_background_jobs.
func (o *Options) SetMaxBackgroundJobs(count int) *Options {
	return o.setInt("max_background_jobs", int64(count))
}

// SetIndexType sets index_type.
func (o *Options) SetIndexType(index IndexType) *Options { return o.Set("index_type", string(index)) }

// SetPageSize sets page_size in bytes.
func (o *Options) SetPageSize(bytes uint64) *Options { return o.setUint("page_size", bytes) }

// SetFilterBitsPerKey sets filter_bits_per_key.
func (o *Options) SetFilterBitsPerKey(bits int) *Options {
	return o.setInt("filter_bits_per_key", int64(bits))
}

// SetWriteBufferSize sets write_buffer_size in bytes.
func (o *Options) SetWriteBufferSize(bytes uint64) *Options {
	return o.setUint("write_buffer_size", bytes)
}

// SetMaxWriteBufferNumber sets max_write_buffer_number.
func (o *Options) SetMaxWriteBufferNumber(count int) *Options {
	return o.setInt("max_write_buffer_number", int64(count))
}

// SetEnableBlobFiles sets enable_blob_files.
func (o *Options) SetEnableBlobFiles(value bool) *Options {
	return o.setBool("enable_blob_files", value)
}

// SetMinBlobSize sets min_blob_size in bytes.
func (o *Options) SetMinBlobSize(bytes uint64) *Options { return o.setUint("min_blob_size", bytes) }

// SetLargeValueSize sets large_value_size in bytes.
func (o *Options) SetLargeValueSize(bytes uint64) *Options {
	return o.setUint("large_value_size", bytes)
}

// SetBlobCompression sets blob_compression_type.
func (o *Options) SetBlobCompression(codec Compression) *Options {
	return o.Set("blob_compression_type", string(codec))
}

// SetBlobFileSize sets blob_file_size in bytes.
func (o *Options) SetBlobFileSize(bytes uint64) *Options { return o.setUint("blob_file_size", bytes) }

// SetValueClustering sets value_clustering.
func (o *Options) SetValueClustering(clustering ValueClustering) *Options {
	return o.Set("value_clustering", string(clustering))
}

// SetEnableBlobGC sets enable_blob_garbage_collection.
func (o *Options) SetEnableBlobGC(value bool) *Options {
	return o.setBool("enable_blob_garbage_collection", value)
}

// SetBlobGCAgeCutoff sets blob_garbage_collection_age_cutoff.
func (o *Options) SetBlobGCAgeCutoff(cutoff float64) *Options {
	return o.setFloat("blob_garbage_collection_age_cutoff", cutoff)
}

// SetBlobGCForceThreshold sets blob_garbage_collection_force_threshold.
func (o *Options) SetBlobGCForceThreshold(threshold float64) *Options {
	return o.setFloat("blob_garbage_collection_force_threshold", threshold)
}

// SetSweepRatio sets sweep_ratio.
func (o *Options) SetSweepRatio(ratio int) *Options { return o.setInt("sweep_ratio", int64(ratio)) }

// SetCompactionStyle sets compaction_style.
func (o *Options) SetCompactionStyle(style CompactionStyle) *Options {
	return o.Set("compaction_style", string(style))
}

// SetLevel0FileNumCompactionTrigger sets level0_file_num_compaction_trigger.
func (o *Options) SetLevel0FileNumCompactionTrigger(count int) *Options {
	return o.setInt("level0_file_num_compaction_trigger", int64(count))
}

// SetLevel0SlowdownWritesTrigger sets level0_slowdown_writes_trigger.
func (o *Options) SetLevel0SlowdownWritesTrigger(count int) *Options {
	return o.setInt("level0_slowdown_writes_trigger", int64(count))
}

// SetLevel0StopWritesTrigger sets level0_stop_writes_trigger.
func (o *Options) SetLevel0StopWritesTrigger(count int) *Options {
	return o.setInt("level0_stop_writes_trigger", int64(count))
}

// SetTargetFileSizeBase sets target_file_size_base in bytes.
func (o *Options) SetTargetFileSizeBase(bytes uint64) *Options {
	return o.setUint("target_file_size_base", bytes)
}

// SetTargetFileSizeMultiplier sets target_file_size_multiplier.
func (o *Options) SetTargetFileSizeMultiplier(factor int) *Options {
	return o.setInt("target_file_size_multiplier", int64(factor))
}

// SetMaxBytesForLevelBase sets max_bytes_for_level_base in bytes.
func (o *Options) SetMaxBytesForLevelBase(bytes uint64) *Options {
	return o.setUint("max_bytes_for_level_base", bytes)
}

// SetMaxBytesForLevelMultiplier sets max_bytes_for_level_multiplier.
func (o *Options) SetMaxBytesForLevelMultiplier(factor float64) *Options {
	return o.setFloat("max_bytes_for_level_multiplier", factor)
}

// SetNumLevels sets num_levels.
func (o *Options) SetNumLevels(count int) *Options { return o.setInt("num_levels", int64(count)) }

// SetCompression sets compression.
func (o *Options) SetCompression(codec Compression) *Options {
	return o.Set("compression", string(codec))
}
