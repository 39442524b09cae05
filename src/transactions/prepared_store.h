// PreparedStore: the prepared transactions of one database, as records in a column family of their own.
//
//   Prepare    Put(name, record)                     one write
//   Commit     the batch, and Delete(name)           one write: both or neither
//   Rollback   Delete(name)                          one write
//
// So a power cut leaves a transaction prepared, committed or absent by the same means as any write: each step is one
// batch of the log. The family is created by the first Prepare.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/db_inside.h"
#include "cambium/transaction.h"
#include "transactions/prepared_record.h"
#include "util/mutex.h"

namespace cambium {

// Any thread.
class PreparedStore {
 public:
  explicit PreparedStore(DbInside* inside) : inside_(*inside) {}

  // Whether this is the id of the family. Others may not write to it: the refusal says so.
  [[nodiscard]] bool IsOwnFamily(std::uint32_t id) const { return id != 0 && id == family_id_.load(); }
  [[nodiscard]] static Status Refusal();
  // Writes the record of a transaction. Creates the family if there is none. InvalidArgument if the transaction
  // uses a family that was dropped, or this one. Sets *record_bytes.
  Status Add(const WriteOptions& options, const TransactionName& name,
             const PreparedRecord::Locks& locks, const WriteBatch& batch, std::size_t* record_bytes);
  // Adds the removal of the record to the batch; nothing if the family was dropped.
  Status AddRemoval(const TransactionName& name, WriteBatch* batch);
  // A handle of the family that a record calls `id`. Null if it was dropped.
  [[nodiscard]] std::unique_ptr<ColumnFamilyHandle> FamilyIn(const PreparedRecord& record, std::uint32_t id) const;
  // Visits all records, in the order of their names. The slices are valid during the call. The first error ends it.
  using Visit = std::function<Status(Slice name, const PreparedRecord& record)>;
  Status VisitAll(const Visit& visit);

 private:
  using Handle = std::unique_ptr<ColumnFamilyHandle>;
  // The family; null if there is none.
  Handle Find();
  Result<Handle> FindOrMake() CAMBIUM_EXCLUDES(make_mutex_);

  DbInside& inside_;
  std::atomic<std::uint32_t> family_id_{0};  // the id of the family at its last use; 0: there is none
  Mutex make_mutex_;                         // held while the family is made
};

}  // namespace cambium
