// cambium_bench compares Cambium with RocksDB, LMDB, LevelDB and WiredTiger, with db_bench's workloads, keys and result
// lines.
//
// Engines take turns: in each round every engine runs all benchmarks of --benchmarks in a process of its own. The order
// rotates from round to round, so that neither a noisy neighbour nor a warm disk always favours the same engine.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "command/parse_flags.h"
#include "command/report_command.h"
#include "command/trace_command.h"
#include "data/source_files.h"
#include "engines/registry.h"
#include "html/report_writer.h"
#include "meter/interval_report.h"
#include "meter/progress.h"
#include "presets/preset.h"
#include "report/report.h"
#include "run/space_check.h"
#include "run/turn.h"
#include "system/environment.h"
#include "system/interrupt.h"
#include "workloads/workload.h"

namespace cambium::bench {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInterrupted = 130;

void PrintList() {
  std::printf("benchmarks:\n");
  for (const Workload& workload : Workloads()) std::printf("  %-22s %s\n", workload.name, workload.summary);
  std::printf("presets, by --preset=NAME:\n");
  for (const Preset& preset : Presets()) {
    std::printf("  %-22s %s. Scale 1: %s; %g if not given\n", preset.name, preset.summary, preset.original, preset.scale);
  }
  std::printf("engines:\n");
  for (const EngineEntry& entry : Engines()) {
    const std::string why = WhyUnavailable(entry);
    std::printf("  %-22s %s%s%s\n", entry.name, entry.summary, why.empty() ? "" : "; ", why.c_str());
  }
  std::printf("  %-22s every one of these stores that can run here\n", "all");
}

// A Contender takes a turn in each round. Cambium with both indexes is two contenders.
struct Contender {
  const EngineEntry* entry;
  BenchFlags flags;  // with one index, never both
};

std::string NameOf(const Contender& contender) {
  const std::string name = contender.entry->name;
  return name == "cambium" ? name + "/" + contender.flags.index : name;
}

// Returns the engines of the command line that can run here, and prints which ones cannot, and why.
std::vector<Contender> ChooseEngines(const BenchFlags& flags) {
  std::vector<Contender> engines;
  for (const std::string& name : flags.engines) {
    const EngineEntry* entry = FindEngine(name);
    if (const std::string why = WhyUnavailable(*entry); !why.empty()) {
      std::printf("Left out:   %s, %s\n", entry->name, why.c_str());
    } else if (flags.index == "both" && name == "cambium") {
      for (const char* index : {"btree", "lsm"}) {
        engines.push_back({entry, flags});
        engines.back().flags.index = index;
      }
    } else {
      engines.push_back({entry, flags});
    }
  }
  return engines;
}

// Returns version and settings.
std::string SettingsOf(const Contender& contender, const std::string& root) {
  const std::string path = PathOf(root, contender.flags, *contender.entry);
  const auto engine = contender.entry->make(ConfigOf(path, contender.flags));
  return engine->Version() + ": " + engine->Settings();
}

std::string TextOfSource(const std::string& dir) {
  SourceFiles list;
  const Status status = ListSourceFiles(dir, &list);
  return status.ok() ? TextOf(list, dir) : status.ToString();
}

void PrintSetting(const BenchFlags& flags, const std::vector<Contender>& engines, const std::string& root) {
  const Environment e = DescribeEnvironment(root);
  std::printf("Command:    %s\n", flags.command_line.c_str());
  std::printf("Seed:       %llu\n", static_cast<unsigned long long>(flags.seed));
  std::printf("Commit:     %s (%s)\n", e.commit.c_str(), e.build.c_str());
  std::printf("CPU:        %s\n", e.cpu.c_str());
  std::printf("Memory:     %s\n", e.memory.c_str());
  std::printf("Kernel:     %s\n", e.kernel.c_str());
  std::printf("Files:      %s, %s\n", root.c_str(), e.file_system.c_str());
  const std::string values = !flags.source.empty()               ? TextOfSource(flags.source)
                             : flags.compression_type == "none" ? "incompressible"
                                                                : "compressible";
  std::printf("Values:     %s; %s of each value read is compared\n", values.c_str(),
              flags.check == CheckDepth::kFull ? "every byte" : "header and both ends");
  std::printf("Writes:     every engine keeps its log, if it has one; a figure includes the time until everything is flushed, "
              "compacted, synced\n");
  if (!flags.use_existing_db && FirstThatReads(flags.benchmarks) == 0) {
    std::printf("Empty:      %s reads an empty database: no benchmark before it writes\n",
                flags.benchmarks.front().c_str());
  }
  if (flags.drop_caches) std::printf("Reads:      caches are dropped before each benchmark that reads\n");
  if (flags.memory_limit > 0) {
    std::printf("Limit:      %llu bytes for the process, page cache included, for the first benchmark that reads, "
                "which begins cold, and all after it\n", static_cast<unsigned long long>(flags.memory_limit));
  }
  for (const Contender& contender : engines) {
    std::printf("Engine:     %s = %s\n", NameOf(contender).c_str(), SettingsOf(contender, root).c_str());
  }
  std::fflush(stdout);
}

// A Root is the directory of the databases: --db, or a temporary one that the destructor removes.
class Root {
 public:
  explicit Root(const BenchFlags& flags) : path_(flags.db), temporary_(flags.db.empty()) {
    if (temporary_) {
      std::error_code error;
      const std::filesystem::path parent = std::filesystem::temp_directory_path(error);  // TMPDIR, if it is set
      path_ = parent / "cambium_bench-XXXXXX";
      if (error) {
        Fail("TMPDIR: " + error.message());
      } else if (mkdtemp(path_.data()) == nullptr) {
        Fail(std::strerror(errno));
      }
    } else {
      std::error_code error;
      std::filesystem::create_directories(path_, error);
      if (error) Fail(error.message());
    }
    if (ok_) TryToWrite();
  }
  ~Root() {
    std::error_code ignored;
    if (temporary_ && ok_) std::filesystem::remove_all(path_, ignored);
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  // Frees the space of an engine whose turn has ended. A database in --db stays.
  void EndTurn(const std::string& database) const {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove_all(database, ignored);
  }

 private:
  void TryToWrite() {
    const std::string probe = path_ + "/cambium_bench.probe";
    std::ofstream file(probe);
    file << "x" << std::flush;
    if (!file) Fail(std::strerror(errno));
    file.close();
    std::error_code ignored;
    std::filesystem::remove(probe, ignored);
  }
  void Fail(const std::string& why) {
    std::fprintf(stderr, "cambium_bench: cannot create or write %s: %s\n", path_.c_str(), why.c_str());
    ok_ = false;
  }
  std::string path_;
  bool temporary_;
  bool ok_ = true;
};

// Returns a run without results: the facts about its command, and the settings of its engines.
ReportRun Describe(const BenchFlags& flags, const std::vector<Contender>& engines, const std::string& root) {
  const Environment e = DescribeEnvironment(root);
  ReportRun run{.facts = {.commit = e.commit,
                          .build = e.build,
                          .command = flags.command_line,
                          .seed = flags.seed,
                          .cpu = e.cpu,
                          .memory = e.memory,
                          .kernel = e.kernel,
                          .file_system = e.file_system,
                          .max_space_amplification = flags.space.max_space_amplification},
                .settings = {},
                .results = {}};
  for (const Contender& contender : engines) run.settings[NameOf(contender)] = SettingsOf(contender, root);
  return run;
}

// The runs of one command share a RunState.
struct RunState {
  std::ofstream json;
  std::vector<ReportRun> runs;
  std::vector<std::string> failures;
  bool failed = false;
  TurnCount turns;
};

// Returns the results in the order of the engines on the command line, whatever the order of turns was.
std::vector<Result> Sorted(std::vector<Result> results, const std::vector<Contender>& engines) {
  std::stable_sort(results.begin(), results.end(), [&](const Result& a, const Result& b) {
    const auto place = [&](const Result& r) {
      return std::find_if(engines.begin(), engines.end(), [&r](const Contender& c) { return NameOf(c) == Label(r); }) -
             engines.begin();
    };
    return place(a) < place(b);
  });
  return results;
}

// Runs all rounds of one command line.
void RunExperiment(const BenchFlags& flags, const Root& root, RunState* state) {
  const std::vector<Contender> engines = ChooseEngines(flags);
  PrintSetting(flags, engines, root.path());
  ReportRun& run = state->runs.emplace_back(Describe(flags, engines, root.path()));
  const auto keep = [&](const Result& result) {
    run.results.push_back(result);
    if (!state->json.is_open()) return;
    state->json << ResultText(result, run) << std::endl;  // flushed: kept if the run dies later
  };
  for (unsigned round = 0; round < flags.rounds && !Interrupted().load(); ++round) {
    for (std::size_t i = 0; i < engines.size() && !Interrupted().load(); ++i) {
      const Contender& contender = engines[(i + round) % engines.size()];
      std::printf("\n== %s, round %u of %u%s\n", NameOf(contender).c_str(), round + 1, flags.rounds,
                  state->turns.Begin(std::chrono::steady_clock::now()).c_str());
      const TurnEnd end = RunTurn(contender.flags, *contender.entry, root.path(), round, keep);
      // A child that another process ended lacks figures as well.
      if (end == TurnEnd::kFailed || (end == TurnEnd::kInterrupted && !Interrupted().load())) {
        state->failed = true;
        state->failures.push_back(NameOf(contender) + " failed in round " + std::to_string(round + 1) +
                                  (flags.experiment.empty() ? "" : " of " + flags.experiment));
      }
      root.EndTurn(PathOf(root.path(), contender.flags, *contender.entry));
    }
  }
  run.results = Sorted(std::move(run.results), engines);
  if (Interrupted().load()) std::printf("\nInterrupted: this was measured until then.\n");
  std::printf("\n%s", MakeReport(run.results).c_str());
}

// Writes the results so far, if a report was asked for. `through` of `all` runs have ended.
void WriteReportSoFar(const std::string& directory, std::size_t through, std::size_t all, RunState* state) {
  if (directory.empty()) return;
  ReportInput input{
      .runs = state->runs, .claims = JudgeClaims(AllResults(state->runs)), .incomplete = state->failures};
  if (Interrupted().load()) {
    input.incomplete.emplace_back("It was interrupted.");
  } else if (through < all) {
    input.incomplete.push_back(std::to_string(through) + " of " + std::to_string(all) + " runs had ended.");
  }
  const Status status = WriteReport(directory, input);
  if (!status.ok()) {
    std::fprintf(stderr, "cambium_bench: no report: %s\n", status.ToString().c_str());
    state->failed = true;
  } else if (through == all || Interrupted().load()) {
    std::printf("\nReport:     %s/report.html\n", directory.c_str());
  }
}

// Each of the following returns a complaint, or nothing if all is well.

// Counts the turns, too.
std::string ComplainOfEngines(const BenchFlags& flags, TurnCount* turns) {
  const std::size_t engines = ChooseEngines(flags).size();
  if (engines == 0) return "none of these engines can run here; see --list";
  turns->Expect(flags.rounds * engines);
  const Status may = CheckPrivileges(flags);
  return may.ok() ? "" : "--drop_caches or --memory_limit refused: " + may.ToString();
}

std::string ComplainOfIntervalFile(const BenchFlags& flags) {
  if (flags.report_interval_seconds == 0) return {};
  const Status may = IntervalReport::CheckFile(flags.report_file);
  return may.ok() ? "" : "--report_file: " + may.ToString();
}

std::string ComplainOfSource(const BenchFlags& flags) {
  if (flags.source.empty()) return {};
  std::vector<std::string> files;
  const Status read = ReadSourceFiles(flags.source, &files);
  return read.ok() ? "" : "--source: " + read.ToString();
}

std::string ComplainOfMissingDatabase(const BenchFlags& flags) {
  if (!flags.use_existing_db) return {};
  for (const Contender& contender : ChooseEngines(flags)) {
    const std::string path = PathOf(flags.db, contender.flags, *contender.entry);
    if (contender.entry->is_store && !std::filesystem::exists(path)) {
      return "--use_existing_db: there is no " + path + ", where the database of " + NameOf(contender) + " would be";
    }
  }
  return {};
}

// Opens what --json and --report write to.
std::string OpenOutput(const BenchFlags& flags, RunState* state) {
  if (!flags.json.empty()) {
    state->json.open(flags.json, std::ios::app);
    if (!state->json) return "cannot write " + flags.json + ": " + std::strerror(errno);
  }
  if (!flags.report.empty()) {
    if (const Status may = PrepareReport(flags.report); !may.ok()) return "--report: " + may.ToString();
  }
  return {};
}

// Returns the first complaint of `complain(experiment)`.
template <typename Complain>
std::string FirstComplaint(const std::vector<BenchFlags>& experiments, Complain complain) {
  for (const BenchFlags& flags : experiments) {
    if (std::string wrong = complain(flags); !wrong.empty()) return wrong;
  }
  return {};
}

// Finds what would fail later, before the databases' directory is made. Opens the output.
std::string Prepare(const std::vector<BenchFlags>& experiments, RunState* state) {
  std::string wrong =
      FirstComplaint(experiments, [state](const BenchFlags& flags) { return ComplainOfEngines(flags, &state->turns); });
  if (wrong.empty()) wrong = OpenOutput(experiments.front(), state);
  if (wrong.empty()) wrong = FirstComplaint(experiments, ComplainOfIntervalFile);
  if (wrong.empty()) wrong = FirstComplaint(experiments, ComplainOfSource);
  if (wrong.empty()) wrong = FirstComplaint(experiments, ComplainOfMissingDatabase);
  if (wrong.empty()) {
    const std::uint64_t memory = MemoryBytes();
    wrong = FirstComplaint(experiments, [memory](const BenchFlags& flags) { return ComplainOfMemory(flags, memory); });
  }
  return wrong;
}

void RunAll(const std::vector<BenchFlags>& experiments, const Root& root, RunState* state) {
  for (std::size_t i = 0; i < experiments.size() && !Interrupted().load(); ++i) {
    if (!experiments[i].experiment.empty()) {
      std::printf("%s#### %s, %zu of %zu\n", i == 0 ? "" : "\n", experiments[i].experiment.c_str(), i + 1,
                  experiments.size());
    }
    RunExperiment(experiments[i], root, state);
    WriteReportSoFar(experiments.front().report, i + 1, experiments.size(), state);
  }
}

int Refuse(const std::string& why) {
  std::fprintf(stderr, "cambium_bench: %s\n", why.c_str());
  return kExitUsage;
}

int Run(const std::vector<BenchFlags>& experiments) {
  RunState state;
  if (const std::string wrong = Prepare(experiments, &state); !wrong.empty()) return Refuse(wrong);
  CatchInterrupts(SecondInterrupt::kIgnore);  // a second one ends only the children: this process must clean up
  const Root root(experiments.front());
  if (!root.ok()) return kExitUsage;
  const std::string no_space =
      FirstComplaint(experiments, [&root](const BenchFlags& flags) { return ComplainOfSpace(flags, root.path()); });
  if (!no_space.empty()) return Refuse(no_space);
  RunAll(experiments, root, &state);
  if (state.json.is_open() && !state.json) {
    std::fprintf(stderr, "cambium_bench: writing %s failed\n", experiments.front().json.c_str());
    state.failed = true;
  }
  // If the reader of the output has gone away, a failed write to it is no error.
  const bool is_said = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_said && !Interrupted().load()) {
    std::fprintf(stderr, "cambium_bench: the output cannot be written\n");
    state.failed = true;
  }
  return state.failed ? kExitFailed : Interrupted().load() ? kExitInterrupted : 0;
}

int Main(int argc, char** argv) {
  if (IsReportCommand(argc, argv)) return RunReportCommand(argc, argv);
  TraceCommand trace;
  std::vector<char*> words;
  if (argc > 1 && std::strcmp(argv[1], "trace") == 0) {
    trace = TraceMain(argc, argv);
    if (trace.exit_code.has_value()) return *trace.exit_code;
    for (std::string& word : trace.words) words.push_back(word.data());
    argc = static_cast<int>(words.size());
    argv = words.data();
  }
  const ParsedFlags parsed = ParseFlags(argc, argv);
  if (parsed.exit_code.has_value()) return *parsed.exit_code;
  if (parsed.runs.front().list) {
    PrintList();
    return 0;
  }
  return Run(parsed.runs);
}

}  // namespace
}  // namespace cambium::bench

int main(int argc, char** argv) try {
  return cambium::bench::Main(argc, argv);
} catch (const std::bad_alloc&) {  // unwinding has removed the temporary files
  std::fprintf(stderr, "cambium_bench: out of memory\n");
  return cambium::bench::kExitFailed;
}
