#include "html/result_files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace cambium::bench {
namespace {

using Json = nlohmann::ordered_json;

bool Has(const ReportRun& run, const Result& r) {
  return std::any_of(run.results.begin(), run.results.end(), [&r](const Result& other) {
    return other.step == r.step && other.round == r.round && Label(other) == Label(r);
  });
}

// No machine reaches such figures: a larger one shows that the file was edited.
constexpr double kAbsurd = 1e18;

constexpr int kDepth = 4;  // the depth of samples: a result, the list, a sample, its figures

// Throws std::out_of_range for a figure that is too large, and for a nesting deeper than that of any result.
void CheckFigures(const Json& json, const std::string& name, int depth) {
  if (depth == 0) throw std::out_of_range(name + " has too many levels");
  if (json.is_structured()) {
    for (const auto& [key, value] : json.items()) CheckFigures(value, json.is_object() ? key : name, depth - 1);
  } else if (json.is_number_float() && !(std::abs(json.get<double>()) <= kAbsurd)) {
    throw std::out_of_range(name + " is " + json.dump());
  }
}

// Adds a result to its run. Throws nlohmann's exceptions and std::out_of_range, without having changed anything.
void Add(const Json& json, std::vector<ReportRun>* runs) {
  CheckFigures(json, "", kDepth);
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
  } catch (const std::out_of_range& error) {
    return Status::Corruption(where + ": not a figure of cambium_bench: " + error.what());
  }
  return stream.bad() ? Status::IOError("cannot read " + file) : Status();
}

}  // namespace cambium::bench
