// cambium gc DIR: prints what log GC would choose and why, or runs one round of it.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "database.h"
#include "describe.h"
#include "draw.h"
#include "inspect/gc_plan.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

using Json = nlohmann::ordered_json;

struct GcFlags : DatabaseFlags {
  bool dry_run = false;
  bool force = false;
  bool compact = false;
  double age_cutoff = -1;
  [[nodiscard]] GcRound round() const { return {force, age_cutoff}; }
};

Json GcJson(const GcCost& cost) {
  return {{"segments", cost.segments},
          {"bytes_read", cost.bytes_read},
          {"bytes_written", cost.bytes_written},
          {"bytes_freed", cost.bytes_freed}};
}

GcCost Sum(const GcCost& a, const GcCost& b) {
  return {a.segments + b.segments, a.bytes_read + b.bytes_read, a.bytes_written + b.bytes_written,
          a.bytes_freed + b.bytes_freed};
}

Json GcJson(const GcPlanSegment& segment) {
  Json json{{"file", tool::Describe(segment.info)["file"]}, {"kind", NameOf(segment.info.kind)}};
  json["bytes"] = segment.use.bytes != 0 ? segment.use.bytes : segment.info.file_size;
  json["live_bytes"] = segment.use.live_bytes;
  json["live_records"] = segment.use.live_records;
  json["garbage_bytes"] = segment.use.bytes == 0 ? 0 : segment.use.garbage();
  json["hole_bytes"] = segment.use.hole_bytes;
  json["generation"] = segment.use.generation;
  json["benefit"] = segment.benefit;
  json["chosen"] = segment.verdict == GcVerdict::kMoved || segment.verdict == GcVerdict::kPunched;
  json["why"] = NameOf(segment.verdict);
  return json;
}

std::string DrawPlan(const GcFlags& flags, const Json& json, const GcPlan& plan) {
  std::vector<std::vector<std::string>> rows = {{"segment", "bytes", "live", "garbage", "benefit", "", "why"}};
  for (const Json& segment : json["segments"]) {
    char benefit[32];
    std::snprintf(benefit, sizeof(benefit), "%.2f", segment["benefit"].get<double>());
    rows.push_back({segment["file"].get<std::string>(), segment["bytes"].dump(), segment["live_bytes"].dump(),
                    segment["garbage_bytes"].dump(), benefit, segment["chosen"].get<bool>() ? "*" : "",
                    segment["why"].get<std::string>()});
  }
  std::size_t widest = 0;
  for (const auto& row : rows) widest = std::max(widest, row.back().size());
  for (auto& row : rows) row.back().resize(widest, ' ');  // left-aligns the reasons
  const auto cost = [](const char* title, const Json& of) {
    return std::string(title) + ": " + std::to_string(of["segments"].get<std::uint64_t>()) + " segments, reads " +
           Bytes(of["bytes_read"].get<std::uint64_t>()) + ", writes " +
           Bytes(of["bytes_written"].get<std::uint64_t>()) + ", frees " +
           Bytes(of["bytes_freed"].get<std::uint64_t>()) + "\n";
  };
  std::string text = flags.directory + ": " + std::to_string(plan.eligible_count) + " of " +
                     std::to_string(plan.member_count) + " segments are old enough (age cutoff " +
                     Json(plan.age_cutoff).dump() + ")\n" + DrawTable(rows);
  text += cost("this round", json["round"]);
  text += plan.is_enabled ? cost("in the background, when idle", json["by_itself"])
                          : std::string("in the background: nothing, enable_blob_garbage_collection is off\n");
  if (plan.unreferenced_bytes != 0) text += "the next open frees " + Bytes(plan.unreferenced_bytes) + "\n";
  return text;
}

Result<GcPlan> PlanOf(InspectedDatabase* database, const GcFlags& flags) {
  if (const Status s = database->OpenFiles(); !s.ok()) return s;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status known = OptionsOf(flags.directory, &options, &families);
  if (!known.ok() && !known.IsCorruption()) return known;
  return PlanGc(database, options, families, flags.round());
}

