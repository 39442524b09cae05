#include "workloads/ycsb/ycsb.h"

#include <algorithm>
#include <cmath>

#include "workloads/mixed.h"
#include "workloads/ycsb/request_distribution.h"

namespace cambium::bench {
namespace {

enum class Request : unsigned char { kZipfian, kLatest };

// Shares of all operations; the rest are reads.
struct Mixture {
  Request request = Request::kZipfian;
  double updates = 0;
  double inserts = 0;
  double scans = 0;
  double read_modify_writes = 0;
};

constexpr double kInserts = 0.05;  // in D and E

struct YcsbState : SharedState {
  // The zipfian ranges over `more` records in addition to the existing ones.
  YcsbState(const Phase& phase, std::uint64_t more)
      : zipfian(phase.keys.next() + more), ages(phase.keys.next(), kYcsbTheta) {}
  const ScrambledZipf zipfian;
  const Zipf ages;
};

// For YCSB E: how many records the Zipf distribution covers in addition to the existing ones. YCSB covers twice the
// inserts that it expects, and draws again if it draws a record that does not exist yet. Here the addition is at most
// the number of existing records, because otherwise most draws would be repeated, and the warmest records might not
// exist. As in YCSB, the expected inserts follow from the number of operations, even if --duration ends the workload.
std::uint64_t ExpectedInserts(const Phase& phase) {
  const double twice = 2 * kInserts * static_cast<double>(YcsbOperations(phase.flags));
  return std::min(static_cast<std::uint64_t>(twice), phase.keys.next());
}

// An update of one field reads and writes the whole record, as in YCSB's bindings for stores with opaque values. So for
// the store it is the same as a read-modify-write.
void RunMixture(Worker* w, const Mixture& mixture) {
  const auto& state = static_cast<const YcsbState&>(*w->phase.state);
  KeySet& keys = w->phase.keys;
  MixedOps ops(w);
  LatestZipf latest(state.ages);
  if (keys.known() && keys.count() == 0) {
    w->status = Status::InvalidArgument("there are no records: run ycsb_load first");
    return;
  }
  // Records that other threads are inserting are not chosen.
  const auto choose = [&]() -> std::uint64_t {
    while (true) {
      const std::uint64_t next = std::min(keys.next(), keys.capacity());
      const std::uint64_t id = mixture.request == Request::kLatest ? latest.Next(next, &w->random)
                                                                    : state.zipfian.Next(&w->random);
      if (id < next && (!keys.known() || keys.Contains(id))) return id;
    }
  };
  w->meter.Begin();
  while (w->meter.More() && w->status.ok()) {
    double kind = w->random.NextDouble();
    std::uint64_t bytes = 0;
    if ((kind -= mixture.inserts) < 0) {
      const std::uint64_t id = keys.TakeNew();
      if (id >= keys.capacity()) {
        w->status = Status::InvalidArgument("more inserts than there is room for");
        break;
      }
      bytes = ops.Put(id);
    } else if ((kind -= mixture.scans) < 0) {
      bytes = ops.Scan(choose(), 1 + w->random.Uniform(w->phase.flags.ycsb.max_scan_length));
    } else {
      const std::uint64_t id = choose();
      bytes = ops.Get(id);
      const bool writes = (kind -= mixture.updates) < 0 || (kind -= mixture.read_modify_writes) < 0;
      if (writes && w->status.ok()) bytes += ops.Put(id);
    }
    w->meter.Finish(1, bytes);
  }
}

}  // namespace

bool HasYcsb(const BenchFlags& flags) {
  return std::any_of(flags.benchmarks.begin(), flags.benchmarks.end(),
                     [](const std::string& name) { return name.rfind("ycsb_", 0) == 0; });
}

std::string ComplainOfYcsb(const BenchFlags& flags) {
  if (flags.keys_per_prefix > 0) return "--keys_per_prefix is for db_bench's keys only";
  return {};
}

std::uint64_t YcsbOperations(const BenchFlags& flags) {
  if (flags.ycsb.operation_count > 0) return flags.ycsb.operation_count;
  return flags.reads >= 0 ? static_cast<std::uint64_t>(flags.reads) * flags.threads : flags.num;
}

// Returns the room for new keys. It does not affect which records are drawn.
std::uint64_t NewKeysOfYcsbD(const BenchFlags& flags) {
  // The number of inserts is random, so there is room for six standard deviations more than expected. If --duration
  // ends the workload, there is room for more inserts than any machine makes.
  const double operations = flags.duration > 0 ? static_cast<double>(flags.duration) * 20e6
                                                : static_cast<double>(YcsbOperations(flags));
  const double expected = operations * kInserts;
  return static_cast<std::uint64_t>(expected + 6 * std::sqrt(expected)) + 64;
}
std::uint64_t NewKeysOfYcsbE(const BenchFlags& flags) { return NewKeysOfYcsbD(flags); }

std::shared_ptr<const SharedState> PrepareYcsb(const Phase& phase) { return std::make_shared<YcsbState>(phase, 0); }
std::shared_ptr<const SharedState> PrepareYcsbE(const Phase& phase) {
  return std::make_shared<YcsbState>(phase, ExpectedInserts(phase));
}

void RunYcsbA(Worker* w) { RunMixture(w, {.updates = 0.5}); }
void RunYcsbB(Worker* w) { RunMixture(w, {.updates = 0.05}); }
void RunYcsbC(Worker* w) { RunMixture(w, {}); }
void RunYcsbD(Worker* w) { RunMixture(w, {.request = Request::kLatest, .inserts = kInserts}); }
void RunYcsbE(Worker* w) { RunMixture(w, {.inserts = kInserts, .scans = 0.95}); }
void RunYcsbF(Worker* w) { RunMixture(w, {.read_modify_writes = 0.5}); }

}  // namespace cambium::bench
