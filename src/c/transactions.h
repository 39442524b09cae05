// The types of include/cambium/c_transaction.h, and what its functions share.
#pragma once

#include <memory>

#include "c/wrappers.h"
#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction.h"
#include "cambium/transaction_db.h"
#include "cambium/write_batch_with_index.h"

struct cambium_transaction_t {
  std::unique_ptr<cambium::Transaction> rep;
};

// Trivially destructible: that of a transaction's batch is released with cambium_free.
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

// The family of a call. C++ takes a null handle for the default family. In a call of C that names a family, null is
// more likely to be one that was not created.
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

}  // namespace cambium::c
