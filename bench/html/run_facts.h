// RunFacts: where a command ran, and how to repeat it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "claims/claim.h"
#include "results/result.h"

namespace cambium::bench {

struct RunFacts {
  std::string commit;
  std::string build;
  std::string command;
  std::uint64_t seed = 0;
  std::string cpu;
  std::string memory;
  std::string kernel;
  std::string file_system;
  double max_space_amplification = 0;  // Cambium's ceiling; 0: none, or unknown

  bool operator==(const RunFacts&) const = default;
};

// One command, or one run of a preset: engines that take turns with one list of benchmarks.
struct ReportRun {
  RunFacts facts;
  std::map<std::string, std::string> settings;  // version and settings of each engine, by label
  std::vector<Result> results;
};

struct ReportInput {
  std::vector<ReportRun> runs;
  std::vector<Claim> claims;            // empty: the report has no such section
  std::vector<std::string> incomplete;  // reasons for missing results: "lmdb failed in round 2"
};

// Returns a line of --json, or an element of results.json: the result, the facts, and the settings of its engine.
nlohmann::ordered_json ToJson(const Result& result, const ReportRun& run);
// Throw nlohmann's exceptions for a wrong type. Facts that an earlier release did not write are left empty.
RunFacts FactsFromJson(const nlohmann::ordered_json& json);
std::string SettingsFromJson(const nlohmann::ordered_json& json);

std::vector<Result> AllResults(const std::vector<ReportRun>& runs);

}  // namespace cambium::bench
