#include "run/phase_runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "data/mix.h"
#include "meter/interval_report.h"
#include "meter/progress.h"
#include "meter/sampler.h"
#include "system/interrupt.h"
#include "system/process_stats.h"
#include "workloads/ycsb/ycsb.h"

namespace cambium::bench {
namespace {

// The most writes of a phase, of all threads together, whose ids are logged: 32 MiB.
constexpr std::size_t kLoggedMax = 8u << 20;

constexpr auto kProgressInterval = std::chrono::milliseconds(250);

double Seconds(std::uint64_t nanos) { return static_cast<double>(nanos) * 1e-9; }
double Micros(std::uint64_t nanos) { return static_cast<double>(nanos) * 1e-3; }
double Ratio(std::uint64_t a, std::uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

std::uint64_t CountOf(const Workload& workload, const BenchFlags& flags) {
  const auto flag_or_num = [&](std::int64_t flag) {
    const std::uint64_t all = flag >= 0 ? static_cast<std::uint64_t>(flag) : flags.num / workload.divisor;
    return flag >= 0 && workload.count_divisor == 1 ? all : std::max<std::uint64_t>(1, all / workload.count_divisor);
  };
  switch (workload.count) {
    case Count::kNum: return flags.num;
    case Count::kReads: return flag_or_num(flags.reads);
    case Count::kWrites: return flag_or_num(flags.writes);
    case Count::kDeletes: return flag_or_num(flags.deletes);
    case Count::kOne: return 1;
    case Count::kAll:
    case Count::kTrace: return OpMeter::kNoLimit;
    case Count::kYcsb: return YcsbOperations(flags);
  }
  return 0;
}

// Returns how many of `total` shared operations worker `index` does: every threads-th.
std::uint64_t ShareOf(std::uint64_t total, unsigned index, unsigned threads) {
  return total / threads + (index < total % threads ? 1 : 0);
}

// The sums over the workers of a phase.
struct Work {
  std::uint64_t ops = 0;
  std::uint64_t bytes = 0;
  std::uint64_t reads = 0;
  std::uint64_t found = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t aborts = 0;
  Histogram nanos;
  std::uint64_t end_nanos = 0;  // when the last worker was done
  // Worker::log of each worker that wrote, with its index.
  std::vector<std::pair<unsigned, std::vector<std::uint32_t>>> logs;
  bool log_overflowed = false;
  std::optional<WriterFigures> writer;
  Status status;
};

// A Crew is the threads of a phase.
class Crew {
 public:
  // `changes`: the phase writes. `what`: the first columns of interval reports.
  Crew(const Workload& workload, Engine* engine, Phase* phase, unsigned threads, bool changes, const std::string& what)
      : workload_(workload),
        changes_(changes),
        what_(what),
        engine_(engine),
        phase_(phase),
        start_(threads + (workload.beside != nullptr ? 1 : 0)),
        threads_(threads),
        writer_meter_(OpMeter::kNoLimit, OpMeter::kNoLimit, workers_done_) {
    const BenchFlags& flags = phase->flags;
    const bool timed = workload.random && flags.duration > 0;
    const std::uint64_t nanos = timed ? flags.duration * 1'000'000'000 : OpMeter::kNoLimit;
    for (unsigned i = 0; i < threads; ++i) {
      const std::uint64_t limit = timed                ? OpMeter::kNoLimit
                                  : workload.shared    ? ShareOf(phase->total_ops, i, threads)
                                                       : phase->total_ops;
      meters_.emplace_back(limit, nanos, stop_);
    }
    const std::uint64_t all = workload.count == Count::kAll ? phase->keys.count()
                              : workload.shared             ? phase->total_ops
                                                            : phase->total_ops * threads;
    expected_ops_ = timed ? 0 : all;
  }

  // Returns the operations done so far. Any thread, at any time.
  [[nodiscard]] std::uint64_t Ops() const {
    std::uint64_t ops = 0;
    for (const OpMeter& meter : meters_) ops += meter.progress();
    return ops;
  }

  // Runs all threads and returns the sums.
  Work Run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < threads_; ++i) threads.emplace_back([this, i] { RunWorker(i); });
    if (workload_.beside != nullptr) threads.emplace_back([this] { RunWriter(); });
    Watch();
    for (std::thread& thread : threads) thread.join();
    for (const OpMeter& meter : meters_) {
      work_.ops += meter.ops();
      work_.bytes += meter.bytes();
      work_.nanos.Merge(meter.nanos());
    }
    return std::move(work_);
  }

