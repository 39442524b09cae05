// The formats of RocksDB's memtables. As an option, memtable_factory, they are hints.
#pragma once

#include <cstddef>

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

class MemTableRepFactory {
 public:
  virtual ~MemTableRepFactory() = default;
  [[nodiscard]] virtual const char* Name() const = 0;
};

class SkipListFactory : public MemTableRepFactory {
 public:
  explicit SkipListFactory(std::size_t /*lookahead*/ = 0) {}
  [[nodiscard]] const char* Name() const override { return "SkipListFactory"; }
};

class VectorRepFactory : public MemTableRepFactory {
 public:
  explicit VectorRepFactory(std::size_t /*count*/ = 0) {}
  [[nodiscard]] const char* Name() const override { return "VectorRepFactory"; }
};

}  // namespace rocksdb::inline on_cambium
