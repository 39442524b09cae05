#include "run/turn.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>

#include "data/mix.h"
#include "data/source_files.h"
#include "run/phase_runner.h"
#include "system/interrupt.h"
#include "system/kernel_file.h"
#include "system/memory_group.h"

namespace cambium::bench {
namespace {

using Sink = std::function<void(const Result&)>;

// The state that the processes of a turn share.
struct Plan {
  const BenchFlags& flags;
  const EngineEntry& entry;
  const std::string& root;
  unsigned round;
  const ValuePool* pool;
  KeySet& keys;
};

// The part of --benchmarks that one process runs.
struct Part {
  std::size_t first = 0;  // index in --benchmarks
  std::size_t end = 0;
  const MemoryGroup* group = nullptr;  // the group for the process; null: none
};

// A Turn opens a database, measures the benchmarks and closes it.
class Turn {
 public:
  explicit Turn(const Plan& plan)
      : flags_(plan.flags),
        entry_(plan.entry),
        round_(plan.round),
        config_(ConfigOf(plan)),
        pool_(*plan.pool),
        keys_(plan.keys),
        engine_(entry_.make(config_)) {}

  // Opens the database. `continues`: another process has run the first part of this turn.
  Status Begin(bool continues) {
    if (continues) return engine_->Open(false);
    if (!flags_.use_existing_db) return Renew();
    keys_.Reset(false);
    return engine_->Open(false);
  }

  // Runs the benchmark at `ordinal` of --benchmarks. If it was skipped, there is no result, and the line says why.
  Status Run(std::size_t ordinal, std::optional<Result>* result) {
    const Workload& workload = *FindWorkload(flags_.benchmarks[ordinal]);
    if (workload.transacts && !engine_->HasTransactions()) {
      return Skip(workload, "the bench has no transactions of this engine");
    }
    if (workload.fresh) {
      if (flags_.use_existing_db) return Skip(workload, "--use_existing_db is true");
      Status status = Renew();
      if (!status.ok()) return status;
    }
    if (flags_.drop_caches && workload.effect == Effect::kReads) {
      Status status = OpenCold();
      if (!status.ok()) return status;
    }
    Phase phase{.flags = flags_,
                .pool = pool_,
                .keys = keys_,
                .key_shape = KeyShapeOf(flags_),
                .seed = Mix(flags_.seed, ordinal),
                .ordinal = ordinal};
    Result measured;
    measured.experiment = flags_.experiment;
    measured.engine = entry_.name;
    measured.index = entry_.name == std::string("cambium") ? flags_.index : "";
    measured.step = ordinal;
    measured.round = round_;
    Status status = RunPhase(workload, config_, engine_.get(), &phase, &measured);
    if (status.IsNotSupported() && MayLack(workload)) return Skip(workload, status.ToString());
    if (!status.ok()) return status;
    std::printf("%s\n", ToLine(measured).c_str());
    if (flags_.histogram) std::printf("%s\n", ToPercentiles(measured).c_str());
    if (flags_.statistics) std::printf("%s\n", engine_->Stats().c_str());
    std::fflush(stdout);
    *result = std::move(measured);
    return {};
  }

  Status End() { return engine_->Close(); }

 private:
  // With the mean size of the pool's values, because with --source the flags do not give it.
  static EngineConfig ConfigOf(const Plan& plan) {
    EngineConfig config = bench::ConfigOf(PathOf(plan.root, plan.flags, plan.entry), plan.flags);
    config.value_size = plan.pool->size_typical();
    return config;
  }

  // Returns whether the engine may lack the workload. Every store reads, writes and walks, so NotSupported from these
  // means corrupted data. Only maintenance may be lacking.
  [[nodiscard]] bool MayLack(const Workload& workload) const { return !entry_.is_store || workload.run == nullptr; }

  static Status Skip(const Workload& workload, const std::string& why) {
    std::printf("%-12s : skipped (%s)\n", workload.name, why.c_str());
    std::fflush(stdout);
    return {};
  }

  // Replaces the database by an empty one.
  Status Renew() {
    Status status = engine_->Close();
    if (status.ok()) status = engine_->Destroy();
    if (status.ok()) status = engine_->Open(true);
    keys_.Reset(true);
    keys_.StartNewAt(flags_.num);
    return status;
  }

  Status OpenCold() {
    Status status = engine_->Close();
    if (status.ok()) status = DropPageCache();
    return status.ok() ? engine_->Open(false) : status;
  }

  const BenchFlags& flags_;
  const EngineEntry& entry_;
  unsigned round_;
  EngineConfig config_;
  const ValuePool& pool_;
  KeySet& keys_;
  std::unique_ptr<Engine> engine_;
};

TurnEnd ReportFailure(const EngineEntry& entry, const std::string& what, const std::string& why) {
  std::printf("%-12s : FAILED on %s: %s\n", what.c_str(), entry.name, why.c_str());
  std::fflush(stdout);
  return TurnEnd::kFailed;
}

// Reads the child's lines until it closes the pipe. Passes an interrupt on once.
void ReadResults(int fd, pid_t child, const Sink& sink) {
  std::string pending;
  char buffer[4096];
  bool told = false;
  while (true) {
    if (Interrupted().load() && !told) {
      kill(child, SIGTERM);  // harmless if the terminal has signalled it already
      told = true;
    }
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    pending.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t end; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      sink(FromJson(nlohmann::ordered_json::parse(pending.substr(0, end))));
    }
  }
}

void WriteAll(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // the parent has ended
    done += static_cast<std::size_t>(n);
  }
}

