// The runs of each preset, and how their numbers are scaled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "presets/preset.h"

namespace cambium::bench {

std::vector<PresetRun> QuickRuns(double scale);
std::vector<PresetRun> BlobDb2021Runs(double scale);
std::vector<PresetRun> Slides4Runs(double scale);
std::vector<PresetRun> Badger2017Runs(double scale);
std::vector<PresetRun> YcsbRuns(double scale);
std::vector<PresetRun> Fast20Runs(double scale);
std::vector<PresetRun> CrossRuns(double scale);

// Returns a count of the original, scaled, but no less than `least`.
inline std::uint64_t Scaled(double original, double scale, std::uint64_t least) {
  return std::max(least, static_cast<std::uint64_t>(std::llround(original * scale)));
}

inline std::string Flag(const char* name, const std::string& value) { return std::string("--") + name + "=" + value; }
inline std::string Flag(const char* name, std::uint64_t value) { return Flag(name, std::to_string(value)); }

// Returns "4 KiB".
inline std::string SizeName(std::uint64_t bytes) {
  if (bytes >= (1u << 20) && bytes % (1u << 20) == 0) return std::to_string(bytes >> 20) + " MiB";
  return bytes >= 1024 && bytes % 1024 == 0 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes) + " B";
}

}  // namespace cambium::bench
