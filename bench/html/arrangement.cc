#include "html/arrangement.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <utility>

#include "html/escape.h"
#include "html/units.h"

namespace cambium::bench {
namespace {

// Returns "blobdb2021" for "blobdb2021, 4 KiB".
std::string PresetOf(const std::string& experiment) { return experiment.substr(0, experiment.find(", ")); }

// Returns the common part of a chapter's runs: the preset, or the command without the options that may differ.
std::string FamilyOf(const ReportRun& run) {
  const std::string& experiment = run.results.front().experiment;
  if (!experiment.empty()) return PresetOf(experiment);
  static constexpr std::array kFree = {"--num",     "--value_size", "--reads", "--writes",
                                       "--deletes", "--rounds",     "--json",  "--report"};
  std::istringstream words(run.facts.command);
  std::string family = " ";  // no preset's name begins with a space
  for (std::string word; words >> word;) {
    const std::string flag = word.substr(0, word.find('='));
    if (std::find(kFree.begin(), kFree.end(), flag) == kFree.end()) {
      family += word + " ";
    } else if (flag == word) {
      words >> word;  // its value
    }
  }
  return family;
}

std::string NameOf(const ReportRun& run) {
  const Result& r = run.results.front();
  if (!r.experiment.empty()) {
    const std::string preset = PresetOf(r.experiment);
    return preset.size() + 2 < r.experiment.size() ? r.experiment.substr(preset.size() + 2) : r.experiment;
  }
  std::string name = Format(Unit::kCount, static_cast<double>(r.num)) + " keys, values of " +
                     Format(Unit::kBytes, static_cast<double>(r.value_size));
  if (r.threads > 1) name += ", " + std::to_string(r.threads) + " threads";
  return name;
}

bool Changes(const Result& result) {
  const Workload* workload = FindWorkload(result.benchmark);
  const bool only_looks = workload != nullptr && workload->effect == Effect::kMaintains && workload->run != nullptr;
  return EffectOf(result) != Effect::kReads && !only_looks;
}

// Returns "name", then "name (2)", ...
std::string Once(std::map<std::string, int>* seen, const std::string& name) {
  const int times = ++(*seen)[name];
  return times == 1 ? name : name + " (" + std::to_string(times) + ")";
}

}  // namespace

Effect EffectOf(const Result& result) {
  if (const Workload* workload = FindWorkload(result.benchmark); workload != nullptr) return workload->effect;
  return result.write_amp.has_value() ? Effect::kWrites : Effect::kReads;
}

RunView::RunView(const ReportRun& run, std::string name, std::string prefix)
    : run_(&run), name_(std::move(name)), prefix_(std::move(prefix)) {
  for (const auto& [step, title] : NameSteps(run.results)) {
    const auto first =
        std::find_if(run.results.begin(), run.results.end(), [s = step](const Result& r) { return r.step == s; });
    steps_.push_back({step, title, EffectOf(*first), Changes(*first)});
  }
  for (const Result& result : run.results) {
    AddOnce(&engines_, Label(result));
    rounds_ = std::max(rounds_, result.round + 1);
  }
  engines_ = InPaletteOrder(std::move(engines_));
}

std::vector<const Result*> RunView::ResultsOf(std::uint64_t step, const std::string& engine) const {
  std::vector<const Result*> found;
  for (const Result& result : run_->results) {
    if (result.step == step && Label(result) == engine) found.push_back(&result);
  }
  std::stable_sort(found.begin(), found.end(), [](const Result* a, const Result* b) { return a->round < b->round; });
  return found;
}

Rounds RunView::RoundsOf(std::uint64_t step, const std::string& engine, const Metric& metric) const {
  Rounds rounds;
  for (const Result* result : ResultsOf(step, engine)) {
    if (const std::optional<double> value = metric(*result); value.has_value()) rounds[result->round] = *value;
  }
  return rounds;
}

std::optional<Spread> RunView::SpreadOfRounds(std::uint64_t step, const std::string& engine,
                                              const Metric& metric) const {
  return SpreadOf(RoundsOf(step, engine, metric));
}

Arrangement Arrange(const std::vector<ReportRun>& runs) {
  std::vector<std::string> families;
  std::map<std::string, std::vector<const ReportRun*>> members;
  std::vector<std::string> engines;
  for (const ReportRun& run : runs) {
    if (run.results.empty()) continue;
    const std::string family = FamilyOf(run);
    AddOnce(&families, family);
    members[family].push_back(&run);
    for (const Result& result : run.results) AddOnce(&engines, Label(result));
  }
  engines = InPaletteOrder(std::move(engines));
  Arrangement arrangement{.palette = Palette(engines), .engines = engines, .chapters = {}};
  std::map<std::string, int> chapter_names;
  std::map<std::string, int> prefixes;
  for (const std::string& family : families) {
    const std::string& preset = members[family].front()->results.front().experiment;
    Chapter chapter;
    chapter.name = Once(&chapter_names, preset.empty() ? "Command line" : PresetOf(preset));
    chapter.prefix = families.size() == 1 ? "" : ToSlug(chapter.name) + "-";
    std::map<std::string, int> names;
    for (const ReportRun* run : members[family]) {
      const std::string name = Once(&names, NameOf(*run));
      const bool alone = members[family].size() == 1;
      const std::string prefix = alone ? chapter.prefix : chapter.prefix + ToSlug(Once(&prefixes, name)) + "-";
      chapter.runs.emplace_back(*run, name, prefix);
    }
    arrangement.chapters.push_back(std::move(chapter));
  }
  return arrangement;
}

}  // namespace cambium::bench
