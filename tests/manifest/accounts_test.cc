#include "manifest/accounts.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "testing/mutant_scope.h"
#include "util/prng.h"

namespace cambium {
namespace {

// Adds and removes references of many sizes, and returns the account after all are removed. Adding and removing a
// reference must change the bytes by the same amount, even if that is more than the true size of its record.
Account AccountAfterAllAreRemoved() {
  Prng prng(3);
  std::vector<ValueAddress> live;
  AccountDelta account;
  for (int i = 0; i < 20'000; ++i) {
    if (live.empty() || !prng.OneIn(3)) {
      live.push_back(ValueAddress::InLog(Slot{7}, 128, 16'384 + prng.Uniform(1 << 20)));
      account.Add(Entry::At(live.back()));
    } else {
      std::swap(live[prng.Uniform(live.size())], live.back());
      account.Remove(Entry::At(live.back()));
      live.pop_back();
    }
    const Account& now = account.by_slot().at(Slot{7});
    EXPECT_EQ(now.references, static_cast<std::int64_t>(live.size()));
  }
  for (const ValueAddress address : live) account.Remove(Entry::At(address));
  return account.by_slot().at(Slot{7});
}

TEST(AccountsTest, AddedAndRemovedReferencesCancelExactly) {
  EXPECT_EQ(AccountAfterAllAreRemoved(), Account{});
  const testing::MutantScope mutant(Mutant::kCreditMoreThanCharged);
  EXPECT_LT(AccountAfterAllAreRemoved().bytes, 0);
}

}  // namespace
}  // namespace cambium
