// Store: a database in a temporary directory, loaded and quiet.
#pragma once

#include <cstdint>
#include <memory>

#include "cambium/db.h"
#include "key_list.h"
#include "testing/temp_directory.h"
#include "value_bytes.h"

namespace cambium::bench {

// Has the first `keys` present ids with values of one size, put in random order and then compacted completely, so that
// lookups meet the same layers in every run. The page pool has room for all of them. Other options have their defaults.
class Store {
 public:
  Store(IndexKind index, std::uint64_t keys, std::size_t value_size, std::shared_ptr<Statistics> statistics = nullptr);

  [[nodiscard]] DB& db() const { return *db_; }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }
  [[nodiscard]] std::size_t value_size() const { return values_.Of(0).size(); }
  [[nodiscard]] const ValueBytes& values() const { return values_; }

 private:
  const testing::TempDirectory directory_;
  const std::uint64_t keys_;
  const ValueBytes values_;
  std::unique_ptr<DB> db_;
};

// Returns the index for the argument "lsm" of a kernel.
[[nodiscard]] constexpr IndexKind IndexOf(std::int64_t is_lsm) { return is_lsm != 0 ? kLsm : kBTree; }

}  // namespace cambium::bench
