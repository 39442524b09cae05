// Options: those of both stores, hints, and those whose meaning would be lost.
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb_names/open_names.h"

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::NewBlockBasedTableFactory;
using ROCKSDB_NAMESPACE::NewLRUCache;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;

namespace rocksdb_names_test::names_options_test {

class NamesOptionsTest : public NamesTest {
 protected:
  uint64_t Number(const std::string& property) {
    uint64_t number = 0;
    EXPECT_TRUE(db_->GetIntProperty(property, &number)) << property;
    return number;
  }
  std::string Told() const {
    const std::string log = Log();
    const std::string mark = "no effect here:";
    const std::size_t from = log.find(mark);
    if (from == std::string::npos) return "";
    EXPECT_EQ(log.find(mark, from + 1), std::string::npos);
    return log.substr(from + mark.size(), log.find('\n', from) - from - mark.size());
  }
};

TEST_F(NamesOptionsTest, ChangedHintsAreLoggedOnce) {
  Open();
  EXPECT_EQ(Told(), "");
  db_.reset();
  options_.use_fsync = true;
  options_.bytes_per_sync = 0;  // the default
  options_.bloom_locality = 1;
  options_.prefix_extractor.reset(ROCKSDB_NAMESPACE::NewFixedPrefixTransform(4));
  options_.compression = ROCKSDB_NAMESPACE::kSnappyCompression;
  BlockBasedTableOptions table;
  table.block_size = 16 << 10;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  EXPECT_EQ(Told(),
            " block_size; bloom_locality; compression other than LZ4 and ZSTD (the nearest of these is used);"
            " prefix_extractor; use_fsync");
  EXPECT_EQ(db_->GetOptions().compression, ROCKSDB_NAMESPACE::kLZ4Compression);
}

TEST_F(NamesOptionsTest, SharedOptionsKeepTheirMeaning) {
  options_.write_buffer_size = 1;  // below the least
  options_.max_write_buffer_number = 100;
  options_.max_background_jobs = 3;
  options_.min_blob_size = 100;
  options_.compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleUniversal;
  options_.index_type = ROCKSDB_NAMESPACE::kLsm;  // Cambium's own
  Open();
  const cambium::Options in_force = db_->OnCambium()->GetOptions();
  EXPECT_EQ(in_force.write_buffer_size, 4096u);
  EXPECT_EQ(in_force.max_write_buffer_number, 64);
  EXPECT_EQ(in_force.max_background_jobs, 3);
  EXPECT_EQ(in_force.min_blob_size, 100u);
  EXPECT_EQ(in_force.compaction_style, cambium::kCompactionStyleLazyLevel);
  EXPECT_EQ(in_force.index_type, cambium::kLsm);
  EXPECT_EQ(db_->GetOptions().max_write_buffer_number, 64);
}

TEST_F(NamesOptionsTest, UnsupportedOptionsFailAtOpen) {
  const std::vector<void (*)(Options*)> changes = {
      [](Options* options) { options->compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleFIFO; },
      [](Options* options) { options->compaction_style = ROCKSDB_NAMESPACE::kCompactionStyleNone; },
      [](Options* options) { options->wal_dir = "/elsewhere"; },
      [](Options* options) { options->db_paths.emplace_back("/elsewhere", 1 << 20); },
      [](Options* options) { options->cf_paths.emplace_back("/elsewhere", 1 << 20); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Options changed = options_;
    changes[i](&changed);
    EXPECT_TRUE(DB::Open(changed, path_, &db_).IsNotSupported()) << i;
  }
  options_.wal_dir = path_;
  options_.db_paths.emplace_back(path_, 0);
  Open();
}

TEST_F(NamesOptionsTest, BlockCacheCapacitySetsPageCacheSize) {
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(8 << 20);
  table.filter_policy.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(15.4));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  EXPECT_EQ(Number(DB::Properties::kBlockCacheCapacity), 8u << 20);
  EXPECT_EQ(db_->OnCambium()->GetOptions().filter_bits_per_key, 15);
  table.block_cache->SetCapacity(3 << 20);
  EXPECT_EQ(Number(DB::Properties::kBlockCacheCapacity), 3u << 20);
  // A family with the same cache adds nothing, one with another cache adds its capacity.
  ColumnFamilyHandle* same = nullptr;
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "same", &same).ok());
  EXPECT_EQ(Number(DB::Properties::kBlockCacheCapacity), 3u << 20);
  BlockBasedTableOptions other_table;
  other_table.block_cache = ROCKSDB_NAMESPACE::HyperClockCacheOptions(2 << 20).MakeSharedCache();
  ColumnFamilyOptions its;
  its.table_factory.reset(NewBlockBasedTableFactory(other_table));
  ASSERT_TRUE(db_->CreateColumnFamily(its, "other", &other).ok());
  EXPECT_EQ(Number(DB::Properties::kBlockCacheCapacity), 5u << 20);
  for (int i = 0; i < 1000; ++i) Put("key" + std::to_string(i), std::string(200, 'v'));
  ASSERT_TRUE(db_->CompactRange(ROCKSDB_NAMESPACE::CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Get("key7"), std::string(200, 'v'));
  EXPECT_GT(table.block_cache->GetUsage(), 0u);
  EXPECT_EQ(table.block_cache->GetUsage(), Number(DB::Properties::kBlockCacheUsage));
  delete same;
  delete other;
  db_.reset();
  EXPECT_EQ(table.block_cache->GetUsage(), 0u);
  table.block_cache->SetCapacity(1 << 20);  // no database uses it
}

