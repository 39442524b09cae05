#include "rocksdb_names/hints.h"

#include <charconv>
#include <limits>

#include "options/option_table.h"

namespace rocksdb::inline on_cambium {
namespace {

template <typename T>
std::string TextOf(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return cambium::EscapeText(value);
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    char text[64];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
  } else {
    return std::to_string(value);
  }
}

// A whole number may end in K, M, G or T.
template <typename T>
bool ParseNumber(std::string_view text, T* out) {
  int shift = 0;
  if constexpr (std::is_integral_v<T>) {
    constexpr std::string_view kUnits = "KMGT";
    const std::size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.back() >= 'a' ? text.back() - 32 : text.back());
    if (unit != kUnits.npos) {
      shift = 10 * static_cast<int>(unit + 1);
      text.remove_suffix(1);
    }
  }
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if constexpr (std::is_integral_v<T>) {
    if (shift >= std::numeric_limits<T>::digits && number != 0) return false;
    if (shift > 0 && (number > (std::numeric_limits<T>::max() >> shift) || number < 0)) return false;
    number = static_cast<T>(number << shift);
  }
  *out = number;
  return true;
}

template <typename T>
bool Parse(std::string_view text, T* out) {
  if constexpr (std::is_same_v<T, std::string>) {
    return cambium::UnescapeText(text, out);
  } else if constexpr (std::is_same_v<T, bool>) {
    *out = text == "true" || text == "1";
    return *out || text == "false" || text == "0";
  } else if constexpr (std::is_enum_v<T>) {
    std::int64_t number = 0;
    if (!ParseNumber(text, &number)) return false;
    *out = static_cast<T>(number);
    return static_cast<std::int64_t>(*out) == number;
  } else {
    return ParseNumber(text, out);
  }
}

template <typename Options>
TextPairs SetHintsOf(const Options& options) {
  TextPairs set;
  // The visitor below changes nothing.
  VisitHints(const_cast<Options&>(options), [&set](const char* name, const auto& value, const auto& initial) {
    if (value != initial) set.emplace_back(name, TextOf(value));
  });
  return set;
}

template <typename Options>
Status SetHintOf(Options* options, std::string_view name, std::string_view text) {
  bool is_found = false;
  bool is_value = false;
  VisitHints(*options, [&](const char* each, auto& value, const auto& /*initial*/) {
    if (is_found || name != each) return;
    is_found = true;
    is_value = Parse(text, &value);
  });
  if (!is_found) return Status::NotFound(std::string(name) + " is not an option of RocksDB");
  if (is_value) return Status::OK();
  return Status::InvalidArgument(std::string(name) + " is " + std::string(text) + "; it is no value of this option");
}

}  // namespace

TextPairs SetHints(const DBOptions& options) { return SetHintsOf(options); }
TextPairs SetHints(const ColumnFamilyOptions& options) { return SetHintsOf(options); }
TextPairs SetHints(const BlockBasedTableOptions& options) { return SetHintsOf(options); }

Status SetHint(DBOptions* options, std::string_view name, std::string_view text) {
  return SetHintOf(options, name, text);
}
Status SetHint(ColumnFamilyOptions* options, std::string_view name, std::string_view text) {
  return SetHintOf(options, name, text);
}
Status SetHint(BlockBasedTableOptions* options, std::string_view name, std::string_view text) {
  return SetHintOf(options, name, text);
}

}  // namespace rocksdb::inline on_cambium
