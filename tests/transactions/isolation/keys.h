// The keys of the workload, and how their values are stored.
//
//   l0_7   a list; the number before "_" is its era, so that lists do not grow for ever
//   r7     a register; is never deleted
//   m7     a mortal register: exists from the begin, may be deleted, and is then never written again. So a read that
//          finds nothing shows whose delete it has seen
//   a7     an account: a register with an amount. The sum of all accounts never changes
//
// A key with an even number is in the default family, one with an odd number in another one. A stored value is
// VERSION-OR-LIST AMOUNT|FILLER; the filler follows from the version, and makes values inline, separated or large.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transactions/isolation/history.h"
#include "util/prng.h"

namespace cambium::testing::isolation {

inline constexpr std::uint64_t kLists = 16;
inline constexpr std::uint64_t kRegisters = 16;
inline constexpr std::uint64_t kMortals = 60;
inline constexpr std::uint64_t kAccounts = 12;
inline constexpr std::int64_t kMoney = 100;  // in each account at first
inline constexpr std::int64_t kSum = kMoney * static_cast<std::int64_t>(kAccounts);

inline std::string ListKey(std::uint64_t era, std::uint64_t i) {
  return "l" + std::to_string(era) + "_" + std::to_string(i);
}
// The range that has all lists of an era, and nothing else.
inline std::string ListKeysBegin(std::uint64_t era) { return "l" + std::to_string(era) + "_"; }
inline std::string ListKeysEnd(std::uint64_t era) { return "l" + std::to_string(era) + "`"; }  // ` follows _
inline std::string RegisterKey(std::uint64_t i) { return "r" + std::to_string(i); }
inline std::string MortalKey(std::uint64_t i) { return "m" + std::to_string(i); }
inline std::string AccountKey(std::uint64_t i) { return "a" + std::to_string(i); }
inline bool IsList(const std::string& key) { return key[0] == 'l'; }
inline bool IsAccount(const std::string& key) { return key[0] == 'a'; }
// 0 or 1.
inline std::size_t FamilyOf(const std::string& key) { return static_cast<std::size_t>(key.back() - '0') % 2; }
// The key of a transaction's receipt, in a family of its own.
inline std::string ReceiptKey(std::uint64_t id) {
  const std::string digits = std::to_string(id);
  return std::string(12 - digits.size(), '0') + digits;
}

inline std::string EncodeValue(const Value& value, std::int64_t amount) {
  Prng prng(value.version.transaction * 64 + value.version.write);
  const std::uint64_t kind = prng.Uniform(100);
  const std::uint64_t size = kind < 45 ? prng.Uniform(30) : kind < 90 ? prng.Uniform(400) : prng.Uniform(1500);
  const std::uint64_t large = prng.OneIn(150) ? 9000 : 0;  // a file of its own
  return ToText(value) + " " + std::to_string(amount) + "|" + prng.Bytes(size + large);
}

// False if the value is not exactly what EncodeValue makes.
inline bool DecodeValue(std::string_view stored, Value* value, std::int64_t* amount) {
  const std::size_t space = stored.find(' ');
  const std::size_t bar = stored.find('|');
  if (space == std::string_view::npos || bar == std::string_view::npos || bar < space) return false;
  if (!ParseValue(std::string(stored.substr(0, space)), value)) return false;
  const char* const end = stored.data() + bar;
  const auto parsed = std::from_chars(stored.data() + space + 1, end, *amount);
  return parsed.ec == std::errc() && parsed.ptr == end && EncodeValue(*value, *amount) == stored;
}

// The keys that clients use in an era.
inline std::vector<std::string> KeysOf(std::uint64_t era) {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < kLists; ++i) keys.push_back(ListKey(era, i));
  for (std::uint64_t i = 0; i < kRegisters; ++i) keys.push_back(RegisterKey(i));
  for (std::uint64_t i = 0; i < kMortals; ++i) keys.push_back(MortalKey(i));
  for (std::uint64_t i = 0; i < kAccounts; ++i) keys.push_back(AccountKey(i));
  return keys;
}

}  // namespace cambium::testing::isolation
