#include "turn.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "interrupt.h"
#include "mix.h"
#include "phase_runner.h"

namespace cambium::bench {
namespace {

// A database that is opened, measured and closed again.
class Turn {
 public:
  Turn(const BenchFlags& flags, const EngineEntry& entry, const std::string& root, unsigned round)
      : flags_(flags),
        entry_(entry),
        round_(round),
        config_(ConfigOf(PathOf(root, flags, entry), flags)),
        pool_(flags.seed, flags.value_size, flags.compression_type == "none" ? 1.0 : flags.compression_ratio),
        keys_(flags.num),
        engine_(entry.make(config_)) {}

  Status Begin() {
    if (!flags_.use_existing_db) return Renew();
    keys_.Reset(false);
    return engine_->Open(false);
  }

  // Runs the benchmark at `ordinal` of the list; no result if it was skipped, and the line says why.
  Status Run(std::size_t ordinal, std::optional<Result>* result) {
    const Workload& workload = *FindWorkload(flags_.benchmarks[ordinal]);
    if (workload.fresh) {
      if (flags_.use_existing_db) return Skip(workload, "--use_existing_db is true");
      Status status = Renew();
      if (!status.ok()) return status;
    }
    Phase phase{.flags = flags_, .pool = pool_, .keys = keys_, .seed = Mix(flags_.seed, ordinal), .ordinal = ordinal};
    Result measured;
    measured.engine = entry_.name;
    measured.index = entry_.name == std::string("cambium") ? flags_.index : "";
    measured.step = ordinal;
    measured.round = round_;
    Status status = RunPhase(workload, config_, engine_.get(), &phase, &measured);
    if (status.IsNotSupported()) return Skip(workload, status.ToString());
    if (!status.ok()) return status;
    std::printf("%s\n", ToLine(measured).c_str());
    if (flags_.histogram) std::printf("%s\n", ToPercentiles(measured).c_str());
    std::fflush(stdout);
    *result = std::move(measured);
    return {};
  }

  Status End() { return engine_->Close(); }

 private:
  static Status Skip(const Workload& workload, const std::string& why) {
    std::printf("%-12s : skipped (%s)\n", workload.name, why.c_str());
    std::fflush(stdout);
    return {};
  }

  // An empty database in place of what is there.
  Status Renew() {
    Status status = engine_->Close();
    if (status.ok()) status = engine_->Destroy();
    if (status.ok()) status = engine_->Open(true);
    keys_.Reset(true);
    return status;
  }

  const BenchFlags& flags_;
  const EngineEntry& entry_;
  unsigned round_;
  EngineConfig config_;
  ValuePool pool_;
  KeySet keys_;
  std::unique_ptr<Engine> engine_;
};

TurnEnd ReportFailure(const EngineEntry& entry, const std::string& what, const std::string& why) {
  std::printf("%-12s : FAILED on %s: %s\n", what.c_str(), entry.name, why.c_str());
  std::fflush(stdout);
  return TurnEnd::kFailed;
}

// Reads the child's lines until it closes the pipe, and passes an interrupt on, once.
void ReadResults(int fd, pid_t child, const std::function<void(const Result&)>& sink) {
  std::string pending;
  char buffer[4096];
  bool told = false;
  while (true) {
    if (Interrupted().load() && !told) {
      kill(child, SIGTERM);  // harmless if the terminal has told it already
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
    if (n <= 0) return;  // the parent is gone
    done += static_cast<std::size_t>(n);
  }
}

int RunChild(const BenchFlags& flags, const EngineEntry& entry, const std::string& root, unsigned round, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  CatchInterrupts(SecondInterrupt::kExit);
  const TurnEnd end = RunTurn(flags, entry, root, round, [fd](const Result& result) {
    WriteAll(fd, ToJson(result).dump() + "\n");
  });
  std::fflush(stdout);
  return static_cast<int>(end);
}

}  // namespace

std::string PathOf(const std::string& root, const BenchFlags& flags, const EngineEntry& entry) {
  const std::string name = entry.name;
  return root + "/" + (name == "cambium" ? name + "_" + flags.index : name);
}

EngineConfig ConfigOf(const std::string& path, const BenchFlags& flags) {
  return {.path = path,
          .index = flags.index,
          .num = flags.num,
          .key_size = flags.key_size,
          .value_size = flags.value_size,
          .cache_size = flags.cache_size,
          .write_buffer_size = flags.write_buffer_size,
          .max_write_buffer_number = flags.max_write_buffer_number,
          .bloom_bits = flags.bloom_bits,
          .compression_type = flags.compression_type,
          .min_blob_size = flags.min_blob_size,
          .blob_file_size = flags.blob_file_size,
          .verify_checksum = flags.verify_checksum,
          .levels = flags.levels};
}

TurnEnd RunTurn(const BenchFlags& flags, const EngineEntry& entry, const std::string& root, unsigned round,
                const std::function<void(const Result&)>& sink) {
  Turn turn(flags, entry, root, round);
  Status status = turn.Begin();
  if (!status.ok()) return ReportFailure(entry, "open", status.ToString());
  for (std::size_t i = 0; i < flags.benchmarks.size(); ++i) {
    std::optional<Result> result;
    status = turn.Run(i, &result);
    if (status.IsAborted() && Interrupted().load()) {
      std::printf("%-12s : interrupted\n", flags.benchmarks[i].c_str());
      Status closed = turn.End();
      return closed.ok() ? TurnEnd::kInterrupted : ReportFailure(entry, "close", closed.ToString());
    }
    if (!status.ok()) return ReportFailure(entry, flags.benchmarks[i], status.ToString());
    if (result.has_value()) sink(*result);
  }
  status = turn.End();
  return status.ok() ? TurnEnd::kDone : ReportFailure(entry, "close", status.ToString());
}

TurnEnd RunTurnInChild(const BenchFlags& flags, const EngineEntry& entry, const std::string& root, unsigned round,
                       const std::function<void(const Result&)>& sink) {
  int ends[2];
  if (pipe(ends) != 0) return ReportFailure(entry, "pipe", std::strerror(errno));
  std::fflush(nullptr);  // or the child would print it again
  const pid_t child = fork();
  if (child < 0) return ReportFailure(entry, "fork", std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    _exit(RunChild(flags, entry, root, round, ends[1]));
  }
  close(ends[1]);
  ReadResults(ends[0], child, sink);
  close(ends[0]);
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(how)) {
    return ReportFailure(entry, "process", std::string("killed by signal: ") + strsignal(WTERMSIG(how)));
  }
  const int code = WEXITSTATUS(how);
  if (code == 128 + SIGINT) return TurnEnd::kInterrupted;
  return code > static_cast<int>(TurnEnd::kInterrupted) ? TurnEnd::kFailed : static_cast<TurnEnd>(code);
}

}  // namespace cambium::bench
