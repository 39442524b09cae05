#include "api/traced_batch.h"

#include <cstdint>
#include <vector>

#include "trace/trace_format.h"

namespace cambium {
namespace {

// OpsOfBatch collects the operations of a batch as TraceOps. Their slices point into the batch.
class OpsOfBatch final : public WriteBatch::Handler {
 public:
  explicit OpsOfBatch(std::vector<TraceOp>* ops) : ops_(ops) {}
  Status Put(Slice key, Slice value) override { return PutCF(0, key, value); }
  Status Delete(Slice key) override { return DeleteCF(0, key); }
  Status PutCF(std::uint32_t family, Slice key, Slice value) override {
    TraceOp& op = Add(TraceOpType::kPut, family, key);
    op.value = value;
    op.value_size = value.size();
    return Status::OK();
  }
  Status DeleteCF(std::uint32_t family, Slice key) override {
    Add(TraceOpType::kDelete, family, key);
    return Status::OK();
  }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override {
    Add(TraceOpType::kSingleDelete, family, key);
    return Status::OK();
  }
  Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end) override {
    Add(TraceOpType::kDeleteRange, family, begin).end_key = end;
    return Status::OK();
  }

 private:
  TraceOp& Add(TraceOpType type, std::uint32_t family, Slice key) {
    TraceOp& op = ops_->emplace_back();
    op.type = type;
    op.family = family;
    op.key = key;
    return op;
  }
  std::vector<TraceOp>* const ops_;
};

}  // namespace

void DescribeBatch(bool sync, const WriteBatch& batch, TracedCall* call) noexcept {
  call->Describe(kTraceWrite, [&](TraceRecord* record) {
    record->sync = sync;
    OpsOfBatch ops(&record->ops);
    static_cast<void>(batch.Iterate(&ops));
  });
}

}  // namespace cambium
