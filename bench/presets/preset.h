// Preset: published experiments by name. A preset is a series of runs of this program, with one report.
#pragma once

#include <string>
#include <vector>

namespace cambium::bench {

struct PresetRun {
  std::string experiment;              // its name in tables and reports
  std::vector<std::string> arguments;  // "--num=1000": used unless the command line has the option
  // If not empty, the run is about these engines, and is left out if the command line names none of them.
  std::vector<std::string> about = {};
};

struct Preset {
  const char* name;
  const char* summary;
  // The sizes at scale 1, in words: "1 TB of values of each size".
  const char* original;
  double scale;  // the default, at which it takes minutes
  std::vector<PresetRun> (*runs)(double scale);
  // The options, other than sizes, in which the preset's runs differ. With other values a run would not be the
  // experiment that its name says. The command line cannot override them.
  std::vector<std::string> defining;
};

// In presets.cc.
const std::vector<Preset>& Presets();
// Returns null for an unknown name.
const Preset* FindPreset(const std::string& name);

}  // namespace cambium::bench
