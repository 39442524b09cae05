#include <gtest/gtest.h>

#include "options/options_check.h"
#include "testing/test_store.h"

namespace cambium::testing {
namespace {

struct Case {
  const char* name;    // of the option, or more text that the message must contain
  const char* range;   // the valid range, as in the message
  void (*set)(Options*);
  Status::Code code = Status::Code::kInvalidArgument;
};

const Case kIllegal[] = {
    {"page_size", "512 to 16384", [](Options* o) { o->page_size = 256; }},
    {"page_size", "512 to 16384", [](Options* o) { o->page_size = 32768; }},
    {"page_size", "power of two", [](Options* o) { o->page_size = 5000; }},
    {"page_cache_size", "65536 to", [](Options* o) { o->page_cache_size = 65535; }},
    {"filter_bits_per_key", "0 to 64", [](Options* o) { o->filter_bits_per_key = -1; }},
    {"filter_bits_per_key", "0 to 64", [](Options* o) { o->filter_bits_per_key = 65; }},
    {"sweep_ratio", "1 to 1000", [](Options* o) { o->sweep_ratio = 0; }},
    {"sweep_ratio", "1 to 1000", [](Options* o) { o->sweep_ratio = 1001; }},
    {"write_buffer_size", "4096 to 17179869184", [](Options* o) { o->write_buffer_size = 4095; }},
    {"write_buffer_size", "4096 to 17179869184", [](Options* o) { o->write_buffer_size = (16ull << 30) + 1; }},
    {"max_write_buffer_number", "2 to 64", [](Options* o) { o->max_write_buffer_number = 1; }},
    {"max_write_buffer_number", "2 to 64", [](Options* o) { o->max_write_buffer_number = 65; }},
    {"db_write_buffer_size", "0, or 65536 to", [](Options* o) { o->db_write_buffer_size = 65535; }},
    {"db_write_buffer_size", "0, or 65536 to", [](Options* o) { o->db_write_buffer_size = (1ull << 50) + 1; }},
    {"max_total_wal_size", "4096 to 1099511627776", [](Options* o) { o->max_total_wal_size = 4095; }},
    {"max_total_wal_size", "4096 to 1099511627776", [](Options* o) { o->max_total_wal_size = (1ull << 40) + 1; }},
    {"max_open_files", "-1 to 1073741824", [](Options* o) { o->max_open_files = -2; }},
    {"max_background_jobs", "1 to 64", [](Options* o) { o->max_background_jobs = 0; }},
    {"max_background_jobs", "1 to 64", [](Options* o) { o->max_background_jobs = 65; }},
    {"blob_file_size", "16384 to 1073741824", [](Options* o) { o->blob_file_size = 16383; }},
    {"blob_file_size", "16384 to 1073741824", [](Options* o) { o->blob_file_size = (1ull << 30) + 1; }},
    {"large_value_size", "4096 to 67108864", [](Options* o) { o->large_value_size = 4095; }},
    {"large_value_size", "4096 to 67108864", [](Options* o) { o->large_value_size = (64ull << 20) + 1; }},
    {"lock_wait_micros", "0 to 3600000000", [](Options* o) { o->lock_wait_micros = ~std::uint64_t{0}; }},
    {"comparator", "null", [](Options* o) { o->comparator = nullptr; }},
    {"index_type", "is 9; IndexKind has kBTree and kLsm",
     [](Options* o) { o->index_type = static_cast<IndexKind>(9); }},
    {"wal_recovery_mode", "kSkipAnyCorruptedRecords",
     [](Options* o) { o->wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords; },
     Status::Code::kNotSupported},
    {"wal_recovery_mode", "is 9; WALRecoveryMode has kTolerateCorruptedTailRecords",
     [](Options* o) { o->wal_recovery_mode = static_cast<WALRecoveryMode>(9); }},
    {"value_clustering is 3;", "ValueClustering has kOff, kAuto and kFull",
     [](Options* o) { o->value_clustering = static_cast<ValueClustering>(3); }},
    {"compaction_style is 1;", "kCompactionStyleLazyLevel",
     [](Options* o) { o->compaction_style = static_cast<CompactionStyle>(1); }, Status::Code::kNotSupported},
    {"level0_file_num_compaction_trigger", "1 to 1000", [](Options* o) { o->level0_file_num_compaction_trigger = 0; }},
    {"level0_slowdown_writes_trigger", "to 10000", [](Options* o) { o->level0_slowdown_writes_trigger = 1; }},
    {"level0_stop_writes_trigger", "to 10000", [](Options* o) { o->level0_stop_writes_trigger = 1; }},
    {"target_file_size_base", "16384 to", [](Options* o) { o->target_file_size_base = 1; }},
    {"target_file_size_multiplier", "1 to 100", [](Options* o) { o->target_file_size_multiplier = 0; }},
    {"max_bytes_for_level_base", "16384 to", [](Options* o) { o->max_bytes_for_level_base = 1; }},
    {"max_bytes_for_level_multiplier", "1.0", [](Options* o) { o->max_bytes_for_level_multiplier = 0.5; }},
    {"num_levels", "2 to 63", [](Options* o) { o->num_levels = 1; }},
    {"num_levels", "2 to 63", [](Options* o) { o->num_levels = 64; }},
    {"compression is kZlibCompression;", "kZSTD",
     [](Options* o) { o->compression = CompressionType::kZlibCompression; }, Status::Code::kNotSupported},
    {"blob_compression_type is kSnappyCompression;", "kZSTD",
     [](Options* o) { o->blob_compression_type = CompressionType::kSnappyCompression; }, Status::Code::kNotSupported},
    {"blob_compression_type is 99;", "kZSTD",
     [](Options* o) { o->blob_compression_type = static_cast<CompressionType>(99); }, Status::Code::kNotSupported},
};

TEST(OptionsTest, OutOfRangeOptionIsRejectedWithNameAndRange) {
  for (const Case& c : kIllegal) {
    TestStore store;
    c.set(&store.options);
    const Status s = store.Open();
    EXPECT_EQ(s.code(), c.code) << c.name << ": " << s.ToString();
    EXPECT_NE(s.ToString().find(c.name), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find(c.range), std::string::npos) << s.ToString();
    EXPECT_EQ(store.db, nullptr);
    EXPECT_TRUE(store.Files().empty()) << "nothing is made before options are checked";
    VerifyReport report;
    EXPECT_EQ(VerifyDB(kStorePath, store.options, {}, &report).code(), c.code);
  }
}

TEST(OptionsTest, EndsOfEachRangeAreValid) {
  void (*const legal[])(Options*) = {
      [](Options* o) { o->page_size = 512; },
      [](Options* o) { o->page_size = 16384; },
      [](Options* o) { o->page_cache_size = 64 << 10; },
      [](Options* o) { o->filter_bits_per_key = 0; },
      [](Options* o) { o->filter_bits_per_key = 64; },
      [](Options* o) { o->sweep_ratio = 1; },
      [](Options* o) { o->sweep_ratio = 1000; },
      [](Options* o) { o->write_buffer_size = 4096; },
      [](Options* o) { o->write_buffer_size = 16ull << 30; },
      [](Options* o) { o->max_write_buffer_number = 2; },
      [](Options* o) { o->max_write_buffer_number = 64; },
      [](Options* o) { o->db_write_buffer_size = 65536; },
      [](Options* o) { o->db_write_buffer_size = 1ull << 50; },
      [](Options* o) { o->max_total_wal_size = 4096; },
      [](Options* o) { o->max_total_wal_size = 1ull << 40; },
      [](Options* o) { o->blob_file_size = 16 << 10; },
      [](Options* o) { o->blob_file_size = 1 << 30; },
      [](Options* o) { o->large_value_size = 4096; },
      [](Options* o) { o->large_value_size = 64 << 20; },
      [](Options* o) { o->min_blob_size = 0; },
      [](Options* o) { o->min_blob_size = ~std::uint64_t{0}; },
      [](Options* o) { o->enable_blob_files = false; },
      [](Options* o) { o->blob_compression_type = CompressionType::kLZ4Compression; },
      [](Options* o) { o->blob_compression_type = CompressionType::kZSTD; },
      [](Options* o) { o->level0_file_num_compaction_trigger = 1; },
      [](Options* o) {
        o->level0_file_num_compaction_trigger = 1000;
        o->level0_slowdown_writes_trigger = o->level0_stop_writes_trigger = 1000;
      },
      [](Options* o) { o->level0_slowdown_writes_trigger = o->level0_file_num_compaction_trigger; },
      [](Options* o) { o->level0_stop_writes_trigger = o->level0_slowdown_writes_trigger; },
      [](Options* o) { o->level0_slowdown_writes_trigger = o->level0_stop_writes_trigger = 10000; },
      [](Options* o) { o->target_file_size_base = 16 << 10; },
      [](Options* o) { o->target_file_size_base = 1ull << 40; },
      [](Options* o) { o->target_file_size_multiplier = 100; },
      [](Options* o) { o->max_bytes_for_level_base = 16 << 10; },
      [](Options* o) { o->max_bytes_for_level_base = 1ull << 50; },
      [](Options* o) { o->max_bytes_for_level_multiplier = 1; },
      [](Options* o) { o->max_bytes_for_level_multiplier = 1000; },
      [](Options* o) { o->num_levels = 2; },
      [](Options* o) { o->num_levels = 63; },
      [](Options* o) { o->compaction_style = kCompactionStyleLazyLevel; },
  };
  for (const auto set : legal) {
    TestStore store;
    set(&store.options);
    store.MustOpen();
    for (const std::size_t size : {0u, 1u, 100u, 5000u, 9000u}) store.Put(std::to_string(size), std::string(size, 'v'));
    store.Flush();
    store.Reopen();
    for (const std::size_t size : {0u, 1u, 100u, 5000u, 9000u}) {
      EXPECT_EQ(store.Get(std::to_string(size)), std::string(size, 'v'));
    }
    EXPECT_EQ(store.Verify(), "");
  }
}

// In the forms that RocksDB's users write, and that docs/OPTIONS.md names.
TEST(OptionsTest, EnumeratorsAreParsedWithAndWithoutTheirType) {
  TestStore store;
  cambium::Options& options = store.options;
  options.index_type = cambium::kLsm;
  options.compression = cambium::kZSTD;
  options.blob_compression_type = cambium::kLZ4Compression;
  options.compaction_style = cambium::kCompactionStyleLazyLevel;
  options.wal_recovery_mode = cambium::kAbsoluteConsistency;
  store.MustOpen();
  const Options now = store.db->GetOptions();
  EXPECT_EQ(now.index_type, IndexKind::kLsm);
  EXPECT_EQ(now.compression, CompressionType::kZSTD);
  EXPECT_EQ(now.blob_compression_type, CompressionType::kLZ4Compression);
  EXPECT_EQ(now.compaction_style, CompactionStyle::kCompactionStyleLazyLevel);
  EXPECT_EQ(now.wal_recovery_mode, WALRecoveryMode::kAbsoluteConsistency);
}

TEST(OptionsTest, GetOptionsReturnsTheOptionsInForce) {
  TestStore store;
  store.options.max_total_wal_size = 0;
  store.options.page_size = 1024;
  store.MustOpen();
  EXPECT_EQ(store.db->GetOptions().max_total_wal_size, 1u << 30);
  store.MustClose();
  store.options.page_size = 4096;  // the stored page size stays in force
  store.MustOpen();
  EXPECT_EQ(store.db->GetOptions().page_size, 1024u);
}

TEST(OptionsTest, ValuesAreSeparatedFromMinBlobSizeUnlessTooLargeForAPage) {
  Options options;
  options.min_blob_size = 100;
  EXPECT_EQ(SeparateFrom(options, 4096), 100u);
  options.min_blob_size = 5000;
  EXPECT_EQ(SeparateFrom(options, 4096), 1025u);
  options.min_blob_size = 0;
  EXPECT_EQ(SeparateFrom(options, 4096), 1u);
  options.enable_blob_files = false;
  EXPECT_EQ(SeparateFrom(options, 4096), 1025u);
  // The table of page sizes in docs/OPTIONS.md.
  for (const std::uint64_t page_size : {512u, 1024u, 2048u, 4096u, 8192u, 16384u}) {
    EXPECT_EQ(SeparateFrom(options, page_size), page_size / 4 + 1);
  }
}

TEST(OptionsTest, NullServicesAreReplacedByDefaults) {
  const DBOptions filled = FillInDefaults(Options());
  EXPECT_NE(filled.file_system, nullptr);
  EXPECT_NE(filled.clock, nullptr);
  EXPECT_NE(filled.random_source, nullptr);
}

// Values written under one threshold can be read under another.
TEST(OptionsTest, MinBlobSizeMayChangeBetweenOpens) {
  TestStore store;
  const auto value = [](int i) { return std::string(static_cast<std::size_t>(i) * 13 % 140, 'a' + i % 26); };
  int next = 0;
  for (const std::uint64_t threshold : {64u, 0u, 1000u, 16u, 100u}) {
    store.options.min_blob_size = threshold;
    store.MustOpen();
    for (int i = 0; i < 50; ++i, ++next) store.Put("k" + std::to_string(next), value(next));
    if (threshold != 1000) store.Flush();  // otherwise the log is replayed under the next threshold
    for (int i = 0; i < next; ++i) ASSERT_EQ(store.Get("k" + std::to_string(i)), value(i));
    store.MustClose();
    ASSERT_EQ(store.Verify(), "");
  }
}

}  // namespace
}  // namespace cambium::testing
