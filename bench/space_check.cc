#include "space_check.h"

#include <filesystem>
#include <system_error>

#include "workload.h"

namespace cambium::bench {
namespace {

// Bytes of a value that is a file below `dir`, on average.
double MeanOfFiles(const std::string& dir) {
  std::error_code error;
  double bytes = 0;
  double count = 0;
  std::filesystem::recursive_directory_iterator entries(dir, error);
  for (; !error && entries != std::filesystem::recursive_directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (entries->symlink_status(ignored).type() != std::filesystem::file_type::regular) continue;
    bytes += static_cast<double>(entries->file_size(ignored));
    ++count;
  }
  return count == 0 ? 0 : bytes / count + kValueHeaderSize;
}

}  // namespace

std::uint64_t SpaceNeeded(const BenchFlags& flags) {
  const std::size_t databases = flags.db.empty() ? 1 : flags.engines.size() + (flags.index == "both" ? 1 : 0);
  if (!flags.source.empty()) return static_cast<std::uint64_t>(static_cast<double>(flags.num) * MeanOfFiles(flags.source) * 3) * databases;
  const double entry = static_cast<double>(KeyShapeOf(flags).TypicalSize()) + ValueSizesOf(flags).Mean();
  return static_cast<std::uint64_t>(static_cast<double>(flags.num) * entry * 3) * databases;
}

std::string ComplainOfSpace(const BenchFlags& flags, const std::string& directory) {
  if (flags.use_existing_db) return {};
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(directory, error);
  if (error) return directory + ": " + error.message();
  const std::uint64_t needed = SpaceNeeded(flags);
  if (space.available >= needed) return {};
  return directory + " has " + std::to_string(space.available >> 20) + " MiB free, and up to " +
         std::to_string(needed >> 20) + " MiB may be needed" +
         (flags.experiment.empty() ? "" : " for " + flags.experiment) + "; a smaller --num or --scale, or another --db";
}

}  // namespace cambium::bench
