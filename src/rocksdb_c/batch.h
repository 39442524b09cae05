// Functions that batches and batches with an index share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cambium/write_batch_with_index.h"
#include "rocksdb_c/objects.h"

namespace cambium::rocks {

// In the C++ interface a null family means the default one. Here a null is more likely a family that was not created.
inline Status NullFamily() { return Status::InvalidArgument("the column family handle is null"); }

// A key or value that is given in parts.
inline std::string Joined(int count, const char* const* parts, const std::size_t* sizes) {
  std::string whole;
  for (int i = 0; i < count; ++i) whole.append(parts[i], sizes[i]);
  return whole;
}

// Calls a program's functions for the operations of a batch. RocksDB has no such function for range deletes, and skips
// them too.
class Teller final : public WriteBatch::Handler {
 public:
  using Puts = void (*)(void*, const char*, std::size_t, const char*, std::size_t);
  using Deletes = void (*)(void*, const char*, std::size_t);
  using PutsCf = void (*)(void*, std::uint32_t, const char*, std::size_t, const char*, std::size_t);
  using DeletesCf = void (*)(void*, std::uint32_t, const char*, std::size_t);

  Teller(void* state, PutsCf put, DeletesCf deleted) : state_(state), put_cf_(put), deleted_cf_(deleted) {}
  // These are called for operations of the default family only.
  Teller(void* state, Puts put, Deletes deleted) : state_(state), put_(put), deleted_(deleted) {}

  void Tell(const WriteBatch& batch) && { static_cast<void>(batch.Iterate(this)); }

  Status Put(Slice key, Slice value) override { return PutCF(0, key, value); }
  Status Delete(Slice key) override { return DeleteCF(0, key); }
  Status PutCF(std::uint32_t family, Slice key, Slice value) override {
    if (put_cf_ != nullptr) put_cf_(state_, family, key.data(), key.size(), value.data(), value.size());
    if (put_ != nullptr && family == 0) put_(state_, key.data(), key.size(), value.data(), value.size());
    return Status::OK();
  }
  Status DeleteCF(std::uint32_t family, Slice key) override {
    if (deleted_cf_ != nullptr) deleted_cf_(state_, family, key.data(), key.size());
    if (deleted_ != nullptr && family == 0) deleted_(state_, key.data(), key.size());
    return Status::OK();
  }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override { return DeleteCF(family, key); }
  Status DeleteRangeCF(std::uint32_t /*family*/, Slice /*begin*/, Slice /*end*/) override { return Status::OK(); }

 private:
  void* const state_;
  const Puts put_ = nullptr;
  const Deletes deleted_ = nullptr;
  const PutsCf put_cf_ = nullptr;
  const DeletesCf deleted_cf_ = nullptr;
};

}  // namespace cambium::rocks

// The batch of a program or of a transaction. RocksDB's programs release a transaction's batch with rocksdb_free, so
// this object owns nothing.
struct rocksdb_writebatch_wi_t {
  cambium::WriteBatchWithIndex* rep;
  std::string* data;  // the result of the last rocksdb_writebatch_wi_data
};