int DryRun(const GcFlags& flags) {
  Result<std::unique_ptr<InspectedDatabase>> opened = InspectedDatabase::Open(FileSystem::Default(), flags.directory);
  if (!opened.ok()) return Fail(opened.status(), flags.json);
  InspectedDatabase& database = **opened;
  const Result<GcPlan> plan = PlanOf(&database, flags);
  if (!plan.ok()) return Fail(plan.status(), flags.json);
  Json json{{"directory", flags.directory}, {"dry_run", true}};
  json["age_cutoff"] = plan->age_cutoff;
  json["force"] = flags.force;
  json["candidates"] = plan->member_count;
  json["old_enough"] = plan->eligible_count;
  json["segments"] = Json::array();
  for (const GcPlanSegment& segment : plan->segments) json["segments"].push_back(GcJson(segment));
  json["round"] = GcJson(Sum(plan->moved, plan->punched));
  json["round"]["punched"] = GcJson(plan->punched);
  json["by_itself"] = GcJson(plan->by_itself.all);
  json["by_itself"]["reason"] = NameOf(plan->by_itself.reason);
  json["by_itself"]["next"] = GcJson(plan->by_itself.next);
  json["unreferenced_bytes"] = plan->unreferenced_bytes;
  json["problems"] = database.problems().lines();
  const ExitCode found = database.problems().empty() ? kClean : kDamage;
  std::string text = flags.json ? std::string() : DrawPlan(flags, json, *plan);
  for (const std::string& problem : database.problems().lines()) text += "problem: " + problem + "\n";
  const ExitCode said = flags.json ? Say(json) : Say(text);
  return said == kClean ? found : said;
}

// Records what steps of log GC report. Called by threads of the database.
class Listener final : public EventListener {
 public:
  // `bytes`: how many will be read, by the forecast.
  explicit Listener(std::uint64_t expected) : expected_(expected) {}
  void OnLogGcCompleted(DB*, const LogGcJobInfo& info) override {
    const std::lock_guard lock(mutex_);
    steps_.push_back(info);
    read_ += info.bytes_read;
    if (progress_.has_value()) progress_->Show(read_, std::max(read_, expected_));
  }
  // Call this before anything else is printed.
  void EndProgress() {
    const std::lock_guard lock(mutex_);
    progress_.reset();
  }
  void OnBlobFileDeleted(const BlobFileDeletionInfo&) override {
    const std::lock_guard lock(mutex_);
    ++removed_;
  }
  [[nodiscard]] std::vector<LogGcJobInfo> steps() const {
    const std::lock_guard lock(mutex_);
    return steps_;
  }
  [[nodiscard]] std::size_t removed() const {
    const std::lock_guard lock(mutex_);
    return removed_;
  }

 private:
  const std::uint64_t expected_;
  mutable std::mutex mutex_;
  std::vector<LogGcJobInfo> steps_;
  std::uint64_t read_ = 0;
  std::optional<Progress> progress_{std::in_place};
  std::size_t removed_ = 0;
};

const char* NameOfReason(LogGcReason reason) {
  switch (reason) {
    case LogGcReason::kGarbage:
      return "garbage";
    case LogGcReason::kForced:
      return "force threshold";
    case LogGcReason::kSmallSegments:
      return "small segments";
    case LogGcReason::kSpace:
      return "ceiling";
    case LogGcReason::kManualCompaction:
      return "requested";
    case LogGcReason::kClustering:
      return "clustering";
  }
  return "unknown";
}

Json GcJson(const LogGcJobInfo& step) {
  const auto names = [](const std::vector<std::string>& paths) {
    Json json = Json::array();
    for (const std::string& path : paths) json.push_back(path.substr(path.rfind('/') + 1));
    return json;
  };
  return {{"reason", NameOfReason(step.reason)},  {"bytes_read", step.bytes_read},
          {"bytes_written", step.bytes_written},  {"bytes_freed", step.bytes_freed},
          {"values_moved", step.keys_relocated},  {"emptied", names(step.emptied_files)},
          {"punched", names(step.punched_files)}, {"status", step.status.ToString()}};
}

// Compacts everything, so that nothing hides garbage. No log GC meanwhile.
Status CompactAll(const Database& database) {
  CompactRangeOptions options;
  options.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kDisable;
  for (ColumnFamilyHandle* const family : database.handles()) {
    if (const Status s = database.db()->CompactRange(options, family, nullptr, nullptr); !s.ok()) return s;
  }
  return Status::OK();
}

