// The options of an Open, in the database's log: one a line, as in RocksDB's LOG, where users and tools look for them.
#include <algorithm>
#include <string>
#include <type_traits>

#include "rocksdb_c/objects.h"

namespace cambium::rocks {
namespace {

template <typename Number>
std::string Text(Number number) {
  return std::to_string(number);
}
std::string Text(unsigned char flag) { return flag != 0 ? "1" : "0"; }

void Line(Logger* logger, const std::string& name, const std::string& value) {
  logger->Log(InfoLogLevel::kInfo, name + ": " + value);
}

}  // namespace

void LogOptions(const rocksdb_options_t& options, std::vector<std::string> hints, Logger* logger) {
#define CAMBIUM_ROCKSDB_LOG(prefix, name, set_type, get_type, initial) \
  Line(logger, "Options." #name, Text(options.name));
  CAMBIUM_ROCKSDB_OPTIONS(CAMBIUM_ROCKSDB_LOG, options)
#undef CAMBIUM_ROCKSDB_LOG
  const rocksdb_block_based_table_options_t table = options.table.value_or(rocksdb_block_based_table_options_t{});
#define CAMBIUM_ROCKSDB_LOG(prefix, name, set_type, get_type, initial) Line(logger, "  " #name, Text(table.name));
  CAMBIUM_ROCKSDB_BLOCK_BASED_OPTIONS(CAMBIUM_ROCKSDB_LOG, block_based_options)
#undef CAMBIUM_ROCKSDB_LOG
  LogHints(std::move(hints), logger);
}

void LogHints(std::vector<std::string> hints, Logger* logger) {
  std::ranges::sort(hints);
  const auto repeated = std::ranges::unique(hints);
  hints.erase(repeated.begin(), repeated.end());
  if (hints.empty()) return;
  std::string line = "These options of RocksDB have no effect here:";
  for (const std::string& each : hints) line += " " + each + ";";
  line.pop_back();
  logger->Log(InfoLogLevel::kInfo, line);
}

}  // namespace cambium::rocks
