// BatchPreparer turns the operations of a WriteBatch into records, and writes large values to their files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/prepared_write.h"
#include "api/write_preparer.h"
#include "cambium/write_batch.h"
#include "state/family.h"

namespace cambium {

// For one batch. One thread.
class BatchPreparer final : public WriteBatch::Handler {
 public:
  // All arguments outlive the preparer. The records are added to *write.
  BatchPreparer(const CommitPoint* commits, WritePreparer* preparer, const WriteOptions& options, PreparedWrite* write)
      : commits_(*commits), preparer_(*preparer), options_(options), write_(*write) {}

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

  const CommitPoint& commits_;
  WritePreparer& preparer_;
  const WriteOptions& options_;
  PreparedWrite& write_;
  std::vector<std::shared_ptr<Family>> families_;  // by target, until Targets is called
  std::vector<WriteTarget> targets_;
  Family* family_ = nullptr;                       // of the last operation
  std::size_t at_ = 0;                             // its target
  std::size_t before_ = 0;                         // bytes of the memtables before the operation
};

}  // namespace cambium
