#include "html/result_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace cambium::bench {
namespace {

using Json = nlohmann::ordered_json;

bool Has(const ReportRun& run, const Result& r) {
  return std::any_of(run.results.begin(), run.results.end(), [&r](const Result& other) {
    return other.step == r.step && other.round == r.round && Label(other) == Label(r);
  });
}

// Throws nlohmann's exceptions. Nothing is changed then.
void Add(const Json& json, std::vector<ReportRun>* runs) {
  Result result = FromJson(json);
  const RunFacts facts = FactsFromJson(json);
  const std::string settings = SettingsFromJson(json);
  const auto last = std::find_if(runs->rbegin(), runs->rend(), [&](const ReportRun& run) {
    return run.facts == facts && run.results.front().experiment == result.experiment;
  });
  const bool again = last == runs->rend() || Has(*last, result);
  if (again) runs->push_back({.facts = facts, .settings = {}, .results = {}});
  ReportRun& run = again ? runs->back() : *last;
  if (!settings.empty()) run.settings[Label(result)] = settings;
  run.results.push_back(std::move(result));
}

}  // namespace

Status ReadResults(const std::string& file, std::vector<ReportRun>* runs) {
  std::ifstream stream(file);
  if (!stream) return Status::IOError("cannot read " + file + ": " + std::strerror(errno));
  std::string where = file;
  try {
    while (std::isspace(stream.peek()) != 0) stream.get();
    if (stream.peek() == '[') {
      for (const Json& json : Json::parse(stream)) Add(json, runs);
      return {};
    }
    std::string line;
    for (std::size_t number = 1; std::getline(stream, line); ++number) {
      where = file + ", line " + std::to_string(number);
      if (line.find_first_not_of(" \t\r") != std::string::npos) Add(Json::parse(line), runs);
    }
  } catch (const Json::exception& error) {
    return Status::Corruption(where + ": not a result of cambium_bench: " + error.what());
  }
  return stream.bad() ? Status::IOError("cannot read " + file) : Status();
}

}  // namespace cambium::bench
