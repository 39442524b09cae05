// The unmodified program under strace, which kills it or makes a call fail at the n-th system call of one kind.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "process/check.h"
#include "process/child.h"
#include "process/reader.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "util/mutant.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

class StraceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("strace -V >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "SKIPPED: strace is not installed";
    }
    const char* const probe = "strace --seccomp-bpf -f -qqq -o /dev/null -e trace=close -e inject=close:error=EIO:when=1000 true";
    if (std::system((std::string(probe) + " 2>/dev/null").c_str()) != 0) {
      GTEST_SKIP() << "SKIPPED: strace may not trace (ptrace is not allowed) or cannot inject";
    }
    plan_.directory = directory_.File("db");
    plan_.rounds = 40;
    plan_.attempts = 5;
  }

  struct Outcome {
    bool injected = false;  // the call was reached
    bool hit_options = false;  // the call was on an OPTIONS file, on which nothing depends
    int code = 0;
    int failed = 0;  // writes that failed and were retried
    int failed_reads = 0;
    bool fatal = false;
    bool open_failed = false;
    bool close_failed = false;
    std::string text;  // of the first failure
  };

  // Runs the writing process with `injection`, for example "fdatasync:signal=SIGKILL:when=3". The kernel survives, so
  // every acknowledged write must survive.
  void OneLife(const std::string& injection, Outcome* outcome) {
    SCOPED_TRACE(injection);
    plan_.seed = prng_.Next();
    history_.BeginLife(&plan_);
    const std::string log = directory_.File("strace.out");
    const std::string call = injection.substr(0, injection.find(':'));
    // The leak checker of a sanitizer cannot work under a tracer.
    std::vector<std::string> prefix = {"env", "ASAN_OPTIONS=detect_leaks=0", "strace", "-f", "-qqq", "-y", "-o", log, "-e",
                                       "trace=" + call, "-e", "inject=" + injection};
    // Then only the traced call stops the process, not every call. But strace 6.1 injects only the first signal then.
    if (injection.find(":signal=") == std::string::npos) prefix.emplace_back("--seccomp-bpf");
    Child child("write", plan_, prefix);
    const auto see = [&](const Message& message) {
      history_.See(message);
      using Kind = Message::Kind;
      EXPECT_NE(message.kind, Kind::kWrong) << message.text;
      if (message.kind == Kind::kFailed) ++outcome->failed;
      if (message.kind == Kind::kReadFailed) ++outcome->failed_reads;
      if (message.kind == Kind::kFatal) outcome->fatal = true;
      if (message.kind == Kind::kOpenFailed) outcome->open_failed = true;
      if (message.kind == Kind::kCloseFailed) outcome->close_failed = true;
      if (outcome->text.empty()) outcome->text = message.text;
      return false;
    };
    static_cast<void>(child.Listen(120'000'000, see));
    child.Kill(see);
    outcome->code = child.Wait();
    std::ifstream lines(log);
    for (std::string line; std::getline(lines, line);) {
      const bool is_injected = line.find("INJECTED") != std::string::npos;
      outcome->injected = outcome->injected || is_injected || line.find("killed by SIGKILL") != std::string::npos;
      outcome->hit_options = outcome->hit_options || (is_injected && line.find(".dbtmp>") != std::string::npos);
    }
    ASSERT_EQ(CheckDatabase(plan_, false, prng_.OneIn(2), &history_), "") << outcome->text;
  }

  // Returns the next value of `when`: dense at first, then sparser. With CAMBIUM_SCALE it takes all values.
  static std::uint64_t Next(std::uint64_t n) { return ScaleFromEnvironment() > 1 ? n + 1 : n + 1 + n / 2; }

  const std::uint64_t seed_ = SeedFromEnvironment(0x57ace);
  Prng prng_{seed_};
  TempDirectory directory_;
  Plan plan_;
  History history_;
};

// Tries the calls that change something. strace counts them separately for each thread.
TEST_F(StraceTest, KillAtTheNthCallLosesNothing) {
  int killed = 0;
  for (const std::string call :
       {"fdatasync", "fsync", "pwrite64", "pwritev", "openat", "unlinkat", "renameat", "close"}) {
    for (std::uint64_t n = 1; n < 60; n = Next(n)) {
      Outcome outcome;
      OneLife(call + ":signal=SIGKILL:when=" + std::to_string(n), &outcome);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
      if (!outcome.injected) break;
      ++killed;
    }
  }
  std::printf("%d kills, %llu rounds\n", killed, static_cast<unsigned long long>(history_.total_rounds()));
  EXPECT_GT(killed, 15);
  EXPECT_GT(history_.total_rounds(), 0u);
}

