// TransactionObjects: the Transaction objects of a TransactionDB, so that each of Cambium's transactions has one.
#pragma once

#include <memory>
#include <unordered_map>

#include "cambium/rocksdb_names/rocksdb/utilities/transaction.h"
#include "util/mutex.h"

namespace rocksdb::inline on_cambium {

// Any thread. The objects belong to the program.
class TransactionObjects : public std::enable_shared_from_this<TransactionObjects> {
 public:
  // The object of `rep`, which is made if it has none, and then owns `rep`.
  [[nodiscard]] Transaction* Of(cambium::Transaction* rep);
  void Remove(const cambium::Transaction* rep);

 private:
  cambium::Mutex mutex_;
  std::unordered_map<const cambium::Transaction*, Transaction*> objects_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace rocksdb::inline on_cambium
