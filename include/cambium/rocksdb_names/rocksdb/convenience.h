// Options as text, with RocksDB's functions. The syntax is that of cambium/convenience.h.
//
// A text may give Cambium's names, each hint, and block_based_table_factory={block_size=16K; ...}. Hints of an
// enumerated type are given by their number. Any other name is InvalidArgument, unless ignore_unknown_options is set.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/db.h"

namespace rocksdb::inline on_cambium {

struct ConfigOptions {
  bool ignore_unknown_options = false;
  bool ignore_unsupported_options = true;  // without effect
  bool input_strings_escaped = true;       // without effect
  std::string delimiter = ";";
  Env* env = Env::Default();
  // Comparators of the program's own, found by name. They must outlive the databases.
  std::vector<const Comparator*> comparators;
};

Status GetOptionsFromString(const ConfigOptions& config, const Options& base, const std::string& text, Options* out);
Status GetOptionsFromString(const Options& base, const std::string& text, Options* out);
Status GetDBOptionsFromString(const ConfigOptions& config, const DBOptions& base, const std::string& text,
                              DBOptions* out);
Status GetColumnFamilyOptionsFromString(const ConfigOptions& config, const ColumnFamilyOptions& base,
                                        const std::string& text, ColumnFamilyOptions* out);
Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config, const BlockBasedTableOptions& base,
                                           const std::string& text, BlockBasedTableOptions* out);
Status GetDBOptionsFromMap(const ConfigOptions& config, const DBOptions& base,
                           const std::unordered_map<std::string, std::string>& values, DBOptions* out);
Status GetColumnFamilyOptionsFromMap(const ConfigOptions& config, const ColumnFamilyOptions& base,
                                     const std::unordered_map<std::string, std::string>& values,
                                     ColumnFamilyOptions* out);

// All options of Cambium's that have a text form, and the hints that differ from their defaults.
Status GetStringFromDBOptions(std::string* text, const DBOptions& options, const std::string& delimiter = ";");
Status GetStringFromDBOptions(const ConfigOptions& config, const DBOptions& options, std::string* text);
Status GetStringFromColumnFamilyOptions(std::string* text, const ColumnFamilyOptions& options,
                                        const std::string& delimiter = ";");
Status GetStringFromColumnFamilyOptions(const ConfigOptions& config, const ColumnFamilyOptions& options,
                                        std::string* text);

}  // namespace rocksdb::inline on_cambium
