// cambium_space_matrix: checks whether max_space_amplification bounds the disk, in many shapes of databases.
//
// Each cell of the matrix is a database of its own. It is loaded, written to, and left alone. This program counts the
// live bytes. Every 100 ms a thread adds up the blocks of all files, and compares the sum with what the ceiling allows
// for the live bytes of that moment. Exit status 1: a sample was above the bound, a put took longer than a second, or a
// database was not at rest ten seconds after its last write.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cambium/db.h"
#include "cambium/snapshot.h"
#include "cambium/statistics.h"
#include "data/zipf.h"
#include "meter/op_meter.h"
#include "system/process_stats.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

constexpr double kMiB = 1u << 20;
constexpr double kLongestPut = 1;   // seconds
constexpr double kRestWithin = 10;  // seconds after the last write

enum class What { kOverwrite, kZipf, kDelete, kRange, kSnapshots };

struct Cell {
  const char* name;
  bool is_usual;  // runs without --all too
  std::uint64_t keys;
  std::uint64_t bytes;  // the size of a value
  int families;
  int writers;
  double s;
  What what = What::kOverwrite;
  std::uint64_t buffer_kib = 64 << 10;
  bool lsm = false;
};

// clang-format off
const Cell kCells[] = {
    {"one-key", false, 1, 600, 1, 1, 1.5},
    {"one-key-8", true, 1, 600, 1, 8, 1.5},
    {"tiny-values", false, 1'000'000, 1, 1, 1, 1.5},
    {"tiny-10m", false, 10'000'000, 8, 1, 2, 1.5},
    {"tiny-10m-lsm", false, 10'000'000, 8, 1, 2, 1.5, What::kOverwrite, 64 << 10, true},
    {"inline-100", false, 1'000'000, 100, 1, 2, 1.5},
    {"inline-100-lsm", false, 1'000'000, 100, 1, 2, 1.5, What::kOverwrite, 64 << 10, true},
    {"inline-100-2", false, 500'000, 100, 1, 1, 2},
    {"inline-100-1.4", false, 500'000, 100, 1, 1, 1.4},
    {"inline-100-1.25", false, 500'000, 100, 1, 1, 1.25},
    {"inline-100-2-lsm", false, 500'000, 100, 1, 1, 2, What::kOverwrite, 64 << 10, true},
    {"inline-100-1.25-lsm", false, 500'000, 100, 1, 1, 1.25, What::kOverwrite, 64 << 10, true},
    {"inline-4m", false, 4'000'000, 100, 1, 2, 1.5},
    {"inline-4m-lsm", false, 4'000'000, 100, 1, 2, 1.5, What::kOverwrite, 64 << 10, true},
    {"inline-zipf", false, 500'000, 100, 1, 1, 1.5, What::kZipf},
    {"inline-zipf-lsm", false, 500'000, 100, 1, 1, 1.5, What::kZipf, 64 << 10, true},
    {"inline-delete", false, 500'000, 100, 1, 1, 1.5, What::kDelete},
    {"inline-delete-lsm", false, 500'000, 100, 1, 1, 1.5, What::kDelete, 64 << 10, true},
    {"inline-range", false, 500'000, 100, 1, 1, 1.5, What::kRange},
    {"inline-range-lsm", false, 500'000, 100, 1, 1, 1.5, What::kRange, 64 << 10, true},
    {"1k", true, 100'000, 1000, 1, 1, 1.5},
    {"1k-lsm", true, 100'000, 1000, 1, 1, 1.5, What::kOverwrite, 64 << 10, true},
    {"100-1.1", false, 500'000, 100, 1, 1, 1.1},
    {"100-1.1-lsm", false, 500'000, 100, 1, 1, 1.1, What::kOverwrite, 64 << 10, true},
    {"1k-1.1", false, 200'000, 1000, 1, 1, 1.1},
    {"1k-1.25", false, 200'000, 1000, 1, 2, 1.25},
    {"1k-2", false, 200'000, 1000, 1, 8, 2},
    {"1k-4", false, 200'000, 1000, 1, 1, 4},
    {"1k-zipf", false, 200'000, 1000, 1, 4, 1.5, What::kZipf},
    {"1k-delete", true, 100'000, 1000, 1, 1, 1.5, What::kDelete},
    {"1k-range", false, 100'000, 1000, 1, 1, 1.5, What::kRange},
    {"1k-range-lsm", false, 100'000, 1000, 1, 1, 1.5, What::kRange, 64 << 10, true},
    {"1k-snapshots", false, 100'000, 1000, 1, 1, 1.5, What::kSnapshots},
    {"1k-tiny-buffer", false, 100'000, 1000, 1, 2, 1.5, What::kOverwrite, 64},
    {"1k-tiny-buffer-lsm", false, 100'000, 1000, 1, 2, 1.5, What::kOverwrite, 64, true},
    {"20k", false, 5'000, 20'000, 1, 8, 1.5},
    {"1m", false, 100, 1 << 20, 1, 2, 1.5},
    {"1m-1.2", false, 200, 1 << 20, 1, 1, 1.2},
    {"64m", false, 3, 64 << 20, 1, 1, 2},
    {"10-families", false, 60'000, 2000, 10, 2, 1.5},
    {"100-families", false, 60'000, 2000, 100, 2, 1.5},
    {"100-families-delete", false, 60'000, 2000, 100, 4, 1.5, What::kDelete},
    {"300-families", true, 60'000, 2000, 300, 1, 1.5},
    {"300-families-lsm", false, 60'000, 2000, 300, 1, 1.5, What::kOverwrite, 64 << 10, true},
    {"1000-families", false, 60'000, 2000, 1000, 1, 1.5},
};
// clang-format on

void Check(const Status& s) {
  if (s.ok()) return;
  std::fprintf(stderr, "cambium_space_matrix: %s\n", s.ToString().c_str());
  std::exit(2);
}

double SecondsSince(std::uint64_t nanos) { return static_cast<double>(NowNanos() - nanos) / 1e9; }

// The live bytes of a cell, counted by the writers: records of the log, entries of the index, and three pages for each
// family, which even an empty tree or run takes. For an entry with its value in the index, 8 bytes of its page count
// too; other parts of pages, and filters, do not.
class LiveBytes {
 public:
  LiveBytes(const Cell& cell, const ColumnFamilyOptions& options)
      : each_(cell.bytes >= options.min_blob_size ? RecordBytes(cell.bytes) + kKeyBytes + kAddressBytes
                                                  : kKeyBytes + kWordBytes + cell.bytes),
        pages_(3.0 * static_cast<double>(options.page_size) * cell.families) {}
  static constexpr std::uint64_t kKeyBytes = 16;
  void Add(std::int64_t keys) { keys_.fetch_add(keys); }
  [[nodiscard]] double Now() const { return pages_ + static_cast<double>(keys_.load()) * static_cast<double>(each_); }

 private:
  static constexpr std::uint64_t kAddressBytes = 28;
  static constexpr std::uint64_t kWordBytes = 8;
  static std::uint64_t RecordBytes(std::uint64_t value) { return (48 + kKeyBytes + value + 7) / 8 * 8; }

  const std::uint64_t each_;
  const double pages_;
  std::atomic<std::int64_t> keys_{0};
};

// Returns the bound on disk space (docs/LIMITS.md): S times the live bytes L, plus A: two segments, a step of log GC,
// and a large value for each writer. A database that is being written to may take min_space_limit even if that is more.
double Allowed(const Cell& cell, const Options& options, double live, bool at_rest) {
  const double slack = std::max((cell.s - 1) * live, at_rest ? 0 : 8.0 / 11 * static_cast<double>(options.min_space_limit) - live);
  const double segment = std::clamp(slack / 8, kMiB, static_cast<double>(options.blob_file_size));
  const double large = cell.bytes >= options.min_punch_size ? static_cast<double>(cell.bytes) * cell.writers : 0;
  const double allowed = cell.s * live + 3 * segment + large;
  return at_rest ? allowed : std::max(allowed, static_cast<double>(options.min_space_limit) + large);
}

struct Outcome {
  double puts_per_second = 0;
  double longest_put = 0;
  double load_cost = 0;   // bytes that flushes and compactions write per byte of keys and values, during the load
  double cost = 0;        // the same during the writes after it
  double most = 0;        // the highest sample: bytes on disk per allowed byte
  double most_amp = 0;    // the same sample: bytes on disk per live byte
  int samples = 0;
  int violations = 0;
  double rest_after = 0;  // seconds
  double rest_amp = 0;
  bool rests_below = false;
  std::string figures;    // the property "cambium.space" right after the highest sample
};

class CellRun {
 public:
  CellRun(const Cell& cell, std::string dir, std::uint64_t seed, bool shows_figures)
      : cell_(cell), dir_(std::move(dir)), seed_(seed), shows_figures_(shows_figures), options_(OptionsOf(cell)), live_(cell, options_) {
    options_.statistics = CreateDBStatistics();
    options_.create_if_missing = options_.create_missing_column_families = true;
    std::vector<ColumnFamilyDescriptor> families;
    for (int i = 0; i < cell.families; ++i) {
      families.push_back({i == 0 ? std::string("default") : "f" + std::to_string(i), ColumnFamilyOptions(options_)});
    }
    Check(DB::Open(DBOptions(options_), dir_, families, &handles_, &db_));
    is_there_.assign(cell.keys, 0);
  }
  ~CellRun() {
    for (ColumnFamilyHandle* const handle : handles_) Check(db_->DestroyColumnFamilyHandle(handle));
    Check(db_->Close());
    db_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(dir_, ignored);
  }

  Outcome Run(double seconds) {
    std::thread sampler([this] { Sample(); });
    Write(1e9, /*loads=*/true);
    const std::uint64_t puts_before = puts_.load();
    const std::uint64_t load_bytes = IndexBytesWritten();
    outcome_.load_cost = Ratio(load_bytes, puts_before * (LiveBytes::kKeyBytes + cell_.bytes));
    const std::uint64_t start = NowNanos();
    Write(seconds, /*loads=*/false);
    const std::uint64_t puts = puts_.load() - puts_before;
    outcome_.puts_per_second = static_cast<double>(puts) / SecondsSince(start);
    outcome_.cost = Ratio(IndexBytesWritten() - load_bytes, puts * (LiveBytes::kKeyBytes + cell_.bytes));
    Rest();
    stop_.store(true);
    sampler.join();
    return outcome_;
  }

 private:
  static Options OptionsOf(const Cell& cell) {
    Options options;
    options.max_space_amplification = cell.s;
    if (cell.s < 1.25) options.min_blob_size = 0;  // otherwise such a ceiling is refused
    options.write_buffer_size = cell.buffer_kib << 10;
    options.index_type = cell.lsm ? IndexKind::kLsm : IndexKind::kBTree;
    return options;
  }
  [[nodiscard]] std::uint64_t IndexBytesWritten() const {
    return options_.statistics->getTickerCount(FILE_BYTES_FLUSH) + options_.statistics->getTickerCount(FILE_BYTES_MERGE);
  }
  static double Ratio(std::uint64_t a, std::uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

  // Runs all writers: they load their keys, or write for `seconds`.
  void Write(double seconds, bool loads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < cell_.writers; ++t) threads.emplace_back([=, this] { WriteAlone(t, seconds, loads); });
    for (std::thread& thread : threads) thread.join();
  }
  void WriteAlone(int thread, double seconds, bool loads) {
    Prng prng(seed_ + static_cast<std::uint64_t>(thread) * 7919 + (loads ? 0 : 1));
    std::string value = prng.Bytes(cell_.bytes);
    // Each writer has keys of its own, unless there are too few, so that it knows which of them exist.
    const auto writers = static_cast<std::uint64_t>(cell_.writers);
    const bool shares = cell_.keys < writers;
    const std::uint64_t own = shares ? cell_.keys : cell_.keys / writers;
    const std::uint64_t first = shares ? 0 : own * static_cast<std::uint64_t>(thread);
    const Zipf zipf(own, 0.99);
    std::vector<const Snapshot*> snapshots;
    const std::uint64_t start = NowNanos();
    double longest = 0;
    for (std::uint64_t i = 0; loads ? i < own : i % 16 != 0 || SecondsSince(start) < seconds; ++i) {
      std::uint64_t key = loads ? i : prng.Uniform(own);
      if (!loads && cell_.what == What::kZipf) key = zipf.Next(&prng) * 7'919 % own;
      if (!value.empty()) value[prng.Uniform(value.size())] ^= static_cast<char>(1 + prng.Uniform(255));
      const std::uint64_t begin = NowNanos();
      if (!loads && cell_.what == What::kDelete && prng.OneIn(3)) {
        Delete(first + key, first + key + 1, false);
      } else if (!loads && cell_.what == What::kRange && prng.OneIn(200)) {
        Delete(first + key, first + std::min(own, key + 50), true);
      } else {
        Put(first + key, value, shares && (thread > 0));
      }
      longest = std::max(longest, SecondsSince(begin));
      puts_.fetch_add(1);
      if (!loads && cell_.what == What::kSnapshots && i % 2'000 == 0) {
        snapshots.push_back(db_->GetSnapshot());
        has_snapshots_.store(true);
      }
      if (snapshots.size() < 8) continue;
      for (const Snapshot* const each : snapshots) db_->ReleaseSnapshot(each);
      snapshots.clear();
    }
    for (const Snapshot* const each : snapshots) db_->ReleaseSnapshot(each);
    const std::scoped_lock lock(mutex_);
    outcome_.longest_put = std::max(outcome_.longest_put, longest);
  }
  [[nodiscard]] ColumnFamilyHandle* FamilyOf(std::uint64_t key) const { return handles_[key % handles_.size()]; }
  static std::string KeyOf(std::uint64_t key) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(key));
    return text;
  }
  void Put(std::uint64_t key, const std::string& value, bool is_counted) {
    Check(db_->Put({}, FamilyOf(key), KeyOf(key), value));
    if (is_counted || std::exchange(is_there_[key], 1) != 0) return;
    live_.Add(1);
  }
  void Delete(std::uint64_t from, std::uint64_t to, bool as_range) {
    if (as_range) {
      Check(db_->DeleteRange({}, FamilyOf(from), KeyOf(from), KeyOf(to)));
    } else {
      Check(db_->Delete({}, FamilyOf(from), KeyOf(from)));
    }
    std::int64_t deleted = 0;
    for (std::uint64_t i = from; i < to; ++i) deleted += std::exchange(is_there_[i], 0);
    live_.Add(-deleted);
  }

  // Returns live bytes and bytes on disk as this program counts them, files by kind, and the database's own figures, in
  // MiB.
  std::string FiguresNow(double live, double on_disk) {
    std::map<std::string, double> bytes;
    std::error_code ignored;
    for (const auto& file : std::filesystem::directory_iterator(dir_, ignored)) {
      const std::uintmax_t size = file.file_size(ignored);
      if (!ignored) bytes[file.path().extension().string()] += static_cast<double>(size);  // else removed meanwhile
    }
    std::string text = "  live " + InMiB(live) + ", on disk " + InMiB(on_disk) + "; files:";
    for (const auto& [kind, its] : bytes) text += " " + kind + " " + InMiB(its);
    std::map<std::string, std::string> space;
    db_->GetMapProperty("cambium.space", &space);
    text += "\n  the database says:";
    for (const auto& [name, figure] : space) text += " " + name + " " + InMiB(std::stod(figure));
    for (int level = 0; level < 4 && cell_.lsm; ++level) {
      std::string files;
      db_->GetProperty("cambium.num-files-at-level" + std::to_string(level), &files);
      text += (level == 0 ? "\n  files in levels: " : " ") + files;
    }
    return text + "\n";
  }
  static std::string InMiB(double bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", bytes / kMiB);
    return text;
  }

  // A file is removed a moment after the write that makes it garbage. So the live bytes of a sample are the most of the
  // last three samples.
  void Sample() {
    std::vector<double> recent;
    while (!stop_.load()) {
      recent.push_back(live_.Now());
      if (recent.size() > 3) recent.erase(recent.begin());
      const auto on_disk = static_cast<double>(DiskBytes(dir_));
      const double live = std::max(live_.Now(), *std::max_element(recent.begin(), recent.end()));
      const double allowed = Allowed(cell_, options_, live, false);
      if (!has_snapshots_.load()) {
        const std::scoped_lock lock(mutex_);
        ++outcome_.samples;
        outcome_.violations += on_disk > allowed ? 1 : 0;
        if (on_disk / allowed > outcome_.most) {
          outcome_.most = on_disk / allowed;
          outcome_.most_amp = on_disk / std::max(live, 1.0);
          if (shows_figures_) outcome_.figures = FiguresNow(live, on_disk);
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  // Watches until no file has changed for two seconds.
  void Rest() {
    const std::uint64_t start = NowNanos();
    std::uint64_t bytes = DiskBytes(dir_);
    double changed = 0;
    while (SecondsSince(start) < 40) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const std::uint64_t now = DiskBytes(dir_);
      if (std::exchange(bytes, now) != now) changed = SecondsSince(start);
      if (SecondsSince(start) > std::max(7.0, changed + 2)) break;
    }
    const double live = live_.Now();
    outcome_.rest_after = changed;
    outcome_.rest_amp = static_cast<double>(bytes) / std::max(live, 1.0);
    outcome_.rests_below = static_cast<double>(bytes) <= Allowed(cell_, options_, live, true);
  }

  const Cell& cell_;
  const std::string dir_;
  const std::uint64_t seed_;
  const bool shows_figures_;
  Options options_;
  LiveBytes live_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::vector<unsigned char> is_there_;  // each element has one writer
  std::atomic<std::uint64_t> puts_{0};
  std::atomic<bool> has_snapshots_{false};  // from then on, what they hold cannot be told from garbage
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // guards outcome_ while threads run
  Outcome outcome_;
};

int Main(int argc, char** argv) {
  std::string root;
  std::string only;
  bool all = false;
  double seconds = 3;
  std::uint64_t seed = 301;
  bool figures = false;
  CLI::App app("Checks in many shapes that max_space_amplification bounds the disk.");
  app.add_option("--db", root, "directory for the databases, which are removed")->required();
  app.add_flag("--all", all, "runs all cells, not only five");
  app.add_option("--only", only, "runs the cells whose name begins with this");
  app.add_option("--seconds", seconds, "seconds of writing, after the load")->capture_default_str();
  app.add_option("--seed", seed, "seed of keys and values")->capture_default_str();
  app.add_flag("--figures", figures, "shows what was on disk at the highest sample of each cell");
  CLI11_PARSE(app, argc, argv);
  std::printf("seed %llu, %.0f s\n", static_cast<unsigned long long>(seed), seconds);
  std::printf("%-20s %5s %9s %9s %7s %7s %10s %8s %8s %11s\n", "cell", "S", "puts/s", "longest", "most/S*L+A", "most/L",
              "violations", "rest", "rest/L", "index bytes");
  int failed = 0;
  for (const Cell& cell : kCells) {
    if (only.empty() ? !cell.is_usual && !all : !std::string(cell.name).starts_with(only)) continue;
    const std::string dir = root + "/" + cell.name;
    if (std::filesystem::exists(dir)) Check(Status::InvalidArgument(dir + " exists"));
    std::filesystem::create_directories(root);
    CellRun run(cell, dir, seed, figures);
    const Outcome seen = run.Run(seconds);
    const bool holds = seen.violations == 0 && seen.longest_put <= kLongestPut && seen.rest_after <= kRestWithin &&
                       seen.rests_below;
    failed += holds ? 0 : 1;
    std::printf("%-20s %5.2f %9.0f %7.0f ms %9.3f %8.2f %5d/%-5d %6.1f s %7.2f %5.1f %5.1f %s\n", cell.name, cell.s,
                seen.puts_per_second, seen.longest_put * 1000, seen.most, seen.most_amp, seen.violations, seen.samples,
                seen.rest_after, seen.rest_amp, seen.load_cost, seen.cost, holds ? "" : "DOES NOT HOLD");
    std::fputs(seen.figures.c_str(), stdout);
    std::fflush(stdout);
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cambium::bench

int main(int argc, char** argv) { return cambium::bench::Main(argc, argv); }
