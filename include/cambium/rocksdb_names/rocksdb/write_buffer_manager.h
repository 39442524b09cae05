// WriteBufferManager: one limit for the memory of memtables, of several databases. See cambium/write_buffer_manager.h.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "cambium/rocksdb_names/rocksdb/cache.h"
#include "cambium/write_buffer_manager.h"

namespace rocksdb::inline on_cambium {

class WriteBufferManager final {
 public:
  // Memtables do not count in `cache`: to give one is a hint.
  explicit WriteBufferManager(std::size_t buffer_size, std::shared_ptr<Cache> cache = {}, bool allow_stall = false)
      : rep_(std::make_shared<cambium::WriteBufferManager>(buffer_size, allow_stall)), cache_(std::move(cache)) {}
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;

  [[nodiscard]] bool enabled() const { return rep_->enabled(); }
  [[nodiscard]] bool cost_to_cache() const { return cache_ != nullptr; }
  [[nodiscard]] std::size_t memory_usage() const { return rep_->memory_usage(); }
  [[nodiscard]] std::size_t mutable_memtable_memory_usage() const { return rep_->mutable_memtable_memory_usage(); }
  [[nodiscard]] std::size_t buffer_size() const { return rep_->buffer_size(); }
  void SetBufferSize(std::size_t new_size) { rep_->SetBufferSize(new_size); }
  void SetAllowStall(bool new_allow_stall) { rep_->SetAllowStall(new_allow_stall); }
  [[nodiscard]] bool ShouldFlush() const { return rep_->ShouldFlush(); }
  [[nodiscard]] bool ShouldStall() const { return rep_->ShouldStall(); }

  [[nodiscard]] const std::shared_ptr<cambium::WriteBufferManager>& OnCambium() const { return rep_; }

 private:
  const std::shared_ptr<cambium::WriteBufferManager> rep_;
  const std::shared_ptr<Cache> cache_;
};

}  // namespace rocksdb::inline on_cambium
