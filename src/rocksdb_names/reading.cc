#include "rocksdb_names/reading.h"

#include <chrono>
#include <string>

namespace rocksdb::inline on_cambium {
namespace {

class ErrorIterator final : public Iterator {
 public:
  explicit ErrorIterator(Status error) : error_(std::move(error)) {}
  [[nodiscard]] bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(Slice /*target*/) override {}
  void SeekForPrev(Slice /*target*/) override {}
  void Next() override {}
  void Prev() override {}
  [[nodiscard]] Slice key() const override { return {}; }
  [[nodiscard]] Slice value() const override { return {}; }
  bool PrepareValue() override { return false; }
  [[nodiscard]] std::uint64_t ValueSize() const override { return 0; }
  [[nodiscard]] Status status() const override { return error_; }

 private:
  const Status error_;
};

}  // namespace

Status Reading::Check(const ReadOptions& options) {
  constexpr auto kNone = std::chrono::microseconds::zero();
  const char* refused = nullptr;
  if (options.timestamp != nullptr) refused = "timestamp";
  if (options.iter_start_ts != nullptr) refused = "iter_start_ts";
  if (options.deadline != kNone) refused = "deadline";
  if (options.io_timeout != kNone) refused = "io_timeout";
  if (options.read_tier != kReadAllTier) refused = "read_tier";
  if (options.value_size_soft_limit != ReadOptions().value_size_soft_limit) refused = "value_size_soft_limit";
  if (options.max_skippable_internal_keys != 0) refused = "max_skippable_internal_keys";
  if (options.tailing) refused = "tailing";
  if (options.prefix_same_as_start) refused = "prefix_same_as_start";
  if (options.pin_data) refused = "pin_data";
  if (refused == nullptr) return Status::OK();
  return Status::NotSupported(std::string("ReadOptions::") + refused + " is not in this version");
}

Iterator* Reading::NewErrorIterator(Status error) { return new ErrorIterator(std::move(error)); }

}  // namespace rocksdb::inline on_cambium
