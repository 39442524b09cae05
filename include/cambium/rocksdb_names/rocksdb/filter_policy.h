// FilterPolicy: the bits per key of filters.
#pragma once

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

// In the table options of a family it becomes filter_bits_per_key, rounded to whole bits. There is one kind of filter.
// Null is not "no filter": it leaves filter_bits_per_key as it is, 10 by default.
class FilterPolicy final {
 public:
  explicit FilterPolicy(double bits_per_key) : bits_per_key_(bits_per_key) {}
  [[nodiscard]] const char* Name() const { return "cambium.Filter"; }
  [[nodiscard]] double bits_per_key() const { return bits_per_key_; }

 private:
  const double bits_per_key_;
};

[[nodiscard]] inline const FilterPolicy* NewBloomFilterPolicy(double bits_per_key,
                                                              bool /*use_block_based_builder*/ = false) {
  return new FilterPolicy(bits_per_key);
}
[[nodiscard]] inline const FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                                               int /*bloom_before_level*/ = 0) {
  return new FilterPolicy(bloom_equivalent_bits_per_key);
}

}  // namespace rocksdb::inline on_cambium
