// ClusterStore: a database whose values were written in an order unrelated to that of their keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testing/test_store.h"

namespace cambium::testing {

inline constexpr int kClusterKeys = 600;

inline std::string ClusterValue(int i, int version) {
  return NumberedKey(i) + "." + std::to_string(version) + std::string(300, static_cast<char>('a' + i % 26));
}

struct ClusterStore : TestStore {
  explicit ClusterStore(double max_space_amplification = 0) {
    options.blob_file_size = 32u << 10;
    options.write_buffer_size = 64u << 10;
    options.max_total_wal_size = 1u << 20;
    options.max_space_amplification = max_space_amplification;
    if (max_space_amplification != 0 && max_space_amplification < 1.25) options.min_blob_size = 0;
    options.page_size = 4096;
    options.page_cache_size = 4u << 20;
  }
  // Writes values in an order unrelated to that of the keys.
  void Fill() {
    MustOpen();
    for (int i = 0; i < kClusterKeys; ++i) {
      const int key = i * 7 % kClusterKeys;
      Put(NumberedKey(key), ClusterValue(key, 0));
    }
    Flush();
    Compact();
    RunUntilIdle();
  }
  Status Cluster(const std::string* begin = nullptr, const std::string* end = nullptr) {
    CompactRangeOptions compact;
    compact.cluster_values = true;
    const Slice first = begin == nullptr ? Slice() : Slice(*begin);
    const Slice last = end == nullptr ? Slice() : Slice(*end);
    return db->CompactRange(compact, begin == nullptr ? nullptr : &first, end == nullptr ? nullptr : &last);
  }
  void ExpectAll(int version = 0) {
    for (int i = 0; i < kClusterKeys; ++i) ASSERT_EQ(Get(NumberedKey(i)), ClusterValue(i, version)) << i;
  }
  // The numbers of the keys whose values are in relocation segments, in the order of the values; -1 between two
  // segments.
  [[nodiscard]] std::vector<int> KeysInPlace() {
    std::vector<int> keys;
    for (const auto& [path, bytes] : Files()) {
      if (!path.ends_with(".gc")) continue;
      keys.push_back(-1);
      for (std::size_t at = bytes.find(".0"); at != std::string::npos; at = bytes.find(".0", at + 1)) {
        if (at >= 5 && bytes[at - 5] == 'k' && bytes[at + 2] == bytes[at + 50]) keys.push_back(std::stoi(bytes.substr(at - 4, 4)));
      }
    }
    return keys;
  }
};

}  // namespace cambium::testing