 private:
  void RunWorker(unsigned i) {
    const std::unique_ptr<Session> session = engine_->NewSession();
    Perform(workload_.run, i, session.get(), &meters_[i]);
    const std::lock_guard lock(mutex_);
    if (++finished_ == threads_) {
      work_.end_nanos = NowNanos();
      workers_done_.store(true);
    }
    changed_.notify_one();
  }

  void RunWriter() {
    const std::unique_ptr<Session> session = engine_->NewSession();
    const std::uint64_t begin = NowNanos();
    Perform(workload_.beside, threads_, session.get(), &writer_meter_);
    const double seconds = Seconds(NowNanos() - begin);
    const std::lock_guard lock(mutex_);
    work_.writer = WriterFigures{.ops = writer_meter_.ops(),
                                 .ops_per_sec = static_cast<double>(writer_meter_.ops()) / seconds,
                                 .p99_us = Micros(writer_meter_.nanos().Percentile(99)),
                                 .max_us = Micros(writer_meter_.nanos().max())};
  }

  // Runs `body` as thread `index`. An error of one thread ends all.
  void Perform(void (*body)(Worker*), unsigned index, Session* session, OpMeter* meter) {
    Worker worker{.phase = *phase_, .session = *session, .meter = *meter, .index = index,
                  .random = Prng(Mix(phase_->seed, index))};
    if (changes_) worker.log.reserve(kLoggedMax / (threads_ + (workload_.beside != nullptr ? 1 : 0)));
    start_.arrive_and_wait();
    body(&worker);
    if (worker.status.ok()) worker.status = session->Finish();
    const std::lock_guard lock(mutex_);
    work_.reads += worker.reads;
    work_.found += worker.found;
    work_.written_bytes += worker.written_bytes;
    work_.aborts += worker.aborts;
    if (!worker.log.empty()) work_.logs.emplace_back(index, std::move(worker.log));
    work_.log_overflowed = work_.log_overflowed || worker.log_overflowed;
    if (worker.status.ok()) return;
    stop_.store(true);
    if (work_.status.ok()) work_.status = worker.status;
  }

  // Shows progress and passes Ctrl-C on to the workers, until they are done.
  void Watch() {
    Progress progress(workload_.name);
    IntervalReport intervals(phase_->flags.report_file, phase_->flags.report_interval_seconds, what_);
    const std::uint64_t begin = NowNanos();
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kProgressInterval, [this] { return finished_ == threads_; })) {
      if (Interrupted().load()) stop_.store(true);
      const std::uint64_t ops = Ops();
      const double seconds = Seconds(NowNanos() - begin);
      const double fraction = expected_ops_ != 0 ? Ratio(ops, expected_ops_)
                                                 : seconds / static_cast<double>(phase_->flags.duration);
      progress.Show(ops, seconds, fraction);
      intervals.Look(seconds, ops);
    }
  }

  const Workload& workload_;
  const bool changes_;
  const std::string what_;  // engine, benchmark, round
  Engine* engine_;
  Phase* phase_;
  std::latch start_;
  unsigned threads_;
  std::uint64_t expected_ops_ = 0;  // 0: --duration ends the phase
  std::deque<OpMeter> meters_;      // one per worker, without shared cache lines
  std::atomic<bool> stop_{false};
  OpMeter writer_meter_;
  std::atomic<bool> workers_done_{false};  // ends the writer

  std::mutex mutex_;  // guards the following members
  std::condition_variable changed_;
  unsigned finished_ = 0;
  Work work_;
};

// Returns the current state, with counters since `before` if that is known.
std::optional<IndexFigures> FiguresSince(Engine* engine, const std::optional<IndexFigures>& before) {
  std::optional<IndexFigures> figures = engine->ReadIndexFigures();
  if (figures.has_value() && before.has_value()) {
    figures->updates -= before->updates;
    figures->bytes -= before->bytes;
    figures->law_bytes -= before->law_bytes;
    figures->merges -= before->merges;
  }
  return figures;
}

// Returns the bytes of existing keys and values.
std::uint64_t LiveBytes(const Phase& phase) {
  const std::uint64_t values = phase.pool.fixed() ? phase.keys.count() * phase.pool.size_max() : phase.keys.value_bytes();
  return phase.keys.count() * phase.key_shape.TypicalSize() + values;
}

