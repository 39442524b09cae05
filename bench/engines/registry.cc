#include "engines/registry.h"

#include "engines/rocksdb11_library.h"

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
#ifdef CAMBIUM_BENCH_ROCKSDB11
constexpr auto kRocksDb11Leveled = &MakeRocksDb11Leveled;
constexpr auto kRocksDb11WithBlobs = &MakeRocksDb11WithBlobs;
constexpr auto kRocksDb11WithDirectBlobs = &MakeRocksDb11WithDirectBlobs;
constexpr auto kRefuseRocksDb11 = &RefuseRocksDb11;
#else
constexpr decltype(&MakeRocksDb11Leveled) kRocksDb11Leveled = nullptr;
constexpr decltype(&MakeRocksDb11WithBlobs) kRocksDb11WithBlobs = nullptr;
constexpr decltype(&MakeRocksDb11WithDirectBlobs) kRocksDb11WithDirectBlobs = nullptr;
constexpr decltype(&RefuseRocksDb11) kRefuseRocksDb11 = nullptr;
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

constexpr const char* kAnyBuild = "the engines of the bench";

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
      {"rocksdb11_blob", "RocksDB 11, loaded at run time, as rocksdb_blob", kRocksDb11WithBlobs, kAnyBuild, true,
       kRefuseRocksDb11},
      {"rocksdb11_blob_direct", "as rocksdb11_blob; puts write large values straight to blob files",
       kRocksDb11WithDirectBlobs, kAnyBuild, true, kRefuseRocksDb11},
      {"rocksdb11_leveled", "RocksDB 11, loaded at run time, all values in leveled tables", kRocksDb11Leveled,
       kAnyBuild, true, kRefuseRocksDb11},
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

std::string WhyUnavailable(const EngineEntry& entry) {
  if (entry.make == nullptr) return std::string("not built in: install ") + entry.needs + " and configure again";
  const std::string why = entry.refuse == nullptr ? "" : entry.refuse();
  return why.empty() ? "" : "refused: " + why;
}

}  // namespace cambium::bench
