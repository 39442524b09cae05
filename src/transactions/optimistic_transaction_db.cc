#include "cambium/optimistic_transaction_db.h"

#include <utility>

#include "transactions/open_above.h"
#include "transactions/optimistic_transaction.h"

namespace cambium {
namespace {

class OptimisticTransactionDBImpl final : public OptimisticTransactionDB {
 public:
  explicit OptimisticTransactionDBImpl(std::unique_ptr<DB> db) : OptimisticTransactionDB(std::move(db)) {}

  Transaction* BeginTransaction(const WriteOptions& options, const OptimisticTransactionOptions& transaction,
                                Transaction* old) override {
    auto* const again = dynamic_cast<OptimisticTransaction*>(old);
    if (again == nullptr) return BeginOptimisticTransaction(this, options, transaction);
    DbInside* const inside = DbInside::Of(this);
    if (inside == nullptr || !inside->CheckOpenForWriting().ok() || !again->IsOf(inside)) return nullptr;
    again->BeginAgain(options, transaction);
    return again;
  }
};

}  // namespace

Transaction* BeginOptimisticTransaction(DB* db, const WriteOptions& options,
                                        const OptimisticTransactionOptions& transaction) {
  DbInside* const inside = DbInside::Of(db);
  if (inside == nullptr || !inside->CheckOpenForWriting().ok()) return nullptr;
  return new OptimisticTransaction(inside, options, transaction);
}

Status OptimisticTransactionDB::Open(const Options& options, const std::string& path,
                                     std::unique_ptr<OptimisticTransactionDB>* db) {
  return OpenAbove<OptimisticTransactionDBImpl>(
      db, [&](std::unique_ptr<DB>* below) { return DB::Open(options, path, below); });
}

Status OptimisticTransactionDB::Open(const Options& options, const std::string& path, OptimisticTransactionDB** db) {
  return OpenPlain(db, [&](std::unique_ptr<OptimisticTransactionDB>* made) { return Open(options, path, made); });
}

Status OptimisticTransactionDB::Open(const DBOptions& options, const std::string& path,
                                     const std::vector<ColumnFamilyDescriptor>& families,
                                     std::vector<ColumnFamilyHandle*>* handles,
                                     std::unique_ptr<OptimisticTransactionDB>* db) {
  return OpenAbove<OptimisticTransactionDBImpl>(
      db, [&](std::unique_ptr<DB>* below) { return DB::Open(options, path, families, handles, below); });
}

Status OptimisticTransactionDB::Open(const DBOptions& options, const std::string& path,
                                     const std::vector<ColumnFamilyDescriptor>& families,
                                     std::vector<ColumnFamilyHandle*>* handles, OptimisticTransactionDB** db) {
  return OpenPlain(
      db, [&](std::unique_ptr<OptimisticTransactionDB>* made) { return Open(options, path, families, handles, made); });
}

}  // namespace cambium
