// cambium_space: measures what max_space_amplification, log GC and punching do to the disk, from outside, ten times a
// second. Each call runs one experiment, with a database of its own that is removed at the end.
//
//   overwrite   loads, overwrites everything once unmeasured, then --times times. Compares the peak on disk with the
//               ceiling, and the bytes that log GC wrote with the law of uniform overwrites
//   insert      loads only: log GC should move nothing
//   delete      loads, waits until the database is quiet, deletes a part. Measures how soon the bytes are freed
//   read        lookups of two threads, while the database is quiet and while log GC collects a log that is half
//               garbage
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cambium/db.h"
#include "data/key.h"
#include "data/permutation.h"
#include "data/value.h"
#include "data/zipf.h"
#include "meter/op_meter.h"
#include "meter/sampler.h"
#include "space/law.h"
#include "system/process_stats.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

constexpr double kMiB = 1u << 20;
constexpr std::size_t kKeySize = 16;

struct Flags {
  std::string experiment;
  std::string db;
  std::string index = "btree";
  std::uint64_t live_mib = 512;
  std::size_t value_size = 1024;
  double ceiling = 1.5;
  double times = 20;
  double zipf = 0;
  double deleted = 1;
  std::uint64_t blob_file_size = 256u << 20;
  std::uint64_t seconds = 15;
  unsigned threads = 1;
  std::uint64_t seed = 301;
};

void Check(const Status& s) {
  if (s.ok()) return;
  std::fprintf(stderr, "cambium_space: %s\n", s.ToString().c_str());
  std::exit(2);
}

double Seconds(std::uint64_t since_nanos) { return static_cast<double>(NowNanos() - since_nanos) / 1e9; }

class Experiment {
 public:
  explicit Experiment(const Flags& flags)
      : flags_(flags),
        keys_((flags.live_mib << 20) / flags.value_size),
        pool_(flags.seed, flags.value_size, 1.0),
        order_(keys_, flags.seed) {
    options_.create_if_missing = true;
    options_.index_type = flags.index == "lsm" ? IndexKind::kLsm : IndexKind::kBTree;
    options_.max_space_amplification = flags.ceiling;
    // Open refuses a ceiling below 1.25 if values may be in the index. These values are separated anyway, so this
    // changes nothing else.
    if (flags.value_size >= options_.min_blob_size) options_.min_blob_size = 0;
    options_.blob_file_size = flags.blob_file_size;
  }
  ~Experiment() {
    if (db_ != nullptr) static_cast<void>(db_->Close());
    db_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(flags_.db, ignored);
  }

