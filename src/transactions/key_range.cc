#include "transactions/key_range.h"

#include <utility>

#include "index/key_for_message.h"

namespace cambium {
namespace {

using At = KeyBound::At;

// The place behind all keys that begin with these bytes, in bytewise order.
KeyBound BehindPrefix(Slice prefix) {
  std::string next = prefix.ToString();
  while (!next.empty() && static_cast<unsigned char>(next.back()) == 0xff) next.pop_back();
  if (next.empty()) return {At::kLast, {}};
  next.back() = static_cast<char>(static_cast<unsigned char>(next.back()) + 1);
  return {At::kBefore, std::move(next)};
}

Result<KeyBound> BoundOf(const Comparator& order, const Endpoint& endpoint, At without_suffix) {
  if (!endpoint.inf_suffix) return KeyBound{without_suffix, endpoint.slice.ToString()};
  if (endpoint.slice.empty() || &order == BytewiseComparator()) return BehindPrefix(endpoint.slice);
  return Status::InvalidArgument("inf_suffix needs BytewiseComparator; the family has " + std::string(order.Name()));
}

}  // namespace

int Compare(const Comparator& order, const KeyBound& a, const KeyBound& b) {
  if (a.has_key() && b.has_key()) {
    const int keys = order.Compare(a.key, b.key);
    if (keys != 0) return keys;
  }
  return static_cast<int>(a.at) - static_cast<int>(b.at);
}

KeyRange KeyRange::Of(const std::optional<Slice>& begin, const std::optional<Slice>& end) {
  KeyRange range;
  if (begin) range.from = {At::kBefore, begin->ToString()};
  range.to = end ? KeyBound{At::kBefore, end->ToString()} : KeyBound{At::kLast, {}};
  return range;
}

Result<KeyRange> KeyRange::Between(const Comparator& order, const Endpoint& start, const Endpoint& end) {
  KeyRange range;
  CAMBIUM_TRY(range.from, BoundOf(order, start, At::kBefore));
  CAMBIUM_TRY(range.to, BoundOf(order, end, At::kAfter));
  return range;
}

bool KeyRange::Has(const Comparator& order, Slice key) const {
  if (from.has_key()) {
    const int after = order.Compare(key, from.key);
    if (from.at == At::kBefore ? after < 0 : after <= 0) return false;
  }
  if (!to.has_key()) return to.at == At::kLast;
  const int before = order.Compare(key, to.key);
  return to.at == At::kBefore ? before < 0 : before <= 0;
}

bool KeyRange::HasAllOf(const Comparator& order, const KeyRange& other) const {
  return Compare(order, from, other.from) <= 0 && Compare(order, other.to, to) <= 0;
}

bool KeyRange::Overlaps(const Comparator& order, const KeyRange& other) const {
  return Compare(order, from, other.to) < 0 && Compare(order, other.from, to) < 0;
}

KeyInterval KeyRange::Interval() const {
  KeyInterval interval;
  if (from.has_key()) interval.begin = Slice(from.key);
  if (to.has_key()) interval.end = Slice(to.key);
  return interval;
}

std::string KeyRange::ForMessage() const {
  std::string text = from.has_key() ? (from.at == At::kBefore ? "[" : "(") + KeyForMessage(from.key) : "(all";
  text += ", ";
  text += to.has_key() ? KeyForMessage(to.key) + (to.at == At::kBefore ? ")" : "]") : "end)";
  return text;
}

}  // namespace cambium
