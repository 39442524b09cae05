// Accounts: how many references the durable layers of a family have into each segment, and their bytes.
//
// An entry with an address counts +1 when it is committed in a run or page, and -1 when it is removed, each in the
// MANIFEST record that changes the layers. The bytes are those that the address's size code gives, so that adding and
// removing a reference cancel exactly. Only at zero references may a segment be dropped; its bytes do not decide.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "util/mutant.h"
#include "util/shared_table.h"
#include "vlog/entry.h"
#include "vlog/value_address.h"

namespace cambium {

struct Account {
  std::int64_t references = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const Account&, const Account&) = default;
};

// A family's accounts, in the order of slots. Each commit copies the accounts; copies share their nodes.
using Accounts = SharedTable<std::pair<Slot, Account>>;

// Changes of one family's accounts, by slot. One thread at a time.
class AccountDelta {
 public:
  void Add(const Entry& entry) { Charge(entry, 1); }
  void Remove(const Entry& entry) { Charge(entry, -1); }
  // Adds a whole account, as in a MANIFEST record or a snapshot of the state.
  void Add(Slot slot, const Account& account) {
    by_slot_[slot].references += account.references;
    by_slot_[slot].bytes += account.bytes;
  }
  void Merge(const AccountDelta& other) {
    for (const auto& [slot, account] : other.by_slot_) Add(slot, account);
  }
  // May include slots whose changes cancelled out, with zeros.
  [[nodiscard]] const std::map<Slot, Account>& by_slot() const { return by_slot_; }
  [[nodiscard]] bool empty() const { return by_slot_.empty(); }

 private:
  void Charge(const Entry& entry, std::int64_t sign) {
    if (!entry.HasAddress()) return;
    Account& account = by_slot_[entry.address.slot()];
    account.references += sign;
    const auto bytes = static_cast<std::int64_t>(entry.address.size());
    account.bytes += sign < 0 ? -CreditOf(bytes) : bytes;
  }
  // Returns the bytes that removing a reference subtracts: those that adding it has added; in a mutant, more.
  static std::int64_t CreditOf(std::int64_t charged) {
    return MutantIs(Mutant::kCreditMoreThanCharged) ? charged + charged / 128 : charged;
  }
  std::map<Slot, Account> by_slot_;
};

}  // namespace cambium
