#include "absent.h"

#include <map>

namespace cambium::bench {

const char* WhyAbsent(const std::string& benchmark) {
  constexpr const char* kNoMerge = "Cambium has no Merge";
  constexpr const char* kKernel = "the target cambium_kernels measures the parts of the library, checksums and codecs among them";
  static const std::map<std::string, const char*> kReasons = {
      {"mergerandom", kNoMerge},
      {"readrandommergerandom", kNoMerge},
      {"ingestexternalfile", "Cambium takes no files from outside"},
      {"verifyfilechecksums", "files have no checksums but those of what is in them; verifychecksum compares these"},
      {"backup", "the tool does that: cambium backup create"},
      {"restore", "the tool does that: cambium restore"},
      {"crc32c", kKernel},
      {"xxhash", kKernel},
      {"xxhash64", kKernel},
      {"xxh3", kKernel},
      {"compress", kKernel},
      {"uncompress", kKernel},
      {"acquireload", kKernel},
      {"timeseries", "its expiry goes by a compaction filter of RocksDB"},
      {"randomreplacekeys", "its keys are written twice at most, for SingleDelete, which Cambium does not need"},
      {"resetstats", "figures are those of each workload"},
      {"readtocache", "readseq does the same"},
      {"readhot", "readrandom with --read_random_exp_range"},
      {"seekrandommerge", kNoMerge},
      {"randomtransaction", "Cambium has no transactions"},
      {"approximatesizerandom", "it measures an estimate of RocksDB's"},
      {"open", "cambium_recovery measures how long an opening takes"},
  };
  const auto found = kReasons.find(benchmark);
  return found == kReasons.end() ? nullptr : found->second;
}

}  // namespace cambium::bench