TEST_F(NamesOptionsTest, HelpersSetOptions) {
  ColumnFamilyOptions family;
  family.OptimizeForPointLookup(7);
  const auto* const table = family.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(table->block_cache->GetCapacity(), 7u << 20);
  EXPECT_EQ(table->filter_policy->bits_per_key(), 10);
  family.OptimizeLevelStyleCompaction(64 << 20);
  EXPECT_EQ(family.write_buffer_size, 16u << 20);
  EXPECT_EQ(family.max_bytes_for_level_base, 64u << 20);
  options_.OptimizeForSmallDb();
  Open();
  EXPECT_EQ(Number(DB::Properties::kBlockCacheCapacity), 16u << 20);
  Put("key", "value");
  EXPECT_EQ(Get("key"), "value");
}

TEST_F(NamesOptionsTest, TextSetsSharedOptionsHintsAndTableOptions) {
  Options made;
  const std::string text =
      "create_if_missing=true; write_buffer_size=8M; use_fsync=true; arena_block_size=64K; compression=kZSTD;"
      "comparator=rocksdb.ReverseBytewiseComparator; block_based_table_factory={block_size=32K; no_block_cache=1}";
  const Status set = GetOptionsFromString(ConfigOptions(), Options(), text, &made);
  ASSERT_TRUE(set.ok()) << set.ToString();
  EXPECT_TRUE(made.create_if_missing);
  EXPECT_EQ(made.write_buffer_size, 8u << 20);
  EXPECT_TRUE(made.use_fsync);
  EXPECT_EQ(made.arena_block_size, 64u << 10);
  EXPECT_EQ(made.compression, ROCKSDB_NAMESPACE::kZSTD);
  EXPECT_EQ(made.comparator, ROCKSDB_NAMESPACE::ReverseBytewiseComparator());
  EXPECT_EQ(made.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 32u << 10);
  EXPECT_TRUE(made.table_factory->GetOptions<BlockBasedTableOptions>()->no_block_cache);
  for (const char* const wrong : {"no_such_option=1", "use_fsync=maybe", "block_based_table_factory={block_siz=1}"}) {
    EXPECT_TRUE(GetOptionsFromString(Options(), wrong, &made).IsInvalidArgument()) << wrong;
  }
  ConfigOptions lenient;
  lenient.ignore_unknown_options = true;
  Options others;
  EXPECT_TRUE(GetOptionsFromString(lenient, Options(), "no_such_option=1; use_fsync=true", &others).ok());
  EXPECT_TRUE(others.use_fsync);

  // And back.
  std::string of_db;
  std::string of_family;
  ASSERT_TRUE(GetStringFromDBOptions(&of_db, made).ok());
  ColumnFamilyOptions family;
  ASSERT_TRUE(GetColumnFamilyOptionsFromString({}, family, text.substr(text.find("arena")), &family).ok());
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(&of_family, family).ok());
  DBOptions db_again;
  ColumnFamilyOptions family_again;
  ASSERT_TRUE(GetDBOptionsFromString({}, db_again, of_db, &db_again).ok()) << of_db;
  ASSERT_TRUE(GetColumnFamilyOptionsFromString({}, family_again, of_family, &family_again).ok()) << of_family;
  EXPECT_TRUE(db_again.use_fsync);
  EXPECT_TRUE(db_again.create_if_missing);
  EXPECT_EQ(family_again.arena_block_size, 64u << 10);
  EXPECT_EQ(family_again.comparator, ROCKSDB_NAMESPACE::ReverseBytewiseComparator());
  EXPECT_EQ(family_again.table_factory->GetOptions<BlockBasedTableOptions>()->block_size, 32u << 10);
}