// After a single failed sync no write is accepted or acknowledged any more.
TEST_F(StraceTest, FailedSyncMakesTheDatabaseReadOnlyUntilReopened) {
  int failures = 0;
  for (const std::string call : {"fdatasync", "fsync"}) {
    for (const std::string error : {"EIO", "ENOSPC"}) {
      for (std::uint64_t n = 1; n < 40; n = Next(n) + 1) {
        Outcome outcome;
        const std::string injection = call + ":error=" + error + ":when=" + std::to_string(n);
        OneLife(injection, &outcome);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
        if (!outcome.injected) break;
        ++failures;
        // After ENOSPC, a file that is not named yet may be written again.
        if (error == "EIO" && !outcome.hit_options) {
          EXPECT_TRUE(outcome.fatal || outcome.open_failed || outcome.close_failed) << injection;
          EXPECT_NE(outcome.text.find("Input/output error"), std::string::npos) << injection << ": " << outcome.text;
        }
        EXPECT_LT(outcome.code, 4) << injection;
      }
    }
  }
  std::printf("%d failed syncs\n", failures);
  EXPECT_GT(failures, 10);
}

// With large files almost all syncs are the log's, so the failing sync is one of the log.
TEST_F(StraceTest, MutantThatRetriesASyncHidesTheFailure) {
  plan_.size = Size::kDefaultKeepsAll;
  plan_.rounds = 25;
  plan_.sync_percent = 60;
  const auto is_hidden = [this](Mutant mutant) {
    plan_.mutant = static_cast<std::uint64_t>(mutant);
    for (std::uint64_t n = 5; n < 12; ++n) {
      Outcome outcome;
      OneLife("fdatasync:error=EIO:when=" + std::to_string(n), &outcome);
      if (!outcome.injected || outcome.hit_options) continue;
      if (!outcome.fatal && !outcome.open_failed && !outcome.close_failed) return true;
    }
    return false;
  };
  EXPECT_FALSE(is_hidden(Mutant::kNone));
  EXPECT_TRUE(is_hidden(Mutant::kRetryFailedSync));
}

// A failed system call affects only the batch or job that made it. If it was a write to the MANIFEST, the next commit
// also starts a new MANIFEST.
TEST_F(StraceTest, FailedCallAffectsOnlyItsOperation) {
  plan_.read_every = 4;
  int failures = 0;
  for (const std::string fault :
       {"pwrite64:error=EIO", "pwrite64:error=ENOSPC", "pwritev:error=EIO", "pwrite64:error=EINTR",
        "openat:error=EMFILE", "unlinkat:error=EIO", "fallocate:error=ENOSPC", "pread64:error=EIO", "preadv2:error=EIO",
        "preadv2:error=EAGAIN", "preadv2:error=EOPNOTSUPP"}) {
    int hits = 0;
    int failed_reads = 0;
    // The loader makes the first of these calls, before main.
    const std::uint64_t first = fault.starts_with("openat") || fault.starts_with("pread64") ? 15 : 1;
    for (std::uint64_t n = first; n < 60; n = 2 * Next(n)) {
      for (const std::string many : {"", "+"}) {
        if (many == "+" && fault == "pwrite64:error=EINTR") continue;  // no kernel returns EINTR for ever
        Outcome outcome;
        const std::string injection = fault + ":when=" + std::to_string(n) + many;
        OneLife(injection, &outcome);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
        hits += outcome.injected ? 1 : 0;
        failed_reads += outcome.failed_reads;
        EXPECT_LT(outcome.code, 4) << injection;
        // These mean "interrupted", "not in memory" or "not supported": the read or write is then done in another way.
        const bool is_no_error = fault == "pwrite64:error=EINTR" || fault == "preadv2:error=EAGAIN" ||
                                 fault == "preadv2:error=EOPNOTSUPP";
        if (is_no_error) {
          EXPECT_EQ(outcome.failed, 0) << outcome.text;
          EXPECT_FALSE(outcome.fatal || outcome.open_failed) << outcome.text;
        }
      }
    }
    std::printf("%s: hit in %d lives, %d reads failed\n", fault.c_str(), hits, failed_reads);
    if (!fault.starts_with("fallocate")) {  // there is none if the log does not grow ahead
      EXPECT_GT(hits, 0) << fault;
    }
    if (fault == "preadv2:error=EIO") {
      EXPECT_GT(failed_reads, 0) << fault;
    } else if (!fault.starts_with("openat") && !fault.starts_with("pread64")) {
      EXPECT_EQ(failed_reads, 0) << fault;
    }
    failures += hits;
  }
  std::printf("%d failed calls\n", failures);
  EXPECT_GT(failures, 15);
}

