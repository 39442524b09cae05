// A write batch.
#pragma once

#include <memory>

#include "napi.h"

namespace cambium_node {

// Used by the thread of its environment; while a write of it runs on another thread, calls fail with Busy.
class Batch {
 public:
  static constexpr std::uint32_t kKind = 0x62617463;
  Batch(napi_env env, cambium_writebatch_t* batch);
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch();

  // Throws while the batch is being written.
  [[nodiscard]] cambium_writebatch_t* get() const;
  [[nodiscard]] cambium_writebatch_t* unchecked() const { return batch_; }
  void Begin() { ++writes_; }
  void End() { --writes_; }
  // Tells the garbage collector about the memory of the batch, in large steps.
  void Account();

 private:
  napi_env env_;
  cambium_writebatch_t* batch_;
  std::uint32_t writes_ = 0;
  std::size_t accounted_ = 0;
};

void ExportBatches(napi_env env, napi_value exports);

}  // namespace cambium_node
