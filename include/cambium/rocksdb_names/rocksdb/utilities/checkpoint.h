// Checkpoint: a copy of an open database at one moment. See cambium/checkpoint.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cambium/checkpoint.h"
#include "cambium/rocksdb_names/rocksdb/db.h"

namespace rocksdb::inline on_cambium {

class Checkpoint final {
 public:
  static Status Create(DB* db, Checkpoint** checkpoint);
  Status CreateCheckpoint(const std::string& directory, std::uint64_t log_size_for_flush = 0,
                          std::uint64_t* sequence_number = nullptr) {
    return rep_->CreateCheckpoint(directory, log_size_for_flush, sequence_number);
  }

 private:
  explicit Checkpoint(std::unique_ptr<cambium::Checkpoint> rep) : rep_(std::move(rep)) {}
  const std::unique_ptr<cambium::Checkpoint> rep_;
};

}  // namespace rocksdb::inline on_cambium