TurnEnd RunPart(const Plan& plan, const Part& part, const Sink& sink) {
  const EngineEntry& entry = plan.entry;
  Turn turn(plan);
  Status status = turn.Begin(part.first > 0);
  if (!status.ok()) return ReportFailure(entry, "open", status.ToString());
  for (std::size_t i = part.first; i < part.end; ++i) {
    std::optional<Result> result;
    status = turn.Run(i, &result);
    if (status.IsAborted() && Interrupted().load()) {
      std::printf("%-12s : interrupted\n", plan.flags.benchmarks[i].c_str());
      Status closed = turn.End();
      return closed.ok() ? TurnEnd::kInterrupted : ReportFailure(entry, "close", closed.ToString());
    }
    if (!status.ok()) return ReportFailure(entry, plan.flags.benchmarks[i], status.ToString());
    if (result.has_value()) sink(*result);
  }
  status = turn.End();
  return status.ok() ? TurnEnd::kDone : ReportFailure(entry, "close", status.ToString());
}

// Runs a part in the child. No exception may leave this function: the stack below belongs to the parent, and unwinding
// it would remove the parent's databases.
TurnEnd RunChild(const Plan& plan, const Part& part, int fd) try {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  CatchInterrupts(SecondInterrupt::kExit);
  if (part.group != nullptr) {
    Status status = part.group->Enter();
    if (!status.ok()) return ReportFailure(plan.entry, "memory_limit", status.ToString());
  }
  return RunPart(plan, part, [fd](const Result& result) { WriteAll(fd, ToJson(result).dump() + "\n"); });
} catch (const std::bad_alloc&) {
  return ReportFailure(plan.entry, "process", "out of memory");
} catch (const std::exception& e) {
  return ReportFailure(plan.entry, "process", e.what());
}

// Runs a part in a forked child, whose results come back through a pipe.
TurnEnd RunInChild(const Plan& plan, const Part& part, const Sink& sink) {
  const EngineEntry& entry = plan.entry;
  int ends[2];
  if (pipe(ends) != 0) return ReportFailure(entry, "pipe", std::strerror(errno));
  std::fflush(nullptr);  // or the child would print buffered text again
  const pid_t child = fork();
  if (child < 0) return ReportFailure(entry, "fork", std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    const TurnEnd end = RunChild(plan, part, ends[1]);
    std::fflush(stdout);
    _exit(static_cast<int>(end));
  }
  close(ends[1]);
  ReadResults(ends[0], child, sink);
  close(ends[0]);
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(how)) {
    const bool starved = WTERMSIG(how) == SIGKILL && part.group != nullptr;
    return ReportFailure(entry, "process", std::string("killed by signal: ") + strsignal(WTERMSIG(how)) +
                                               (starved ? ", perhaps because --memory_limit left no room" : ""));
  }
  const int code = WEXITSTATUS(how);
  if (code == 128 + SIGINT) return TurnEnd::kInterrupted;
  return code > static_cast<int>(TurnEnd::kInterrupted) ? TurnEnd::kFailed : static_cast<TurnEnd>(code);
}

// Creates the group. The process id makes its name unique, because a process has one group at a time.
Status MakeGroup(const BenchFlags& flags, MemoryGroup* group) {
  MemoryGroupPlace place;
  Status status = FindMemoryGroupPlace("/", &place);
  return status.ok() ? group->Make(place, "cambium_bench-" + std::to_string(getpid()), flags.memory_limit) : status;
}

// Makes the pool of values: from the files of --source, else of random bytes.
Status MakePool(const BenchFlags& flags, std::optional<ValuePool>* pool) {
  if (flags.source.empty()) {
    const double ratio = flags.compression_type == "none" ? 1.0 : flags.compression_ratio;
    pool->emplace(flags.seed, ValueSizesOf(flags), ratio, ValueRoomOf(flags));
    return {};
  }
  std::vector<std::string> files;
  Status status = ReadSourceFiles(flags.source, &files);
  if (status.ok()) pool->emplace(flags.seed, files);
  return status;
}

}  // namespace

std::string PathOf(const std::string& root, const BenchFlags& flags, const EngineEntry& entry) {
  const std::string name = entry.name;
  return root + "/" + (name == "cambium" ? name + "_" + flags.index : name);
}

Status CheckPrivileges(const BenchFlags& flags) {
  if (flags.memory_limit == 0 && !flags.drop_caches) return {};
  Status status = CanDropPageCache();
  if (!status.ok() || flags.memory_limit == 0) return status;
  MemoryGroup group;
  return MakeGroup(flags, &group);
}

TurnEnd RunTurn(const BenchFlags& flags, const EngineEntry& entry, const std::string& root, unsigned round,
                const std::function<void(const Result&)>& sink) {
  std::optional<ValuePool> pool;
  if (Status status = MakePool(flags, &pool); !status.ok()) return ReportFailure(entry, "source", status.ToString());
  KeySet keys(KeyCapacityOf(flags), !pool->fixed());
  keys.StartNewAt(flags.num);
  const Plan plan{.flags = flags, .entry = entry, .root = root, .round = round, .pool = &*pool, .keys = keys};
  const std::size_t count = flags.benchmarks.size();
  const std::size_t limited = flags.memory_limit > 0 ? FirstThatReads(flags.benchmarks) : count;
  TurnEnd end = TurnEnd::kDone;
  if (limited > 0) end = RunInChild(plan, {.end = limited}, sink);
  if (limited == count || end != TurnEnd::kDone) return end;
  if (Interrupted().load()) return TurnEnd::kInterrupted;
  Status status = DropPageCache();
  MemoryGroup group;
  if (status.ok()) status = MakeGroup(flags, &group);
  if (!status.ok()) return ReportFailure(entry, "memory_limit", status.ToString());
  return RunInChild(plan, {.first = limited, .end = count, .group = &group}, sink);
}

}  // namespace cambium::bench