  void Open() { Check(DB::Open(options_, flags_.db, &db_)); }
  void Load() {
    PutMany(keys_, [this](std::uint64_t i) { return order_.At(i); });
  }
  // Makes `count` puts, shared by the threads.
  template <typename IdOf>
  void PutMany(std::uint64_t count, IdOf id_of) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < flags_.threads; ++t) {
      threads.emplace_back([&, t] {
        KeyBuffer key(kKeySize);
        ValueMaker values(pool_);
        for (std::uint64_t i = t; i < count; i += flags_.threads) {
          const std::uint64_t id = id_of(i);
          const std::uint64_t version = std::uint64_t{t} << 40 | ++version_[t];
          Check(db_->Put({}, key.Make(id), values.Make(id, version)));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  void Overwrite(double times) {
    const auto count = static_cast<std::uint64_t>(times * static_cast<double>(keys_));
    std::vector<Prng> random;
    for (unsigned t = 0; t < flags_.threads; ++t) random.emplace_back(flags_.seed + ++phases_ * 257 + t);
    std::optional<Zipf> zipf;
    if (flags_.zipf > 0) zipf.emplace(keys_, flags_.zipf);
    PutMany(count, [&](std::uint64_t i) {
      Prng& its = random[i % flags_.threads];
      return zipf.has_value() ? order_.At(zipf->Next(&its)) : its.Uniform(keys_);
    });
  }
  // Returns the figures of the property cambium.space as numbers.
  std::map<std::string, double> Space() {
    std::map<std::string, std::string> texts;
    if (!db_->GetMapProperty("cambium.space", &texts)) Check(Status::NotSupported("cambium.space"));
    std::map<std::string, double> figures;
    for (const auto& [name, text] : texts) figures[name] = std::strtod(text.c_str(), nullptr);
    return figures;
  }
  std::uint64_t Property(const char* name) {
    std::uint64_t value = 0;
    if (!db_->GetIntProperty(std::string("cambium.") + name, &value)) Check(Status::NotSupported(name));
    return value;
  }
  [[nodiscard]] double OnDisk() const { return static_cast<double>(DiskBytes(flags_.db)); }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }
  DB* db() { return db_.get(); }
  Options* options() { return &options_; }
  [[nodiscard]] double UserBytes(double times) const {
    return times * static_cast<double>(keys_) * static_cast<double>(kKeySize + flags_.value_size);
  }
  const ValuePool& pool() const { return pool_; }

 private:
  const Flags& flags_;
  const std::uint64_t keys_;
  const ValuePool pool_;
  const Permutation order_;
  std::uint64_t version_[256] = {};
  std::uint64_t phases_ = 0;
  Options options_;
  std::unique_ptr<DB> db_;
};

// The figures of cambium.space on average over time, per byte of live values in the log.
class AverageSpace {
 public:
  explicit AverageSpace(Experiment* experiment) : experiment_(experiment), thread_([this] { Look(); }) {}
  ~AverageSpace() { Stop(); }
  void Stop() {
    stop_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  double Of(const std::string& name) { return count_ == 0 ? 0 : sums_[name] / static_cast<double>(count_); }

 private:
  void Look() {
    while (!stop_.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::map<std::string, double> space = experiment_->Space();
      const double live = space["live"] - space["index_live"];
      if (live <= 0) continue;
      for (const auto& [name, bytes] : space) sums_[name] += bytes / live;
      ++count_;
    }
  }
  Experiment* const experiment_;
  std::atomic<bool> stop_{false};
  std::map<std::string, double> sums_;
  std::uint64_t count_ = 0;
  std::thread thread_;
};

void Overwrites(const Flags& flags) {
  Experiment experiment(flags);
  experiment.Open();
  experiment.Load();
  experiment.Overwrite(1);  // the live bytes reach their final size, and garbage is everywhere
  const std::uint64_t moved_before = experiment.Property("gc-bytes-written");
  const ProcessStats before = ReadProcessStats();
  const std::uint64_t start = NowNanos();
  Sampler sampler(flags.db, [] { return std::uint64_t{0}; });
  AverageSpace average(&experiment);
  experiment.Overwrite(flags.times);
  const double seconds = Seconds(start);
  average.Stop();
  const double log_amp = average.Of("log");
  sampler.Stop();
  const auto most = static_cast<double>(sampler.disk_peak());
  const ProcessStats used = ReadProcessStats() - before;
  const auto moved = static_cast<double>(experiment.Property("gc-bytes-written") - moved_before);
  std::map<std::string, double> space = experiment.Space();
  const double user = experiment.UserBytes(flags.times);
  const double live = space["live"];
  const double allowed = flags.ceiling * live + 2 * space["segment_bytes"] + space["step_bytes"];
  // Bytes of a record: header, key and value.
  const double record = (live - space["index_live"]) / static_cast<double>(experiment.keys());
  const double gc_amp = 1 + moved / (flags.times * static_cast<double>(experiment.keys()) * record);
  const double seen_amp = 1 + average.Of("garbage");  // as log GC sees it, in segments that it may collect
  const double segments = static_cast<double>(experiment.Property("num-blob-files"));
  std::printf("live %.1f MiB in %.0f segments of %.1f; most on disk %.1f = %.3f of live, allowed %.1f: %s\n", live / kMiB,
              segments, space["segment_bytes"] / kMiB, most / kMiB, most / live, allowed / kMiB,
              flags.ceiling == 0 ? "no ceiling" : most <= allowed ? "holds" : "DOES NOT HOLD");
  std::printf(
      "log %.3f per live byte on average, of which log GC sees %.3f; GC write amp %.3f; law %.3f for what it sees "
      "(%+.1f %%), %.3f for the whole log (%+.1f %%)\n",
      log_amp, seen_amp, gc_amp, WriteAmpOfUniform(seen_amp), 100 * (gc_amp / WriteAmpOfUniform(seen_amp) - 1),
      WriteAmpOfUniform(log_amp), 100 * (gc_amp / WriteAmpOfUniform(log_amp) - 1));
  std::printf("of that garbage %.3f, hidden %.3f, in memtables only %.3f; index %.3f\n", average.Of("garbage"),
              average.Of("hidden"), average.Of("tail"), average.Of("index"));
  std::printf("%.0f MiB/s of values; written per user byte %.3f by the process (%.3f with what was deleted before it reached the device)\n",
              user / kMiB / seconds,
              static_cast<double>(used.write_bytes - std::min(used.write_bytes, used.cancelled_write_bytes)) / user,
              static_cast<double>(used.write_bytes) / user);
}

void Inserts(const Flags& flags) {
  Experiment experiment(flags);
  experiment.Open();
  experiment.Load();
  Check(experiment.db()->WaitForCompact());
  std::this_thread::sleep_for(std::chrono::seconds(8));  // until idle work has started and ended
  Check(experiment.db()->WaitForCompact());
  std::printf("%llu values inserted; bytes moved by log GC: %llu; on disk %.1f MiB = %.3f of live\n",
              static_cast<unsigned long long>(experiment.keys()),
              static_cast<unsigned long long>(experiment.Property("gc-bytes-written")), experiment.OnDisk() / kMiB,
              experiment.OnDisk() / experiment.Space()["live"]);
}

void Deletes(const Flags& flags) {
  Experiment experiment(flags);
  experiment.Open();
  experiment.Load();
  Check(experiment.db()->WaitForCompact());
  std::this_thread::sleep_for(std::chrono::seconds(8));
  Check(experiment.db()->WaitForCompact());
  const double before = experiment.OnDisk();
  const auto count = static_cast<std::uint64_t>(flags.deleted * static_cast<double>(experiment.keys()));
  const std::uint64_t step = std::max<std::uint64_t>(1, experiment.keys() / std::max<std::uint64_t>(1, count));
  KeyBuffer key(kKeySize);
  for (std::uint64_t i = 0; i < count; ++i) Check(experiment.db()->Delete({}, key.Make(i * step)));
  const std::uint64_t start = NowNanos();
  const double share = flags.value_size * static_cast<double>(count);
  double back_after = -1;
  double least = before;
  for (std::uint64_t i = 0; i < flags.seconds * 10; ++i) {
    least = std::min(least, experiment.OnDisk());
    if (back_after < 0 && before - least >= 0.95 * share) back_after = Seconds(start);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::printf("%.1f MiB on disk; %llu of %llu values deleted, %.1f MiB; after %llu s %.1f MiB are left", before / kMiB,
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(experiment.keys()), share / kMiB,
              static_cast<unsigned long long>(flags.seconds), least / kMiB);
  if (back_after < 0) {
    std::printf("; 95 %% of the bytes are NOT freed\n");
  } else {
    std::printf("; 95 %% of the bytes were freed after %.1f s\n", back_after);
  }
}

// Returns the latencies of lookups made while `goes_on` returns true.
template <typename GoesOn>
Histogram ReadsWhile(Experiment* experiment, unsigned threads, std::uint64_t seed, GoesOn goes_on) {
  std::vector<Histogram> found(threads);
  std::vector<std::thread> readers;
  std::atomic<bool> stop{false};
  for (unsigned t = 0; t < threads; ++t) {
    readers.emplace_back([&, t] {
      Prng random(seed + t);
      KeyBuffer key(kKeySize);
      PinnableSlice value;
      while (!stop.load(std::memory_order_relaxed)) {
        const std::uint64_t id = random.Uniform(experiment->keys());
        const std::uint64_t start = NowNanos();
        Check(experiment->db()->Get({}, experiment->db()->DefaultColumnFamily(), key.Make(id), &value));
        found[t].Add(NowNanos() - start);
        value.Reset();
      }
    });
  }
  while (goes_on()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
  Histogram all;
  for (const Histogram& each : found) all.Merge(each);
  return all;
}

void PrintReads(const char* when, const Histogram& nanos, double seconds) {
  const auto micros = [&](double percent) { return static_cast<double>(nanos.Percentile(percent)) / 1000; };
  std::printf("%-8s %9.0f reads/s, p50 %.1f us, p99 %.1f, p99.9 %.1f, max %.0f\n", when,
              static_cast<double>(nanos.count()) / seconds, micros(50), micros(99), micros(99.9),
              static_cast<double>(nanos.max()) / 1000);
}

void Reads(const Flags& flags) {
  Experiment experiment(flags);
  experiment.options()->enable_blob_garbage_collection = false;
  experiment.options()->max_space_amplification = 0;
  experiment.Open();
  experiment.Load();
  experiment.Overwrite(1);
  Check(experiment.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Check(experiment.db()->WaitForCompact());
  const double garbage_on_disk = experiment.OnDisk();
  const std::uint64_t start_of_quiet = NowNanos();
  static_cast<void>(ReadsWhile(&experiment, 2, 1, [&] { return Seconds(start_of_quiet) < 3; }));  // warms
  const std::uint64_t start_of_idle = NowNanos();
  const Histogram idle =
      ReadsWhile(&experiment, 2, 2, [&] { return Seconds(start_of_idle) < static_cast<double>(flags.seconds); });
  PrintReads("idle", idle, Seconds(start_of_idle));
  Check(experiment.db()->SetOptions({{"enable_blob_garbage_collection", "true"},
                                     {"blob_garbage_collection_age_cutoff", "1"}}));
  const std::uint64_t start = NowNanos();
  double moved = static_cast<double>(experiment.Property("gc-bytes-written"));
  std::uint64_t last_moved = NowNanos();
  const Histogram beside = ReadsWhile(&experiment, 2, 3, [&] {
    const auto now = static_cast<double>(experiment.Property("gc-bytes-written"));
    if (now > moved) last_moved = NowNanos();
    moved = now;
    return Seconds(start) < 120 && Seconds(last_moved) < 2;
  });
  PrintReads("with GC", beside, Seconds(start));
  std::printf("log GC moved %.1f MiB in %.1f s, %.1f MiB on disk became %.1f; p99 is %.2f times the quiet one\n",
              moved / kMiB, Seconds(start), garbage_on_disk / kMiB, experiment.OnDisk() / kMiB,
              static_cast<double>(beside.Percentile(99)) / static_cast<double>(idle.Percentile(99)));
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // if the reader of the output goes away, the databases are removed all the same
  Flags f;
  CLI::App app("Measures what Cambium's space ceiling, log GC and punching do to the disk.");
  app.add_option("experiment", f.experiment, "overwrite, insert, delete or read")
      ->required()
      ->check(CLI::IsMember({"overwrite", "insert", "delete", "read"}));
  app.add_option("--db", f.db, "directory for the database; it must not exist yet, and is removed at the end")->required();
  app.add_option("--index", f.index, "index of the database")
      ->check(CLI::IsMember({"btree", "lsm"}))
      ->capture_default_str();
  app.add_option("--live_mib", f.live_mib, "MiB of values")->check(CLI::Range(1u, 1u << 24))->capture_default_str();
  app.add_option("--value_size", f.value_size, "bytes of a value")
      ->check(CLI::Range(kValueHeaderSize, std::size_t{1} << 26))->capture_default_str();
  app.add_option("--max_space_amplification", f.ceiling, "the ceiling; 0: none")->capture_default_str();
  app.add_option("--times", f.times, "how often the data is overwritten")->capture_default_str();
  app.add_option("--zipf", f.zipf, "exponent of a Zipf distribution of overwrites; 0: uniform")
      ->check(CLI::Range(0.0, 0.9999))->capture_default_str();
  app.add_option("--deleted", f.deleted, "share of the values that is deleted")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--blob_file_size", f.blob_file_size, "most bytes of a segment")->capture_default_str();
  app.add_option("--seconds", f.seconds, "seconds of quiet reads; seconds to watch after deletes")
      ->capture_default_str();
  app.add_option("--threads", f.threads, "threads that write")->check(CLI::Range(1u, 255u))->capture_default_str();
  app.add_option("--seed", f.seed, "seed of keys and values")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (std::filesystem::exists(f.db)) Check(Status::InvalidArgument(f.db + " exists"));
  std::string line = "cambium_space";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  std::printf("%s\n", line.c_str());
  if (f.experiment == "overwrite") Overwrites(f);
  if (f.experiment == "insert") Inserts(f);
  if (f.experiment == "delete") Deletes(f);
  if (f.experiment == "read") Reads(f);
  return 0;
}

}  // namespace
}  // namespace cambium::bench

int main(int argc, char** argv) { return cambium::bench::Main(argc, argv); }
