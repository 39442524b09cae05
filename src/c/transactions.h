// The types of include/cambium/c_transaction.h, and what its functions share.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "c/wrappers.h"
#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction.h"
#include "cambium/transaction_db.h"
#include "cambium/write_batch_with_index.h"

struct cambium_transaction_t {
  std::unique_ptr<cambium::Transaction> rep;
};

// Must be trivially destructible, because the object for a transaction's batch is released with cambium_free.
struct cambium_writebatch_wi_t {
  cambium::WriteBatchWithIndex* rep;
};

struct cambium_optimistictransaction_options_t {
  cambium::OptimisticTransactionOptions rep;
};
struct cambium_transaction_options_t {
  cambium::TransactionOptions rep;
};
struct cambium_transactiondb_options_t {
  cambium::TransactionDBOptions rep;
};

namespace cambium::c {

// The family of a call. In C++ a null handle means the default family. In a call of C that names a family, a null is
// more likely a family that was not created, so it is an error.
class FamilyArgument {
 public:
  FamilyArgument() = default;  // the default family
  explicit FamilyArgument(const cambium_column_family_handle_t* named)
      : handle_(RepOf(named)), is_missing_(named == nullptr) {}

  [[nodiscard]] Status Check() const {
    return is_missing_ ? Status::InvalidArgument("the column family handle is null") : Status::OK();
  }
  // Null: the default family, or none at all.
  [[nodiscard]] ColumnFamilyHandle* handle() const { return handle_; }

  // Calls `call` with the handle; returns an error if there is none.
  template <typename Call>
  Status Do(Call call) const {
    return is_missing_ ? Check() : call(handle_);
  }

 private:
  ColumnFamilyHandle* handle_ = nullptr;
  bool is_missing_ = false;
};

// For values that are copied at once. A copy out of a mapping is the library's own, which turns a fault into an error.
inline ReadOptions ForCopies(const cambium_readoptions_t* options) {
  ReadOptions copying = options->rep;
  copying.pin_mapped_values = false;
  return copying;
}

// The recovered transactions of a database as an array from malloc; null if there are none. `wrap` makes the object for
// one of them. If memory runs out, all of them remain prepared, and the next Open finds them again.
template <typename Wrapper, typename Wrap>
Wrapper** TakeRecovered(TransactionDB* db, std::size_t* count, Wrap wrap) {
  *count = 0;
  std::vector<std::unique_ptr<Transaction>> taken = db->TakeRecoveredTransactions();
  if (taken.empty()) return nullptr;
  std::vector<std::unique_ptr<Wrapper>> made;
  made.reserve(taken.size());
  for (std::unique_ptr<Transaction>& each : taken) made.push_back(wrap(std::move(each)));
  auto** const array = static_cast<Wrapper**>(std::malloc(made.size() * sizeof(Wrapper*)));
  if (array == nullptr) throw std::bad_alloc();
  for (std::size_t i = 0; i < made.size(); ++i) array[i] = made[i].release();
  *count = made.size();
  return array;
}

}  // namespace cambium::c
