// Accounts: how many references the durable layers of a family hold into each segment, and their bytes.
//
// +1 when a run, a page or a relocation entry with an address commits, -1 when such an entry is removed; both sides in
// the MANIFEST record that changes the layers. Bytes are those of the address's size code, so that both sides cancel.
// A segment may go only at zero references, never by its bytes.
#pragma once

#include <cstdint>
#include <map>

#include "util/mutant.h"
#include "vlog/entry.h"
#include "vlog/value_address.h"

namespace cambium {

struct Account {
  std::int64_t references = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const Account&, const Account&) = default;
};

// Changes of one family's accounts, by slot. One thread at a time.
class AccountDelta {
 public:
  void Add(const Entry& entry) { Charge(entry, 1); }
  void Remove(const Entry& entry) { Charge(entry, -1); }
  // A whole account at once: what a MANIFEST record or a snapshot says.
  void Add(Slot slot, const Account& account) {
    by_slot_[slot].references += account.references;
    by_slot_[slot].bytes += account.bytes;
  }
  void Merge(const AccountDelta& other) {
    for (const auto& [slot, account] : other.by_slot_) Add(slot, account);
  }
  // Slots whose changes cancelled out may be among them, with zeros.
  [[nodiscard]] const std::map<Slot, Account>& by_slot() const { return by_slot_; }
  [[nodiscard]] bool empty() const { return by_slot_.empty(); }

 private:
  void Charge(const Entry& entry, std::int64_t sign) {
    if (!entry.HasAddress()) return;
    Account& account = by_slot_[entry.address.slot()];
    account.references += sign;
    const auto bytes = static_cast<std::int64_t>(entry.address.size());
    account.bytes += sign * bytes;
    if (sign < 0 && MutantIs(Mutant::kCreditMoreThanCharged)) account.bytes -= bytes / 128;
  }
  std::map<Slot, Account> by_slot_;
};

}  // namespace cambium
