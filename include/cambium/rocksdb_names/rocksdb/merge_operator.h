// MergeOperator. The option merge_operator may be set, but this version has no merges: DB::Merge returns NotSupported,
// and the operator is never called.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/slice.h"

namespace rocksdb::inline on_cambium {

class Logger;

class MergeOperator {
 public:
  struct MergeOperationInput {
    const Slice& key;
    const Slice* existing_value;
    const std::vector<Slice>& operand_list;
    Logger* logger;
  };
  struct MergeOperationOutput {
    std::string& new_value;
    Slice& existing_operand;
  };

  virtual ~MergeOperator() = default;
  virtual bool FullMergeV2(const MergeOperationInput& /*in*/, MergeOperationOutput* /*out*/) const { return false; }
  virtual bool PartialMerge(const Slice& /*key*/, const Slice& /*left*/, const Slice& /*right*/,
                            std::string* /*new_value*/, Logger* /*logger*/) const {
    return false;
  }
  virtual bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& /*operands*/,
                                 std::string* /*new_value*/, Logger* /*logger*/) const {
    return false;
  }
  [[nodiscard]] virtual bool AllowSingleOperand() const { return false; }
  [[nodiscard]] virtual bool ShouldMerge(const std::vector<Slice>& /*operands*/) const { return false; }
  [[nodiscard]] virtual const char* Name() const = 0;
};

class AssociativeMergeOperator : public MergeOperator {
 public:
  virtual bool Merge(const Slice& key, const Slice* existing_value, const Slice& value, std::string* new_value,
                     Logger* logger) const = 0;
};

}  // namespace rocksdb::inline on_cambium
