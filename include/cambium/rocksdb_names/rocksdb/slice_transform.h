// SliceTransform: the prefix of a key. As an option, prefix_extractor, it is a hint.
#pragma once

#include <cstddef>

#include "cambium/rocksdb_names/rocksdb/slice.h"

namespace rocksdb::inline on_cambium {

class SliceTransform {
 public:
  virtual ~SliceTransform() = default;
  [[nodiscard]] virtual const char* Name() const = 0;
  [[nodiscard]] virtual Slice Transform(const Slice& key) const = 0;
  [[nodiscard]] virtual bool InDomain(const Slice& key) const = 0;
  virtual bool FullLengthEnabled(std::size_t* /*length*/) const { return false; }
  [[nodiscard]] virtual bool SameResultWhenAppended(const Slice& /*prefix*/) const { return false; }
};

// The first `length` bytes; shorter keys have no prefix. Capped: at most `length` bytes. Noop: the whole key.
[[nodiscard]] const SliceTransform* NewFixedPrefixTransform(std::size_t length);
[[nodiscard]] const SliceTransform* NewCappedPrefixTransform(std::size_t length);
[[nodiscard]] const SliceTransform* NewNoopTransform();

}  // namespace rocksdb::inline on_cambium
