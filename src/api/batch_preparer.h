// BatchPreparer turns the operations of a WriteBatch into records, and writes large values to their files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/writer.h"
#include "cambium/write_batch.h"
#include "state/family.h"

namespace cambium {

// InvalidArgument if the key or the value is too large for the family.
Status CheckSizes(const Family& family, Slice key, Slice value);

// For one batch. One thread.
class BatchPreparer final : public WriteBatch::Handler {
 public:
  BatchPreparer(Writer* writer, const WriteOptions& options, Writer::Prepared* out)
      : writer_(*writer), options_(options), out_(*out) {}

  Status Put(Slice key, Slice value) override { return PutCF(0, key, value); }
  Status Delete(Slice key) override { return DeleteCF(0, key); }
  Status DeleteRange(Slice begin, Slice end) override { return DeleteRangeCF(0, begin, end); }
  Status PutCF(std::uint32_t id, Slice key, Slice value) override;
  Status DeleteCF(std::uint32_t id, Slice key) override;
  Status SingleDeleteCF(std::uint32_t id, Slice key) override { return DeleteCF(id, key); }
  Status DeleteRangeCF(std::uint32_t id, Slice begin, Slice end) override;

  // Returns the families of the batch, with the part of the batch that each gets. Omits a family if the batch has
  // nothing for it but empty range deletes. The result is valid as long as the preparer.
  [[nodiscard]] std::span<const WriteTarget> Targets();

 private:
  // Finds the family of the next operation.
  Status Enter(std::uint32_t id);
  // Called after an operation was added to the batch: counts it for its family.
  void Leave(std::size_t user_bytes, std::size_t WriteTarget::*kind);

  Writer& writer_;
  const WriteOptions& options_;
  Writer::Prepared& out_;
  std::vector<std::shared_ptr<Family>> families_;  // by target, until Targets is called
  std::vector<WriteTarget> targets_;
  Family* family_ = nullptr;                       // of the last operation
  std::size_t at_ = 0;                             // its target
  std::size_t before_ = 0;                         // bytes of the memtables before the operation
};

}  // namespace cambium
