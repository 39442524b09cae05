#include "engines/registry.h"

namespace cambium::bench {
namespace {

#ifdef CAMBIUM_BENCH_CAMBIUM
constexpr auto kCambium = &MakeCambium;
#else
constexpr decltype(&MakeCambium) kCambium = nullptr;
#endif
#ifdef CAMBIUM_BENCH_ROCKSDB
constexpr auto kRocksDbWithBlobs = &MakeRocksDbWithBlobs;
constexpr auto kRocksDbLeveled = &MakeRocksDbLeveled;
#else
constexpr decltype(&MakeRocksDbWithBlobs) kRocksDbWithBlobs = nullptr;
constexpr decltype(&MakeRocksDbLeveled) kRocksDbLeveled = nullptr;
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

}  // namespace

const std::vector<EngineEntry>& Engines() {
  static const std::vector<EngineEntry> kEngines = {
      {"cambium", "this project, with the index of --index", kCambium, "the library"},
      {"rocksdb_blob", "RocksDB, large values in blob files", kRocksDbWithBlobs, "librocksdb-dev"},
      {"rocksdb_leveled", "RocksDB, all values in leveled tables", kRocksDbLeveled, "librocksdb-dev"},
      {"lmdb", "LMDB", kLmdb, "liblmdb-dev"},
      {"leveldb", "LevelDB", kLevelDb, "libleveldb-dev"},
      {"raw", "no store: appends to a file, with fdatasync if synced; what the device takes. Not among all", &MakeRaw,
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