TEST_F(NamesOptionsTest, LoadedOptionsIncludeHints) {
  options_.use_fsync = true;
  options_.min_blob_size = 77;
  options_.db_host_id = "a host \\ with \n odd text";
  Open();
  BlockBasedTableOptions table;
  table.block_size = 32 << 10;
  table.block_cache = NewLRUCache(1 << 20);
  ColumnFamilyOptions family;
  family.table_factory.reset(NewBlockBasedTableFactory(table));
  family.ttl = 99;
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(family, "an \"odd\" name", &handle).ok());
  ASSERT_TRUE(db_->SetOptions(handle, {{"bloom_locality", "3"}, {"min_blob_size", "88"}}).ok());
  EXPECT_TRUE(db_->SetOptions(handle, {{"bloom_locality", "x"}}).IsInvalidArgument());
  EXPECT_EQ(db_->GetOptions(handle).bloom_locality, 3u);
  delete handle;
  db_.reset();

  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  std::shared_ptr<ROCKSDB_NAMESPACE::Cache> cache = NewLRUCache(2 << 20);
  const Status read = LoadLatestOptions(ConfigOptions(), path_, &loaded, &families, &cache);
  ASSERT_TRUE(read.ok()) << read.ToString();
  EXPECT_TRUE(loaded.use_fsync);
  EXPECT_EQ(loaded.db_host_id, options_.db_host_id);
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].options.min_blob_size, 77u);
  EXPECT_EQ(families[1].options.min_blob_size, 88u);
  EXPECT_EQ(families[1].options.ttl, 99u);
  EXPECT_EQ(families[1].options.bloom_locality, 3u);
  const auto* const loaded_table = families[1].options.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(loaded_table->block_size, 32u << 10);
  EXPECT_EQ(loaded_table->block_cache, cache);
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(DB::Open(loaded, path_, families, &handles, &db_).ok());
  EXPECT_EQ(Number(DB::Properties::kBlockCacheCapacity), 2u << 20);
  for (ColumnFamilyHandle* const each : handles) delete each;
}

TEST_F(NamesOptionsTest, ADamagedFileOfHintsIsReported) {
  options_.use_fsync = true;
  Open();
  db_.reset();
  std::ofstream(path_ + "/ROCKSDB_OPTIONS", std::ios::app) << "x";
  DBOptions loaded;
  std::vector<ColumnFamilyDescriptor> families;
  EXPECT_TRUE(LoadLatestOptions(ConfigOptions(), path_, &loaded, &families).IsCorruption());
  Open();  // Open does not need the file
}

TEST_F(NamesOptionsTest, WithoutHintsThereIsNoFileAndDestroyRemovesIt) {
  ROCKSDB_NAMESPACE::Env* const env = ROCKSDB_NAMESPACE::Env::Default();
  Open();
  EXPECT_TRUE(env->FileExists(path_ + "/ROCKSDB_OPTIONS").IsNotFound());
  db_.reset();
  options_.use_fsync = true;
  Open();
  EXPECT_TRUE(env->FileExists(path_ + "/ROCKSDB_OPTIONS").ok());
  EXPECT_FALSE(DestroyDB(path_, options_).ok()) << "it is open";
  EXPECT_TRUE(env->FileExists(path_ + "/ROCKSDB_OPTIONS").ok());
  db_.reset();
  cambium::VerifyReport report;
  ASSERT_TRUE(cambium::VerifyDB(path_, cambium::Options(), {.deep = true}, &report).ok());
  EXPECT_EQ(report.problem_count, 0u);
  ASSERT_TRUE(DestroyDB(path_, options_).ok());
  EXPECT_TRUE(env->FileExists(path_).IsNotFound());
}

TEST_F(NamesOptionsTest, OptionsOfAnOpenDatabaseOpenAnother) {
  options_.use_fsync = true;
  options_.write_buffer_size = 5 << 20;
  Open();
  const Options copied = db_->GetOptions();
  EXPECT_TRUE(copied.use_fsync);
  EXPECT_EQ(copied.write_buffer_size, 5u << 20);
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(copied, directory_.File("other"), &other).ok());
  EXPECT_EQ(other->GetOptions().write_buffer_size, 5u << 20);
}

}  // namespace rocksdb_names_test::names_options_test
