// TransactionFlags: the flags of the workload `transaction`.
#pragma once

#include <cstdint>

namespace cambium::bench {

// How a transaction protects the keys that it reads for update, and writes, from other transactions.
enum class TransactionKind : unsigned char {
  kOptimistic,  // not at all; a conflict ends it if others have written them
  kLocking,     // it locks each key, and waits for locks
};

struct TransactionFlags {
  TransactionKind kind = TransactionKind::kOptimistic;
  bool set_snapshot = false;  // db_bench's transaction_set_snapshot: each begins with a snapshot
  std::uint64_t keys = 4;     // that each reads, and then writes
  double zipf = 0;            // the skew of these keys, less than 1; 0: none
};

}  // namespace cambium::bench
