#include "html/run_facts.h"

namespace cambium::bench {

nlohmann::ordered_json ToJson(const Result& result, const ReportRun& run) {
  nlohmann::ordered_json json = ToJson(result);
  const RunFacts& f = run.facts;
  const auto settings = run.settings.find(Label(result));
  json.update({{"commit", f.commit},
               {"build", f.build},
               {"command", f.command},
               {"seed", f.seed},
               {"cpu", f.cpu},
               {"memory", f.memory},
               {"kernel", f.kernel},
               {"file_system", f.file_system},
               {"max_space_amplification", f.max_space_amplification},
               {"settings", settings == run.settings.end() ? "" : settings->second}});
  return json;
}

RunFacts FactsFromJson(const nlohmann::ordered_json& json) {
  return {.commit = json.value("commit", ""),
          .build = json.value("build", ""),
          .command = json.value("command", ""),
          .seed = json.value("seed", std::uint64_t{0}),
          .cpu = json.value("cpu", ""),
          .memory = json.value("memory", ""),
          .kernel = json.value("kernel", ""),
          .file_system = json.value("file_system", ""),
          .max_space_amplification = json.value("max_space_amplification", 0.0)};
}

std::string SettingsFromJson(const nlohmann::ordered_json& json) { return json.value("settings", ""); }

std::vector<Result> AllResults(const std::vector<ReportRun>& runs) {
  std::vector<Result> results;
  for (const ReportRun& run : runs) results.insert(results.end(), run.results.begin(), run.results.end());
  return results;
}

}  // namespace cambium::bench
