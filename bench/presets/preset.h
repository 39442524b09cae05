// Preset: published experiments by name. Each is a series of runs of this program, one after the other, with one report.
#pragma once

#include <string>
#include <vector>

namespace cambium::bench {

struct PresetRun {
  std::string experiment;              // its name in tables and reports
  std::vector<std::string> arguments;  // "--num=1000": what it decides, unless the command line does
  // If not empty, it shows something of these engines, and is left out if the command line names others only.
  std::vector<std::string> about = {};
};

struct Preset {
  const char* name;
  const char* summary;
  // What --scale is a fraction of, in words: "1 TB of values of each size".
  const char* original;
  double scale;  // where it takes minutes
  std::vector<PresetRun> (*runs)(double scale);
  // The options by which its runs differ but in size: what makes each the experiment that it is named after. The command
  // line cannot say otherwise.
  std::vector<std::string> defining;
};

const std::vector<Preset>& Presets();
// Null if there is none of that name.
const Preset* FindPreset(const std::string& name);

}  // namespace cambium::bench
