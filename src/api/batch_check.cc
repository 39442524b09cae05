#include "api/batch_check.h"

#include <memory>
#include <string>

#include "api/write_preparer.h"
#include "vlog/record_format.h"

namespace cambium {
namespace {

class Checker final : public WriteBatch::Handler {
 public:
  explicit Checker(const CommitPoint* commits) : commits_(*commits) {}
  [[nodiscard]] std::uint64_t log_bytes() const { return log_bytes_; }

  Status Put(Slice, Slice) override { return Status::OK(); }  // the functions below get all families
  Status Delete(Slice) override { return Status::OK(); }
  Status PutCF(std::uint32_t id, Slice key, Slice value) override {
    CAMBIUM_RETURN_IF_ERROR(Check(id, key, value));
    const bool is_large = value.size() > family_->options().large_value_size;
    Count(key, is_large ? LargeValueRef::kSize : value.size());
    return Status::OK();
  }
  Status DeleteCF(std::uint32_t id, Slice key) override {
    CAMBIUM_RETURN_IF_ERROR(Check(id, key, {}));
    Count(key, 0);
    return Status::OK();
  }
  Status SingleDeleteCF(std::uint32_t id, Slice key) override { return DeleteCF(id, key); }
  Status DeleteRangeCF(std::uint32_t id, Slice begin, Slice end) override {
    CAMBIUM_RETURN_IF_ERROR(Check(id, begin, {}));
    CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family_, end, {}));
    if (family_->options().comparator->Compare(begin, end) > 0) {
      return Status::InvalidArgument("a range delete ends before it begins");
    }
    Count(begin, end.size());
    return Status::OK();
  }

 private:
  Status Check(std::uint32_t id, Slice key, Slice value) {
    if (family_ == nullptr || family_->id != id) family_ = commits_.FindFamily(id);
    if (family_ == nullptr) {
      return Status::InvalidArgument("column family " + std::to_string(id) + " was dropped, or never existed");
    }
    return CheckSizes(*family_, key, value);
  }
  void Count(Slice key, std::uint64_t value_size) {
    RecordHeader header;
    header.key_size = static_cast<std::uint32_t>(key.size());
    header.value_size = value_size;
    log_bytes_ += header.RecordSize();
  }

  const CommitPoint& commits_;
  std::shared_ptr<Family> family_;  // the family of the last operation
  std::uint64_t log_bytes_ = 0;
};

}  // namespace

Status CheckBatch(const CommitPoint& commits, const WriteBatch& batch, std::uint64_t log_bytes_max) {
  Checker checker(&commits);
  CAMBIUM_RETURN_IF_ERROR(batch.Iterate(&checker));
  if (checker.log_bytes() <= log_bytes_max) return Status::OK();
  return Status::InvalidArgument("a batch of " + std::to_string(checker.log_bytes()) +
                                 " bytes of log; the most is " + std::to_string(log_bytes_max));
}

}  // namespace cambium
