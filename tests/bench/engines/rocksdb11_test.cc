// The engines of RocksDB 11 run if its library is there and complete, and are refused with the reason if not.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "engines/registry.h"
#include "engines/rocksdb11_library.h"
#include "engines/rocksdb_options.h"
#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {

std::string RefusalOf(const char* path) {
  RocksDb11Library library;
  return LoadRocksDb11(path, &library);
}

bool Has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

TEST(RocksDb11LibraryTest, MissingFileIsRefused) {
  const std::string said = RefusalOf("/nowhere/librocksdbjni.so");
  EXPECT_TRUE(Has(said, "/nowhere/librocksdbjni.so") && Has(said, "No such file")) << said;
}

TEST(RocksDb11LibraryTest, OtherLibraryIsRefused) {
  const std::string said = RefusalOf("libm.so.6");
  EXPECT_EQ(said, "the library has no Java_org_rocksdb_RocksDB_version");
}

TEST(RocksDb11LibraryTest, OlderReleaseIsRefused) {
  EXPECT_EQ(RefusalOf(CAMBIUM_STUB_10), "the library is RocksDB 10.2.1, and 11 or later is needed");
}

// Every function is looked for, and all that are missing are named.
TEST(RocksDb11LibraryTest, MissingFunctionsAreNamed) {
  const std::string said = RefusalOf(CAMBIUM_STUB_11);
  EXPECT_TRUE(said.starts_with("the library has no rocksdb_options_create ")) << said;
  EXPECT_TRUE(said.ends_with(" rocksdb_blob_file_addition_info_total_blob_bytes")) << said;
  EXPECT_FALSE(Has(said, "rocksdb_free")) << said;
}

// A refused engine is known by name, but does not belong to --engine=all.
TEST(RocksDb11LibraryTest, EnginesAreThereIfTheLibraryIs) {
  for (const char* name : {"rocksdb11_leveled", "rocksdb11_blob", "rocksdb11_blob_direct"}) {
    const EngineEntry* const entry = FindEngine(name);
    ASSERT_NE(entry, nullptr) << name;
    const std::string why = RefuseRocksDb11();
    EXPECT_EQ(WhyUnavailable(*entry), why.empty() ? "" : "refused: " + why);
    if (why.empty()) {
      EXPECT_TRUE(entry->make({})->Version().starts_with("RocksDB 1")) << entry->make({})->Version();
    } else {
      EXPECT_TRUE(Has(why, kRocksDb11Variable)) << why;
      std::printf("SKIPPED: %s: %s\n", name, why.c_str());
    }
  }
}

// Both releases are in this process, and their functions have the same names. Each must call its own.
TEST(RocksDb11LibraryTest, TwoReleasesWorkInOneProcess) {
  const cambium::testing::TempDirectory directory;
  for (const char* name : {"rocksdb_blob", "rocksdb11_blob", "rocksdb_blob", "rocksdb11_blob_direct"}) {
    const EngineEntry* const entry = FindEngine(name);
    if (const std::string why = WhyUnavailable(*entry); !why.empty()) {
      std::printf("SKIPPED: %s: %s\n", name, why.c_str());
      continue;
    }
    EngineConfig config;
    config.path = directory.File(name);
    config.cache_size = 1u << 20;
    config.write_buffer_size = 1u << 20;
    config.max_write_buffer_number = 2;
    config.compression_type = "zstd";
    config.blob_file_size = 1u << 20;
    const std::unique_ptr<Engine> engine = entry->make(config);
    ASSERT_EQ(engine->Complain(), "") << name;
    ASSERT_EQ(engine->Open(true).ToString(), "OK") << name;
    ASSERT_EQ(engine->BeginWrites({}).ToString(), "OK");
    {
      const auto session = engine->NewSession();
      for (int i = 0; i < 2000; ++i) {
        ASSERT_EQ(session->Put("key" + std::to_string(i), std::string(1000, 'v')).ToString(), "OK");
      }
    }
    double idle_seconds = 0;
    ASSERT_EQ(engine->Settle(&idle_seconds).ToString(), "OK") << name;
    const auto session = engine->NewSession();
    Slice value;
    ASSERT_EQ(session->Get("key1999", &value), Lookup::kFound) << name;
    EXPECT_EQ(value.ToString(), std::string(1000, 'v'));
  }
}

// All releases get the same text. Only the engine with direct writes has options that older releases do not know.
TEST(RocksDbOptionsTest, DirectBlobsDifferFromBlobsByTwoOptions) {
  EngineConfig config;
  config.cache_size = 4096;
  config.space.blob_garbage_collection_age_cutoff = 0.1;
  const std::string blobs = RocksDbOptionsText(config, RocksDbShape::kBlobs);
  std::string direct = RocksDbOptionsText(config, RocksDbShape::kDirectBlobs);
  const std::string more = "enable_blob_direct_write=true;allow_concurrent_memtable_write=false;";
  ASSERT_TRUE(Has(direct, more)) << direct;
  EXPECT_EQ(direct.erase(direct.find(more), more.size()), blobs);
  EXPECT_TRUE(Has(blobs, "block_based_table_factory={block_cache=4096;filter_policy=bloomfilter:10:false;};")) << blobs;
  EXPECT_TRUE(Has(blobs, "blob_garbage_collection_age_cutoff=0.10000000000000001;")) << blobs;
  EXPECT_FALSE(Has(RocksDbOptionsText(config, RocksDbShape::kLeveled), "blob_file_size"));
}

}  // namespace
}  // namespace cambium::bench
