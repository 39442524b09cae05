// Makes and compares random legal options with the table of options. A field without a row in the table is ignored.
#pragma once

#include <string>
#include <type_traits>
#include <variant>

#include "options/option_table.h"
#include "options/options_check.h"
#include "util/prng.h"

namespace cambium::testing {

inline Status CheckAny(const DBOptions& options) { return CheckDbOptions(options); }
inline Status CheckAny(const ColumnFamilyOptions& options) { return CheckColumnFamilyOptions(options); }

template <typename Value>
Value RandomValue(Prng& prng, const OptionRange& range) {
  if constexpr (std::is_same_v<Value, bool>) {
    return prng.OneIn(2);
  } else if constexpr (std::is_same_v<Value, double>) {
    return static_cast<double>(range.low) + prng.NextDouble() * static_cast<double>(range.high - range.low);
  } else if constexpr (std::is_enum_v<Value>) {
    return static_cast<Value>(prng.Uniform(10));
  } else if constexpr (std::is_integral_v<Value>) {
    if (range.or_zero && prng.OneIn(4)) return 0;
    if (prng.OneIn(4)) return static_cast<Value>(range.high);
    if (range.high - range.low > 1u << 20) return static_cast<Value>(range.low + prng.Skewed(20));
    return static_cast<Value>(prng.Between(range.low, range.high));
  } else {
    return prng.OneIn(2) ? BytewiseComparator() : ReverseBytewiseComparator();
  }
}

// Tries up to 20 random values for each field, until one is legal together with the other fields.
template <typename Struct>
Struct RandomOptions(Prng& prng) {
  Struct options;
  for (const OptionField<Struct>& field : OptionFields<Struct>()) {
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), NoText>) {
            using Value = std::remove_reference_t<decltype(options.*member)>;
            const Value before = options.*member;
            for (int i = 0; i < 20; ++i) {
              options.*member = RandomValue<Value>(prng, field.range);
              if (CheckAny(options).ok()) return;
            }
            options.*member = before;
          }
        },
        field.member);
  }
  return options;
}

template <typename Struct>
bool SameOptions(const Struct& a, const Struct& b) {
  bool same = true;
  for (const OptionField<Struct>& field : OptionFields<Struct>()) {
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), NoText>) same = same && a.*member == b.*member;
        },
        field.member);
  }
  return same;
}

template <typename Struct>
std::string TextOf(const Struct& options) {
  std::string text;
  for (const OptionField<Struct>& field : OptionFields<Struct>()) {
    text.append(field.name).append("=").append(FormatOption(field, options)).append(";");
  }
  return text;
}

}  // namespace cambium::testing
