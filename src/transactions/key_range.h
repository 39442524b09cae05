// KeyRange: a range of keys that a transaction tracks or locks.
//
//   keys            a        b        c
//   bounds     ▲    ▲   ▲                    ▲
//          kFirst  kBefore  kAfter a       kLast
//                    a
//
// Its ends are bounds: places between keys. So a range may include its last key, or not, whatever the comparator is.
#pragma once

#include <optional>
#include <string>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/transaction.h"
#include "state/key_intervals.h"
#include "util/result.h"

namespace cambium {

struct KeyBound {
  // The numbers are those of prepared records.
  enum class At : unsigned char { kFirst = 0, kBefore = 1, kAfter = 2, kLast = 3 };
  At at = At::kFirst;
  std::string key;  // of kBefore and kAfter

  [[nodiscard]] bool has_key() const { return at == At::kBefore || at == At::kAfter; }
  friend bool operator==(const KeyBound&, const KeyBound&) = default;
};
// Negative, zero or positive, as `a` comes before `b`, is `b`, or comes after it.
[[nodiscard]] int Compare(const Comparator& order, const KeyBound& a, const KeyBound& b);

// The keys after `from` and before `to`.
struct KeyRange {
  KeyBound from;
  KeyBound to;

  // [begin, end); nullopt: no bound on this side.
  static KeyRange Of(const std::optional<Slice>& begin, const std::optional<Slice>& end);

  // From `start` to `end`, both included. InvalidArgument: see Transaction::GetRangeLock; but `start` may be behind
  // `end`.
  static Result<KeyRange> Between(const Comparator& order, const Endpoint& start, const Endpoint& end);

  // Whether no key can be in it.
  [[nodiscard]] bool IsEmpty(const Comparator& order) const { return Compare(order, from, to) >= 0; }
  [[nodiscard]] bool Has(const Comparator& order, Slice key) const;
  [[nodiscard]] bool HasAllOf(const Comparator& order, const KeyRange& other) const;
  [[nodiscard]] bool Overlaps(const Comparator& order, const KeyRange& other) const;
  // The range without its last key, if this has one: `to` is kAfter that key. Refers to this range.
  [[nodiscard]] KeyInterval Interval() const;
  // "[01, 05)", with keys in hexadecimal.
  [[nodiscard]] std::string ForMessage() const;
  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

}  // namespace cambium
