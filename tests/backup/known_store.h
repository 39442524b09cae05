// A KnownStore is a store with values of every kind and known contents, with log GC and punching on.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing {

using Map = std::map<std::string, std::string>;

// Returns the contents by an iterator. An error is returned as the value of key "error".
[[nodiscard]] inline Map Contents(DB* db) {
  Map all;
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    all[key] = it->value().ToString();
    if (!it->Valid()) break;
  }
  if (!it->status().ok()) all["error"] = it->status().ToString();
  return all;
}

class KnownStore : public TestStore {
 public:
  explicit KnownStore(std::shared_ptr<SimFileSystem> file_system = std::make_shared<SimFileSystem>())
      : TestStore(std::move(file_system)) {
    options.blob_garbage_collection_age_cutoff = 1;
    options.min_punch_size = 8192;
    options.large_value_size = 16u << 10;
    options.write_buffer_size = 64u << 10;
    options.max_total_wal_size = 1u << 20;
  }
  void Change(Prng* prng) {
    const std::string key = NumberedKey(static_cast<int>(prng->Uniform(60)));
    if (prng->OneIn(4)) {
      ASSERT_TRUE(db->Delete({}, key).ok());
      known.erase(key);
      return;
    }
    constexpr std::size_t kSizes[] = {10, 300, 12'000, 17'000};  // inline, separated, punchable, large
    Put(key, known[key] = prng->Bytes(kSizes[prng->Uniform(4)]));
  }
  void ChangeMany(Prng* prng, int count) {
    for (int i = 0; i < count; ++i) Change(prng);
  }

  Map known;
};

}  // namespace cambium::testing
