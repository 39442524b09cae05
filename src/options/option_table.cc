#include "options/option_table.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <type_traits>

#include "manifest/state_check.h"
#include "util/result.h"
#include "vlog/record_format.h"

namespace cambium {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kGiB = kKiB * kKiB * kKiB;
constexpr std::uint64_t kTiB = kGiB * kKiB;
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr auto kDynamic = WhileOpen::kDynamic;
constexpr auto kFixed = WhileOpen::kFixed;

using D = DBOptions;
constexpr OptionField<DBOptions> kDbFields[] = {
    {"create_if_missing", &D::create_if_missing},
    {"create_missing_column_families", &D::create_missing_column_families},
    {"error_if_exists", &D::error_if_exists},
    {"wal_recovery_mode", &D::wal_recovery_mode},
    {"lock_wait_micros", &D::lock_wait_micros, kFixed, {0, 3'600'000'000}},
    {"page_cache_size", &D::page_cache_size, kDynamic, {64 * kKiB, kTiB * kKiB}},
    {"db_write_buffer_size", &D::db_write_buffer_size, kFixed, {64 * kKiB, kTiB * kKiB, true}},
    {"write_buffer_manager", NoText()},
    {"max_total_wal_size", &D::max_total_wal_size, kDynamic, {4 * kKiB, kTiB, true}},
    {"max_space_amplification", &D::max_space_amplification, kDynamic, {1, 100, true}},
    {"min_space_limit", &D::min_space_limit, kDynamic, {0, kTiB}},
    {"min_punch_size", &D::min_punch_size, kDynamic, {4 * kKiB, kGiB, true}},
    {"allow_mmap_reads", &D::allow_mmap_reads},
    {"max_open_files", &D::max_open_files, kFixed, {-1, kGiB}},
    {"max_background_jobs", &D::max_background_jobs, kFixed, {1, 64}},
    {"rate_limiter", NoText()},
    {"file_system", NoText()},
    {"clock", NoText()},
    {"random_source", NoText()},
    {"executor", NoText()},
    {"info_log", NoText()},
    {"statistics", NoText()},
    {"listeners", NoText()},
};

using F = ColumnFamilyOptions;
constexpr OptionField<ColumnFamilyOptions> kFamilyFields[] = {
    {"comparator", &F::comparator},
    {"index_type", &F::index_type},
    {"page_size", &F::page_size, kFixed, {512, 16 * kKiB}},
    {"filter_bits_per_key", &F::filter_bits_per_key, kDynamic, {0, 64}},
    {"write_buffer_size", &F::write_buffer_size, kDynamic, {4 * kKiB, 16 * kGiB}},
    {"max_write_buffer_number", &F::max_write_buffer_number, kDynamic, {2, 64}},
    {"enable_blob_files", &F::enable_blob_files, kDynamic},
    {"min_blob_size", &F::min_blob_size, kDynamic, {0, kAny}},
    {"large_value_size", &F::large_value_size, kDynamic, {4 * kKiB, kLoggedValueSizeMax}},
    {"blob_compression_type", &F::blob_compression_type, kDynamic},
    {"blob_file_size", &F::blob_file_size, kDynamic, {16 * kKiB, kGiB}},
    {"value_clustering", &F::value_clustering, kDynamic},
    {"compaction_filter", NoText()},
    {"compaction_filter_factory", NoText()},
    {"enable_blob_garbage_collection", &F::enable_blob_garbage_collection, kDynamic},
    {"blob_garbage_collection_age_cutoff", &F::blob_garbage_collection_age_cutoff, kDynamic, {0, 1}},
    {"blob_garbage_collection_force_threshold", &F::blob_garbage_collection_force_threshold, kDynamic, {0, 1}},
    {"sweep_ratio", &F::sweep_ratio, kDynamic, {1, 1000}},
    {"compaction_style", &F::compaction_style, kFixed},
    {"level0_file_num_compaction_trigger", &F::level0_file_num_compaction_trigger, kDynamic, {1, 1000}},
    {"level0_slowdown_writes_trigger", &F::level0_slowdown_writes_trigger, kDynamic, {1, 10000}},
    {"level0_stop_writes_trigger", &F::level0_stop_writes_trigger, kDynamic, {1, 10000}},
    {"target_file_size_base", &F::target_file_size_base, kDynamic, {16 * kKiB, kTiB}},
    {"target_file_size_multiplier", &F::target_file_size_multiplier, kDynamic, {1, 100}},
    {"max_bytes_for_level_base", &F::max_bytes_for_level_base, kDynamic, {16 * kKiB, kTiB * kKiB}},
    {"max_bytes_for_level_multiplier", &F::max_bytes_for_level_multiplier, kDynamic, {1, 1000}},
    {"num_levels", &F::num_levels, kFixed, {2, 63}},
    {"compression", &F::compression, kDynamic},
};

// ---- Names of enumerators ----

template <typename Enum>
struct EnumName {
  Enum value;
  const char* name;
};

std::span<const EnumName<WALRecoveryMode>> NamesOf(WALRecoveryMode) {
  using enum WALRecoveryMode;
  static constexpr EnumName<WALRecoveryMode> kNames[] = {
      {kTolerateCorruptedTailRecords, "kTolerateCorruptedTailRecords"},
      {kAbsoluteConsistency, "kAbsoluteConsistency"},
      {kPointInTimeRecovery, "kPointInTimeRecovery"},
      {kSkipAnyCorruptedRecords, "kSkipAnyCorruptedRecords"}};
  return kNames;
}
std::span<const EnumName<IndexKind>> NamesOf(IndexKind) {
  static constexpr EnumName<IndexKind> kNames[] = {{IndexKind::kBTree, "kBTree"}, {IndexKind::kLsm, "kLsm"}};
  return kNames;
}
std::span<const EnumName<CompressionType>> NamesOf(CompressionType) {
  using enum CompressionType;
  static constexpr EnumName<CompressionType> kNames[] = {{kNoCompression, "kNoCompression"},
                                                         {kSnappyCompression, "kSnappyCompression"},
                                                         {kZlibCompression, "kZlibCompression"},
                                                         {kBZip2Compression, "kBZip2Compression"},
                                                         {kLZ4Compression, "kLZ4Compression"},
                                                         {kLZ4HCCompression, "kLZ4HCCompression"},
                                                         {kXpressCompression, "kXpressCompression"},
                                                         {kZSTD, "kZSTD"}};
  return kNames;
}
std::span<const EnumName<ValueClustering>> NamesOf(ValueClustering) {
  using enum ValueClustering;
  static constexpr EnumName<ValueClustering> kNames[] = {{kOff, "off"}, {kAuto, "auto"}, {kFull, "full"}};
  return kNames;
}
std::span<const EnumName<CompactionStyle>> NamesOf(CompactionStyle) {
  static constexpr EnumName<CompactionStyle> kNames[] = {{kCompactionStyleLevel, "kCompactionStyleLevel"},
                                                         {kCompactionStyleLazyLevel, "kCompactionStyleLazyLevel"}};
  return kNames;
}

// ---- Numbers ----

std::string RangeText(const OptionRange& range, bool is_fraction) {
  const auto end = [is_fraction](auto n) {
    return is_fraction ? std::to_string(static_cast<double>(n)) : std::to_string(n);
  };
  return (range.or_zero ? "0, or " : "") + end(range.low) + " to " + end(range.high);
}

template <typename Number>
bool IsInRange(Number value, const OptionRange& range) {
  if (range.or_zero && value == 0) return true;
  if constexpr (std::is_same_v<Number, double>) {
    return value >= static_cast<double>(range.low) && value <= static_cast<double>(range.high);  // not a NaN
  } else {
    return std::cmp_greater_equal(value, range.low) && std::cmp_less_equal(value, range.high);
  }
}

template <typename Number>
std::optional<Number> ParseNumber(Slice text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.empty()) return std::nullopt;
  const std::size_t rest = text.size() - static_cast<std::size_t>(end - text.data());
  if (rest == 0) return number;
  if constexpr (std::is_integral_v<Number>) {
    constexpr std::string_view kUnits = "KMGT";
    const char unit = *end >= 'a' && *end <= 'z' ? static_cast<char>(*end - 'a' + 'A') : *end;
    const std::size_t power = kUnits.find(unit);
    Number product = 0;
    if (rest == 1 && power != std::string_view::npos &&
        !__builtin_mul_overflow(number, std::uint64_t{1} << (10 * (power + 1)), &product)) {
      return product;
    }
  }
  return std::nullopt;
}

Status Illegal(const char* name, Slice text, const std::string& legal) {
  return Status::InvalidArgument(std::string(name) + " is " + Quoted(text) + "; legal is " + legal);
}

}  // namespace

template <>
std::span<const OptionField<DBOptions>> OptionFields() {
  return kDbFields;
}
template <>
std::span<const OptionField<ColumnFamilyOptions>> OptionFields() {
  return kFamilyFields;
}

template <typename Struct>
const OptionField<Struct>* FindOptionField(Slice name) {
  const auto fields = OptionFields<Struct>();
  const auto found = std::ranges::find_if(fields, [name](const auto& field) { return name == Slice(field.name); });
  return found == fields.end() ? nullptr : &*found;
}

template <typename Struct>
Status CheckOptionRanges(const Struct& options) {
  for (const OptionField<Struct>& field : OptionFields<Struct>()) {
    const Status checked = std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), NoText>) {
            const auto value = options.*member;
            if constexpr (std::is_arithmetic_v<decltype(value)> && !std::is_same_v<decltype(value), const bool>) {
              if (!IsInRange(value, field.range)) {
                return Status::InvalidArgument(
                    std::string(field.name) + " is " + std::to_string(value) + "; legal is " +
                    RangeText(field.range, std::is_floating_point_v<decltype(value)>));
              }
            }
          }
          return Status::OK();
        },
        field.member);
    if (!checked.ok()) return checked;
  }
  return Status::OK();
}