// Notes which versions are the last. If two threads wrote the same id, the last version is unknown.
void NoteLastVersions(const Work& work, const Phase& phase, KeySet* keys) {
  if (work.log_overflowed) return keys->ForgetAllLast();
  std::uint64_t end = 0;
  for (const auto& [index, log] : work.logs) {
    for (const std::uint64_t id : log) end = std::max(end, id + 1);
  }
  constexpr std::uint16_t kNone = 0;
  constexpr std::uint16_t kSeveral = 0xffff;
  std::vector<std::uint16_t> writers(end, kNone);
  for (const auto& [index, log] : work.logs) {
    const auto me = static_cast<std::uint16_t>(index + 1);
    for (std::uint64_t i = 0; i < log.size(); ++i) {
      std::uint16_t& writer = writers[log[i]];
      writer = writer == kNone || writer == me ? me : kSeveral;
      if (writer == me) {
        keys->SetLast(log[i], VersionOf(phase, index, i));
      } else {
        keys->ForgetLast(log[i]);
      }
    }
  }
}

Status Settle(Engine* engine, const char* name, double* idle_seconds) {
  Progress progress(name);
  progress.Show("waiting until the engine is quiet and all is synced");
  return engine->Settle(idle_seconds);
}

// Returns b - a if both are known.
std::optional<std::uint64_t> Difference(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  return a.has_value() && b.has_value() ? std::optional(*b - *a) : std::nullopt;
}

// Returns over how many threads the stall time is summed; 0 if no thread writes.
unsigned StallThreads(StallTime time, const Workload& workload, unsigned workers) {
  const bool workers_write = workload.effect == Effect::kWrites || workload.mixes;
  const unsigned beside = workload.beside != nullptr ? 1 : 0;
  const unsigned writers = (workers_write ? workers : 0) + (workload.beside_reads ? 0 : beside);
  if (writers == 0) return 0;
  switch (time) {
    case StallTime::kOfTheStore:
      return 1;
    case StallTime::kOfEachWriter:
      return writers;
    case StallTime::kOfEachThread:
      return workers + beside;
  }
  return 0;
}

// Sets the cache hits and misses of the workers, and of background work while they ran; those of settling are left out.
void TakeCacheCounters(const EngineCounters& before, const EngineCounters& now, Result* r) {
  r->cache_hits = Difference(before.cache_hits, now.cache_hits);
  r->cache_misses = Difference(before.cache_misses, now.cache_misses);
}

void TakeCounters(const Workload& workload, const EngineCounters& before, const EngineCounters& now, Result* r) {
  if (before.ledger.has_value() && now.ledger.has_value()) {
    const WriteLedger& a = *before.ledger;
    const WriteLedger& b = *now.ledger;
    const std::uint64_t kept = now.kept_bytes - std::min(now.kept_bytes, before.kept_bytes);
    r->ledger = WriteLedger{.log = b.log - a.log,
                            .values = b.values - a.values,
                            .flush = b.flush - a.flush,
                            .merge = b.merge - a.merge,
                            .gc = b.gc - a.gc,
                            .manifest = b.manifest - a.manifest,
                            .other = b.other - a.other,
                            .log_keeps_values = LogKeepsValues(kept, b.log - a.log)};
  }
  if (const auto stalled = Difference(before.stall_micros, now.stall_micros); stalled.has_value()) {
    r->stall_seconds = static_cast<double>(*stalled) * 1e-6;
    r->stall_threads = StallThreads(now.stall_time, workload, r->threads);
  }
  r->merge_read_bytes = Difference(before.merge_read_bytes, now.merge_read_bytes);
  r->index_bytes = now.index_bytes;
}

// Returns latencies at percentiles that get denser towards the slowest call.
std::vector<std::pair<double, double>> LatencyCurve(const Histogram& nanos) {
  std::vector<std::pair<double, double>> curve;
  if (nanos.count() == 0) return curve;
  for (const double percent : {0.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99, 99.995, 99.999,
                               99.9999, 100.0}) {
    curve.emplace_back(percent, Micros(nanos.Percentile(percent)));
  }
  return curve;
}

