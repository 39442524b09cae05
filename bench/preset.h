// Preset: published experiments by name. Each is a series of runs of this program, one after the other, with one report.
#pragma once

#include <string>
#include <vector>

#include "flags.h"

namespace cambium::bench {

struct Preset {
  const char* name;
  const char* summary;
  // What --scale is a fraction of, in words: "1 TB of values".
  const char* original;
  // The runs, each with BenchFlags::experiment set to a name of its own. What the preset does not decide they have from
  // `given`: engines, rounds, seed, where databases lie. Sizes and counts are the original's, times given.scale.
  std::vector<BenchFlags> (*runs)(const BenchFlags& given);
};

const std::vector<Preset>& Presets();
// Null if there is none of that name.
const Preset* FindPreset(const std::string& name);

}  // namespace cambium::bench