template <typename Struct>
std::string FormatOption(const OptionField<Struct>& field, const Struct& options) {
  return std::visit(
      [&](auto member) -> std::string {
        if constexpr (std::is_same_v<decltype(member), NoText>) {
          return {};
        } else {
          const auto value = options.*member;
          using Value = std::remove_const_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, bool>) {
            return value ? "true" : "false";
          } else if constexpr (std::is_same_v<Value, double>) {
            char text[64];  // to_chars writes the shortest text that parses as the same number
            return {text, std::to_chars(text, text + sizeof(text), value).ptr};
          } else if constexpr (std::is_integral_v<Value>) {
            return std::to_string(value);
          } else if constexpr (std::is_enum_v<Value>) {
            const auto names = NamesOf(value);
            const auto found = std::ranges::find(names, value, &EnumName<Value>::value);
            return found == names.end() ? std::to_string(static_cast<int>(value)) : found->name;
          } else {
            return value == nullptr ? std::string() : EscapeText(value->Name());
          }
        }
      },
      field.member);
}

namespace {

template <typename Enum>
Status ParseEnum(const char* name, Slice text, Enum* out) {
  std::string legal;
  for (const EnumName<Enum>& each : NamesOf(*out)) {
    if (text == Slice(each.name)) {
      *out = each.value;
      return Status::OK();
    }
    legal += (legal.empty() ? "" : ", ") + std::string(each.name);
  }
  return Illegal(name, text, legal);
}

Status ParseComparator(const char* name, Slice text, std::span<const Comparator* const> known, const Comparator** out) {
  std::string wanted;
  if (!UnescapeText(text, &wanted)) return Illegal(name, text, "the name of a comparator");
  if (*out != nullptr && wanted == (*out)->Name()) return Status::OK();
  const Comparator* found = BuiltInComparator(wanted);
  for (const Comparator* const each : known) {
    if (each != nullptr && wanted == each->Name()) found = each;
  }
  if (found == nullptr) {
    return Illegal(name, text, std::string(BytewiseComparator()->Name()) + ", " + ReverseBytewiseComparator()->Name() +
                                   ", or a comparator that the caller passes as an object");
  }
  *out = found;
  return Status::OK();
}

template <typename Number>
Status ParseNumberInto(const char* name, Slice text, const OptionRange& range, Number* out) {
  constexpr bool kIsFraction = std::is_floating_point_v<Number>;
  const std::optional<Number> number = ParseNumber<Number>(text);
  if (!number.has_value()) {
    return Illegal(name, text, RangeText(range, kIsFraction) +
                                   (kIsFraction ? "" : ", as a whole number that may end in K, M, G or T"));
  }
  *out = *number;
  return Status::OK();
}

}  // namespace

