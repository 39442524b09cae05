// Options from text, and as text.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "cambium/convenience.h"
#include "options/options_text.h"
#include "rocksdb_names/hints.h"
#include "rocksdb_names/to_cambium.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

using cambium::OptionTexts;

template <typename Enum, std::size_t n>
Status SetEnum(const std::array<std::pair<const char*, Enum>, n>& names, const std::string& name,
               const std::string& text, Enum* out) {
  const auto found = std::ranges::find_if(names, [&text](const auto& each) { return text == each.first; });
  if (found == names.end()) return Status::InvalidArgument(name + " is " + text + "; it is no value of this option");
  *out = found->second;
  return Status::OK();
}

constexpr std::array<std::pair<const char*, CompressionType>, 9> kCompressions = {{
    {"kNoCompression", kNoCompression},
    {"kSnappyCompression", kSnappyCompression},
    {"kZlibCompression", kZlibCompression},
    {"kBZip2Compression", kBZip2Compression},
    {"kLZ4Compression", kLZ4Compression},
    {"kLZ4HCCompression", kLZ4HCCompression},
    {"kXpressCompression", kXpressCompression},
    {"kZSTD", kZSTD},
    {"kDisableCompressionOption", kDisableCompressionOption},
}};
constexpr std::array<std::pair<const char*, CompactionStyle>, 5> kStyles = {{
    {"kCompactionStyleLevel", kCompactionStyleLevel},
    {"kCompactionStyleUniversal", kCompactionStyleUniversal},
    {"kCompactionStyleFIFO", kCompactionStyleFIFO},
    {"kCompactionStyleNone", kCompactionStyleNone},
    {"kCompactionStyleLazyLevel", kCompactionStyleLazyLevel},
}};

Status SetInt(const std::string& name, const std::string& text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc() && end == text.data() + text.size()) return Status::OK();
  return Status::InvalidArgument(name + " is " + text + "; it is not a whole number");
}

// Sets an option that has another type in Cambium, or that Cambium does not have. NotFound if there is no such option.
Status SetOther(const std::string& name, const std::string& text, DBOptions* options) {
  if (name == "max_background_compactions") return SetInt(name, text, &options->max_background_compactions);
  if (name == "max_background_flushes") return SetInt(name, text, &options->max_background_flushes);
  if (name == "wal_dir") {
    options->wal_dir = text;
    return Status::OK();
  }
  return SetHint(options, name, text);
}

Status SetTable(const OptionTexts& texts, bool ignore_unknown, BlockBasedTableOptions* table) {
  for (const auto& [name, text] : texts) {
    const Status set = SetHint(table, name, text);
    if (set.IsNotFound() && ignore_unknown) continue;
    if (!set.ok()) return Status::InvalidArgument(set.message());
  }
  return Status::OK();
}

Status SetOther(const std::string& name, const std::string& text, bool ignore_unknown, ColumnFamilyOptions* options) {
  if (name == "compression") return SetEnum(kCompressions, name, text, &options->compression);
  if (name == "blob_compression_type") return SetEnum(kCompressions, name, text, &options->blob_compression_type);
  if (name == "compaction_style") return SetEnum(kStyles, name, text, &options->compaction_style);
  if (name == "block_based_table_factory" || name == "table_factory") {
    if (text == TableFactory::kBlockBasedTableName()) return Status::OK();
    CAMBIUM_TRY(const OptionTexts texts, cambium::SplitOptionText(text));
    BlockBasedTableOptions table;
    if (options->table_factory != nullptr) table = *options->table_factory->GetOptions<BlockBasedTableOptions>();
    CAMBIUM_RETURN_IF_ERROR(SetTable(texts, ignore_unknown, &table));
    options->table_factory.reset(NewBlockBasedTableFactory(table));
    return Status::OK();
  }
  return SetHint(options, name, text);
}

Status Apply(const OptionTexts& texts, const ConfigOptions& config, DBOptions* options) {
  OptionTexts same;
  for (const auto& [name, text] : texts) {
    const Status set = SetOther(name, text, options);
    if (set.IsNotFound()) {
      same[name] = text;
    } else {
      CAMBIUM_RETURN_IF_ERROR(set);
    }
  }
  const cambium::ApplyRules rules = {.comparators = {}, .ignore_unknown = config.ignore_unknown_options};
  return cambium::ApplyOptionTexts(same, rules, &options->Same());
}

Status Apply(const OptionTexts& texts, const ConfigOptions& config, ColumnFamilyOptions* options) {
  OptionTexts same;
  bool has_comparator = false;
  for (const auto& [name, text] : texts) {
    has_comparator = has_comparator || name == "comparator";
    const Status set = SetOther(name, text, config.ignore_unknown_options, options);
    if (set.IsNotFound()) {
      same[name] = text;
    } else {
      CAMBIUM_RETURN_IF_ERROR(set);
    }
  }
  std::vector<const Comparator*> known = config.comparators;
  known.push_back(options->comparator);
  std::vector<const cambium::Comparator*> known_to_cambium;
  for (const Comparator* const each : known) known_to_cambium.push_back(each->OnCambium());
  const cambium::ApplyRules rules = {.comparators = known_to_cambium, .ignore_unknown = config.ignore_unknown_options};
  CAMBIUM_RETURN_IF_ERROR(cambium::ApplyOptionTexts(same, rules, &options->Same()));
  if (!has_comparator) return Status::OK();
  ColumnFamilyOptions found;
  CAMBIUM_RETURN_IF_ERROR(FromCambium(options->Same(), known, &found));
  options->comparator = found.comparator;
  return Status::OK();
}