void FillIn(const Workload& workload, const Phase& phase, const Work& work, Result* r) {
  r->benchmark = workload.name;
  r->value_size = phase.pool.size_typical();
  r->num = phase.flags.num;
  r->ops = work.ops;
  r->user_bytes = work.bytes;
  r->nanos = work.nanos;
  r->p50_us = Micros(work.nanos.Percentile(50));
  r->p75_us = Micros(work.nanos.Percentile(75));
  r->p99_us = Micros(work.nanos.Percentile(99));
  r->p999_us = Micros(work.nanos.Percentile(99.9));
  r->p9999_us = Micros(work.nanos.Percentile(99.99));
  r->latency_curve = LatencyCurve(work.nanos);
  r->max_us = Micros(work.nanos.max());
  r->writer = work.writer;
  if (r->seconds > 0) {
    r->ops_per_sec = static_cast<double>(r->ops) / r->seconds;
    r->mb_per_sec = static_cast<double>(r->user_bytes) / r->seconds / (1 << 20);
  }
  if (work.reads > 0) r->message = std::to_string(work.found) + " of " + std::to_string(work.reads) + " found";
  char text[128];
  if (workload.transacts) {
    r->aborts = work.aborts;
    std::snprintf(text, sizeof(text), "; %.3g aborts per commit", AbortsPerCommit(*r).value_or(0));
    r->message += text;
  }
  if (work.writer.has_value()) {
    r->writer->reads = workload.beside_reads;
    std::snprintf(text, sizeof(text), "; %s: %.0f ops/sec, p99 %.1f us, longest %.3f ms",
                  workload.beside_reads ? "beside" : "writer", work.writer->ops_per_sec,
                  work.writer->p99_us, work.writer->max_us * 1e-3);
    r->message += text;
  }
  if (workload.effect == Effect::kWrites) {
    std::snprintf(text, sizeof(text), "%.3f s of it to settle", r->settle_seconds);
    r->message = text;
  }
}

// The counters before a phase.
struct Before {
  std::optional<IndexFigures> figures;
  EngineCounters counters;
  std::optional<DeviceStats> device;
  ProcessStats process;
};

Before CountBefore(Engine* engine, const std::string& path) {
  Before before;
  before.figures = engine->ReadIndexFigures();
  before.counters = engine->ReadCounters();
  ForgetPeakRss();
  before.device = ReadDeviceStats(path);
  before.process = ReadProcessStats();
  return before;
}

// Returns what the process has used since, without the sampler.
ProcessStats UsedSince(const ProcessStats& before, const Sampler& sampler) {
  ProcessStats stats = ReadProcessStats() - before;
  stats.user_cpu_s = std::max(0.0, stats.user_cpu_s - sampler.user_cpu_s());
  stats.sys_cpu_s = std::max(0.0, stats.sys_cpu_s - sampler.sys_cpu_s());
  return stats;
}

void SetUp(const Workload& workload, Phase* phase, Result* r) {
  const BenchFlags& flags = phase->flags;
  phase->total_ops = CountOf(workload, flags);
  phase->key_space = std::max<std::uint64_t>(1, flags.num / workload.divisor);
  r->key_size = phase->key_shape.TypicalSize();
  r->threads = workload.effect == Effect::kMaintains ? 1
               : workload.threads != nullptr         ? workload.threads(flags)
                                                     : flags.threads;
}

// Runs the workload: first its maintenance, then its `crew`. *message: what maintenance says of itself.
Work RunWork(const Workload& workload, Engine* engine, std::optional<Crew>* crew, std::string* message) {
  Work work;
  const std::uint64_t begin = NowNanos();
  if (workload.maintain != nullptr) {
    work.status = workload.maintain(engine, message);
    if (work.status.ok() && Interrupted().load()) work.status = Status::Aborted("interrupted");  // may be incomplete
    if (!work.status.ok()) return work;
    work.ops = 1;
    work.nanos.Add(NowNanos() - begin);
  }
  work.end_nanos = NowNanos();
  if (crew->has_value()) work = (*crew)->Run();
  return work;
}

// Settles after a workload that changes something. For one that writes, settling is part of *used and of the time.
Status SettleAndCount(const Workload& workload, Engine* engine, const Work& work, const Before& before,
                      const Sampler& sampler, ProcessStats* used, Result* r) {
  double idle_seconds = 0;
  const Status status = Settle(engine, workload.name, &idle_seconds);
  if (!status.ok()) return status;
  if (Interrupted().load()) return Status::Aborted("interrupted");  // may be incomplete
  const ProcessStats settled = UsedSince(before.process, sampler);
  if (workload.effect == Effect::kWrites) {
    r->settle_seconds = Seconds(NowNanos() - work.end_nanos) - idle_seconds;
    r->seconds += r->settle_seconds;
    *used = settled;
  }
  used->write_bytes = settled.write_bytes;  // includes the writes of settling
  used->cancelled_write_bytes = settled.cancelled_write_bytes;
  return {};
}