// Counts, by name, the calls that the child's first thread makes between its two markers, and the reads of all threads.
std::map<std::string, std::uint64_t> CallsBetweenMarkers(const std::string& log) {
  std::map<std::string, std::uint64_t> calls;
  std::ifstream lines(log);
  std::string marked;  // the thread that made the first marker
  for (std::string line; std::getline(lines, line);) {
    const std::string thread = line.substr(0, line.find(' '));
    const std::size_t from = line.find_first_not_of(' ', thread.size());
    const std::size_t to = line.find('(');
    if (from == std::string::npos || to == std::string::npos || from > to) continue;
    const std::string name = line.substr(from, to - from);
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos) continue;  // resumed
    if (name == "getppid") {
      if (!marked.empty()) return calls;
      marked = thread;
      continue;
    }
    const bool reads = name.starts_with("pread") || name == "read" || name == "io_uring_enter";
    if (!marked.empty() && (thread == marked || reads)) ++calls[name];
  }
  return {{"no markers", 1}};
}

// Reading a value in memory costs no system call, except two checks. At every 256th copy a thread asks whether it may
// copy (rt_sigaction and rt_sigprocmask). It also asks whether the values are still resident (fstat and cachestat, or
// the calls for mincore): more and more rarely, up to every 8192nd copy.
TEST_F(StraceTest, HotGetMakesNoSystemCall) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED: a sanitizer makes its own system calls";
  std::unique_ptr<File> probe;
  std::uint64_t resident = 0;
  ASSERT_TRUE(FileSystem::Default()->Open(directory_.File("probe"), OpenMode::kCreateNew, {}, &probe).ok());
  ASSERT_TRUE(probe->Write(0, "x").ok());
  if (!probe->Residency(0, 1, &resident).ok()) GTEST_SKIP() << "SKIPPED: this system does not report residency";
#if !defined(__x86_64__)
  GTEST_SKIP() << "SKIPPED: values are not copied from mappings on this processor";
#endif
  const std::string log = directory_.File("strace.out");
  Child child("get-hot", plan_, {"strace", "-f", "-qqq", "-o", log});
  std::string seen;
  static_cast<void>(child.Listen(120'000'000, [&](const Message& message) {
    EXPECT_NE(message.kind, Message::Kind::kWrong) << message.text;
    seen = message.text;
    return false;
  }));
  ASSERT_EQ(child.Wait(), 0);
  ASSERT_EQ(seen, "mapped");
  constexpr std::uint64_t kLooks = kHotGets / 8192 + 4;
  const std::map<std::string, std::uint64_t> bounds = {
      {"rt_sigaction", kHotGets / 256 + 1}, {"rt_sigprocmask", kHotGets / 256 + 1},
      {"fstat", 2 * kLooks}, {"newfstatat", 2 * kLooks}, {"cachestat", kLooks}, {"syscall_0x1c3", kLooks},
      // Without cachestat:
      {"mmap", kLooks}, {"mincore", kLooks}, {"munmap", kLooks}, {"geteuid", 2 * kLooks}, {"faccessat2", kLooks}};
  for (const auto& [name, count] : CallsBetweenMarkers(log)) {
    std::printf("%s: %llu\n", name.c_str(), static_cast<unsigned long long>(count));
    const auto bound = bounds.find(name);
    EXPECT_LE(count, bound == bounds.end() ? 0 : bound->second) << name;
  }
}

}  // namespace
}  // namespace cambium::testing
