#include "api/batch_preparer.h"

#include <cassert>
#include <string>
#include <utility>

namespace cambium {

std::span<const WriteTarget> BatchPreparer::Targets() {
  std::erase_if(targets_, [](const WriteTarget& target) { return target.operations + target.ranges == 0; });
  return targets_;
}

Status BatchPreparer::Enter(std::uint32_t id) {
  before_ = write_.batch.memtable_bytes();
  if (family_ != nullptr && family_->id == id) return Status::OK();
  family_ = nullptr;
  for (at_ = 0; at_ < families_.size() && families_[at_]->id != id; ++at_) {
  }
  if (at_ == families_.size()) {
    std::shared_ptr<Family> found = commits_.FindFamily(id);
    if (found == nullptr) {
      const std::string named = "a write batch names column family " + std::to_string(id) + ", which ";
      return commits_.HadFamily(id) ? Status::ColumnFamilyDropped(named + "was dropped")
                                    : Status::InvalidArgument(named + "does not exist");
    }
    families_.push_back(std::move(found));
    targets_.push_back({families_.back().get()});
  }
  family_ = families_[at_].get();
  write_.batch.UseRules(preparer_.RulesOf(*family_));
  return Status::OK();
}

void BatchPreparer::Leave(std::size_t user_bytes, std::size_t WriteTarget::*kind) {
  assert(at_ < targets_.size() && targets_[at_].family == family_ && write_.batch.memtable_bytes() >= before_);
  write_.user_bytes += user_bytes;
  ++(targets_[at_].*kind);
  targets_[at_].bytes += write_.batch.memtable_bytes() - before_;
}

Status BatchPreparer::PutCF(std::uint32_t id, Slice key, Slice value) {
  CAMBIUM_RETURN_IF_ERROR(Enter(id));
  CAMBIUM_RETURN_IF_ERROR(preparer_.AddPut(options_, *family_, key, value, &write_));
  Leave(key.size() + value.size(), &WriteTarget::operations);
  return Status::OK();
}

Status BatchPreparer::DeleteCF(std::uint32_t id, Slice key) {
  CAMBIUM_RETURN_IF_ERROR(Enter(id));
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family_, key, {}));
  write_.batch.Delete(id, key);
  Leave(key.size(), &WriteTarget::operations);
  return Status::OK();
}

Status BatchPreparer::DeleteRangeCF(std::uint32_t id, Slice begin, Slice end) {
  CAMBIUM_RETURN_IF_ERROR(Enter(id));
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family_, begin, {}));
  CAMBIUM_RETURN_IF_ERROR(CheckSizes(*family_, end, {}));
  const int order = family_->options().comparator->Compare(begin, end);
  if (order > 0) return Status::InvalidArgument("a range delete ends before it begins");
  if (order == 0) return Status::OK();
  write_.batch.DeleteRange(id, begin, end);
  Leave(begin.size() + end.size(), &WriteTarget::ranges);
  return Status::OK();
}

}  // namespace cambium
