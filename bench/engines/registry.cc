#include "engines/registry.h"

namespace cambium::bench {
namespace {

#ifdef CAMBIUM_BENCH_CAMBIUM
constexpr auto kCambium = &MakeCambium;
#else
constexpr decltype(&MakeCambium) kCambium = nullptr;
#endif
#ifdef CAMBIUM_BENCH_ROCKSDB
constexpr auto kRocksDbLeveled = &MakeRocksDbLeveled;
constexpr auto kRocksDbUniversal = &MakeRocksDbUniversal;
constexpr auto kRocksDbWithBlobs = &MakeRocksDbWithBlobs;
constexpr auto kRocksDbWithoutBlobGc = &MakeRocksDbWithoutBlobGc;
#else
constexpr decltype(&MakeRocksDbLeveled) kRocksDbLeveled = nullptr;
constexpr decltype(&MakeRocksDbUniversal) kRocksDbUniversal = nullptr;
constexpr decltype(&MakeRocksDbWithBlobs) kRocksDbWithBlobs = nullptr;
constexpr decltype(&MakeRocksDbWithoutBlobGc) kRocksDbWithoutBlobGc = nullptr;
#endif
#ifdef CAMBIUM_BENCH_LMDB
constexpr auto kLmdb = &MakeLmdb;
#else
constexpr decltype(&MakeLmdb) kLmdb = nullptr;
#endif
#ifdef CAMBIUM_BENCH_LEVELDB
constexpr auto kLevelDb = &MakeLevelDb;
#else
constexpr decltype(&MakeLevelDb) kLevelDb = nullptr;
#endif
#ifdef CAMBIUM_BENCH_WIREDTIGER
constexpr auto kWiredTiger = &MakeWiredTiger;
#else
constexpr decltype(&MakeWiredTiger) kWiredTiger = nullptr;
#endif

}  // namespace

const std::vector<EngineEntry>& Engines() {
  static const std::vector<EngineEntry> kEngines = {
      {"cambium", "this project, with the index of --index", kCambium, "the library"},
      {"rocksdb_blob", "RocksDB, large values in blob files, whose garbage is collected", kRocksDbWithBlobs,
       "librocksdb-dev"},
      {"rocksdb_blob_nogc", "as rocksdb_blob, without garbage collection of blob files", kRocksDbWithoutBlobGc,
       "librocksdb-dev"},
      {"rocksdb_leveled", "RocksDB, all values in leveled tables", kRocksDbLeveled, "librocksdb-dev"},
      {"rocksdb_universal", "RocksDB, all values in tables, universal compaction", kRocksDbUniversal, "librocksdb-dev"},
      {"lmdb", "LMDB", kLmdb, "liblmdb-dev"},
      {"leveldb", "LevelDB", kLevelDb, "libleveldb-dev"},
      {"wiredtiger", "WiredTiger, its B-tree", kWiredTiger, "libwiredtiger-dev"},
      {"raw", "no store: appends to a file, with fdatasync if synced, to measure the device. Not one of all", &MakeRaw,
       "", false},
  };
  return kEngines;
}

const EngineEntry* FindEngine(const std::string& name) {
  for (const EngineEntry& entry : Engines()) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

}  // namespace cambium::bench
