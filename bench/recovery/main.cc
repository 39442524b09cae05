// cambium_recovery_time: compares the time of Open after a kill -9 with that of reading the same log once.
//
// A child writes until the log has the wanted size, and is killed. It flushes nothing, so the whole log must be
// replayed. Then the parent reads the log segments with direct I/O, 1 MiB at a time, and opens the database, several
// times in turn: read-only, the last time for writing. It drops the page cache before each of these two steps. The
// program prints both times, their ratio, and the size of an empty database.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "system/kernel_file.h"

namespace {

using cambium::DB;
using cambium::FileSystem;
using cambium::Options;
using cambium::Status;

constexpr std::size_t kReadSize = 1u << 20;

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "cambium_recovery_time: %s\n", what.c_str());
  std::exit(2);
}
void Check(const Status& s) {
  if (!s.ok()) Die(s.ToString());
}

Options OptionsFor(std::uint64_t log_bytes) {
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = std::size_t{4} << 30;  // nothing is flushed before the kill
  options.max_total_wal_size = 4 * log_bytes;
  options.lock_wait_micros = 10'000'000;
  return options;
}

// Runs in the child, and never returns.
[[noreturn]] void WriteUntilKilled(const std::string& path, const Options& options, std::uint64_t log_bytes,
                                   std::size_t value_size, int ready) {
  std::unique_ptr<DB> db;
  Check(DB::Open(options, path, &db));
  const std::string value(value_size, 'v');
  std::uint64_t written = 0;
  for (std::uint64_t i = 0; written < log_bytes; ++i) {
    char key[17];
    std::snprintf(key, sizeof(key), "%016llx", static_cast<unsigned long long>(i * 0x9e3779b97f4a7c15u));
    Check(db->Put({}, key, value));
    written += value_size + 72;
  }
  const char done = 1;
  if (::write(ready, &done, 1) != 1) Die("pipe");
  while (true) ::pause();
}

void DropCaches() {
  const Status status = cambium::bench::DropPageCache();
  if (!status.ok())
    std::printf("cannot drop the page cache, so times are those of warm files: %s\n", status.ToString().c_str());
}

double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

std::vector<std::string> LogSegments(const std::string& path) {
  std::vector<std::string> names;
  std::vector<std::string> logs;
  Check(FileSystem::Default()->List(path, &names));
  for (const std::string& name : names) {
    if (name.size() > 4 && name.ends_with(".log")) logs.push_back(path + "/" + name);
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

double ReadRaw(const std::vector<std::string>& paths, std::uint64_t* bytes) {
  char* buffer = static_cast<char*>(std::aligned_alloc(cambium::kDirectAlignment, kReadSize));
  *bytes = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& path : paths) {
    std::unique_ptr<cambium::File> file;
    Check(FileSystem::Default()->Open(path, cambium::OpenMode::kReadOnly, {.direct = true}, &file));
    for (std::uint64_t at = 0;; at += kReadSize) {
      std::size_t read = 0;
      Check(file->Read(at, kReadSize, buffer, &read));
      *bytes += read;
      if (read < kReadSize) break;
    }
  }
  std::free(buffer);
  return Seconds(start);
}

std::uint64_t DiskBytes(const std::string& path) {
  std::vector<std::string> names;
  Check(FileSystem::Default()->List(path, &names));
  cambium::FileInfo info;
  Check(FileSystem::Default()->GetInfo(path, &info));
  std::uint64_t bytes = info.allocated_bytes;
  for (const std::string& name : names) {
    Check(FileSystem::Default()->GetInfo(path + "/" + name, &info));
    bytes += info.allocated_bytes;
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // if the reader of the output goes away, the databases are removed all the same
  CLI::App app{"Compares the time of Open after a kill -9 with that of reading the log once."};
  std::string path = "/tmp/cambium_recovery_time";
  std::uint64_t log_mib = 1024;
  std::size_t value_size = 1024;
  int rounds = 5;
  app.add_option("--db", path, "directory for the database; created and removed")->capture_default_str();
  app.add_option("--log_mib", log_mib, "MiB of log to replay")->check(CLI::Range(1, 65536))->capture_default_str();
  app.add_option("--value_size", value_size, "bytes of a value")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  app.add_option("--rounds", rounds, "how often each is timed")->check(CLI::Range(1, 100))->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const Options options = OptionsFor(log_mib << 20);
  Check(cambium::DestroyDB(path, options));
  int ready[2];
  if (::pipe(ready) != 0) Die("pipe");
  const pid_t child = ::fork();
  if (child < 0) Die("fork");
  if (child == 0) WriteUntilKilled(path, options, log_mib << 20, value_size, ready[1]);
  ::close(ready[1]);
  char byte = 0;
  const bool written = ::read(ready[0], &byte, 1) == 1;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (!written) Die("the writer failed");

  // A read-only open replays like any other and writes nothing, so it can be repeated.
  std::vector<double> ratios;
  std::printf("%-6s %12s %12s %12s %8s\n", "round", "log MiB", "read s", "open s", "ratio");
  for (int round = 1; round <= rounds; ++round) {
    std::uint64_t bytes = 0;
    DropCaches();
    const double raw = ReadRaw(LogSegments(path), &bytes);
    DropCaches();
    std::unique_ptr<DB> db;
    const auto start = std::chrono::steady_clock::now();
    if (round < rounds) {
      Check(DB::OpenForReadOnly(options, path, &db));
    } else {
      Check(DB::Open(options, path, &db));
    }
    const double opened = Seconds(start);
    Check(db->Close());
    ratios.push_back(opened / raw);
    std::printf("%-6d %12.1f %12.3f %12.3f %8.2f%s\n", round, static_cast<double>(bytes) / (1 << 20), raw, opened,
                opened / raw, round == rounds ? "  (for writing)" : "");
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("median ratio %.2f, from %.2f to %.2f\n", ratios[ratios.size() / 2], ratios.front(), ratios.back());
  Check(cambium::DestroyDB(path, options));

  std::unique_ptr<DB> empty;
  Check(DB::Open(options, path, &empty));
  const std::uint64_t open_bytes = DiskBytes(path);
  Check(empty->Close());
  empty.reset();
  std::printf("an empty database takes %.1f KiB on disk while open, %.1f KiB when closed\n",
              static_cast<double>(open_bytes) / 1024, static_cast<double>(DiskBytes(path)) / 1024);
  Check(cambium::DestroyDB(path, options));
  return 0;
}