// Replaces RocksDB's name of a comparator that Cambium has by Cambium's name.
void UseOwnNames(OptionTexts* texts) {
  const auto comparator = texts->find("comparator");
  if (comparator == texts->end()) return;
  for (const Comparator* const each : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    if (comparator->second == each->Name()) comparator->second = each->OnCambium()->Name();
  }
}

OptionTexts Ordered(const std::unordered_map<std::string, std::string>& values) {
  return {values.begin(), values.end()};
}

template <typename Options>
Status ApplyTo(const Options& base, const ConfigOptions& config, OptionTexts texts, Options* out) {
  UseOwnNames(&texts);
  Options changed = base;
  CAMBIUM_RETURN_IF_ERROR(Apply(texts, config, &changed));
  *out = std::move(changed);
  return Status::OK();
}

void Append(const TextPairs& pairs, const std::string& delimiter, std::string* text) {
  for (const auto& [name, value] : pairs) {
    if (!text->empty()) *text += delimiter;
    *text += name;
    *text += "={" + value + "}";
  }
}

}  // namespace

Status GetDBOptionsFromString(const ConfigOptions& config, const DBOptions& base, const std::string& text,
                              DBOptions* out) {
  CAMBIUM_TRY(OptionTexts texts, cambium::SplitOptionText(text));
  return ApplyTo(base, config, std::move(texts), out);
}
Status GetColumnFamilyOptionsFromString(const ConfigOptions& config, const ColumnFamilyOptions& base,
                                        const std::string& text, ColumnFamilyOptions* out) {
  CAMBIUM_TRY(OptionTexts texts, cambium::SplitOptionText(text));
  return ApplyTo(base, config, std::move(texts), out);
}
Status GetDBOptionsFromMap(const ConfigOptions& config, const DBOptions& base,
                           const std::unordered_map<std::string, std::string>& values, DBOptions* out) {
  return ApplyTo(base, config, Ordered(values), out);
}
Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config, const ColumnFamilyOptions& base,
                                     const std::unordered_map<std::string, std::string>& values,
                                     ColumnFamilyOptions* out) {
  return ApplyTo(base, config, Ordered(values), out);
}

// An option belongs to the database if the database accepts its name.
Status GetOptionsFromString(const ConfigOptions& config, const Options& base, const std::string& text, Options* out) {
  CAMBIUM_TRY(OptionTexts texts, cambium::SplitOptionText(text));
  UseOwnNames(&texts);
  OptionTexts of_db;
  OptionTexts of_family;
  for (const auto& [name, value] : texts) {
    DBOptions trial;
    const bool is_other = !SetOther(name, value, &trial).IsNotFound();
    const bool is_same = cambium::FindOptionField<cambium::DBOptions>(name) != nullptr;
    (is_other || is_same ? of_db : of_family)[name] = value;
  }
  Options changed = base;
  CAMBIUM_RETURN_IF_ERROR(Apply(of_db, config, static_cast<DBOptions*>(&changed)));
  CAMBIUM_RETURN_IF_ERROR(Apply(of_family, config, static_cast<ColumnFamilyOptions*>(&changed)));
  *out = std::move(changed);
  return Status::OK();
}
Status GetOptionsFromString(const Options& base, const std::string& text, Options* out) {
  return GetOptionsFromString(ConfigOptions(), base, text, out);
}

Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config, const BlockBasedTableOptions& base,
                                           const std::string& text, BlockBasedTableOptions* out) {
  CAMBIUM_TRY(const OptionTexts texts, cambium::SplitOptionText(text));
  BlockBasedTableOptions changed = base;
  CAMBIUM_RETURN_IF_ERROR(SetTable(texts, config.ignore_unknown_options, &changed));
  *out = std::move(changed);
  return Status::OK();
}

Status GetStringFromDBOptions(std::string* text, const DBOptions& options, const std::string& delimiter) {
  std::vector<std::string> ignored;
  cambium::DBOptions same;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(options, options.wal_dir, &same, &ignored));
  CAMBIUM_RETURN_IF_ERROR(cambium::GetStringFromDBOptions(text, same, delimiter));
  Append(SetHints(options), delimiter, text);
  return Status::OK();
}
Status GetStringFromDBOptions(const ConfigOptions& config, const DBOptions& options, std::string* text) {
  return GetStringFromDBOptions(text, options, config.delimiter);
}
Status GetStringFromColumnFamilyOptions(std::string* text, const ColumnFamilyOptions& options,
                                        const std::string& delimiter) {
  std::vector<std::string> ignored;
  cambium::ColumnFamilyOptions same;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(options, "", &same, &ignored));
  CAMBIUM_RETURN_IF_ERROR(cambium::GetStringFromColumnFamilyOptions(text, same, delimiter));
  Append(SetHints(options), delimiter, text);
  if (options.table_factory == nullptr) return Status::OK();
  std::string table;
  Append(SetHints(*options.table_factory->GetOptions<BlockBasedTableOptions>()), ";", &table);
  if (!table.empty()) Append({{"block_based_table_factory", table}}, delimiter, text);
  return Status::OK();
}
Status GetStringFromColumnFamilyOptions(const ConfigOptions& config, const ColumnFamilyOptions& options,
                                        std::string* text) {
  return GetStringFromColumnFamilyOptions(text, options, config.delimiter);
}

}  // namespace rocksdb::inline on_cambium