void FillInUse(const ProcessStats& used, const Work& work, bool writes_values, Result* r) {
  r->user_cpu_s = used.user_cpu_s;
  r->sys_cpu_s = used.sys_cpu_s;
  r->device_write_bytes = used.write_bytes;
  r->device_read_bytes = used.read_bytes;
  r->cancelled_write_bytes = used.cancelled_write_bytes;
  r->user_write_bytes = work.written_bytes;
  if (writes_values && work.written_bytes > 0) r->write_amp = Ratio(r->device_write_bytes, work.written_bytes);
}

void FillInSpace(const Phase& phase, const std::string& path, Result* r) {
  r->rss_peak_bytes = PeakRssBytes();
  r->disk_bytes = DiskBytes(path);
  if (!phase.keys.known()) return;
  r->live_keys = phase.keys.count();
  r->live_bytes = LiveBytes(phase);
  if (*r->live_bytes > 0) r->space_amp = Ratio(r->disk_bytes, *r->live_bytes);
}

Status Check(const Workload& workload, Engine* engine, const Phase& phase, const Work& work) {
  Progress progress(workload.name);
  progress.Show("checking what was written");
  const std::unique_ptr<Session> session = engine->NewSession();
  Status status = workload.check(phase, session.get(), work.ops);
  if (!status.ok()) phase.keys.ForgetAllLast();
  return status;
}

}  // namespace

Status RunPhase(const Workload& workload, const EngineConfig& config, Engine* engine, Phase* phase, Result* result) {
  const BenchFlags& flags = phase->flags;
  const bool writes = workload.effect == Effect::kWrites;
  const bool changes = writes || (workload.beside != nullptr && !workload.beside_reads) || workload.mixes;
  std::optional<const KeySet> at_the_beginning;
  if (changes && (!writes || workload.beside_reads)) at_the_beginning.emplace(phase->keys);
  phase->lasting = at_the_beginning.has_value() ? &*at_the_beginning : &phase->keys;
  SetUp(workload, phase, result);
  Status status = engine->BeginWrites({.sync = changes && (workload.sync || flags.sync),
                                       .groups = writes && flags.sync_every > 0,
                                       .visible = workload.mixes,
                                       .disable_wal = flags.disable_wal});
  if (!status.ok()) return status;
  if (workload.prepare != nullptr) phase->state = workload.prepare(*phase);

  const Before before = CountBefore(engine, config.path);
  std::optional<Crew> crew;
  if (workload.run != nullptr) {
    crew.emplace(workload, engine, phase, result->threads, changes,
                 Label(*result) + "," + workload.name + "," + std::to_string(result->round + 1));
  }
  const bool moves_bytes = changes || workload.maintain != nullptr;
  Sampler sampler(moves_bytes ? config.path : "", [&crew] { return crew.has_value() ? crew->Ops() : 0; });
  const std::uint64_t begin = NowNanos();
  std::string maintained;
  const Work work = RunWork(workload, engine, &crew, &maintained);
  if (!work.status.ok()) {
    if (changes) phase->keys.ForgetAllLast();  // the workload may have written before it failed
    return work.status;
  }
  if (Interrupted().load()) return Status::Aborted("interrupted");
  result->seconds = Seconds(work.end_nanos - begin);
  ProcessStats used = UsedSince(before.process, sampler);
  TakeCacheCounters(before.counters, engine->ReadCounters(), result);
  if (changes) {
    status = SettleAndCount(workload, engine, work, before, sampler, &used, result);
    if (!status.ok()) return status;
  }

  sampler.Stop();
  result->disk_peak_bytes = sampler.disk_peak();
  result->samples = sampler.samples();
  TakeCounters(workload, before.counters, engine->ReadCounters(), result);
  const auto device = ReadDeviceStats(config.path);
  if (device.has_value() && before.device.has_value()) result->device = *device - *before.device;
  if (changes) result->index_figures = FiguresSince(engine, before.figures);
  FillIn(workload, *phase, work, result);
  if (!maintained.empty()) result->message = maintained;
  if (workload.tell != nullptr) result->message = workload.tell(*phase->state);
  FillInUse(used, work, changes && workload.count != Count::kDeletes, result);
  FillInSpace(*phase, config.path, result);
  if (workload.check != nullptr) return Check(workload, engine, *phase, work);
  if (changes) NoteLastVersions(work, *phase, &phase->keys);
  return {};
}

}  // namespace cambium::bench