template <typename Struct>
Status ParseOption(const OptionField<Struct>& field, Slice text, std::span<const Comparator* const> known,
                   Struct* options) {
  return std::visit(
      [&](auto member) -> Status {
        if constexpr (std::is_same_v<decltype(member), NoText>) {
          return Status::InvalidArgument(std::string(field.name) +
                                         " is an object and has no text form; set the field of the options struct");
        } else {
          auto* const out = &(options->*member);
          using Value = std::remove_pointer_t<decltype(&(options->*member))>;
          if constexpr (std::is_same_v<Value, bool>) {
            *out = text == Slice("true") || text == Slice("1");
            const bool is_legal = *out || text == Slice("false") || text == Slice("0");
            return is_legal ? Status::OK() : Illegal(field.name, text, "true or false");
          } else if constexpr (std::is_arithmetic_v<Value>) {
            return ParseNumberInto(field.name, text, field.range, out);
          } else if constexpr (std::is_enum_v<Value>) {
            return ParseEnum(field.name, text, out);
          } else {
            return ParseComparator(field.name, text, known, out);
          }
        }
      },
      field.member);
}

std::string EscapeText(Slice bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    const auto byte = static_cast<unsigned char>(c);
    const bool at_end = c == ' ' && (i == 0 || i + 1 == bytes.size());
    if (byte < 0x20 || byte == 0x7f || at_end || std::string_view("\\\";{}=#[]").find(c) != std::string_view::npos) {
      text.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    } else {
      text += c;
    }
  }
  return text;
}