// Returns the bytes that a round will read, for the progress line. 0 if they cannot be computed; Open then reports why.
std::uint64_t Expected(const GcFlags& flags) {
  Result<std::unique_ptr<InspectedDatabase>> opened = InspectedDatabase::Open(FileSystem::Default(), flags.directory);
  if (!opened.ok()) return 0;
  const Result<GcPlan> plan = PlanOf(opened->get(), flags);
  return plan.ok() ? Sum(plan->moved, plan->punched).bytes_read : 0;
}

int Collect(const GcFlags& flags) {
  const auto listener = std::make_shared<Listener>(Progress().is_due() ? Expected(flags) : 0);
  Database database;
  Status s = database.OpenToWrite(flags, listener);
  if (s.ok() && flags.compact) s = CompactAll(database);
  if (s.ok()) s = RunGcRound(database.db(), flags.round());
  if (s.ok()) s = database.db()->WaitForCompact();
  std::uint64_t damaged = 0;
  if (s.ok()) database.db()->GetIntProperty("cambium.damaged-blob-files", &damaged);
  const Status closed = database.Close();
  if (s.ok()) s = closed;
  listener->EndProgress();
  Json json{{"directory", flags.directory}, {"dry_run", false}};
  if (!s.ok()) json["error"] = s.ToString();
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  std::uint64_t freed = 0;
  std::uint64_t emptied = 0;
  std::uint64_t punched = 0;
  Json steps = Json::array();
  for (const LogGcJobInfo& step : listener->steps()) {
    read += step.bytes_read;
    written += step.bytes_written;
    freed += step.bytes_freed;
    emptied += step.emptied_files.size();
    punched += step.punched_files.size();
    steps.push_back(GcJson(step));
  }
  json["bytes_read"] = read;
  json["bytes_written"] = written;
  json["bytes_freed"] = freed - std::min(freed, written);  // net, as in the forecast
  json["segments_emptied"] = emptied;
  json["segments_punched"] = punched;
  json["files_removed"] = listener->removed();
  json["segments_damaged"] = damaged;
  json["steps"] = std::move(steps);
  const ExitCode failed = s.ok() ? kClean : Fail(s, false);  // --json prints the error with the figures
  if (!s.ok() && !flags.json) return failed;
  const ExitCode found = !s.ok() ? failed : damaged != 0 ? kDamage : kClean;
  std::string text = flags.directory + ": read " + Bytes(read) + ", wrote " + Bytes(written) + ", freed " +
                     Bytes(json["bytes_freed"].get<std::uint64_t>()) + ", " + std::to_string(emptied) +
                     " segments emptied, " + std::to_string(punched) + " punched\n";
  if (damaged != 0) text += std::to_string(damaged) + " damaged segments were skipped: see cambium verify --deep\n";
  const ExitCode said = flags.json ? Say(json) : Say(text);
  return said == kClean ? found : said;
}

int Run(const GcFlags& flags) {
  if (flags.dry_run && flags.compact) {
    return FailUsage("--dry-run cannot foresee the garbage that --compact finds: give one of them", flags.json);
  }
  return flags.dry_run ? DryRun(flags) : Collect(flags);
}

}  // namespace

void AddGc(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<GcFlags>();
  CLI::App* command = app->add_subcommand(
      "gc",
      "Collects the garbage of the log: moves live values out of old segments, and removes these.");
  AddDirectory(command, flags.get());
  command->add_flag("--dry-run", flags->dry_run,
                    "print what would be chosen and why, and what it would cost; write nothing");
  command->add_flag("--force", flags->force, "choose all segments that are old enough, with or without garbage");
  command
      ->add_option("--age-cutoff", flags->age_cutoff,
                   "the fraction of the segments that is old enough (default: as the option says)")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--compact", flags->compact, "flush and compact everything first, so that nothing hides garbage");
  AddDefaultOptions(command, flags.get());
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium gc DIR --dry-run --age-cutoff 1\n"
      "A round takes segments that are old enough (blob_garbage_collection_age_cutoff) and a quarter garbage. It also\n"
      "punches out large dead values. Segments that are not sealed, or that recovery would read, wait for a flush.\n"
      "The forecast uses the accounts: what newer entries hide counts as live until a compaction (--compact) finds it.\n"
      "So the round may cost less and free more. Opening the database also frees what nothing refers to.");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace cambium::tool
