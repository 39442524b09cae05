// DescribeTransactions: the part of an engine's settings that is about transactions.
#pragma once

#include <string>

#include "engines/engine.h"

namespace cambium::bench {

// For the engines whose classes are named OptimisticTransactionDB and TransactionDB; "" if the database is not opened
// for transactions.
inline std::string DescribeTransactions(const EngineConfig& config) {
  if (!config.transacts) return {};
  return std::string(config.transaction.kind == TransactionKind::kLocking ? "; TransactionDB, deadlock_detect"
                                                                          : "; OptimisticTransactionDB") +
         (config.transaction.set_snapshot ? ", set_snapshot" : ", no set_snapshot");
}

}  // namespace cambium::bench