std::string Quoted(Slice bytes) {
  return "\"" + EscapeText(bytes.substr(0, std::min<std::size_t>(bytes.size(), 100))) + "\"";
}

bool UnescapeText(Slice text, std::string* bytes) {
  bytes->clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      *bytes += text[i];
      continue;
    }
    unsigned byte = 0;
    if (text.size() - i < 4 || text[i + 1] != 'x') return false;
    const auto [end, error] = std::from_chars(text.data() + i + 2, text.data() + i + 4, byte, 16);
    if (error != std::errc() || end != text.data() + i + 4) return false;
    *bytes += static_cast<char>(byte);
    i += 3;
  }
  return true;
}

template const OptionField<DBOptions>* FindOptionField(Slice);
template const OptionField<ColumnFamilyOptions>* FindOptionField(Slice);
template Status CheckOptionRanges(const DBOptions&);
template Status CheckOptionRanges(const ColumnFamilyOptions&);
template std::string FormatOption(const OptionField<DBOptions>&, const DBOptions&);
template std::string FormatOption(const OptionField<ColumnFamilyOptions>&, const ColumnFamilyOptions&);
template Status ParseOption(const OptionField<DBOptions>&, Slice, std::span<const Comparator* const>, DBOptions*);
template Status ParseOption(const OptionField<ColumnFamilyOptions>&, Slice, std::span<const Comparator* const>,
                            ColumnFamilyOptions*);

}  // namespace cambium
